//! Jobs whose parts are at several providers: the state of the parts, and the end of the whole job.
//!
//! A job starts with its first part and is over with its last. Its outcome is the worst outcome of
//! its parts.

use haggle_model::{ActorId, JobId, JobOutcome, JobRecord, Observation, Time};
use serde::{Deserialize, Serialize};

use super::{Desk, Entry, Withdrawal};
use crate::Outbox;
use crate::protocol::SubmissionMessage;
use crate::provider::worst_of;

/// The parts of one job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parts {
    /// Providers whose parts are not over.
    left: Vec<ActorId>,
    started: bool,
    /// The worst outcome of the parts that are over.
    outcome: JobOutcome,
}

impl Parts {
    /// A part at each of these providers.
    pub fn at(providers: impl IntoIterator<Item = ActorId>) -> Parts {
        let left = Vec::from_iter(providers);
        Parts { left, started: false, outcome: JobOutcome::Completed }
    }

    /// True if one of them has started.
    pub fn have_started(&self) -> bool {
        self.started
    }

    /// The outcome of the job, if all parts are over.
    pub fn ended(&self) -> Option<JobOutcome> {
        self.left.is_empty().then_some(self.outcome)
    }

    /// Providers whose parts are not over.
    pub fn left(&self) -> impl Iterator<Item = ActorId> {
        self.left.iter().copied()
    }

    /// Drops the parts of all providers that are not `kept`.
    pub fn retain(&mut self, kept: impl FnMut(&ActorId) -> bool) {
        self.left.retain(kept);
    }

    /// Ends the part of provider `who`; false if it has none.
    pub fn end(&mut self, who: ActorId, outcome: JobOutcome) -> bool {
        let Some(place) = self.left.iter().position(|&it| it == who) else { return false };
        // The parts have no order.
        self.left.swap_remove(place);
        self.outcome = worst_of(self.outcome, outcome);
        true
    }
}

/// The state of a job that may have parts at several providers.
pub trait InParts {
    /// Its parts; `None` as long as it cannot have any.
    fn parts(&mut self) -> Option<&mut Parts>;

    /// True if providers have agreed to run it, so that it is not given up any more.
    fn is_agreed(&self) -> bool;

    /// True if providers have agreed to run it, now or before they broke the agreement.
    fn was_agreed(&self) -> bool {
        self.is_agreed()
    }

    /// Adds to the record of the job the facts that only this actor knows.
    fn complete(self, record: JobRecord) -> JobRecord;
}

/// State of a job after a report that one of its parts is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartEnd {
    /// The sender has no part of it.
    Unexpected,
    /// Other parts are left.
    OthersLeft,
    /// The job is over.
    Last,
}

impl<S: InParts> Desk<S> {
    /// `from` withdraws a job. True if the job is here and was marked; a job that is agreed on
    /// cannot be withdrawn.
    pub fn withdraw_unless_agreed(&mut self, from: ActorId, job: JobId, out: &mut Outbox) -> bool {
        if self.withdraw(from, job, out) != Withdrawal::Here {
            return false;
        }
        let agreed = self.get(job).is_some_and(|entry| entry.stage.is_agreed());
        if agreed {
            out.send(from, SubmissionMessage::NotWithdrawn { job });
        }
        !agreed
    }

    /// A part has started. The submitter is notified of the first one only. False if the sender has
    /// no part.
    pub fn part_started(&mut self, from: ActorId, job: JobId, out: &mut Outbox) -> bool {
        let Some(Entry { submitter, stage, withdrawn, .. }) = self.get_mut(job) else {
            return false;
        };
        let Some(parts) = stage.parts().filter(|it| it.left.contains(&from)) else { return false };
        // The job has started: a withdrawal that came too late has no more effect.
        *withdrawn = false;
        if !std::mem::replace(&mut parts.started, true) {
            out.send(*submitter, SubmissionMessage::Started { job });
        }
        true
    }

    /// A part is over.
    pub fn part_finished(
        &mut self,
        now: Time,
        from: ActorId,
        (job, outcome): (JobId, JobOutcome),
        out: &mut Outbox,
    ) -> PartEnd {
        let Some(parts) = self.get_mut(job).and_then(|entry| entry.stage.parts()) else {
            return PartEnd::Unexpected;
        };
        // A second report of the same part must not end another one.
        if !parts.end(from, outcome) {
            return PartEnd::Unexpected;
        }
        let Some(outcome) = parts.ended() else { return PartEnd::OthersLeft };
        self.finish_whole(now, job, outcome, out);
        PartEnd::Last
    }

    /// The whole job is over: notifies its submitter and records the job.
    pub fn finish_whole(&mut self, now: Time, job: JobId, outcome: JobOutcome, out: &mut Outbox) {
        if let Some(entry) = self.finish(job, outcome, out) {
            out.observe(story(entry, outcome, now));
        }
    }

    /// The end of the run: jobs at providers are unfinished. The users record the other jobs, which
    /// are on their desks, too.
    pub fn run_over(&mut self, now: Time, out: &mut Outbox) {
        for job in self.jobs() {
            if let Some(entry) = self.close(job)
                && entry.stage.was_agreed()
            {
                out.observe(story(entry, JobOutcome::Unfinished, now));
            }
        }
    }
}

/// The record of a job that is over with this outcome.
fn story<S: InParts>(entry: Entry<S>, outcome: JobOutcome, now: Time) -> Observation {
    let record = entry.submission.record(outcome, now);
    Observation::JobOver(Box::new(entry.stage.complete(record)))
}
