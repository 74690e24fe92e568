//! Keys of messages that are never sent, or take no time.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::Flow;
use crate::Scenario;
use crate::check::Check;
use crate::check::channel::at_once;
use crate::check::names::Names;
use crate::file::{Metascheduler, Transport};
use crate::quantity::{Share, TimeSpan};
use crate::resolve::copies;
use haggle_config::document::Path;

const NO_WAY: &str = "no message uses it: users are at the actor that they submit to, and \
                      providers exchange messages with metaschedulers only";

impl Check<'_> {
    /// Users are where they submit to, so that messages travel between metaschedulers and
    /// their providers only.
    pub(super) fn message_effects(&mut self, flow: &Flow, names: &Names) {
        if let Some(between) = at_once(self.scenario) {
            return self.effects_at_once(between);
        }
        let network = Path::root().key("network");
        let travels = flow.metaschedulers.iter().any(|&used| used);
        let why = "without a metascheduler no message travels: users are at their provider";
        let remedy = "remove it, or let users submit to a metascheduler";
        let scenario = self.scenario;
        let keeps = scenario.carries_checkpoints();
        self.uses(&network.key("latency"), travels || keeps, "the network", why, remedy);
        for key in ["jitter", "loss", "duplication"] {
            self.uses(&network.key(key), travels, "the network", why, remedy);
        }
        let carries = Vec::from_iter(
            scenario.metaschedulers.iter().filter(|it| self.directory.sends_data(it)),
        );
        let why = "no data move: users with workflows that have data submit to no metascheduler, and no \
                   provider keeps checkpoints in a `store`";
        let remedy = "remove it, or submit workflows of a `shape` or from `files` to a metascheduler, or \
                      give `checkpoints` of a provider a `store`";
        for key in ["bandwidth", "sharing"] {
            let read = keeps || !carries.is_empty();
            self.uses(&network.key(key), read, "the network", why, remedy);
        }
        let ways = Ways::of(scenario, names, &carries);
        for (index, store) in scenario.network.stores.iter().enumerate() {
            let at = network.key("stores").index(index);
            let is_used = ways.kept.contains_key(store.as_str());
            let why = format!("no provider keeps checkpoints in \"{store}\"");
            let remedy = "remove it, or name it as `store` of the `checkpoints` of a provider \
                          whose jobs continue from them";
            self.has_effect(&at, is_used, "`stores` of the network", &why, remedy);
        }
        let reorders = travels && scenario.network.jitter > TimeSpan::ZERO;
        let why = "every message takes the same time";
        let remedy = "remove it, or set `jitter`";
        self.uses(&network.key("reordering"), reorders, "the network", why, remedy);
        let parts = |it| !self.crossing(names, it).is_empty();
        let loses =
            scenario.network.loss > Share::ZERO || scenario.network.partitions.iter().any(parts);
        let crashes = scenario.crashing().next().is_some();
        let resends = travels && loses || crashes;
        let harms = resends || travels && scenario.network.duplication > Share::ZERO;
        let why = "no message is lost or doubled";
        let remedy =
            "remove it, or set `loss`, `duplication` or a `partition`, or let actors crash";
        self.uses(&network.key("transport"), harms, "the network", why, remedy);
        let is_reliable = scenario.network.transport == Transport::Reliable;
        let why = if is_reliable { "no message is lost" } else { "no message is sent again" };
        let remedy = if is_reliable {
            "remove it, or set `loss` or a `partition`, or let actors crash"
        } else {
            "remove it, or set `transport = \"reliable\"`"
        };
        let read = is_reliable && resends;
        self.uses(&network.key("retransmission-timeout"), read, "the network", why, remedy);
        if read {
            self.doubt_timeout(flow, names);
        }
        for (index, partition) in scenario.network.partitions.iter().enumerate() {
            let at = network.key("partition").index(index);
            let read =
                !self.crossing(names, partition).is_empty() || self.parts_overflow(partition);
            let what = "`partition` of the network";
            self.has_effect(&at, read, what, NO_WAY, "remove it, or name other actors");
        }
        for (index, link) in scenario.network.links.iter().enumerate() {
            let [a, b] = &link.between;
            let [site_a, site_b] = [a, b].map(|end| self.directory.site_of(end.as_str()));
            let talk = |one: &str, other: &str| {
                let talker = ways.used.get(one);
                talker.is_some_and(|(talker, used)| match names.providers.get(other) {
                    Some(place) => used.contains(place),
                    None => talker.providers.iter().any(|it| it.as_str() == other),
                })
            };
            // Data of tasks also go from one provider to another.
            let sends = site_a != site_b && ways.carry(site_a, site_b);
            // Checkpoints for a `store` go to another actor, too.
            let keeps = ways.keeps(site_a, site_b) || ways.keeps(site_b, site_a);
            let overflows = |one, other| scenario.overflows(one, other);
            let read = sends
                || keeps
                || talk(site_a, site_b)
                || talk(site_b, site_a)
                || overflows(site_a, site_b)
                || overflows(site_b, site_a);
            let at = network.key("link").index(index);
            let what = format!("the link between \"{a}\" and \"{b}\"");
            let remedy = "remove the link, or name other actors";
            self.has_effect(&at.key("between"), read, &what, NO_WAY, remedy);
            let why = "no data go that way";
            self.uses(&at.key("bandwidth"), sends || keeps, &what, why, "remove it");
        }
    }

    /// Keys of the network have no effect if messages take no time. Times of messages are refused instead, see
    /// [`Check::refuse_times_of_messages`]. Partitions are refused, too: all actors are at one place.
    fn effects_at_once(&mut self, between: &str) {
        let network = Path::root().key("network");
        let why = format!("messages between {between} take no time, and each arrives once");
        let keys = [
            "bandwidth",
            "sharing",
            "stores",
            "loss",
            "duplication",
            "reordering",
            "transport",
            "retransmission-timeout",
        ];
        for key in keys {
            self.uses(&network.key(key), false, "the network", &why, "remove it");
        }
    }
}

