//! Three phases with probes: candidates are queried, the group is reserved at some of them, and then
//! committed. In the meantime each candidate notifies interested coordinators of changes.
//!
//! ```text
//!   c             p1            p2            p3
//!   ├─ Query ────▶│             │             │    q candidates of which n are needed:
//!   ├─ Query ─────┼────────────▶│             │    2 q + 2 n + 2 n + (q - n) messages,
//!   ├─ Query ─────┼─────────────┼────────────▶│    the decision after 4 d
//!   │◀─── Status ─┤             │             │
//!   │◀────────────┼─── Status ──┤             │
//!   │◀────────────┼─────────────┼─── Status ──┤
//!   ├─ Reserve ──▶│             │             │
//!   ├─ Reserve ───┼────────────▶│             │
//!   │◀───── Held ─┤             │             │
//!   │◀────────────┼──── Stale ──┤             │    another group was faster: next candidate
//!   │◀────────────┼─────────────┼──── Probe ──┤    there is room
//!   ├─ Reserve ───┼─────────────┼────────────▶│
//!   │◀────────────┼─────────────┼───── Held ──┤
//!   ├─ Commit ───▶│             │             │
//!   ├─ Commit ────┼─────────────┼────────────▶│
//! ```
//!
//! Held parts stay held during the search for another candidate. A participant is a [`crate::Participant`]
//! with subscriptions. A hold ends with its lease, and an abort is presumed, as in [two-phase
//! commit](crate::two_phase).

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::holding::{self, Holder, Leases};
use crate::ledger::{Entry, Ledger};
use crate::protocol::{
    Body, Coordinates, Duty, Machine, Nobody, Outcome, Outputs, Parts, Protocol, Said, Times,
    Traits, Verdict, kinds, messages,
};
use crate::watches::{Watch, Watches};
use crate::{
    AgreementId, Answer, CoordinatorTimer, Epoch, InDoubt, Instruction, Output, Subject,
    ToCoordinator, ToParticipant,
};

/// Three phases with probes about `S`.
#[derive(Clone, Copy, Debug)]
pub struct Probing<S>(PhantomData<S>);

/// Rules by which a coordinator selects and reserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProbingRules {
    /// Number of candidates that take part, the first ones with room; `None` = all.
    pub needed: Option<u32>,
    /// Time of the search for candidates.
    pub patience: Span,
    /// Requested time of a hold.
    pub lease: Span,
    /// Time in which a commit reaches every participant, see [`crate::Rules::margin`].
    pub margin: Span,
    /// Time for which a participant reports changes.
    pub subscription: Span,
    /// Time between repetitions of unanswered messages; `None` = no message is ever lost.
    pub retry: Option<Span>,
}

impl Times for ProbingRules {
    fn retry(&self) -> Option<Span> {
        self.retry
    }

    fn lead(&self, latency_max: Span, _: usize) -> Span {
        // Notice of room, request, answer, decision.
        messages(latency_max, 5)
    }
}

impl<S: Subject<Order = ()>> Protocol for Probing<S> {
    const TRAITS: Traits =
        Traits { awaits_room: true, ..Traits::ahead("probing", Outcome::Atomic) };
    type Subject = S;
    type Rules = ProbingRules;
    type Message = Said<Probed<S>>;
    type Coordinator = Selector<S>;
    type Participant = Holder<Self>;
    type Witness = Nobody;
}

/// Messages of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Probed<S: Subject> {
    /// Requests whether there is room for this, and reports of changes.
    Query(S::Request),
    /// The present state.
    Status(Epoch, bool),
    /// The state has changed.
    Probe(Epoch, bool),
    /// Reports are no longer needed.
    Drop,
    /// As in two-phase commit, from the coordinator.
    Down(Instruction<S>),
    /// As in two-phase commit, from a participant.
    Up(Answer<S>),
}

impl<S: Subject> Body for Probed<S> {
    kinds! {
        Probed::Query(_) => "query",
        Probed::Status(..) => "status",
        Probed::Probe(..) => "probe",
        Probed::Drop => "drop",
        Probed::Down(Instruction::Prepare { .. }) => "reserve",
        Probed::Down(Instruction::Commit(_)) => "commit",
        Probed::Down(Instruction::Abort) => "abort",
        Probed::Down(Instruction::Undo) => "undo",
        Probed::Up(Answer::Ready { .. }) => "held",
        Probed::Up(Answer::NotReady(_)) => "stale",
        Probed::Up(Answer::Committed(_)) => "committed",
        Probed::Up(Answer::Expired) => "expired",
        Probed::Up(Answer::Undone) => "undone",
        Probed::Up(Answer::Inquire) => "inquire",
    }

