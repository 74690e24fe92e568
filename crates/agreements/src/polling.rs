//! Two-phase commit by polling: participants only answer. So a coordinator needs no address at which it can
//! be reached, and finds its operations again after a crash.
//!
//! ```text
//!   c             p
//!   ├─ Start ────▶│    reserve, commit or abort: 2 + 2 q messages a participant, where
//!   │◀─ Accepted ─┤    q = max(1, ⌈time it takes / (interval + 2 d)⌉); it is known after
//!   │             │    q (interval + 2 d) + 2 d
//!   ├─ Poll ─────▶│    `interval` later
//!   │◀── Pending ─┤
//!   ├─ Poll ─────▶│    and so on
//!   │◀─ Prepared ─┤
//! ```
//!
//! Success: n (4 + 2 q₁ + 2 q₂). A participant is a [`crate::Participant`] whose answers are polled. Each
//! answer follows from its state, so it stores nothing more. A hold ends with its lease. The coordinator
//! has each operation on record before it starts it.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::holding::{self, Holder, Leases};
use crate::ledger::{Entry, Ledger};
use crate::protocol::{
    Body, Coordinates, Machine, Nobody, Outcome, Outputs, Parts, Protocol, Said, Times, Traits,
    Verdict, kinds, messages,
};
use crate::{
    AgreementId, Hold, InDoubt, Instruction, Output, Participant, ParticipantState, Subject,
    ToCoordinator, ToParticipant,
};

/// Two-phase commit by polling about `S`.
#[derive(Clone, Copy, Debug)]
pub struct Polling<S>(PhantomData<S>);

/// Rules by which a coordinator polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PollingRules {
    /// Requested time of a hold.
    pub lease: Span,
    /// Time in which a commit reaches every participant, see [`crate::Rules::margin`].
    pub margin: Span,
    /// Time between a reply and the next poll.
    pub interval: Span,
    /// Time after which unanswered messages are repeated; `None` = no message is ever lost.
    pub retry: Option<Span>,
}

impl Times for PollingRules {
    fn retry(&self) -> Option<Span> {
        self.retry
    }

    fn lead(&self, latency_max: Span, _: usize) -> Span {
        // Request, acknowledgement, poll, answer, decision.
        messages(latency_max, 5) + self.interval
    }
}

impl<S: Subject<Order = ()>> Protocol for Polling<S> {
    const TRAITS: Traits = Traits::ahead("polling", Outcome::Atomic);
    type Subject = S;
    type Rules = PollingRules;
    type Message = Said<Polled<S>>;
    type Coordinator = Poller<S>;
    type Participant = Holder<Self>;
    type Witness = Nobody;
}

/// Operations of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Operation {
    /// Hold.
    Reserve,
    /// Carry out the held part.
    Commit,
    /// Give up a held or running part.
    Abort,
}

/// Messages of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Polled<S: Subject> {
    /// Begin this operation.
    Start(Instruction<S>),
    /// It has begun.
    Accepted(Operation),
    /// Requests the progress of an operation.
    Poll(Operation),
    /// Its progress.
    Status(Operation, Status<S>),
}

/// Progress of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Status<S: Subject> {
    /// It never began, or was lost in a crash.
    Unknown,
    /// Not done yet.
    Pending,
    /// It is held on these terms.
    Prepared {
        /// The terms.
        terms: S::Terms,
        /// Time of the hold, from when it was prepared.
        lease: Span,
    },
    /// It cannot be held; the counter is a possible alternative.
    Refused(S::Counter),
    /// It is carried out.
    Committed,
    /// Too late: the hold has ended.
    Expired,
    /// Nothing is held or carried out.
    Aborted,
}

impl<S: Subject> Body for Polled<S> {
    kinds! {
        Polled::Start(_) => "start",
        Polled::Accepted(_) => "accepted",
        Polled::Poll(_) => "poll",
        Polled::Status(..) => "status",
    }

    fn promises(&self) -> bool {
        matches!(self, Polled::Status(_, Status::Prepared { .. } | Status::Committed))
    }
}

