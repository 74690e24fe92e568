//! Rows as structs: what figures, comparisons and explanations ask for.

mod inputs;

use haggle_model::ProcessorSet;

use super::RunReader;
use crate::ResultsError;
use crate::columns::Table;

pub use inputs::InputRow;

pub use crate::tables::{AttemptRow, CheckpointRow, OutageRow, PlacementRow, WorkflowRow};

/// A row of `crashes`. Times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct CrashRow {
    /// Who.
    pub actor: String,
    /// When it crashed.
    pub crash: f64,
    /// When it restarted; `None` = not in this run.
    pub restart: Option<f64>,
}

/// A row of `maintenance`. Times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct MaintenanceRow {
    /// Where.
    pub provider: String,
    /// Number of the window there, from 1.
    pub window: i64,
    /// When it was announced.
    pub announced: f64,
    /// When it began, or was to.
    pub start: f64,
    /// When it was over, or was to be.
    pub end: f64,
    /// Processors that were to be closed.
    pub processors: i64,
    /// Processors that were closed, in all rows of the window.
    pub closed: i64,
    /// `held`, `short` or `refused`.
    pub outcome: String,
    /// First and last processor of the interval, run-wide numbers; `None` = none was closed.
    pub interval: Option<(i64, i64)>,
    /// If it was refused, the first start that would have been possible.
    pub possible: Option<f64>,
}

/// A row of `transactions`. Times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct TransactionRow {
    /// The job's number in this run.
    pub job: i64,
    /// Which of its tries, from 1.
    pub number: i64,
    /// The metascheduler.
    pub actor: String,
    /// Its number there.
    pub agreement: i64,
    /// Providers that were asked.
    pub parts: i64,
    /// When it began.
    pub opened: f64,
    /// When it was decided.
    pub decided: Option<f64>,
    /// When its end was known.
    pub end: Option<f64>,
    /// `agreed`, `failed`, `broken` or `open`.
    pub outcome: String,
    /// From the first try of its job to this agreement.
    pub time_to_agreement: Option<f64>,
    /// Messages about it.
    pub messages: i64,
    /// Part-seconds in doubt.
    pub in_doubt: f64,
    /// Processor-seconds of parts that were given up.
    pub held_in_vain: f64,
    /// Parts that ran to their end although it was not agreed on.
    pub orphans: i64,
    /// Processor-seconds of these.
    pub orphan_work: f64,
    /// Whether some parts ran and others did not.
    pub partial: bool,
}

/// A row of `holds`. Times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct HoldRow {
    /// The job's number in this run.
    pub job: i64,
    /// The metascheduler.
    pub actor: String,
    /// The number of the transaction there.
    pub agreement: i64,
    /// The provider.
    pub holder: String,
    /// The part's processors.
    pub processors: i64,
    /// When it began to hold them.
    pub since: f64,
    /// From when on it was to have them.
    pub planned: f64,
    /// When it was to give them back unless more was said.
    pub lease_end: Option<f64>,
    /// When it heard that the part may begin.
    pub carried_out: Option<f64>,
    /// When it had the processors.
    pub started: Option<f64>,
    /// When it was over, or given back.
    pub end: Option<f64>,
    /// `over`, `given_up` or `open`.
    pub outcome: String,
}

