//! The story of one job, derived from the tables of a run alone.
//!
//! The decisions of a provider are in no table. The tables give the places of the job, the holders
//! of processors, the outages and the offers. The job's time in the system is split into parts that
//! add up to its waiting time and its run time, by one ledger for providers and grids:
//!
//! ```text
//! attempts, placements, outages, crashes ──> provider ──┐
//! attempts, checkpoints, outages ──────────> grid ──────┴─> Ledger ──> parts
//! ```

mod grid;
mod line;
mod nodes;
mod phased;
mod provider;
mod queue;
mod rules;
mod scope;
mod spent;
mod starts;
mod statics;
mod supply;
mod together;
mod windows;
mod words;
mod workflow;

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::about::RunsOnGrid;
use haggle_results::reader::{
    AttemptRow, BookingRow, CheckpointRow, CrashRow, DisclosureRow, DisplacementRow, InputRow,
    IntervalRow, MaintenanceRow, MessageRow, MoveRow, OfferRow, OutageRow, ReservationRow, Rows,
    TaskRow,
};
use haggle_results::sites::{Site, sites};
use haggle_results::{About, JobRow, PlacementRow, ResourceRow, ResultsError, RunReader, Table};
use serde::Serialize;

use self::scope::Scope;
use self::starts::AttemptStart;
use self::supply::Market;
pub use self::windows::{Displaced, Granted};

pub use grid::OnGrid;
pub use line::{
    Backfilled, BookedStart, Displacer, Held, HeldByBooking, HeldByOthers, HeldByPart, How, Queued,
    Rule, Test,
};
pub use phased::Interval;
pub use provider::{Attempt, LostPart, LostTasks, OtherJob, Recorded, Share, Stopped};
pub use queue::{Holder, Overtaker, Wait};
pub use rules::{KeptByLimit, NotPermitted, UnderRules};
pub use spent::{Part, Spent};
pub use starts::{Reason, Start};
pub use statics::{Statics, Turn};
pub use together::Booked;
pub use workflow::{Failed, InWorkflow, Last, Step};

/// The story of one job. Times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Story {
    /// Its number in the run.
    pub job: i64,
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
    /// Its name in the file of its workflow, if it is a task of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_name: Option<String>,
    /// `local` or `external`.
    pub class: String,
    /// `rigid` or `bag`.
    pub shape: String,
    /// Processors it needs; of a bag, its tasks.
    pub processors: i64,
    /// Its user's limit on a reference processor, s.
    pub requested_time: Option<f64>,
    /// How it ended.
    pub outcome: String,
    /// Reason of its rejection.
    pub refusal: Option<String>,
    /// Earliest start at which a refused reservation would have had room, as reported to its user.
    pub alternative: Option<f64>,
    /// Users that submit its workload, each with its receiver.
    pub submitters: Vec<(String, String)>,
    /// The job whose end decided about its submission, by its number in the workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preceding_job: Option<i64>,
    /// True if its user still held it when the run stopped, because it follows that job.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_held: bool,
    /// When it was submitted.
    pub submit: f64,
    /// Earliest start its user allows, or when the last parent of a task was done.
    pub ready: Option<f64>,
    /// Latest completion its user wishes.
    pub deadline: Option<f64>,
    /// The provider that ran it or queued it last.
    pub provider: Option<String>,
    /// When it was queued there; of a bag, when it was placed.
    pub queued: Option<f64>,
    /// Completion promised when it was queued or placed.
    pub promised_end: Option<f64>,
    /// Start of the attempt that completed it; of a bag, of its first task that ended.
    pub start: Option<f64>,
    /// When it left the system.
    pub left: f64,
    /// Starts of its attempts at a provider, in order.
    #[serde(skip)]
    starts: Vec<AttemptStart>,
    /// All of its time in the system, split into waiting time and run time.
    pub parts: Vec<Spent>,
    /// Its attempts at a provider, or on resources of a grid.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// Running jobs that were stopped for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<Stopped>,
    /// Offers of providers for a bag, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<Offer>,
    /// Its start on the machine of its log, if its provider starts jobs as recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// The rules of its provider under which it waited or ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<UnderRules>,
    /// Limits that kept it from its start, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<KeptByLimit>,
    /// The reason for which the queues and limits of its provider refused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_permitted: Option<NotPermitted>,
    /// Reservation that a provider granted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granted: Option<Granted>,
    /// Moves by a metascheduler while it waited, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Move>,
    /// Bookings of a job on several providers, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bookings: Vec<Booked>,
    /// The shares of a bag.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<Share>,
    /// Tasks of a bag that were lost with their processors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost_tasks: Vec<LostTasks>,
    /// Parts of a job on several providers that ran although the job did not run as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost_parts: Vec<LostPart>,
    /// Its place in its workflow, if it is a task of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<InWorkflow>,
    /// The intervals of an application of phases, in the order in which they began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<Interval>,
    /// Crashes of its schedulers while it waited.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crashes: Vec<Crash>,
    /// Windows of maintenance at its provider during its wait, or within its limit if it had
    /// started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub maintenance: Vec<Maintained>,
    /// Messages about it; `None` if the run kept none.
    pub messages: Option<Vec<Said>>,
    /// Information disclosed about it or because of it; `None` if the run has no such table.
    pub disclosures: Option<Vec<Disclosed>>,
    /// Providers and their processors; empty for a grid.
    pub sizes: Vec<(String, i64)>,
    /// Events at its provider while it waited there; `None` for a bag, or if it did not wait.
    pub wait: Option<Wait>,
    /// Jobs that it passed in the queue when it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backfilled: Option<Backfilled>,
    /// The start that conservative backfilling booked for it when it was queued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub booked: Option<BookedStart>,
    /// Reasons why a task waited at the resource of its static schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statics: Option<Statics>,
}