impl Operation {
    fn of<S: Subject>(instruction: &Instruction<S>) -> Operation {
        match instruction {
            Instruction::Prepare { .. } => Operation::Reserve,
            Instruction::Commit(_) => Operation::Commit,
            Instruction::Abort | Instruction::Undo => Operation::Abort,
        }
    }
}

impl<S: Subject<Order = ()>> Leases for Polling<S> {
    type Beside = ();
    type Timer = AgreementId;

    fn beside(_: &PollingRules, _: Time) {}

    /// Answers are polled.
    fn answer(_: ToCoordinator<S>) -> Option<Said<Polled<S>>> {
        None
    }

    fn hear(
        holder: &mut Holder<Self>,
        now: Time,
        from: ActorId,
        message: Said<Polled<S>>,
        out: &mut holding::Out<Self>,
    ) {
        let Said { id, settled, body } = message;
        let body = match body {
            Polled::Start(instruction) => {
                let operation = Operation::of(&instruction);
                let message = ToParticipant { id, settled, instruction };
                holder.instruct(now, from, message, out);
                Polled::Accepted(operation)
            }
            Polled::Poll(operation) => {
                Polled::Status(operation, status(&holder.participant, id, operation))
            }
            Polled::Accepted(_) | Polled::Status(..) => return,
        };
        if from == id.coordinator {
            out.push(Output::Send { to: from, message: Said { id, settled, body } });
        }
    }

    fn expire(holder: &mut Holder<Self>, now: Time, id: AgreementId, out: &mut holding::Out<Self>) {
        holder.lease_over(now, id, out);
    }
}

/// Progress of an operation, which follows from the state of the participant.
fn status<S: Subject>(
    participant: &Participant<S>,
    id: AgreementId,
    operation: Operation,
) -> Status<S> {
    match (operation, participant.state(id)) {
        (Operation::Reserve, Some(ParticipantState::Asked { .. })) => Status::Pending,
        (Operation::Reserve, Some(ParticipantState::Held(Hold { terms, lease, .. }))) => {
            Status::Prepared { terms: terms.clone(), lease: *lease }
        }
        (Operation::Reserve, Some(ParticipantState::Refused(counter))) => {
            Status::Refused(counter.clone())
        }
        (Operation::Commit, Some(ParticipantState::Committed { .. })) => Status::Committed,
        (Operation::Abort, Some(ParticipantState::Over)) => Status::Aborted,
        (
            Operation::Reserve | Operation::Commit,
            Some(ParticipantState::Lapsed | ParticipantState::Over),
        ) => Status::Expired,
        _ => Status::Unknown,
    }
}

/// Recorded state of a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Stage<S: Subject> {
    /// Time of the first operation: no lease began before.
    opened: Time,
    operation: Operation,
    /// Participants of the operation, with their requests.
    parts: Parts<S>,
    /// Terms that were decided on.
    terms: BTreeMap<ActorId, S::Terms>,
    /// True if it was decided before it is aborted.
    broken: bool,
}

/// Timers of a coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PollerTimer {
    /// The last time for a commit has come.
    Decide(u64),
    /// The next poll of this participant, or repetition of an unanswered message, is due.
    Next(u64, ActorId),
}

/// Known progress of an operation. Lost in a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Step {
    Starting,
    Polling,
    Done,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct Progress<S: Subject> {
    steps: BTreeMap<ActorId, Step>,
    decide_by: Time,
    terms: BTreeMap<ActorId, S::Terms>,
    counters: BTreeMap<ActorId, S::Counter>,
    expired: bool,
}

/// All groups that one actor coordinates by polling.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Poller<S: Subject> {
    rules: PollingRules,
    stages: Ledger<Stage<S>>,
    progress: BTreeMap<u64, Progress<S>>,
}

type Out<S> = Outputs<Polling<S>, Poller<S>>;

