//! Writes the tables of a run while it goes on.
//!
//! Order of use:
//! 1. [`RunWriter::create`] before the run;
//! 2. [`RunWriter::job_over`], [`RunWriter::message`], [`RunWriter::disclosed`] and others during the run;
//! 3. [`RunWriter::finish`] after the run, which gives a [`FinishedRun`];
//! 4. the writers of summary, provenance and figures of that;
//! 5. [`FinishedRun::publish`], which gives the folder its name.
//!
//! A run that fails or is dropped before the last step leaves no folder.
//!
//! Rows wait in memory until there are [`ROWS_PER_BATCH`] of them, and encoded columns of Parquet until
//! there are [`ROWS_PER_GROUP`]. The memory needed is therefore independent of the run's length.

mod bookings;
mod crashes;
mod files;
mod grid;
mod held;
mod holds;
mod inputs;
mod intervals;
mod job_rows;
mod maintenance;
mod moves;
mod nodes;
mod outages;
mod reservations;
mod transactions;
mod workflows;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::iter::repeat_n;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haggle_model::observation::{DisclosedItem, RecordedStart};
use haggle_model::{
    ActorId, Cast, Initial, Job, JobId, JobOutcome, JobRecord, JobShape, LostRun, MessageFault,
    OffersMade, ProcessorSet, ProviderId, SentCheckpoint, ShareRecord, SiteInfo, Sizing, Span,
    StageIn, TaskRun, Time,
};
use serde::Serialize;

use crashes::Crashes;
use files::Files;
use grid::Ways;
use held::Held;
use holds::Holds;
use nodes::NodeUse;
use outages::Outages;

use crate::attempts::{AttemptView, Holding};
use crate::buffer::Values;
use crate::columns::Table;
use crate::digest::RunDigest;
use crate::folder::{Existing, PartialFolder};
use crate::metrics::{Cut, MetricsOptions, Sizes, bounded_slowdown, came_to_nothing};
use crate::tables::{
    AttemptCells, Cells, CheckpointCells, DisclosureCells, FailureCells, JobCells, MessageCells,
    MessageCountCells, MessageFaultCells, OfferCells, PlacementCells, ResourceCells,
};
use crate::tally::Tally;
use crate::{Provenance, ResultsError, Summary, Timing};

/// Rows kept in memory per table. A batch fits in the processor's cache.
pub const ROWS_PER_BATCH: usize = 4_096;
/// Rows in one of Parquet's row groups.
pub const ROWS_PER_GROUP: usize = 131_072;

/// File formats of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// `jobs.parquet` …
    #[default]
    Parquet,
    /// `jobs.csv` …
    Csv,
    /// Both.
    Both,
    /// None: only the digests of the tables are kept.
    Neither,
}

haggle_model::words! {
    /// Detail in which messages between actors are kept.
    #[derive(Default)]
    pub enum Messages {
        /// One row a message.
        #[default]
        All = "all",
        /// Number of messages by kind, sender and receiver.
        Counts = "counts",
        /// No messages.
        None = "none",
    }
}

/// Settings of the writer.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WriteOptions {
    /// File formats of a table.
    pub format: Format,
    /// Detail in which messages are kept.
    pub messages: Messages,
    /// Treatment of a folder that exists already.
    pub existing: Existing,
    /// Settings of metrics, which some columns show.
    pub metrics: MetricsOptions,
}

/// Change of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Processors fail.
    Failed,
    /// Processors are restored.
    Restored,
}

impl Availability {
    /// The word used in the table.
    const fn name(self) -> &'static str {
        match self {
            Availability::Failed => "failed",
            Availability::Restored => "restored",
        }
    }
}

pub use job_rows::JobRows;
pub use outages::Loss;

/// The job that another one follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preceding {
    /// Its number in their workload.
    pub number: i64,
    /// True if the follower was still held by its user when the run stopped.
    pub is_held: bool,
}

/// Writes the tables of one run.
pub struct RunWriter {
    folder: PartialFolder,
    cast: Arc<Cast>,
    /// The number of each provider's first processor in the run. It is read at each failure, of which a
    /// grid has millions.
    first_processors: Vec<u32>,
    options: WriteOptions,
    files: Files,
    /// Rows of jobs for which it is not known yet whether metrics count them.
    held: Option<Held>,
    crashes: Crashes,
    holds: Holds,
    sizes: Sizes,
    /// Jobs that follow others and are not over.
    following: BTreeMap<JobId, Preceding>,
    outages: Option<Outages>,
    /// Present as soon as a grid has reported anything.
    grid: Option<Ways>,
    usage: Usage,
    node_use: NodeUse,
    kinds: Vec<&'static str>,
    kind_counts: Vec<u64>,
    /// By sender, receiver and kind.
    message_counts: Tally<u16, 8>,
}

