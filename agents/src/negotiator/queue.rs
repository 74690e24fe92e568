//! The queue of bags: bags of one instant are placed one after the other, so that each knows the
//! room that the one before has left.

use std::collections::VecDeque;

use haggle_model::{ActorId, JobId, JobShape, Span, Time};
use serde::{Deserialize, Serialize};

use super::answers::Answer;
use super::{Bargain, Negotiator, Stage};
use crate::Outbox;
use crate::protocol::{BargainMessage, Call, Submission, Timer};

/// Bags whose turn has not come.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Queue {
    /// Running number of the next bag.
    turn: u64,
    /// Bags after the current one.
    backlog: VecDeque<JobId>,
    /// The bag whose messages are under way at this instant.
    current: Option<JobId>,
}

impl Negotiator {
    pub(super) fn on_submitted(
        &mut self,
        now: Time,
        submitter: ActorId,
        submission: Submission,
        out: &mut Outbox,
    ) -> bool {
        let id = submission.job.id;
        let refusal = submission.unfit_for(JobShape::Bag);
        if self.desk.take_in(submitter, submission, Stage::Backlog).is_none() {
            return false;
        }
        match refusal {
            Some(reason) => self.desk.refuse(id, reason, out),
            None => {
                self.queue.backlog.push_back(id);
                self.take_up_next(now, out);
            }
        }
        true
    }

    /// Calls for offers for the next bag, if none is being placed at this instant.
    fn take_up_next(&mut self, now: Time, out: &mut Outbox) {
        while self.queue.current.is_none() {
            let Some(job) = self.queue.backlog.pop_front() else { return };
            self.take_up(now, job, out);
        }
    }

    fn take_up(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        // A bag that was withdrawn meanwhile is not on the desk any more.
        let Some(entry) = self.desk.get_mut(id) else { return };
        let job = &entry.submission.job;
        let call = Call {
            job: id,
            tasks: job.processors,
            task_time: job.requested_time.unwrap_or(Span::FOREVER),
            program: job.run_time,
            lot: job.lot,
            deadline: job.deadline,
            asks: self.config.policy.needs(),
            wants_offers: self.config.policy.asks_for_offers(),
        };
        for &provider in &self.config.providers {
            out.send(provider, BargainMessage::Call(Box::new(call.clone())));
        }
        let answers = self.config.providers.iter().map(|_| Answer::Awaited).collect();
        entry.stage = Stage::Open(Box::new(Bargain::new(self.queue.turn, answers)));
        self.queue.turn += 1;
        self.queue.current = Some(id);
        // At this instant: if messages take time, the next bag need not wait for the answers about this one.
        out.set(now, Timer::NextBag);
        if let Some(wait) = self.config.offers_wait {
            out.set(now + wait, Timer::OffersDue { job: id });
        }
    }

    /// The current bag waits for messages that take time: the next one can be taken up.
    pub(super) fn on_next_bag(&mut self, now: Time, out: &mut Outbox) {
        self.queue.current = None;
        self.take_up_next(now, out);
    }

    /// The bargain over a bag ends, so the next bag can be taken up.
    pub(super) fn close(&mut self, now: Time, id: JobId, out: &mut Outbox) -> Option<Bargain> {
        let entry = self.desk.get_mut(id)?;
        entry.open()?;
        let Stage::Open(bargain) = std::mem::replace(&mut entry.stage, Stage::Backlog) else {
            return None;
        };
        if self.config.offers_wait.is_some() {
            out.stop(Timer::OffersDue { job: id });
        }
        // The timer may have taken up another bag in the meantime.
        if self.queue.current == Some(id) {
            self.queue.current = None;
            self.take_up_next(now, out);
        }
        Some(*bargain)
    }
}
