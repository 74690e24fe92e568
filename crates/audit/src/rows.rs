//! The tables of a folder as rows, with times and processor time as integers.

use haggle_model::AttemptOutcome;
use haggle_results::reader::{
    AttemptRow, BookingRow, CheckpointRow, HoldRow, InputRow, OutageRow, PlacementRow, TableData,
    TextColumn, TransactionRow, WorkflowRow,
};
use haggle_results::{ResourceRow, ResultsError, RunReader, Table};

use super::nodes::OnNodes;

/// A time in microseconds.
pub(super) type Micros = i64;

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// A row of `jobs`.
pub(super) struct Job {
    pub(super) job: i64,
    pub(super) workload: String,
    pub(super) class: String,
    pub(super) outcome: String,
    pub(super) provider: Option<String>,
    pub(super) is_bag: bool,
    pub(super) is_moldable: bool,
    pub(super) is_iterative: bool,
    pub(super) width: i64,
    pub(super) attempts: i64,
    pub(super) submitted: Micros,
    pub(super) ready: Option<Micros>,
    pub(super) queued: Option<Micros>,
    pub(super) started: Option<Micros>,
    pub(super) finished: Option<Micros>,
    pub(super) left: Micros,
    pub(super) waited: Option<Micros>,
    pub(super) ran: Option<Micros>,
    pub(super) turnaround: Option<Micros>,
    pub(super) bounded_slowdown: Option<f64>,
    pub(super) promised: Option<Micros>,
    /// Its limit at its provider.
    pub(super) limit: Option<Micros>,
    pub(super) workflow: Option<i64>,
    /// Its number in the workflow.
    pub(super) task: Option<i64>,
    /// True if it was submitted before the run, as a part of its start state.
    pub(super) is_initial: bool,
    pub(super) counted: bool,
    /// True if it has whole nodes.
    pub(super) is_exclusive: bool,
    /// Start by its log, at a provider that starts jobs as recorded.
    pub(super) recorded: Option<Micros>,
    /// True if it follows others.
    pub(super) follows: bool,
    /// True if its user still held it when the run stopped.
    pub(super) is_held: bool,
    /// Its waiting time on the machine of its log.
    pub(super) recorded_wait: Option<Micros>,
}

impl Job {
    /// True if it came to its end, so that distributions count it.
    pub(super) fn is_done(&self) -> bool {
        !matches!(self.outcome.as_str(), "failed" | "unfinished")
    }
}

/// A row of `attempts`.
pub(super) struct Attempt {
    pub(super) job: i64,
    pub(super) attempt: i64,
    pub(super) provider: String,
    pub(super) outcome: AttemptOutcome,
    pub(super) width: i64,
    pub(super) submitted: Micros,
    pub(super) queued: Option<Micros>,
    pub(super) started: Option<Micros>,
    pub(super) finished: Option<Micros>,
    pub(super) saved: Micros,
    pub(super) checkpointing: Micros,
    pub(super) slot: Option<Slot>,
}

impl Attempt {
    pub(super) fn has_failed(&self) -> bool {
        self.outcome == AttemptOutcome::Failed
    }

    /// True for a part that ran although its job did not run as a whole.
    pub(super) fn is_given_up(&self) -> bool {
        self.outcome == AttemptOutcome::GivenUp
    }

    pub(super) fn named(&self) -> String {
        format!("job {}, attempt {}", self.job, self.attempt)
    }
}

/// Fields that only an attempt on a grid has.
pub(super) struct Slot {
    pub(super) got: Micros,
    pub(super) left: Micros,
    pub(super) computing: Micros,
    pub(super) waiting: Micros,
    pub(super) work: f64,
    pub(super) checkpoints: i64,
}

/// A row of `placements`.
pub(super) struct Placement {
    pub(super) job: i64,
    pub(super) attempt: i64,
    pub(super) provider: String,
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) started: Micros,
    pub(super) finished: Micros,
}

impl Placement {
    /// Processor time held, processor-microseconds.
    pub(super) fn area(&self) -> i128 {
        i128::from(self.last - self.first + 1) * i128::from(self.finished - self.started)
    }

    /// The same, from time zero on. A start state has begun before.
    pub(super) fn area_in_run(&self) -> i128 {
        let span = self.finished.max(0) - self.started.max(0);
        i128::from(self.last - self.first + 1) * i128::from(span)
    }
}