impl RunWriter {
    /// Starts a run's folder. `folder` is its final name. Until the run is published, all files are in
    /// `.NAME.partial` beside it.
    ///
    /// # Errors
    /// If the folder exists (see [`Existing`]) or cannot be written.
    pub fn create(
        folder: &Path,
        cast: impl Into<Arc<Cast>>,
        options: WriteOptions,
    ) -> Result<RunWriter, ResultsError> {
        let folder = PartialFolder::create(folder, options.existing)?;
        // The metrics decide at the end which jobs they leave out, see [`RunWriter::counted`].
        let cuts = options.metrics.cut != Cut::default();
        let held = cuts.then(|| Held::new(folder.path())).transpose();
        let held = held.map_err(|error| ResultsError::write(folder.path(), error))?;
        let cast = cast.into();
        let mut files = Files::new(folder.path().to_owned(), options.format, &cast);
        // These tables exist even if they have no row.
        for table in [Table::Jobs, Table::Attempts, Table::Placements] {
            files.open(table)?;
        }
        if options.messages == Messages::All {
            files.open(Table::Messages)?;
        }
        for table in [Table::Disclosures, Table::Offers, Table::Failures] {
            files.open(table)?;
        }
        // If no processor can fail, there is neither the table nor anything to keep for it.
        let may_fail = cast.providers.iter().any(|it| it.may_fail);
        if may_fail {
            files.open(Table::Outages)?;
        }
        Ok(RunWriter {
            files,
            held,
            crashes: Crashes::default(),
            holds: Holds::default(),
            sizes: Sizes::default(),
            following: BTreeMap::new(),
            outages: may_fail.then(Outages::default),
            grid: None,
            usage: Usage::new(cast.providers.len()),
            node_use: NodeUse::new(&cast),
            folder,
            first_processors: cast.providers.iter().map(|it| it.first_processor).collect(),
            cast,
            options,
            kinds: Vec::new(),
            kind_counts: Vec::new(),
            message_counts: Tally::default(),
        })
    }

    /// The folder before it gets its final name.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Remains of a killed run that were in the folder and have been removed.
    pub fn cleared(&self) -> Option<&Path> {
        self.folder.cleared().then(|| self.folder.path())
    }

