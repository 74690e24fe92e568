//! Incremental claiming without reservations: parts are claimed one by one where there is room. Claimed
//! parts are held, idle, until the others are claimed.
//!
//! ```text
//!   c                p1            p2
//!   ├─ Claim ───────▶│             │       2 n messages to claim, 2 more for each failed
//!   ├─ Claim ────────┼────────────▶│       claim, for each release and each preemption,
//!   │◀──── Claimed ──┤             │       2 n to start
//!   │◀───────────────┼─ Not-enough ┤
//!   │                │  (preempts) │       `scan` later, or at once elsewhere
//!   ├─ Claim ────────┼────────────▶│
//!   │◀───────────────┼── Claimed ──┤
//!   ├─ Start ───────▶│             │
//!   ├─ Start ────────┼────────────▶│
//!   │◀──── Started ──┤             │
//!   │◀───────────────┼── Started ──┤
//! ```
//!
//! The owner of a participant may preempt a claimed part for a more urgent request, until the part is
//! started. A preempted claim is claimed again. If a claim is preempted while its start is in transit, the
//! group is broken: the others give up the parts that they started. Without a limit of trials groups can
//! wait for each other for ever.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::ledger::{Entry, Ledger, Memory, Note};
use crate::protocol::{
    Body, Bound, Coordinates, Duty, Machine, Nobody, Outcome, Outputs, Participates, Parts,
    Protocol, Said, Times, Traits, Verdict, kinds,
};
use crate::{AgreementId, Output, Subject};

/// Incremental claiming about `S`.
#[derive(Clone, Copy, Debug)]
pub struct Claiming<S>(PhantomData<S>);

/// Rules by which a coordinator claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClaimingRules {
    /// Time between a claim that failed and the next one for the same part.
    pub scan: Span,
    /// Failed claims of a part after which the whole group is released; `None` = unlimited, and groups may
    /// wait for each other.
    pub trials: Option<u32>,
    /// Time between repetitions of unanswered messages; `None` = no message is ever lost.
    pub retry: Option<Span>,
}

impl Times for ClaimingRules {
    fn retry(&self) -> Option<Span> {
        self.retry
    }

    fn may_block(&self) -> bool {
        true
    }

    fn lead(&self, _: Span, _: usize) -> Span {
        Span::ZERO
    }
}

impl<S: Subject> Protocol for Claiming<S> {
    const TRAITS: Traits = Traits::now("claiming", Outcome::Compensated);
    type Subject = S;
    type Rules = ClaimingRules;
    type Message = Said<Claim<S>>;
    type Coordinator = Claimant<S>;
    type Participant = Claimed<S>;
    type Witness = Nobody;
}

/// Messages of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Claim<S: Subject> {
    /// Hold this part now.
    Claim(S::Request),
    /// It is held.
    Claimed(S::Terms),
    /// There is no room now.
    NotEnough(S::Counter),
    /// All parts are held: carry out this one.
    Start,
    /// It is carried out.
    Started,
    /// Another request has got the claimed part.
    Preempted,
    /// Give up the claimed or started part.
    Release,
    /// Nothing is held, now or later.
    Released,
}

impl<S: Subject> Body for Claim<S> {
    kinds! {
        Claim::Claim(_) => "claim",
        Claim::Claimed(_) => "claimed",
        Claim::NotEnough(_) => "not-enough",
        Claim::Start => "start",
        Claim::Started => "started",
        Claim::Preempted => "preempted",
        Claim::Release => "release",
        Claim::Released => "released",
    }

    fn promises(&self) -> bool {
        matches!(self, Claim::Claimed(_) | Claim::Started)
    }
}

/// State of a claim at a participant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum ClaimState<S: Subject> {
    /// Its owner considers it. Never persisted.
    Considered(S::Request),
    /// It is held.
    Held(S::Request, S::Terms),
    /// It was held, and another request has got it.
    Preempted,
    /// It is carried out.
    Started(S::Request),
    /// Nothing is held, now or later.
    Released,
}

/// All claims on one actor.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Claimed<S: Subject>(Memory<ClaimState<S>>);

type PartOut<S> = Outputs<Claiming<S>, Claimed<S>>;

