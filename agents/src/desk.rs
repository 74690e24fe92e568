//! The ledger of an actor that submits jobs or passes them on: the jobs it answers for, the
//! submitter of each, and the actor that has it.
//!
//! ```text
//!            take_in              pass_on, place            finish, cancel, refuse
//!  submitter ───────▶ at the desk ──────────────▶ at others ──────────────────────▶ closed
//! ```
//!
//! A job stays on the user's desk until it is over, even if other actors know it. Messages carry a
//! description of the job ([`Submission`]), so neither a lost message nor a crashed actor loses a
//! job. A message about a job that is not on the desk, or from an actor that does not have the job,
//! changes nothing: the caller refuses it.

mod parts;

use haggle_model::observation::Refusal;
use haggle_model::{ActorId, ByJob, JobId, JobOutcome, Time};
use serde::{Deserialize, Serialize};

use crate::Outbox;
use crate::glimpse::{Stage, Work};
use crate::protocol::{Submission, SubmissionMessage};

pub use parts::{InParts, PartEnd, Parts};

/// Jobs that an actor answers for; `S` is the actor's own state of each.
///
/// The ledger is made for jobs that come in the order of their numbers, as they usually do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Desk<S> {
    entries: ByJob<Entry<S>>,
}

/// A job on a desk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry<S> {
    /// The job as it was submitted.
    pub submission: Submission,
    /// Actor that submitted it here.
    pub submitter: ActorId,
    /// Actor that has it; `None` = it is here.
    pub at: Option<ActorId>,
    /// True if its submitter has withdrawn it.
    pub withdrawn: bool,
    /// Further state that the actor keeps of it.
    pub stage: S,
}

/// Place of a job that a submitter withdraws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    /// At the desk: it is marked as withdrawn.
    Here,
    /// At another actor, to which the request was sent.
    Elsewhere,
    /// Not on this desk: its submitter has been notified.
    Unknown,
}

impl<S> Default for Desk<S> {
    fn default() -> Self {
        Desk { entries: ByJob::default() }
    }
}

impl<S> Desk<S> {
    /// Takes a job in and returns its entry; `None` if the job is on the desk already.
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

    /// True if no job is on the desk.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The rows of all jobs in a glimpse; `describe` gives the state of a job, and the actors that have it.
    pub(crate) fn glimpse(
        &self,
        mut describe: impl FnMut(JobId, &Entry<S>) -> (Stage, Vec<ActorId>),
    ) -> Vec<Work> {
        let row = |job: JobId| {
            let entry = self.entries.get(job)?;
            let (stage, at) = describe(job, entry);
            let work = Work::new(job, stage, entry.submission.job.processors, entry.submitter);
            Some(Work { at, ..work })
        };
        self.jobs().into_iter().filter_map(row).collect()
    }

    /// All jobs on the desk, in the order of their numbers.
    pub fn jobs(&self) -> Vec<JobId> {
        self.entries.jobs()
    }

    /// `from` withdraws a job. The request is sent to the actor that has the job; otherwise the job
    /// is marked.
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

    /// Takes a finished job off the desk and notifies its submitter.
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

    /// Takes a job off the desk that is refused, and notifies its submitter.
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
