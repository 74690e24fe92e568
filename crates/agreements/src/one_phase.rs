//! One-phase all-or-none: each participant books immediately and definitively. If one refuses, the bookings
//! of the others are deleted.
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
//! The coordinator records only the numbers that it has used. If it crashes its bookings stay, and are
//! orphans if not all were booked.
//!
//! If replies do not arrive in time and no participant has refused, it is unknown whether all parts are
//! booked, and short ones may have ended. So the coordinator deletes the possible bookings. The group has
//! failed when a participant confirms a deletion, or when no answer has arrived for as long again. If all
//! report that their parts were carried out to their ends, the group is agreed on.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::booker::{self, Booker, Next};
use crate::booking::{Booking, Bookings};
use crate::deletion::Deletion;
use crate::protocol::{Nobody, Outcome, Parts, Protocol, Said, Times, Traits, messages};

/// One-phase all-or-none about `S`.
#[derive(Clone, Copy, Debug)]
pub struct OnePhase<S>(PhantomData<S>);

/// Rules by which a coordinator books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OnePhaseRules {
    /// True if participants are asked one after the other until one refuses; otherwise all are asked at
    /// once.
    pub sequential: bool,
    /// Time for which a reply is awaited.
    pub patience: Span,
    /// Time between repetitions of unanswered messages; `None` = no message is ever lost.
    pub retry: Option<Span>,
}

impl Times for OnePhaseRules {
    fn retry(&self) -> Option<Span> {
        self.retry
    }

    fn lead(&self, latency_max: Span, parts: usize) -> Span {
        if self.sequential {
            // Requests one after the other, a refusal, and all taken back before anything begins.
            messages(latency_max, 2 * parts as i64 + 1)
        } else {
            messages(latency_max, 3)
        }
    }
}

impl<S: Subject> Protocol for OnePhase<S> {
    const TRAITS: Traits = Traits::ahead("one-phase", Outcome::Orphans);
    type Subject = S;
    type Rules = OnePhaseRules;
    type Message = Said<Booking<S>>;
    type Coordinator = Booker<S, Group<S>>;
    type Participant = Bookings<S>;
    type Witness = Nobody;
}

/// State of the booking of one group.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Group<S: Subject> {
    parts: Parts<S>,
    /// Number of parts that have been requested.
    asked: usize,
    terms: BTreeMap<ActorId, S::Terms>,
    /// Participants among these whose parts ended before their bookings were reported.
    over: BTreeSet<ActorId>,
    counters: BTreeMap<ActorId, S::Counter>,
}

impl<S: Subject> Group<S> {
    /// The parts that have been requested.
    fn asked(&self) -> impl Iterator<Item = &(ActorId, S::Request)> {
        self.parts[..self.asked].iter()
    }

    /// Requests the next part, or all parts.
    fn ask(&mut self, rules: &OnePhaseRules) {
        self.asked = if rules.sequential { self.asked + 1 } else { self.parts.len() };
    }
}

impl<S: Subject> booker::Group<S> for Group<S> {
    type Rules = OnePhaseRules;
    const RECORDS: bool = false;

    fn patience(rules: &OnePhaseRules) -> Span {
        rules.patience
    }

    fn open(rules: &OnePhaseRules, _: Time, parts: Parts<S>) -> Self {
        let (terms, over, counters) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        let mut group = Group { parts, asked: 0, terms, over, counters };
        group.ask(rules);
        group
    }

    fn hear(&mut self, rules: &OnePhaseRules, from: ActorId, reply: Booking<S>) -> Next<S> {
        if !self.asked().any(|it| it.0 == from) {
            return Next::Wait;
        }
        match reply {
            Booking::Booked { terms, .. } => {
                self.terms.insert(from, terms);
            }
            Booking::Over { terms, .. } => {
                self.terms.insert(from, terms);
                self.over.insert(from);
            }
            Booking::Refused { counter, .. } => {
                self.counters.insert(from, counter);
            }
            _ => return Next::Wait,
        }
        if self.terms.len() == self.parts.len() {
            Next::Agree(std::mem::take(&mut self.terms))
        } else if self.terms.len() + self.counters.len() < self.asked {
            Next::Wait
        } else if self.counters.is_empty() {
            self.ask(rules);
            Next::Ask
        } else {
            Next::Fail
        }
    }

    fn unanswered(&self) -> Vec<(ActorId, Booking<S>)> {
        let silent = |who| !self.terms.contains_key(who) && !self.counters.contains_key(who);
        self.asked()
            .filter(|(who, _)| silent(who))
            .map(|(who, request)| (*who, Booking::Book { round: 0, request: request.clone() }))
            .collect()
    }

    fn give_up(&self) -> Deletion<S> {
        let may_be_booked =
            |who: &ActorId| !self.counters.contains_key(who) && !self.over.contains(who);
        let silent = self.asked().map(|it| it.0).filter(may_be_booked).collect();
        let over = self.over.iter().map(|who| (*who, self.terms[who].clone())).collect();
        let torn = !self.counters.is_empty() || self.asked < self.parts.len();
        Deletion::new(0, silent, over, torn)
    }

    fn counters(&self) -> BTreeMap<ActorId, S::Counter> {
        self.counters.clone()
    }
}