impl<S: Subject> Claimed<S> {
    fn consider(&mut self, id: AgreementId, request: S::Request, out: &mut PartOut<S>) {
        self.0.states.insert(id, ClaimState::Considered(request.clone()));
        out.push(Output::Tell(Duty::Consider { id, request, lease: Span::FOREVER }));
    }

    fn start(&mut self, id: AgreementId, out: &mut PartOut<S>) {
        let body = match self.0.states.get(&id) {
            Some(ClaimState::Held(request, _)) => {
                let started = ClaimState::Started(request.clone());
                self.0.enter(id, started, out);
                out.push(Output::Tell(Duty::CarryOut { id }));
                Claim::Started
            }
            Some(ClaimState::Started(_)) => Claim::Started,
            // Without a hold there is nothing to start; this answer breaks the group.
            _ => Claim::Preempted,
        };
        self.0.answer(id, body, out);
    }

    fn release(&mut self, id: AgreementId, out: &mut PartOut<S>) {
        let before = self.0.states.get(&id);
        let bound = before.is_some_and(ClaimState::binds);
        if before != Some(&ClaimState::Released) {
            self.0.enter(id, ClaimState::Released, out);
        }
        if bound {
            out.push(Output::Tell(Duty::GiveUp { id }));
        }
        self.0.answer(id, Claim::Released, out);
    }
}

impl<S: Subject> ClaimState<S> {
    /// Returns whether its owner has something to give up.
    fn binds(&self) -> bool {
        !matches!(self, ClaimState::Preempted | ClaimState::Released)
    }
}

impl<S: Subject> Machine<Claiming<S>> for Claimed<S> {
    type Record = Note<ClaimState<S>>;
    type Timer = ();
    type News = Duty<S>;

    fn start(
        _: ActorId,
        _: &ClaimingRules,
        records: Vec<Note<ClaimState<S>>>,
        _: Time,
        out: &mut PartOut<S>,
    ) -> Self {
        let memory: Memory<ClaimState<S>> = Memory::start(records);
        let given_up = memory.states.iter().filter(|(_, state)| !state.binds());
        out.extend(given_up.map(|(&id, _)| Output::Tell(Duty::GiveUp { id })));
        Claimed(memory)
    }

    fn on_message(
        &mut self,
        _: Time,
        from: ActorId,
        message: Said<Claim<S>>,
        out: &mut PartOut<S>,
    ) {
        let Said { id, settled, body } = message;
        if from != id.coordinator {
            return;
        }
        let (current, dropped) = self.0.hear(id, settled, out);
        let held = |state: &ClaimState<S>| {
            matches!(state, ClaimState::Considered(_) | ClaimState::Held(..))
        };
        for (id, _) in dropped.into_iter().filter(|(_, state)| held(state)) {
            out.push(Output::Tell(Duty::GiveUp { id }));
        }
        if !current {
            return;
        }
        match body {
            Claim::Claim(request) => match self.0.states.get(&id) {
                None | Some(ClaimState::Preempted) => self.consider(id, request, out),
                Some(ClaimState::Held(_, terms)) => {
                    let terms = terms.clone();
                    self.0.answer(id, Claim::Claimed(terms), out);
                }
                Some(_) => {}
            },
            Claim::Start => Claimed::start(self, id, out),
            Claim::Release => self.release(id, out),
            _ => {}
        }
    }

    fn on_timer(&mut self, _: Time, (): (), _: &mut PartOut<S>) {}
}

impl<S: Subject> Participates<S, PartOut<S>> for Claimed<S> {
    fn ready(&mut self, _: Time, id: AgreementId, terms: S::Terms, _: Span, out: &mut PartOut<S>) {
        if let Some(ClaimState::Considered(request)) = self.0.states.get(&id) {
            let held = ClaimState::Held(request.clone(), terms.clone());
            self.0.enter(id, held, out);
            self.0.answer(id, Claim::Claimed(terms), out);
        }
    }