    /// Records that a job is over: its rows in `jobs`, `attempts` and `placements`.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn job_over(&mut self, record: &JobRecord) -> Result<(), ResultsError> {
        let story = Story::new(record, &self.cast);
        self.usage.job_over(record, &story);
        self.node_use.job_over(record);
        self.sizes.over(record.job.id);
        let attempts = record.attempts() as i64;
        let bag = record.bag.as_ref();
        let used = bag.map_or(u32::from(record.start.is_some()), |bag| bag.providers());
        self.write_job(record, &story, attempts, i64::from(used))?;
        self.write_reservation(record)?;
        if let Some(bag) = &record.bag {
            self.write_bookings(record.job.id, &bag.bookings)?;
        }
        AttemptView::each(record, |attempt| self.write_attempt(&record.job, &attempt))?;
        self.write_all_checkpoints(record)
    }

    /// Records an attempt of a job that ran in vain: a part of an agreement that ended without the whole job.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn part_given_up(
        &mut self,
        job: &Job,
        attempt: i64,
        part: &ShareRecord,
    ) -> Result<(), ResultsError> {
        self.write_attempt(job, &AttemptView::given_up(attempt, part))
    }

    /// Records the job that a job follows.
    pub fn follows(&mut self, job: JobId, preceding: Preceding) {
        self.following.insert(job, preceding);
    }

    /// Records the size that a provider has chosen for a job.
    pub fn sized(&mut self, job: JobId, sizing: Sizing, stage_in: StageIn) {
        self.sizes.sized(job, sizing, stage_in);
    }

    /// Records that a job loses an attempt because its processors fail. Call it before
    /// [`RunWriter::processors_changed`] for that failure. The loss may follow later, with
    /// [`RunWriter::grid_job_over`].
    pub fn attempt_lost(&mut self, provider: ProviderId, job: JobId, loss: Option<Loss>) {
        if let Some(outages) = &mut self.outages {
            outages.attempt_lost(provider, job, loss);
        }
    }

    /// Records that processors of a provider have failed, or have been restored.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn processors_changed(
        &mut self,
        time: Time,
        provider: ProviderId,
        processors: &ProcessorSet,
        change: Availability,
    ) -> Result<(), ResultsError> {
        let offset = self.first_processors[provider.index()];
        let intervals = processors.intervals().iter();
        self.files.put_all(intervals.map(|&(first, last)| FailureCells {
            time: time.as_micros(),
            provider,
            first: i64::from(first + offset),
            last: i64::from(last + offset),
            event: change.name(),
        }))?;
        match &mut self.outages {
            Some(outages) => {
                // Outages are found by their first processor, which must be unique among all providers.
                let processors = processors.shifted(offset);
                outages.changed(time, provider, processors, change, &mut self.files)
            }
            None => Ok(()),
        }
    }

    /// Records a provider's answer to a call for offers.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn offers_made(
        &mut self,
        time: Time,
        from: ActorId,
        answer: &OffersMade,
    ) -> Result<(), ResultsError> {
        self.files.put_all(answer.offers.iter().map(|&(tasks, completion)| OfferCells {
            time: time.as_micros(),
            sender: from,
            receiver: answer.to,
            job: number(answer.job),
            tasks: i64::from(tasks),
            completion: completion.as_micros(),
            bag_tasks: i64::from(answer.tasks),
            task_time: answer.task_time.as_micros(),
            deadline: answer.deadline.map(Time::as_micros),
            true_power: answer.power as f64 / 1e3,
            true_load: answer.load as f64 / 1e3 / MICROS as f64,
        }))
    }

    /// Records a delivered message.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    #[inline]
    pub fn message(
        &mut self,
        time: Time,
        from: ActorId,
        to: ActorId,
        kind: &'static str,
        job: Option<JobId>,
    ) -> Result<(), ResultsError> {
        let code = self.kind_code(kind);
        self.kind_counts[code as usize] += 1;
        match self.options.messages {
            Messages::All => self.files.put(MessageCells {
                time: time.as_micros(),
                sender: from,
                receiver: to,
                kind,
                job: job.map(number),
            }),
            Messages::Counts => {
                self.message_counts.add((from, to, code), 1);
                Ok(())
            }
            Messages::None => Ok(()),
        }
    }

    /// Records a fault of a message, and how often the message was resent because of it.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn message_fault(
        &mut self,
        time: Time,
        (from, to): (ActorId, ActorId),
        kind: &'static str,
        job: Option<JobId>,
        (fault, resent): (MessageFault, u64),
    ) -> Result<(), ResultsError> {
        // A fault belongs to a single message, so it has a row only if messages have rows.
        if self.options.messages != Messages::All {
            return Ok(());
        }
        self.files.put(MessageFaultCells {
            time: time.as_micros(),
            sender: from,
            receiver: to,
            kind,
            job: job.map(number),
            fault: fault.name(),
            resent: resent as i64,
        })
    }

    /// Records that an actor has crashed, or restarted.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn crash(&mut self, time: Time, actor: ActorId, is_back: bool) -> Result<(), ResultsError> {
        if !is_back {
            self.crashes.crashed(time, actor);
            return Ok(());
        }
        self.crashes.restarted(Some(time), actor, &mut self.files)
    }

    /// Records that `from` has disclosed an item about itself to `to`.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    #[inline]
    pub fn disclosed(
        &mut self,
        time: Time,
        from: ActorId,
        to: ActorId,
        item: DisclosedItem,
        count: u32,
        job: Option<JobId>,
    ) -> Result<(), ResultsError> {
        self.files.put(DisclosureCells {
            time: time.as_micros(),
            sender: from,
            receiver: to,
            item: item.name(),
            count: i64::from(count),
            job: job.map(number),
        })
    }

    /// Number of messages of each kind so far, in alphabetical order. It counts messages that are not
    /// written, too.
    pub fn messages_by_kind(&self) -> BTreeMap<&'static str, u64> {
        let counts = self.kind_counts.iter().copied();
        self.kinds.iter().copied().zip(counts).collect()
    }

    /// Records for each job, in the order in which jobs ended, whether metrics count it.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn counted(&mut self, counted: &[bool]) -> Result<(), ResultsError> {
        // Taken, so that a second call, as by `finish`, finds nothing to decide.
        let Some(mut held) = self.held.take() else { return Ok(()) };
        let trouble = |error| ResultsError::write(self.folder.path(), error);
        let jobs = self.files.open(Table::Jobs)?;
        // Rows in the buffer are the last batch. All batches then come back in the order in which jobs ended.
        held.push(&jobs.buffer).map_err(trouble)?;
        jobs.buffer.clear();
        let mut batches = held.into_batches().map_err(trouble)?;
        let mut counted = counted.iter();
        let place = Table::Jobs.columns().iter().position(|column| column.name == "counted");
        while batches.next_into(&mut jobs.buffer).map_err(trouble)? {
            let column = place.and_then(|place| jobs.buffer.columns.get_mut(place));
            if let Some(Values::Integer(values)) = column {
                // Values come first here: otherwise each end of a batch would swallow a decision about the
                // next one.
                values.iter_mut().zip(&mut counted).for_each(|(it, &counts)| *it = counts.into());
            }
            jobs.flush()?;
        }
        Ok(())
    }

    /// Writes the remaining rows and closes the tables.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn finish(mut self) -> Result<FinishedRun, ResultsError> {
        // Rows that are still held had no decision of the metrics: all of them count.
        self.counted(&[])?;
        self.holds.left(&mut self.files)?;
        self.files.open(Table::Resources)?;
        self.files.put_all(self.usage.rows(&self.cast))?;
        self.files.put_all(self.node_use.rows())?;
        if self.options.messages == Messages::Counts {
            self.files.open(Table::MessageCounts)?;
            let counts = std::mem::take(&mut self.message_counts).sorted();
            let kinds = &self.kinds;
            self.files.put_all(counts.into_iter().map(|((from, to, kind), count)| {
                let kind = kinds[kind as usize];
                MessageCountCells { sender: from, receiver: to, kind, count: count as i64 }
            }))?;
        }
        if let Some(outages) = self.outages {
            outages.close(&mut self.files)?;
        }
        self.crashes.close(&mut self.files)?;
        if let Some(ways) = self.grid {
            self.files.put_all(ways.rows())?;
        }
        Ok(FinishedRun { folder: self.folder, digest: self.files.close()? })
    }

    fn kind_code(&mut self, kind: &'static str) -> u16 {
        // Equal kinds mostly are the same literal. To compare addresses first avoids most comparisons
        // of bytes.
        let is_it = |known: &&'static str| std::ptr::eq(*known, kind);
        let says_it = |known: &&'static str| *known == kind;
        let known = self.kinds.iter().position(is_it);
        let at = known.or_else(|| self.kinds.iter().position(says_it)).unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kind_counts.push(0);
            self.kinds.len() - 1
        });
        at as u16
    }

    /// `attempts` is the number of the job's attempts, `used` the number of providers on which it ran.
    fn write_job(
        &mut self,
        record: &JobRecord,
        story: &Story,
        attempts: i64,
        used: i64,
    ) -> Result<(), ResultsError> {
        let threshold = self.options.metrics.bounded_slowdown_threshold;
        let bag = record.bag.as_ref();
        let all = bag.map(|bag| used_by_all(&bag.shares, &self.cast));
        let nodes = on_nodes(record, &self.cast);
        let sets = (all.as_ref(), nodes.as_ref());
        let preceding = self.following.remove(&record.job.id);
        let cells = job_cells(record, story, sets, (attempts, used), threshold, preceding);
        let Some(held) = &mut self.held else { return self.files.put(cells) };
        let jobs = self.files.open(Table::Jobs)?;
        cells.give(&mut jobs.buffer);
        if jobs.buffer.rows < ROWS_PER_BATCH {
            return Ok(());
        }
        let pushed = held.push(&jobs.buffer);
        jobs.buffer.clear();
        pushed.map_err(|error| ResultsError::write(self.folder.path(), error))
    }

    /// Writes an attempt, with its placements.
    fn write_attempt(&mut self, job: &Job, it: &AttemptView<'_>) -> Result<(), ResultsError> {
        let offset = self.first_processors[it.provider.index()];
        let of_tasks = match it.held {
            Holding::Throughout(_) => None,
            Holding::Tasks(runs) => Some(used(runs)),
        };
        let allocated = match (it.held, &of_tasks) {
            (Holding::Throughout(processors), _) => it.start.map(|_| processors),
            (Holding::Tasks(_), all) => all.as_ref(),
        };
        self.files.put(AttemptCells {
            queued: it.queued.map(Time::as_micros),
            start: it.start.map(Time::as_micros),
            end: it.end.map(Time::as_micros),
            processors: i64::from(it.processors),
            allocated: allocated.map(|processors| (processors, offset)),
            promised_end: it.promised_end.map(Time::as_micros),
            stopped_for: it.stopped_for.map(|it| i64::from(it.0)),
            saved: Some(it.saved.as_micros()),
            checkpointing: it.checkpointing.as_micros(),
            ..AttemptCells::new(job, it.number, it.provider, it.outcome)
        })?;
        it.each_held(|processors, start, end| {
            let intervals = processors.intervals().iter();
            self.files.put_all(intervals.map(|&(first, last)| PlacementCells {
                job: number(job.id),
                attempt: it.number,
                provider: it.provider,
                first: i64::from(first + offset),
                last: i64::from(last + offset),
                start: start.as_micros(),
                end: end.as_micros(),
            }))
        })
    }

    /// Writes the checkpoints of all attempts of a job.
    fn write_all_checkpoints(&mut self, record: &JobRecord) -> Result<(), ResultsError> {
        let shares = record.bag.as_ref().map_or(0, |bag| bag.shares.len()) as i64;
        let mut before = Span::ZERO;
        for (attempt, run) in (shares + 1..).zip(&record.lost) {
            let of = (record, attempt, run.provider, run.processors.count());
            self.write_checkpoints(of, &run.checkpoints, before)?;
            // After its own checkpoints: only those of later attempts contain what this one saved.
            before += run.saved;
        }
        let last = record.provider.filter(|_| record.bag.is_none() && record.has_last_attempt());
        let Some(provider) = last else { return Ok(()) };
        let attempt = record.lost.len() as i64 + 1;
        let of = (record, attempt, provider, record.processors.count());
        self.write_checkpoints(of, &record.checkpoints, before)
    }

    /// Writes the checkpoints of an attempt on this many processors; earlier attempts had computed `before`.
    fn write_checkpoints(
        &mut self,
        (record, attempt, provider, processors): (&JobRecord, i64, ProviderId, u32),
        checkpoints: &[SentCheckpoint],
        before: Span,
    ) -> Result<(), ResultsError> {
        for (place, it) in (1..).zip(checkpoints) {
            let done = (before + it.computing).as_secs_f64();
            let written = it.written.map(Time::as_micros);
            self.files.put(CheckpointCells {
                job: i64::from(record.job.id.0),
                attempt,
                checkpoint: place,
                provider,
                requested: it.requested.as_micros(),
                written,
                available: written,
                work_saved: f64::from(processors) * done,
                computing: it.computing.as_micros(),
            })?;
        }
        Ok(())
    }
}