/// A row of `resources`.
pub(super) struct Resource {
    pub(super) provider: String,
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) processors: i64,
    pub(super) jobs: i64,
    pub(super) busy: f64,
    pub(super) is_shared: bool,
}

/// A row of `messages` or `message_counts`.
pub(super) struct Message {
    pub(super) sender: String,
    pub(super) receiver: String,
    pub(super) kind: String,
    pub(super) count: i64,
}

/// A row of `disclosures`.
pub(super) struct Disclosure {
    pub(super) sender: String,
    pub(super) receiver: String,
    pub(super) item: String,
    pub(super) count: i64,
}

/// A row of `reservations`.
pub(super) struct Reservation {
    pub(super) job: i64,
    pub(super) granted: Micros,
    pub(super) processors: i64,
    pub(super) ready: Option<Micros>,
    pub(super) deadline: Option<Micros>,
    pub(super) span: Micros,
    pub(super) planned: Micros,
    pub(super) beside: bool,
    pub(super) fixed: Option<Micros>,
    pub(super) broken: bool,
}

/// A row of `displacements`.
pub(super) struct Displacement {
    pub(super) job: i64,
    pub(super) provider: String,
    pub(super) time: Micros,
    pub(super) cause: String,
    pub(super) answer: String,
    pub(super) processors: i64,
    pub(super) span: Micros,
    pub(super) planned: Option<Micros>,
}

/// A row of `crashes`.
pub(super) struct Crash {
    pub(super) actor: String,
    pub(super) crashed: Micros,
    pub(super) restarted: Option<Micros>,
}

/// A row of `moves`.
pub(super) struct Move {
    pub(super) time: Micros,
    pub(super) job: i64,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) processors_before: Option<i64>,
    pub(super) processors: Option<i64>,
    pub(super) ready: Option<Micros>,
    pub(super) start_up: Option<Micros>,
}

/// A row of `failures`.
pub(super) struct Failure {
    pub(super) time: Micros,
    pub(super) provider: String,
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) event: String,
}

/// A row of `outages`.
pub(super) struct Outage {
    pub(super) provider: String,
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) failed: Micros,
    pub(super) restored: Option<Micros>,
    pub(super) jobs_lost: i64,
    pub(super) work_lost: f64,
}

/// A row of `maintenance`.
pub(super) struct Maintenance {
    pub(super) provider: String,
    pub(super) window: i64,
    pub(super) announced: Micros,
    pub(super) started: Micros,
    pub(super) finished: Micros,
    pub(super) wanted: i64,
    pub(super) closed: i64,
    pub(super) outcome: String,
    pub(super) interval: Option<(i64, i64)>,
    pub(super) possible: Option<Micros>,
}

/// The tables that are checked; a table that the run lacks is empty.
pub(super) struct Rows {
    pub(super) jobs: Vec<Job>,
    pub(super) attempts: Vec<Attempt>,
    pub(super) placements: Vec<Placement>,
    pub(super) resources: Vec<Resource>,
    /// `None` if the run keeps no messages.
    pub(super) messages: Option<Vec<Message>>,
    pub(super) disclosures: Vec<Disclosure>,
    /// Rows of `offers` by the provider's name.
    pub(super) offers: Vec<String>,
    pub(super) reservations: Vec<Reservation>,
    pub(super) displacements: Vec<Displacement>,
    pub(super) crashes: Vec<Crash>,
    pub(super) moves: Vec<Move>,
    pub(super) bookings: Vec<BookingRow>,
    pub(super) transactions: Vec<TransactionRow>,
    pub(super) holds: Vec<HoldRow>,
    pub(super) failures: Vec<Failure>,
    pub(super) outages: Vec<Outage>,
    pub(super) maintenance: Vec<Maintenance>,
    /// Bytes of `transfers`.
    pub(super) bytes: Vec<i64>,
    /// Checkpoints of providers; empty unless a storage keeps them.
    pub(super) checkpoints: Vec<CheckpointRow>,
    pub(super) inputs: Vec<InputRow>,
    pub(super) workflows: Vec<WorkflowRow>,
    pub(super) on_nodes: OnNodes,
}

impl Rows {
    /// The attempts at providers.
    pub(super) fn at_providers(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(|it| it.slot.is_none())
    }

