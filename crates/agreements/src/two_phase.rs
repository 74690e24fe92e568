//! Two-phase commit with presumed abort as one of several protocols: [`Coordinator`] and
//! [`Participant`](crate::Participant) with an owner that commits when all are ready.
//!
//! ```text
//!   c             p1            p2
//!   ├─ Prepare ──▶│             │       success: 4 n messages, the decision after 2 d,
//!   ├─ Prepare ───┼────────────▶│       all committed after 3 d, known after 4 d
//!   │◀─── Ready ──┤             │
//!   │◀────────────┼─── Ready ───┤       one not ready: n + n + (n - 1), for an abort is
//!   ├─ Commit ───▶│             │       presumed and not acknowledged
//!   ├─ Commit ────┼────────────▶│
//!   │◀ Committed ─┤             │       one silent: n + (n - 1) + n
//!   │◀────────────┼─ Committed ─┤
//! ```

use std::collections::BTreeMap;
use std::marker::PhantomData;

use haggle_model::{ActorId, Time};
use serde::{Deserialize, Serialize};

use crate::holding::{self, Holder, Leases};
use crate::protocol::{
    Coordinates, Machine, Message, Nobody, Outcome, Outputs, Parts, Protocol, Traits, Verdict,
    kinds,
};
use crate::{
    AgreementId, Answer, Coordinator, CoordinatorOutput, CoordinatorRecord, CoordinatorTimer,
    Instruction, Output, Progress, Rules, Subject, ToCoordinator, ToParticipant, Vote,
};

/// Two-phase commit about `S`: held parts are carried out unchanged.
#[derive(Clone, Copy, Debug)]
pub struct TwoPhase<S>(PhantomData<S>);

impl<S: Subject<Order = ()>> Protocol for TwoPhase<S> {
    const TRAITS: Traits = Traits::ahead("two-phase", Outcome::Atomic);
    type Subject = S;
    type Rules = Rules;
    type Message = Wire<S>;
    type Coordinator = TwoPhaseCoordinator<S>;
    type Participant = Holder<Self>;
    type Witness = Nobody;
}

/// Messages of two-phase commit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Wire<S: Subject> {
    /// By a coordinator.
    Down(ToParticipant<S>),
    /// By a participant.
    Up(ToCoordinator<S>),
}

impl<S: Subject> Message for Wire<S> {
    fn id(&self) -> AgreementId {
        match self {
            Wire::Down(message) => message.id,
            Wire::Up(message) => message.id,
        }
    }

    kinds! {
        Wire::Down(ToParticipant { instruction: Instruction::Prepare { .. }, .. }) => "prepare",
        Wire::Down(ToParticipant { instruction: Instruction::Commit(_), .. }) => "commit",
        Wire::Down(ToParticipant { instruction: Instruction::Abort, .. }) => "abort",
        Wire::Down(ToParticipant { instruction: Instruction::Undo, .. }) => "undo",
        Wire::Up(ToCoordinator { answer: Answer::Ready { .. }, .. }) => "ready",
        Wire::Up(ToCoordinator { answer: Answer::NotReady(_), .. }) => "not-ready",
        Wire::Up(ToCoordinator { answer: Answer::Committed(_), .. }) => "committed",
        Wire::Up(ToCoordinator { answer: Answer::Expired, .. }) => "expired",
        Wire::Up(ToCoordinator { answer: Answer::Undone, .. }) => "undone",
        Wire::Up(ToCoordinator { answer: Answer::Inquire, .. }) => "inquire",
    }

    fn promises(&self) -> bool {
        let Wire::Up(ToCoordinator { answer, .. }) = self else { return false };
        matches!(answer, Answer::Ready { .. } | Answer::Committed(_))
    }
}

impl<S: Subject<Order = ()>> Leases for TwoPhase<S> {
    type Beside = ();
    type Timer = AgreementId;

    fn beside(_: &Rules, _: Time) {}

    fn answer(answer: ToCoordinator<S>) -> Option<Wire<S>> {
        Some(Wire::Up(answer))
    }

    fn hear(
        holder: &mut Holder<Self>,
        now: Time,
        from: ActorId,
        message: Wire<S>,
        out: &mut holding::Out<Self>,
    ) {
        if let Wire::Down(message) = message {
            holder.instruct(now, from, message, out);
        }
    }

