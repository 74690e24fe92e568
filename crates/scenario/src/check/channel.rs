//! Faults of the network: the protocols of metaschedulers must survive the faults of the scenario.

use std::collections::BTreeMap;

use super::Check;
use super::names::{Known, Names};
use crate::Scenario;
use crate::file::{Coallocation, EventsOrder, Metascheduler, Partition, Role, Transport};
use crate::quantity::{Name, Share, TimeSpan};
use haggle_config::document::Path;

/// Largest share of losses if messages are sent again until one arrives. A message is then sent a hundred times in
/// the mean.
const LOSS_MAX: f64 = 0.99;

/// Fault of the network that a message may meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Loss,
    Duplication,
    Reordering,
    Partition,
}

impl Fault {
    /// Key of the scenario that switches the fault on.
    const fn key(self) -> &'static str {
        match self {
            Fault::Loss => "loss",
            Fault::Duplication => "duplication",
            Fault::Reordering => "reordering",
            Fault::Partition => "partition",
        }
    }

    /// Way to avoid the fault, for a line of help.
    const fn remedy(self, protocol: Protocol) -> &'static str {
        match self {
            Fault::Loss if matches!(protocol, Protocol::Mapping) => "set `loss = \"0%\"`",
            Fault::Partition if matches!(protocol, Protocol::Mapping) => {
                "part actors that send each other no messages"
            }
            Fault::Loss | Fault::Partition if matches!(protocol, Protocol::Coallocation { .. }) => {
                "set `retry` of its [metascheduler.coallocation]"
            }
            Fault::Loss | Fault::Partition if matches!(protocol, Protocol::Transaction { .. }) => {
                "set `retry` of its [metascheduler.coallocation]"
            }
            _ if matches!(protocol, Protocol::Bargaining { .. }) => {
                "set `retry` of its [metascheduler.negotiation]"
            }
            Fault::Loss => "set `transport = \"reliable\"` or `loss = \"0%\"`",
            Fault::Duplication => "set `transport = \"reliable\"` or `duplication = \"0%\"`",
            Fault::Reordering => "set `reordering = false`",
            Fault::Partition => {
                "set `transport = \"reliable\"`, part actors that send each other no messages"
            }
        }
    }

    /// Words for its effect, to be put behind "messages that".
    const fn does(self) -> &'static str {
        match self {
            Fault::Loss => "are lost",
            Fault::Duplication => "arrive twice",
            Fault::Reordering => "overtake each other",
            Fault::Partition => "are lost while actors are parted",
        }
    }
}

/// Protocol between a metascheduler and its providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    /// It places rigid jobs, with or without queries.
    Placement,
    /// It bargains over bags by messages that are repeated, or not.
    Bargaining {
        /// True if they are repeated.
        repeats: bool,
    },
    /// It spreads rigid jobs over providers by messages that are repeated, or not.
    Coallocation {
        /// True if they are repeated.
        repeats: bool,
    },
    /// It maps applications to cores of providers.
    Mapping,
    /// It gets parts of rigid jobs by a protocol of agreements.
    Transaction {
        /// True if it sends unanswered messages again.
        repeats: bool,
    },
    /// It moves moldable jobs.
    Reallocation,
}

impl Protocol {
    fn of(metascheduler: &Metascheduler) -> Protocol {
        match metascheduler.role() {
            Role::Places(_) => Protocol::Placement,
            Role::Composes(_) => Protocol::Bargaining { repeats: metascheduler.retry().is_some() },
            Role::Spreads(Coallocation { protocol: Some(_), retry, .. }) => {
                Protocol::Transaction { repeats: retry.is_some() }
            }
            Role::Spreads(Coallocation { retry, .. }) => {
                Protocol::Coallocation { repeats: retry.is_some() }
            }
            Role::Maps(_) => Protocol::Mapping,
            Role::Moves(_) => Protocol::Reallocation,
        }
    }