/// A row of `jobs`. Times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRow {
    /// Number in this run.
    pub job: i64,
    /// Number in its workload.
    pub job_id: i64,
    /// Its workload.
    pub workload: String,
    /// `local` or `external`.
    pub class: String,
    /// `completed`, `walltime_reached`, `cancelled`, `failed`, `rejected` or `unfinished`.
    pub outcome: String,
    /// Why it was rejected.
    pub refusal: Option<String>,
    /// The provider that ran it or queued it last.
    pub provider: Option<String>,
    /// Whether it is a bag of tasks.
    pub is_bag: bool,
    /// Processors it needs; of a bag, its tasks.
    pub processors: i64,
    /// When it was submitted.
    pub submit: f64,
    /// The user's limit; `None` = no limit.
    pub requested_time: Option<f64>,
    /// When that provider queued it.
    pub queued: Option<f64>,
    /// When it started.
    pub start: Option<f64>,
    /// When it left the system.
    pub left: f64,
    /// Completion promised when it was queued.
    pub promised_end: Option<f64>,
    /// Start - submission.
    pub waiting_time: Option<f64>,
    /// max(1, turnaround / max(run time, T)).
    pub bounded_slowdown: Option<f64>,
    /// Its processors in the run's numbering.
    pub allocated: ProcessorSet,
    /// `rigid` or `bag`.
    pub shape: String,
    /// Earliest start its user allows; `None` = any time.
    pub ready: Option<f64>,
    /// Latest completion its user wishes.
    pub deadline: Option<f64>,
    /// On how many providers it ran; of a bag that was placed, its shares.
    pub providers_used: i64,
    /// How many attempts it had.
    pub attempts: i64,
    /// Of a task of a workflow: the number of that in its workload, and its own number in that.
    pub task: Option<(i64, i64)>,
    /// Of a reservation that was refused, the earliest start at which there would have been room for
    /// it.
    pub alternative: Option<f64>,
}

/// A row of `resources`.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceRow {
    /// Name of the provider.
    pub provider: String,
    /// Its first processor, run-wide number.
    pub first: i64,
    /// How many processors it has.
    pub processors: i64,
    /// Speed; 1 = the reference processor.
    pub speed: f64,
    /// Its local scheduler.
    pub scheduler: String,
    /// Jobs that started there.
    pub jobs: i64,
    /// Processor-seconds.
    pub busy_time: f64,
    /// 0 to 1.
    pub utilisation: Option<f64>,
}

/// A row of `messages`.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageRow {
    /// When it was delivered, s.
    pub time: f64,
    /// Who sent it.
    pub sender: String,
    /// Who got it.
    pub receiver: String,
    /// What kind.
    pub kind: String,
    /// The job it is about.
    pub job: Option<i64>,
}

/// A row of `disclosures`.
#[derive(Clone, Debug, PartialEq)]
pub struct DisclosureRow {
    /// When, s.
    pub time: f64,
    /// Whom it was about.
    pub sender: String,
    /// Who learned it.
    pub receiver: String,
    /// What kind of information.
    pub item: String,
    /// How many items.
    pub count: i64,
    /// The job it was about.
    pub job: Option<i64>,
}

/// A row of `offers`.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferRow {
    /// When it was made, s.
    pub time: f64,
    /// The provider.
    pub sender: String,
    /// The metascheduler.
    pub receiver: String,
    /// The bag, number in this run.
    pub job: i64,
    /// How many of its tasks.
    pub tasks: i64,
    /// By when, s.
    pub completion: f64,
}

/// A row of `reservations`. Times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct ReservationRow {
    /// The job, number in this run.
    pub job: i64,
    /// When it was granted.
    pub granted: f64,
    /// Earliest start granted; `None` = at once.
    pub ready: Option<f64>,
    /// Latest completion granted; `None` = best effort.
    pub deadline: Option<f64>,
    /// How long the job is planned to take.
    pub span: f64,
    /// Start planned when it was granted.
    pub planned_start: f64,
    /// How far from the window that was asked for.
    pub distance: Option<f64>,
    /// When its start was fixed.
    pub fixed: Option<f64>,
    /// That start.
    pub fixed_start: Option<f64>,
    /// Whether no room was left in the window.
    pub broken: bool,
    /// Processors granted.
    pub processors: i64,
}

/// A row of `displacements`. Times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct DisplacementRow {
    /// The job, number in this run.
    pub job: i64,
    /// When it lost its place.
    pub time: f64,
    /// Why, as in the table.
    pub cause: String,
    /// What was done about it, as in the table.
    pub answer: String,
    /// Processors of its new place.
    pub processors: i64,
    /// How long it is planned to take there.
    pub span: f64,
    /// Start of its new place.
    pub planned_start: Option<f64>,
}

