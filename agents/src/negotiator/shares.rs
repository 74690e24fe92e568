//! Bags at providers: their promises, the state of their shares, and their ends.

use haggle_model::{ActorId, BagRecord, JobId, JobOutcome, JobRecord, Time};
use haggle_scheduling::promise;
use serde::{Deserialize, Serialize};

use super::{Negotiator, Stage};
use crate::Outbox;
use crate::desk::{InParts, PartEnd, Parts};
use crate::protocol::{AgreementMessage, SubmissionMessage};

/// A bag at providers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Placed {
    /// The agreement by which it was placed.
    pub(super) agreement: u64,
    /// Its expected completion, from the reports of providers so far.
    expected: Time,
    /// The completion promised to its user. There is none before all providers have committed,
    /// because holds may have expired.
    pub(super) promised_end: Option<Time>,
    placed: Time,
    shares: Parts,
    record: Box<BagRecord>,
}

impl Placed {
    /// Providers whose shares are not over.
    pub(super) fn left(&self) -> impl Iterator<Item = ActorId> {
        self.shares.left()
    }
}

impl Negotiator {
    /// Places a bag at these providers; the others need not keep it any more.
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
            // Providers outside of the composition need not keep their offers.
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
            shares: Parts::at(providers.iter().map(|&it| self.config.providers[it])),
            record: Box::new(record),
        }));
    }

    /// All providers have their shares. Shares that were not held any more will be complete by
    /// `latest`, the others as reported before.
    pub(super) fn on_committed(&mut self, job: JobId, latest: Option<Time>, out: &mut Outbox) {
        let Some(entry) = self.desk.get_mut(job) else { return };
        let submitter = entry.submitter;
        let Some(placed) = entry.placed() else { return };
        placed.expected = placed.expected.max(latest.unwrap_or(placed.expected));
        // A completion without a limit is no promise.
        if let Some(completion) = promise(placed.expected) {
            placed.promised_end = Some(completion);
            out.send(submitter, SubmissionMessage::Promise { job, completion });
        }
    }

    pub(super) fn on_share_finished(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        outcome: JobOutcome,
        out: &mut Outbox,
    ) -> bool {
        let end = self.desk.part_finished(now, from, (job, outcome), out);
        if end == PartEnd::Last {
            self.table.forget(job);
        }
        end != PartEnd::Unexpected
    }
}

impl InParts for Stage {
    fn parts(&mut self) -> Option<&mut Parts> {
        match self {
            Stage::Placed(placed) => Some(&mut placed.shares),
            Stage::Backlog | Stage::Open(_) => None,
        }
    }

    fn is_agreed(&self) -> bool {
        matches!(self, Stage::Placed(_))
    }

    fn complete(self, record: JobRecord) -> JobRecord {
        let Stage::Placed(placed) = self else { return record };
        JobRecord {
            queued: Some(placed.placed),
            promised_end: placed.promised_end,
            walltime: record.job.requested_time,
            bag: Some(placed.record),
            ..record
        }
    }
}
