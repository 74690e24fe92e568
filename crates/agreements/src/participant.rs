//! The machine that holds a part, and carries it out or gives it back.

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::ledger::{Memory, Note};
use crate::protocol::{Machine, Setting};
use crate::{
    AgreementId, Answer, InDoubt, Instruction, Output, Subject, ToCoordinator, ToParticipant,
};

/// A held part, with its terms and its end.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Hold<S: Subject> {
    /// The request.
    pub request: S::Request,
    /// The answered terms.
    pub terms: S::Terms,
    /// Time of the hold from when it was first reported.
    pub lease: Span,
    /// End of that time, on the participant's own clock.
    pub until: Time,
    /// Behaviour after that.
    pub in_doubt: InDoubt,
}

/// State of a participant in one agreement.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum ParticipantState<S: Subject> {
    /// Its owner considers the request. Never persisted: after a crash the request is repeated.
    Asked {
        /// The part to be held.
        request: S::Request,
        /// Behaviour after the lease.
        in_doubt: InDoubt,
    },
    /// It has refused, with this counter proposal.
    Refused(S::Counter),
    /// It is bound until the lease ends, or until the decision arrives.
    Held(Hold<S>),
    /// It carries it out.
    Committed {
        /// The hold; `None` = it took its part although it held nothing.
        hold: Option<Hold<S>>,
        /// The order that it received.
        order: S::Order,
        /// The terms on which it took a part that it did not hold.
        receipt: Option<S::Terms>,
    },
    /// The lease ended before a decision arrived.
    Lapsed,
    /// A commit arrived although nothing is held, and its owner considers it. Never persisted: after a
    /// crash the commit is repeated.
    Late(S::Order),
    /// Nothing is held, now or later.
    Over,
}

/// Durable state of a participant.
pub type ParticipantRecord<S> = Note<ParticipantState<S>>;

/// Duty of the actor that owns a participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task<S: Subject> {
    /// To decide whether it can hold this: [`Participant::ready`] or [`Participant::not_ready`], now or
    /// later.
    Consider {
        /// The agreement.
        id: AgreementId,
        /// The part to be held.
        request: S::Request,
        /// Time of the hold.
        lease: Span,
    },
    /// To carry out the held part.
    CarryOut {
        /// The agreement.
        id: AgreementId,
        /// Data that it needs for that.
        order: S::Order,
    },
    /// To decide whether it can carry out a part that is no longer held, or never was:
    /// [`Participant::take`] or [`Participant::expired`].
    TakeUnheld {
        /// The agreement.
        id: AgreementId,
        /// Data that it needs for that.
        order: S::Order,
    },
    /// To give up a part that is considered, held or carried out.
    GiveUp {
        /// The agreement.
        id: AgreementId,
    },
}

/// Outputs of a participant. Each agreement has one timer, named by its id.
pub type ParticipantOutput<S> =
    Output<ToCoordinator<S>, ParticipantRecord<S>, AgreementId, Task<S>>;

type Outputs<S> = Vec<ParticipantOutput<S>>;

/// All agreements in which one actor takes part, see [the page on agreements](super).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Participant<S: Subject>(Memory<ParticipantState<S>>);

impl<S: Subject> Participant<S> {
    /// Its states in all agreements that have not ended as far as it knows.
    pub fn states(&self) -> impl Iterator<Item = (AgreementId, &ParticipantState<S>)> {
        self.0.states.iter().map(|(&id, state)| (id, state))
    }

    /// Its state in an agreement.
    pub fn state(&self, id: AgreementId) -> Option<&ParticipantState<S>> {
        self.0.states.get(&id)
    }

    /// Returns whether it has a state in this agreement, or knows that the agreement has ended.
    pub fn knows(&self, id: AgreementId) -> bool {
        self.0.states.contains_key(&id) || id.number < self.0.settled_by(id.coordinator)
    }

