//! Locks with a queue: the participant of the order-based protocols. [`ordered`](crate::ordered) shows the
//! messages.
//!
//! ```text
//!              ┌────────┐  room     ┌──────┐  Release   ┌──────────┐
//!   Request ──▶│ queued │──────────▶│ Held │───────────▶│ Released │
//!              └────────┘           └──────┘            └──────────┘
//!                  ▲      Yield        │
//!                  └───────────────────┘
//! ```
//!
//! A request is *ready* if its sender holds all locks that come before in the common order. A grant to a
//! ready request is firm. Any other grant is tentative: its holder is asked to yield when a ready request
//! waits. Each grant has an epoch, so that messages about an earlier grant are known to be old. The queue
//! is lost in a crash: waiting coordinators repeat their requests.

use std::collections::BTreeSet;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::ledger::{Memory, Note};
use crate::protocol::{Body, Bound, Duty, Machine, Participates, Protocol, Said, kinds};
use crate::{AgreementId, Output, Subject};

/// Messages about a lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Locking<S: Subject> {
    /// Hold this, sooner or later.
    Request {
        /// The part to be held.
        request: S::Request,
        /// True if all locks before are held.
        ready: bool,
    },
    /// All locks before are held now.
    Upgrade {
        /// The request, which the participant may have forgotten.
        request: S::Request,
    },
    /// It is held.
    Grant {
        /// Number of the grant to this holder.
        epoch: u64,
        /// The terms.
        terms: S::Terms,
    },
    /// All locks before are held: the sender does not yield.
    Confirm {
        /// The grant.
        epoch: u64,
    },
    /// A ready request waits.
    YieldAsk {
        /// The grant.
        epoch: u64,
    },
    /// Take the lock back and queue the request again.
    Yield {
        /// The grant.
        epoch: u64,
    },
    /// The lock is no longer needed.
    Release {
        /// True if the participant must acknowledge that.
        acknowledge: bool,
    },
    /// Nothing is held for the coordinator, now or later.
    Released,
}

impl<S: Subject> Body for Locking<S> {
    kinds! {
        Locking::Request { .. } => "request",
        Locking::Upgrade { .. } => "upgrade",
        Locking::Grant { .. } => "grant",
        Locking::Confirm { .. } => "confirm",
        Locking::YieldAsk { .. } => "yield-ask",
        Locking::Yield { .. } => "yield",
        Locking::Release { .. } => "release",
        Locking::Released => "released",
    }

    fn promises(&self) -> bool {
        matches!(self, Locking::Grant { .. })
    }
}

/// State of a request for a lock at a participant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Lock<S: Subject> {
    /// It is held.
    Held {
        /// Number of the grant to this holder.
        epoch: u64,
        /// The request.
        request: S::Request,
        /// The terms.
        terms: S::Terms,
        /// True if the holder never yields. Confirmations are not persisted: a holder that is asked
        /// needlessly ignores that.
        firm: bool,
    },
    /// It was held and yielded.
    Yielded {
        /// The grant.
        epoch: u64,
    },
    /// It is no longer needed, or can never be held.
    Released,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct Waiter<S: Subject> {
    id: AgreementId,
    request: S::Request,
    ready: bool,
}

/// All locks of one actor.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Locks<S: Subject> {
    memory: Memory<Lock<S>>,
    /// Requests in order of arrival.
    queue: Vec<Waiter<S>>,
    /// The request that the owner considers.
    considered: Option<AgreementId>,
    /// Holders that were asked to yield.
    asked: BTreeSet<AgreementId>,
}

type Out<S> = Vec<Output<Said<Locking<S>>, Note<Lock<S>>, (), Duty<S>>>;

impl<S: Subject> Locks<S> {
    fn on_request(&mut self, id: AgreementId, request: S::Request, ready: bool, out: &mut Out<S>) {
        match self.memory.states.get_mut(&id) {
            Some(Lock::Held { epoch, terms, firm, .. }) => {
                *firm |= ready;
                let grant = Locking::Grant { epoch: *epoch, terms: terms.clone() };
                self.memory.answer(id, grant, out);
            }
            Some(Lock::Released) => self.memory.answer(id, Locking::Released, out),
            Some(Lock::Yielded { .. }) | None => {
                match self.queue.iter_mut().find(|it| it.id == id) {
                    // The repeated request shows that a holder may have missed its yield-ask.
                    Some(waiter) if waiter.ready => self.asked.clear(),
                    Some(waiter) => waiter.ready = ready,
                    None => self.queue.push(Waiter { id, request, ready }),
                }
                self.serve(out);
            }
        }
    }

