//! Two-phase commit with presumed abort as one of several protocols: [`Coordinator`] and
//! [`Participant`] with an owner that commits when all are ready.
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

use std::collections::{BTreeMap, VecDeque};
use std::marker::PhantomData;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::protocol::{
    Bound, Coordinates, Duty, Machine, Message, Nobody, Outcome, Outputs, Participates, Parts,
    Protocol, Traits, Verdict,
};
use crate::{
    AgreementId, Answer, Coordinator, CoordinatorOutput, CoordinatorRecord, CoordinatorTimer,
    Instruction, Output, Participant, ParticipantOutput, ParticipantRecord, ParticipantState,
    Progress, Rules, Subject, Task, ToCoordinator, ToParticipant, Vote,
};

/// Two-phase commit about `S`: held parts are carried out unchanged.
#[derive(Clone, Copy, Debug)]
pub struct TwoPhase<S>(PhantomData<S>);

impl<S: Subject> Protocol for TwoPhase<S>
where
    S::Order: From<S::Terms>,
{
    const TRAITS: Traits = Traits::ahead("two-phase", Outcome::Atomic);
    type Subject = S;
    type Rules = Rules;
    type Message = Wire<S>;
    type Coordinator = TwoPhaseCoordinator<S>;
    type Participant = TwoPhaseParticipant<S>;
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

    fn kind(&self) -> &'static str {
        match self {
            Wire::Down(message) => match message.instruction {
                Instruction::Prepare { .. } => "prepare",
                Instruction::Commit(_) => "commit",
                Instruction::Abort => "abort",
                Instruction::Undo => "undo",
            },
            Wire::Up(message) => match message.answer {
                Answer::Ready { .. } => "ready",
                Answer::NotReady(_) => "not-ready",
                Answer::Committed(_) => "committed",
                Answer::Expired => "expired",
                Answer::Undone => "undone",
                Answer::Inquire => "inquire",
            },
        }
    }

    fn promises(&self) -> bool {
        let Wire::Up(ToCoordinator { answer, .. }) = self else { return false };
        matches!(answer, Answer::Ready { .. } | Answer::Committed(_))
    }
}

/// A coordinator that commits when all are ready.
#[derive(Clone, Debug)]
pub struct TwoPhaseCoordinator<S: Subject> {
    rules: Rules,
    inner: Coordinator<S>,
    /// Terms of decided agreements, until all have committed; lost in a crash.
    terms: BTreeMap<u64, BTreeMap<ActorId, S::Terms>>,
}

impl<S: Subject> TwoPhaseCoordinator<S>
where
    S::Order: From<S::Terms>,
{
    fn relay(
        &mut self,
        now: Time,
        said: Vec<CoordinatorOutput<S>>,
        out: &mut Outputs<TwoPhase<S>, Self>,
    ) {
        let mut queue = VecDeque::from(said);
        while let Some(output) = queue.pop_front() {
            match output {
                Output::Send { to, message } => {
                    out.push(Output::Send { to, message: Wire::Down(message) });
                }
                Output::Persist(record) => out.push(Output::Persist(record)),
                Output::Set { timer, at } => out.push(Output::Set { timer, at }),
                Output::Stop(timer) => out.push(Output::Stop(timer)),
                Output::Tell(Progress::AllReady { number, terms }) => {
                    let mut more = Vec::new();
                    let order = |_, terms: &S::Terms| terms.clone().into();
                    if self.inner.commit(now, number, order, &mut more) {
                        self.terms.insert(number, terms);
                        // The record of the decision precedes the verdict.
                        self.relay(now, more, out);
                        out.push(Output::Tell(Verdict::Decided { number }));
                    } else {
                        queue.extend(more);
                    }
                }
                Output::Tell(Progress::Aborted { number, votes }) => {
                    let counter = |(who, vote)| match vote {
                        Vote::NotReady(counter) => Some((who, counter)),
                        Vote::Ready(_) => None,
                    };
                    let counters = votes.into_iter().filter_map(counter).collect();
                    out.push(Output::Tell(Verdict::Failed { number, counters }));
                }
                Output::Tell(Progress::Committed { number, .. }) => {
                    let terms = self.terms.remove(&number).unwrap_or_default();
                    out.push(Output::Tell(Verdict::Agreed { number, terms }));
                }
                Output::Tell(Progress::Broken { number, .. }) => {
                    self.terms.remove(&number);
                    out.push(Output::Tell(Verdict::Broken { number }));
                }
            }
        }
    }
}

