//! Protocols that get parts of jobs: times that fit each other and the network, and keys that failures need.

use std::collections::BTreeSet;

use haggle_model::Span;

use super::Check;
use super::names::Names;
use crate::file::{Coallocation, Metascheduler, OrderRule, Paxos, Protocol};
use crate::quantity::TimeSpan;
use haggle_config::document::Path;
use haggle_scheduling::coallocation::CoallocationPolicy as Moves;

impl Check<'_> {
    /// Checks a metascheduler that gets parts of jobs by a protocol.
    pub(super) fn check_protocol(
        &mut self,
        path: &Path,
        metascheduler: &Metascheduler,
        names: &Names,
    ) {
        let Some((protocol, coallocation)) = metascheduler.transaction() else { return };
        let name = &metascheduler.name;
        let (path, at) = (path.key("coallocation"), path.key("coallocation").key("protocol"));
        if coallocation.policy.moves() != Moves::Rigid {
            self.report(
                &at,
                format!("protocol \"{}\" moves no job that is agreed on", protocol.name()),
                "agreed parts stay",
                "set `policy = \"rigid\"`, or remove `protocol`".to_owned(),
            );
        }
        self.check_retry(&path, metascheduler, coallocation, names);
        let in_order = match protocol {
            Protocol::Ordered(it) => Some(it.order),
            _ => None,
        };
        let for_ever = in_order.is_some() && coallocation.patience.is_none();
        if for_ever
            && in_order == Some(OrderRule::InTurn)
            && self.scenario.scenario.horizon.is_none()
        {
            self.report(
                &at,
                "jobs that ask for processors in turn may wait for each other for ever".to_owned(),
                "no end",
                "set `patience`, choose another `order`, or set `horizon` in [scenario]".to_owned(),
            );
        }
        let round_trip = TimeSpan(self.latency_max() + self.latency_max());
        let waits = protocol.has_patience() && !for_ever;
        if waits && coallocation.patience() < round_trip {
            self.report(
                &path.key("patience"),
                format!(
                    "metascheduler \"{name}\" waits {} for an answer, and a message and its answer may \
                     take {round_trip}",
                    coallocation.patience()
                ),
                "every try is given up",
                format!("set `patience` to {round_trip} at least"),
            );
        }
        if let Some(lease) = protocol.lease() {
            self.check_lease(&at, lease, (protocol, coallocation));
        }
        for (key, _) in protocol.periods().into_iter().filter(|(_, span)| *span == TimeSpan::ZERO) {
            let at = key.split('.').fold(at.clone(), |at, key| at.key(key));
            self.report(
                &at,
                format!("`{}` is 0s, needs more", at.name()),
                "at once, for ever",
                "write a length of time above zero, such as \"1s\"".to_owned(),
            );
        }
        if let Protocol::Paxos(Paxos { acceptors, .. }) = protocol
            && acceptors.is_multiple_of(2)
        {
            self.report(
                &at.key("acceptors"),
                format!("{acceptors} acceptors can split into two halves without a decision"),
                "an even number",
                "write an odd number, 2 F + 1 for F that may be down".to_owned(),
            );
        }
    }

    /// A message is repeated after its answer could have arrived.
    pub(super) fn check_time_of_retry(&mut self, path: &Path, metascheduler: &Metascheduler) {
        let Some((table, retry)) = metascheduler.retry_table().zip(metascheduler.retry()) else {
            return;
        };
        let round_trip = TimeSpan(self.latency_max() + self.latency_max());
        if retry < round_trip || retry == TimeSpan::ZERO {
            self.report(
                &path.key(table).key("retry"),
                format!(
                    "`retry` is shorter than a message and its answer take, {round_trip}, or 0s"
                ),
                "sent again while the answer is in transit",
                format!("set it to more than {round_trip}"),
            );
        }
    }

    /// A commit must arrive before the first lease ends.
    fn check_lease(
        &mut self,
        at: &Path,
        lease: TimeSpan,
        (protocol, coallocation): (&Protocol, &Coallocation),
    ) {
        let phases = match protocol {
            Protocol::Probing(_) => Span::ZERO,
            _ => coallocation.patience().0,
        };
        let needed = TimeSpan(phases + self.latency_max() + self.latency_max());
        if lease < needed {
            self.report(
                &at.key("lease"),
                format!("a part is held for {lease}, and votes and a commit may take {needed}"),
                "ends before the commit is there",
                format!("set `lease` to {needed} at least, or shorten `patience`"),
            );
        }
    }

    /// Messages lost in a crash must be sent again, so crashes need `retry`.
    fn check_retry(
        &mut self,
        path: &Path,
        metascheduler: &Metascheduler,
        coallocation: &Coallocation,
        names: &Names,
    ) {
        if names.crashing.is_empty() {
            return;
        }
        let meant = BTreeSet::from_iter(names.copies_meant(&metascheduler.providers));
        let concerned = |name: &&str| *name == metascheduler.name.as_str() || meant.contains(*name);
        let mut crashing = self.scenario.crashing().map(|it| it.as_str());
        let Some(who) = crashing.find(|name| concerned(name)) else { return };
        let who = who.to_owned();
        if coallocation.retry.is_none() {
            self.report(
                path,
                format!(
                    "\"{who}\" crashes, and metascheduler \"{}\" does not repeat messages that are \
                     lost with it",
                    metascheduler.name
                ),
                "no `retry`",
                "set `retry = \"1s\"`, or take it out of `actors` of [[failures]]".to_owned(),
            );
        }
    }

    /// Longest time that a message takes if it is not lost.
    fn latency_max(&self) -> Span {
        let network = &self.scenario.network;
        let links = network.links.iter().map(|link| link.latency.0);
        links.fold(network.latency.0, Span::max) + network.jitter.0
    }
}
