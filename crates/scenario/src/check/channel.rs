//! Faults of the network: the protocols of metaschedulers must survive the faults of the scenario.

use std::collections::BTreeMap;

use super::Check;
use super::exclusions::{AT_ONCE, ORDER_OF_EVENTS};
use super::faults::{Fault, PLACEMENT, Talk, overflow_message};
use super::names::{Known, Names};
use super::rule::{Refusal, Words, refuse};
use crate::Scenario;
use crate::file::{Metascheduler, Network, Partition, Transport};
use crate::quantity::{Name, Share, TimeSpan};
use haggle_config::document::Path;

/// Largest share of losses if messages are sent again until one arrives. A message is then sent a hundred times in
/// the mean.
const LOSS_MAX: f64 = 0.99;

#[rustfmt::skip] // a table
const TRANSPORT: &[Refusal<Network>] = &[
    refuse("retransmission-timeout", |it, ()| it.timeout() == TimeSpan::ZERO, "`retransmission-timeout` is 0s, needs more",
        "sent again at once, for ever", "write a time longer than a message and its answer take"),
    refuse("loss", |it, ()| it.transport == Transport::Reliable && it.loss.fraction() > LOSS_MAX,
        "{loss} of all messages are lost; the maximum is 99%", "sent again more than a hundred times", "lower `loss`"),
];

#[rustfmt::skip] // a table
const PARTITIONS: &[Refusal<Partition>] = &[
    refuse("between", |it, ()| it.between.len() < 2, "only one group", "one group",
        "name two groups, such as `between = [[\"north\"], [\"south\"]]`"),
    refuse("until", |it, ()| it.until.is_some_and(|until| until <= it.from), "a partition from {from} until {until} has no duration",
        "not after `from`", "write a later time, or remove it: then they stay parted"),
];

impl<'a> Check<'a> {
    pub(super) fn check_channel(&mut self, names: &Names) {
        let (path, network) = (Path::root().key("network"), &self.scenario.network);
        let asked = [
            (Fault::Loss, network.loss > Share::ZERO),
            (Fault::Duplication, network.duplication > Share::ZERO),
            (Fault::Reordering, network.reordering),
        ];
        for (fault, _) in asked.into_iter().filter(|(_, asked)| *asked) {
            let mut talkers = self.used_metaschedulers();
            if let Some(hurt) = talkers.find(|it| !Talk::of(it).survives(fault, network.transport))
            {
                self.report_fault(&path.key(fault.key()), fault, hurt);
            }
        }
        self.refuse_times_of_messages();
        self.refuse(ORDER_OF_EVENTS, &Path::root(), (self.scenario, &()), &[]);
        self.check_overflow_channel(&asked);
        self.refuse(TRANSPORT, &path, (network, &()), &[("loss", &network.loss)]);
        for (index, partition) in network.partitions.iter().enumerate() {
            let path = path.key("partition").index(index);
            let known = self.problems.len();
            self.check_partition(&path, partition, names);
            // A partition with mistakes has been reported, and is not judged further.
            if self.problems.len() == known {
                self.check_parted(&path, partition, names);
            }
        }
    }

    /// Checks the metaschedulers that a partition parts from some of their providers.
    fn check_parted(&mut self, path: &Path, partition: &Partition, names: &Names) {
        let transport = self.scenario.network.transport;
        let across = self.crossing(names, partition);
        let hurt = across.iter().find(|it| !Talk::of(it).survives(Fault::Partition, transport));
        match (hurt, across.first()) {
            (Some(hurt), _) => self.report_fault(path, Fault::Partition, hurt),
            (None, Some(first)) if partition.until.is_none() => {
                let message =
                    format!("metascheduler \"{}\" is parted from providers for ever", first.name);
                let help = "add `until`, or part actors that send each other no messages";
                self.report(path, message, "their messages never arrive", help);
            }
            _ => {}
        }
    }

    /// Refuses keys of the time that messages take, if messages arrive at once.
    fn refuse_times_of_messages(&mut self) {
        let Some(between) = at_once(self.scenario) else { return };
        let instead = match self.scenario.grid {
            Some(_) => "times of transfers are in [grid.network]",
            None => "times of checkpoints are in [plans]",
        };
        let path = Path::root().key("network");
        let words: Words<'_> = &[("between", &between), ("instead", &instead)];
        self.refuse(AT_ONCE, &path, (&self.scenario.network, &()), words);
    }

