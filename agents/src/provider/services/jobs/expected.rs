//! Jobs that the provider has accepted and whose data are on their way here.
//!
//! They are not queued, so the plan of the provider does not contain them. Load and estimates count
//! them as if they had been submitted. An estimate is made on a copy of the queue to which they are
//! added in the order in which they were accepted. Their arrival times are ignored, because the
//! data of the next job take time, too.

use std::collections::BTreeMap;

use haggle_model::{ActorId, JobId, JobOutcome, Time};
use haggle_scheduling::{LocalQueue, LocalScheduler, Slot};
use serde::{Deserialize, Serialize};

use super::Jobs;
use super::job::HeldJob;
use super::submission::{never_runs, not_permitted};
use crate::glimpse::{Stage, Work};
use crate::protocol::{Message, Submission, SubmissionMessage};
use crate::provider::core::{Core, Piece, Turn};

/// The expected jobs of a provider.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Expected {
    /// Their slots, in the order in which they were accepted.
    slots: BTreeMap<u64, Slot>,
    accepted: u64,
    outlook: Option<Outlook>,
}

/// An expected job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::provider) struct Expectation {
    held: HeldJob,
    number: u64,
}

/// The queue as it would be if all expected jobs had been submitted at this instant.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Outlook {
    at: Time,
    queue: Box<LocalQueue>,
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

    /// The queue as a job would find it that was submitted now.
    pub(super) fn outlook<'a>(
        &'a mut self,
        core: &'a mut Core,
        now: Time,
    ) -> &'a mut dyn LocalScheduler {
        if self.slots.is_empty() {
            return &mut **core.scheduler;
        }
        let Core { scheduler, pieces, config, .. } = core;
        let Expected { slots, outlook, .. } = self;
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
        &mut **outlook.queue
    }
}

impl Jobs {
    /// A job is accepted before its data arrive.
    pub(super) fn on_submitted_ahead(
        &mut self,
        turn: &mut Turn<'_>,
        submitter: ActorId,
        submission: Submission,
    ) -> bool {
        let id = submission.job.id;
        if turn.core.pieces.has(id) {
            return false;
        }
        if let Some(reason) = never_runs(turn.core, &submission.job) {
            turn.out.send(submitter, SubmissionMessage::Refused { job: id, reason });
            return true;
        }
        let held = HeldJob::new(submission, submitter, turn.now, &turn.core.config);
        if let Some(reason) = not_permitted(turn, &held) {
            turn.out.send(submitter, SubmissionMessage::Refused { job: id, reason });
            return true;
        }
        turn.core.load.waits(held.processors, held.planned(&turn.core.config));
        let number = self.expected.accepted;
        self.expected.accepted += 1;
        let request = held.request(turn.core.pieces.next(), false, &turn.core.config);
        let pass = turn.pass();
        if let Some(outlook) = self.expected.outlook.as_mut().filter(|it| it.at == pass) {
            outlook.queue.submit(pass, request);
        }
        let slot = turn.core.pieces.insert(Piece::Expected(Box::new(Expectation { held, number })));
        self.expected.slots.insert(number, slot);
        turn.out.send(submitter, SubmissionMessage::Accepted { job: id });
        true
    }

    /// The data of an expected job have arrived: it is queued. Its submitter was notified when it
    /// was accepted.
    pub(super) fn on_data_arrived(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        job: JobId,
    ) -> bool {
        // It may have been withdrawn while the message was on its way.
        if !turn.core.pieces.has(job) {
            return true;
        }
        let Some(mut held) = self.release_expected(turn.core, from, job) else { return false };
        held.queued = turn.now;
        self.queue(turn, held);
        true
    }

    /// Takes out an expected job that its submitter withdraws; false if there is none.
    pub(super) fn withdraw_expected(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        job: JobId,
    ) -> bool {
        let slot = turn.core.pieces.slot(job);
        let Some(held) = self.release_expected(turn.core, from, job) else { return false };
        if let Some(slot) = slot {
            turn.core.scheduler.nodes().gone_before(slot);
        }
        let outcome = JobOutcome::Cancelled;
        turn.out.send(from, SubmissionMessage::Finished { job, outcome });
        turn.out.observe(held.submission.never_queued(outcome, turn.now));
        true
    }

    fn release_expected(&mut self, core: &mut Core, from: ActorId, job: JobId) -> Option<HeldJob> {
        let slot = core.pieces.slot(job)?;
        core.pieces.get::<Expectation>(slot).filter(|it| it.held.submitter == from)?;
        let Expectation { held, number } = core.pieces.take(slot)?;
        self.expected.slots.remove(&number);
        core.load.leaves(held.processors, held.planned(&core.config));
        Some(held)
    }
}

impl Expectation {
    /// Its row in a glimpse of the provider.
    pub(in crate::provider) fn glimpse(&self) -> Work {
        Work { stage: Stage::Expected, ..self.held.glimpse() }
    }

    /// The job that is expected.
    pub(in crate::provider) fn job(&self) -> JobId {
        self.held.submission.job.id
    }
}
