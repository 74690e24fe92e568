//! The machine that requests votes and decides.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::ledger::{Entry, Ledger};
use crate::protocol::{Machine, Setting, Times, messages};
use crate::{Answer, InDoubt, Instruction, Output, Subject, ToCoordinator, ToParticipant};

/// Rules of an agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rules {
    /// Requested time of a hold.
    pub lease: Span,
    /// Time in which a commit reaches every participant, retries and restarts included. With
    /// [`InDoubt::Release`] no participant is left out as long as that holds.
    pub margin: Span,
    /// Behaviour of participants when the lease has ended.
    pub in_doubt: InDoubt,
    /// Time between repetitions of unanswered messages; `None` = no message is ever lost.
    pub retry: Option<Span>,
    /// True if all votes are awaited when one participant is not ready, to get their counter proposals.
    pub hears_all: bool,
}

impl Times for Rules {
    fn retry(&self) -> Option<Span> {
        self.retry
    }

    fn may_block(&self) -> bool {
        self.in_doubt != InDoubt::Release
    }

    fn lead(&self, latency_max: Span, _: usize) -> Span {
        // Request, answer, decision.
        messages(latency_max, 3)
    }
}

/// State of an agreement; ended agreements are forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum CoordinatorState<S: Subject> {
    /// Votes are awaited. Never persisted: after a crash it was aborted.
    Voting {
        /// Its rules.
        rules: Rules,
        /// Time of the first prepare: no lease began before.
        opened: Time,
        /// The last instant at which a commit is in time for all participants.
        decide_by: Time,
        /// Participants and the requests to them.
        requests: BTreeMap<ActorId, S::Request>,
        /// Their votes so far.
        votes: BTreeMap<ActorId, Vote<S>>,
    },
    /// It is decided that all commit.
    Committing {
        /// Time between repetitions.
        retry: Option<Span>,
        /// Participants that have not acknowledged it, with their orders.
        orders: BTreeMap<ActorId, S::Order>,
        /// Participants that have, with the terms of parts that they no longer held.
        receipts: BTreeMap<ActorId, Option<S::Terms>>,
    },
    /// A lease ended before the commit arrived: the others give up their committed parts.
    Undoing {
        /// Time between repetitions.
        retry: Option<Span>,
        /// Participants that have not acknowledged it.
        waiting: BTreeSet<ActorId>,
        /// Participants whose leases ended.
        expired: BTreeSet<ActorId>,
    },
}

/// Vote of a participant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Vote<S: Subject> {
    /// It holds the requested part.
    Ready(S::Terms),
    /// It does not.
    NotReady(S::Counter),
}

/// Durable state of a coordinator.
pub type CoordinatorRecord<S> = Entry<CoordinatorState<S>>;

/// Timers of a coordinator, each for one agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CoordinatorTimer {
    /// The last time for a commit has come.
    Decide(u64),
    /// Unanswered messages are repeated.
    Retry(u64),
}

/// News for the actor that owns a coordinator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress<S: Subject> {
    /// All hold their parts: it is time for [`Coordinator::commit`] or [`Coordinator::abort`].
    AllReady {
        /// The agreement.
        number: u64,
        /// Terms of the holds.
        terms: BTreeMap<ActorId, S::Terms>,
    },
    /// No participant commits.
    Aborted {
        /// The agreement.
        number: u64,
        /// Votes that arrived in time.
        votes: BTreeMap<ActorId, Vote<S>>,
    },
    /// All participants have committed.
    Committed {
        /// The agreement.
        number: u64,
        /// Terms of participants that took their parts although they no longer held them.
        receipts: BTreeMap<ActorId, Option<S::Terms>>,
    },
    /// It was decided to commit, but some participants no longer could; the others have undone their parts.
    Broken {
        /// The agreement.
        number: u64,
        /// Participants that could not.
        expired: BTreeSet<ActorId>,
    },
}

impl<S: Subject> Progress<S> {
    /// The agreement.
    pub fn number(&self) -> u64 {
        match self {
            Progress::AllReady { number, .. }
            | Progress::Aborted { number, .. }
            | Progress::Committed { number, .. }
            | Progress::Broken { number, .. } => *number,
        }
    }
}