    fn promises(&self) -> bool {
        matches!(self, Probed::Up(Answer::Ready { .. } | Answer::Committed(_)))
    }
}

/// Subscriptions of coordinators to a participant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Subscriptions {
    watches: Watches,
    subscription: Span,
}

/// Timers of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CandidateTimer {
    /// A lease has ended.
    Lease(AgreementId),
    /// A subscription has ended.
    Subscription(AgreementId),
}

impl From<AgreementId> for CandidateTimer {
    fn from(id: AgreementId) -> CandidateTimer {
        CandidateTimer::Lease(id)
    }
}

type PartOut<S> = holding::Out<Probing<S>>;

impl<S: Subject<Order = ()>> Leases for Probing<S> {
    type Beside = Subscriptions;
    type Timer = CandidateTimer;

    fn beside(rules: &ProbingRules, now: Time) -> Subscriptions {
        Subscriptions { watches: Watches::start(now), subscription: rules.subscription }
    }

    fn answer(answer: ToCoordinator<S>) -> Option<Said<Probed<S>>> {
        let ToCoordinator { id, answer } = answer;
        Some(Said { id, settled: 0, body: Probed::Up(answer) })
    }

    fn hear(
        holder: &mut Holder<Self>,
        now: Time,
        from: ActorId,
        message: Said<Probed<S>>,
        out: &mut PartOut<S>,
    ) {
        let Said { id, settled, body } = message;
        if from != id.coordinator {
            return;
        }
        for id in holder.beside.watches.before(from, settled) {
            unwatch(holder, id, out);
        }
        match body {
            Probed::Query(request) => {
                let timer = CandidateTimer::Subscription(id);
                out.push(Output::Set { timer, at: now + holder.beside.subscription });
                match holder.beside.watches.ask(id) {
                    Watch::New => out.push(Output::Tell(Duty::Watch { id, request })),
                    Watch::Asked => {}
                    Watch::Told(epoch, fits) => say(id, Probed::Status(epoch, fits), out),
                }
            }
            Probed::Drop => unwatch(holder, id, out),
            Probed::Down(instruction) => {
                // After a reservation or an abort the coordinator needs no reports: answers are enough.
                unwatch(holder, id, out);
                let message = ToParticipant { id, settled, instruction };
                holder.instruct(now, from, message, out);
            }
            Probed::Status(..) | Probed::Probe(..) | Probed::Up(_) => {}
        }
    }

    fn expire(holder: &mut Holder<Self>, now: Time, timer: CandidateTimer, out: &mut PartOut<S>) {
        match timer {
            CandidateTimer::Lease(id) => holder.lease_over(now, id, out),
            CandidateTimer::Subscription(id) => unwatch(holder, id, out),
        }
    }

    fn available(
        holder: &mut Holder<Self>,
        now: Time,
        id: AgreementId,
        fits: bool,
        out: &mut PartOut<S>,
    ) {
        if let Some((epoch, first)) = holder.beside.watches.news(now, id, fits) {
            let body = if first { Probed::Status } else { Probed::Probe };
            say(id, body(epoch, fits), out);
        }
    }
}

fn say<S: Subject<Order = ()>>(id: AgreementId, body: Probed<S>, out: &mut PartOut<S>) {
    out.push(Output::Send { to: id.coordinator, message: Said { id, settled: 0, body } });
}

fn unwatch<S: Subject<Order = ()>>(
    holder: &mut Holder<Probing<S>>,
    id: AgreementId,
    out: &mut PartOut<S>,
) {
    if holder.beside.watches.remove(id) {
        out.push(Output::Stop(CandidateTimer::Subscription(id)));
        out.push(Output::Tell(Duty::Unwatch { id }));
    }
}

