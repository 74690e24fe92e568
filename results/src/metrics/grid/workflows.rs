//! Workflows as wholes: the key `grid.workflows` of `summary.json`.

use std::collections::BTreeMap;

use haggle_model::grid::{GridJobRecord, GridOutcome, TryEnd, TryRecord};
use haggle_model::work::Work;
use haggle_model::{Job, Span, Time};
use serde::{Deserialize, Serialize};

use super::accounts::Accounts;
use super::spent::Spent;
use super::summary::ratio;

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// What became of workflows, by workload and number there.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkflowTotals {
    all: BTreeMap<(u16, u32), Course>,
}

/// A workflow, as far as its tasks are over.
#[derive(Clone, Debug)]
struct Course {
    submit: Time,
    tasks: u64,
    done: u64,
    length: Work,
    /// When the first task was sent to a resource.
    first: Option<Time>,
    /// When the last output of those done was stored.
    end: Time,
    written: u64,
    moved: u64,
}

impl WorkflowTotals {
    /// Takes in a job that is over; one that is no task counts for nothing here.
    pub(super) fn job_over<'a>(
        &mut self,
        record: &GridJobRecord,
        length: Work,
        tries: impl Iterator<Item = &'a TryRecord>,
    ) {
        let Job { workload, submit, ref task, .. } = *record.job;
        let Some(task) = task else { return };
        let course = self.all.entry((workload, task.workflow)).or_insert(Course {
            submit,
            tasks: 0,
            done: 0,
            length: Work::ZERO,
            first: None,
            end: submit,
            written: 0,
            moved: 0,
        });
        course.tasks += 1;
        course.length += length;
        if let GridOutcome::Done { end, .. } = record.outcome {
            course.done += 1;
            course.end = course.end.max(end);
        }
        for it in tries {
            course.first = course.first.into_iter().chain([it.dispatched]).min();
            course.written += u64::from(it.written);
            course.moved += u64::from(it.ending == TryEnd::Moved);
        }
    }

    /// Sums up; `None` if no job was a task.
    pub(super) fn sum_up(&self, spent: &Spent, accounts: &Accounts) -> Option<GridWorkflows> {
        if self.all.is_empty() {
            return None;
        }
        let all = self.all.values();
        let done = || self.all.values().filter(|it| it.done == it.tasks);
        let count = done().count() as u64;
        let sum = |part: fn(&Course) -> u64| self.all.values().map(part).sum::<u64>();
        let length = |courses: &mut dyn Iterator<Item = &Course>| -> Work {
            courses.map(|it| it.length).fold(Work::ZERO, |sum, length| sum + length)
        };
        let mean = |time: fn(&Course) -> Span| {
            let micros: i128 = done().map(|it| i128::from(time(it).as_micros())).sum();
            ratio(micros as f64 / SECOND, count as f64)
        };
        let tasks = sum(|it| it.tasks);
        let submitted = length(&mut self.all.values());
        Some(GridWorkflows {
            workflows: all.len() as u64,
            done: count,
            tasks,
            tasks_done: sum(|it| it.done),
            makespan: mean(|it| it.end - it.first.unwrap_or(it.end)),
            turnaround_time: mean(|it| it.end - it.submit),
            migrations_per_task: ratio(sum(|it| it.moved) as f64, tasks as f64),
            checkpoints_per_task: ratio(sum(|it| it.written) as f64, tasks as f64),
            useful_of_processed: ratio(
                spent.useful.work.as_mi_f64(),
                accounts.processed.as_mi_f64(),
            ),
            done_of_submitted: ratio(length(&mut done()).as_mi_f64(), submitted.as_mi_f64()),
            evaluations: accounts.rounds.evaluations,
        })
    }
}

/// Workflows in numbers (Chtepen 2011, sections 5.6 and 6.5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridWorkflows {
    /// Workflows that came.
    pub workflows: u64,
    /// Those of which all tasks are done.
    pub done: u64,
    /// Their tasks, of all workflows.
    pub tasks: u64,
    /// Those that are done.
    pub tasks_done: u64,
    /// From when the first task was sent to a resource to when the last output was stored, mean over
    /// done workflows, s.
    pub makespan: Option<f64>,
    /// From submission to the same end, s.
    pub turnaround_time: Option<f64>,
    /// How often a task went on elsewhere, mean over all tasks.
    pub migrations_per_task: Option<f64>,
    /// Checkpoints written, mean over all tasks.
    pub checkpoints_per_task: Option<f64>,
    /// Work of done tasks / all work processed (useful workload, section 5.6.1).
    pub useful_of_processed: Option<f64>,
    /// Work of done workflows / work of all (useful workload, equation 6.6).
    pub done_of_submitted: Option<f64>,
    /// Pairs of a task that runs and a place for it that were compared.
    pub evaluations: u64,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use haggle_model::progress::WorkflowTask;
    use haggle_model::work::Speed;
    use haggle_model::{JobClass, JobId};

    use super::*;

    /// Micro-example M-12.
    #[test]
    fn useful_workload_counts_tasks_or_workflows() {
        let mut totals = WorkflowTotals::default();
        let second = |second| Time::from_secs(second);
        let jobs = [(0, 100, true), (0, 200, true), (0, 300, true), (0, 100, true), (1, 100, true)];
        let jobs = jobs.into_iter().chain([(1, 400, true), (1, 400, false), (1, 100, false)]);
        for (number, (workflow, length, done)) in (0..).zip(jobs) {
            let run = Span::from_secs(length);
            let task = Some(Arc::new(WorkflowTask { workflow, task: number, progress: None }));
            let job = Job { task, id: JobId(number), ..Job::new(number, Time::ZERO, 1, run) };
            let outcome = match done {
                true => GridOutcome::Done { winner: 1, computed: second(50), end: second(90) },
                false => GridOutcome::Open {
                    end: second(99),
                    wanted: 1,
                    believed: Vec::new(),
                    restarts: true,
                },
            };
            let record =
                GridJobRecord { job: Arc::new(job), class: JobClass::Local, share: None, outcome };
            totals.job_over(&record, Speed::from_mips(1).over(run), [].into_iter());
        }
        let mut spent = Spent::default();
        spent.useful.work = Work::from_mi(1200);
        let accounts = Accounts { processed: Work::from_mi(1400), ..Accounts::default() };
        let found = totals.sum_up(&spent, &accounts).expect("there are workflows");
        let close = |found: Option<f64>, expected: f64| {
            assert!((found.expect("some") - expected).abs() < 5e-6, "{found:?}, not {expected}");
        };
        close(found.done_of_submitted, 0.41176);
        close(found.useful_of_processed, 0.85714);
        assert_eq!((found.workflows, found.done, found.tasks_done), (2, 1, 6));
        close(found.turnaround_time, 90.0);
    }
}
