//! One-phase all-or-none: each participant books at once and for good, and if one refuses the
//! others are deleted.
//!
//! ```text
//!   c            p1            p2
//!   ├─ Book ────▶│             │       success: 2 n messages, after 2 d;
//!   ├─ Book ─────┼────────────▶│       one after the other after 2 n d
//!   │◀── Booked ─┤             │
//!   │◀───────────┼── Refused ──┤       failure with g booked: 2 n + 2 g; one after the
//!   ├─ Delete ──▶│             │       other, refused by the i-th: 2 i + 2 (i - 1)
//!   │◀─ Deleted ─┤             │
//! ```
//!
//! Nothing is on record at the coordinator but which numbers it has used. If it crashes its
//! bookings stay, and are orphans if not all were booked.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::booking::{Booking, Bookings};
use crate::ledger::{Entry, Ledger};
use crate::protocol::{
    Coordinates, Machine, Nobody, Outcome, Outputs, Parts, Protocol, Said, Traits, Verdict,
};
use crate::{CoordinatorTimer, Output, Subject};

/// One-phase all-or-none about `S`.
#[derive(Clone, Copy, Debug)]
pub struct OnePhase<S>(PhantomData<S>);

/// How a coordinator books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OnePhaseRules {
    /// Whether one after the other is asked, and nobody after a refusal; otherwise all at once.
    pub sequential: bool,
    /// For how long a reply is awaited.
    pub patience: Span,
    /// Time between repetitions of what is not answered; `None` = no message is ever lost.
    pub retry: Option<Span>,
}

impl<S: Subject> Protocol for OnePhase<S> {
    const TRAITS: Traits =
        Traits { name: "one-phase", outcome: Outcome::Orphans, waits: false, closes: false };
    type Subject = S;
    type Rules = OnePhaseRules;
    type Message = Said<Booking<S>>;
    type Coordinator = Books<S>;
    type Participant = Bookings<S>;
    type Witness = Nobody;
}

/// Where a booking of one group stands. Never persisted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Group<S: Subject> {
    parts: Parts<S>,
    /// How many of them are asked.
    asked: usize,
    terms: BTreeMap<ActorId, S::Terms>,
    counters: BTreeMap<ActorId, S::Counter>,
    /// It has failed: who has not said yet that nothing is booked.
    deleting: Option<Vec<ActorId>>,
}

/// All groups that one actor books.
#[derive(Clone, Debug)]
pub struct Books<S: Subject> {
    rules: OnePhaseRules,
    groups: Ledger<Group<S>>,
}

type Out<S> = Outputs<OnePhase<S>, Books<S>>;

impl<S: Subject> Books<S> {
    /// Says once more what is not answered.
    fn repeat(&self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get(&number) else { return };
        let silent = group.silent();
        if let Some(retry) = self.rules.retry
            && !silent.is_empty()
        {
            let timer = CoordinatorTimer::Retry(number);
            out.push(Output::Set { timer, at: now + retry.max(Span::TICK) });
        }
        for (who, body) in silent {
            self.groups.send(who, number, body, out);
        }
    }

    /// Asks the next one, or all.
    fn ask(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        group.asked = if self.rules.sequential { group.asked + 1 } else { group.parts.len() };
        let (timer, at) = (CoordinatorTimer::Decide(number), now + self.rules.patience);
        out.push(Output::Set { timer, at });
        self.repeat(now, number, out);
    }

    fn answered(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        if group.terms.len() == group.parts.len() {
            let terms = std::mem::take(&mut group.terms);
            self.forget(number, out);
            out.push(Output::Tell(Verdict::Agreed { number, terms }));
        } else if group.terms.len() + group.counters.len() == group.asked {
            if group.counters.is_empty() {
                self.ask(now, number, out);
            } else {
                self.fail(now, number, out);
            }
        }
    }

    fn fail(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        let counters = std::mem::take(&mut group.counters);
        let asked = group.parts[..group.asked].iter().map(|it| it.0);
        let deleting: Vec<_> = asked.filter(|who| !counters.contains_key(who)).collect();
        let none = deleting.is_empty();
        group.deleting = Some(deleting);
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Tell(Verdict::Failed { number, counters }));
        if none {
            self.forget(number, out);
        } else {
            self.repeat(now, number, out);
        }
    }

    fn forget(&mut self, number: u64, out: &mut Out<S>) {
        self.groups.open.remove(&number);
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Stop(CoordinatorTimer::Retry(number)));
    }
}

impl<S: Subject> Group<S> {
    /// Who has not answered what.
    fn silent(&self) -> Vec<(ActorId, Booking<S>)> {
        if let Some(deleting) = &self.deleting {
            return deleting.iter().map(|&who| (who, Booking::Delete { round: 0 })).collect();
        }
        let asked = self.parts[..self.asked].iter();
        asked
            .filter(|(who, _)| !self.terms.contains_key(who) && !self.counters.contains_key(who))
            .map(|(who, request)| (*who, Booking::Book { round: 0, request: request.clone() }))
            .collect()
    }

    fn asks(&self, who: ActorId) -> bool {
        self.parts[..self.asked].iter().any(|it| it.0 == who)
    }
}

impl<S: Subject> Machine<OnePhase<S>> for Books<S> {
    type Record = Entry<Group<S>>;
    type Timer = CoordinatorTimer;
    type News = Verdict<S>;

    fn start(
        me: ActorId,
        rules: &OnePhaseRules,
        records: Vec<Entry<Group<S>>>,
        _: Time,
        _: &mut Out<S>,
    ) -> Self {
        Books { rules: *rules, groups: Ledger::start(me, records) }
    }

    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: Said<Booking<S>>,
        out: &mut Out<S>,
    ) {
        let Some(number) = self.groups.mine(message.id) else { return };
        let Some(group) = self.groups.open.get_mut(&number).filter(|it| it.asks(from)) else {
            return;
        };
        match (message.body, &mut group.deleting) {
            (Booking::Booked { terms, .. }, None) => {
                group.terms.insert(from, terms);
                self.answered(now, number, out);
            }
            (Booking::Refused { counter, .. }, None) => {
                group.counters.insert(from, counter);
                self.answered(now, number, out);
            }
            (Booking::Deleted { .. } | Booking::Refused { .. }, Some(deleting)) => {
                deleting.retain(|&who| who != from);
                if deleting.is_empty() {
                    self.forget(number, out);
                }
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, now: Time, timer: CoordinatorTimer, out: &mut Out<S>) {
        match timer {
            CoordinatorTimer::Decide(number) => self.fail(now, number, out),
            CoordinatorTimer::Retry(number) => self.repeat(now, number, out),
        }
    }
}

impl<S: Subject> Coordinates<OnePhase<S>> for Books<S> {
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut Out<S>) -> u64 {
        let number = self.groups.number(out);
        let (terms, counters) = (BTreeMap::new(), BTreeMap::new());
        let group = Group { parts, asked: 0, terms, counters, deleting: None };
        self.groups.open.insert(number, group);
        self.ask(now, number, out);
        number
    }

    fn close(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        if self.groups.open.get(&number).is_some_and(|it| it.deleting.is_none()) {
            self.fail(now, number, out);
        }
    }

    fn open_numbers(&self) -> Vec<u64> {
        self.groups.numbers()
    }
}