/// A row of `moves`, s.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveRow {
    /// When.
    pub time: f64,
    /// Who moved it.
    pub actor: String,
    /// The job's number in this run.
    pub job: i64,
    /// Where it waited.
    pub from: String,
    /// Where it waits now.
    pub to: String,
    /// Its processors before and after.
    pub processors: (Option<i64>, Option<i64>),
    /// Its planned completion before and after.
    pub finish: (Option<f64>, Option<f64>),
    /// When its data are there; `None` = it has none to wait for.
    pub ready: Option<f64>,
    /// For how long it holds its processors before it computes.
    pub start_up: Option<f64>,
}

/// A row of `intervals`; times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalRow {
    /// The job's number in this run.
    pub job: i64,
    /// Which of its intervals.
    pub interval: i64,
    /// The cluster.
    pub provider: String,
    /// Its first phase.
    pub first: i64,
    /// Its last phase.
    pub last: i64,
    /// How the application came there.
    pub how: String,
    /// Its machines.
    pub processors: i64,
    /// When these were taken.
    pub ordered: f64,
    /// When it began to compute.
    pub start: Option<f64>,
    /// When it was over.
    pub end: f64,
    /// How long the phases were predicted to take.
    pub predicted: f64,
    /// How it ended.
    pub outcome: String,
}

/// A row of `bookings`. Times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct BookingRow {
    /// The job, number in this run.
    pub job: i64,
    /// Which of its places, from 1.
    pub number: i64,
    /// When all providers were ready for it.
    pub time: f64,
    /// Who asked to have it moved.
    pub asked_by: Option<String>,
    /// The provider of the part.
    pub holder: String,
    /// The part's processors.
    pub processors: i64,
    /// Planned start.
    pub start: f64,
    /// Planned completion; `None` = no limit.
    pub finish: Option<f64>,
}