/// Outputs of a coordinator.
pub type CoordinatorOutput<S> =
    Output<ToParticipant<S>, CoordinatorRecord<S>, CoordinatorTimer, Progress<S>>;

type Outputs<S> = Vec<CoordinatorOutput<S>>;

/// All agreements that one actor coordinates, see [the page on agreements](super).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Coordinator<S: Subject>(Ledger<CoordinatorState<S>>);

impl<S: Subject> CoordinatorState<S> {
    /// Returns whether an answer of this participant matters.
    fn asks(&self, participant: ActorId) -> bool {
        match self {
            CoordinatorState::Voting { requests, .. } => requests.contains_key(&participant),
            CoordinatorState::Committing { orders, .. } => orders.contains_key(&participant),
            CoordinatorState::Undoing { waiting, .. } => waiting.contains(&participant),
        }
    }

    /// Instructions to the participants that have not answered.
    fn unanswered(&self) -> Vec<(ActorId, Instruction<S>)> {
        match self {
            CoordinatorState::Voting { rules, requests, votes, .. } => {
                let silent = requests.iter().filter(|(who, _)| !votes.contains_key(who));
                let &Rules { lease, in_doubt, .. } = rules;
                let prepare = |request: &S::Request| Instruction::Prepare {
                    request: request.clone(),
                    lease,
                    in_doubt,
                };
                silent.map(|(&who, request)| (who, prepare(request))).collect()
            }
            CoordinatorState::Committing { orders, .. } => {
                let commit = |order: &S::Order| Instruction::Commit(order.clone());
                orders.iter().map(|(&who, order)| (who, commit(order))).collect()
            }
            CoordinatorState::Undoing { waiting, .. } => {
                waiting.iter().map(|&who| (who, Instruction::Undo)).collect()
            }
        }
    }

    fn retry(&self) -> Option<Span> {
        match self {
            CoordinatorState::Voting { rules, .. } => rules.retry,
            CoordinatorState::Committing { retry, .. }
            | CoordinatorState::Undoing { retry, .. } => *retry,
        }
    }
}

impl<S: Subject> Coordinator<S> {
    /// Returns whether it has opened an agreement under this number and waits for no participant in it any
    /// more.
    pub fn is_settled(&self, number: u64) -> bool {
        self.0.is_settled(number)
    }

    /// Uses no number below this one any more. An owner that passes the time before it opens an agreement
    /// discloses the times of its agreements, not their number.
    pub fn skip_to(&mut self, number: u64) {
        self.0.skip_to(number);
    }

    /// The agreements that have not ended, by their numbers.
    pub fn states(&self) -> impl Iterator<Item = (u64, &CoordinatorState<S>)> {
        self.0.open.iter().map(|(&number, state)| (number, state))
    }

    /// Requests all participants to hold their parts. Returns the agreement's number.
    pub fn open(
        &mut self,
        now: Time,
        requests: BTreeMap<ActorId, S::Request>,
        rules: Rules,
        out: &mut Outputs<S>,
    ) -> u64 {
        let number = self.0.number(out);
        let decide_by = now + rules.lease - rules.margin;
        let votes = BTreeMap::new();
        let state = CoordinatorState::Voting { rules, opened: now, decide_by, requests, votes };
        self.0.open.insert(number, state);
        out.push(Output::Set { timer: CoordinatorTimer::Decide(number), at: decide_by.max(now) });
        self.repeat(now, number, out);
        number
    }

    /// Requests one participant to carry out a part that it was never requested to hold. Returns the
    /// agreement's number.
    pub fn commit_unprepared(
        &mut self,
        now: Time,
        participant: ActorId,
        order: S::Order,
        retry: Option<Span>,
        out: &mut Outputs<S>,
    ) -> u64 {
        let number = self.0.number(out);
        let orders = BTreeMap::from([(participant, order)]);
        let receipts = BTreeMap::new();
        self.enter(now, number, CoordinatorState::Committing { retry, orders, receipts }, out);
        number
    }