/// Recorded state of a coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Stage<S: Subject> {
    /// It selects and reserves. Never persisted: after a crash the group was aborted.
    Selecting,
    /// It is decided that these commit.
    Committing(BTreeMap<ActorId, S::Terms>),
    /// A lease ended before the commit arrived: these participants give up their committed parts.
    Undoing(BTreeSet<ActorId>),
}

/// State of a candidate. Lost in a crash.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct Choice<S: Subject> {
    who: ActorId,
    request: S::Request,
    news: Option<(Epoch, bool)>,
    reply: Reply<S>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
enum Reply<S: Subject> {
    /// It was not requested to hold a part.
    Unasked,
    Awaited,
    Held(S::Terms),
    Refused(S::Counter),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct Selection<S: Subject> {
    candidates: Vec<Choice<S>>,
    needed: usize,
    /// Time at which the group fails; earlier once a part is held.
    decide_by: Time,
    /// Time of the first reservation: no lease began before.
    reserved: Option<Time>,
}

/// All groups for which one actor selects participants.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Selector<S: Subject> {
    rules: ProbingRules,
    stages: Ledger<Stage<S>>,
    selections: BTreeMap<u64, Selection<S>>,
    /// Participants that have not acknowledged a commit.
    committing: BTreeMap<u64, BTreeSet<ActorId>>,
}

type Out<S> = Outputs<Probing<S>, Selector<S>>;

impl<S: Subject> Choice<S> {
    fn is_bound(&self) -> bool {
        matches!(self.reply, Reply::Awaited | Reply::Held(_))
    }

    /// Returns whether it may still be selected.
    fn is_free(&self) -> bool {
        matches!(self.reply, Reply::Unasked)
    }

    fn fits(&self) -> bool {
        self.is_free() && self.news.is_some_and(|(_, fits)| fits)
    }
}

impl<S: Subject<Order = ()>> Selector<S> {
    fn unanswered(&self, number: u64) -> Vec<(ActorId, Probed<S>)> {
        match self.stages.open.get(&number) {
            Some(Stage::Selecting) => {
                let candidates = self.selections.get(&number).map(|it| &it.candidates);
                let body = |it: &Choice<S>| match it.reply {
                    Reply::Unasked if !it.fits() => Some(Probed::Query(it.request.clone())),
                    Reply::Awaited => Some(self.reserve(it)),
                    _ => None,
                };
                let candidates = candidates.into_iter().flatten();
                candidates.filter_map(|it| Some((it.who, body(it)?))).collect()
            }
            Some(Stage::Committing(_)) => {
                let waiting = self.committing.get(&number).into_iter().flatten();
                waiting.map(|&who| (who, Probed::Down(Instruction::Commit(())))).collect()
            }
            Some(Stage::Undoing(waiting)) => {
                waiting.iter().map(|&who| (who, Probed::Down(Instruction::Undo))).collect()
            }
            None => Vec::new(),
        }
    }

    fn reserve(&self, candidate: &Choice<S>) -> Probed<S> {
        let (request, lease) = (candidate.request.clone(), self.rules.lease);
        Probed::Down(Instruction::Prepare { request, lease, in_doubt: InDoubt::Release })
    }

    fn repeat(&self, now: Time, number: u64, out: &mut Out<S>) {
        let unanswered = self.unanswered(number);
        if let Some(retry) = self.rules.retry
            && self.stages.open.contains_key(&number)
        {
            let timer = CoordinatorTimer::Retry(number);
            out.push(Output::Set { timer, at: now + retry.max(Span::TICK) });
        }
        for (who, body) in unanswered {
            self.stages.send(who, number, body, out);
        }
    }

    /// Requests as many candidates with room as are still needed.
    fn select(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(selection) = self.selections.get_mut(&number) else { return };
        let bound = selection.candidates.iter().filter(|it| it.is_bound()).count();
        let free = selection.candidates.iter().filter(|it| it.is_free()).count();
        let fit = selection.candidates.iter().filter(|it| it.fits()).count();
        let missing = selection.needed.saturating_sub(bound);
        if missing > free {
            self.fail(number, out);
            return;
        }
        // While no part is held, there must be room for all.
        if missing == 0 || (bound == 0 && fit < missing) {
            return;
        }
        let mut asked = Vec::new();
        let fitting = selection.candidates.iter_mut().filter(|it| it.fits());
        for candidate in fitting.take(missing) {
            candidate.reply = Reply::Awaited;
            asked.push(candidate.clone());
        }
        if selection.reserved.is_none() {
            selection.reserved = Some(now);
            self.shorten(now, number, self.rules.lease, out);
        }
        for candidate in asked {
            self.stages.send(candidate.who, number, self.reserve(&candidate), out);
        }
    }

