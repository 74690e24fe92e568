//! What messages may meet on their way: whether those who talk by them survive it.

use std::collections::BTreeMap;

use super::Check;
use super::names::Names;
use crate::scenario::Scenario;
use crate::scenario::document::Path;
use crate::scenario::file::{Metascheduler, Partition};
use crate::scenario::quantity::{Name, Share};

/// What may happen to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Loss,
    Duplication,
    Reordering,
    Partition,
}

impl Fault {
    /// The key that asks for it.
    const fn key(self) -> &'static str {
        match self {
            Fault::Loss => "loss",
            Fault::Duplication => "duplication",
            Fault::Reordering => "reordering",
            Fault::Partition => "partition",
        }
    }

    /// How to do without it.
    const fn remedy(self) -> &'static str {
        match self {
            Fault::Loss => "set `loss = \"0%\"`",
            Fault::Duplication => "set `duplication = \"0%\"`",
            Fault::Reordering => "set `reordering = false`",
            Fault::Partition => "remove it, or part actors that have nothing to say to each other",
        }
    }

    /// What it does, behind "messages that".
    const fn does(self) -> &'static str {
        match self {
            Fault::Loss => "are lost",
            Fault::Duplication => "arrive twice",
            Fault::Reordering => "overtake each other",
            Fault::Partition => "are lost while actors are parted",
        }
    }
}

/// By what a metascheduler talks with its providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    /// It places rigid jobs, with or without asking before.
    Placement,
    /// It bargains over bags.
    Bargaining,
}

impl Protocol {
    const fn of(metascheduler: &Metascheduler) -> Protocol {
        match metascheduler.composition {
            None => Protocol::Placement,
            Some(_) => Protocol::Bargaining,
        }
    }

    /// What it survives: every job comes to its end, whatever the network does to messages.
    const fn survives(self) -> &'static [Fault] {
        match self {
            // Nobody speaks of a job to whom it has not come yet.
            Protocol::Placement => &[Fault::Reordering],
            // A probe is of no use before the offers it is about.
            Protocol::Bargaining => &[],
        }
    }
}

impl Check<'_> {
    pub(super) fn check_channel(&mut self, names: &Names) {
        let network = &self.scenario.network;
        let asked = [
            (Fault::Loss, network.loss > Share::ZERO),
            (Fault::Duplication, network.duplication > Share::ZERO),
            (Fault::Reordering, network.reordering),
        ];
        for (fault, _) in asked.into_iter().filter(|(_, asked)| *asked) {
            let mut talkers =
                self.scenario.metaschedulers.iter().filter(|it| is_used(self.scenario, it));
            if let Some(who) = talkers.find(|it| !survives(it, fault)) {
                self.report_fault(&Path::root().key("network").key(fault.key()), fault, who);
            }
        }
        for (index, partition) in self.scenario.network.partitions.iter().enumerate() {
            let path = Path::root().key("network").key("partition").index(index);
            let known = self.problems.len();
            self.check_partition(&path, partition, names);
            let across = crossing(self.scenario, names, partition);
            if self.problems.len() == known
                && let Some(who) = across.into_iter().find(|it| !survives(it, Fault::Partition))
            {
                self.report_fault(&path, Fault::Partition, who);
            }
        }
    }

    fn report_fault(&mut self, path: &Path, fault: Fault, who: &Metascheduler) {
        let (does, name) = (fault.does(), &who.name);
        let talks = match Protocol::of(who) {
            Protocol::Placement => "places jobs",
            Protocol::Bargaining => "bargains over bags",
        };
        self.report(
            path,
            format!("metascheduler \"{name}\" {talks}, and messages that {does} would cost jobs"),
            "not survived yet",
            format!("{}, or let users submit to providers", fault.remedy()),
        );
    }

    fn check_partition(&mut self, path: &Path, partition: &Partition, names: &Names) {
        let between = path.key("between");
        if partition.between.len() < 2 {
            let help = "name two groups, such as `between = [[\"north\"], [\"south\"]]`".to_owned();
            self.report(&between, "nobody to be parted from".to_owned(), "one group", help);
        }
        let mut sites = BTreeMap::new();
        for (group, members) in partition.between.iter().enumerate() {
            let path = between.index(group);
            if members.is_empty() {
                let help = "name an actor, or remove the group".to_owned();
                self.report(&path, "a group of nobody".to_owned(), "empty", help);
            }
            for (place, name) in members.iter().enumerate() {
                self.check_member(&path.index(place), name.as_str(), group, &mut sites, names);
            }
        }
        if let Some(until) = partition.until.filter(|until| *until <= partition.from) {
            let from = partition.from;
            self.report(
                &path.key("until"),
                format!("a partition from {from} until {until} parts nobody"),
                "not after `from`",
                "write a later time, or remove it: then they stay parted".to_owned(),
            );
        }
    }

    /// An actor of a group; `sites` are those named so far, with their groups.
    fn check_member<'s>(
        &mut self,
        path: &Path,
        name: &'s str,
        group: usize,
        sites: &mut BTreeMap<&'s str, usize>,
        names: &Names,
    ) where
        Self: 's,
    {
        let actors = names.actors();
        if !actors.contains(&name) {
            return self.unknown_name(path, "actor", name, &actors);
        }
        if *sites.entry(site(self.scenario, name)).or_insert(group) != group {
            self.report(
                path,
                format!("\"{name}\", or who is at the same place, is in two groups"),
                "in another group",
                "name it in one group; users are where they submit to".to_owned(),
            );
        }
    }
}

fn survives(metascheduler: &Metascheduler, fault: Fault) -> bool {
    Protocol::of(metascheduler).survives().contains(&fault)
}

fn is_used(scenario: &Scenario, metascheduler: &Metascheduler) -> bool {
    scenario.users.iter().any(|user| user.submits_to == metascheduler.name)
}

/// Where an actor is: a user, at whom it submits to.
pub(super) fn site<'s>(scenario: &'s Scenario, name: &'s str) -> &'s str {
    let user = scenario.users.iter().find(|user| user.name.as_str() == name);
    user.map_or(name, |user| user.submits_to.as_str())
}

/// The metaschedulers that talk to providers from which a partition parts them.
pub(super) fn crossing<'s>(
    scenario: &'s Scenario,
    names: &Names,
    partition: &Partition,
) -> Vec<&'s Metascheduler> {
    let group = |name: &str| {
        let is_there = |member: &Name| site(scenario, member.as_str()) == name;
        partition.between.iter().position(|members| members.iter().any(is_there))
    };
    let parted = |metascheduler: &&Metascheduler| {
        let Some(own) = group(metascheduler.name.as_str()) else { return false };
        let providers = names.copies_meant(&metascheduler.providers);
        providers.iter().any(|it| group(it).is_some_and(|other| other != own))
    };
    let used = scenario.metaschedulers.iter().filter(|it| is_used(scenario, it));
    used.filter(parted).collect()
}