impl<S: Subject> Machine<TwoPhase<S>> for TwoPhaseCoordinator<S>
where
    S::Order: From<S::Terms>,
{
    type Record = CoordinatorRecord<S>;
    type Timer = CoordinatorTimer;
    type News = Verdict<S>;

    fn start(
        me: ActorId,
        rules: &Rules,
        records: Vec<CoordinatorRecord<S>>,
        now: Time,
        out: &mut Outputs<TwoPhase<S>, Self>,
    ) -> Self {
        let mut said = Vec::new();
        let inner = Coordinator::start(me, records, now, &mut said);
        let mut machine = TwoPhaseCoordinator { rules: *rules, inner, terms: BTreeMap::new() };
        machine.relay(now, said, out);
        machine
    }

    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: Wire<S>,
        out: &mut Outputs<TwoPhase<S>, Self>,
    ) {
        let Wire::Up(message) = message else { return };
        let mut said = Vec::new();
        self.inner.on_message(now, from, message, &mut said);
        self.relay(now, said, out);
    }

    fn on_timer(
        &mut self,
        now: Time,
        timer: CoordinatorTimer,
        out: &mut Outputs<TwoPhase<S>, Self>,
    ) {
        let mut said = Vec::new();
        self.inner.on_timer(now, timer, &mut said);
        self.relay(now, said, out);
    }
}

impl<S: Subject> Coordinates<TwoPhase<S>> for TwoPhaseCoordinator<S>
where
    S::Order: From<S::Terms>,
{
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut Outputs<TwoPhase<S>, Self>) -> u64 {
        let mut said = Vec::new();
        let number = self.inner.open(now, parts.into_iter().collect(), self.rules, &mut said);
        self.relay(now, said, out);
        number
    }

    fn close(&mut self, now: Time, number: u64, out: &mut Outputs<TwoPhase<S>, Self>) {
        let mut said = Vec::new();
        self.inner.abort(number, &mut said);
        self.relay(now, said, out);
    }

    fn open_numbers(&self) -> Vec<u64> {
        self.inner.states().map(|(number, _)| number).collect()
    }
}

/// A participant that takes only parts that it holds.
#[derive(Clone, Debug)]
pub struct TwoPhaseParticipant<S: Subject>(Participant<S>);

impl<S: Subject> TwoPhaseParticipant<S>
where
    S::Order: From<S::Terms>,
{
    fn relay(&mut self, said: Vec<ParticipantOutput<S>>, out: &mut Outputs<TwoPhase<S>, Self>) {
        let wire = |message| Wire::Up(message);
        relay(&mut self.0, said, wire, out);
    }
}

/// Passes on the outputs of a two-phase participant, in the common form. A commit that arrives too late is
/// answered with expired.
pub(crate) fn relay<S: Subject, M>(
    participant: &mut Participant<S>,
    said: Vec<ParticipantOutput<S>>,
    wire: impl Fn(ToCoordinator<S>) -> M,
    out: &mut Vec<Output<M, ParticipantRecord<S>, AgreementId, Duty<S>>>,
) {
    let mut queue = VecDeque::from(said);
    while let Some(output) = queue.pop_front() {
        out.push(match output {
            Output::Send { to, message } => Output::Send { to, message: wire(message) },
            Output::Persist(record) => Output::Persist(record),
            Output::Set { timer, at } => Output::Set { timer, at },
            Output::Stop(timer) => Output::Stop(timer),
            Output::Tell(Task::Consider { id, request, lease }) => {
                Output::Tell(Duty::Consider { id, request, lease })
            }
            Output::Tell(Task::CarryOut { id, .. }) => Output::Tell(Duty::CarryOut { id }),
            Output::Tell(Task::GiveUp { id }) => Output::Tell(Duty::GiveUp { id }),
            Output::Tell(Task::TakeUnheld { id, .. }) => {
                let mut more = Vec::new();
                participant.expired(id, &mut more);
                queue.extend(more);
                continue;
            }
        });
    }
}

