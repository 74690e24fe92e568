//! Acceptors of Paxos commit: they store votes and decisions for metaschedulers that may crash
//! (Gray and Lamport 2006).

use std::collections::{BTreeMap, VecDeque};

use haggle_model::{ActorId, AgreementEvent, AgreementId, JobId, Observation, Time};
use serde::{Deserialize, Serialize};

use crate::glimpse::{Glimpse, Promise, PromiseKind};
use crate::protocol::{Message, RunMessage, Timer, TransactionMessage};
use crate::transaction::{Act, Acts, Seated, Transaction, Witnesses};
use crate::{Actor, Outbox};

/// Number of agreements whose jobs are kept. Decided agreements soon receive no more messages.
const JOBS_KEPT: usize = 4096;

/// Stores votes and decisions for the coordinators of one protocol.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Acceptor {
    seat: Seated<dyn Witnesses>,
    jobs: Jobs,
    started: bool,
}

/// The jobs of the agreements that began last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Jobs {
    of: BTreeMap<AgreementId, JobId>,
    /// The agreements, in the order of their first messages. The order of their names is another one:
    /// it begins with all agreements of one coordinator.
    began: VecDeque<AgreementId>,
}

impl Jobs {
    fn keep(&mut self, id: AgreementId, job: JobId) {
        if self.of.insert(id, job).is_none() {
            self.began.push_back(id);
        }
        while self.began.len() > JOBS_KEPT {
            let oldest = self.began.pop_front();
            oldest.and_then(|id| self.of.remove(&id));
        }
    }

    fn get(&self, id: AgreementId) -> Option<JobId> {
        self.of.get(&id).copied()
    }
}

impl Acceptor {
    /// An acceptor that has received no vote.
    pub fn new(me: ActorId, transaction: &Transaction) -> Acceptor {
        Acceptor { seat: transaction.witness(me), jobs: Jobs::default(), started: false }
    }

    fn carry_out(&self, acts: Acts<()>, out: &mut Outbox) {
        for act in acts {
            let Act::Send { to, message } = act else { continue };
            let id = message.id();
            let job = self.jobs.get(id).unwrap_or_default();
            let event = AgreementEvent::Sent(message.kind());
            out.observe(Observation::Agreement { id, job, event });
            out.send(to, TransactionMessage::Said { job, message: Box::new(message) });
        }
    }
}

impl Acceptor {
    /// Agreements about which it has received messages.
    pub(crate) fn glimpse(&self) -> Glimpse {
        let promise = |(&id, &job): (&AgreementId, &JobId)| Promise {
            job: Some(job),
            with: Some(id.coordinator),
            agreement: Some(id),
            ..Promise::new(PromiseKind::Vote, None)
        };
        let promises = self.jobs.of.iter().map(promise).collect();
        Glimpse { promises, ..Glimpse::default() }
    }
}

impl Actor for Acceptor {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        let mut acts = Acts::new();
        if !std::mem::replace(&mut self.started, true) {
            self.seat.start(now, &mut acts);
        }
        let expected = match message {
            Message::Transaction(TransactionMessage::Said { job, message }) => {
                // Before the answers are carried out, which name the job.
                self.jobs.keep(message.id(), job);
                self.seat.hear(now, from, *message, &mut acts)
            }
            Message::Wake(Timer::AgreementDue) => {
                while self.seat.wake(now, &mut acts) {}
                true
            }
            Message::Run(RunMessage::Crashed) => {
                self.seat.crash();
                // A crashed acceptor sends nothing, and its timer is set again at its restart.
                return;
            }
            Message::Run(RunMessage::Restarted) => {
                self.seat.start(now, &mut acts);
                true
            }
            Message::Run(RunMessage::RunOver) => return,
            _ => false,
        };
        self.carry_out(acts, out);
        if !expected {
            out.refuse(from);
        }
        match self.seat.next_wake() {
            Some(at) => out.set(at.max(now), Timer::AgreementDue),
            None => out.stop(Timer::AgreementDue),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_agreement_is_forgotten_first() {
        let of = |coordinator, number| AgreementId { coordinator: ActorId(coordinator), number };
        let mut jobs = Jobs::default();
        let kept = JOBS_KEPT as u64;
        (0..kept).for_each(|number| jobs.keep(of(9, number), JobId(1)));
        jobs.keep(of(2, 0), JobId(7));
        jobs.keep(of(9, 1), JobId(1));
        assert_eq!(jobs.get(of(2, 0)), Some(JobId(7)));
        assert_eq!([0, 1].map(|number| jobs.get(of(9, number)).is_some()), [false, true]);
    }
}