    /// Parts that are held for `lease` must be committed before it ends.
    fn shorten(&mut self, now: Time, number: u64, lease: Span, out: &mut Out<S>) {
        let Some(selection) = self.selections.get_mut(&number) else { return };
        let Some(reserved) = selection.reserved else { return };
        let last = reserved + lease - self.rules.margin;
        if last < selection.decide_by {
            selection.decide_by = last;
            let timer = CoordinatorTimer::Decide(number);
            out.push(Output::Set { timer, at: last.max(now) });
        }
    }

    fn commit_if_all_held(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(selection) = self.selections.get(&number) else { return };
        let held = |it: &Choice<S>| match &it.reply {
            Reply::Held(terms) => Some((it.who, terms.clone())),
            _ => None,
        };
        let terms: BTreeMap<_, _> = selection.candidates.iter().filter_map(held).collect();
        if terms.len() < selection.needed {
            return;
        }
        // A commit sent now could arrive when a lease has already ended.
        if now > selection.decide_by {
            self.fail(number, out);
            return;
        }
        let selection = self.selections.remove(&number);
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        self.committing.insert(number, terms.keys().copied().collect());
        self.stages.enter(number, Stage::Committing(terms), out);
        out.push(Output::Tell(Verdict::Decided { number }));
        for candidate in selection.into_iter().flat_map(|it| it.candidates) {
            if candidate.is_free() {
                self.stages.send(candidate.who, number, Probed::Drop, out);
            }
        }
        self.repeat(now, number, out);
    }

    /// Nothing is on record, so no acknowledgement is needed.
    fn fail(&mut self, number: u64, out: &mut Out<S>) {
        let Some(selection) = self.selections.remove(&number) else { return };
        let mut counters = BTreeMap::new();
        for Choice { who, reply, .. } in selection.candidates {
            let body = match reply {
                Reply::Unasked => Probed::Drop,
                Reply::Awaited | Reply::Held(_) => Probed::Down(Instruction::Abort),
                Reply::Refused(counter) => {
                    counters.insert(who, counter);
                    continue;
                }
            };
            self.stages.send(who, number, body, out);
        }
        self.stages.open.remove(&number);
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Stop(CoordinatorTimer::Retry(number)));
        out.push(Output::Tell(Verdict::Failed { number, counters }));
    }

    fn on_answer(
        &mut self,
        now: Time,
        number: u64,
        from: ActorId,
        answer: Answer<S>,
        out: &mut Out<S>,
    ) {
        match (self.stages.open.get_mut(&number), answer) {
            (None, Answer::Ready { .. }) => {
                self.stages.send(from, number, Probed::Down(Instruction::Abort), out);
            }
            (Some(Stage::Selecting), answer) => self.on_reply(now, number, from, answer, out),
            (Some(Stage::Committing(terms)), Answer::Committed(_)) => {
                let terms = terms.clone();
                let Some(waiting) = self.committing.get_mut(&number) else { return };
                waiting.remove(&from);
                if waiting.is_empty() {
                    out.push(Output::Tell(Verdict::Agreed { number, terms }));
                    self.forget(number, out);
                }
            }
            (Some(Stage::Committing(terms)), Answer::Expired) => {
                let others = terms.keys().copied().filter(|&who| who != from).collect();
                self.committing.remove(&number);
                self.stages.enter(number, Stage::Undoing(others), out);
                self.repeat(now, number, out);
                self.end_if_undone(number, out);
            }
            (Some(Stage::Undoing(waiting)), Answer::Undone | Answer::Expired) => {
                waiting.remove(&from);
                self.end_if_undone(number, out);
            }
            _ => {}
        }
    }

    fn on_reply(
        &mut self,
        now: Time,
        number: u64,
        from: ActorId,
        answer: Answer<S>,
        out: &mut Out<S>,
    ) {
        let candidates = self.selections.get_mut(&number).map(|it| &mut it.candidates);
        let mut candidates = candidates.into_iter().flatten();
        let Some(candidate) = candidates.find(|it| it.who == from) else { return };
        match (answer, &candidate.reply) {
            (Answer::Ready { terms, lease }, Reply::Awaited) => {
                candidate.reply = Reply::Held(terms);
                self.shorten(now, number, lease, out);
                self.commit_if_all_held(now, number, out);
            }
            (Answer::NotReady(counter), Reply::Awaited) => {
                candidate.reply = Reply::Refused(counter);
                self.select(now, number, out);
            }
            _ => {}
        }
    }

    fn end_if_undone(&mut self, number: u64, out: &mut Out<S>) {
        if let Some(Stage::Undoing(waiting)) = self.stages.open.get(&number)
            && waiting.is_empty()
        {
            out.push(Output::Tell(Verdict::Broken { number }));
            self.forget(number, out);
        }
    }

    fn forget(&mut self, number: u64, out: &mut Out<S>) {
        self.committing.remove(&number);
        out.push(Output::Stop(CoordinatorTimer::Retry(number)));
        self.stages.over(number, out);
    }
}

