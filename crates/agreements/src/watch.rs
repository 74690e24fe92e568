//! The availability watch: nothing is requested until all participants report that they have room.
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
//! Booking only room that was free a moment ago causes fewer conflicts. If a participant refuses all the
//! same, the bookings are deleted and the watch begins again. The next bookings wait until the last ones
//! are known to be deleted. If a part has ended by then, or may have ended, the group has failed. The
//! coordinator records nothing. A group without replies in time is given up, as in [one-phase
//! all-or-none](crate::one_phase).

use std::collections::BTreeMap;
use std::marker::PhantomData;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::booker::{self, Booker, Next};
use crate::booking::{Booking, Bookings};
use crate::deletion::Deletion;
use crate::protocol::{Nobody, Outcome, Parts, Protocol, Said, Times, Traits};
use crate::{Epoch, Subject};

/// Booking after an availability watch about `S`.
#[derive(Clone, Copy, Debug)]
pub struct Watching<S>(PhantomData<S>);

/// Rules by which a coordinator watches and books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WatchRules {
    /// Time for which it tries.
    pub patience: Span,
    /// Time between repetitions of unanswered messages; `None` = no message is ever lost.
    pub retry: Option<Span>,
}

impl Times for WatchRules {
    fn retry(&self) -> Option<Span> {
        self.retry
    }

    fn lead(&self, _: Span, _: usize) -> Span {
        Span::ZERO
    }
}

impl<S: Subject> Protocol for Watching<S> {
    const TRAITS: Traits = Traits::now("watch", Outcome::Orphans);
    type Subject = S;
    type Rules = WatchRules;
    type Message = Said<Booking<S>>;
    type Coordinator = Booker<S, Group<S>>;
    type Participant = Bookings<S>;
    type Witness = Nobody;
}

/// State of a group.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Group<S: Subject> {
    parts: BTreeMap<ActorId, Part<S>>,
    round: u32,
    phase: Phase,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct Part<S: Subject> {
    request: S::Request,
    /// The last report.
    avail: Option<(Epoch, bool)>,
    /// True if the booking of the last round is not known to be deleted.
    deleting: bool,
    /// Reply to the booking of this round.
    reply: Option<Reply<S>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
enum Reply<S: Subject> {
    Booked(S::Terms),
    /// It was booked, and the part ended before the booking was reported.
    Over(S::Terms),
    Refused(S::Counter),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Watching,
    Booking,
}

impl<S: Subject> Group<S> {
    /// Returns whether all have room, and no booking of the last round is left.
    fn may_book(&self) -> bool {
        self.parts.values().all(|part| part.avail.is_some_and(|it| it.1) && !part.deleting)
    }

    /// The participants with this reply, and its contents.
    fn replied<T>(&self, of: impl Fn(&Reply<S>) -> Option<&T>) -> BTreeMap<ActorId, T>
    where
        T: Clone,
    {
        let found = |(&who, part): (&ActorId, &Part<S>)| {
            Some((who, part.reply.as_ref().and_then(&of)?.clone()))
        };
        self.parts.iter().filter_map(found).collect()
    }

    fn over(&self) -> BTreeMap<ActorId, S::Terms> {
        self.replied(|reply| match reply {
            Reply::Over(terms) => Some(terms),
            _ => None,
        })
    }

    /// After a report or a reply: continues if all have reported or replied.
    fn advance(&mut self) -> Next<S> {
        match self.phase {
            Phase::Watching if self.may_book() => {
                self.phase = Phase::Booking;
                Next::Send
            }
            Phase::Booking if self.parts.values().all(|part| part.reply.is_some()) => {
                let terms = self.replied(|reply| match reply {
                    Reply::Booked(terms) | Reply::Over(terms) => Some(terms),
                    Reply::Refused(_) => None,
                });
                if terms.len() == self.parts.len() {
                    Next::Agree(terms)
                } else if !self.over().is_empty() {
                    Next::Fail
                } else {
                    self.watch_again();
                    Next::Send
                }
            }
            Phase::Watching | Phase::Booking => Next::Wait,
        }
    }

    /// Deletes the bookings of this round, and watches again.
    fn watch_again(&mut self) {
        self.round += 1;
        self.phase = Phase::Watching;
        for part in self.parts.values_mut() {
            part.deleting = matches!(part.reply.take(), Some(Reply::Booked(_)));
            part.avail = None;
        }
    }
}

impl<S: Subject> booker::Group<S> for Group<S> {
    type Rules = WatchRules;
    const RECORDS: bool = false;

    fn patience(rules: &WatchRules) -> Span {
        rules.patience
    }

    fn open(_: &WatchRules, _: Time, parts: Parts<S>) -> Self {
        let part = |request| Part { request, avail: None, deleting: false, reply: None };
        let parts = parts.into_iter().map(|(who, request)| (who, part(request))).collect();
        Group { parts, round: 0, phase: Phase::Watching }
    }

    fn hear(&mut self, _: &WatchRules, from: ActorId, reply: Booking<S>) -> Next<S> {
        let (current, phase) = (self.round, self.phase);
        let Some(part) = self.parts.get_mut(&from) else { return Next::Wait };
        let is_deleted = |round: u32| part.deleting && round + 1 == current;
        match (reply, phase) {
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
            (Booking::Over { round, terms }, Phase::Booking) if round == current => {
                part.reply = Some(Reply::Over(terms));
            }
            (Booking::Deleted { round, may_have_run }, Phase::Watching) if is_deleted(round) => {
                part.deleting = false;
                if may_have_run {
                    return Next::Fail;
                }
            }
            // Another participant has refused, so the group cannot be carried out in that round.
            (Booking::Over { round, terms }, Phase::Watching) if is_deleted(round) => {
                part.reply = Some(Reply::Over(terms));
                return Next::Fail;
            }
            _ => return Next::Wait,
        }
        self.advance()
    }

    fn unanswered(&self) -> Vec<(ActorId, Booking<S>)> {
        let round = self.round;
        let each = |ask: &dyn Fn(&Part<S>) -> Option<Booking<S>>| -> Vec<(ActorId, Booking<S>)> {
            self.parts.iter().filter_map(|(&who, part)| Some((who, ask(part)?))).collect()
        };
        match self.phase {
            Phase::Watching => {
                let delete = |part: &Part<S>| {
                    part.deleting.then(|| Booking::Delete { round: round.saturating_sub(1) })
                };
                let watch = |part: &Part<S>| {
                    let fits = part.avail.is_some_and(|it| it.1);
                    (!fits).then(|| Booking::Watch { request: part.request.clone() })
                };
                [each(&delete), each(&watch)].concat()
            }
            Phase::Booking => each(&|part| {
                let request = || part.request.clone();
                part.reply.is_none().then(|| Booking::Book { round, request: request() })
            }),
        }
    }

    fn give_up(&self) -> Deletion<S> {
        // No part is booked before all have room.
        let torn = self.phase == Phase::Watching || !self.counters().is_empty();
        let over = self.over();
        // A participant that has refused still watches, so it must delete, too.
        let silent = self.parts.keys().copied().filter(|who| !over.contains_key(who)).collect();
        Deletion::new(self.round, silent, over, torn)
    }

    fn counters(&self) -> BTreeMap<ActorId, S::Counter> {
        self.replied(|reply| match reply {
            Reply::Refused(counter) => Some(counter),
            _ => None,
        })
    }
}
