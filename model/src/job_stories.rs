//! Puts the stories of jobs together from what providers and metaschedulers observe.

use std::collections::BTreeMap;

use crate::{JobId, JobOutcome, JobRecord, LostRun, ProviderId, ShareRecord, TaskRun};

/// What is known so far of jobs that are not over.
///
/// A provider knows what ran on it, the metascheduler that a bag is over: no
/// actor knows the whole story, so whoever records a run puts it together.
#[derive(Clone, Debug, Default)]
pub struct JobStories {
    runs: BTreeMap<(JobId, ProviderId), Vec<TaskRun>>,
    shares: BTreeMap<JobId, Vec<ShareRecord>>,
    lost: BTreeMap<JobId, Vec<LostRun>>,
}

impl JobStories {
    /// Tasks that ran together are over.
    pub fn tasks_over(&mut self, job: JobId, provider: ProviderId, run: TaskRun) {
        self.runs.entry((job, provider)).or_default().push(run);
    }

    /// A share is over, and its last task before it.
    pub fn share_over(&mut self, mut share: ShareRecord) {
        share.runs = self.runs.remove(&(share.job, share.provider)).unwrap_or_default();
        self.shares.entry(share.job).or_default().push(share);
    }

    /// Processors have failed under a job or under tasks of a bag.
    pub fn run_lost(&mut self, job: JobId, run: LostRun) {
        self.lost.entry(job).or_default().push(run);
    }

    /// A job is over: what it lost goes into its record; if it is a bag, the shares,
    /// the first start of a task, when the last one ended or was given up, and the provider if
    /// there was only one.
    pub fn complete(&mut self, record: &mut JobRecord) {
        if !self.lost.is_empty() {
            record.lost = self.lost.remove(&record.job.id).unwrap_or_default();
        }
        let Some(bag) = &mut record.bag else { return };
        bag.shares = self.shares.remove(&record.job.id).unwrap_or_default();
        let runs = || bag.shares.iter().flat_map(|share| &share.runs);
        record.start = runs().map(|run| run.start).min();
        if record.outcome != JobOutcome::Unfinished {
            let lost = record.lost.iter().map(|run| run.end);
            record.end = runs().map(|run| run.end).chain(lost).max().unwrap_or(record.end);
        }
        if let [only] = &bag.shares[..] {
            record.provider = Some(only.provider);
        }
    }
}