/// A run whose tables are complete, in a folder without its final name.
#[derive(Debug)]
pub struct FinishedRun {
    folder: PartialFolder,
    digest: RunDigest,
}

impl FinishedRun {
    /// The digest of the tables.
    pub fn digest(&self) -> &RunDigest {
        &self.digest
    }

    /// The folder before it gets its final name. Figures are drawn from its tables and into it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The files of the tables, and their sizes in bytes.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn table_sizes(&self) -> Result<BTreeMap<String, u64>, ResultsError> {
        let trouble = |error| ResultsError::read(self.folder(), error);
        let mut sizes = BTreeMap::new();
        for entry in fs::read_dir(self.folder()).map_err(trouble)? {
            let entry = entry.map_err(trouble)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_table = name.rsplit_once('.').is_some_and(|(stem, ending)| {
                matches!(ending, "parquet" | "csv")
                    && Table::ALL.iter().any(|table| table.name() == stem)
            });
            if is_table {
                sizes.insert(name, entry.metadata().map_err(trouble)?.len());
            }
        }
        Ok(sizes)
    }

    /// Writes a file beside the tables, such as `scenario.toml`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), ResultsError> {
        let path = self.folder().join(name);
        fs::write(&path, content).map_err(|error| ResultsError::write(&path, error))
    }

    /// Writes `summary.json`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_summary(&self, summary: &Summary) -> Result<(), ResultsError> {
        self.write_json("summary.json", summary)
    }

    /// Writes `provenance.json`, which marks a folder as a run.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_provenance(&self, provenance: &Provenance) -> Result<(), ResultsError> {
        self.write_json("provenance.json", provenance)
    }

    /// Writes `timing.json`, the one file that differs from run to run.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_timing(&self, timing: &Timing) -> Result<(), ResultsError> {
        self.write_json("timing.json", timing)
    }

    /// Gives the folder its final name, which it returns.
    ///
    /// # Errors
    /// If the name was taken meanwhile or the folder cannot be renamed.
    pub fn publish(self) -> Result<PathBuf, ResultsError> {
        self.folder.publish()
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), ResultsError> {
        let path = self.folder().join(name);
        // Written in pieces, because the summary of a million resources is long.
        let write = || {
            let mut file = BufWriter::new(File::create(&path)?);
            serde_json::to_writer_pretty(&mut file, value)?;
            file.write_all(b"\n")?;
            file.flush()
        };
        write().map_err(|error| ResultsError::write(&path, error))
    }
}

