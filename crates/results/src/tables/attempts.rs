//! The table `attempts`: of providers and grids alike.

use haggle_model::{AttemptOutcome, Job, ProcessorSet, ProviderId};

use super::jobs::NOT_STARTED;
use super::{Integer, Provider, Real, Seconds, Text, Word, Workload, part, table};
use crate::columns::Missing;
use crate::columns::Missing::{Empty, Never};

/// Missing except for attempts on resources of a grid.
const NO_GRID: Missing = Empty("not on a grid");

table! {
    Attempts, attempts, required: "One row an attempt: a job, or a share of a bag, that was queued at a provider, or a \
     job that got a slot on a resource of a grid. Rows have the order of `jobs`, those of one job by number. Work lost \
     by failures has rows of its own at providers. A job has such a row before its last attempt. A bag has one for \
     tasks that had started together, behind its shares, and a job on several providers one for a part, behind its \
     parts. Parts that were given up come last. If such a part ends after its job is over, its row follows the rows of \
     the jobs that were over by then. Columns without a meaning at providers, where a job has its \
     processors to itself, or on a grid, where it shares them, are missing there. evalys draws it like `jobs`; \
     attempts that share a resource lie on one another.";

    /// A row of `attempts`. Times in seconds since the start of the run.
    AttemptRow, AttemptCells;

    job: i64 = Integer, "job", "", "the job's number in this run", Never;
    job_id: i64 = Integer, "job_id", "", "the job's number in its workload", Never, any_integer;
    workload: String = Workload, "workload_name", "", "name of the workload", Never;
    attempt: i64 = Integer, "attempt", "", "number of the attempt, from 1; on a grid, a number is missing where a resource refused", Never, at_least_one;
    provider: String = Provider, "provider", "", "the provider, the cluster or the resource of a grid", Never;
    submit: f64 = Seconds, "submission_time", "s", "submission by the job's user", Never, also_before_run;
    queued: Option<f64> = Seconds, "queued_time", "s", "time at which the provider queued it; on a grid, at which it got its slot", Empty("not recorded"), also_before_run;
    start: Option<f64> = Seconds, "starting_time", "s", "start; on a grid, beginning of computing", NOT_STARTED, also_before_run;
    end: Option<f64> = Seconds, "finish_time", "s", "end, output included, or end of the run", Empty("a share of which no task ran");
    processors: i64 = Integer, "requested_number_of_resources", "processors", "processors it needs at once, or got if it is moldable; of a share, its tasks", Never, at_least_one;
    allocated: Option<ProcessorSet> = Text, "allocated_resources", "", "its processors, as in `jobs`; on a grid, the processor of its resource, which other jobs may share", NOT_STARTED;
    outcome: AttemptOutcome = Word, "outcome", "", "`completed`, `walltime_reached`, `cancelled` (withdrawn; on a grid, no longer needed), `failed` (its processors or its resource failed), `preempted` (stopped for another job), `given_up` (a part that ran although its job did not run as a whole), `unfinished` (the run stopped); on a grid also `moved` (it continued on another resource) and `stranded` (its data came from a resource that failed)", Never;
    promised_end: Option<f64> = Seconds, "promised_finish_time", "s", "completion promised for this attempt", Empty("no promise");
    saved: Option<f64> = Seconds, "saved_time", "s", "of a failed or preempted attempt: computing that the next attempt need not repeat", Empty("on a grid: see `checkpoints`");
    checkpointing: f64 = Seconds, "checkpointing_time", "s", "time for its start-up after a move and for reading and writing checkpoints; on a grid, slot time for which writing checkpoints stopped it", Never;
    parent: Option<i64> = Integer, "parent", "", "the attempt from whose checkpoint it started", Empty("it started from the beginning, or not on a grid"), if_used;
    left: Option<f64> = Seconds, "slot_left_time", "s", "time at which it released its slot; the transfer of its output needs none", NO_GRID, if_used;
    work_at_start: Option<f64> = Real, "work_at_start", "MI", "work of the job done before its beginning; 1 MI is the work of 1 MIPS in 1 s", NO_GRID, if_used;
    work_at_end: Option<f64> = Real, "work_at_end", "MI", "work of the job done at its end", NO_GRID, if_used;
    computing: Option<f64> = Seconds, "computing_time", "s", "slot time in which it computed", NO_GRID, if_used;
    data: Option<f64> = Seconds, "data_time", "s", "slot time in which it waited for data: slot_left_time - queued_time - computing_time - checkpointing_time", NO_GRID, if_used;
    checkpoints: Option<i64> = Integer, "checkpoints", "checkpoints", "checkpoints that were written", NO_GRID, if_used;
    checkpoints_omitted: Option<i64> = Integer, "checkpoints_omitted", "checkpoints", "checkpoints that were due and omitted", NO_GRID, if_used;
    stopped_for: Option<i64> = Integer, "stopped_for", "", "number in this run of the job for which it was stopped", Empty("it was not stopped for another job"), if_used;
}

impl AttemptCells<'_> {
    /// An attempt at a provider that has ended like this, of which nothing else is known.
    pub(crate) fn new(
        job: &Job,
        attempt: i64,
        provider: ProviderId,
        outcome: AttemptOutcome,
    ) -> AttemptCells<'_> {
        AttemptCells {
            job: i64::from(job.id.0),
            job_id: job.number,
            workload: job.workload,
            attempt,
            provider,
            submit: job.submit.as_micros(),
            queued: None,
            start: None,
            end: None,
            processors: i64::from(job.processors),
            allocated: None,
            outcome,
            promised_end: None,
            saved: None,
            checkpointing: 0,
            parent: None,
            left: None,
            work_at_start: None,
            work_at_end: None,
            computing: None,
            data: None,
            checkpoints: None,
            checkpoints_omitted: None,
            stopped_for: None,
        }
    }
}

impl AttemptRow {
    /// Beginning and end of its slot on a resource of a grid; `None` for an attempt at a provider.
    pub fn slot(&self) -> Option<(f64, f64)> {
        self.queued.zip(self.left)
    }

    /// Returns whether its unsaved work was lost: its processors or its resource failed, or it was stopped for another job.
    pub fn is_lost(&self) -> bool {
        self.has_failed() || self.outcome == AttemptOutcome::Preempted
    }

    /// Returns whether its processors or its resource failed.
    pub fn has_failed(&self) -> bool {
        self.outcome == AttemptOutcome::Failed
    }
}

part! {
    Attempts, attempts;

    /// The slot of an attempt on a grid; without times, it was at a provider. Times in seconds since the start of the run.
    SlotTimes;

    job: i64 = Integer, "job";
    provider: String = Provider, "provider";
    queued: Option<f64> = Seconds, "queued_time";
    left: Option<f64> = Seconds, "slot_left_time";
}