impl RunReader {
    /// All rows of `moves`; none if nobody moved anything.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn moves(&self) -> Result<Vec<MoveRow>, ResultsError> {
        if !self.has(Table::Moves) {
            return Ok(Vec::new());
        }
        let names = Vec::from_iter(Table::Moves.columns().iter().map(|column| column.name));
        self.rows(Table::Moves, &names)?.map(|row| {
            Ok(MoveRow {
                time: row.real("time")?,
                actor: row.text("actor")?,
                job: row.integer("job")?,
                from: row.text("sender")?,
                to: row.text("receiver")?,
                processors: (
                    row.optional_integer("processors_before")?,
                    row.optional_integer("processors")?,
                ),
                finish: (
                    row.optional_real("planned_finish_time_before")?,
                    row.optional_real("planned_finish_time")?,
                ),
                ready: row.optional_real("ready_time")?,
                start_up: row.optional_real("start_up_time")?,
            })
        })
    }

    /// All rows of `bookings`; none if no job was on several providers.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn bookings(&self) -> Result<Vec<BookingRow>, ResultsError> {
        if !self.has(Table::Bookings) {
            return Ok(Vec::new());
        }
        let names = Vec::from_iter(Table::Bookings.columns().iter().map(|column| column.name));
        self.rows(Table::Bookings, &names)?.map(|row| {
            Ok(BookingRow {
                job: row.integer("job")?,
                number: row.integer("number")?,
                time: row.real("time")?,
                asked_by: row.optional_text("asked_by")?,
                holder: row.text("holder")?,
                processors: row.integer("processors")?,
                start: row.real("planned_starting_time")?,
                finish: row.optional_real("planned_finish_time")?,
            })
        })
    }

    /// All rows of `transactions`; none where no parts were got by a protocol.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn transactions(&self) -> Result<Vec<TransactionRow>, ResultsError> {
        if !self.has(Table::Transactions) {
            return Ok(Vec::new());
        }
        let names = Vec::from_iter(Table::Transactions.columns().iter().map(|column| column.name));
        self.rows(Table::Transactions, &names)?.map(|row| {
            Ok(TransactionRow {
                job: row.integer("job")?,
                number: row.integer("number")?,
                actor: row.text("actor")?,
                agreement: row.integer("agreement")?,
                parts: row.integer("parts")?,
                opened: row.real("opening_time")?,
                decided: row.optional_real("decision_time")?,
                end: row.optional_real("end_time")?,
                outcome: row.text("outcome")?,
                time_to_agreement: row.optional_real("time_to_agreement")?,
                messages: row.integer("messages")?,
                in_doubt: row.real("in_doubt_time")?,
                held_in_vain: row.real("held_in_vain")?,
                orphans: row.integer("orphans")?,
                orphan_work: row.real("orphan_work")?,
                partial: row.integer("partial")? != 0,
            })
        })
    }

    /// All rows of `holds`; none where no provider held a part for a transaction.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn holds(&self) -> Result<Vec<HoldRow>, ResultsError> {
        if !self.has(Table::Holds) {
            return Ok(Vec::new());
        }
        let names = Vec::from_iter(Table::Holds.columns().iter().map(|column| column.name));
        self.rows(Table::Holds, &names)?.map(|row| {
            Ok(HoldRow {
                job: row.integer("job")?,
                actor: row.text("actor")?,
                agreement: row.integer("agreement")?,
                holder: row.text("holder")?,
                processors: row.integer("processors")?,
                since: row.real("holding_time")?,
                planned: row.real("planned_starting_time")?,
                lease_end: row.optional_real("lease_end_time")?,
                carried_out: row.optional_real("carrying_out_time")?,
                started: row.optional_real("starting_time")?,
                end: row.optional_real("end_time")?,
                outcome: row.text("outcome")?,
            })
        })
    }

    /// All rows of `intervals`; none where no application of phases ran.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn intervals(&self) -> Result<Vec<IntervalRow>, ResultsError> {
        if !self.has(Table::Intervals) {
            return Ok(Vec::new());
        }
        let names = Vec::from_iter(Table::Intervals.columns().iter().map(|column| column.name));
        self.rows(Table::Intervals, &names)?.map(|row| {
            Ok(IntervalRow {
                job: row.integer("job")?,
                interval: row.integer("interval")?,
                provider: row.text("provider")?,
                first: row.integer("first_phase")?,
                last: row.integer("last_phase")?,
                how: row.text("move")?,
                processors: row.integer("processors")?,
                ordered: row.real("ordered_time")?,
                start: row.optional_real("starting_time")?,
                end: row.real("finish_time")?,
                predicted: row.real("predicted_time")?,
                outcome: row.text("outcome")?,
            })
        })
    }

    /// All rows of `reservations`; none where nothing was granted.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn reservations(&self) -> Result<Vec<ReservationRow>, ResultsError> {
        if !self.has(Table::Reservations) {
            return Ok(Vec::new());
        }
        let names = [
            "job",
            "granted_time",
            "ready_time",
            "deadline",
            "planned_time",
            "planned_starting_time",
            "distance_time",
            "fixed_time",
            "fixed_starting_time",
            "broken",
            "processors",
        ];
        self.rows(Table::Reservations, &names)?.map(|row| {
            Ok(ReservationRow {
                job: row.integer("job")?,
                granted: row.real("granted_time")?,
                ready: row.optional_real("ready_time")?,
                deadline: row.optional_real("deadline")?,
                span: row.real("planned_time")?,
                planned_start: row.real("planned_starting_time")?,
                distance: row.optional_real("distance_time")?,
                fixed: row.optional_real("fixed_time")?,
                fixed_start: row.optional_real("fixed_starting_time")?,
                broken: row.integer("broken")? != 0,
                processors: row.integer("processors")?,
            })
        })
    }

    /// All rows of `displacements`; none if no reservation lost its place.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn displacements(&self) -> Result<Vec<DisplacementRow>, ResultsError> {
        if !self.has(Table::Displacements) {
            return Ok(Vec::new());
        }
        let names = [
            "job",
            "time",
            "cause",
            "answer",
            "processors",
            "planned_time",
            "planned_starting_time",
        ];
        self.rows(Table::Displacements, &names)?.map(|row| {
            Ok(DisplacementRow {
                job: row.integer("job")?,
                time: row.real("time")?,
                cause: row.text("cause")?,
                answer: row.text("answer")?,
                processors: row.integer("processors")?,
                span: row.real("planned_time")?,
                planned_start: row.optional_real("planned_starting_time")?,
            })
        })
    }

    /// All rows of `jobs`.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn jobs(&self) -> Result<Vec<JobRow>, ResultsError> {
        let rows = self.rows(
            Table::Jobs,
            &[
                "job",
                "job_id",
                "workload_name",
                "class",
                "outcome",
                "refusal",
                "provider",
                "shape",
                "requested_number_of_resources",
                "submission_time",
                "requested_time",
                "queued_time",
                "starting_time",
                "left_time",
                "promised_finish_time",
                "waiting_time",
                "bounded_slowdown",
                "allocated_resources",
                "shape",
                "ready_time",
                "deadline",
                "providers_used",
                "attempts",
                "workflow",
                "task",
                "alternative_time",
            ],
        )?;
        rows.map(|row| {
            let allocated = row.optional_text("allocated_resources")?.unwrap_or_default();
            Ok(JobRow {
                job: row.integer("job")?,
                job_id: row.integer("job_id")?,
                workload: row.text("workload_name")?,
                class: row.text("class")?,
                outcome: row.text("outcome")?,
                refusal: row.optional_text("refusal")?,
                provider: row.optional_text("provider")?,
                is_bag: row.text("shape")? == "bag",
                processors: row.integer("requested_number_of_resources")?,
                submit: row.real("submission_time")?,
                requested_time: row.optional_real("requested_time")?.filter(|&it| it >= 0.0),
                queued: row.optional_real("queued_time")?,
                start: row.optional_real("starting_time")?,
                left: row.real("left_time")?,
                promised_end: row.optional_real("promised_finish_time")?,
                waiting_time: row.optional_real("waiting_time")?,
                bounded_slowdown: row.optional_real("bounded_slowdown")?,
                allocated: allocated.parse().map_err(|error| row.damaged(error))?,
                shape: row.text("shape")?,
                ready: row.optional_real("ready_time")?,
                deadline: row.optional_real("deadline")?,
                providers_used: row.integer("providers_used")?,
                attempts: row.integer("attempts")?,
                task: row.optional_integer("workflow")?.zip(row.optional_integer("task")?),
                alternative: row.optional_real("alternative_time")?,
            })
        })
    }

    /// All rows of `placements`.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn placements(&self) -> Result<Vec<PlacementRow>, ResultsError> {
        self.whole_rows(Table::Placements, PlacementRow::read)
    }

    /// All rows of `checkpoints`.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn checkpoints(&self) -> Result<Vec<CheckpointRow>, ResultsError> {
        self.whole_rows(Table::Checkpoints, CheckpointRow::read)
    }

    /// All rows of `outages`; none where nothing may fail.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn outages(&self) -> Result<Vec<OutageRow>, ResultsError> {
        self.rows_if_any(Table::Outages, OutageRow::read)
    }

    /// All rows of `workflows`; none where no job was a task.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn workflows(&self) -> Result<Vec<WorkflowRow>, ResultsError> {
        self.rows_if_any(Table::Workflows, WorkflowRow::read)
    }

    /// All rows of `attempts`.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn attempts(&self) -> Result<Vec<AttemptRow>, ResultsError> {
        self.whole_rows(Table::Attempts, AttemptRow::read)
    }

    /// All rows of `resources`.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn resources(&self) -> Result<Vec<ResourceRow>, ResultsError> {
        let names = [
            "provider",
            "first_resource",
            "processors",
            "speed",
            "scheduler",
            "jobs",
            "busy_time",
            "utilisation",
        ];
        self.rows(Table::Resources, &names)?.map(|row| {
            Ok(ResourceRow {
                provider: row.text("provider")?,
                first: row.integer("first_resource")?,
                processors: row.integer("processors")?,
                speed: row.real("speed")?,
                scheduler: row.optional_text("scheduler")?.unwrap_or_default(),
                jobs: row.integer("jobs")?,
                busy_time: row.real("busy_time")?,
                utilisation: row.optional_real("utilisation")?,
            })
        })
    }

    /// All rows of `crashes`; none where nobody crashed.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn crashes(&self) -> Result<Vec<CrashRow>, ResultsError> {
        if !self.has(Table::Crashes) {
            return Ok(Vec::new());
        }
        let names = ["actor", "crash_time", "restart_time"];
        self.rows(Table::Crashes, &names)?.map(|row| {
            Ok(CrashRow {
                actor: row.text("actor")?,
                crash: row.real("crash_time")?,
                restart: row.optional_real("restart_time")?,
            })
        })
    }

    /// All rows of `maintenance`; none where no window was announced.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn maintenance(&self) -> Result<Vec<MaintenanceRow>, ResultsError> {
        if !self.has(Table::Maintenance) {
            return Ok(Vec::new());
        }
        let names: Vec<&str> =
            Table::Maintenance.columns().iter().map(|column| column.name).collect();
        self.rows(Table::Maintenance, &names)?.map(|row| {
            let last = row.optional_integer("last_resource")?;
            Ok(MaintenanceRow {
                provider: row.text("provider")?,
                window: row.integer("window")?,
                announced: row.real("announcement_time")?,
                start: row.real("starting_time")?,
                end: row.real("finish_time")?,
                processors: row.integer("requested_number_of_resources")?,
                closed: row.integer("closed")?,
                outcome: row.text("outcome")?,
                interval: row.optional_integer("first_resource")?.zip(last),
                possible: row.optional_real("possible_time")?,
            })
        })
    }

    /// All rows of `messages`.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn messages(&self) -> Result<Vec<MessageRow>, ResultsError> {
        let names = ["time", "sender", "receiver", "kind", "job"];
        self.rows(Table::Messages, &names)?.map(|row| {
            Ok(MessageRow {
                time: row.real("time")?,
                sender: row.text("sender")?,
                receiver: row.text("receiver")?,
                kind: row.text("kind")?,
                job: row.optional_integer("job")?,
            })
        })
    }

    /// All rows of `disclosures`.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn disclosures(&self) -> Result<Vec<DisclosureRow>, ResultsError> {
        let names = ["time", "sender", "receiver", "item", "count", "job"];
        self.rows(Table::Disclosures, &names)?.map(|row| {
            Ok(DisclosureRow {
                time: row.real("time")?,
                sender: row.text("sender")?,
                receiver: row.text("receiver")?,
                item: row.text("item")?,
                count: row.integer("count")?,
                job: row.optional_integer("job")?,
            })
        })
    }

    /// All rows of `offers`.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn offers(&self) -> Result<Vec<OfferRow>, ResultsError> {
        let names = ["time", "sender", "receiver", "job", "tasks", "completion"];
        self.rows(Table::Offers, &names)?.map(|row| {
            Ok(OfferRow {
                time: row.real("time")?,
                sender: row.text("sender")?,
                receiver: row.text("receiver")?,
                job: row.integer("job")?,
                tasks: row.integer("tasks")?,
                completion: row.real("completion")?,
            })
        })
    }

    fn rows(&self, table: Table, names: &[&str]) -> Result<Rows, ResultsError> {
        self.columns(table, names).map(|data| Rows { data })
    }

    /// Reads rows of all columns; none of a table that the run does not have.
    fn rows_if_any<T>(
        &self,
        table: Table,
        read: impl Fn(&Row<'_>) -> Result<T, ResultsError>,
    ) -> Result<Vec<T>, ResultsError> {
        if self.has(table) { self.whole_rows(table, read) } else { Ok(Vec::new()) }
    }

    /// Reads rows of all columns.
    fn whole_rows<T>(
        &self,
        table: Table,
        read: impl Fn(&Row<'_>) -> Result<T, ResultsError>,
    ) -> Result<Vec<T>, ResultsError> {
        let names = Vec::from_iter(table.columns().iter().map(|column| column.name));
        self.rows(table, &names)?.map(|row| read(&row))
    }
}

struct Rows {
    data: super::TableData,
}

impl Rows {
    fn map<T>(
        &self,
        read: impl Fn(Row<'_>) -> Result<T, ResultsError>,
    ) -> Result<Vec<T>, ResultsError> {
        (0..self.data.rows()).map(|at| read(Row { data: &self.data, at })).collect()
    }
}

pub(crate) struct Row<'a> {
    data: &'a super::TableData,
    at: usize,
}

impl<'a> Row<'a> {
    /// Its values, in the order of its columns.
    pub(crate) fn places(&self) -> Places<'a> {
        Places { data: self.data, at: self.at, next: 0 }
    }
}

