//! Metrics of whole workflows: the keys `workflows` and, for a grid, `grid.workflows` of `summary.json`.

mod critical;

use std::collections::BTreeMap;

use haggle_model::AttemptOutcome;
use haggle_model::grid::AttemptRecord;
use haggle_model::work::{Speed, Work};
use haggle_model::workflow::{Staged, WorkflowCame};
use haggle_model::{Job, JobId, JobOutcome, JobRecord, Refusal, Span, Time};
use serde::{Deserialize, Serialize};

use super::summary::ratio;
use critical::DoneTasks;

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// Records of workflows, by workload and number there.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkflowTotals {
    all: BTreeMap<(u16, u32), WorkflowRecord>,
    /// Transfers for tasks of providers that are not over yet.
    moved: BTreeMap<JobId, Moved>,
    done: BTreeMap<(u16, u32), DoneTasks>,
}

/// Transfers for a task of a provider.
#[derive(Clone, Copy, Debug, Default)]
struct Moved {
    bytes: u64,
    /// Duration of these transfers.
    time: Span,
}

/// Record of a workflow, from its tasks that are over.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowRecord {
    /// Data known when the workflow arrived.
    pub came: WorkflowCame,
    /// Time at which its tasks were submitted.
    pub submit: Time,
    /// Tasks that are done.
    pub done: u32,
    /// Tasks that were never submitted because an earlier one failed.
    barred: u32,
    /// The work of all tasks.
    pub length: Work,
    /// Time at which the first task was sent to a resource of a grid, or started at a provider; `None`
    /// = none was.
    pub first: Option<Time>,
    /// Time at which the last output of its done tasks was stored.
    last: Time,
    /// Attempts of its tasks.
    pub attempts: u32,
    /// Attempts that continued elsewhere from their saved state.
    pub moves: u32,
    /// Attempts whose resource failed.
    pub failures: u32,
    /// Checkpoints that were written.
    pub written: u64,
    /// Bytes that have arrived for its tasks, or from them.
    pub data: u64,
    /// Sums over done tasks on grids: time from the earliest possible start to dispatch, and to the end.
    waited: Span,
    lasted: Span,
    /// MIPS of the fastest resource of the grid, or the speed of the fastest provider.
    fastest: f64,
}

impl WorkflowRecord {
    fn new(came: WorkflowCame, submit: Time) -> WorkflowRecord {
        WorkflowRecord {
            came,
            submit,
            done: 0,
            barred: 0,
            length: Work::ZERO,
            first: None,
            last: submit,
            attempts: 0,
            moves: 0,
            failures: 0,
            written: 0,
            data: 0,
            waited: Span::ZERO,
            lasted: Span::ZERO,
            fastest: 0.0,
        }
    }

    /// True if all of its tasks are done.
    pub fn is_complete(&self) -> bool {
        self.done == self.came.tasks
    }

    /// Time at which the last output was stored, if all of its tasks are done.
    pub fn end(&self) -> Option<Time> {
        self.is_complete().then_some(self.last)
    }

    /// Time from the dispatch of the first task to the end.
    pub fn makespan(&self) -> Option<Span> {
        Some(self.end()? - self.first?)
    }

    /// Time from submission to the end.
    pub fn turnaround_time(&self) -> Option<Span> {
        Some(self.end()? - self.submit)
    }

    /// Makespan / least time of the critical path, with each task on the fastest resource and without
    /// data (SLR, Topcuoglu et al. 2002, section 5.1).
    pub fn schedule_length_ratio(&self) -> Option<f64> {
        let least = self.came.critical_path.as_secs_f64() / self.fastest;
        ratio(self.makespan()?.as_secs_f64(), least)
    }
}

impl WorkflowTotals {
    /// Records that a workflow has arrived.
    pub(crate) fn came(&mut self, now: Time, came: WorkflowCame) {
        self.all.insert((came.workload, came.number), WorkflowRecord::new(came, now));
    }