    /// A grid sends each message about jobs that it passes on once, so the network must not lose or double them.
    fn check_overflow_channel(&mut self, asked: &[(Fault, bool)]) {
        let scenario = self.scenario;
        let Some(overflow) = scenario.overflow() else { return };
        let network = Path::root().key("network");
        let datagram = scenario.network.transport == Transport::Datagram;
        let asked = asked.iter().filter(|(fault, asked)| *asked && *fault != Fault::Reordering);
        let mut hurt = Vec::from_iter(asked.map(|&(fault, _)| (network.key(fault.key()), fault)));
        for (index, partition) in scenario.network.partitions.iter().enumerate() {
            if self.parts_overflow(partition) {
                let path = network.key("partition").index(index);
                if partition.until.is_none() && !datagram {
                    let message = format!("the grid is parted from \"{}\" for ever", overflow.to);
                    let help = "add `until`, or part actors that send each other no messages";
                    self.report(&path, message, "jobs that it passes on never arrive", help);
                }
                hurt.push((path, Fault::Partition));
            }
        }
        for (path, fault) in hurt.into_iter().filter(|_| datagram) {
            let message = overflow_message(fault.does());
            let help = format!("{}, or remove `overflow` of [grid]", PLACEMENT.remedy(fault));
            self.report(&path, message, "not survived", help);
        }
    }

    fn report_fault(&mut self, path: &Path, fault: Fault, metascheduler: &Metascheduler) {
        let talk = Talk::of(metascheduler);
        let message = talk.message(metascheduler.name.as_str(), fault.does());
        let help = format!("{}, or let users submit to providers", talk.remedy(fault));
        self.report(path, message, "not survived", help);
    }

    fn check_partition(&mut self, path: &Path, partition: &Partition, names: &Names) {
        let between = path.key("between");
        let until = partition.until.unwrap_or(partition.from);
        let words: Words<'_> = &[("from", &partition.from), ("until", &until)];
        self.refuse(PARTITIONS, path, (partition, &()), words);
        let mut sites = BTreeMap::new();
        let actors: Known<'_> = names.actors().collect();
        for (group, members) in partition.between.iter().enumerate() {
            let path = between.index(group);
            if members.is_empty() {
                self.report(&path, "an empty group", "empty", "name an actor, or remove the group");
            }
            for (place, name) in members.iter().enumerate() {
                self.check_member(&path.index(place), name.as_str(), group, &mut sites, &actors);
            }
        }
    }

    /// Checks an actor of a group; `sites` are the sites named so far, with their groups.
    fn check_member<'s>(
        &mut self,
        path: &Path,
        name: &'s str,
        group: usize,
        sites: &mut BTreeMap<&'s str, usize>,
        actors: &Known<'_>,
    ) where
        Self: 's,
    {
        if !actors.contains(name) {
            return self.unknown_name(path, "actor", name, actors);
        }
        if *sites.entry(self.directory.site_of(name)).or_insert(group) != group {
            let message = format!("\"{name}\", or an actor at the same place, is in two groups");
            let help = "name it in one group; users are where they submit to";
            self.report(path, message, "in another group", help);
        }
    }

    /// The metaschedulers to which users submit.
    fn used_metaschedulers(&self) -> impl Iterator<Item = &'a Metascheduler> + use<'a> {
        let (scenario, directory) = (self.scenario, self.directory);
        scenario.metaschedulers.iter().filter(|it| directory.is_used(it.name.as_str()))
    }

    /// The group of each place that a partition names; users are where they submit to.
    fn groups<'p>(&self, partition: &'p Partition) -> BTreeMap<&'p str, usize>
    where
        'a: 'p,
    {
        let mut groups = BTreeMap::new();
        for (group, members) in partition.between.iter().enumerate() {
            for member in members {
                groups.entry(self.directory.site_of(member.as_str())).or_insert(group);
            }
        }
        groups
    }

    /// True if a partition parts the grid from the actor that receives its overflow.
    pub(super) fn parts_overflow(&self, partition: &Partition) -> bool {
        let Some((grid, overflow)) = self.scenario.grid.as_ref().zip(self.scenario.overflow())
        else {
            return false;
        };
        let groups = self.groups(partition);
        let group = |name: &Name| groups.get(name.as_str());
        group(&grid.name).zip(group(&overflow.to)).is_some_and(|(one, other)| one != other)
    }

    /// Metaschedulers that a partition parts from some of their providers.
    pub(super) fn crossing(&self, names: &Names, partition: &Partition) -> Vec<&'a Metascheduler> {
        let groups = self.groups(partition);
        let parted = |metascheduler: &&Metascheduler| {
            let Some(own) = groups.get(metascheduler.name.as_str()) else { return false };
            let providers = names.copies_meant(&metascheduler.providers);
            providers.iter().any(|it| groups.get(it.as_str()).is_some_and(|other| other != own))
        };
        self.used_metaschedulers().filter(parted).collect()
    }
}

/// Actors between which messages take no time, in a scenario without providers: only data take time in grids and
/// plans.
pub(super) fn at_once(scenario: &Scenario) -> Option<&'static str> {
    match (&scenario.grid, &scenario.plans) {
        _ if !scenario.providers.is_empty() => None,
        (Some(_), _) => Some("the actors of a grid"),
        (None, Some(_)) => Some("clusters and their metascheduler"),
        (None, None) => None,
    }
}