impl Story {
    /// Waiting time, s: until the start, else until the job left.
    pub fn waiting(&self) -> f64 {
        total(self.parts.iter().map(|it| it.waiting))
    }

    /// True if its last attempt was stopped for another job.
    pub fn was_stopped(&self) -> bool {
        self.attempts.last().is_some_and(|it| it.stopped_for.is_some())
    }

    /// Run time, s, including the saved part of lost attempts.
    pub fn running(&self) -> f64 {
        total(self.parts.iter().map(|it| it.running))
    }
}

/// Sum in whole microseconds, without the rounding errors of floats.
fn total(seconds: impl Iterator<Item = f64>) -> f64 {
    spent::seconds(seconds.map(spent::micros).sum())
}

/// An actor that was down.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crash {
    /// Its name.
    pub actor: String,
    /// Time of the crash.
    pub from: f64,
    /// Time of the restart; `None` = not in this run.
    pub until: Option<f64>,
}

/// A window of maintenance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Maintained {
    /// Its number at the provider, from 1.
    pub window: i64,
    /// When it was announced.
    pub announced: f64,
    /// Planned or actual start.
    pub from: f64,
    /// Planned or actual end.
    pub until: f64,
    /// Processors that it closed, or was planned to close.
    pub processors: i64,
    /// True if the provider refused it.
    pub refused: bool,
    /// True if the run ended before it began.
    pub is_ahead: bool,
    /// Earliest possible start of a refused window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub possible: Option<f64>,
}

/// A message about the job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Said {
    /// Time of delivery.
    pub time: f64,
    /// Sender.
    pub sender: String,
    /// Receiver.
    pub receiver: String,
    /// Kind of the message.
    pub kind: String,
}

/// An item of information that one actor disclosed to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Disclosed {
    /// Time of the disclosure.
    pub time: f64,
    /// Actor whose information it was.
    pub sender: String,
    /// Receiver of the information.
    pub receiver: String,
    /// Kind of the item.
    pub item: String,
    /// Number of items.
    pub count: i64,
}

/// An offer for a bag.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Offer {
    /// When it was made.
    pub time: f64,
    /// Provider that made it.
    pub provider: String,
    /// Number of tasks offered.
    pub tasks: i64,
    /// Offered completion.
    pub completion: f64,
}

/// A move of a job that waited.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Move {
    /// Time of the move.
    pub time: f64,
    /// Metascheduler that moved it.
    pub by: String,
    /// Provider where it waited before.
    pub from: String,
    /// Provider where it waited after the move; the same if it was submitted there again.
    pub to: String,
    /// Its processors before and after.
    pub processors: (Option<i64>, Option<i64>),
    /// Its planned completion, before and after.
    pub planned_end: (Option<f64>, Option<f64>),
    /// Arrival of its data; `None` = it waits for none.
    pub data: Option<f64>,
    /// Duration of its start-up at the new provider, s.
    pub start_up: f64,
}

