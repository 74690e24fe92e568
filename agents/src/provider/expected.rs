//! Jobs that the provider has accepted and whose data are on their way here.
//!
//! They are not queued, so the plan of the provider does not contain them. Load and estimates count
//! them as if they had been submitted. An estimate is made on a copy of the queue to which they are
//! added in the order in which they were accepted. Their arrival times are ignored, because the
//! data of the next job take time, too.

use std::collections::BTreeMap;

use haggle_model::{ActorId, JobId, JobOutcome, Time};
use haggle_scheduling::{LocalScheduler, Slot};

use super::Provider;
use super::job::HeldJob;
use super::pieces::Piece;
use crate::Outbox;
use crate::protocol::{Message, Submission, SubmissionMessage};

/// The expected jobs of a provider.
#[derive(Debug, Default)]
pub(super) struct Expected {
    /// Their slots, in the order in which they were accepted.
    slots: BTreeMap<u64, Slot>,
    accepted: u64,
    outlook: Option<Outlook>,
}

/// An expected job.
#[derive(Debug)]
pub(super) struct Expectation {
    held: HeldJob,
    number: u64,
}

/// The queue as it would be if all expected jobs had been submitted at this instant.
#[derive(Debug)]
struct Outlook {
    at: Time,
    queue: Box<dyn LocalScheduler>,
}

impl Expected {
    /// The outlook stays valid while the provider only answers queries and accepts further jobs.
    pub(super) fn on_message(&mut self, message: &Message) {
        let stays = matches!(
            message,
            Message::Query(_) | Message::Submission(SubmissionMessage::SubmitAhead(_))
        );
        if !stays {
            self.outlook = None;
        }
    }
}

impl Provider {
    /// A job is accepted before its data arrive.
    pub(super) fn on_submitted_ahead(
        &mut self,
        now: Time,
        submitter: ActorId,
        submission: Submission,
        out: &mut Outbox,
    ) -> bool {
        let id = submission.job.id;
        if self.pieces.has(id) {
            return false;
        }
        if let Some(reason) = self.never_runs(&submission.job) {
            out.send(submitter, SubmissionMessage::Refused { job: id, reason });
            return true;
        }
        let held = HeldJob::new(submission, submitter, now, &self.config);
        self.load.waits(held.processors, held.planned(&self.config));
        let number = self.expected.accepted;
        self.expected.accepted += 1;
        let request = held.request(self.pieces.next(), false, &self.config);
        if let Some(outlook) = self.expected.outlook.as_mut().filter(|it| it.at == now) {
            outlook.queue.submit(now, request);
        }
        let slot = self.pieces.insert(Piece::Expected(Box::new(Expectation { held, number })));
        self.expected.slots.insert(number, slot);
        out.send(submitter, SubmissionMessage::Accepted { job: id });
        true
    }

    /// The data of an expected job have arrived: it is queued. Its submitter was notified when it
    /// was accepted.
    pub(super) fn on_data_arrived(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        out: &mut Outbox,
    ) -> bool {
        // It may have been withdrawn while the message was on its way.
        if !self.pieces.has(job) {
            return true;
        }
        let Some(mut held) = self.release_expected(from, job) else { return false };
        held.queued = now;
        self.queue(now, held, out);
        true
    }

    /// Takes out an expected job that its submitter withdraws; false if there is none.
    pub(super) fn withdraw_expected(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        out: &mut Outbox,
    ) -> bool {
        let Some(held) = self.release_expected(from, job) else { return false };
        let outcome = JobOutcome::Cancelled;
        out.send(from, SubmissionMessage::Finished { job, outcome });
        out.observe(held.submission.never_queued(outcome, now));
        true
    }

    fn release_expected(&mut self, from: ActorId, job: JobId) -> Option<HeldJob> {
        let slot = self.pieces.slot(job)?;
        self.pieces.get::<Expectation>(slot).filter(|it| it.held.submitter == from)?;
        let Expectation { held, number } = self.pieces.take(slot)?;
        self.expected.slots.remove(&number);
        self.load.leaves(held.processors, held.planned(&self.config));
        Some(held)
    }

    /// The queue as a job would find it that was submitted now.
    pub(super) fn outlook(&mut self, now: Time) -> &mut dyn LocalScheduler {
        if self.expected.slots.is_empty() {
            return &mut *self.scheduler;
        }
        let Provider { expected, scheduler, pieces, config, .. } = self;
        let Expected { slots, outlook, .. } = expected;
        let outlook = match outlook.take().filter(|it| it.at == now) {
            Some(made) => outlook.insert(made),
            None => {
                let mut queue = scheduler.clone();
                for &slot in slots.values() {
                    if let Some(it) = pieces.get::<Expectation>(slot) {
                        queue.submit(now, it.held.request(slot, false, config));
                    }
                }
                outlook.insert(Outlook { at: now, queue })
            }
        };
        &mut *outlook.queue
    }
}

impl Expectation {
    /// The job that is expected.
    pub(super) fn job(&self) -> JobId {
        self.held.submission.job.id
    }
}
