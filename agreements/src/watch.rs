//! The availability watch: nothing is asked for until all participants say that they have room.
//!
//! ```text
//!   c             p1            p2
//!   ├─ Watch ────▶│             │       n messages, the news, and 2 n for the bookings
//!   ├─ Watch ─────┼────────────▶│
//!   │◀─ Avail yes ┤             │
//!   │◀────────────┼─ Avail no ──┤
//!   │             │     ...     │
//!   │◀────────────┼─ Avail yes ─┤
//!   ├─ Book ─────▶│             │       as in one-phase all-or-none
//!   ├─ Book ──────┼────────────▶│
//! ```
//!
//! Who books only what was free a moment ago is in others' way less often. When somebody refuses
//! all the same, what is booked is deleted and the watch begins anew. Nothing is on record at
//! the coordinator, as in [one-phase all-or-none](crate::one_phase).

use std::collections::BTreeMap;
use std::marker::PhantomData;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::booking::{Booking, Bookings};
use crate::ledger::{Entry, Ledger};
use crate::protocol::{
    Coordinates, Machine, Nobody, Outcome, Outputs, Parts, Protocol, Said, Traits, Verdict,
};
use crate::{CoordinatorTimer, Epoch, Output, Subject};

/// Booking after an availability watch about `S`.
#[derive(Clone, Copy, Debug)]
pub struct Watching<S>(PhantomData<S>);

/// How a coordinator watches and books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WatchRules {
    /// For how long it tries.
    pub patience: Span,
    /// Time between repetitions of what is not answered; `None` = no message is ever lost.
    pub retry: Option<Span>,
}

impl<S: Subject> Protocol for Watching<S> {
    const TRAITS: Traits =
        Traits { name: "watch", outcome: Outcome::Orphans, waits: false, closes: false };
    type Subject = S;
    type Rules = WatchRules;
    type Message = Said<Booking<S>>;
    type Coordinator = Watcher<S>;
    type Participant = Bookings<S>;
    type Witness = Nobody;
}

/// Where a group stands. Never persisted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Group<S: Subject> {
    parts: BTreeMap<ActorId, Part<S>>,
    round: u32,
    phase: Phase,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
struct Part<S: Subject> {
    request: S::Request,
    /// The last news.
    avail: Option<(Epoch, bool)>,
    reply: Option<Reply<S>>,
}

/// To what was asked last: to book, or to delete.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
enum Reply<S: Subject> {
    Booked(S::Terms),
    Refused(S::Counter),
    Deleted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Watching,
    Booking,
    /// It has failed.
    Deleting,
}

/// All groups that one actor watches for.
#[derive(Clone, Debug)]
pub struct Watcher<S: Subject> {
    rules: WatchRules,
    groups: Ledger<Group<S>>,
}

type Out<S> = Outputs<Watching<S>, Watcher<S>>;

impl<S: Subject> Group<S> {
    fn unanswered(&self) -> Vec<(ActorId, Booking<S>)> {
        let round = self.round;
        let body = |part: &Part<S>| match self.phase {
            Phase::Watching if part.avail.is_some_and(|it| it.1) => None,
            Phase::Watching => Some(Booking::Watch { request: part.request.clone() }),
            _ if part.reply.is_some() => None,
            Phase::Booking => Some(Booking::Book { round, request: part.request.clone() }),
            Phase::Deleting => Some(Booking::Delete { round }),
        };
        self.parts.iter().filter_map(|(&who, part)| Some((who, body(part)?))).collect()
    }
}

impl<S: Subject> Watcher<S> {
    fn repeat(&self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get(&number) else { return };
        if let Some(retry) = self.rules.retry {
            let timer = CoordinatorTimer::Retry(number);
            out.push(Output::Set { timer, at: now + retry.max(Span::TICK) });
        }
        for (who, body) in group.unanswered() {
            self.groups.send(who, number, body, out);
        }
    }