const MICROS: i64 = haggle_model::time::MICROS_PER_SECOND;

fn number(job: JobId) -> i64 {
    i64::from(job.0)
}

/// Names of final states as in Batsim.
fn final_state(record: &JobRecord) -> &'static str {
    match record.outcome {
        JobOutcome::Completed => "COMPLETED_SUCCESSFULLY",
        JobOutcome::WalltimeReached => "COMPLETED_WALLTIME_REACHED",
        JobOutcome::Cancelled => "COMPLETED_KILLED",
        JobOutcome::Rejected(_) => "REJECTED",
        JobOutcome::Failed => "COMPLETED_FAILED",
        JobOutcome::Unfinished if record.start.is_some() => "RUNNING",
        JobOutcome::Unfinished => "SUBMITTED",
    }
}

/// The times of a job in microseconds; `None` for events that did not happen.
struct Story {
    submit: i64,
    start: Option<i64>,
    end: i64,
    waiting: Option<i64>,
    execution: Option<i64>,
    turnaround: Option<i64>,
    first_processor: u32,
}

impl Story {
    fn new(record: &JobRecord, cast: &Cast) -> Story {
        let ended = record.outcome != JobOutcome::Unfinished;
        let turnaround = record.start.map(|_| record.end - record.job.submit);
        let first = |it: ProviderId| cast.providers[it.index()].first_processor;
        Story {
            submit: record.job.submit.as_micros(),
            start: record.start.map(Time::as_micros),
            end: record.end.as_micros(),
            waiting: record.waiting_time().map(Span::as_micros),
            execution: record.run_time().filter(|_| ended).map(Span::as_micros),
            turnaround: turnaround.filter(|_| ended).map(Span::as_micros),
            first_processor: record.provider.map_or(0, first),
        }
    }

