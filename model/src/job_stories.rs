//! Puts the stories of jobs together from what providers and metaschedulers observe.

use std::collections::BTreeMap;

use crate::{JobId, JobOutcome, LostRun, Observation, ProviderId, ShareRecord, TaskRun};

/// What is known so far of jobs that are not over.
///
/// A provider knows what ran on it, the metascheduler that a bag is over: no
/// actor knows the whole story, so it is put together before anybody takes it down.
#[derive(Clone, Debug, Default)]
pub struct JobStories {
    runs: BTreeMap<(JobId, ProviderId), Vec<TaskRun>>,
    shares: BTreeMap<JobId, Vec<ShareRecord>>,
    lost: BTreeMap<JobId, Vec<LostRun>>,
}

impl JobStories {
    /// Puts what is known of a job that is over into its record: what it lost and, if it is a
    /// bag, the shares, the first start of a task, when the last one ended or was given up, and
    /// the provider if there was only one. Of an application the shares are its intervals.
    pub fn complete(&mut self, observation: &mut Observation) {
        let Observation::JobOver(record) = observation else { return };
        if !self.lost.is_empty() {
            record.lost = self.lost.remove(&record.job.id).unwrap_or_default();
        }
        let Some(bag) = &mut record.bag else { return };
        bag.shares = self.shares.remove(&record.job.id).unwrap_or_default();
        // What an agreement left behind that came to nothing is no part of the job.
        let agreement = bag.coallocated.and_then(|it| it.agreement);
        bag.shares.retain(|share| share.agreement == agreement);
        let runs = || bag.shares.iter().flat_map(|share| &share.runs);
        record.start = runs().map(|run| run.start).min();
        if record.outcome != JobOutcome::Unfinished {
            let lost = record.lost.iter().map(|run| run.end);
            record.end = runs().map(|run| run.end).chain(lost).max().unwrap_or(record.end);
        }
        if let [first, rest @ ..] = &bag.shares[..]
            && rest.iter().all(|share| share.provider == first.provider)
        {
            record.provider = Some(first.provider);
        }
    }

    /// Keeps what was observed of a job that is not over.
    pub fn keep(&mut self, observation: Observation) {
        match observation {
            Observation::TasksOver { job, provider, run } => {
                self.runs.entry((job, provider)).or_default().push(run);
            }
            // Its last task was over before it.
            Observation::ShareOver(mut share) => {
                share.runs = self.runs.remove(&(share.job, share.provider)).unwrap_or_default();
                self.shares.entry(share.job).or_default().push(*share);
            }
            Observation::RunLost { job, run } => self.lost.entry(job).or_default().push(run),
            _ => {}
        }
    }
}