    fn not_ready(&mut self, _: Time, id: AgreementId, counter: S::Counter, out: &mut PartOut<S>) {
        if let Some(ClaimState::Considered(_)) = self.0.states.get(&id) {
            // The next claim of it must be considered again.
            self.0.states.remove(&id);
            self.0.answer(id, Claim::NotEnough(counter), out);
        }
    }

    fn preempt(&mut self, _: Time, id: AgreementId, out: &mut PartOut<S>) -> bool {
        let held = matches!(self.0.states.get(&id), Some(ClaimState::Held(..)));
        if held {
            self.0.enter(id, ClaimState::Preempted, out);
            self.0.answer(id, Claim::Preempted, out);
        }
        held
    }

    fn bound(&self) -> Vec<Bound<S>> {
        let bound = |(&id, state): (&AgreementId, &ClaimState<S>)| {
            let (request, started) = match state {
                ClaimState::Held(request, _) => (request, false),
                ClaimState::Started(request) => (request, true),
                _ => return None,
            };
            Some(Bound { id, request: Some(request.clone()), started })
        };
        self.0.states.iter().filter_map(bound).collect()
    }
}

/// Recorded state of a coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Stage<S: Subject> {
    /// These participants may have been asked.
    Begun(Vec<ActorId>),
    /// All parts are held, and must start.
    Starting(BTreeMap<ActorId, S::Terms>),
    /// These participants may still hold or carry out parts.
    Releasing {
        /// The participants.
        whom: Vec<ActorId>,
        /// True if some had been requested to start.
        broken: bool,
    },
}

/// Timers of a coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ClaimTimer {
    /// Claim this part again.
    Scan(u64, ActorId),
    /// Unanswered messages are repeated.
    Retry(u64),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
enum Reply<S: Subject> {
    Awaited,
    /// There was no room.
    Waiting,
    Claimed(S::Terms),
}

/// Progress of the parts of a group. Lost in a crash.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct Part<S: Subject> {
    request: S::Request,
    reply: Reply<S>,
    failures: u32,
}

/// All groups that one actor claims parts for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Claimant<S: Subject> {
    rules: ClaimingRules,
    stages: Ledger<Stage<S>>,
    parts: BTreeMap<u64, BTreeMap<ActorId, Part<S>>>,
    /// Participants that have not reported their start.
    starting: BTreeMap<u64, BTreeSet<ActorId>>,
}

type Out<S> = Outputs<Claiming<S>, Claimant<S>>;

impl<S: Subject> Claimant<S> {
    /// Claims a part at another participant from now on. Returns `false` if the part is held, or if the new
    /// participant already has a part of this group.
    pub fn move_part(
        &mut self,
        now: Time,
        number: u64,
        from: ActorId,
        to: ActorId,
        request: S::Request,
        out: &mut Out<S>,
    ) -> bool {
        let Some(parts) = self.parts.get_mut(&number) else { return false };
        let waits = parts.get(&from).is_some_and(|it| matches!(it.reply, Reply::Waiting));
        if !waits || parts.contains_key(&to) {
            return false;
        }
        let failures = parts.remove(&from).map_or(0, |part| part.failures);
        parts.insert(to, Part { request, reply: Reply::Awaited, failures });
        out.push(Output::Stop(ClaimTimer::Scan(number, from)));
        if let Some(Stage::Begun(asked)) = self.stages.open.get(&number) {
            // The former participant may still hold an old claim, so it stays on record.
            let mut asked = asked.clone();
            asked.push(to);
            self.stages.enter(number, Stage::Begun(asked), out);
        }
        self.repeat(now, number, out);
        true
    }

    fn unanswered(&self, number: u64) -> Vec<(ActorId, Claim<S>)> {
        match self.stages.open.get(&number) {
            Some(Stage::Begun(_)) => {
                let parts = self.parts.get(&number).into_iter().flatten();
                parts
                    .filter(|(_, part)| matches!(part.reply, Reply::Awaited))
                    .map(|(&who, part)| (who, Claim::Claim(part.request.clone())))
                    .collect()
            }
            Some(Stage::Starting(_)) => {
                let starting = self.starting.get(&number).into_iter().flatten();
                starting.map(|&who| (who, Claim::Start)).collect()
            }
            Some(Stage::Releasing { whom, .. }) => {
                whom.iter().map(|&who| (who, Claim::Release)).collect()
            }
            None => Vec::new(),
        }
    }