    fn processors<'a>(&self, record: &'a JobRecord) -> Option<&'a ProcessorSet> {
        self.start.map(|_| &record.processors)
    }

    fn stretch(&self) -> Option<f64> {
        // A job without run time has no stretch.
        let execution = self.execution.filter(|&it| it != 0)?;
        Some(self.turnaround? as f64 / execution as f64)
    }

    fn bounded_slowdown(&self, record: &JobRecord, threshold: Span) -> Option<f64> {
        // The run time of a bag is that of one task.
        let run_time = match &record.bag {
            Some(bag) if bag.is_bag() => record.job.run_time.reveal_to_machine().as_micros(),
            _ => self.execution?,
        };
        Some(bounded_slowdown(self.turnaround?, run_time, threshold.as_micros()))
    }
}

/// The numbers of the nodes of a job, at a provider that places jobs on nodes.
fn on_nodes(record: &JobRecord, cast: &Cast) -> Option<ProcessorSet> {
    record.start?;
    let nodes = cast.providers[record.provider?.index()].nodes.as_ref()?;
    let mut numbers = ProcessorSet::new();
    for (node, _) in nodes.of(&record.processors) {
        numbers.insert_all(&ProcessorSet::range(node, 1));
    }
    Some(numbers)
}

/// The row of a job. `all` has all processors of a bag, in the run's numbering, and `nodes` the numbers of its
/// nodes. The job had `attempts` attempts on `used` providers. `preceding` is the job that it follows.
fn job_cells<'a>(
    record: &'a JobRecord,
    story: &Story,
    (all, nodes): (Option<&'a ProcessorSet>, Option<&'a ProcessorSet>),
    (attempts, used): (i64, i64),
    threshold: Span,
    preceding: Option<Preceding>,
) -> JobCells<'a> {
    let job = &record.job;
    let success = record.outcome == JobOutcome::Completed;
    let rejected = matches!(record.outcome, JobOutcome::Rejected(_));
    let unfinished = record.outcome == JobOutcome::Unfinished;
    let bag = record.bag.as_ref();
    let own = || story.processors(record).map(|it| (it, story.first_processor));
    let allocated = all.map(|all| (all, 0)).or_else(own);
    let task = job.task.as_ref();
    let demand = job.demand.as_deref();
    let logged = job.origin.logged().recorded();
    let priority = record.priority.as_deref();
    JobCells {
        job_id: job.number,
        workload: job.workload,
        profile: "delay",
        submit: story.submit,
        processors: i64::from(job.processors),
        // -1 s stands for no limit in this column.
        requested_time: job.requested_time.map_or(-MICROS, Span::as_micros),
        success,
        final_state: final_state(record),
        start: story.start,
        execution_time: story.execution,
        finish: (!rejected && !unfinished).then_some(story.end),
        waiting_time: story.waiting,
        turnaround_time: story.turnaround,
        stretch: story.stretch(),
        allocated,
        // The column is there for readers of Batsim's tables. Energy is not simulated.
        consumed_energy: (!rejected).then_some(-1.0),
        metadata: None,
        job: number(job.id),
        class: record.class,
        outcome: record.outcome.name(),
        refusal: match record.outcome {
            JobOutcome::Rejected(refusal) => Some(refusal.name()),
            _ => None,
        },
        provider: record.provider,
        attempts,
        queued: record.queued.map(Time::as_micros),
        left: story.end,
        walltime: record.walltime.map(Span::as_micros),
        promised_end: record.promised_end.map(Time::as_micros),
        bounded_slowdown: story.bounded_slowdown(record, threshold),
        ready: job.ready.map(Time::as_micros),
        deadline: job.deadline.map(Time::as_micros),
        priority_key: job.key,
        user: i64::from(job.origin.user),
        group: i64::from(job.origin.group),
        executable: i64::from(job.origin.executable),
        queue: i64::from(job.origin.queue),
        partition: i64::from(job.origin.partition),
        shape: match job.shape {
            JobShape::Rigid if job.phases.is_some() => "phased",
            JobShape::Rigid if job.iterative.is_some() => "iterative",
            JobShape::Rigid if bag.is_some() => "spread",
            JobShape::Rigid => "rigid",
            JobShape::Bag => "bag",
            JobShape::Moldable(_) => "moldable",
        },
        providers_used: used,
        recompositions: bag.map_or(0, |bag| i64::from(bag.recompositions)),
        balanced: bag.filter(|bag| bag.is_bag()).map(|bag| bag.balanced),
        workflow: task.map(|it| i64::from(it.workflow)),
        task: task.map(|it| i64::from(it.task)),
        alternative: record.alternative.map(Time::as_micros),
        initial: job.initial.map(Initial::name),
        priority: priority.map(|it| i64::from(it.sum)),
        priority_age: priority.and_then(|it| it.age),
        priority_fair_share: priority.and_then(|it| it.fair_share),
        priority_size: priority.and_then(|it| it.size),
        priority_queue: priority.and_then(|it| it.queue),
        priority_qos: priority.and_then(|it| it.qos),
        recorded_start: record.recorded.and_then(RecordedStart::known).map(Time::as_micros),
        memory: demand
            .map(|it| it.total().memory)
            .filter(|&it| it > 0)
            .map(|it| i64::try_from(it).unwrap_or(i64::MAX)),
        gpus: demand.map(|it| it.total().gpus).filter(|&it| it > 0).map(i64::from),
        nodes: demand.filter(|it| it.apart).map(|it| i64::from(it.chunks)),
        exclusive: demand.filter(|it| it.exclusive).map(|_| true),
        allocated_nodes: nodes.map(|it| (it, 0)),
        preceding_job: preceding.map(|it| it.number),
        held: preceding.filter(|it| it.is_held).map(|_| true),
        recorded_wait: logged.map(|it| it.wait.as_micros()),
        recorded_run: logged.map(|it| it.run_time.reveal_to_machine().as_micros()),
        counted: job.initial.is_none(),
    }
}