impl Story {
    /// True if it was on resources of a grid.
    pub fn is_on_grid(&self) -> bool {
        self.attempts.iter().any(|it| it.on_grid.is_some())
    }

    /// Processors that it held last, or waited for: the granted ones, or those that its provider
    /// chose for a moldable job.
    pub fn size(&self) -> i64 {
        let granted = self.granted.as_ref();
        let granted =
            // After the last loss of its place, a reservation may have fewer processors.
            granted.map(|it| it.displaced.last().map_or(it.processors, |last| last.processors));
        let ran = self.attempts.last().map(|it| it.processors);
        let moved = self.moves.last().and_then(|it| it.processors.1);
        granted.or(ran).or(moved).unwrap_or(self.processors)
    }
}

/// Identification of a job in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// By its number in the run.
    InRun(i64),
    /// By its workload, and its number in that.
    InWorkload(String, i64),
}

impl Asked {
    fn is(&self, job: &JobRow) -> bool {
        match self {
            Asked::InRun(number) => job.job == *number,
            Asked::InWorkload(workload, number) => {
                job.job_id == *number && job.workload == *workload
            }
        }
    }

    fn rows(&self) -> Rows {
        match self {
            Asked::InRun(number) => Rows::of("job", [*number]),
            Asked::InWorkload(workload, number) => {
                Rows::of("job_id", [*number]).with("workload_name", [workload.clone()])
            }
        }
    }
}

/// The requested jobs of a run, in this order; `None` for an unknown one.
///
/// # Errors
/// If its jobs cannot be read.
pub fn find(run: &RunReader, asked: &[Asked]) -> Result<Vec<Option<JobRow>>, ResultsError> {
    let mut found = Vec::new();
    // Numbers in the run need one reading of the table in all, other names one each.
    if asked.iter().all(|it| matches!(it, Asked::InRun(_))) {
        let numbers = asked.iter().filter_map(|it| match it {
            Asked::InRun(number) => Some(*number),
            Asked::InWorkload(..) => None,
        });
        found = JobRow::some(run, &Rows::of("job", numbers))?;
    } else {
        for it in asked {
            found.extend(JobRow::some(run, &it.rows())?);
        }
    }
    Ok(asked.iter().map(|it| found.iter().find(|job| it.is(job)).cloned()).collect())
}

/// Names of tasks, by workload, workflow and number there.
pub type TaskNames = BTreeMap<(String, i64, i64), String>;

/// Names of the tasks among these jobs, from their files.
///
/// # Errors
/// If the table of tasks is damaged.
pub fn task_names(run: &RunReader, jobs: &[JobRow]) -> Result<TaskNames, ResultsError> {
    // Most runs have no workflows, and then the table is not read.
    let wanted: BTreeSet<i64> = jobs.iter().filter_map(|it| it.workflow).collect();
    if wanted.is_empty() {
        return Ok(TaskNames::new());
    }
    let rows = TaskRow::some(run, &Rows::of("workflow", wanted))?;
    Ok(rows.into_iter().map(|it| ((it.workload, it.workflow, it.task), it.name)).collect())
}

/// The rows about some jobs, and about all others in their time; read once.
pub struct Chronicle {
    about: About,
    jobs: Vec<JobRow>,
    resources: Vec<ResourceRow>,
    attempts: Vec<AttemptRow>,
    /// Jobs that had an attempt on a grid.
    on_grid: BTreeSet<i64>,
    placements: Vec<PlacementRow>,
    outages: Vec<OutageRow>,
    crashes: Vec<CrashRow>,
    maintenance: Vec<MaintenanceRow>,
    /// Providers that place jobs on nodes.
    sites: BTreeMap<String, Site>,
    checkpoints: Vec<CheckpointRow>,
    /// Supply of providers and clusters.
    market: Market,
    grid_market: Market,
    offers: Vec<OfferRow>,
    reservations: Vec<ReservationRow>,
    displacements: Vec<DisplacementRow>,
    moves: Vec<MoveRow>,
    bookings: Vec<BookingRow>,
    intervals: Vec<IntervalRow>,
    tasks: TaskNames,
    inputs: Vec<InputRow>,
    messages: Option<Vec<MessageRow>>,
    disclosures: Option<Vec<DisclosureRow>>,
}

