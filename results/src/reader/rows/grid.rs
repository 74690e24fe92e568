//! Rows of a grid: tries of jobs, their checkpoints, and outages.

use haggle_model::grid::TryEnd;

use crate::ResultsError;
use crate::columns::Table;
use crate::reader::RunReader;

/// A row of `tries`. Times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct TryRow {
    /// Number of the job in this run.
    pub job: i64,
    /// Number of the try, from 1.
    pub attempt: i64,
    /// Where.
    pub provider: String,
    /// The try whose checkpoint it started from.
    pub parent: Option<i64>,
    /// When it got its slot.
    pub dispatched: f64,
    /// When it began to compute.
    pub start: Option<f64>,
    /// When it gave its slot back.
    pub left: f64,
    /// When it was over, output included.
    pub end: f64,
    /// How it ended.
    pub ending: TryEnd,
    /// What had been done of the job when it began, MI.
    pub work_at_start: f64,
    /// What had been done when it was over, MI.
    pub work_at_end: f64,
    /// Slot time in which it computed, s.
    pub computing: f64,
    /// Slot time for which checkpoints stopped it, s.
    pub writing: f64,
    /// Checkpoints that were written.
    pub checkpoints: i64,
}

/// A row of `workflows`. Times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowRow {
    /// Its workload.
    pub workload: String,
    /// Its number there, from 0.
    pub workflow: i64,
    /// Its tasks.
    pub tasks: i64,
    /// Those that are done.
    pub tasks_done: i64,
    /// Whether all are.
    pub complete: bool,
    /// When its tasks were submitted.
    pub submit: f64,
    /// When the first of them was sent to a resource.
    pub start: Option<f64>,
    /// When the output of the last one had arrived.
    pub end: Option<f64>,
    /// Time between the two.
    pub makespan: Option<f64>,
    /// Time from submission to the end.
    pub turnaround: Option<f64>,
    /// Length of its critical path on the reference processor, s.
    pub critical_path: f64,
    /// Makespan by its lower bound.
    pub schedule_length_ratio: Option<f64>,
    /// Bytes that arrived for its tasks or from them.
    pub data: i64,
    /// Tries of its tasks.
    pub tries: i64,
    /// Those that went on elsewhere.
    pub moves: i64,
    /// Those whose resource failed.
    pub failures: i64,
}

/// A row of `checkpoints`. Times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointRow {
    /// Number of the job in this run.
    pub job: i64,
    /// Number of the try, from 1.
    pub attempt: i64,
    /// When the job stopped to write it.
    pub requested: f64,
    /// When it was written; `None` = cut off.
    pub written: Option<f64>,
    /// When it could be used, if ever.
    pub available: Option<f64>,
    /// What had been done of the job, MI.
    pub work_saved: f64,
    /// For how long the try had computed by then, s.
    pub computing: f64,
}

/// A row of `outages`. Times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct OutageRow {
    /// Where.
    pub provider: String,
    /// First processor that failed, run-wide number.
    pub first: i64,
    /// Last one, included.
    pub last: i64,
    /// When it began.
    pub failed: f64,
    /// When it ended; `None` = not in this run.
    pub restored: Option<f64>,
}

impl RunReader {
    /// All rows of `workflows`; none where no job was a task.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn workflows(&self) -> Result<Vec<WorkflowRow>, ResultsError> {
        if !self.has(Table::Workflows) {
            return Ok(Vec::new());
        }
        let names = Vec::from_iter(Table::Workflows.columns().iter().map(|column| column.name));
        self.rows(Table::Workflows, &names)?.map(|row| {
            Ok(WorkflowRow {
                workload: row.text("workload_name")?,
                workflow: row.integer("workflow")?,
                tasks: row.integer("tasks")?,
                tasks_done: row.integer("tasks_done")?,
                complete: row.integer("complete")? != 0,
                submit: row.real("submission_time")?,
                start: row.optional_real("starting_time")?,
                end: row.optional_real("finish_time")?,
                makespan: row.optional_real("makespan")?,
                turnaround: row.optional_real("turnaround_time")?,
                critical_path: row.real("critical_path")?,
                schedule_length_ratio: row.optional_real("schedule_length_ratio")?,
                data: row.integer("data")?,
                tries: row.integer("tries")?,
                moves: row.integer("moves")?,
                failures: row.integer("failures")?,
            })
        })
    }

    /// All rows of `tries`.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn tries(&self) -> Result<Vec<TryRow>, ResultsError> {
        let names = [
            "job",
            "attempt",
            "provider",
            "parent",
            "dispatched_time",
            "starting_time",
            "slot_left_time",
            "finish_time",
            "outcome",
            "work_at_start",
            "work_at_end",
            "computing_time",
            "writing_time",
            "checkpoints",
        ];
        self.rows(Table::Tries, &names)?.map(|row| {
            let outcome = row.text("outcome")?;
            let ending = TryEnd::ALL.into_iter().find(|ending| ending.name() == outcome);
            Ok(TryRow {
                job: row.integer("job")?,
                attempt: row.integer("attempt")?,
                provider: row.text("provider")?,
                parent: row.optional_integer("parent")?,
                dispatched: row.real("dispatched_time")?,
                start: row.optional_real("starting_time")?,
                left: row.real("slot_left_time")?,
                end: row.real("finish_time")?,
                ending: ending
                    .ok_or_else(|| row.damaged(format!("`{outcome}` is no outcome of a try")))?,
                work_at_start: row.real("work_at_start")?,
                work_at_end: row.real("work_at_end")?,
                computing: row.real("computing_time")?,
                writing: row.real("writing_time")?,
                checkpoints: row.integer("checkpoints")?,
            })
        })
    }

    /// All rows of `checkpoints`.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn checkpoints(&self) -> Result<Vec<CheckpointRow>, ResultsError> {
        let names = [
            "job",
            "attempt",
            "requested_time",
            "written_time",
            "available_time",
            "work_saved",
            "computing_time",
        ];
        self.rows(Table::Checkpoints, &names)?.map(|row| {
            Ok(CheckpointRow {
                job: row.integer("job")?,
                attempt: row.integer("attempt")?,
                requested: row.real("requested_time")?,
                written: row.optional_real("written_time")?,
                available: row.optional_real("available_time")?,
                work_saved: row.real("work_saved")?,
                computing: row.real("computing_time")?,
            })
        })
    }

    /// All rows of `outages`; none where nothing may fail.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn outages(&self) -> Result<Vec<OutageRow>, ResultsError> {
        if !self.has(Table::Outages) {
            return Ok(Vec::new());
        }
        let names =
            ["provider", "first_resource", "last_resource", "failure_time", "restoration_time"];
        self.rows(Table::Outages, &names)?.map(|row| {
            Ok(OutageRow {
                provider: row.text("provider")?,
                first: row.integer("first_resource")?,
                last: row.integer("last_resource")?,
                failed: row.real("failure_time")?,
                restored: row.optional_real("restoration_time")?,
            })
        })
    }
}
