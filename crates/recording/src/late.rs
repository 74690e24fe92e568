//! Parts that end after their job is over, because the message that gives them up is still under way. Their rows
//! follow those of the job.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_model::{Job, JobId, JobOutcome, JobRecord, LostRun, Observation, ShareRecord, TaskRun};

/// Jobs that are over, and of which parts may still run.
#[derive(Clone, Debug, Default)]
pub(crate) struct LateParts {
    over: BTreeMap<JobId, Over>,
}

/// A job that is over.
#[derive(Clone, Debug)]
struct Over {
    job: Arc<Job>,
    /// Number of its attempts so far, with parts that were given up.
    attempts: i64,
}

impl LateParts {
    /// Records that a job is over.
    pub(crate) fn job_over(&mut self, record: &JobRecord) {
        // A job that never had a provider may have been tried on several ones.
        let may_have_parts =
            record.bag.as_ref().map_or(record.provider.is_none(), |bag| bag.is_agreed());
        if may_have_parts {
            let attempts = (record.attempts() + record.given_up.len()) as i64;
            self.over.insert(record.job.id, Over { job: Arc::clone(&record.job), attempts });
        }
    }

    /// If the observation is the loss of a part whose job is over: the observations of a part that was stopped at that
    /// instant. The loss cost no job anything.
    pub(crate) fn stopped(&self, observation: &Observation) -> Option<[Observation; 2]> {
        let Observation::RunLost { job, run } = observation else { return None };
        self.over.contains_key(job).then(|| stopped(*job, run))
    }

    /// The job and the number of the attempt, if the observation is the end of a part whose job is over.
    pub(crate) fn ended<'a>(
        &mut self,
        observation: &'a Observation,
    ) -> Option<(Arc<Job>, i64, &'a ShareRecord)> {
        let Observation::ShareOver(part) = observation else { return None };
        let over = self.over.get_mut(&part.job).filter(|_| !part.runs.is_empty())?;
        over.attempts += 1;
        Some((Arc::clone(&over.job), over.attempts, part))
    }
}

fn stopped(job: JobId, lost: &LostRun) -> [Observation; 2] {
    let &LostRun { provider, start, end, ref processors, .. } = lost;
    let run =
        TaskRun { start, end, outcome: JobOutcome::Cancelled, processors: processors.clone() };
    let part = ShareRecord {
        job,
        provider,
        tasks: processors.count(),
        queued: start,
        walltime: end - start,
        promised_end: None,
        agreement: None,
        runs: vec![run.clone()],
    };
    [Observation::TasksOver { job, provider, run }, Observation::ShareOver(Box::new(part))]
}
