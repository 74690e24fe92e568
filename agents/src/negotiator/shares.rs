//! Bags at providers: what is promised of them, how their shares fare, and how they end.

use haggle_model::{ActorId, BagRecord, JobId, JobOutcome, JobRecord, Observation, Time};
use haggle_scheduling::promise;

use super::{Negotiator, Stage};
use crate::Outbox;
use crate::desk::Entry;
use crate::protocol::{AgreementMessage, Submission, SubmissionMessage};
use crate::provider::worse;

/// A bag at providers.
#[derive(Debug)]
pub(super) struct Placed {
    /// The agreement by which it was placed.
    pub(super) agreement: u64,
    /// When it will be done, by what the providers have said so far.
    expected: Time,
    /// What its user was promised: nothing before all providers have committed, for what was
    /// held may have expired.
    pub(super) promised_end: Option<Time>,
    placed: Time,
    /// Providers that have not finished their share.
    left: Vec<ActorId>,
    started: bool,
    outcome: JobOutcome,
    record: Box<BagRecord>,
}

impl Negotiator {
    /// These providers get a bag, the others need not think of it any more.
    pub(super) fn place(
        &mut self,
        now: Time,
        id: JobId,
        (agreement, record): (u64, BagRecord),
        providers: &[usize],
        expected: Time,
        out: &mut Outbox,
    ) {
        for (place, &provider) in self.config.providers.iter().enumerate() {
            if !providers.contains(&place) {
                out.send(provider, AgreementMessage::Release { job: id });
            }
        }
        let Some(entry) = self.desk.get_mut(id) else { return };
        out.send(entry.submitter, SubmissionMessage::Accepted { job: id });
        entry.stage = Stage::Placed(Box::new(Placed {
            agreement,
            expected,
            promised_end: None,
            placed: now,
            left: providers.iter().map(|&it| self.config.providers[it]).collect(),
            started: false,
            outcome: JobOutcome::Completed,
            record: Box::new(record),
        }));
    }

    /// All providers have their shares; those that held nothing any more will have done them by
    /// `latest`, the others as they said.
    pub(super) fn on_committed(&mut self, job: JobId, latest: Option<Time>, out: &mut Outbox) {
        let Some(entry) = self.desk.get_mut(job) else { return };
        let submitter = entry.submitter;
        let Some(placed) = entry.placed() else { return };
        placed.expected = placed.expected.max(latest.unwrap_or(placed.expected));
        if let Some(completion) = promise(placed.expected) {
            placed.promised_end = Some(completion);
            out.send(submitter, SubmissionMessage::Promise { job, completion });
        }
    }

    pub(super) fn on_share_started(&mut self, from: ActorId, job: JobId, out: &mut Outbox) -> bool {
        let Some(entry) = self.desk.get_mut(job) else { return false };
        let submitter = entry.submitter;
        let Some(placed) = entry.placed().filter(|it| it.left.contains(&from)) else {
            return false;
        };
        if !std::mem::replace(&mut placed.started, true) {
            out.send(submitter, SubmissionMessage::Started { job });
        }
        true
    }

    pub(super) fn on_share_finished(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        outcome: JobOutcome,
        out: &mut Outbox,
    ) -> bool {
        let Some(placed) = self.desk.get_mut(job).and_then(Entry::placed) else { return false };
        if !strike(&mut placed.left, from) {
            return false;
        }
        placed.outcome = worse(placed.outcome, outcome);
        let outcome = placed.outcome;
        if placed.left.is_empty() {
            self.table.forget(job);
            if let Some(entry) = self.desk.finish(job, outcome, out) {
                out.observe(over(entry, outcome, now));
            }
        }
        true
    }

    /// Bags at providers are unfinished; the others are on their users' desks, too.
    pub(super) fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        for job in self.desk.jobs() {
            if let Some(entry) = self.desk.close(job)
                && matches!(entry.stage, Stage::Placed(_))
            {
                out.observe(over(entry, JobOutcome::Unfinished, now));
            }
        }
    }
}

/// Strikes somebody off a list; false if they are not on it.
fn strike(list: &mut Vec<ActorId>, who: ActorId) -> bool {
    let place = list.iter().position(|&it| it == who);
    place.map(|place| list.swap_remove(place)).is_some()
}

/// The story of a bag that is over in this way.
fn over(entry: Entry<Stage>, outcome: JobOutcome, now: Time) -> Observation {
    let Submission { job, class, .. } = entry.submission;
    let walltime = job.requested_time;
    let record = JobRecord::never_queued(job, class, outcome, now);
    let Stage::Placed(placed) = entry.stage else { return Observation::JobOver(Box::new(record)) };
    Observation::JobOver(Box::new(JobRecord {
        queued: Some(placed.placed),
        promised_end: placed.promised_end,
        walltime,
        bag: Some(placed.record),
        ..record
    }))
}