    /// Records a job that is over, and the time for which its data were in transit. Jobs that are no
    /// tasks, or that never reached a grid's scheduler, are skipped.
    pub(crate) fn job_over<'a>(
        &mut self,
        record: &JobRecord,
        length: Work,
        attempts: impl Iterator<Item = &'a AttemptRecord>,
        on_the_way: Span,
    ) {
        let Job { workload, submit, ready, ref task, .. } = *record.job;
        let Some(task) = task else { return };
        let Some(flow) = self.all.get_mut(&(workload, task.workflow)) else { return };
        flow.submit = submit;
        flow.last = flow.last.max(submit);
        flow.length += length;
        let mut sent: Option<Time> = None;
        for it in attempts {
            // `None` would be the least of two options, so the least of the times that exist is taken.
            sent = sent.into_iter().chain([it.dispatched]).min();
            flow.attempts += 1;
            flow.moves += u32::from(it.outcome == AttemptOutcome::Moved);
            flow.failures += u32::from(it.outcome == AttemptOutcome::Failed);
            flow.written += u64::from(it.written);
            flow.data += it.data.total();
        }
        flow.first = flow.first.into_iter().chain(sent).min();
        if record.outcome == JobOutcome::Completed {
            let end = record.end;
            let ready = ready.unwrap_or(submit);
            flow.done += 1;
            flow.last = flow.last.max(end);
            flow.waited += sent.map_or(Span::ZERO, |sent| sent - ready);
            flow.lasted += end - ready;
            self.done(&record.job, end, on_the_way);
        }
    }

    /// Records that the inputs of a task have arrived at a provider.
    pub(crate) fn staged(&mut self, staged: &Staged) {
        let moved = self.moved.entry(staged.job).or_default();
        moved.bytes += staged.bytes_moved();
        let sent = staged.inputs.iter().filter_map(|it| it.moved).map(|it| it.sent).min();
        moved.time += sent.zip(staged.arrived()).map_or(Span::ZERO, |(sent, there)| there - sent);
    }

    fn done(&mut self, job: &Job, end: Time, data: Span) {
        if let Some(task) = &job.task {
            self.done.entry((job.workload, task.workflow)).or_default().add(job, end, data);
        }
    }

    /// Records a job of providers that is over. Jobs that are no tasks are skipped.
    pub(crate) fn provider_job_over(&mut self, record: &JobRecord) {
        let moved = self.moved.remove(&record.job.id).unwrap_or_default();
        let Job { workload, processors, submit, ref task, run_time, .. } = *record.job;
        let Some(task) = task else { return };
        let Some(flow) = self.all.get_mut(&(workload, task.workflow)) else { return };
        let length = Speed::from_mips(1).over(run_time.reveal_to_machine());
        // The submission may be later than the arrival: the user may have been down.
        flow.submit = submit;
        flow.length += Work::from_parts(length.as_parts() * u128::from(processors));
        flow.done += u32::from(record.outcome == JobOutcome::Completed);
        flow.barred += u32::from(record.outcome == JobOutcome::Rejected(Refusal::ParentFailed));
        flow.data += moved.bytes;
        let lost = record.lost.iter().map(|run| run.start);
        flow.first = flow.first.into_iter().chain(lost).chain(record.start).min();
        if record.outcome == JobOutcome::Completed {
            flow.last = flow.last.max(record.end);
        }
        let failed = record.lost.iter().filter(|it| it.stopped_for.is_none());
        flow.failures += failed.count() as u32;
        let shares = record.bag.as_ref().map(|bag| bag.shares.len() as u32);
        let kept = shares.unwrap_or_else(|| u32::from(record.has_last_attempt()));
        flow.attempts += record.lost.len() as u32 + kept;
        // Last, because it needs all totals, and `flow` borrows a part of them.
        if record.outcome == JobOutcome::Completed {
            self.done(&record.job, record.end, moved.time);
        }
    }

    /// Share of data transfers in the critical paths of done workflows, as these ran.
    fn data_of_critical_path(&self) -> Option<f64> {
        let (mut data, mut all) = (0, 0);
        for (key, flow) in self.all.iter().filter(|(_, flow)| flow.is_complete()) {
            let (Some(tasks), Some(time)) = (self.done.get(key), flow.turnaround_time()) else {
                continue;
            };
            data += i128::from(tasks.data_on_critical_path().as_micros());
            all += i128::from(time.as_micros());
        }
        ratio(data as f64, all as f64)
    }

    /// All records; `fastest` is the speed of the fastest resource of a grid in MIPS, or of the fastest
    /// provider.
    pub(crate) fn records(&self, fastest: f64) -> impl Iterator<Item = WorkflowRecord> {
        self.all.values().map(move |it| WorkflowRecord { fastest, ..it.clone() })
    }

    /// Sums up the workflows of providers; `None` if no job was a task.
    pub(crate) fn sum_up(&self, fastest: f64) -> Option<Workflows> {
        if self.all.is_empty() {
            return None;
        }
        let all: Vec<WorkflowRecord> = self.records(fastest).collect();
        let done = || all.iter().filter(|it| it.is_complete());
        let count = done().count() as u64;
        let sum = |part: fn(&WorkflowRecord) -> u64| all.iter().map(part).sum::<u64>();
        let length = |flows: &mut dyn Iterator<Item = &WorkflowRecord>| -> Work {
            flows.map(|it| it.length).fold(Work::ZERO, |sum, length| sum + length)
        };
        let mean = |time: fn(&WorkflowRecord) -> Option<Span>| {
            let micros = done().map(|it| i128::from(time(it).unwrap_or(Span::ZERO).as_micros()));
            ratio(micros.sum::<i128>() as f64 / SECOND, count as f64)
        };
        let ratios = Vec::from_iter(done().filter_map(WorkflowRecord::schedule_length_ratio));
        let submitted = length(&mut all.iter());
        Some(Workflows {
            workflows: all.len() as u64,
            done: count,
            tasks: sum(|it| u64::from(it.came.tasks)),
            tasks_done: sum(|it| u64::from(it.done)),
            tasks_barred: sum(|it| u64::from(it.barred)),
            makespan: mean(WorkflowRecord::makespan),
            schedule_length_ratio: ratio(ratios.iter().sum(), ratios.len() as f64),
            turnaround_time: mean(WorkflowRecord::turnaround_time),
            done_of_submitted: ratio(length(&mut done()).as_mi_f64(), submitted.as_mi_f64()),
            data: sum(|it| it.data),
            data_of_critical_path: self.data_of_critical_path(),
        })
    }

    /// Sums up the workflows of a grid, from its useful and its processed work; `None` if no job was a task.
    pub(crate) fn sum_up_grid(
        &self,
        (useful, processed): (Work, Work),
        evaluations: u64,
        fastest: f64,
    ) -> Option<GridWorkflows> {
        let all = self.sum_up(fastest)?;
        let per_task = |part: fn(&WorkflowRecord) -> u64| {
            ratio(self.all.values().map(part).sum::<u64>() as f64, all.tasks as f64)
        };
        let time = |part: fn(&WorkflowRecord) -> Span| {
            self.all.values().map(|it| i128::from(part(it).as_micros())).sum::<i128>() as f64
        };
        Some(GridWorkflows {
            workflows: all.workflows,
            done: all.done,
            tasks: all.tasks,
            tasks_done: all.tasks_done,
            makespan: all.makespan,
            schedule_length_ratio: all.schedule_length_ratio,
            turnaround_time: all.turnaround_time,
            migrations_per_task: per_task(|it| u64::from(it.moves)),
            waiting_percent: ratio(100.0 * time(|it| it.waited), time(|it| it.lasted)),
            checkpoints_per_task: per_task(|it| it.written),
            useful_of_processed: ratio(useful.as_mi_f64(), processed.as_mi_f64()),
            done_of_submitted: all.done_of_submitted,
            evaluations,
            data_of_critical_path: all.data_of_critical_path,
        })
    }
}

