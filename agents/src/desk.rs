//! The ledger of whoever submits jobs or passes them on: which jobs it answers for, who
//! submitted each, and where it is.
//!
//! ```text
//!            take_in              pass_on, place            finish, cancel, refuse
//!  submitter ───────▶ at the desk ──────────────▶ at others ──────────────────────▶ closed
//! ```
//!
//! A job is on the user's desk until it is over, whoever else has heard of it: messages carry a
//! description of it ([`Submission`]), so a message that is lost, or somebody who forgets, loses
//! no job. What is said about a job that is not on the desk, or by somebody who does not have it,
//! changes nothing: the caller refuses it.

mod parts;

use haggle_model::observation::Refusal;
use haggle_model::{ActorId, ByJob, JobId, JobOutcome, Time};

use crate::Outbox;
use crate::protocol::{Submission, SubmissionMessage};

pub use parts::{InParts, PartEnd, Parts};

/// Jobs that somebody answers for; `S` is what else is kept of each.
///
/// Jobs come in the order of their numbers as a rule, which is what the ledger is made for.
#[derive(Debug)]
pub struct Desk<S> {
    entries: ByJob<Entry<S>>,
}

/// A job on a desk.
#[derive(Debug)]
pub struct Entry<S> {
    /// The job as it was submitted.
    pub submission: Submission,
    /// Who submitted it here.
    pub submitter: ActorId,
    /// Who has it; `None` = nobody else.
    pub at: Option<ActorId>,
    /// Whether its submitter wants it back.
    pub withdrawn: bool,
    /// What else is kept of it.
    pub stage: S,
}

/// Where a job is that is to be withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    /// At the desk, where it is marked now.
    Here,
    /// At somebody, who has been asked.
    Elsewhere,
    /// Not on this desk: its submitter has been told.
    Unknown,
}

impl<S> Default for Desk<S> {
    fn default() -> Self {
        Desk { entries: ByJob::default() }
    }
}

impl<S> Desk<S> {
    /// Takes a job in, and gives its entry; `None` if it is on the desk already.
    pub fn take_in(
        &mut self,
        submitter: ActorId,
        submission: Submission,
        stage: S,
    ) -> Option<&mut Entry<S>> {
        let job = submission.job.id;
        let entry = Entry { submission, submitter, at: None, withdrawn: false, stage };
        self.entries.insert(job, entry)
    }

    /// The entry of a job.
    pub fn get(&self, job: JobId) -> Option<&Entry<S>> {
        self.entries.get(job)
    }

    /// The entry of a job.
    pub fn get_mut(&mut self, job: JobId) -> Option<&mut Entry<S>> {
        self.entries.get_mut(job)
    }

    /// The entry of a job that `holder` has.
    pub fn at(&mut self, job: JobId, holder: ActorId) -> Option<&mut Entry<S>> {
        self.get_mut(job).filter(|entry| entry.at == Some(holder))
    }

    /// Whether no job is on the desk.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All jobs on the desk, in the order of their numbers.
    pub fn jobs(&self) -> Vec<JobId> {
        self.entries.jobs()
    }

    /// `from` wants a job back: who has it is asked, or it is marked.
    pub fn withdraw(&mut self, from: ActorId, job: JobId, out: &mut Outbox) -> Withdrawal {
        match self.get_mut(job).filter(|entry| entry.submitter == from) {
            Some(Entry { at: Some(holder), .. }) => {
                out.send(*holder, SubmissionMessage::Withdraw { job });
                Withdrawal::Elsewhere
            }
            Some(entry) => {
                entry.withdrawn = true;
                Withdrawal::Here
            }
            None => {
                out.send(from, SubmissionMessage::NotWithdrawn { job });
                Withdrawal::Unknown
            }
        }
    }

    /// Takes a job off the desk.
    pub fn close(&mut self, job: JobId) -> Option<Entry<S>> {
        self.entries.remove(job)
    }

    /// The job is over: its submitter is told.
    pub fn finish(
        &mut self,
        job: JobId,
        outcome: JobOutcome,
        out: &mut Outbox,
    ) -> Option<Entry<S>> {
        let entry = self.close(job)?;
        out.send(entry.submitter, SubmissionMessage::Finished { job, outcome });
        Some(entry)
    }

    /// Nobody takes the job: its submitter is told.
    pub fn refuse(&mut self, job: JobId, reason: Refusal, out: &mut Outbox) {
        if let Some(entry) = self.close(job) {
            out.send(entry.submitter, SubmissionMessage::Refused { job, reason });
        }
    }

    /// The job was withdrawn before any provider queued it.
    pub fn cancel(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let outcome = JobOutcome::Cancelled;
        if let Some(entry) = self.finish(job, outcome, out) {
            out.observe(entry.submission.never_queued(outcome, now));
        }
    }
}
