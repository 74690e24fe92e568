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

use crate::ledger::{Entry, Ledger};
use crate::protocol::{
    Body, Bound, Coordinates, Duty, Machine, Nobody, Outcome, Outputs, Participates, Parts,
    Protocol, Said, Times, Traits, Verdict, messages,
};
use crate::two_phase::{bound, given_up, relay};
use crate::{
    AgreementId, Hold, InDoubt, Instruction, Output, Participant, ParticipantOutput,
    ParticipantRecord, ParticipantState, Subject, ToParticipant,
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

impl<S: Subject> Protocol for Polling<S>
where
    S::Order: From<S::Terms>,
{
    const TRAITS: Traits = Traits::ahead("polling", Outcome::Atomic);
    type Subject = S;
    type Rules = PollingRules;
    type Message = Said<Polled<S>>;
    type Coordinator = Poller<S>;
    type Participant = Answerer<S>;
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
    fn kind(&self) -> &'static str {
        match self {
            Polled::Start(_) => "start",
            Polled::Accepted(_) => "accepted",
            Polled::Poll(_) => "poll",
            Polled::Status(..) => "status",
        }
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

/// A participant that is polled.
#[derive(Clone, Debug)]
pub struct Answerer<S: Subject>(Participant<S>);

impl<S: Subject> Answerer<S>
where
    S::Order: From<S::Terms>,
{
    /// Passes on all outputs except the answers, which are polled.
    fn relay(&mut self, said: Vec<ParticipantOutput<S>>, out: &mut Outputs<Polling<S>, Self>) {
        let said = said.into_iter().filter(|it| !matches!(it, Output::Send { .. })).collect();
        let mut passed = Vec::new();
        relay(&mut self.0, said, |message| message, &mut passed);
        out.extend(passed.into_iter().filter_map(|output| match output {
            Output::Send { .. } => None,
            Output::Persist(record) => Some(Output::Persist(record)),
            Output::Set { timer, at } => Some(Output::Set { timer, at }),
            Output::Stop(timer) => Some(Output::Stop(timer)),
            Output::Tell(duty) => Some(Output::Tell(duty)),
        }));
    }

    fn status(&self, id: AgreementId, operation: Operation) -> Status<S> {
        let state = self.0.states().find(|it| it.0 == id).map(|it| it.1);
        match (operation, state) {
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
}

impl<S: Subject> Machine<Polling<S>> for Answerer<S>
where
    S::Order: From<S::Terms>,
{
    type Record = ParticipantRecord<S>;
    type Timer = AgreementId;
    type News = Duty<S>;

    fn start(
        _: ActorId,
        _: &PollingRules,
        records: Vec<ParticipantRecord<S>>,
        now: Time,
        out: &mut Outputs<Polling<S>, Self>,
    ) -> Self {
        let mut said = Vec::new();
        let mut machine = Answerer(Participant::start(records, now, &mut said));
        given_up(&machine.0, out);
        machine.relay(said, out);
        machine
    }

    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: Said<Polled<S>>,
        out: &mut Outputs<Polling<S>, Self>,
    ) {
        let Said { id, settled, body } = message;
        let body = match body {
            Polled::Start(instruction) => {
                let operation = Operation::of(&instruction);
                let mut said = Vec::new();
                let message = ToParticipant { id, settled, instruction };
                self.0.on_message(now, from, message, &mut said);
                self.relay(said, out);
                Polled::Accepted(operation)
            }
            Polled::Poll(operation) => Polled::Status(operation, self.status(id, operation)),
            Polled::Accepted(_) | Polled::Status(..) => return,
        };
        if from == id.coordinator {
            out.push(Output::Send { to: from, message: Said { id, settled, body } });
        }
    }

    fn on_timer(&mut self, now: Time, timer: AgreementId, out: &mut Outputs<Polling<S>, Self>) {
        let mut said = Vec::new();
        self.0.on_timer(now, timer, &mut said);
        self.relay(said, out);
    }
}

impl<S: Subject> Participates<Polling<S>> for Answerer<S>
where
    S::Order: From<S::Terms>,
{
    fn ready(
        &mut self,
        now: Time,
        id: AgreementId,
        terms: S::Terms,
        lease: Span,
        out: &mut Outputs<Polling<S>, Self>,
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
        out: &mut Outputs<Polling<S>, Self>,
    ) {
        let mut said = Vec::new();
        self.0.not_ready(id, counter, &mut said);
        self.relay(said, out);
    }

    fn bound(&self) -> Vec<Bound<S>> {
        bound(&self.0)
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PollerTimer {
    /// The last time for a commit has come.
    Decide(u64),
    /// The next poll of this participant, or repetition of an unanswered message, is due.
    Next(u64, ActorId),
}

/// Known progress of an operation. Lost in a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Starting,
    Polling,
    Done,
}

#[derive(Clone, Debug)]
struct Progress<S: Subject> {
    steps: BTreeMap<ActorId, Step>,
    decide_by: Time,
    terms: BTreeMap<ActorId, S::Terms>,
    counters: BTreeMap<ActorId, S::Counter>,
    expired: bool,
}

/// All groups that one actor coordinates by polling.
#[derive(Clone, Debug)]
pub struct Poller<S: Subject> {
    rules: PollingRules,
    stages: Ledger<Stage<S>>,
    progress: BTreeMap<u64, Progress<S>>,
}

type Out<S> = Outputs<Polling<S>, Poller<S>>;

impl<S: Subject> Poller<S>
where
    S::Order: From<S::Terms>,
{
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
            Operation::Commit => Instruction::Commit(stage.terms.get(&who)?.clone().into()),
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

impl<S: Subject> Machine<Polling<S>> for Poller<S>
where
    S::Order: From<S::Terms>,
{
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

impl<S: Subject> Coordinates<Polling<S>> for Poller<S>
where
    S::Order: From<S::Terms>,
{
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut Out<S>) -> u64 {
        let number = self.stages.number(out);
        let operation = Operation::Reserve;
        let terms = BTreeMap::new();
        let stage = Stage { opened: now, operation, parts, terms, broken: false };
        self.stages.enter(number, stage, out);
        self.begin(now, number, Step::Starting, out);
        number
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