impl<S: Subject<Order = ()>> Poller<S> {
    /// Starts an operation, which is on record; after a crash it polls first, because the operation may
    /// have begun.
    fn begin(&mut self, now: Time, number: u64, first: Step, out: &mut Out<S>) {
        let Some(stage) = self.stages.open.get(&number) else { return };
        let steps: BTreeMap<_, _> = stage.parts.iter().map(|it| (it.0, first)).collect();
        let decide_by = stage.opened + self.rules.lease - self.rules.margin;
        let (terms, counters) = (BTreeMap::new(), BTreeMap::new());
        if stage.operation == Operation::Reserve {
            let timer = PollerTimer::Decide(number);
            out.push(Output::Set { timer, at: decide_by.max(now) });
        }
        let whom: Vec<_> = steps.keys().copied().collect();
        let progress = Progress { steps, decide_by, terms, counters, expired: false };
        self.progress.insert(number, progress);
        if whom.is_empty() {
            self.done(now, number, out);
        }
        for who in whom {
            self.say(now, number, who, out);
        }
    }

    /// Starts an operation at a participant, or polls it.
    fn say(&self, now: Time, number: u64, who: ActorId, out: &mut Out<S>) {
        let Some(stage) = self.stages.open.get(&number) else { return };
        let step = self.progress.get(&number).and_then(|it| it.steps.get(&who));
        let body = match step {
            Some(Step::Starting) => {
                let Some(instruction) = self.instruction(stage, who) else { return };
                Polled::Start(instruction)
            }
            Some(Step::Polling) => Polled::Poll(stage.operation),
            Some(Step::Done) | None => return,
        };
        if let Some(retry) = self.rules.retry {
            let timer = PollerTimer::Next(number, who);
            out.push(Output::Set { timer, at: now + retry.max(Span::TICK) });
        }
        self.stages.send(who, number, body, out);
    }

    fn instruction(&self, stage: &Stage<S>, who: ActorId) -> Option<Instruction<S>> {
        let lease = self.rules.lease;
        Some(match stage.operation {
            Operation::Reserve => {
                let (_, request) = stage.parts.iter().find(|it| it.0 == who)?;
                let (request, in_doubt) = (request.clone(), InDoubt::Release);
                Instruction::Prepare { request, lease, in_doubt }
            }
            Operation::Commit => Instruction::Commit(()),
            Operation::Abort => Instruction::Undo,
        })
    }

    fn on_status(
        &mut self,
        now: Time,
        number: u64,
        from: ActorId,
        status: Status<S>,
        out: &mut Out<S>,
    ) {
        let Some(stage) = self.stages.open.get(&number) else { return };
        let Some(progress) = self.progress.get_mut(&number) else { return };
        let timer = PollerTimer::Next(number, from);
        match status {
            Status::Unknown => {
                progress.steps.insert(from, Step::Starting);
                self.say(now, number, from, out);
                return;
            }
            Status::Pending => {
                let at = now + self.rules.interval.max(Span::TICK);
                out.push(Output::Set { timer, at });
                return;
            }
            Status::Prepared { terms, lease } => {
                let last = stage.opened + lease - self.rules.margin;
                progress.decide_by = progress.decide_by.min(last);
                progress.terms.insert(from, terms);
            }
            Status::Refused(counter) => {
                progress.counters.insert(from, counter);
            }
            Status::Expired => progress.expired = true,
            Status::Committed | Status::Aborted => {}
        }
        progress.steps.insert(from, Step::Done);
        out.push(Output::Stop(timer));
        if progress.steps.values().all(|&step| step == Step::Done) {
            self.done(now, number, out);
        }
    }

