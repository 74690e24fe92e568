//! Locks in a common order, so that no circular wait is possible. Each lock is held until the work has
//! ended.
//!
//! One after the other: a request waits only for a lock that comes after all locks that its sender holds:
//!
//! ```text
//!   c            p1            p2
//!   ├─ Request ─▶│             │       2 n messages and n releases, after 2 n d
//!   │◀─── Grant ─┤             │
//!   ├─ Request ──┼────────────▶│
//!   │◀───────────┼──── Grant ──┤
//!   ● all held   │             │
//! ```
//!
//! All at once: a grant is tentative until all locks before it are held. A tentative holder yields to a
//! waiting request that is ready: its sender holds all locks before. Firm holders wait only upwards, and
//! tentative ones give way, so no circular wait is possible:
//!
//! ```text
//!   c            p1            p2
//!   ├─ Request ─▶│             │       alone: n requests, n grants, n confirmations and up
//!   ├─ Request ──┼────────────▶│       to n - 1 upgrades, after 2 d
//!   │◀───────────┼──── Grant ──┤       tentative
//!   │◀───────────┼ Yield-ask ──┤       another request is ready
//!   ├─ Yield ────┼────────────▶│
//!   │◀─── Grant ─┤             │
//!   ├─ Confirm ─▶│             │       firm
//!   ├─ Upgrade ──┼────────────▶│       now this one is ready
//!   │◀───────────┼──── Grant ──┤
//!   ├─ Confirm ──┼────────────▶│
//!   ● all firm   │             │
//! ```
//!
//! The coordinator records the participants that it may have asked, and that all locks are held. After a
//! crash it gives back the locks of unfinished groups and keeps the others.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::ledger::{Entry, Ledger};
use crate::locking::{Locking, Locks};
use crate::protocol::{
    Coordinates, Machine, Nobody, Outcome, Outputs, Parts, Protocol, Said, Times, Traits, Verdict,
};
use crate::{CoordinatorTimer, Output, Subject};

/// Locks about `S`, in an order.
#[derive(Clone, Copy, Debug)]
pub struct Ordered<S>(PhantomData<S>);

/// Order in which locks are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LockOrder {
    /// One after the other in the order of the owner: circular waits are possible.
    Given,
    /// One after the other by participant.
    Ascending,
    /// All at once, by participant.
    Parallel,
}

/// Rules by which a coordinator requests locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OrderedRules {
    /// Order of the requests.
    pub order: LockOrder,
    /// Time after which it gives up; `None` = never.
    pub patience: Option<Span>,
    /// Time between repetitions of unanswered messages; `None` = no message is ever lost, and releases are
    /// not acknowledged.
    pub retry: Option<Span>,
}

impl Times for OrderedRules {
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

impl<S: Subject> Protocol for Ordered<S> {
    const TRAITS: Traits =
        Traits { waits: true, closes: true, ..Traits::now("ordered", Outcome::Atomic) };
    type Subject = S;
    type Rules = OrderedRules;
    type Message = Said<Locking<S>>;
    type Coordinator = Claims<S>;
    type Participant = Locks<S>;
    type Witness = Nobody;
}

/// Recorded state of a group of locks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Stage<S: Subject> {
    /// These participants may have been asked.
    Begun(Vec<ActorId>),
    /// All are held.
    Agreed(BTreeMap<ActorId, S::Terms>),
    /// These participants have not acknowledged the release.
    Releasing(Vec<ActorId>),
}

/// Progress of one lock. Lost in a crash.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct Claim<S: Subject> {
    request: S::Request,
    state: ClaimState<S>,
    /// Epoch of the next grant; earlier grants were yielded.
    next_epoch: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
enum ClaimState<S: Subject> {
    Idle,
    Asked { ready: bool },
    Granted { epoch: u64, terms: S::Terms, firm: bool },
}

/// All groups of locks that one actor requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Claims<S: Subject> {
    rules: OrderedRules,
    stages: Ledger<Stage<S>>,
    /// Locks of begun groups, in the order of the requests.
    claims: BTreeMap<u64, Vec<(ActorId, Claim<S>)>>,
}

type Out<S> = Outputs<Ordered<S>, Claims<S>>;