    /// Makes the owner consider the next request: the first ready one, else the first.
    fn serve(&mut self, out: &mut Out<S>) {
        let next = self.queue.iter().find(|it| it.ready).or(self.queue.first());
        if let Some(Waiter { id, request, .. }) = next
            && self.considered.is_none()
        {
            self.considered = Some(*id);
            let (id, request, lease) = (*id, request.clone(), Span::FOREVER);
            out.push(Output::Tell(Duty::Consider { id, request, lease }));
        }
    }

    /// Asks all tentative holders to yield, once each.
    fn ask_to_yield(&mut self, out: &mut Out<S>) {
        for (&id, lock) in &self.memory.states {
            if let Lock::Held { epoch, firm: false, .. } = lock
                && self.asked.insert(id)
            {
                self.memory.answer(id, Locking::YieldAsk { epoch: *epoch }, out);
            }
        }
    }

    fn on_yield(&mut self, id: AgreementId, said: u64, out: &mut Out<S>) {
        let Some(Lock::Held { epoch, request, .. }) = self.memory.states.get(&id) else { return };
        // A yield of an earlier grant must not take the present one away.
        if *epoch == said {
            let request = request.clone();
            self.queue.push(Waiter { id, request, ready: false });
            self.asked.remove(&id);
            self.memory.enter(id, Lock::Yielded { epoch: said }, out);
            out.push(Output::Tell(Duty::GiveUp { id }));
        }
    }

    /// Removes a request from the queue; its owner may be considering it.
    fn dequeue(&mut self, id: AgreementId, out: &mut Out<S>) {
        self.queue.retain(|it| it.id != id);
        self.asked.remove(&id);
        if self.considered == Some(id) {
            self.considered = None;
            out.push(Output::Tell(Duty::GiveUp { id }));
        }
    }

    fn release(&mut self, id: AgreementId, out: &mut Out<S>) {
        self.dequeue(id, out);
        let before = self.memory.states.get(&id);
        let held = matches!(before, Some(Lock::Held { .. }));
        if before != Some(&Lock::Released) {
            self.memory.enter(id, Lock::Released, out);
        }
        if held {
            out.push(Output::Tell(Duty::GiveUp { id }));
        }
        self.serve(out);
    }

    /// Ended agreements are not held any longer.
    fn forget(&mut self, id: AgreementId, settled: u64, out: &mut Out<S>) -> bool {
        let (current, dropped) = self.memory.hear(id, settled, out);
        let old = |it: &AgreementId| it.coordinator == id.coordinator && it.number < settled;
        let waiting: Vec<_> = self.queue.iter().map(|it| it.id).filter(old).collect();
        let served = !dropped.is_empty() || !waiting.is_empty();
        for id in waiting {
            self.dequeue(id, out);
        }
        for (id, lock) in dropped {
            self.asked.remove(&id);
            if let Lock::Held { .. } = lock {
                out.push(Output::Tell(Duty::GiveUp { id }));
            }
        }
        if served {
            self.serve(out);
        }
        current
    }
}