    /// The requested part is held for `lease` from now on; without effect after [`Task::GiveUp`].
    pub fn ready(
        &mut self,
        now: Time,
        id: AgreementId,
        terms: S::Terms,
        lease: Span,
        out: &mut Outputs<S>,
    ) {
        let Some(ParticipantState::Asked { request, in_doubt }) = self.0.states.get(&id) else {
            return;
        };
        let (request, in_doubt, until) = (request.clone(), *in_doubt, now + lease);
        let hold = Hold { request, terms: terms.clone(), lease, until, in_doubt };
        self.0.enter(id, ParticipantState::Held(hold), out);
        answer(id, Answer::Ready { terms, lease }, out);
        out.push(Output::Set { timer: id, at: until.max(now) });
    }

    /// The requested part cannot be held; `counter` is a possible alternative. Without effect after
    /// [`Task::GiveUp`].
    pub fn not_ready(&mut self, id: AgreementId, counter: S::Counter, out: &mut Outputs<S>) {
        if matches!(self.0.states.get(&id), Some(ParticipantState::Asked { .. })) {
            self.0.enter(id, ParticipantState::Refused(counter.clone()), out);
            answer(id, Answer::NotReady(counter), out);
        }
    }

    /// A part that was not held is carried out all the same, on these terms; without effect after [`Task::GiveUp`].
    pub fn take(&mut self, id: AgreementId, terms: S::Terms, out: &mut Outputs<S>) {
        if let Some(ParticipantState::Late(order)) = self.0.states.get(&id) {
            let (order, receipt) = (order.clone(), Some(terms));
            let committed =
                ParticipantState::Committed { hold: None, order, receipt: receipt.clone() };
            self.0.enter(id, committed, out);
            answer(id, Answer::Committed(receipt), out);
        }
    }

    /// A part that was not held cannot be carried out; without effect after [`Task::GiveUp`].
    pub fn expired(&mut self, id: AgreementId, out: &mut Outputs<S>) {
        if matches!(self.0.states.get(&id), Some(ParticipantState::Late(_))) {
            self.0.enter(id, ParticipantState::Over, out);
            answer(id, Answer::Expired, out);
        }
    }

    /// The requested part cannot be held any longer. A later commit is answered as if the lease had ended.
    pub fn lapse(&mut self, id: AgreementId, out: &mut Outputs<S>) {
        if matches!(self.0.states.get(&id), Some(ParticipantState::Held(_))) {
            self.give_up(id, ParticipantState::Lapsed, out);
        }
    }

    fn on_prepare(
        &mut self,
        id: AgreementId,
        request: S::Request,
        lease: Span,
        in_doubt: InDoubt,
        out: &mut Outputs<S>,
    ) {
        match self.0.states.get(&id) {
            None => {
                let state = ParticipantState::Asked { request: request.clone(), in_doubt };
                self.0.states.insert(id, state);
                out.push(Output::Tell(Task::Consider { id, request, lease }));
            }
            Some(ParticipantState::Refused(counter)) => {
                answer(id, Answer::NotReady(counter.clone()), out);
            }
            Some(ParticipantState::Held(Hold { terms, lease, .. })) => {
                answer(id, Answer::Ready { terms: terms.clone(), lease: *lease }, out);
            }
            Some(_) => {}
        }
    }

    fn on_commit(&mut self, now: Time, id: AgreementId, order: S::Order, out: &mut Outputs<S>) {
        // A crash may have lasted longer than the lease.
        if let Some(ParticipantState::Held(hold)) = self.0.states.get(&id)
            && hold.in_doubt == InDoubt::Release
            && hold.until < now
        {
            self.give_up(id, ParticipantState::Lapsed, out);
        }
        match self.0.states.get(&id) {
            Some(ParticipantState::Held(hold)) => {
                let hold = Some(hold.clone());
                let committed =
                    ParticipantState::Committed { hold, order: order.clone(), receipt: None };
                self.0.enter(id, committed, out);
                out.push(Output::Stop(id));
                out.push(Output::Tell(Task::CarryOut { id, order }));
                answer(id, Answer::Committed(None), out);
            }
            Some(ParticipantState::Committed { receipt, .. }) => {
                answer(id, Answer::Committed(receipt.clone()), out);
            }
            // The part was given up before, so it must not be held again.
            Some(ParticipantState::Over) => answer(id, Answer::Expired, out),
            Some(ParticipantState::Late(_)) => {}
            _ => {
                self.0.states.insert(id, ParticipantState::Late(order.clone()));
                out.push(Output::Tell(Task::TakeUnheld { id, order }));
            }
        }
    }