impl<S: Subject> Claims<S> {
    /// Takes the steps that the held locks allow: confirms them, requests the next one, or finishes.
    fn advance(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(claims) = self.claims.get_mut(&number) else { return };
        let parallel = self.rules.order == LockOrder::Parallel;
        for (who, claim) in claims.iter_mut() {
            let body = match &mut claim.state {
                ClaimState::Granted { firm: true, .. } => continue,
                ClaimState::Granted { epoch, firm, .. } => {
                    *firm = true;
                    if parallel {
                        let confirm = Locking::Confirm { epoch: *epoch };
                        self.stages.send(*who, number, confirm, out);
                    }
                    continue;
                }
                ClaimState::Asked { ready: true } => return,
                ClaimState::Asked { .. } => Locking::Upgrade { request: claim.request.clone() },
                ClaimState::Idle => {
                    Locking::Request { request: claim.request.clone(), ready: true }
                }
            };
            claim.state = ClaimState::Asked { ready: true };
            self.stages.send(*who, number, body, out);
            self.wake_later(now, number, out);
            return;
        }
        let granted = |(who, claim): &(ActorId, Claim<S>)| match &claim.state {
            ClaimState::Granted { terms, .. } => Some((*who, terms.clone())),
            _ => None,
        };
        let terms: BTreeMap<_, _> = claims.iter().filter_map(granted).collect();
        self.claims.remove(&number);
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Stop(CoordinatorTimer::Retry(number)));
        self.stages.enter(number, Stage::Agreed(terms.clone()), out);
        out.push(Output::Tell(Verdict::Agreed { number, terms }));
    }

    fn wake_later(&self, now: Time, number: u64, out: &mut Out<S>) {
        if let Some(retry) = self.rules.retry {
            let timer = CoordinatorTimer::Retry(number);
            out.push(Output::Set { timer, at: now + retry.max(Span::TICK) });
        }
    }

    /// Repeats the unanswered messages.
    fn repeat(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        self.wake_later(now, number, out);
        for (who, claim) in self.claims.get(&number).into_iter().flatten() {
            if let ClaimState::Asked { ready } = claim.state {
                let body = Locking::Request { request: claim.request.clone(), ready };
                self.stages.send(*who, number, body, out);
            }
        }
        if let Some(Stage::Releasing(waiting)) = self.stages.open.get(&number) {
            for &who in waiting {
                let acknowledge = self.rules.retry.is_some();
                self.stages.send(who, number, Locking::Release { acknowledge }, out);
            }
        }
    }

    /// Gives back all locks that these participants may hold.
    fn release(&mut self, now: Time, number: u64, whom: Vec<ActorId>, out: &mut Out<S>) {
        self.claims.remove(&number);
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Stop(CoordinatorTimer::Retry(number)));
        self.stages.enter(number, Stage::Releasing(whom), out);
        self.repeat(now, number, out);
        if self.rules.retry.is_none() {
            self.stages.over(number, out);
        }
    }

    fn fail(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(claims) = self.claims.get(&number) else { return };
        let idle = |claim: &Claim<S>| matches!(claim.state, ClaimState::Idle);
        let asked = claims.iter().filter(|(_, claim)| !idle(claim)).map(|it| it.0).collect();
        self.release(now, number, asked, out);
        out.push(Output::Tell(Verdict::Failed { number, counters: BTreeMap::new() }));
    }

    fn on_grant(
        &mut self,
        now: Time,
        number: u64,
        from: ActorId,
        epoch: u64,
        terms: S::Terms,
        out: &mut Out<S>,
    ) {
        let claims = self.claims.get_mut(&number);
        let Some((_, claim)) = claims.and_then(|it| it.iter_mut().find(|it| it.0 == from)) else {
            return;
        };
        if epoch < claim.next_epoch {
            // It was yielded, and the participant does not know that yet.
            self.stages.send(from, number, Locking::Yield { epoch }, out);
        } else if let ClaimState::Asked { .. } = claim.state {
            claim.state = ClaimState::Granted { epoch, terms, firm: false };
            self.advance(now, number, out);
        }
    }

    /// A lock is free again. A participant that refuses the lock for ever makes the group fail.
    fn on_released(&mut self, now: Time, number: u64, from: ActorId, out: &mut Out<S>) {
        match self.stages.open.get_mut(&number) {
            Some(Stage::Begun(_)) => self.fail(now, number, out),
            Some(Stage::Releasing(waiting)) => {
                waiting.retain(|&who| who != from);
                if waiting.is_empty() {
                    out.push(Output::Stop(CoordinatorTimer::Retry(number)));
                    self.stages.over(number, out);
                }
            }
            Some(Stage::Agreed(_)) | None => {}
        }
    }

    fn on_yield_ask(&mut self, number: u64, from: ActorId, asked: u64, out: &mut Out<S>) {
        let claims = self.claims.get_mut(&number);
        let Some((_, claim)) = claims.and_then(|it| it.iter_mut().find(|it| it.0 == from)) else {
            return;
        };
        let yields = match claim.state {
            ClaimState::Granted { epoch, firm, .. } => epoch != asked || !firm,
            // The grant is in transit, and will be firm.
            ClaimState::Asked { ready } => !ready || asked < claim.next_epoch,
            ClaimState::Idle => false,
        };
        if !yields {
            return;
        }
        if asked >= claim.next_epoch {
            claim.next_epoch = asked + 1;
            claim.state = ClaimState::Asked { ready: false };
        }
        self.stages.send(from, number, Locking::Yield { epoch: asked }, out);
    }
}