/// Workflows that providers ran, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workflows {
    /// Workflows that arrived.
    pub workflows: u64,
    /// Workflows whose tasks are all done.
    pub done: u64,
    /// Tasks of all workflows.
    pub tasks: u64,
    /// Tasks that are done.
    pub tasks_done: u64,
    /// Tasks that were never submitted because an earlier one failed.
    pub tasks_barred: u64,
    /// From the first start of a task to the last end, mean over done workflows, s.
    pub makespan: Option<f64>,
    /// Makespan / (critical path / speed of the fastest provider), mean over done workflows (SLR).
    pub schedule_length_ratio: Option<f64>,
    /// Time from submission to the same end, s.
    pub turnaround_time: Option<f64>,
    /// Work of done workflows / work of all.
    pub done_of_submitted: Option<f64>,
    /// Bytes that were transferred to the providers that were to run tasks.
    pub data: u64,
    /// Time of data in transit on the critical paths of done workflows, as these ran / time from their
    /// submission to their ends, 0 to 1.
    #[serde(default)]
    pub data_of_critical_path: Option<f64>,
}

/// Workflows in numbers (Chtepen 2011, sections 5.6 and 6.5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridWorkflows {
    /// Workflows that arrived.
    pub workflows: u64,
    /// Workflows whose tasks are all done.
    pub done: u64,
    /// Tasks of all workflows.
    pub tasks: u64,
    /// Tasks that are done.
    pub tasks_done: u64,
    /// Time from the dispatch of the first task to the storing of the last output, mean over done
    /// workflows, s.
    pub makespan: Option<f64>,
    /// Makespan / (critical path / speed of the fastest resource), mean over done workflows (SLR,
    /// Topcuoglu et al. 2002).
    #[serde(default)]
    pub schedule_length_ratio: Option<f64>,
    /// Time from submission to the same end, s.
    pub turnaround_time: Option<f64>,
    /// Share of waiting for dispatch in the time from a task's earliest possible start to its end, over
    /// all done tasks, %.
    #[serde(default)]
    pub waiting_percent: Option<f64>,
    /// Migrations of a task to another resource, mean over all tasks.
    pub migrations_per_task: Option<f64>,
    /// Checkpoints written, mean over all tasks.
    pub checkpoints_per_task: Option<f64>,
    /// Work of done tasks / all work processed (useful workload, section 5.6.1).
    pub useful_of_processed: Option<f64>,
    /// Work of done workflows / work of all (useful workload, equation 6.6).
    pub done_of_submitted: Option<f64>,
    /// Pairs of a running task and a place for it that were compared.
    pub evaluations: u64,
    /// Share of transfers in the critical paths of done workflows, as these ran, 0 to 1. Transfers are the
    /// time in which tasks waited in slots for data or preparation, or their outputs were in transit.
    /// The whole is the time from submission to end of these workflows.
    #[serde(default)]
    pub data_of_critical_path: Option<f64>,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use haggle_model::work::Speed;
    use haggle_model::workflow::WorkflowTask;
    use haggle_model::{JobClass, JobId};

    use super::*;

    /// Micro-example M-12.
    #[test]
    fn useful_workload_counts_tasks_or_workflows() {
        let mut totals = WorkflowTotals::default();
        let second = |second| Time::from_secs(second);
        for number in [0, 1] {
            let critical_path = Span::from_secs(500);
            totals.came(Time::ZERO, WorkflowCame { workload: 0, number, tasks: 4, critical_path });
        }
        let jobs = [(0, 100, true), (0, 200, true), (0, 300, true), (0, 100, true), (1, 100, true)];
        let jobs = jobs.into_iter().chain([(1, 400, true), (1, 400, false), (1, 100, false)]);
        for (number, (workflow, length, done)) in (0..).zip(jobs) {
            let run = Span::from_secs(length);
            let task = Some(Arc::new(WorkflowTask {
                workflow,
                task: number,
                data: None,
                progress: None,
                needs: [].into(),
            }));
            let job = Job { task, id: JobId(number), ..Job::new(number, Time::ZERO, 1, run) };
            let (outcome, end) = match done {
                true => (JobOutcome::Completed, second(90)),
                false => (JobOutcome::Unfinished, second(99)),
            };
            let record = JobRecord::never_queued(job, JobClass::Local, outcome, end);
            totals.job_over(&record, Speed::from_mips(1).over(run), [].into_iter(), Span::ZERO);
        }
        let work = (Work::from_mi(1200), Work::from_mi(1400));
        let found = totals.sum_up_grid(work, 0, 1.0).expect("there are workflows");
        let close = |found: Option<f64>, expected: f64| {
            assert!((found.expect("some") - expected).abs() < 5e-6, "{found:?}, not {expected}");
        };
        close(found.done_of_submitted, 0.41176);
        close(found.useful_of_processed, 0.85714);
        assert_eq!((found.workflows, found.done, found.tasks_done), (2, 1, 6));
        close(found.turnaround_time, 90.0);
    }
}
