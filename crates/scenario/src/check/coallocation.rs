//! Co-allocation and mapping: properties that providers must have so that a job starts whole on several of them,
//! or not at all.

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use super::exclusions::{KeepsParts, PARTS, SPREADING, Spreads, asks_by_provider, moves};
use super::names::Names;
use super::rule::{Refusal, Words, item, refuse};
use crate::file::Metascheduler;
use crate::quantity::{Name, TimeSpan};
use haggle_config::document::Path;

/// Metaschedulers that divide jobs; the fact is the number of their providers.
#[rustfmt::skip] // a table
const DIVIDING: &[Refusal<Metascheduler, usize>] = &[
    refuse("coallocation.parts",
        |it, &providers| it.coallocation.as_ref().and_then(|it| it.parts).is_some_and(|parts| parts as usize > providers),
        "metascheduler \"{name}\" divides jobs over {parts} providers, but has {providers}", "no job can be placed",
        "write a number that is no greater than that of its providers, or add a [[provider]]"),
];

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
        let coallocation = metascheduler.coallocation.as_ref();
        if let Some(Err(problem)) = coallocation.map(|it| it.overhead.to_model().sampler()) {
            let at = path.key("coallocation").key("overhead");
            self.report(&at, problem.to_string(), "no law", "write other numbers");
        }
        let places = names.providers_meant(&metascheduler.providers);
        // The throughputs of an application contain the speed of its machines.
        let speed = match metascheduler.mapping {
            Some(_) => 1.0,
            None => places.first().map_or(1.0, |&first| self.scenario.providers[first].speed),
        };
        for place in places {
            self.check_part_taker(metascheduler, place, speed, names);
        }
        self.check_conduct(path, metascheduler, names);
        if metascheduler.transaction().is_some() {
            return self.check_protocol(path, metascheduler);
        }
        let parts = coallocation.and_then(|it| it.parts).unwrap_or(0);
        let providers = names.provider_copies(&metascheduler.providers).len();
        let words: Words<'_> =
            &[("name", &metascheduler.name), ("parts", &parts), ("providers", &providers)];
        self.refuse(DIVIDING, path, (metascheduler, &providers), words);
    }

    /// Checks a metascheduler that spreads jobs together with its network, crashes and protocol.
    fn check_conduct(&mut self, path: &Path, metascheduler: &Metascheduler, names: &Names) {
        let name = &metascheduler.name;
        let late = self.late_provider(metascheduler, names);
        let crashing = self.crashing_near(metascheduler, names);
        let facts = Spreads {
            crashes: names.crashing.contains(name.as_str()),
            crashes_near: crashing.is_some(),
            late: late.is_some(),
        };
        let (far, remedy) = late.unwrap_or_default();
        let table = if metascheduler.coallocation.is_some() { "coallocation" } else { "mapping" };
        let outlet = metascheduler.retry_table().map_or("", |_| "set `retry`, or ");
        let protocol = metascheduler.transaction().map_or("", |(protocol, _)| protocol.name());
        self.refuse(
            SPREADING,
            path,
            (metascheduler, &facts),
            &[
                ("name", name),
                ("far", &far),
                ("remedy", &remedy),
                ("table", &table),
                ("outlet", &outlet),
                ("protocol", &protocol),
                ("crashing", &crashing.unwrap_or_default()),
            ],
        );
    }

    /// First provider to which messages take time, with a remedy, if requests for moves are served by provider. The next
    /// request would have to arrive at the instant of the answer.
    fn late_provider(
        &self,
        metascheduler: &Metascheduler,
        names: &Names,
    ) -> Option<(String, &'static str)> {
        if !asks_by_provider(metascheduler) {
            return None;
        }
        let network = &self.scenario.network;
        let links = self.links_of(metascheduler.name.as_str());
        let copies = names.provider_copies(&metascheduler.providers);
        copies.into_iter().find_map(|provider| {
            let latency = match links.get(provider.as_str()) {
                Some(&own) => (own, "set the `latency` of their link in [network] to 0s"),
                None => (network.latency, "set `latency = \"0s\"` in [network]"),
            };
            let jitter = (network.jitter, "set `jitter = \"0s\"` in [network]");
            let delay = [latency, jitter].into_iter().find(|it| it.0 != TimeSpan::ZERO);
            Some((provider, delay?.1))
        })
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

    /// First actor that crashes among a metascheduler and its providers.
    fn crashing_near(&self, metascheduler: &Metascheduler, names: &Names) -> Option<String> {
        let mut crashing = self.scenario.crashing().map(|it| it.as_str()).peekable();
        crashing.peek()?;
        let meant = BTreeSet::from_iter(names.copies_meant(&metascheduler.providers));
        let is_near = |name: &&str| *name == metascheduler.name.as_str() || meant.contains(*name);
        crashing.find(is_near).map(str::to_owned)
    }

    /// Checks a provider that must keep parts of jobs and run them at this speed.
    fn check_part_taker(
        &mut self,
        metascheduler: &Metascheduler,
        place: usize,
        speed: f64,
        names: &Names,
    ) {
        let provider = &self.scenario.providers[place];
        let facts = KeepsParts {
            fails: names.failing.contains(&place),
            crashes: names.crash_at(provider),
            by_protocol: metascheduler.transaction().is_some(),
            stays: metascheduler.coallocation.is_some() && !moves(metascheduler),
            repeats: metascheduler.retry().is_some(),
            speed,
        };
        let words: Words<'_> = &[("by", &metascheduler.name), ("name", &provider.name)];
        self.refuse(PARTS, &item("provider", place), (provider, &facts), words);
    }
}