    fn expire(holder: &mut Holder<Self>, now: Time, id: AgreementId, out: &mut holding::Out<Self>) {
        holder.lease_over(now, id, out);
    }
}

/// A coordinator that commits when all are ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct TwoPhaseCoordinator<S: Subject> {
    rules: Rules,
    inner: Coordinator<S>,
    /// Terms of decided agreements, until all have committed; lost in a crash.
    terms: BTreeMap<u64, BTreeMap<ActorId, S::Terms>>,
}

type Out<S> = Outputs<TwoPhase<S>, TwoPhaseCoordinator<S>>;

impl<S: Subject<Order = ()>> TwoPhaseCoordinator<S> {
    /// Passes on the outputs of a step, in the form of the protocol.
    fn step<R>(
        &mut self,
        now: Time,
        out: &mut Out<S>,
        step: impl FnOnce(&mut Coordinator<S>, &mut Vec<CoordinatorOutput<S>>) -> R,
    ) -> R {
        let mut said = Vec::new();
        let done = step(&mut self.inner, &mut said);
        for output in said {
            match output {
                Output::Send { to, message } => {
                    out.push(Output::Send { to, message: Wire::Down(message) });
                }
                Output::Persist(record) => out.push(Output::Persist(record)),
                Output::Set { timer, at } => out.push(Output::Set { timer, at }),
                Output::Stop(timer) => out.push(Output::Stop(timer)),
                Output::Tell(progress) => self.on_progress(now, progress, out),
            }
        }
        done
    }

    fn on_progress(&mut self, now: Time, progress: Progress<S>, out: &mut Out<S>) {
        let verdict = match progress {
            Progress::AllReady { number, terms } => {
                self.terms.insert(number, terms);
                // The record of the decision precedes the verdict.
                if !self.step(now, out, |it, said| it.commit(now, number, |_, _| (), said)) {
                    return;
                }
                Verdict::Decided { number }
            }
            Progress::Aborted { number, votes } => {
                self.terms.remove(&number);
                let counter = |(who, vote)| match vote {
                    Vote::NotReady(counter) => Some((who, counter)),
                    Vote::Ready(_) => None,
                };
                Verdict::Failed {
                    number,
                    counters: votes.into_iter().filter_map(counter).collect(),
                }
            }
            Progress::Committed { number, .. } => {
                let terms = self.terms.remove(&number).unwrap_or_default();
                Verdict::Agreed { number, terms }
            }
            Progress::Broken { number, .. } => {
                self.terms.remove(&number);
                Verdict::Broken { number }
            }
        };
        out.push(Output::Tell(verdict));
    }
}

impl<S: Subject<Order = ()>> Machine<TwoPhase<S>> for TwoPhaseCoordinator<S> {
    type Record = CoordinatorRecord<S>;
    type Timer = CoordinatorTimer;
    type News = Verdict<S>;

    fn start(
        me: ActorId,
        rules: &Rules,
        records: Vec<CoordinatorRecord<S>>,
        now: Time,
        out: &mut Out<S>,
    ) -> Self {
        let mut said = Vec::new();
        let inner = Coordinator::start(me, &(), records, now, &mut said);
        let mut machine = TwoPhaseCoordinator { rules: *rules, inner, terms: BTreeMap::new() };
        machine.step(now, out, |_, started| *started = said);
        machine
    }

    fn on_message(&mut self, now: Time, from: ActorId, message: Wire<S>, out: &mut Out<S>) {
        if let Wire::Up(message) = message {
            self.step(now, out, |it, said| it.on_message(now, from, message, said));
        }
    }

    fn on_timer(&mut self, now: Time, timer: CoordinatorTimer, out: &mut Out<S>) {
        self.step(now, out, |it, said| it.on_timer(now, timer, said));
    }
}

impl<S: Subject<Order = ()>> Coordinates<S, Out<S>> for TwoPhaseCoordinator<S> {
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut Out<S>) -> Option<u64> {
        let (requests, rules) = (parts.into_iter().collect(), self.rules);
        Some(self.step(now, out, |it, said| it.open(now, requests, rules, said)))
    }

    fn close(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        self.step(now, out, |it, said| it.abort(number, said));
    }

    fn open_numbers(&self) -> Vec<u64> {
        self.inner.states().map(|(number, _)| number).collect()
    }
}