    /// True if every job reaches its end in spite of this fault.
    const fn survives(self, fault: Fault, transport: Transport) -> bool {
        match (fault, transport) {
            // A commit that is late is undone, and the job is tried again.
            (_, _) if matches!(self, Protocol::Coallocation { repeats: true }) => true,
            // Parts start at their booked times even if a commit is late, and no commit is undone. So no message may
            // take longer than planned.
            (Fault::Loss | Fault::Partition, _)
                if matches!(self, Protocol::Coallocation { .. } | Protocol::Mapping) =>
            {
                false
            }
            // A receiver answers each copy of a message.
            (Fault::Duplication | Fault::Reordering, _)
                if matches!(self, Protocol::Transaction { .. }) =>
            {
                true
            }
            (_, _) if matches!(self, Protocol::Bargaining { repeats: true }) => true,
            (_, Transport::Datagram) if matches!(self, Protocol::Transaction { repeats: true }) => {
                true
            }
            // A reliable transport delivers every message once, so these faults only delay it.
            (Fault::Loss | Fault::Duplication | Fault::Partition, Transport::Reliable) => true,
            (Fault::Loss | Fault::Duplication | Fault::Partition, Transport::Datagram) => false,
            (Fault::Reordering, _) => match self {
                // An actor sends messages about a job only after it has received the job.
                Protocol::Placement => true,
                // A receiver has at most one message of a part under way, and a late message is about a part that
                // is over.
                Protocol::Coallocation { .. }
                | Protocol::Mapping
                | Protocol::Transaction { .. } => true,
                // An actor that waits for an answer does nothing else, and has one request open at a time.
                Protocol::Reallocation => true,
                // A probe is useless if it arrives before the offers that it is about.
                Protocol::Bargaining { .. } => false,
            },
        }
    }
}

impl<'a> Check<'a> {
    pub(super) fn check_channel(&mut self, names: &Names) {
        let network = &self.scenario.network;
        let asked = [
            (Fault::Loss, network.loss > Share::ZERO),
            (Fault::Duplication, network.duplication > Share::ZERO),
            (Fault::Reordering, network.reordering),
        ];
        let transport = network.transport;
        for (fault, _) in asked.into_iter().filter(|(_, asked)| *asked) {
            let mut talkers = self.used_metaschedulers();
            let hurt = talkers.find(|it| !Protocol::of(it).survives(fault, transport));
            if let Some(who) = hurt {
                self.report_fault(&Path::root().key("network").key(fault.key()), fault, who);
            }
        }
        self.check_overflow_channel(&asked);
        self.check_transport();
        for (index, partition) in self.scenario.network.partitions.iter().enumerate() {
            let path = Path::root().key("network").key("partition").index(index);
            let known = self.problems.len();
            self.check_partition(&path, partition, names);
            // A partition with mistakes has been reported, and is not judged further.
            if self.problems.len() > known {
                continue;
            }
            let across = self.crossing(names, partition);
            let hurt =
                across.iter().find(|it| !Protocol::of(it).survives(Fault::Partition, transport));
            match (hurt, across.first()) {
                (Some(who), _) => self.report_fault(&path, Fault::Partition, who),
                (None, Some(who)) if partition.until.is_none() => self.report(
                    &path,
                    format!("metascheduler \"{}\" is parted from providers for ever", who.name),
                    "their messages never arrive",
                    "add `until`, or part actors that send each other no messages".to_owned(),
                ),
                _ => {}
            }
        }
    }

    /// Refuses keys of the time that messages take, if messages arrive at once.
    pub(super) fn refuse_times_of_messages(&mut self, instead: &str) {
        let Some(between) = at_once(self.scenario) else { return };
        let network = &self.scenario.network;
        let path = Path::root().key("network");
        for (key, takes_time) in [
            ("latency", network.latency > TimeSpan::ZERO),
            ("jitter", network.jitter > TimeSpan::ZERO),
            ("link", !network.links.is_empty()),
        ] {
            if takes_time {
                self.report(
                    &path.key(key),
                    format!("messages between {between} take no time"),
                    "not used",
                    format!("remove it; {instead}"),
                );
            }
        }
    }

