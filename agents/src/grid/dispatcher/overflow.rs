//! Jobs that have waited too long for a resource: the grid's scheduler submits them to a provider
//! or a metascheduler, as a user does.
//!
//! Only a job that was never sent to a resource goes, so that all of its computing happens on one
//! side. It does not come back. Messages about it are passed on to its submitter.

use haggle_model::{ActorId, JobId, Span, Time};
use serde::{Deserialize, Serialize};

use super::Dispatcher;
use crate::Outbox;
use crate::protocol::{GridTimer, Submission, SubmissionMessage};

/// Target of jobs that have waited too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overflow {
    /// A provider, or a metascheduler that does not use the grid.
    pub to: ActorId,
    /// Longest waiting time, from their arrival on.
    pub after: Span,
}

impl Dispatcher {
    /// Limits the waiting time of a new job. Tasks of workflows stay, because other tasks need
    /// their data here.
    pub(super) fn limit_wait(&self, now: Time, submission: &Submission, out: &mut Outbox) {
        if let Some(Overflow { after, .. }) = self.config.overflow
            && submission.job.task.is_none()
        {
            // A job of a start state goes at time zero or later, as all jobs.
            let at = (now + after).max(Time::ZERO);
            out.set(at, GridTimer::Overdue { job: submission.job.id });
        }
    }

    /// A job does not wait any more: its timer must not go off after the end of all jobs.
    pub(super) fn end_wait(&self, job: JobId, out: &mut Outbox) {
        if self.config.overflow.is_some() {
            out.stop(GridTimer::Overdue { job });
        }
    }

    /// A job has waited as long as it may: it goes, unless it is done or has been sent to a
    /// resource.
    pub(super) fn on_overdue(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let Some(Overflow { to, .. }) = self.config.overflow else { return };
        let waits = self.view.jobs().waits(job);
        let Some(entry) = self.desk.get_mut(job) else { return };
        if !waits || entry.stage.attempts > 0 {
            return;
        }
        entry.at = Some(to);
        out.send(to, SubmissionMessage::Submit(entry.submission.clone()));
        // The entry stays on the desk: messages about the job are passed on to its submitter.
        self.view.withdraw(job);
        self.open -= 1;
        if self.policy.withdrawn(job) {
            self.react(now, out);
        }
    }

    /// Handles a message about a job that went; false if `from` has no jobs of the grid.
    pub(super) fn on_news(
        &mut self,
        from: ActorId,
        message: SubmissionMessage,
        out: &mut Outbox,
    ) -> bool {
        if self.config.overflow.is_none_or(|it| it.to != from) {
            return false;
        }
        match message {
            SubmissionMessage::Started { job } | SubmissionMessage::NotWithdrawn { job } => {
                if let Some(entry) = self.desk.at(job, from) {
                    out.send(entry.submitter, message);
                }
            }
            SubmissionMessage::Finished { job, outcome } => {
                if self.desk.at(job, from).is_some() {
                    self.desk.finish(job, outcome, out);
                }
            }
            SubmissionMessage::Refused { job, reason } => {
                if self.desk.at(job, from).is_some() {
                    self.desk.refuse(job, reason, out);
                }
            }
            // The submitter was notified when the grid accepted the job.
            SubmissionMessage::Accepted { .. } => {}
            SubmissionMessage::Submit(_)
            | SubmissionMessage::Withdraw { .. }
            | SubmissionMessage::Promise { .. }
            | SubmissionMessage::SubmitAhead(_)
            | SubmissionMessage::DataArrived { .. } => return false,
        }
        true
    }
}