/// Time before time zero that counts as run time of a job.
fn before_zero(record: &JobRecord) -> i64 {
    if record.job.initial.is_none() {
        return 0;
    }
    let last = record.start.map_or(0, |start| -start.as_micros());
    let saved = |run: &LostRun| run.saved.as_micros().min(-run.start.as_micros()).max(0);
    let of_lost: i64 = match came_to_nothing(record.outcome) && record.start.is_none() {
        true => 0,
        false => record.lost.iter().map(saved).sum(),
    };
    last.max(0) + of_lost
}

/// All processors that a share used at any time.
fn used(runs: &[TaskRun]) -> ProcessorSet {
    let mut used = ProcessorSet::new();
    for run in runs {
        used = used.union(&run.processors);
    }
    used
}

/// All processors of a bag, in the run's numbering.
fn used_by_all(shares: &[ShareRecord], cast: &Cast) -> ProcessorSet {
    let mut all = ProcessorSet::new();
    for share in shares {
        let offset = cast.providers[share.provider.index()].first_processor;
        all = all.union(&used(&share.runs).shifted(offset));
    }
    all
}

/// Sums for the table `resources`.
struct Usage {
    first_submit: i64,
    last_end: i64,
    jobs: Vec<i64>,
    /// Processor-microseconds in 128 bits: 64 bits overflow after 292 000 processor-years.
    busy: Vec<i128>,
    /// True if jobs share the provider's processors. Processor times of such jobs cannot be added up.
    shared: Vec<bool>,
}