    /// Decides to commit if all are ready and in time, otherwise to abort. Returns whether all commit.
    pub fn commit(
        &mut self,
        now: Time,
        number: u64,
        mut order: impl FnMut(ActorId, &S::Terms) -> S::Order,
        out: &mut Outputs<S>,
    ) -> bool {
        let Some(CoordinatorState::Voting { rules, decide_by, requests, votes, .. }) =
            self.0.open.get(&number)
        else {
            return false;
        };
        let orders: BTreeMap<_, _> =
            ready(votes).map(|(who, terms)| (who, order(who, terms))).collect();
        // After `decide_by` a commit could arrive when a lease has already ended.
        if orders.len() < requests.len() || now > *decide_by {
            self.abort(number, out);
            return false;
        }
        let retry = rules.retry;
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        let receipts = BTreeMap::new();
        self.enter(now, number, CoordinatorState::Committing { retry, orders, receipts }, out);
        true
    }

    /// Aborts an undecided agreement. That needs no record and no acknowledgement: to later inquiries the
    /// agreement is unknown.
    pub fn abort(&mut self, number: u64, out: &mut Outputs<S>) {
        let Some(CoordinatorState::Voting { requests, votes, .. }) = self.0.open.get_mut(&number)
        else {
            return;
        };
        let (requests, votes) = (std::mem::take(requests), std::mem::take(votes));
        self.0.open.remove(&number);
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Stop(CoordinatorTimer::Retry(number)));
        for &who in requests.keys() {
            if !matches!(votes.get(&who), Some(Vote::NotReady(_))) {
                self.send(who, number, Instruction::Abort, out);
            }
        }
        out.push(Output::Tell(Progress::Aborted { number, votes }));
    }

    /// Moves the last time for a commit forward: a participant may hold for less time than requested.
    fn shorten(&mut self, now: Time, number: u64, lease: Span, out: &mut Outputs<S>) {
        if let Some(CoordinatorState::Voting { rules, opened, decide_by, .. }) =
            self.0.open.get_mut(&number)
            && *opened + lease - rules.margin < *decide_by
        {
            *decide_by = *opened + lease - rules.margin;
            let at = now.max(*decide_by);
            out.push(Output::Set { timer: CoordinatorTimer::Decide(number), at });
        }
    }

    fn vote(&mut self, now: Time, number: u64, from: ActorId, vote: Vote<S>, out: &mut Outputs<S>) {
        let Some(CoordinatorState::Voting { rules, decide_by, requests, votes, .. }) =
            self.0.open.get_mut(&number)
        else {
            return;
        };
        if votes.contains_key(&from) {
            return;
        }
        votes.insert(from, vote);
        let refused = ready(votes).count() < votes.len();
        let complete = votes.len() == requests.len();
        if now > *decide_by || (refused && (complete || !rules.hears_all)) {
            self.abort(number, out);
        } else if complete {
            let terms = ready(votes).map(|(who, terms)| (who, terms.clone())).collect();
            out.push(Output::Tell(Progress::AllReady { number, terms }));
        }
    }

    /// Enters a decided state: it is durable before another actor is notified of it.
    fn enter(&mut self, now: Time, number: u64, state: CoordinatorState<S>, out: &mut Outputs<S>) {
        self.0.enter(number, state, out);
        self.repeat(now, number, out);
    }

    fn end_if_undone(&mut self, number: u64, out: &mut Outputs<S>) {
        if let Some(CoordinatorState::Undoing { waiting, expired, .. }) =
            self.0.open.get_mut(&number)
            && waiting.is_empty()
        {
            let expired = std::mem::take(expired);
            self.end(number, Progress::Broken { number, expired }, out);
        }
    }

    /// All have acknowledged the decision.
    fn end(&mut self, number: u64, how: Progress<S>, out: &mut Outputs<S>) {
        // After a crash between these outputs the owner is notified again, so no news is lost.
        out.push(Output::Tell(how));
        self.0.over(number, out);
        out.push(Output::Stop(CoordinatorTimer::Retry(number)));
    }

    /// Sends all unanswered instructions, now and again later.
    fn repeat(&self, now: Time, number: u64, out: &mut Outputs<S>) {
        let Some(state) = self.0.open.get(&number) else { return };
        let unanswered = state.unanswered();
        if let Some(retry) = state.retry()
            && !unanswered.is_empty()
        {
            let at = now + retry.max(Span::TICK);
            out.push(Output::Set { timer: CoordinatorTimer::Retry(number), at });
        }
        for (who, instruction) in unanswered {
            self.send(who, number, instruction, out);
        }
    }

    fn send(&self, to: ActorId, number: u64, instruction: Instruction<S>, out: &mut Outputs<S>) {
        let (id, settled) = self.0.heading(number);
        let message = ToParticipant { id, settled, instruction };
        out.push(Output::Send { to, message });
    }
}