    /// All participants have ended an operation.
    fn done(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(stage) = self.stages.open.get(&number).cloned() else { return };
        let Some(progress) = self.progress.get(&number) else { return };
        let (opened, broken) = (stage.opened, stage.broken);
        match stage.operation {
            Operation::Reserve => {
                let terms = progress.terms.clone();
                if terms.len() < stage.parts.len() || now > progress.decide_by {
                    self.fail(now, number, out);
                    return;
                }
                out.push(Output::Stop(PollerTimer::Decide(number)));
                let operation = Operation::Commit;
                let parts = stage.parts;
                let stage = Stage { opened, operation, parts, terms, broken };
                self.stages.enter(number, stage, out);
                out.push(Output::Tell(Verdict::Decided { number }));
                self.begin(now, number, Step::Starting, out);
            }
            Operation::Commit if progress.expired => {
                let (operation, broken) = (Operation::Abort, true);
                self.stages.enter(number, Stage { operation, broken, ..stage }, out);
                self.begin(now, number, Step::Starting, out);
            }
            Operation::Commit => {
                out.push(Output::Tell(Verdict::Agreed { number, terms: stage.terms }));
                self.forget(number, out);
            }
            Operation::Abort => {
                if broken {
                    out.push(Output::Tell(Verdict::Broken { number }));
                }
                self.forget(number, out);
            }
        }
    }

    /// Rolls back at all participants that may hold parts.
    fn fail(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(mut stage) = self.stages.open.get(&number).cloned() else { return };
        let Some(progress) = self.progress.get_mut(&number) else { return };
        let counters = std::mem::take(&mut progress.counters);
        for &who in progress.steps.keys() {
            out.push(Output::Stop(PollerTimer::Next(number, who)));
        }
        out.push(Output::Stop(PollerTimer::Decide(number)));
        stage.parts.retain(|(who, _)| !counters.contains_key(who));
        stage.operation = Operation::Abort;
        self.stages.enter(number, stage, out);
        out.push(Output::Tell(Verdict::Failed { number, counters }));
        self.begin(now, number, Step::Starting, out);
    }

    fn forget(&mut self, number: u64, out: &mut Out<S>) {
        self.progress.remove(&number);
        self.stages.over(number, out);
    }
}

impl<S: Subject<Order = ()>> Machine<Polling<S>> for Poller<S> {
    type Record = Entry<Stage<S>>;
    type Timer = PollerTimer;
    type News = Verdict<S>;

    fn start(
        me: ActorId,
        rules: &PollingRules,
        records: Vec<Entry<Stage<S>>>,
        now: Time,
        out: &mut Out<S>,
    ) -> Self {
        let stages: Ledger<Stage<S>> = Ledger::start(me, records);
        let mut poller = Poller { rules: *rules, stages, progress: BTreeMap::new() };
        for number in poller.stages.numbers() {
            poller.begin(now, number, Step::Polling, out);
        }
        poller
    }

    fn on_message(&mut self, now: Time, from: ActorId, message: Said<Polled<S>>, out: &mut Out<S>) {
        let Some(number) = self.stages.mine(message.id) else { return };
        let Some(operation) = self.stages.open.get(&number).map(|it| it.operation) else { return };
        let progress = self.progress.get_mut(&number);
        let Some(step) = progress.and_then(|it| it.steps.get_mut(&from)) else { return };
        match (message.body, *step) {
            (Polled::Accepted(said), Step::Starting) if said == operation => {
                *step = Step::Polling;
                let timer = PollerTimer::Next(number, from);
                let at = now + self.rules.interval.max(Span::TICK);
                out.push(Output::Set { timer, at });
            }
            (Polled::Status(said, status), Step::Polling) if said == operation => {
                self.on_status(now, number, from, status, out);
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, now: Time, timer: PollerTimer, out: &mut Out<S>) {
        match timer {
            PollerTimer::Decide(number) => self.fail(now, number, out),
            PollerTimer::Next(number, who) => self.say(now, number, who, out),
        }
    }
}

impl<S: Subject<Order = ()>> Coordinates<S, Out<S>> for Poller<S> {
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut Out<S>) -> Option<u64> {
        let number = self.stages.number(out);
        let operation = Operation::Reserve;
        let terms = BTreeMap::new();
        let stage = Stage { opened: now, operation, parts, terms, broken: false };
        self.stages.enter(number, stage, out);
        self.begin(now, number, Step::Starting, out);
        Some(number)
    }

    fn close(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        if self.stages.open.get(&number).is_some_and(|it| it.operation == Operation::Reserve) {
            self.fail(now, number, out);
        }
    }

    fn open_numbers(&self) -> Vec<u64> {
        self.stages.numbers()
    }
}