/// After a crash, repeats the duties to give parts up.
pub(crate) fn given_up<S: Subject, M, R, X>(
    participant: &Participant<S>,
    out: &mut Vec<Output<M, R, X, Duty<S>>>,
) {
    let over = |state: &ParticipantState<S>| {
        matches!(state, ParticipantState::Over | ParticipantState::Lapsed)
    };
    let over = participant.states().filter(|(_, state)| over(state));
    out.extend(over.map(|(id, _)| Output::Tell(Duty::GiveUp { id })));
}

/// Parts to which a two-phase participant is bound.
pub(crate) fn bound<S: Subject>(participant: &Participant<S>) -> Vec<Bound<S>> {
    let bound = |(id, state): (AgreementId, &ParticipantState<S>)| match state {
        ParticipantState::Held(hold) => {
            Some(Bound { id, request: Some(hold.request.clone()), started: false })
        }
        ParticipantState::Committed { hold, .. } => {
            let request = hold.as_ref().map(|hold| hold.request.clone());
            Some(Bound { id, request, started: true })
        }
        _ => None,
    };
    participant.states().filter_map(bound).collect()
}

impl<S: Subject> Machine<TwoPhase<S>> for TwoPhaseParticipant<S>
where
    S::Order: From<S::Terms>,
{
    type Record = ParticipantRecord<S>;
    type Timer = AgreementId;
    type News = Duty<S>;

    fn start(
        _: ActorId,
        _: &Rules,
        records: Vec<ParticipantRecord<S>>,
        now: Time,
        out: &mut Outputs<TwoPhase<S>, Self>,
    ) -> Self {
        let mut said = Vec::new();
        let mut machine = TwoPhaseParticipant(Participant::start(records, now, &mut said));
        given_up(&machine.0, out);
        machine.relay(said, out);
        machine
    }

    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: Wire<S>,
        out: &mut Outputs<TwoPhase<S>, Self>,
    ) {
        let Wire::Down(message) = message else { return };
        let mut said = Vec::new();
        self.0.on_message(now, from, message, &mut said);
        self.relay(said, out);
    }

    fn on_timer(&mut self, now: Time, timer: AgreementId, out: &mut Outputs<TwoPhase<S>, Self>) {
        let mut said = Vec::new();
        self.0.on_timer(now, timer, &mut said);
        self.relay(said, out);
    }
}

impl<S: Subject> Participates<TwoPhase<S>> for TwoPhaseParticipant<S>
where
    S::Order: From<S::Terms>,
{
    fn ready(
        &mut self,
        now: Time,
        id: AgreementId,
        terms: S::Terms,
        lease: Span,
        out: &mut Outputs<TwoPhase<S>, Self>,
    ) {
        let mut said = Vec::new();
        self.0.ready(now, id, terms, lease, &mut said);
        self.relay(said, out);
    }

    fn not_ready(
        &mut self,
        _: Time,
        id: AgreementId,
        counter: S::Counter,
        out: &mut Outputs<TwoPhase<S>, Self>,
    ) {
        let mut said = Vec::new();
        self.0.not_ready(id, counter, &mut said);
        self.relay(said, out);
    }

    fn bound(&self) -> Vec<Bound<S>> {
        bound(&self.0)
    }
}