/// A coordinator whose owner decides.
impl<S: Subject> Setting for Coordinator<S> {
    type Rules = ();
    type Received = ToCoordinator<S>;
    type Sent = ToParticipant<S>;
}

impl<S: Subject> Machine<Self> for Coordinator<S> {
    type Record = CoordinatorRecord<S>;
    type Timer = CoordinatorTimer;
    type News = Progress<S>;

    /// It continues the decided agreements, and has aborted all others.
    fn start(
        me: ActorId,
        (): &(),
        records: Vec<CoordinatorRecord<S>>,
        now: Time,
        out: &mut Outputs<S>,
    ) -> Self {
        let mut coordinator = Coordinator(Ledger::start(me, records));
        for number in coordinator.0.numbers() {
            coordinator.repeat(now, number, out);
            // The crash may have come between the last undone part and the end of the agreement.
            coordinator.end_if_undone(number, out);
        }
        coordinator
    }

    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: ToCoordinator<S>,
        out: &mut Outputs<S>,
    ) {
        let ToCoordinator { id, answer } = message;
        let Some(number) = self.0.mine(id) else { return };
        let state = self.0.open.get_mut(&number).filter(|state| state.asks(from));
        match (state, answer) {
            // An unknown agreement was aborted. A participant that has committed ignores the abort.
            (None, Answer::Ready { .. } | Answer::Inquire) => {
                self.send(from, number, Instruction::Abort, out);
            }
            (Some(CoordinatorState::Voting { .. }), Answer::Ready { terms, lease }) => {
                self.shorten(now, number, lease, out);
                self.vote(now, number, from, Vote::Ready(terms), out);
            }
            (Some(CoordinatorState::Voting { .. }), Answer::NotReady(counter)) => {
                self.vote(now, number, from, Vote::NotReady(counter), out);
            }
            (
                Some(CoordinatorState::Committing { orders, .. }),
                Answer::Ready { .. } | Answer::Inquire,
            ) => {
                let commit = Instruction::Commit(orders[&from].clone());
                self.send(from, number, commit, out);
            }
            (
                Some(CoordinatorState::Committing { orders, receipts, .. }),
                Answer::Committed(receipt),
            ) => {
                orders.remove(&from);
                receipts.insert(from, receipt);
                if orders.is_empty() {
                    let receipts = std::mem::take(receipts);
                    self.end(number, Progress::Committed { number, receipts }, out);
                }
            }
            (Some(CoordinatorState::Committing { retry, orders, receipts }), Answer::Expired) => {
                let all = orders.keys().chain(receipts.keys()).copied();
                let waiting: BTreeSet<_> = all.filter(|&who| who != from).collect();
                let (retry, expired) = (*retry, BTreeSet::from([from]));
                self.enter(now, number, CoordinatorState::Undoing { retry, waiting, expired }, out);
                self.end_if_undone(number, out);
            }
            (Some(CoordinatorState::Undoing { .. }), Answer::Ready { .. } | Answer::Inquire) => {
                self.send(from, number, Instruction::Undo, out);
            }
            (
                Some(CoordinatorState::Undoing { waiting, expired, .. }),
                answer @ (Answer::Undone | Answer::Expired),
            ) => {
                waiting.remove(&from);
                if answer == Answer::Expired {
                    expired.insert(from);
                }
                self.end_if_undone(number, out);
            }
            // Repeated or overtaken.
            _ => {}
        }
    }

    fn on_timer(&mut self, now: Time, timer: CoordinatorTimer, out: &mut Outputs<S>) {
        match timer {
            CoordinatorTimer::Decide(number) => self.abort(number, out),
            CoordinatorTimer::Retry(number) => self.repeat(now, number, out),
        }
    }
}

/// The ready participants, with their terms.
fn ready<S: Subject>(
    votes: &BTreeMap<ActorId, Vote<S>>,
) -> impl Iterator<Item = (ActorId, &S::Terms)> {
    votes.iter().filter_map(|(&who, vote)| match vote {
        Vote::Ready(terms) => Some((who, terms)),
        Vote::NotReady(_) => None,
    })
}