    fn repeat(&self, now: Time, number: u64, out: &mut Out<S>) {
        let unanswered = self.unanswered(number);
        if let Some(retry) = self.rules.retry
            && !unanswered.is_empty()
        {
            let timer = ClaimTimer::Retry(number);
            out.push(Output::Set { timer, at: now + retry.max(Span::TICK) });
        }
        for (who, body) in unanswered {
            self.stages.send(who, number, body, out);
        }
    }

    fn claim(&mut self, now: Time, number: u64, who: ActorId, out: &mut Out<S>) {
        let part = self.parts.get_mut(&number).and_then(|it| it.get_mut(&who));
        let Some(part) = part.filter(|it| matches!(it.reply, Reply::Waiting)) else { return };
        part.reply = Reply::Awaited;
        let body = Claim::Claim(part.request.clone());
        self.stages.send(who, number, body, out);
        if let Some(retry) = self.rules.retry {
            let timer = ClaimTimer::Retry(number);
            out.push(Output::Set { timer, at: now + retry.max(Span::TICK) });
        }
    }

    /// A claim has failed, or a claimed part is lost.
    fn wait(
        &mut self,
        now: Time,
        number: u64,
        who: ActorId,
        counter: Option<S::Counter>,
        out: &mut Out<S>,
    ) {
        let part = self.parts.get_mut(&number).and_then(|it| it.get_mut(&who));
        let Some(part) = part.filter(|it| !matches!(it.reply, Reply::Waiting)) else { return };
        part.reply = Reply::Waiting;
        part.failures += 1;
        if self.rules.trials.is_some_and(|trials| part.failures >= trials) {
            let counters = counter.map(|it| (who, it)).into_iter().collect();
            self.fail(now, number, counters, out);
        } else {
            let at = now + self.rules.scan.max(Span::TICK);
            out.push(Output::Set { timer: ClaimTimer::Scan(number, who), at });
        }
    }

    fn start_if_all_held(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let held = |(&who, part): (&ActorId, &Part<S>)| match &part.reply {
            Reply::Claimed(terms) => Some((who, terms.clone())),
            _ => None,
        };
        let Some(parts) = self.parts.get(&number) else { return };
        let terms: BTreeMap<_, _> = parts.iter().filter_map(held).collect();
        if terms.len() == parts.len() {
            self.parts.remove(&number);
            self.starting.insert(number, terms.keys().copied().collect());
            self.stages.enter(number, Stage::Starting(terms), out);
            out.push(Output::Tell(Verdict::Decided { number }));
            out.push(Output::Stop(ClaimTimer::Retry(number)));
            self.repeat(now, number, out);
        }
    }

    fn fail(
        &mut self,
        now: Time,
        number: u64,
        counters: BTreeMap<ActorId, S::Counter>,
        out: &mut Out<S>,
    ) {
        let Some(Stage::Begun(whom)) = self.stages.open.get(&number) else { return };
        let whom = whom.clone();
        for who in self.parts.remove(&number).unwrap_or_default().into_keys() {
            out.push(Output::Stop(ClaimTimer::Scan(number, who)));
        }
        self.release(now, number, whom, false, out);
        out.push(Output::Tell(Verdict::Failed { number, counters }));
    }

    fn release(
        &mut self,
        now: Time,
        number: u64,
        whom: Vec<ActorId>,
        broken: bool,
        out: &mut Out<S>,
    ) {
        self.starting.remove(&number);
        out.push(Output::Stop(ClaimTimer::Retry(number)));
        self.stages.enter(number, Stage::Releasing { whom, broken }, out);
        self.repeat(now, number, out);
    }

    fn started(&mut self, number: u64, from: ActorId, out: &mut Out<S>) {
        let Some(starting) = self.starting.get_mut(&number) else { return };
        starting.remove(&from);
        if starting.is_empty()
            && let Some(Stage::Starting(terms)) = self.stages.open.get(&number)
        {
            out.push(Output::Tell(Verdict::Agreed { number, terms: terms.clone() }));
            self.forget(number, out);
        }
    }