impl Chronicle {
    /// Reads all of a run, for the stories of all of its jobs.
    ///
    /// # Errors
    /// If a table is missing or damaged. Messages and disclosures may be missing.
    pub fn read(run: &RunReader) -> Result<Chronicle, ResultsError> {
        Chronicle::within(run, &Scope::everything(), true)
    }

    /// Reads the rows for the stories of some jobs, with their messages if `with_messages`.
    ///
    /// # Errors
    /// If a table is missing or damaged. Messages and disclosures may be missing.
    pub fn of(
        run: &RunReader,
        jobs: &[JobRow],
        with_messages: bool,
    ) -> Result<Chronicle, ResultsError> {
        Chronicle::within(run, &Scope::of(run, jobs)?, with_messages)
    }

    fn within(
        run: &RunReader,
        scope: &Scope,
        with_messages: bool,
    ) -> Result<Chronicle, ResultsError> {
        let about = run.about()?;
        let (resources, crashes, maintenance) =
            (run.resources()?, run.crashes()?, run.maintenance()?);
        let outages = OutageRow::some(run, &scope.during("failure_time", "restoration_time"))?;
        let (shared, whole): (Vec<&ResourceRow>, Vec<_>) =
            resources.iter().partition(|it| it.is_shared());
        let own = scope.own();
        // Shared resources have no placements.
        let placements = match whole.is_empty() {
            true => Vec::new(),
            false => PlacementRow::some(run, &scope.during("starting_time", "finish_time"))?,
        };
        let attempts = AttemptRow::some(run, &scope.during("queued_time", "finish_time"))?;
        // After attempts and placements, which name the other jobs that the stories need.
        let near = scope.jobs(&attempts, &placements);
        let jobs = JobRow::some(run, &near)?;
        let on_grid = attempts.iter().filter(|it| it.slot().is_some()).map(|it| it.job).collect();
        let checkpoints =
            if shared.is_empty() { Vec::new() } else { CheckpointRow::some(run, &own)? };
        let grid_market = grid::market(&shared, &about, &attempts, &outages);
        let market = provider::market(&resources, &placements, &outages, &crashes, &maintenance);
        // The largest table, so it is read only on request.
        let has_messages = with_messages && run.has(Table::Messages);
        Ok(Chronicle {
            about,
            resources,
            attempts,
            on_grid,
            placements,
            outages,
            crashes,
            maintenance,
            sites: sites(&run.nodes()?),
            checkpoints,
            market,
            grid_market,
            offers: OfferRow::some(run, &own)?,
            reservations: ReservationRow::some(run, &near)?,
            displacements: DisplacementRow::some(run, &own)?,
            moves: MoveRow::some(run, &own)?,
            bookings: BookingRow::some(run, &own)?,
            intervals: IntervalRow::some(run, &own)?,
            inputs: InputRow::some(run, &own)?,
            tasks: task_names(run, &jobs)?,
            jobs,
            messages: has_messages.then(|| MessageRow::some(run, &own)).transpose()?,
            disclosures: run
                .has(Table::Disclosures)
                .then(|| DisclosureRow::some(run, &own))
                .transpose()?,
        })
    }

    /// All jobs that were read, in order of leaving: the requested ones, and others in their time.
    pub fn jobs(&self) -> &[JobRow] {
        &self.jobs
    }

    /// Name of a task in its file.
    fn task_name(&self, job: &JobRow) -> Option<String> {
        let (workflow, task) = job.in_workflow()?;
        self.tasks.get(&(job.workload.clone(), workflow, task)).cloned()
    }

    /// Crashes, during its wait, of its users, of their receivers and of its provider.
    fn crashes_met(&self, job: &JobRow) -> Vec<Crash> {
        let users = self.about.users_of(&job.workload).iter();
        let mut with: Vec<&str> =
            users.flat_map(|it| [it.name.as_str(), it.submits_to.as_str()]).collect();
        with.extend(job.provider.as_deref());
        // Crashes after the start delay no scheduling of the job.
        let end = job.start.unwrap_or(job.left);
        let met = |it: &&CrashRow| {
            let overlaps = it.crash < end && it.restart.is_none_or(|restart| restart > job.submit);
            with.contains(&it.actor.as_str()) && overlaps
        };
        let crash =
            |it: &CrashRow| Crash { actor: it.actor.clone(), from: it.crash, until: it.restart };
        let mut crashes: Vec<Crash> = self.crashes.iter().filter(met).map(crash).collect();
        crashes.sort_by(|a, b| a.from.total_cmp(&b.from));
        crashes
    }

