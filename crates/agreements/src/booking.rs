//! Bookings that take effect immediately, and can be taken back: the participant of one-phase all-or-none,
//! of negotiation without blocking, and of the availability watch.
//!
//! ```text
//!             ┌────────────┐  room    ┌────────┐
//!     Book ──▶│ Considered │─────────▶│ Booked │───────────────────┐
//!             └────────────┘          └────────┘                   │ carried out to its end
//!                │ no room                │ Delete, or Book        │
//!                ▼                        ▼ of a later round       ▼
//!             ┌─────────┐             ┌─────────┐              ┌──────┐
//!             │ Refused │             │ Deleted │              │ Over │
//!             └─────────┘             └─────────┘              └──────┘
//! ```
//!
//! Bookings are requested in rounds, with another start in each. Messages of a round before the last known
//! one are old. A deletion names the request, so that a booking with a lost confirmation is deleted as
//! well.
//!
//! A booking takes effect immediately. So a short one may end before its coordinator requests another start
//! or deletes it. The participant remembers that: from then on it answers `Over` to all messages about the
//! agreement, and books nothing for it again. A coordinator starts the next round only when all bookings of
//! the last one are known to be deleted. So bookings of two rounds never exist at the same time, even at
//! different participants.
//!
//! A deletion is on record before the owner gives the part up, and again after that. After a crash between
//! the two records, the part may have been carried out to its end in the meantime. So nothing is booked for
//! the agreement again, and the coordinator starts no further round.

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::ledger::{Memory, Note};
use crate::protocol::{Body, Bound, Duty, Machine, Participates, Protocol, Said, kinds};
use crate::watches::{Epoch, Watch, Watches};
use crate::{AgreementId, Output, Subject};

/// Messages about a booking.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Booking<S: Subject> {
    /// Book this definitively.
    Book {
        /// The round.
        round: u32,
        /// The request.
        request: S::Request,
    },
    /// It is booked.
    Booked {
        /// The round.
        round: u32,
        /// The terms.
        terms: S::Terms,
    },
    /// It is not booked; the counter is a possible alternative.
    Refused {
        /// The round.
        round: u32,
        /// The alternative.
        counter: S::Counter,
    },
    /// Take back the bookings of this round and of earlier ones, if there are any.
    Delete {
        /// The round.
        round: u32,
    },
    /// Nothing of that round is booked, now or later.
    Deleted {
        /// The round.
        round: u32,
        /// True if the part may have been carried out to its end: nothing is booked in later rounds either.
        may_have_run: bool,
    },
    /// It was booked and has been carried out to its end: it cannot be deleted or booked again.
    Over {
        /// The round of the answered message.
        round: u32,
        /// The terms.
        terms: S::Terms,
    },
    /// Report now and after each change whether there is room for this.
    Watch {
        /// The part for which room is needed.
        request: S::Request,
    },
    /// Report whether there is room.
    Avail {
        /// Grows with each change, also over a crash.
        epoch: Epoch,
        /// True if there is room.
        fits: bool,
    },
}

impl<S: Subject> Body for Booking<S> {
    kinds! {
        Booking::Book { .. } => "book",
        Booking::Booked { .. } => "booked",
        Booking::Refused { .. } => "refused",
        Booking::Delete { .. } => "delete",
        Booking::Deleted { .. } => "deleted",
        Booking::Over { .. } => "over",
        Booking::Watch { .. } => "watch",
        Booking::Avail { .. } => "avail",
    }

    fn promises(&self) -> bool {
        matches!(self, Booking::Booked { .. })
    }
}

/// State of a booking at a participant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Stand<S: Subject> {
    round: u32,
    stage: Stage<S>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
enum Stage<S: Subject> {
    /// Its owner considers it. Never persisted: after a crash the request is repeated.
    Considered(S::Request),
    Refused(S::Counter),
    Booked(S::Request, S::Terms),
    /// It was booked, and its owner has not given it up yet. After a crash its owner may have carried it
    /// out to its end.
    Deleting,
    Deleted,
    /// The booked part was carried out to its end.
    Over(S::Terms),
}