/// Routes of messages and data, computed once for all links.
struct Ways<'s> {
    /// Metaschedulers by name, with the places of the providers that each uses.
    used: BTreeMap<&'s str, (&'s Metascheduler, BTreeSet<usize>)>,
    /// Storages, each with the providers that keep checkpoints there.
    kept: BTreeMap<&'s str, BTreeSet<String>>,
    /// Ends of transfers of task data (metaschedulers and providers), each with the metaschedulers that send the
    /// data.
    carried: BTreeMap<String, BTreeSet<&'s str>>,
}

impl<'s> Ways<'s> {
    fn of(scenario: &'s Scenario, names: &Names, carries: &[&'s Metascheduler]) -> Ways<'s> {
        let used = scenario.metaschedulers.iter().map(|it| {
            let places = names.providers_meant(&it.providers).into_iter().collect();
            (it.name.as_str(), (it, places))
        });
        let mut kept: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for provider in &scenario.providers {
            if let Some(store) = scenario.store_of(provider) {
                kept.entry(store.as_str()).or_default().extend(copies(provider));
            }
        }
        let mut carried: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for metascheduler in carries {
            let name = metascheduler.name.as_str();
            let ends = names.copies_meant(&metascheduler.providers);
            for end in ends.into_iter().chain([name.to_owned()]) {
                carried.entry(end).or_default().insert(name);
            }
        }
        Ways { used: used.collect(), kept, carried }
    }

    /// True if one metascheduler sends data of tasks to or from both.
    fn carry(&self, one: &str, other: &str) -> bool {
        let both = self.carried.get(one).zip(self.carried.get(other));
        both.is_some_and(|(one, other)| !one.is_disjoint(other))
    }

    /// True if a provider keeps checkpoints in a storage.
    fn keeps(&self, provider: &str, store: &str) -> bool {
        self.kept.get(store).is_some_and(|providers| providers.contains(provider))
    }
}
