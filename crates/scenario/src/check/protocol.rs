//! Protocols that get parts of jobs: times that fit each other and the network.

use std::fmt::Display;

use haggle_model::Span;

use super::Check;
use super::rule::{Refusal, below, refuse};
use crate::file::{Coallocation, Metascheduler, OrderRule, Ordered, Paxos, Protocol};
use crate::quantity::TimeSpan;
use haggle_config::document::Path;

/// Facts about the scenario of a protocol.
struct Times {
    /// Longest time of a message and its answer.
    round_trip: TimeSpan,
    /// The run has a horizon.
    ends: bool,
}

/// Co-allocations with a protocol.
#[rustfmt::skip] // a table
const PROTOCOLS: &[Refusal<Coallocation, Times>] = &[
    refuse("protocol", |it, at| order(it) == Some(OrderRule::InTurn) && it.patience.is_none() && !at.ends,
        "jobs that ask for processors in turn may wait for each other for ever", "no end",
        "set `patience`, choose another `order`, or set `horizon` in [scenario]"),
    refuse("patience", |it, at| waits(it) && it.patience() < at.round_trip,
        "metascheduler \"{name}\" waits {patience} for an answer, and a message and its answer may take {round-trip}",
        "every try is given up", "set `patience` to {round-trip} at least"),
    // A commit must arrive before the first lease ends.
    refuse("protocol.lease", |it, at| lease(it).is_some_and(|lease| lease < needed(it, at)),
        "a part is held for {lease}, and votes and a commit may take {needed}", "ends before the commit is there",
        "set `lease` to {needed} at least, or shorten `patience`"),
    refuse("protocol.acceptors", |it, _| acceptors(it).is_multiple_of(2),
        "{acceptors} acceptors can split into two halves without a decision", "an even number",
        "write an odd number, 2 F + 1 for F that may be down"),
];

/// Metaschedulers that repeat messages; the fact is the longest time of a message and its answer.
#[rustfmt::skip] // a table
const REPEATING: &[Refusal<Metascheduler, TimeSpan>] = &[
    refuse("{table}.retry", |it, round_trip| it.retry().is_some_and(|it| it < *round_trip || it == TimeSpan::ZERO),
        "`retry` is shorter than a message and its answer take, {round-trip}, or 0s", "sent again while the answer is in transit",
        "set it to more than {round-trip}"),
];

fn order(it: &Coallocation) -> Option<OrderRule> {
    match &it.protocol {
        Some(Protocol::Ordered(Ordered { order, .. })) => Some(*order),
        _ => None,
    }
}

/// True if answers are waited for during some time.
fn waits(it: &Coallocation) -> bool {
    let for_ever = order(it).is_some() && it.patience.is_none();
    it.protocol.as_ref().is_some_and(Protocol::has_patience) && !for_ever
}

fn lease(it: &Coallocation) -> Option<TimeSpan> {
    it.protocol.as_ref()?.lease()
}

/// Time that votes and a commit may take.
fn needed(it: &Coallocation, times: &Times) -> TimeSpan {
    let phases = match &it.protocol {
        Some(Protocol::Probing(_)) => Span::ZERO,
        _ => it.patience().0,
    };
    TimeSpan(phases + times.round_trip.0)
}

/// Number of acceptors, 1 if a protocol has none.
pub(super) fn acceptors(it: &Coallocation) -> u32 {
    match &it.protocol {
        Some(Protocol::Paxos(Paxos { acceptors, .. })) => *acceptors,
        _ => 1,
    }
}

impl Check<'_> {
    /// Checks a metascheduler that gets parts of jobs by a protocol.
    pub(super) fn check_protocol(&mut self, path: &Path, metascheduler: &Metascheduler) {
        let Some((protocol, coallocation)) = metascheduler.transaction() else { return };
        let path = path.key("coallocation");
        let ends = self.scenario.scenario.horizon.is_some();
        let times = Times { round_trip: self.round_trip_max(), ends };
        self.refuse(
            PROTOCOLS,
            &path,
            (coallocation, &times),
            &[
                ("name", &metascheduler.name),
                ("patience", &coallocation.patience()),
                ("round-trip", &times.round_trip),
                ("lease", &lease(coallocation).unwrap_or(TimeSpan::ZERO)),
                ("needed", &needed(coallocation, &times)),
                ("acceptors", &acceptors(coallocation)),
            ],
        );
        for (key, _) in protocol.periods().into_iter().filter(|(_, span)| *span == TimeSpan::ZERO) {
            let at = below(&path.key("protocol"), key);
            let message = format!("`{}` is 0s, needs more", at.name());
            let help = "write a length of time above zero, such as \"1s\"";
            self.report(&at, message, "at once, for ever", help);
        }
    }

    /// A message is repeated after its answer could have arrived.
    pub(super) fn check_time_of_retry(&mut self, path: &Path, metascheduler: &Metascheduler) {
        let Some(table) = metascheduler.retry_table() else { return };
        let round_trip = self.round_trip_max();
        let words = &[("table", &table as &dyn Display), ("round-trip", &round_trip)];
        self.refuse(REPEATING, path, (metascheduler, &round_trip), words);
    }

    /// Longest time that a message and its answer take if they are not lost.
    fn round_trip_max(&self) -> TimeSpan {
        let network = &self.scenario.network;
        let links = network.links.iter().map(|link| link.latency.0);
        let latency = links.fold(network.latency.0, Span::max) + network.jitter.0;
        TimeSpan(latency + latency)
    }
}