    /// Attempts on the resources of a grid, each with its own fields.
    pub(super) fn on_grid(&self) -> impl Iterator<Item = (&Attempt, &Slot)> {
        self.attempts.iter().filter_map(|it| Some((it, it.slot.as_ref()?)))
    }

    pub(super) fn read(run: &RunReader) -> Result<Rows, ResultsError> {
        Ok(Rows {
            jobs: jobs(run)?,
            attempts: attempts(run)?,
            placements: placements(run)?,
            resources: resources(run)?,
            messages: messages(run)?,
            disclosures: disclosures(run)?,
            offers: read(run, Table::Offers, &["sender"], |row| row.text("sender"))?,
            reservations: reservations(run)?,
            displacements: displacements(run)?,
            crashes: crashes(run)?,
            moves: moves(run)?,
            bookings: run.bookings()?,
            transactions: run.transactions()?,
            holds: run.holds()?,
            failures: failures(run)?,
            outages: outages(run)?,
            maintenance: maintenance(run)?,
            bytes: read(run, Table::Transfers, &["bytes"], |row| row.integer("bytes"))?,
            checkpoints: Vec::new(),
            inputs: run.inputs()?,
            workflows: run.workflows()?,
            on_nodes: OnNodes::read(run)?,
        })
    }
}

fn jobs(run: &RunReader) -> Result<Vec<Job>, ResultsError> {
    let names = [
        "job",
        "workload_name",
        "class",
        "outcome",
        "provider",
        "shape",
        "requested_number_of_resources",
        "attempts",
        "submission_time",
        "ready_time",
        "queued_time",
        "starting_time",
        "finish_time",
        "left_time",
        "waiting_time",
        "execution_time",
        "turnaround_time",
        "bounded_slowdown",
        "promised_finish_time",
        "workflow",
        "task",
        "initial",
        "counted",
        "provider_walltime",
        "recorded_start",
        "exclusive",
        "preceding_job",
        "held",
        "recorded_waiting_time",
    ];
    read(run, Table::Jobs, &names, |row| {
        Ok(Job {
            job: row.integer("job")?,
            workload: row.text("workload_name")?,
            class: row.text("class")?,
            outcome: row.text("outcome")?,
            provider: row.maybe_text("provider")?,
            is_bag: ["bag", "spread", "iterative", "phased"].contains(&row.text("shape")?.as_str()),
            is_moldable: row.text("shape")? == "moldable",
            is_iterative: row.text("shape")? == "iterative",
            width: row.integer("requested_number_of_resources")?,
            attempts: row.integer("attempts")?,
            submitted: row.time("submission_time")?,
            ready: row.maybe_time("ready_time")?,
            queued: row.maybe_time("queued_time")?,
            started: row.maybe_time("starting_time")?,
            finished: row.maybe_time("finish_time")?,
            left: row.time("left_time")?,
            waited: row.maybe_time("waiting_time")?,
            ran: row.maybe_time("execution_time")?,
            turnaround: row.maybe_time("turnaround_time")?,
            bounded_slowdown: row.maybe_real("bounded_slowdown")?,
            promised: row.maybe_time("promised_finish_time")?,
            limit: row.maybe_time("provider_walltime")?,
            recorded: row.maybe_time("recorded_start")?,
            is_exclusive: row.maybe_integer("exclusive")?.is_some(),
            follows: row.maybe_integer("preceding_job")?.is_some(),
            is_held: row.maybe_integer("held")?.is_some(),
            recorded_wait: row.maybe_time("recorded_waiting_time")?,
            workflow: row.maybe_integer("workflow")?,
            task: row.maybe_integer("task")?,
            is_initial: row.maybe_text("initial")?.is_some(),
            counted: row.integer("counted")? != 0,
        })
    })
}

fn attempts(run: &RunReader) -> Result<Vec<Attempt>, ResultsError> {
    let attempt = |it: AttemptRow| Attempt {
        slot: it.slot().map(|(got, left)| Slot {
            got: micros(got),
            left: micros(left),
            computing: it.computing.map_or(0, micros),
            waiting: it.data.map_or(0, micros),
            work: it.work_at_end.unwrap_or_default() - it.work_at_start.unwrap_or_default(),
            checkpoints: it.checkpoints.unwrap_or_default(),
        }),
        job: it.job,
        attempt: it.attempt,
        provider: it.provider,
        outcome: it.outcome,
        width: it.processors,
        submitted: micros(it.submit),
        queued: it.queued.map(micros),
        started: it.start.map(micros),
        finished: it.end.map(micros),
        saved: it.saved.map_or(0, micros),
        checkpointing: micros(it.checkpointing),
    };
    Ok(run.attempts()?.into_iter().map(attempt).collect())
}

