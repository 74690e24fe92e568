//! Completes the records of jobs from the observations of providers and metaschedulers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{JobId, JobOutcome, LostRun, Observation, ProviderId, ShareRecord, TaskRun};

/// Observations of jobs that are not over.
///
/// A provider knows the runs on it, and the metascheduler knows that a bag is over. No actor knows the
/// whole story, so it is put together before it is recorded.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct JobStories {
    runs: BTreeMap<(JobId, ProviderId), Vec<TaskRun>>,
    shares: BTreeMap<JobId, Vec<ShareRecord>>,
    lost: BTreeMap<JobId, Vec<LostRun>>,
}

impl JobStories {
    /// Completes the record of a job that is over. It adds lost runs and parts that were given up. For a bag, it
    /// adds the shares, the first start of a task, the end of the last one, and the provider if there was only one.
    /// The shares of an application are its intervals.
    pub fn complete(&mut self, observation: &mut Observation) {
        let Observation::JobOver(record) = observation else { return };
        // Most runs lose no attempt, so most jobs need no search.
        if !self.lost.is_empty() {
            record.lost = self.lost.remove(&record.job.id).unwrap_or_default();
        }
        if !self.shares.is_empty() {
            let shares = self.shares.remove(&record.job.id).unwrap_or_default();
            let its_own =
                record.bag.as_ref().map(|bag| bag.coallocated.and_then(|it| it.agreement));
            // Parts of failed agreements do not belong to the whole job.
            let (shares, mut given_up): (Vec<_>, Vec<_>) =
                shares.into_iter().partition(|share| Some(share.agreement) == its_own);
            // A part without a run only waited.
            given_up.retain(|share| !share.runs.is_empty());
            record.given_up = given_up;
            if let Some(bag) = &mut record.bag {
                bag.shares = shares;
            }
        }
        let Some(bag) = &mut record.bag else { return };
        let runs = || bag.shares.iter().flat_map(|share| &share.runs);
        record.start = runs().map(|run| run.start).min();
        // A job that is not over ends with the run, and not with its last task.
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

    /// Keeps an observation of a job that is not over.
    pub fn keep(&mut self, observation: Observation) {
        match observation {
            Observation::TasksOver { job, provider, run } => {
                self.runs.entry((job, provider)).or_default().push(run);
            }
            // The observation of its last task came before.
            Observation::ShareOver(mut share) => {
                share.runs = self.runs.remove(&(share.job, share.provider)).unwrap_or_default();
                self.shares.entry(share.job).or_default().push(*share);
            }
            Observation::RunLost { job, run } => self.lost.entry(job).or_default().push(run),
            _ => {}
        }
    }
}
