//! Times that a live run must respect: those for which an actor waits, or holds something, for another one.

use haggle_model::Span;

use crate::file::{Metascheduler, Provider, Scenario};

impl Scenario {
    /// Longest latency of a message that is not lost.
    pub fn latency_max(&self) -> Span {
        let links = self.network.links.iter().map(|link| link.latency.0);
        links.fold(self.network.latency.0, Span::max) + self.network.jitter.0
    }

    /// Time for which offers of a provider for bags can be taken up, and for which they are held then. Without a value
    /// in the scenario, it suffices for an agreement: the slowest answer and the slowest award must arrive in it.
    pub fn offers_last(&self, provider: &Provider) -> Span {
        let written = provider.policy.offers().and_then(|it| it.validity);
        written.map_or_else(|| self.latency_max().scaled(4.0), |it| it.0)
    }

    /// The shortest time for which offers for bags can be taken up; `None` if no metascheduler requests offers.
    pub fn shortest_offers(&self) -> Option<Span> {
        let composes = |it: &&Metascheduler| it.composition.is_some();
        let called = self.metaschedulers.iter().filter(composes).flat_map(|it| &it.providers);
        let called = called.flat_map(|name| self.providers.iter().filter(|it| it.name == *name));
        called.map(|it| self.offers_last(it)).min()
    }

    /// The shortest time for which an actor holds parts of jobs, or waits for answers; `None` = without end.
    pub fn shortest_hold(&self) -> Option<Span> {
        let coallocations = self.metaschedulers.iter().filter_map(|it| it.coallocation.as_ref());
        let of_coallocations = coallocations.flat_map(|it| {
            let protocol = it.protocol.as_ref();
            let patience = protocol.filter(|it| it.has_patience()).map(|_| it.patience());
            [protocol.and_then(|it| it.lease()), patience, it.retry]
        });
        let of_users = self.users.iter().map(|it| it.patience);
        let written = of_coallocations.chain(of_users).flatten().map(|it| it.0);
        written.chain(self.shortest_offers()).min()
    }
}

#[cfg(test)]
mod tests {
    use haggle_model::Span;

    use crate::{Experiment, Logs, Source};

    fn shortest(metascheduler: &str) -> Option<Span> {
        let text = format!(
            "[[workload]]\nname = \"jobs\"\nmodel = \"lublin-feitelson\"\nlublin = {{ jobs = 9, processors = 8 }}\n\
             [[user]]\nname = \"users\"\nworkload = \"jobs\"\nsubmits-to = \"broker\"\n\
             [[provider]]\nname = \"north\"\nprocessors = 8\n[[metascheduler]]\nname = \"broker\"\n{metascheduler}"
        );
        let experiment = Experiment::read(Source::new("test.toml", text), Logs::Ignore);
        let experiment = experiment.expect("a scenario");
        experiment.runs().next().expect("a run").scenario().shortest_hold()
    }

    #[test]
    fn offers_for_bags_last_as_written_or_four_latencies() {
        let shortest = |offers: &str, network: &str| {
            let text = format!(
                "[[workload]]\nname = \"jobs\"\nmodel = \"lublin-feitelson\"\nlublin = {{ jobs = 9, processors = 8 }}\n\
                 [[workload.step]]\nkind = \"bags\"\n\
                 [[user]]\nname = \"users\"\nworkload = \"jobs\"\nsubmits-to = \"broker\"\n\
                 [[provider]]\nname = \"north\"\nprocessors = 8\npolicy = {{ name = \"bags\"{offers} }}\n\
                 [[provider]]\nname = \"south\"\nprocessors = 8\npolicy = \"bags\"\n\
                 [[metascheduler]]\nname = \"broker\"\ncomposition = \"offers-no-lb\"\n{network}"
            );
            let experiment = Experiment::read(Source::new("test.toml", text), Logs::Ignore);
            let experiment = experiment.expect("a scenario");
            experiment.runs().next().expect("a run").scenario().shortest_hold()
        };
        let written = ", offers = { validity = \"2min\" }";
        assert_eq!(shortest("", ""), Some(Span::ZERO));
        // South has the default.
        assert_eq!(shortest(written, ""), Some(Span::ZERO));
        let network = "[network]\nlatency = \"40s\"\njitter = \"5s\"\n";
        assert_eq!(shortest("", network), Some(Span::from_secs(180)));
        assert_eq!(shortest(written, network), Some(Span::from_secs(120)));
    }

    #[test]
    fn the_shortest_lease_or_wait_counts() {
        let protocol =
            |keys: &str| format!("[metascheduler.coallocation]\npolicy = \"rigid\"\n{keys}\n");
        assert_eq!(shortest("placement = \"minimum-completion-time\"\n"), None);
        let two_phase = "protocol = { name = \"two-phase\", lease = \"30s\" }";
        assert_eq!(shortest(&protocol(two_phase)), Some(Span::from_secs(1)));
        let patient = format!("{two_phase}\npatience = \"20s\"");
        assert_eq!(shortest(&protocol(&patient)), Some(Span::from_secs(20)));
        let retry = format!("{patient}\nretry = \"10s\"");
        assert_eq!(shortest(&protocol(&retry)), Some(Span::from_secs(10)));
    }
}