    /// Only providers can have either order of events; `order` names the order that holds instead.
    pub(super) fn refuse_order_of_events(&mut self, order: &str) {
        let none = self.scenario.providers.is_empty();
        if none && self.scenario.scenario.events_order != EventsOrder::default() {
            self.report(
                &Path::root().key("scenario").key("events-order"),
                order.to_owned(),
                "not used",
                "remove it; only providers can have either order".to_owned(),
            );
        }
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
                    self.report(
                        &path,
                        format!("the grid is parted from \"{}\" for ever", overflow.to),
                        "jobs that it passes on never arrive",
                        "add `until`, or part actors that send each other no messages".to_owned(),
                    );
                }
                hurt.push((path, Fault::Partition));
            }
        }
        for (path, fault) in hurt.into_iter().filter(|_| datagram) {
            self.report(
                &path,
                format!(
                    "the grid passes jobs on, and would lose jobs by messages that {}",
                    fault.does()
                ),
                "not survived",
                format!("{}, or remove `overflow` of [grid]", fault.remedy(Protocol::Placement)),
            );
        }
    }

    fn check_transport(&mut self) {
        let (path, network) = (Path::root().key("network"), &self.scenario.network);
        if network.timeout() == TimeSpan::ZERO {
            self.report(
                &path.key("retransmission-timeout"),
                "`retransmission-timeout` is 0s, needs more".to_owned(),
                "sent again at once, for ever",
                "write a time longer than a message and its answer take".to_owned(),
            );
        }
        if network.transport == Transport::Reliable && network.loss.fraction() > LOSS_MAX {
            self.report(
                &path.key("loss"),
                format!("{} of all messages are lost; the maximum is 99%", network.loss),
                "sent again more than a hundred times",
                "lower `loss`".to_owned(),
            );
        }
    }

    fn report_fault(&mut self, path: &Path, fault: Fault, who: &Metascheduler) {
        let (does, name) = (fault.does(), &who.name);
        let talks = match Protocol::of(who) {
            Protocol::Placement => "places jobs",
            Protocol::Bargaining { .. } => "bargains over bags",
            Protocol::Coallocation { .. } | Protocol::Mapping => {
                "starts jobs on several providers at once"
            }
            Protocol::Transaction { .. } => "gets parts of jobs from several providers",
            Protocol::Reallocation => "moves moldable jobs",
        };
        self.report(
            path,
            format!(
                "metascheduler \"{name}\" {talks}, and would lose jobs by messages that \
                     {does}"
            ),
            "not survived",
            format!("{}, or let users submit to providers", fault.remedy(Protocol::of(who))),
        );
    }

    fn check_partition(&mut self, path: &Path, partition: &Partition, names: &Names) {
        let between = path.key("between");
        if partition.between.len() < 2 {
            let help = "name two groups, such as `between = [[\"north\"], [\"south\"]]`".to_owned();
            self.report(&between, "only one group".to_owned(), "one group", help);
        }
        let mut sites = BTreeMap::new();
        let actors: Known<'_> = names.actors().collect();
        for (group, members) in partition.between.iter().enumerate() {
            let path = between.index(group);
            if members.is_empty() {
                let help = "name an actor, or remove the group".to_owned();
                self.report(&path, "an empty group".to_owned(), "empty", help);
            }
            for (place, name) in members.iter().enumerate() {
                self.check_member(&path.index(place), name.as_str(), group, &mut sites, &actors);
            }
        }
        if let Some(until) = partition.until.filter(|until| *until <= partition.from) {
            let from = partition.from;
            self.report(
                &path.key("until"),
                format!("a partition from {from} until {until} has no duration"),
                "not after `from`",
                "write a later time, or remove it: then they stay parted".to_owned(),
            );
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
            self.report(
                path,
                format!("\"{name}\", or an actor at the same place, is in two groups"),
                "in another group",
                "name it in one group; users are where they submit to".to_owned(),
            );
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