/// All bookings of one actor.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Bookings<S: Subject> {
    memory: Memory<Stand<S>>,
    watches: Watches,
}

type Out<S> = Vec<Output<Said<Booking<S>>, Note<Stand<S>>, (), Duty<S>>>;

impl<S: Subject> Bookings<S> {
    fn book(&mut self, id: AgreementId, round: u32, request: S::Request, out: &mut Out<S>) {
        match self.memory.states.get(&id) {
            Some(stand) if round < stand.round => {}
            Some(stand) if round == stand.round || stand.is_final() => self.repeat(id, round, out),
            before => {
                // The earlier booking is given up first: a crash must neither leave both nor restore the
                // old one.
                if before.is_some_and(|stand| stand.stage.binds()) {
                    self.delete(id, round - 1, out);
                }
                let stage = Stage::Considered(request.clone());
                self.memory.states.insert(id, Stand { round, stage });
                let lease = Span::FOREVER;
                out.push(Output::Tell(Duty::Consider { id, request, lease }));
            }
        }
    }

    /// Answers a message of this round with the present state.
    fn repeat(&self, id: AgreementId, round: u32, out: &mut Out<S>) {
        let Some(Stand { stage, .. }) = self.memory.states.get(&id) else { return };
        let body = match stage {
            Stage::Considered(_) => return,
            Stage::Refused(counter) => Booking::Refused { round, counter: counter.clone() },
            Stage::Booked(_, terms) => Booking::Booked { round, terms: terms.clone() },
            Stage::Deleting | Stage::Deleted => {
                Booking::Deleted { round, may_have_run: *stage == Stage::Deleting }
            }
            Stage::Over(terms) => Booking::Over { round, terms: terms.clone() },
        };
        self.memory.answer(id, body, out);
    }

    /// Returns `false` if a later round is known.
    fn delete(&mut self, id: AgreementId, round: u32, out: &mut Out<S>) -> bool {
        let before = self.memory.states.get(&id);
        if before.is_some_and(|stand| stand.round > round) {
            return false;
        }
        if before.is_some_and(Stand::is_final) {
            return true;
        }
        if before.is_some_and(|stand| matches!(stand.stage, Stage::Booked(..))) {
            self.memory.enter(id, Stand { round, stage: Stage::Deleting }, out);
            out.push(Output::Tell(Duty::GiveUp { id }));
            self.memory.enter(id, Stand { round, stage: Stage::Deleted }, out);
            return true;
        }
        let considered = before.is_some_and(|stand| stand.stage.binds());
        if before.is_none_or(|stand| stand.round < round || stand.stage != Stage::Deleted) {
            self.memory.enter(id, Stand { round, stage: Stage::Deleted }, out);
        }
        if considered {
            out.push(Output::Tell(Duty::GiveUp { id }));
        }
        true
    }

    /// Ends the watch of a coordinator that has booked or given up.
    fn unwatch(&mut self, id: AgreementId, out: &mut Out<S>) {
        if self.watches.remove(id) {
            out.push(Output::Tell(Duty::Unwatch { id }));
        }
    }
}

impl<S: Subject> Stand<S> {
    /// Returns whether nothing is booked for the agreement any more, in no round.
    fn is_final(&self) -> bool {
        matches!(self.stage, Stage::Over(_) | Stage::Deleting)
    }
}

impl<S: Subject> Stage<S> {
    /// Returns whether its owner has something to give up.
    fn binds(&self) -> bool {
        matches!(self, Stage::Considered(_) | Stage::Booked(..))
    }
}