    fn released(&mut self, number: u64, from: ActorId, out: &mut Out<S>) {
        let Some(Stage::Releasing { whom, broken }) = self.stages.open.get_mut(&number) else {
            return;
        };
        let broken = *broken;
        whom.retain(|&who| who != from);
        if whom.is_empty() {
            if broken {
                out.push(Output::Tell(Verdict::Broken { number }));
            }
            self.forget(number, out);
        }
    }

    fn forget(&mut self, number: u64, out: &mut Out<S>) {
        self.starting.remove(&number);
        out.push(Output::Stop(ClaimTimer::Retry(number)));
        self.stages.over(number, out);
    }
}

impl<S: Subject> Machine<Claiming<S>> for Claimant<S> {
    type Record = Entry<Stage<S>>;
    type Timer = ClaimTimer;
    type News = Verdict<S>;

    fn start(
        me: ActorId,
        rules: &ClaimingRules,
        records: Vec<Entry<Stage<S>>>,
        now: Time,
        out: &mut Out<S>,
    ) -> Self {
        let stages: Ledger<Stage<S>> = Ledger::start(me, records);
        let (parts, starting) = (BTreeMap::new(), BTreeMap::new());
        let mut claimant = Claimant { rules: *rules, stages, parts, starting };
        for (number, stage) in claimant.stages.open.clone() {
            match stage {
                Stage::Begun(whom) => claimant.release(now, number, whom, false, out),
                Stage::Starting(terms) => {
                    claimant.starting.insert(number, terms.into_keys().collect());
                    claimant.repeat(now, number, out);
                }
                Stage::Releasing { .. } => claimant.repeat(now, number, out),
            }
        }
        claimant
    }

    fn on_message(&mut self, now: Time, from: ActorId, message: Said<Claim<S>>, out: &mut Out<S>) {
        let Some(number) = self.stages.mine(message.id) else { return };
        match message.body {
            Claim::Claimed(terms) => {
                let part = self.parts.get_mut(&number).and_then(|it| it.get_mut(&from));
                if let Some(part) = part.filter(|it| matches!(it.reply, Reply::Awaited)) {
                    part.reply = Reply::Claimed(terms);
                    self.start_if_all_held(now, number, out);
                }
            }
            Claim::NotEnough(counter) => {
                // A reply that was overtaken tells nothing about a claim that was held since.
                let part = self.parts.get(&number).and_then(|it| it.get(&from));
                if part.is_some_and(|it| matches!(it.reply, Reply::Awaited)) {
                    self.wait(now, number, from, Some(counter), out);
                }
            }
            Claim::Preempted => match self.stages.open.get(&number) {
                Some(Stage::Begun(_)) => self.wait(now, number, from, None, out),
                Some(Stage::Starting(terms)) => {
                    let whom = terms.keys().copied().collect();
                    self.release(now, number, whom, true, out);
                }
                Some(Stage::Releasing { .. }) | None => {}
            },
            Claim::Started => self.started(number, from, out),
            Claim::Released => self.released(number, from, out),
            Claim::Claim(_) | Claim::Start | Claim::Release => {}
        }
    }

    fn on_timer(&mut self, now: Time, timer: ClaimTimer, out: &mut Out<S>) {
        match timer {
            ClaimTimer::Scan(number, who) => self.claim(now, number, who, out),
            ClaimTimer::Retry(number) => self.repeat(now, number, out),
        }
    }
}

impl<S: Subject> Coordinates<S, Out<S>> for Claimant<S> {
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut Out<S>) -> Option<u64> {
        let number = self.stages.number(out);
        self.stages.enter(number, Stage::Begun(parts.iter().map(|it| it.0).collect()), out);
        let part = |request| Part { request, reply: Reply::Awaited, failures: 0 };
        let parts = parts.into_iter().map(|(who, request)| (who, part(request))).collect();
        self.parts.insert(number, parts);
        self.repeat(now, number, out);
        Some(number)
    }

    fn close(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        self.fail(now, number, BTreeMap::new(), out);
    }

    fn open_numbers(&self) -> Vec<u64> {
        self.stages.numbers()
    }
}