fn reservations(run: &RunReader) -> Result<Vec<Reservation>, ResultsError> {
    let names = [
        "job",
        "granted_time",
        "processors",
        "ready_time",
        "deadline",
        "planned_time",
        "planned_starting_time",
        "distance_time",
        "fixed_starting_time",
        "broken",
    ];
    read(run, Table::Reservations, &names, |row| {
        Ok(Reservation {
            job: row.integer("job")?,
            granted: row.time("granted_time")?,
            processors: row.integer("processors")?,
            ready: row.maybe_time("ready_time")?,
            deadline: row.maybe_time("deadline")?,
            span: row.time("planned_time")?,
            planned: row.time("planned_starting_time")?,
            beside: row.maybe_time("distance_time")?.is_some(),
            fixed: row.maybe_time("fixed_starting_time")?,
            broken: row.integer("broken")? != 0,
        })
    })
}

fn displacements(run: &RunReader) -> Result<Vec<Displacement>, ResultsError> {
    let columns = Table::Displacements.columns();
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    read(run, Table::Displacements, &names, |row| {
        Ok(Displacement {
            job: row.integer("job")?,
            provider: row.text("provider")?,
            time: row.time("time")?,
            cause: row.text("cause")?,
            answer: row.text("answer")?,
            processors: row.integer("processors")?,
            span: row.time("planned_time")?,
            planned: row.maybe_time("planned_starting_time")?,
        })
    })
}

fn crashes(run: &RunReader) -> Result<Vec<Crash>, ResultsError> {
    read(run, Table::Crashes, &["actor", "crash_time", "restart_time"], |row| {
        Ok(Crash {
            actor: row.text("actor")?,
            crashed: row.time("crash_time")?,
            restarted: row.maybe_time("restart_time")?,
        })
    })
}

fn moves(run: &RunReader) -> Result<Vec<Move>, ResultsError> {
    let names = [
        "time",
        "job",
        "sender",
        "receiver",
        "processors_before",
        "processors",
        "ready_time",
        "start_up_time",
    ];
    read(run, Table::Moves, &names, |row| {
        Ok(Move {
            time: row.time("time")?,
            job: row.integer("job")?,
            from: row.text("sender")?,
            to: row.text("receiver")?,
            processors_before: row.maybe_integer("processors_before")?,
            processors: row.maybe_integer("processors")?,
            ready: row.maybe_time("ready_time")?,
            start_up: row.maybe_time("start_up_time")?,
        })
    })
}

fn placements(run: &RunReader) -> Result<Vec<Placement>, ResultsError> {
    let placement = |it: PlacementRow| Placement {
        job: it.job,
        attempt: it.attempt,
        provider: it.provider,
        first: it.first,
        last: it.last,
        started: micros(it.start),
        finished: micros(it.end),
    };
    Ok(run.placements()?.into_iter().map(placement).collect())
}

fn resources(run: &RunReader) -> Result<Vec<Resource>, ResultsError> {
    let resource = |it: ResourceRow| Resource {
        is_shared: it.is_shared(),
        provider: it.provider,
        first: it.first,
        last: it.last,
        processors: it.processors,
        jobs: it.jobs,
        busy: it.busy_time,
    };
    Ok(run.resources()?.into_iter().map(resource).collect())
}

fn messages(run: &RunReader) -> Result<Option<Vec<Message>>, ResultsError> {
    let counted = run.has(Table::MessageCounts);
    if !counted && !run.has(Table::Messages) {
        return Ok(None);
    }
    let table = if counted { Table::MessageCounts } else { Table::Messages };
    let names = ["sender", "receiver", "kind", "count"];
    let names = if counted { &names[..] } else { &names[..3] };
    let message = |row: &Row<'_>| {
        let count = if counted { row.integer("count")? } else { 1 };
        let (sender, receiver) = (row.text("sender")?, row.text("receiver")?);
        Ok(Message { sender, receiver, kind: row.text("kind")?, count })
    };
    read(run, table, names, message).map(Some)
}

