//! Messages of users about their jobs, and of providers about submitted jobs.

use haggle_model::{ActorId, JobId, JobOutcome, JobShape, Observation, Refusal, Time};

use super::{Doing, Reallocator, Stage, Waits};
use crate::Outbox;
use crate::desk::{Entry, Withdrawal};
use crate::protocol::{Submission, SubmissionMessage};

impl Reallocator {
    fn on_submitted(&mut self, from: ActorId, submission: Submission, out: &mut Outbox) -> bool {
        let (job, shape) = (submission.job.id, submission.job.shape);
        if self.desk.take_in(from, submission, Stage::Here).is_none() {
            return false;
        }
        // A bag of tasks has no size that providers could choose.
        if shape == JobShape::Bag {
            self.desk.refuse(job, Refusal::WrongShape, out);
        } else {
            self.backlog.push_back(job);
        }
        true
    }

    fn on_withdrawn(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        match self.desk.withdraw(from, job, out) {
            Withdrawal::Here => {
                let waits = self.backlog.iter().position(|&it| it == job);
                // A job that is being placed is only marked: `place` cancels it when its answers have arrived.
                if let Some(place) = waits {
                    self.backlog.remove(place);
                    self.desk.cancel(now, job, out);
                }
            }
            // The job may be on its way back already.
            Withdrawal::Elsewhere => {
                if let Some(entry) = self.desk.get_mut(job) {
                    entry.withdrawn = true;
                }
            }
            Withdrawal::Unknown => {}
        }
    }

    /// A provider has accepted a job that was sent to it. Its other messages about the job imply
    /// this, too.
    fn on_accepted(&mut self, provider: ActorId, job: JobId, out: &mut Outbox) {
        let Some(entry) = self.desk.get_mut(job) else { return };
        // The job was accepted before, or has gone to another provider since.
        if entry.stage != Stage::Sent(provider) {
            return;
        }
        (entry.at, entry.stage) = (Some(provider), Stage::Placed);
        // The withdrawal came while the job was on its way to the provider.
        if entry.withdrawn {
            out.send(provider, SubmissionMessage::Withdraw { job });
        }
        let submitter = entry.submitter;
        if let Doing::Event(_, waits) = &mut self.doing
            && let Waits::Acceptance { job: awaited, from } = *waits
            && awaited == job
        {
            *waits = Waits::nothing();
            match from {
                // The user was notified when the job was first placed.
                Some(from) => {
                    let from = self.config.providers[from];
                    out.observe(Observation::JobMoved { job, from, to: provider });
                }
                None => out.send(submitter, SubmissionMessage::Accepted { job }),
            }
        }
    }

    fn on_refused(
        &mut self,
        provider: ActorId,
        job: JobId,
        reason: Refusal,
        out: &mut Outbox,
    ) -> bool {
        let sent = |entry: &&mut Entry<Stage>| entry.stage == Stage::Sent(provider);
        if self.desk.get_mut(job).filter(sent).is_none() {
            return false;
        }
        self.desk.refuse(job, reason, out);
        // The event does not wait for this provider any more.
        if let Doing::Event(_, waits @ Waits::Acceptance { .. }) = &mut self.doing {
            *waits = Waits::nothing();
        }
        true
    }

    pub(super) fn on_submission(
        &mut self,
        now: Time,
        from: ActorId,
        message: SubmissionMessage,
        out: &mut Outbox,
    ) -> bool {
        let is_provider = self.places.contains_key(&from);
        match message {
            SubmissionMessage::Submit(submission) => {
                return self.on_submitted(from, submission, out);
            }
            SubmissionMessage::Withdraw { job } => {
                self.on_withdrawn(now, from, job, out);
                return true;
            }
            SubmissionMessage::Refused { job, reason } => {
                return self.on_refused(from, job, reason, out);
            }
            SubmissionMessage::Accepted { job } => self.on_accepted(from, job, out),
            SubmissionMessage::Started { job } => self.relay(from, job, message, out),
            SubmissionMessage::NotWithdrawn { job } => self.on_not_withdrawn(from, job, out),
            SubmissionMessage::Finished { job, outcome } => {
                self.on_finished(from, job, outcome, out);
            }
            SubmissionMessage::Promise { .. }
            | SubmissionMessage::SubmitAhead(_)
            | SubmissionMessage::DataArrived { .. } => return false,
        }
        is_provider
    }

    /// Passes a provider's message about a job that it has on to the submitter.
    fn relay(&mut self, from: ActorId, job: JobId, message: SubmissionMessage, out: &mut Outbox) {
        self.on_accepted(from, job, out);
        if let Some(entry) = self.desk.at(job, from) {
            out.send(entry.submitter, message);
        }
    }

    /// A provider could not withdraw a job. If the provider still has the job, it is too late.
    /// Otherwise the job is on its way back, and is withdrawn here.
    fn on_not_withdrawn(&mut self, from: ActorId, job: JobId, out: &mut Outbox) {
        if self.is_coming_back(job, from) {
            return;
        }
        if let Some(entry) = self.desk.at(job, from) {
            // The job may run now, so a later move must not treat it as withdrawn.
            entry.withdrawn = false;
            out.send(entry.submitter, SubmissionMessage::NotWithdrawn { job });
        }
    }

    fn on_finished(&mut self, from: ActorId, job: JobId, outcome: JobOutcome, out: &mut Outbox) {
        self.on_accepted(from, job, out);
        if self.desk.at(job, from).is_some() {
            self.desk.finish(job, outcome, out);
        }
    }
}
