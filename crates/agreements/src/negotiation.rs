//! Negotiation without blocking: all participants are requested to reserve for the same start. A
//! participant that cannot answers with its first possible start, and the latest of these is requested
//! next.
//!
//! ```text
//!   c            p1            p2
//!   ├─ Book 10 ─▶│             │       r rounds in which all are asked: 2 n r messages and 2 a
//!   ├─ Book 10 ──┼────────────▶│       cancelled reservation, after 2 d r, and 2 d for each round
//!   │◀── Booked ─┤             │       with cancellations
//!   │◀───────────┼─ Refused 25 ┤
//!   ├─ Delete ──▶│             │
//!   │◀─ Deleted ─┤             │
//!   ├─ Book 25 ─▶│             │
//!   ├─ Book 25 ──┼────────────▶│
//! ```
//!
//! Nothing is locked, so there is no deadlock. The start grows from round to round, so the negotiation
//! ends. It can miss an existing solution if another group books in between.
//!
//! The next start is requested when all reservations for the last one are known to be cancelled. A part
//! begins by itself when its start comes, and no two parts of a group must begin for different rounds. If a
//! part has ended by then, or may have ended, there is no other start, and the negotiation fails. If
//! replies do not arrive in time, it is given up like a group of [one-phase
//! all-or-none](crate::one_phase).
//!
//! The coordinator records the participants that it asks, and that all were booked. After a crash it takes
//! unfinished bookings back.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::booker::{self, Booker, Next};
use crate::booking::{Booking, Bookings};
use crate::deletion::Deletion;
use crate::protocol::{Nobody, Outcome, Parts, Protocol, Said, Times, Traits, messages};

/// A subject with starts, on a calendar that all actors share. It refers to no machine's clock.
pub trait Windowed: Subject {
    /// The first and the last requested start.
    fn window(request: &Self::Request) -> (Time, Time);
    /// The same request with another window.
    fn within(request: &Self::Request, from: Time, until: Time) -> Self::Request;
    /// The granted start.
    fn start(terms: &Self::Terms) -> Time;
    /// The first possible start after the window.
    fn earliest(counter: &Self::Counter) -> Time;
}

/// Negotiation without blocking about `S`.
#[derive(Clone, Copy, Debug)]
pub struct Negotiation<S>(PhantomData<S>);

/// Rules by which a coordinator negotiates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NegotiationRules {
    /// Largest difference of the starts of a group.
    pub tolerance: Span,
    /// Rounds after which it is given up.
    pub rounds: u32,
    /// Time for which replies of a round are awaited.
    pub patience: Span,
    /// Time between repetitions of unanswered messages; `None` = no message is ever lost.
    pub retry: Option<Span>,
}

impl Times for NegotiationRules {
    fn retry(&self) -> Option<Span> {
        self.retry
    }

    fn lead(&self, latency_max: Span, _: usize) -> Span {
        messages(latency_max, 3)
    }
}

impl<S: Windowed> Protocol for Negotiation<S> {
    const TRAITS: Traits = Traits::ahead("negotiation", Outcome::Compensated);
    type Subject = S;
    type Rules = NegotiationRules;
    type Message = Said<Booking<S>>;
    type Coordinator = Booker<S, Round<S>>;
    type Participant = Bookings<S>;
    type Witness = Nobody;
}