impl<S: Subject<Order = ()>> Machine<Probing<S>> for Selector<S> {
    type Record = Entry<Stage<S>>;
    type Timer = CoordinatorTimer;
    type News = Verdict<S>;

    fn start(
        me: ActorId,
        rules: &ProbingRules,
        records: Vec<Entry<Stage<S>>>,
        now: Time,
        out: &mut Out<S>,
    ) -> Self {
        let stages: Ledger<Stage<S>> = Ledger::start(me, records);
        let (selections, committing) = (BTreeMap::new(), BTreeMap::new());
        let mut selector = Selector { rules: *rules, stages, selections, committing };
        for (number, stage) in selector.stages.open.clone() {
            if let Stage::Committing(terms) = stage {
                selector.committing.insert(number, terms.into_keys().collect());
            }
            selector.repeat(now, number, out);
            selector.end_if_undone(number, out);
        }
        selector
    }

    fn on_message(&mut self, now: Time, from: ActorId, message: Said<Probed<S>>, out: &mut Out<S>) {
        let Some(number) = self.stages.mine(message.id) else { return };
        match message.body {
            Probed::Status(epoch, fits) | Probed::Probe(epoch, fits) => {
                let candidates = self.selections.get_mut(&number).map(|it| &mut it.candidates);
                let mut candidates = candidates.into_iter().flatten();
                let Some(candidate) = candidates.find(|it| it.who == from) else { return };
                if candidate.news.is_none_or(|(before, _)| before < epoch) {
                    candidate.news = Some((epoch, fits));
                    self.select(now, number, out);
                }
            }
            Probed::Up(answer) => self.on_answer(now, number, from, answer, out),
            Probed::Query(_) | Probed::Drop | Probed::Down(_) => {}
        }
    }

    fn on_timer(&mut self, now: Time, timer: CoordinatorTimer, out: &mut Out<S>) {
        match timer {
            CoordinatorTimer::Decide(number) => self.fail(number, out),
            CoordinatorTimer::Retry(number) => self.repeat(now, number, out),
        }
    }
}

impl<S: Subject<Order = ()>> Coordinates<S, Out<S>> for Selector<S> {
    /// The parts are candidates, in order of preference.
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut Out<S>) -> Option<u64> {
        let number = self.stages.number(out);
        let all = parts.len();
        let needed = self.rules.needed.map_or(all, |needed| (needed as usize).min(all));
        let (news, reply) = (None, Reply::Unasked);
        let choice = |(who, request)| Choice { who, request, news, reply: reply.clone() };
        let candidates = parts.into_iter().map(choice).collect();
        let decide_by = now + self.rules.patience;
        let selection = Selection { candidates, needed, decide_by, reserved: None };
        self.stages.open.insert(number, Stage::Selecting);
        self.selections.insert(number, selection);
        out.push(Output::Set { timer: CoordinatorTimer::Decide(number), at: decide_by });
        self.repeat(now, number, out);
        Some(number)
    }

    fn close(&mut self, _: Time, number: u64, out: &mut Out<S>) {
        self.fail(number, out);
    }

    fn open_numbers(&self) -> Vec<u64> {
        self.stages.numbers()
    }
}