/// The values of a row, one after the other.
pub(crate) struct Places<'a> {
    data: &'a super::TableData,
    at: usize,
    next: usize,
}

impl<'a> Places<'a> {
    /// The next one, which is of the column of this name.
    pub(crate) fn next(&mut self, name: &'static str) -> Place<'a> {
        let column = self.data.columns.get(self.next).map(|(_, column)| column);
        self.next += 1;
        Place { row: Row { data: self.data, at: self.at }, column, name }
    }
}

/// One value of a row.
pub(crate) struct Place<'a> {
    row: Row<'a>,
    column: Option<&'a super::ColumnData>,
    name: &'static str,
}

impl<'a> Place<'a> {
    /// Whether there is none.
    pub(crate) fn is_missing(&self) -> bool {
        self.column.is_none_or(|column| column.is_missing(self.row.at))
    }

    pub(crate) fn real(&self) -> Result<f64, ResultsError> {
        let value = match self.column {
            Some(super::ColumnData::Real(values)) => values.get(self.row.at).copied().flatten(),
            _ => None,
        };
        self.row.present(self.name, value)
    }

    pub(crate) fn integer(&self) -> Result<i64, ResultsError> {
        let value = match self.column {
            Some(super::ColumnData::Integer(values)) => values.get(self.row.at).copied().flatten(),
            _ => None,
        };
        self.row.present(self.name, value)
    }