    /// Enters a state in which nothing is held. It is recorded even if nothing was ever held: a prepare
    /// that was overtaken must find it.
    fn give_up(&mut self, id: AgreementId, state: ParticipantState<S>, out: &mut Outputs<S>) {
        let before = self.0.states.get(&id);
        if before == Some(&state) {
            return;
        }
        let bound = before.is_some_and(ParticipantState::binds);
        self.0.enter(id, state, out);
        if bound {
            out.push(Output::Stop(id));
            out.push(Output::Tell(Task::GiveUp { id }));
        }
    }
}

/// A participant whose owner decides whether it takes a part that it does not hold.
impl<S: Subject> Setting for Participant<S> {
    type Rules = ();
    type Received = ToParticipant<S>;
    type Sent = ToCoordinator<S>;
}

impl<S: Subject> Machine<Self> for Participant<S> {
    type Record = ParticipantRecord<S>;
    type Timer = AgreementId;
    type News = Task<S>;

    /// Its owner takes the held and the running parts from [`Participant::states`] before it carries out any
    /// output.
    fn start(
        _: ActorId,
        (): &(),
        records: Vec<ParticipantRecord<S>>,
        now: Time,
        out: &mut Outputs<S>,
    ) -> Self {
        let memory: Memory<ParticipantState<S>> = Memory::start(records);
        for (&timer, state) in &memory.states {
            if let ParticipantState::Held(hold) = state {
                out.push(Output::Set { timer, at: hold.until.max(now) });
            }
        }
        Participant(memory)
    }

    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: ToParticipant<S>,
        out: &mut Outputs<S>,
    ) {
        let ToParticipant { id, settled, instruction } = message;
        if from != id.coordinator {
            return;
        }
        let (current, dropped) = self.0.hear(id, settled, out);
        // Ended agreements that are not committed by now were aborted.
        for (id, state) in dropped {
            if state.binds() && !matches!(state, ParticipantState::Committed { .. }) {
                out.push(Output::Stop(id));
                out.push(Output::Tell(Task::GiveUp { id }));
            }
        }
        if !current {
            return;
        }
        match instruction {
            Instruction::Prepare { request, lease, in_doubt } => {
                self.on_prepare(id, request, lease, in_doubt, out);
            }
            Instruction::Commit(order) => self.on_commit(now, id, order, out),
            Instruction::Abort => {
                // An abort that was sent before the commit was acknowledged comes too late.
                if !matches!(self.0.states.get(&id), Some(ParticipantState::Committed { .. })) {
                    self.give_up(id, ParticipantState::Over, out);
                }
            }
            Instruction::Undo => {
                self.give_up(id, ParticipantState::Over, out);
                answer(id, Answer::Undone, out);
            }
        }
    }

    /// The lease has ended, or the next inquiry is due.
    fn on_timer(&mut self, now: Time, id: AgreementId, out: &mut Outputs<S>) {
        let Some(ParticipantState::Held(hold)) = self.0.states.get(&id) else { return };
        if now < hold.until {
            return;
        }
        match hold.in_doubt {
            InDoubt::Release => self.give_up(id, ParticipantState::Lapsed, out),
            InDoubt::Inquire { every } => {
                answer(id, Answer::Inquire, out);
                out.push(Output::Set { timer: id, at: now + every.max(Span::TICK) });
            }
        }
    }
}

impl<S: Subject> ParticipantState<S> {
    /// Returns whether its owner has something to give up.
    fn binds(&self) -> bool {
        matches!(
            self,
            ParticipantState::Asked { .. }
                | ParticipantState::Held(_)
                | ParticipantState::Committed { .. }
                | ParticipantState::Late(_)
        )
    }
}

/// Sends an answer to the coordinator of the agreement.
fn answer<S: Subject>(id: AgreementId, answer: Answer<S>, out: &mut Outputs<S>) {
    out.push(Output::Send { to: id.coordinator, message: ToCoordinator { id, answer } });
}
