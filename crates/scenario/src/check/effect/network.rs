//! Keys of messages that are never sent, or take no time.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::Flow;
use crate::Scenario;
use crate::check::Check;
use crate::check::channel::at_once;
use crate::check::names::Names;
use crate::check::rule::{Effect, Words, effect};
use crate::file::{Link, Metascheduler, Network, Transport};
use crate::quantity::{Share, TimeSpan};
use crate::resolve::copies;
use haggle_config::document::Path;

const NO_WAY: &str = "no message uses it: users are at the actor that they submit to, and \
                      providers exchange messages with metaschedulers only";

/// Facts about the messages and the data of a scenario.
struct Traffic {
    /// Messages travel between metaschedulers and their providers.
    messages: bool,
    /// Checkpoints go over the network.
    checkpoints: bool,
    /// Data of tasks move.
    data: bool,
    /// Lost messages are sent again.
    resends: bool,
    /// Messages are lost or doubled.
    harms: bool,
}

#[rustfmt::skip] // a table
const TRAVELS: &[Effect<Network, Traffic>] = &[
    effect("latency", |_, has| has.messages || has.checkpoints, AT_PROVIDER, SUBMIT),
    effect("jitter loss duplication", |_, has| has.messages, AT_PROVIDER, SUBMIT),
    effect("bandwidth sharing", |_, has| has.checkpoints || has.data,
        "no data move: users with workflows that have data submit to no metascheduler, and no provider keeps checkpoints in a `store`",
        "remove it, or submit workflows of a `shape` or from `files` to a metascheduler, or give `checkpoints` of a provider a `store`"),
];

const AT_PROVIDER: &str = "without a metascheduler no message travels: users are at their provider";
const SUBMIT: &str = "remove it, or let users submit to a metascheduler";

#[rustfmt::skip] // a table
const FAULTS: &[Effect<Network, Traffic>] = &[
    effect("reordering", |it, has| has.messages && it.jitter > TimeSpan::ZERO, "every message takes the same time",
        "remove it, or set `jitter`"),
    effect("transport", |_, has| has.harms, "no message is lost or doubled",
        "remove it, or set `loss`, `duplication` or a `partition`, or let actors crash"),
    effect("retransmission-timeout", |it, _| it.transport == Transport::Reliable, "no message is sent again",
        "remove it, or set `transport = \"reliable\"`"),
    effect("retransmission-timeout", |_, has| has.resends, "no message is lost",
        "remove it, or set `loss` or a `partition`, or let actors crash"),
];

/// Keys that have no effect if messages take no time. Times of messages are refused instead. Partitions are refused,
/// too: all actors are at one place.
#[rustfmt::skip] // a table
const AT_ONCE: &[Effect<Network>] = &[
    effect("bandwidth sharing stores loss duplication reordering transport retransmission-timeout", |_, ()| false,
        "messages between {between} take no time, and each arrives once", "remove it"),
];

impl Check<'_> {
    /// Users are where they submit to, so that messages travel between metaschedulers and
    /// their providers only.
    pub(super) fn message_effects(&mut self, flow: &Flow, names: &Names) {
        let (scenario, path) = (self.scenario, Path::root().key("network"));
        let network = &scenario.network;
        if let Some(between) = at_once(scenario) {
            let words: Words<'_> = &[("between", &between)];
            return self.effects(AT_ONCE, &path, (network, &()), "the network", words);
        }
        let carries = scenario.metaschedulers.iter().filter(|it| self.directory.sends_data(it));
        let carries = Vec::from_iter(carries);
        let traffic = self.traffic(flow, names, !carries.is_empty());
        let ways = Ways::of(scenario, names, &carries);
        self.effects(TRAVELS, &path, (network, &traffic), "the network", &[]);
        for (index, store) in network.stores.iter().enumerate() {
            let at = path.key("stores").index(index);
            let is_used = ways.kept.contains_key(store.as_str());
            let why = format!("no provider keeps checkpoints in \"{store}\"");
            let remedy = "remove it, or name it as `store` of the `checkpoints` of a provider \
                          whose jobs continue from them";
            self.has_effect(&at, is_used, "`stores` of the network", &why, remedy);
        }
        self.effects(FAULTS, &path, (network, &traffic), "the network", &[]);
        if network.transport == Transport::Reliable && traffic.resends {
            self.doubt_timeout(flow, names);
        }
        for (index, partition) in network.partitions.iter().enumerate() {
            let at = path.key("partition").index(index);
            let read =
                !self.crossing(names, partition).is_empty() || self.parts_overflow(partition);
            let what = "`partition` of the network";
            self.has_effect(&at, read, what, NO_WAY, "remove it, or name other actors");
        }
        for (index, link) in network.links.iter().enumerate() {
            self.link_effects(&path.key("link").index(index), link, &ways, names);
        }
    }

    fn traffic(&self, flow: &Flow, names: &Names, data: bool) -> Traffic {
        let network = &self.scenario.network;
        let messages = flow.metaschedulers.iter().any(|&used| used);
        let parts = |it| !self.crossing(names, it).is_empty();
        let loses = network.loss > Share::ZERO || network.partitions.iter().any(parts);
        let crashes = self.scenario.crashing().next().is_some();
        let resends = messages && loses || crashes;
        Traffic {
            messages,
            checkpoints: self.scenario.carries_checkpoints(),
            data,
            resends,
            harms: resends || messages && network.duplication > Share::ZERO,
        }
    }

    fn link_effects(&mut self, at: &Path, link: &Link, ways: &Ways<'_>, names: &Names) {
        let [a, b] = &link.between;
        let [one, other] = [a, b].map(|end| self.directory.site_of(end.as_str()));
        // Data of tasks also go from one provider to another, and checkpoints for a `store` to another actor.
        let sends = one != other && ways.carry(one, other);
        let carries = sends || ways.keeps(one, other) || ways.keeps(other, one);
        let talk = |one, other| ways.talk(one, other, names) || self.scenario.overflows(one, other);
        let read = carries || talk(one, other) || talk(other, one);
        let what = format!("the link between \"{a}\" and \"{b}\"");
        let remedy = "remove the link, or name other actors";
        self.has_effect(&at.key("between"), read, &what, NO_WAY, remedy);
        let why = "no data go that way";
        self.uses(&at.key("bandwidth"), carries, &what, why, "remove it");
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

    /// True if one actor is a metascheduler that uses the other one.
    fn talk(&self, one: &str, other: &str, names: &Names) -> bool {
        self.used.get(one).is_some_and(|(talker, used)| match names.providers.get(other) {
            Some(place) => used.contains(place),
            None => talker.providers.iter().any(|it| it.as_str() == other),
        })
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