    pub(crate) fn text(&self) -> Result<&'a str, ResultsError> {
        let value = match self.column {
            Some(super::ColumnData::Text(texts)) => texts.at(self.row.at),
            _ => None,
        };
        self.row.present(self.name, value)
    }

    pub(crate) fn damaged(&self, reason: impl ToString) -> ResultsError {
        self.row.damaged(reason)
    }
}

impl Row<'_> {
    fn optional_real(&self, name: &str) -> Result<Option<f64>, ResultsError> {
        Ok(self.data.real(name)?.get(self.at).copied().flatten())
    }

    fn optional_integer(&self, name: &str) -> Result<Option<i64>, ResultsError> {
        Ok(self.data.integer(name)?.get(self.at).copied().flatten())
    }

    fn optional_text(&self, name: &str) -> Result<Option<String>, ResultsError> {
        Ok(self.data.text(name)?.at(self.at).map(str::to_owned))
    }

    fn real(&self, name: &str) -> Result<f64, ResultsError> {
        self.present(name, self.optional_real(name)?)
    }

    fn integer(&self, name: &str) -> Result<i64, ResultsError> {
        self.present(name, self.optional_integer(name)?)
    }

    fn text(&self, name: &str) -> Result<String, ResultsError> {
        self.present(name, self.optional_text(name)?)
    }

    fn present<T>(&self, name: &str, value: Option<T>) -> Result<T, ResultsError> {
        value.ok_or_else(|| ResultsError::WrongType {
            path: self.data.path.clone(),
            column: name.to_owned(),
            expected: "a value in every row",
            found: format!("none in row {}", self.at + 1),
        })
    }

    fn damaged(&self, reason: impl ToString) -> ResultsError {
        ResultsError::damaged(
            &self.data.path,
            format!("row {}: {}", self.at + 1, reason.to_string()),
        )
    }
}