impl<S, P> Machine<P> for Locks<S>
where
    S: Subject,
    P: Protocol<Subject = S, Message = Said<Locking<S>>>,
{
    type Record = Note<Lock<S>>;
    type Timer = ();
    type News = Duty<S>;

    fn start(
        _: ActorId,
        _: &P::Rules,
        records: Vec<Note<Lock<S>>>,
        _: Time,
        out: &mut Out<S>,
    ) -> Self {
        let memory: Memory<Lock<S>> = Memory::start(records);
        let held = |lock: &Lock<S>| matches!(lock, Lock::Held { .. });
        let given_up = memory.states.iter().filter(|(_, lock)| !held(lock));
        out.extend(given_up.map(|(&id, _)| Output::Tell(Duty::GiveUp { id })));
        Locks { memory, queue: Vec::new(), considered: None, asked: BTreeSet::new() }
    }

    fn on_message(&mut self, _: Time, from: ActorId, message: Said<Locking<S>>, out: &mut Out<S>) {
        let Said { id, settled, body } = message;
        if from != id.coordinator || !self.forget(id, settled, out) {
            return;
        }
        match body {
            Locking::Request { request, ready } => self.on_request(id, request, ready, out),
            Locking::Upgrade { request } => match self.memory.states.get_mut(&id) {
                // The grant is in transit.
                Some(Lock::Held { firm, .. }) => *firm = true,
                _ => self.on_request(id, request, true, out),
            },
            Locking::Confirm { epoch: said } => {
                if let Some(Lock::Held { epoch, firm, .. }) = self.memory.states.get_mut(&id) {
                    *firm |= *epoch == said;
                }
            }
            Locking::Yield { epoch } => self.on_yield(id, epoch, out),
            Locking::Release { acknowledge } => {
                self.release(id, out);
                if acknowledge {
                    self.memory.answer(id, Locking::Released, out);
                }
            }
            Locking::Grant { .. } | Locking::YieldAsk { .. } | Locking::Released => {}
        }
    }

    fn on_timer(&mut self, _: Time, (): (), _: &mut Out<S>) {}
}

impl<S: Subject> Participates<S, Out<S>> for Locks<S> {
    fn ready(&mut self, _: Time, id: AgreementId, terms: S::Terms, _: Span, out: &mut Out<S>) {
        if self.considered != Some(id) {
            return;
        }
        self.considered = None;
        let Some(place) = self.queue.iter().position(|it| it.id == id) else { return };
        let Waiter { request, ready, .. } = self.queue.remove(place);
        let epoch = match self.memory.states.get(&id) {
            Some(Lock::Yielded { epoch }) => epoch + 1,
            _ => 0,
        };
        let held = Lock::Held { epoch, request, terms: terms.clone(), firm: ready };
        self.memory.enter(id, held, out);
        self.memory.answer(id, Locking::Grant { epoch, terms }, out);
        self.serve(out);
    }

    fn not_ready(&mut self, _: Time, id: AgreementId, _: S::Counter, out: &mut Out<S>) {
        if self.considered != Some(id) {
            return;
        }
        self.considered = None;
        if self.queue.iter().any(|it| it.id == id && it.ready) {
            self.ask_to_yield(out);
        } else if self.queue.iter().any(|it| it.ready) {
            // Another request has become ready in the meantime.
            self.serve(out);
        }
    }

    fn never_ready(&mut self, _: Time, id: AgreementId, _: S::Counter, out: &mut Out<S>) {
        if self.considered != Some(id) {
            return;
        }
        self.considered = None;
        self.queue.retain(|it| it.id != id);
        self.memory.enter(id, Lock::Released, out);
        self.memory.answer(id, Locking::Released, out);
        self.serve(out);
    }

    fn room_changed(&mut self, _: Time, out: &mut Out<S>) {
        self.serve(out);
    }

    fn bound(&self) -> Vec<Bound<S>> {
        let bound = |(&id, lock): (&AgreementId, &Lock<S>)| match lock {
            Lock::Held { request, .. } => {
                Some(Bound { id, request: Some(request.clone()), started: false })
            }
            _ => None,
        };
        self.memory.states.iter().filter_map(bound).collect()
    }

    fn waits(&self) -> Vec<(AgreementId, AgreementId)> {
        // A tentative holder gives way.
        let firm = |lock: &Lock<S>| matches!(lock, Lock::Held { firm: true, .. });
        let holders = self.memory.states.iter().filter(|(_, lock)| firm(lock));
        let holders: Vec<AgreementId> = holders.map(|(&id, _)| id).collect();
        let waits = |waiter: &Waiter<S>| {
            let id = waiter.id;
            holders.iter().map(move |&holder| (id, holder)).collect::<Vec<_>>()
        };
        self.queue.iter().flat_map(waits).collect()
    }
}