    /// The story of one of them.
    pub fn story(&self, job: &JobRow) -> Story {
        Story { workflow: workflow::of(self, job), ..self.its_own(job) }
    }

    /// The story of one of them, without its workflow.
    fn its_own(&self, job: &JobRow) -> Story {
        let submitters = self.about.users_of(&job.workload).iter();
        let story = Story {
            job: job.job,
            workload: job.workload.clone(),
            job_id: job.job_id,
            task_name: self.task_name(job),
            class: job.class.clone(),
            shape: job.shape.clone(),
            processors: job.processors,
            requested_time: job.limit(),
            outcome: job.outcome.clone(),
            refusal: job.refusal.clone(),
            alternative: job.alternative,
            submitters: submitters
                .map(|user| (user.name.clone(), user.submits_to.clone()))
                .collect(),
            preceding_job: job.preceding_job,
            is_held: job.held == Some(true),
            submit: job.submit,
            ready: job.ready,
            deadline: job.deadline,
            provider: job.provider.clone(),
            queued: job.queued,
            promised_end: job.promised_end,
            start: job.start,
            left: job.left,
            starts: Vec::new(),
            parts: Vec::new(),
            attempts: Vec::new(),
            stopped: Vec::new(),
            offers: self.offers.iter().filter(|row| row.job == job.job).map(offer).collect(),
            recorded: None,
            rules: None,
            limits: Vec::new(),
            not_permitted: None,
            granted: windows::of(job.job, &self.reservations, &self.displacements),
            moves: self.moves.iter().filter(|row| row.job == job.job).map(moved).collect(),
            bookings: together::bookings(job.job, &self.bookings),
            shares: Vec::new(),
            lost_tasks: Vec::new(),
            lost_parts: Vec::new(),
            workflow: None,
            intervals: Vec::new(),
            crashes: self.crashes_met(job),
            maintenance: Vec::new(),
            messages: self
                .messages
                .as_ref()
                .map(|rows| rows.iter().filter(|row| row.job == Some(job.job)).map(said).collect()),
            disclosures: self.disclosures.as_ref().map(|rows| {
                rows.iter().filter(|row| row.job == Some(job.job)).map(disclosed).collect()
            }),
            sizes: Vec::new(),
            wait: None,
            backfilled: None,
            booked: None,
            statics: None,
        };
        match self.is_on_grid(job) {
            // On a grid every job has slots, whatever its shape.
            true => grid::tell(story, self, job),
            false if job.is_phased() => phased::tell(story, self, job),
            false => provider::tell(story, self, job),
        }
    }

    /// True if a grid had a job: its workload runs only there, or it had an attempt there.
    fn is_on_grid(&self, job: &JobRow) -> bool {
        let workload = self.about.workload(&job.workload);
        self.on_grid.contains(&job.job)
            || workload.is_some_and(|it| it.on_grid == RunsOnGrid::Always)
    }
}

fn said(row: &MessageRow) -> Said {
    Said {
        time: row.time,
        sender: row.sender.clone(),
        receiver: row.receiver.clone(),
        kind: row.kind.clone(),
    }
}

fn disclosed(row: &DisclosureRow) -> Disclosed {
    Disclosed {
        time: row.time,
        sender: row.sender.clone(),
        receiver: row.receiver.clone(),
        item: row.item.clone(),
        count: row.count,
    }
}

fn moved(row: &MoveRow) -> Move {
    Move {
        time: row.time,
        by: row.actor.clone(),
        from: row.from.clone(),
        to: row.to.clone(),
        processors: (row.processors_before, row.processors),
        planned_end: (row.finish_before, row.finish),
        data: row.ready,
        start_up: row.start_up.unwrap_or(0.0),
    }
}

fn offer(row: &OfferRow) -> Offer {
    Offer {
        time: row.time,
        provider: row.sender.clone(),
        tasks: row.tasks,
        completion: row.completion,
    }
}