impl Usage {
    fn new(providers: usize) -> Usage {
        Usage {
            first_submit: i64::MAX,
            last_end: i64::MIN,
            jobs: vec![0; providers],
            busy: vec![0; providers],
            shared: vec![false; providers],
        }
    }

    fn job_over(&mut self, record: &JobRecord, story: &Story) {
        self.first_submit = self.first_submit.min(story.submit.max(0));
        for share in record.bag.iter().flat_map(|bag| &bag.shares) {
            self.jobs[share.provider.index()] += 1;
            for run in &share.runs {
                self.last_end = self.last_end.max(run.end.as_micros());
                self.busy[share.provider.index()] += i128::from((run.end - run.start).as_micros())
                    * i128::from(run.processors.count());
            }
        }
        // The shares of a bag have been counted above.
        if record.bag.is_some() {
            return;
        }
        let Some(provider) = record.provider else { return };
        if story.start.is_some() {
            self.last_end = self.last_end.max(story.end);
            self.jobs[provider.index()] += 1;
        }
        // Saved computing of a job that waits again counts as well.
        let saved = || if came_to_nothing(record.outcome) { Span::ZERO } else { record.saved() };
        let ran = record.run_time().unwrap_or_else(saved).as_micros() - before_zero(record);
        self.busy[provider.index()] += i128::from(ran) * i128::from(record.width());
    }

    fn rows<'a>(&'a self, cast: &'a Cast) -> impl Iterator<Item = ResourceCells<'a>> {
        // If no job ran, this is negative, and no resource has a utilisation.
        let makespan = self.last_end.saturating_sub(self.first_submit) as f64;
        let of_site = |(place, site): (u32, &'a SiteInfo)| {
            repeat_n(Some((place, site)), site.resources as usize)
        };
        // Places that give whole processors come before resources, and are on no site.
        let whole = repeat_n(None, cast.whole_places());
        let sites = whole.chain((0..).zip(&cast.sites).flat_map(of_site));
        (0..).zip(&cast.providers).zip(sites).map(move |((i, provider), site)| {
            let at = i as usize;
            let first = i64::from(provider.first_processor);
            let processors = i64::from(provider.processors);
            let capacity = processors as f64 * makespan;
            let busy = self.busy[at] as f64;
            let has_one = capacity > 0.0 && !self.shared[at];
            ResourceCells {
                provider: ProviderId(i),
                first,
                last: first + processors - 1,
                processors,
                speed: provider.speed,
                scheduler: &provider.scheduler,
                jobs: self.jobs[at],
                busy_time: busy / MICROS as f64,
                utilisation: has_one.then(|| busy / capacity),
                site: site.map(|(place, _)| place),
                sharing: site.map(|(_, it)| if it.reserved { "reserved" } else { "equal" }),
                slots: site.and_then(|(_, it)| it.slots).map(i64::from),
            }
        })
    }
}