impl<S, P> Machine<P> for Bookings<S>
where
    S: Subject,
    P: Protocol<Subject = S, Message = Said<Booking<S>>>,
{
    type Record = Note<Stand<S>>;
    type Timer = ();
    type News = Duty<S>;

    fn start(
        _: ActorId,
        _: &P::Rules,
        records: Vec<Note<Stand<S>>>,
        now: Time,
        out: &mut Out<S>,
    ) -> Self {
        let memory: Memory<Stand<S>> = Memory::start(records);
        let is_deleted = |stage: &Stage<S>| matches!(stage, Stage::Deleting | Stage::Deleted);
        let deleted = memory.states.iter().filter(|(_, it)| is_deleted(&it.stage));
        out.extend(deleted.map(|(&id, _)| Output::Tell(Duty::GiveUp { id })));
        Bookings { memory, watches: Watches::start(now) }
    }

    fn on_message(&mut self, _: Time, from: ActorId, message: Said<Booking<S>>, out: &mut Out<S>) {
        let Said { id, settled, body } = message;
        if from != id.coordinator {
            return;
        }
        let (current, dropped) = self.memory.hear(id, settled, out);
        let considered = |stage: &Stage<S>| matches!(stage, Stage::Considered(_));
        for (id, _) in dropped.into_iter().filter(|(_, stand)| considered(&stand.stage)) {
            out.push(Output::Tell(Duty::GiveUp { id }));
        }
        for id in self.watches.before(from, settled) {
            self.unwatch(id, out);
        }
        if !current {
            return;
        }
        match body {
            Booking::Book { round, request } => self.book(id, round, request, out),
            Booking::Delete { round } => {
                if self.delete(id, round, out) {
                    self.unwatch(id, out);
                    self.repeat(id, round, out);
                } else {
                    let deleted = Booking::Deleted { round, may_have_run: false };
                    self.memory.answer(id, deleted, out);
                }
            }
            Booking::Watch { request } => match self.watches.ask(id) {
                Watch::New => out.push(Output::Tell(Duty::Watch { id, request })),
                Watch::Asked => {}
                Watch::Told(epoch, fits) => {
                    self.memory.answer(id, Booking::Avail { epoch, fits }, out);
                }
            },
            Booking::Booked { .. }
            | Booking::Refused { .. }
            | Booking::Deleted { .. }
            | Booking::Over { .. }
            | Booking::Avail { .. } => {}
        }
    }

    fn on_timer(&mut self, _: Time, (): (), _: &mut Out<S>) {}
}

impl<S: Subject> Participates<S, Out<S>> for Bookings<S> {
    fn ready(&mut self, _: Time, id: AgreementId, terms: S::Terms, _: Span, out: &mut Out<S>) {
        let Some(Stand { round, stage: Stage::Considered(request) }) = self.memory.states.get(&id)
        else {
            return;
        };
        let (round, stage) = (*round, Stage::Booked(request.clone(), terms));
        self.unwatch(id, out);
        self.memory.enter(id, Stand { round, stage }, out);
        out.push(Output::Tell(Duty::CarryOut { id }));
        self.repeat(id, round, out);
    }

    fn not_ready(&mut self, _: Time, id: AgreementId, counter: S::Counter, out: &mut Out<S>) {
        let Some(Stand { round, stage: Stage::Considered(_) }) = self.memory.states.get(&id) else {
            return;
        };
        let (round, stage) = (*round, Stage::Refused(counter));
        self.memory.enter(id, Stand { round, stage }, out);
        self.repeat(id, round, out);
    }

    fn over(&mut self, _: Time, id: AgreementId, out: &mut Out<S>) {
        let Some(Stand { round, stage: Stage::Booked(_, terms) }) = self.memory.states.get(&id)
        else {
            return;
        };
        let (round, stage) = (*round, Stage::Over(terms.clone()));
        self.memory.enter(id, Stand { round, stage }, out);
    }

    fn available(&mut self, now: Time, id: AgreementId, fits: bool, out: &mut Out<S>) {
        if let Some((epoch, _)) = self.watches.news(now, id, fits) {
            self.memory.answer(id, Booking::Avail { epoch, fits }, out);
        }
    }

    fn bound(&self) -> Vec<Bound<S>> {
        let bound = |(&id, stand): (&AgreementId, &Stand<S>)| match &stand.stage {
            Stage::Booked(request, _) => {
                Some(Bound { id, request: Some(request.clone()), started: true })
            }
            _ => None,
        };
        self.memory.states.iter().filter_map(bound).collect()
    }
}
