//! Co-allocation and mapping: properties that providers must have so that a job starts whole on several of them,
//! or not at all.

use std::collections::BTreeMap;

use super::Check;
use super::names::Names;
use crate::file::{Compression, Metascheduler, Overrun, Policy, RequestOrder};
use crate::quantity::{Name, TimeSpan};
use haggle_config::document::Path;
use haggle_scheduling::coallocation::CoallocationPolicy;

impl Check<'_> {
    /// Checks a metascheduler that spreads jobs, and its providers.
    pub(super) fn check_coallocation(
        &mut self,
        path: &Path,
        metascheduler: &Metascheduler,
        names: &Names,
    ) {
        if !metascheduler.takes_parts() {
            return;
        }
        let name = &metascheduler.name;
        let mut at = path.key("mapping");
        if let Some(coallocation) = &metascheduler.coallocation {
            at = path.key("coallocation");
            if let Err(problem) = coallocation.overhead.to_model().sampler() {
                let help = "write other numbers".to_owned();
                self.report(&at.key("overhead"), problem.to_string(), "no law", help);
            }
        }
        for place in names.providers_meant(&metascheduler.providers) {
            self.check_part_taker(metascheduler, place, names);
        }
        if metascheduler.transaction().is_some() {
            return self.check_protocol(path, metascheduler, names);
        }
        let parts = metascheduler.coallocation.as_ref().and_then(|it| it.parts);
        let providers = names.provider_copies(&metascheduler.providers).len();
        if let Some(parts) = parts.filter(|&parts| parts as usize > providers) {
            self.report(
                &at.key("parts"),
                format!("metascheduler \"{name}\" divides jobs over {parts} providers, but has \
                         {providers}"),
                "no job can be placed",
                "write a number that is no greater than that of its providers, or add a [[provider]]"
                    .to_owned(),
            );
        }
        self.check_request_order(&at.key("requests"), metascheduler, names);
        let moves = metascheduler.coallocation.as_ref().map(|it| it.policy.moves());
        if metascheduler.retry().is_some() && moves > Some(CoallocationPolicy::Rigid) {
            self.report(
                &at.key("retry"),
                format!(
                    "metascheduler \"{name}\" moves jobs, and a move whose commit is late cannot be undone"
                ),
                "for jobs that stay",
                "set `policy = \"rigid\"`, or remove `retry`".to_owned(),
            );
        }
        let crashes = names.crashing.contains(name.as_str());
        let repeats = metascheduler.retry().is_some();
        let help = match metascheduler.retry_table() {
            Some(_) => "set `retry`, or take it out of `actors` of [[failures]]",
            None => "take it out of `actors` of [[failures]]",
        };
        if crashes && !repeats {
            self.report(
                &at,
                format!(
                    "metascheduler \"{name}\" spreads jobs and crashes: some would start in part"
                ),
                "must not crash",
                help.to_owned(),
            );
        }
    }

    /// Requests for moves can be served by provider only if the next one arrives at the instant of the answer.
    fn check_request_order(&mut self, at: &Path, metascheduler: &Metascheduler, names: &Names) {
        let Some(coallocation) = &metascheduler.coallocation else { return };
        let moves = coallocation.policy.moves() > CoallocationPolicy::Rigid;
        if !moves || coallocation.requests != RequestOrder::ByProvider {
            return;
        }
        let name = metascheduler.name.as_str();
        let network = &self.scenario.network;
        let links = self.links_of(name);
        let late =
            names.provider_copies(&metascheduler.providers).into_iter().find_map(|provider| {
                let (latency, remedy) = match links.get(provider.as_str()) {
                    Some(&latency) => {
                        (latency, "set the `latency` of their link in [network] to 0s")
                    }
                    None => (network.latency, "set `latency = \"0s\"` in [network]"),
                };
                let jitter = (network.jitter, "set `jitter = \"0s\"` in [network]");
                let delay =
                    [(latency, remedy), jitter].into_iter().find(|it| it.0 != TimeSpan::ZERO);
                Some((provider, delay?.1))
            });
        let Some((far, remedy)) = late else { return };
        self.report(
            at,
            format!(
                "messages between metascheduler \"{name}\" and provider \"{far}\" take time: the \
                 next request of a provider arrives after the other requests are served"
            ),
            "cannot be kept",
            format!("{remedy}, or set `requests = \"in-turns\"`"),
        );
    }

    /// Latencies of the links of a metascheduler, by the other end; a user is at the actor to which it submits.
    fn links_of(&self, metascheduler: &str) -> BTreeMap<&str, TimeSpan> {
        let users = self.scenario.users.iter();
        let sites: BTreeMap<&str, &str> =
            users.map(|user| (user.name.as_str(), user.submits_to.as_str())).collect();
        let site = |end: &'_ Name| sites.get(end.as_str()).copied();
        let links = self.scenario.network.links.iter().filter_map(|link| {
            let [one, other] = &link.between;
            let ends = [site(one).unwrap_or(one.as_str()), site(other).unwrap_or(other.as_str())];
            match ends {
                [one, other] if one == metascheduler => Some((other, link.latency)),
                [one, other] if other == metascheduler => Some((one, link.latency)),
                _ => None,
            }
        });
        links.collect()
    }

    /// Checks a provider that must take parts of jobs.
    fn check_part_taker(&mut self, metascheduler: &Metascheduler, place: usize, names: &Names) {
        let provider = &self.scenario.providers[place];
        let path = Path::root().key("provider").index(place);
        let by = &metascheduler.name;
        // A part that stays can be broken: its metascheduler places the job again.
        let stays = metascheduler
            .coallocation
            .as_ref()
            .is_some_and(|it| it.policy.moves() == CoallocationPolicy::Rigid);
        // Parts run in step. The throughputs of an application contain the speed of its machines.
        let first = names.providers_meant(&metascheduler.providers).into_iter().next();
        let speed = match metascheduler.mapping {
            Some(_) => 1.0,
            None => first.map_or(1.0, |first| self.scenario.providers[first].speed),
        };
        let rows = [
            (
                "policy",
                matches!(provider.policy, Policy::Conservative { .. }),
                "keeps parts of jobs where they are booked",
                "set `policy = \"conservative\"`",
            ),
            (
                "compression",
                !matches!(
                    provider.policy,
                    Policy::Conservative { compression: Compression::Replan, .. }
                ),
                "does not plan anew around parts of jobs",
                "choose another `compression`",
            ),
            (
                "overrun",
                provider.overrun == Overrun::Kill || stays,
                "lets no job run into the time of a part that may move",
                "set `overrun = \"kill\"`, or `policy = \"rigid\"` of the metascheduler",
            ),
            (
                "speed",
                provider.speed == speed,
                "runs the parts of a job at another speed than its other providers",
                "give all its providers the same `speed` (1 under `mapping`)",
            ),
        ];
        for (key, right, does, help) in rows {
            let at = match key {
                "compression" => path.key("policy").key(key),
                key => path.key(key),
            };
            if !right && !self.is_replaced(&at) {
                self.report(
                    &at,
                    format!(
                        "metascheduler \"{by}\" spreads jobs over provider \"{}\", which then {does}",
                        provider.name
                    ),
                    "not for parts of jobs",
                    help.to_owned(),
                );
            }
        }
        let fails = names.failing.contains(&place) && !stays;
        // Under a protocol, crashes need `retry`, which is checked with the protocol.
        let survives =
            metascheduler.transaction().is_some() || (stays && metascheduler.retry().is_some());
        let crashes = !survives && names.crash_at(provider);
        if fails || crashes {
            self.report(
                &path,
                format!(
                    "metascheduler \"{by}\" spreads jobs over provider \"{}\", which fails: some would run \
                     in part",
                    provider.name
                ),
                "must not fail",
                "take it out of [[failures]], or out of the metascheduler's `providers`".to_owned(),
            );
        }
    }
}