impl<S: Subject> Machine<Ordered<S>> for Claims<S> {
    type Record = Entry<Stage<S>>;
    type Timer = CoordinatorTimer;
    type News = Verdict<S>;

    fn start(
        me: ActorId,
        rules: &OrderedRules,
        records: Vec<Entry<Stage<S>>>,
        now: Time,
        out: &mut Out<S>,
    ) -> Self {
        let stages: Ledger<Stage<S>> = Ledger::start(me, records);
        let mut claims = Claims { rules: *rules, stages, claims: BTreeMap::new() };
        for (number, stage) in claims.stages.open.clone() {
            match stage {
                Stage::Begun(asked) => claims.release(now, number, asked, out),
                Stage::Releasing(_) => claims.repeat(now, number, out),
                Stage::Agreed(terms) => out.push(Output::Tell(Verdict::Agreed { number, terms })),
            }
        }
        claims
    }

    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: Said<Locking<S>>,
        out: &mut Out<S>,
    ) {
        let Some(number) = self.stages.mine(message.id) else { return };
        match message.body {
            Locking::Grant { epoch, terms } => {
                self.on_grant(now, number, from, epoch, terms, out);
            }
            Locking::YieldAsk { epoch } => self.on_yield_ask(number, from, epoch, out),
            Locking::Released => self.on_released(now, number, from, out),
            _ => {}
        }
    }

    fn on_timer(&mut self, now: Time, timer: CoordinatorTimer, out: &mut Out<S>) {
        match timer {
            CoordinatorTimer::Decide(number) => self.fail(now, number, out),
            CoordinatorTimer::Retry(number) => self.repeat(now, number, out),
        }
    }
}

impl<S: Subject> Coordinates<S, Out<S>> for Claims<S> {
    fn open(&mut self, now: Time, mut parts: Parts<S>, out: &mut Out<S>) -> Option<u64> {
        let number = self.stages.number(out);
        if self.rules.order != LockOrder::Given {
            parts.sort_by_key(|it| it.0);
        }
        self.stages.enter(number, Stage::Begun(parts.iter().map(|it| it.0).collect()), out);
        if let Some(patience) = self.rules.patience {
            let (timer, at) = (CoordinatorTimer::Decide(number), now + patience);
            out.push(Output::Set { timer, at });
        }
        let state = ClaimState::Idle;
        let claim = |request| Claim { request, state: state.clone(), next_epoch: 0 };
        let claims = parts.into_iter().map(|(who, request)| (who, claim(request))).collect();
        self.claims.insert(number, claims);
        // The first lock is ready at once.
        self.advance(now, number, out);
        if self.rules.order == LockOrder::Parallel
            && let Some(claims) = self.claims.get_mut(&number)
        {
            for (who, claim) in claims.iter_mut().skip(1) {
                claim.state = ClaimState::Asked { ready: false };
                let body = Locking::Request { request: claim.request.clone(), ready: false };
                self.stages.send(*who, number, body, out);
            }
        }
        Some(number)
    }

    fn close(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        match self.stages.open.get(&number) {
            Some(Stage::Begun(_)) => self.fail(now, number, out),
            Some(Stage::Agreed(terms)) => {
                let holders = terms.keys().copied().collect();
                self.release(now, number, holders, out);
            }
            Some(Stage::Releasing(_)) | None => {}
        }
    }

    fn open_numbers(&self) -> Vec<u64> {
        self.stages.numbers()
    }
}