fn disclosures(run: &RunReader) -> Result<Vec<Disclosure>, ResultsError> {
    read(run, Table::Disclosures, &["sender", "receiver", "item", "count"], |row| {
        Ok(Disclosure {
            sender: row.text("sender")?,
            receiver: row.text("receiver")?,
            item: row.text("item")?,
            count: row.integer("count")?,
        })
    })
}

fn failures(run: &RunReader) -> Result<Vec<Failure>, ResultsError> {
    let names = ["time", "provider", "first_resource", "last_resource", "event"];
    read(run, Table::Failures, &names, |row| {
        Ok(Failure {
            time: row.time("time")?,
            provider: row.text("provider")?,
            first: row.integer("first_resource")?,
            last: row.integer("last_resource")?,
            event: row.text("event")?,
        })
    })
}

fn outages(run: &RunReader) -> Result<Vec<Outage>, ResultsError> {
    let outage = |it: OutageRow| Outage {
        provider: it.provider,
        first: it.first,
        last: it.last,
        failed: micros(it.failed),
        restored: it.restored.map(micros),
        jobs_lost: it.jobs_lost,
        work_lost: it.work_lost,
    };
    Ok(run.outages()?.into_iter().map(outage).collect())
}

fn maintenance(run: &RunReader) -> Result<Vec<Maintenance>, ResultsError> {
    let names: Vec<&str> = Table::Maintenance.columns().iter().map(|column| column.name).collect();
    read(run, Table::Maintenance, &names, |row| {
        Ok(Maintenance {
            provider: row.text("provider")?,
            window: row.integer("window")?,
            announced: row.time("announcement_time")?,
            started: row.time("starting_time")?,
            finished: row.time("finish_time")?,
            wanted: row.integer("requested_number_of_resources")?,
            closed: row.integer("closed")?,
            outcome: row.text("outcome")?,
            interval: row.maybe_integer("first_resource")?.zip(row.maybe_integer("last_resource")?),
            possible: row.maybe_time("possible_time")?,
        })
    })
}

pub(super) fn micros(seconds: f64) -> Micros {
    (seconds * SECOND).round() as Micros
}

/// The rows of a table; empty if the run lacks it.
fn read<T>(
    run: &RunReader,
    table: Table,
    names: &[&str],
    row: impl Fn(&Row<'_>) -> Result<T, ResultsError>,
) -> Result<Vec<T>, ResultsError> {
    if !run.has(table) {
        return Ok(Vec::new());
    }
    let data = run.columns(table, names)?;
    (0..data.rows()).map(|at| row(&Row { table, data: &data, at })).collect()
}

/// A row, read by the names of its columns.
struct Row<'a> {
    table: Table,
    data: &'a TableData,
    at: usize,
}

impl Row<'_> {
    fn maybe_real(&self, name: &str) -> Result<Option<f64>, ResultsError> {
        Ok(self.data.real(name)?[self.at])
    }

    fn maybe_time(&self, name: &str) -> Result<Option<Micros>, ResultsError> {
        Ok(self.maybe_real(name)?.map(micros))
    }

    fn maybe_text(&self, name: &str) -> Result<Option<String>, ResultsError> {
        let column: &TextColumn = self.data.text(name)?;
        Ok(column.at(self.at).map(str::to_owned))
    }

    fn time(&self, name: &str) -> Result<Micros, ResultsError> {
        self.present(name, self.maybe_time(name)?)
    }

    fn text(&self, name: &str) -> Result<String, ResultsError> {
        self.present(name, self.maybe_text(name)?)
    }

    fn maybe_integer(&self, name: &str) -> Result<Option<i64>, ResultsError> {
        Ok(self.data.integer(name)?[self.at])
    }

    fn integer(&self, name: &str) -> Result<i64, ResultsError> {
        self.present(name, self.maybe_integer(name)?)
    }

    fn present<T>(&self, name: &str, value: Option<T>) -> Result<T, ResultsError> {
        value.ok_or_else(|| ResultsError::Damaged {
            path: self.table.name().into(),
            reason: format!("row {}: {name} is missing", self.at + 1),
        })
    }
}
