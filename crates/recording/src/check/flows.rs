//! A task of a workflow must not start at a provider before its parents are done and its inputs have arrived.

use std::collections::BTreeMap;

use haggle_model::workflow::{Input, Staged, Transfer};
use haggle_model::{JobId, JobOutcome, JobRecord, Time};

use super::Violation;

/// Done tasks, and inputs at the providers of other tasks.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    /// Time at which each task was done, by workload, workflow and number.
    done: BTreeMap<(u16, u32, u32), Time>,
    /// Inputs of each task at the provider to which it was submitted last.
    staged: BTreeMap<JobId, Vec<Input>>,
}

impl Flows {
    /// Records the inputs of a task at the provider to which it is submitted.
    pub(crate) fn staged(&mut self, staged: &Staged) {
        self.staged.insert(staged.job, staged.inputs.clone());
    }

    /// Checks a job of providers that is over.
    pub(super) fn job_over(&mut self, record: &JobRecord) -> Result<(), Violation> {
        let Some(task) = &record.job.task else { return Ok(()) };
        let inputs = self.staged.remove(&record.job.id).unwrap_or_default();
        let key = |number| (record.job.workload, task.workflow, number);
        // No lost attempt may have started without its inputs, either.
        let starts = record.lost.iter().map(|run| run.start).chain(record.start);
        for start in starts {
            for need in &task.needs {
                let made = match need.made_by {
                    Some(parent) => self.done.get(&key(parent)).copied(),
                    // Data that no task makes exist from the beginning.
                    None => Some(Time::ZERO),
                };
                let is_there = |it: &Input| {
                    // An input that was not moved was at this provider already.
                    let nothing = Transfer { sent: start, arrived: Some(start) };
                    let Transfer { sent, arrived } = it.moved.unwrap_or(nothing);
                    let in_time = arrived.is_some_and(|arrived| arrived <= start);
                    it.need == *need && made.is_some_and(|made| made <= sent) && in_time
                };
                if !inputs.iter().any(is_there) {
                    let (job, bytes) = (i64::from(record.job.id.0), need.bytes);
                    return Err(Violation::WithoutInput { job, start, bytes });
                }
            }
        }
        // Only a completed task has made its data.
        if record.outcome == JobOutcome::Completed {
            self.done.insert(key(task.task), record.end);
        }
        Ok(())
    }
}