    /// Somebody has said something: goes on if all have.
    fn advance(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        let replied = group.parts.values().all(|part| part.reply.is_some());
        match group.phase {
            Phase::Watching => {
                if group.parts.values().all(|part| part.avail.is_some_and(|it| it.1)) {
                    group.phase = Phase::Booking;
                    self.repeat(now, number, out);
                }
            }
            Phase::Booking if replied => {
                let booked = |(&who, part): (&ActorId, &Part<S>)| match &part.reply {
                    Some(Reply::Booked(terms)) => Some((who, terms.clone())),
                    _ => None,
                };
                let terms: BTreeMap<_, _> = group.parts.iter().filter_map(booked).collect();
                if terms.len() == group.parts.len() {
                    self.forget(number, out);
                    out.push(Output::Tell(Verdict::Agreed { number, terms }));
                } else {
                    self.watch_again(now, number, out);
                }
            }
            Phase::Deleting if replied => self.forget(number, out),
            Phase::Booking | Phase::Deleting => {}
        }
    }

    /// Takes back what is booked and watches anew.
    fn watch_again(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        let round = group.round;
        group.round += 1;
        group.phase = Phase::Watching;
        let mut booked = Vec::new();
        for (&who, part) in &mut group.parts {
            if let Some(Reply::Booked(_)) = part.reply.take() {
                booked.push(who);
            }
            part.avail = None;
        }
        for who in booked {
            self.groups.send(who, number, Booking::Delete { round }, out);
        }
        self.repeat(now, number, out);
    }

    fn fail(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        let mut counters = BTreeMap::new();
        for (&who, part) in &mut group.parts {
            match part.reply.take() {
                Some(Reply::Refused(counter)) => {
                    counters.insert(who, counter);
                }
                Some(Reply::Booked(_) | Reply::Deleted) | None => {}
            }
        }
        group.phase = Phase::Deleting;
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Tell(Verdict::Failed { number, counters }));
        self.repeat(now, number, out);
    }

    fn forget(&mut self, number: u64, out: &mut Out<S>) {
        self.groups.open.remove(&number);
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Stop(CoordinatorTimer::Retry(number)));
    }
}

impl<S: Subject> Machine<Watching<S>> for Watcher<S> {
    type Record = Entry<Group<S>>;
    type Timer = CoordinatorTimer;
    type News = Verdict<S>;

    fn start(
        me: ActorId,
        rules: &WatchRules,
        records: Vec<Entry<Group<S>>>,
        _: Time,
        _: &mut Out<S>,
    ) -> Self {
        Watcher { rules: *rules, groups: Ledger::start(me, records) }
    }

    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: Said<Booking<S>>,
        out: &mut Out<S>,
    ) {
        let Some(number) = self.groups.mine(message.id) else { return };
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        let (current, phase) = (group.round, group.phase);
        let Some(part) = group.parts.get_mut(&from) else { return };
        match (message.body, phase) {
            (Booking::Avail { epoch, fits }, _) => {
                if part.avail.is_none_or(|(before, _)| before < epoch) {
                    part.avail = Some((epoch, fits));
                }
            }
            (Booking::Booked { round, terms }, Phase::Booking) if round == current => {
                part.reply = Some(Reply::Booked(terms));
            }
            (Booking::Refused { round, counter }, Phase::Booking) if round == current => {
                part.reply = Some(Reply::Refused(counter));
            }
            (Booking::Deleted { round }, Phase::Deleting) if round == current => {
                part.reply = Some(Reply::Deleted);
            }
            _ => return,
        }
        self.advance(now, number, out);
    }

    fn on_timer(&mut self, now: Time, timer: CoordinatorTimer, out: &mut Out<S>) {
        match timer {
            CoordinatorTimer::Decide(number) => self.fail(now, number, out),
            CoordinatorTimer::Retry(number) => self.repeat(now, number, out),
        }
    }
}

impl<S: Subject> Coordinates<Watching<S>> for Watcher<S> {
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut Out<S>) -> u64 {
        let number = self.groups.number(out);
        let part = |request| Part { request, avail: None, reply: None };
        let parts = parts.into_iter().map(|(who, request)| (who, part(request))).collect();
        self.groups.open.insert(number, Group { parts, round: 0, phase: Phase::Watching });
        let (timer, at) = (CoordinatorTimer::Decide(number), now + self.rules.patience);
        out.push(Output::Set { timer, at });
        self.repeat(now, number, out);
        number
    }

    fn close(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        if self.groups.open.get(&number).is_some_and(|it| it.phase != Phase::Deleting) {
            self.fail(now, number, out);
        }
    }

    fn open_numbers(&self) -> Vec<u64> {
        self.groups.numbers()
    }
}