/// Progress of a negotiation.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Round<S: Subject> {
    parts: BTreeMap<ActorId, Asked<S>>,
    round: u32,
    from: Time,
    /// The last useful start, with the tolerance.
    last: Time,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct Asked<S: Subject> {
    request: S::Request,
    round: u32,
    state: Reply<S>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
enum Reply<S: Subject> {
    Awaited,
    Booked(S::Terms),
    /// It was booked, and the part ended before the booking was reported.
    Over(S::Terms),
    Refused(S::Counter),
    /// Its booking is for the start of the last round, and is being cancelled.
    Deleting,
    /// Nothing is booked or requested yet.
    Idle,
}

impl<S: Windowed> Asked<S> {
    /// The request that it has not answered.
    fn unanswered(&self) -> Option<Booking<S>> {
        let round = self.round;
        match self.state {
            Reply::Awaited => Some(Booking::Book { round, request: self.request.clone() }),
            Reply::Deleting => Some(Booking::Delete { round }),
            Reply::Booked(_) | Reply::Over(_) | Reply::Refused(_) | Reply::Idle => None,
        }
    }

    /// Returns whether it is booked at a start in this range.
    fn suits(&self, from: Time, until: Time) -> bool {
        matches!(&self.state, Reply::Booked(terms) if (from..=until).contains(&S::start(terms)))
    }
}

impl<S: Windowed> Round<S> {
    /// Cancels the bookings outside the window of a new round.
    fn begin(&mut self, tolerance: Span) {
        let (from, until) = (self.from, self.from + tolerance);
        for asked in self.parts.values_mut().filter(|asked| !asked.suits(from, until)) {
            let is_booked = matches!(asked.state, Reply::Booked(_));
            asked.state = if is_booked { Reply::Deleting } else { Reply::Idle };
        }
    }

    /// Requests the missing bookings inside the window, once no booking is left outside it.
    fn ask(&mut self, tolerance: Span) -> Next<S> {
        let (round, from, until) = (self.round, self.from, self.from + tolerance);
        if !self.is_deleting() {
            for asked in self.parts.values_mut().filter(|it| matches!(it.state, Reply::Idle)) {
                let request = S::within(&asked.request, from, until);
                *asked = Asked { request, round, state: Reply::Awaited };
            }
        }
        Next::Ask
    }

    fn is_deleting(&self) -> bool {
        self.parts.values().any(|asked| matches!(asked.state, Reply::Deleting))
    }

    fn answered(&mut self, rules: &NegotiationRules) -> Next<S> {
        let states = || self.parts.values().map(|asked| &asked.state);
        if states().any(|state| matches!(state, Reply::Awaited)) {
            return Next::Wait;
        }
        let counter = |state: &Reply<S>| match state {
            Reply::Refused(counter) => Some(S::earliest(counter)),
            _ => None,
        };
        let Some(next) = states().filter_map(counter).max() else {
            let terms = |(&who, asked): (&ActorId, &Asked<S>)| match &asked.state {
                Reply::Booked(terms) | Reply::Over(terms) => Some((who, terms.clone())),
                _ => None,
            };
            return Next::Agree(self.parts.iter().filter_map(terms).collect());
        };
        let is_over = states().any(|state| matches!(state, Reply::Over(_)));
        // A participant that proposes the requested start makes no progress.
        if is_over || next > self.last || next <= self.from || self.round + 1 >= rules.rounds {
            return Next::Fail;
        }
        (self.round, self.from) = (self.round + 1, next);
        self.begin(rules.tolerance);
        self.ask(rules.tolerance)
    }
}

impl<S: Windowed> booker::Group<S> for Round<S> {
    type Rules = NegotiationRules;
    const RECORDS: bool = true;

    fn patience(rules: &NegotiationRules) -> Span {
        rules.patience
    }

    fn open(rules: &NegotiationRules, now: Time, parts: Parts<S>) -> Self {
        let window = |(_, request): &(ActorId, S::Request)| S::window(request);
        let from = parts.iter().map(|part| window(part).0).max().unwrap_or(now);
        let last = parts.iter().map(|part| window(part).1).min().unwrap_or(now);
        let asked = |request| Asked { request, round: 0, state: Reply::Idle };
        let parts = parts.into_iter().map(|(who, request)| (who, asked(request))).collect();
        let mut round = Round { parts, round: 0, from, last };
        round.ask(rules.tolerance);
        round
    }

    fn hear(&mut self, rules: &NegotiationRules, from: ActorId, reply: Booking<S>) -> Next<S> {
        let Some(asked) = self.parts.get_mut(&from) else { return Next::Wait };
        let current = asked.round;
        match (reply, &asked.state) {
            (Booking::Booked { round, terms }, Reply::Awaited) if round == current => {
                asked.state = Reply::Booked(terms);
                self.answered(rules)
            }
            (Booking::Refused { round, counter }, Reply::Awaited) if round == current => {
                asked.state = Reply::Refused(counter);
                self.answered(rules)
            }
            (Booking::Over { round, terms }, Reply::Awaited) if round == current => {
                asked.state = Reply::Over(terms);
                self.answered(rules)
            }
            (Booking::Deleted { round, may_have_run }, Reply::Deleting) if round == current => {
                asked.state = Reply::Idle;
                match (may_have_run, self.is_deleting()) {
                    (true, _) => Next::Fail,
                    (false, true) => Next::Wait,
                    (false, false) => self.ask(rules.tolerance),
                }
            }
            (Booking::Over { round, terms }, Reply::Deleting) if round == current => {
                asked.state = Reply::Over(terms);
                Next::Fail
            }
            _ => Next::Wait,
        }
    }

    fn unanswered(&self) -> Vec<(ActorId, Booking<S>)> {
        let unanswered = |(&who, asked): (&ActorId, &Asked<S>)| Some((who, asked.unanswered()?));
        self.parts.iter().filter_map(unanswered).collect()
    }

    fn give_up(&self) -> Deletion<S> {
        let (mut silent, mut over, mut torn) = (BTreeSet::new(), BTreeMap::new(), false);
        for (&who, asked) in &self.parts {
            match &asked.state {
                Reply::Refused(_) | Reply::Idle => torn = true,
                Reply::Over(terms) => {
                    over.insert(who, terms.clone());
                }
                Reply::Awaited | Reply::Booked(_) | Reply::Deleting => {
                    silent.insert(who);
                }
            }
        }
        Deletion::new(self.round, silent, over, torn)
    }

    fn counters(&self) -> BTreeMap<ActorId, S::Counter> {
        let counter = |(&who, asked): (&ActorId, &Asked<S>)| match &asked.state {
            Reply::Refused(counter) => Some((who, counter.clone())),
            _ => None,
        };
        self.parts.iter().filter_map(counter).collect()
    }
}
