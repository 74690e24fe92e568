//! Times that a live run must respect: those for which an actor waits, or holds something, for another one.

use haggle_model::Span;

use crate::file::Scenario;

impl Scenario {
    /// The shortest time for which an actor holds parts of jobs, or waits for answers; `None` = without end.
    pub fn shortest_hold(&self) -> Option<Span> {
        let coallocations = self.metaschedulers.iter().filter_map(|it| it.coallocation.as_ref());
        let of_coallocations = coallocations.flat_map(|it| {
            let protocol = it.protocol.as_ref();
            let patience = protocol.filter(|it| it.has_patience()).map(|_| it.patience());
            [protocol.and_then(|it| it.lease()), patience, it.retry]
        });
        let of_users = self.users.iter().map(|it| it.patience);
        of_coallocations.chain(of_users).flatten().map(|it| it.0).min()
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
