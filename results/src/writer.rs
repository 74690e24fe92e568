//! Writes the tables of a run while it goes on.
//!
//! How to use it, in order: [`RunWriter::create`] before the run; [`RunWriter::job_over`],
//! [`RunWriter::message`], [`RunWriter::disclosed`] and others as things happen;
//! [`RunWriter::finish`] after it, which gives a [`FinishedRun`] into which
//! summary, provenance and figures go; [`FinishedRun::publish`] gives the folder
//! its name. Whatever fails or is dropped before that leaves nothing behind.
//!
//! Rows wait in memory until there are [`ROWS_PER_BATCH`] of them, and Parquet's
//! encoded columns until there are [`ROWS_PER_GROUP`], so a run's length does not
//! show in the memory it needs.

mod bookings;
mod crashes;
mod grid;
mod held;
mod holds;
mod inputs;
mod intervals;
mod maintenance;
mod moves;
mod outages;
mod reservations;
mod transactions;
mod workflows;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use haggle_model::observation::DisclosedItem;
use haggle_model::{
    ActorId, AttemptOutcome, Cast, JobClass, JobId, JobOutcome, JobRecord, JobShape, MessageFault,
    OffersMade, ProcessorSet, ProviderId, ShareRecord, Sizing, Span, StageIn, Time,
};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crashes::Crashes;
use grid::{GridTables, places};
use held::Held;
use holds::Holds;
use outages::Outages;

use crate::buffer::{Buffer, NO_INTEGER, NO_WORD, Values};
use crate::columns::Table;
use crate::csv_file::CsvFile;
use crate::digest::{RunDigest, TableDigest};
use crate::folder::{Existing, PartialFolder};
use crate::metrics::{Sizes, bounded_slowdown, came_to_nothing};
use crate::parquet_file::ParquetFile;
use crate::tables::{AttemptCells, PlacementCells, push_processors};
use crate::{Provenance, ResultsError, Summary, Timing};

/// Rows kept in memory per table: few enough to stay in the processor's cache.
pub const ROWS_PER_BATCH: usize = 4_096;
/// Rows in one of Parquet's row groups.
pub const ROWS_PER_GROUP: usize = 131_072;

/// The files a table is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// `jobs.parquet` …
    #[default]
    Parquet,
    /// `jobs.csv` …
    Csv,
    /// Both.
    Both,
    /// None: only the digests of what would be in them are kept.
    Neither,
}

/// What is kept of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Messages {
    /// Each of them, in `messages`.
    #[default]
    All,
    /// How many of each kind between whom, in `message_counts`.
    Counts,
    /// Nothing.
    None,
}

/// What is written and how.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteOptions {
    /// The files a table is written to.
    pub format: Format,
    /// What is kept of messages.
    pub messages: Messages,
    /// What to do about a folder that is there already.
    pub existing: Existing,
    /// Run times below it count as this long in bounded slowdowns.
    pub bounded_slowdown_threshold: Span,
    /// Whether processors may fail: then there is a table of outages.
    pub failures: bool,
    /// Whether warm-up or cool-down leave jobs out of the metrics: then [`RunWriter::counted`] says
    /// which, and all count without.
    pub cut: bool,
}

impl Default for WriteOptions {
    fn default() -> WriteOptions {
        WriteOptions {
            format: Format::default(),
            messages: Messages::default(),
            existing: Existing::default(),
            bounded_slowdown_threshold: crate::metrics::DEFAULT_THRESHOLD,
            failures: false,
            cut: false,
        }
    }
}

/// What becomes of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// They fail.
    Failed,
    /// They are back.
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

pub use outages::Loss;

/// Writes the tables of one run.
pub struct RunWriter {
    folder: PartialFolder,
    cast: Cast,
    options: WriteOptions,
    jobs: TableFile,
    /// Rows of jobs of which nobody knows yet whether they count.
    held: Option<Held>,
    attempts: TableFile,
    placements: TableFile,
    messages: Option<TableFile>,
    /// Open as soon as something has gone wrong with a message.
    message_faults: Option<TableFile>,
    crashes: Crashes,
    disclosures: TableFile,
    offers: TableFile,
    /// Open as soon as something has been granted.
    reservations: Option<TableFile>,
    /// Open as soon as a reservation has lost its place.
    displacements: Option<TableFile>,
    /// Open as soon as somebody has moved a job that waited.
    moves: Option<TableFile>,
    /// Open as soon as a job is over that was on several providers.
    bookings: Option<TableFile>,
    /// Written at the end, if there were any.
    transactions: Option<TableFile>,
    holds: Holds,
    /// Open as soon as what a task needs is at a provider.
    inputs: Option<TableFile>,
    /// Written at the end, if there were any.
    workflows: Option<TableFile>,
    /// Open as soon as an interval of an application is over.
    intervals: Option<TableFile>,
    sizes: Sizes,
    failures: TableFile,
    outages: Option<Outages>,
    /// Open as soon as a window has been announced.
    maintenance: Option<TableFile>,
    /// Open as soon as a grid has been heard of.
    grid: Option<GridTables>,
    usage: Usage,
    kinds: Vec<&'static str>,
    kind_counts: Vec<u64>,
    /// By sender, receiver and kind; sorted when it is written.
    message_counts: FxHashMap<(ActorId, ActorId, u32), u64>,
}

impl RunWriter {
    /// Starts a run's folder. `folder` is its final name; until the run is
    /// published, everything is in `.NAME.partial` beside it.
    ///
    /// # Errors
    /// If the folder exists (see [`Existing`]) or cannot be written.
    pub fn create(
        folder: &Path,
        cast: Cast,
        options: WriteOptions,
    ) -> Result<RunWriter, ResultsError> {
        let folder = PartialFolder::create(folder, options.existing)?;
        let held = options.cut.then(|| Held::new(folder.path())).transpose();
        let held = held.map_err(|error| ResultsError::write(folder.path(), error))?;
        let open = |table| TableFile::create(folder.path(), table, &cast, options.format);
        Ok(RunWriter {
            jobs: open(Table::Jobs)?,
            held,
            attempts: open(Table::Attempts)?,
            placements: open(Table::Placements)?,
            messages: match options.messages {
                Messages::All => Some(open(Table::Messages)?),
                Messages::Counts | Messages::None => None,
            },
            message_faults: None,
            crashes: Crashes::default(),
            disclosures: open(Table::Disclosures)?,
            offers: open(Table::Offers)?,
            reservations: None,
            displacements: None,
            moves: None,
            bookings: None,
            transactions: None,
            holds: Holds::default(),
            inputs: None,
            workflows: None,
            intervals: None,
            sizes: Sizes::default(),
            failures: open(Table::Failures)?,
            outages: match options.failures {
                true => Some(Outages::new(open(Table::Outages)?)),
                false => None,
            },
            maintenance: None,
            grid: None,
            usage: Usage::new(cast.providers.len()),
            folder,
            cast,
            options,
            kinds: Vec::new(),
            kind_counts: Vec::new(),
            message_counts: FxHashMap::default(),
        })
    }

    /// The folder as long as it has no final name.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What a run that was killed had left there, and is gone now.
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
        self.sizes.over(record.job.id);
        let shares = record.bag.as_ref().map(|bag| bag.shares.len() as i64);
        let attempts = shares.unwrap_or(i64::from(record.has_last_attempt()));
        let attempts = attempts + record.lost.len() as i64;
        let bag = record.bag.as_ref();
        let used = bag.map_or(u32::from(record.start.is_some()), |bag| bag.providers());
        self.write_job(record, &story, attempts, i64::from(used))?;
        self.write_reservation(record)?;
        if let Some(bag) = &record.bag {
            self.write_bookings(record.job.id, &bag.bookings)?;
            for (at, share) in bag.shares.iter().enumerate() {
                self.write_share(record, at as i64 + 1, share)?;
            }
            return self.write_lost(record, bag.shares.len() as i64 + 1);
        }
        self.write_lost(record, 1)?;
        match record.provider.filter(|_| record.has_last_attempt()) {
            Some(provider) => self.write_last_attempt(record, &story, provider),
            None => Ok(()),
        }
    }

    /// Records the size that a provider has chosen for a job.
    pub fn sized(&mut self, job: JobId, sizing: Sizing, stage_in: StageIn) {
        self.sizes.sized(job, sizing, stage_in);
    }

    /// Records that a job loses an attempt with processors that fail now, as is about to be
    /// recorded. What that cost may follow later, see [`RunWriter::loss_settled`].
    pub fn attempt_lost(&mut self, provider: ProviderId, job: JobId, loss: Option<Loss>) {
        if let Some(outages) = &mut self.outages {
            outages.attempt_lost(provider, job, loss);
        }
    }

    /// Records what it cost that an attempt was lost when `provider` failed.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn loss_settled(
        &mut self,
        provider: ProviderId,
        failure: Time,
        loss: Loss,
    ) -> Result<(), ResultsError> {
        match &mut self.outages {
            Some(outages) => outages.settled(provider, failure, loss),
            None => Ok(()),
        }
    }

    /// Records that processors of a provider have failed, or are back.
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
        let offset = self.cast.providers[provider.index()].first_processor;
        for &(first, last) in processors.intervals() {
            let mut row = self.failures.buffer.row();
            row.micros(time.as_micros()).code(provider.0);
            row.integer(i64::from(first + offset)).integer(i64::from(last + offset));
            row.word(change.name()).done();
        }
        if let Some(outages) = &mut self.outages {
            outages.changed(time, provider, processors.shifted(offset), change)?;
        }
        self.failures.flush_if_full()
    }

    /// Records what a provider answered to a call for offers.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn offers_made(
        &mut self,
        time: Time,
        from: ActorId,
        answer: &OffersMade,
    ) -> Result<(), ResultsError> {
        for &(tasks, completion) in &answer.offers {
            let mut row = self.offers.buffer.row();
            row.micros(time.as_micros()).code(from.0).code(answer.to.0);
            row.integer(i64::from(answer.job.0)).integer(i64::from(tasks));
            row.micros(completion.as_micros()).integer(i64::from(answer.tasks));
            row.micros(answer.task_time.as_micros()).micros(micros(answer.deadline));
            row.real(answer.power as f64 / 1e3);
            row.real(answer.load as f64 / 1e3 / MICROS as f64).done();
        }
        self.offers.flush_if_full()
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
        match (&mut self.messages, self.options.messages) {
            (Some(messages), _) => {
                let mut row = messages.buffer.row();
                row.micros(time.as_micros()).code(from.0).code(to.0);
                row.word(kind).integer(number(job)).done();
                messages.flush_if_full()
            }
            (None, Messages::Counts) => {
                *self.message_counts.entry((from, to, code)).or_default() += 1;
                Ok(())
            }
            (None, _) => Ok(()),
        }
    }

    /// Records that something went wrong with a message, and how often it was sent again because of that.
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
        if self.options.messages != Messages::All {
            return Ok(());
        }
        let file = match &mut self.message_faults {
            Some(file) => file,
            none => {
                let (folder, format) = (self.folder.path(), self.options.format);
                none.insert(TableFile::create(folder, Table::MessageFaults, &self.cast, format)?)
            }
        };
        let mut row = file.buffer.row();
        row.micros(time.as_micros()).code(from.0).code(to.0);
        row.word(kind).integer(number(job)).word(fault.name()).integer(resent as i64).done();
        file.flush_if_full()
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
        let place = (&self.folder, &self.cast, self.options.format);
        self.crashes.restarted(Some(time), actor, place)
    }

    /// Records that `from` let `to` know something about itself.
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
        let mut row = self.disclosures.buffer.row();
        row.micros(time.as_micros()).code(from.0).code(to.0);
        row.word(item.name()).integer(i64::from(count));
        row.integer(number(job)).done();
        self.disclosures.flush_if_full()
    }

    /// Messages of each kind so far, whatever is written of them, in alphabetical order.
    pub fn messages_by_kind(&self) -> BTreeMap<&'static str, u64> {
        let counts = self.kind_counts.iter().copied();
        self.kinds.iter().copied().zip(counts).collect()
    }

    /// Says of each job, in the order in which they were over, whether metrics count it.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn counted(&mut self, counted: &[bool]) -> Result<(), ResultsError> {
        let Some(mut held) = self.held.take() else { return Ok(()) };
        let trouble = |error| ResultsError::write(self.folder.path(), error);
        held.push(&self.jobs.buffer).map_err(trouble)?;
        self.jobs.buffer.clear();
        let mut batches = held.into_batches().map_err(trouble)?;
        let mut counted = counted.iter();
        while batches.next_into(&mut self.jobs.buffer).map_err(trouble)? {
            if let Some(Values::Integer(values)) = self.jobs.buffer.columns.last_mut() {
                values.iter_mut().zip(&mut counted).for_each(|(it, &counts)| *it = counts.into());
            }
            self.jobs.flush()?;
        }
        Ok(())
    }

    /// Writes what is left and closes the tables.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn finish(mut self) -> Result<FinishedRun, ResultsError> {
        // Who left out which jobs do not count leaves none out.
        self.counted(&[])?;
        self.holds_left()?;
        let open =
            |table| TableFile::create(self.folder.path(), table, &self.cast, self.options.format);
        let mut resources = open(Table::Resources)?;
        self.usage.write(&self.cast, &mut resources.buffer);
        let mut tables = vec![self.jobs, self.attempts, self.placements];
        tables.extend(self.messages);
        tables.extend(self.message_faults);
        if self.options.messages == Messages::Counts {
            let mut counts = open(Table::MessageCounts)?;
            let mut sorted: Vec<_> = self.message_counts.into_iter().collect();
            sorted.sort_unstable();
            for ((from, to, kind), count) in sorted {
                let mut row = counts.buffer.row();
                row.code(from.0).code(to.0);
                row.word(self.kinds[kind as usize]).integer(count as i64).done();
            }
            tables.push(counts);
        }
        tables.extend([self.disclosures, self.offers]);
        tables.extend(self.reservations);
        tables.extend(self.displacements);
        tables.extend(self.moves);
        tables.extend(self.bookings);
        tables.extend(self.transactions);
        tables.extend(self.holds.into_table());
        tables.extend(self.intervals);
        tables.extend([resources, self.failures]);
        if let Some(outages) = self.outages {
            tables.push(outages.close()?);
        }
        tables.extend(self.crashes.close(&self.folder, &self.cast, self.options.format)?);
        tables.extend(self.maintenance);
        tables.extend(self.grid.map(GridTables::into_tables).into_iter().flatten());
        tables.extend(self.inputs);
        tables.extend(self.workflows);
        let digests = tables.into_iter().map(TableFile::close).collect::<Result<Vec<_>, _>>()?;
        Ok(FinishedRun { folder: self.folder, digest: RunDigest::new(&digests) })
    }

    fn kind_code(&mut self, kind: &'static str) -> u32 {
        // The same kind mostly is the same literal, so comparing addresses first spares the bytes.
        let is_it = |known: &&'static str| std::ptr::eq(*known, kind);
        let says_it = |known: &&'static str| *known == kind;
        let known = self.kinds.iter().position(is_it);
        let at = known.or_else(|| self.kinds.iter().position(says_it)).unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kind_counts.push(0);
            self.kinds.len() - 1
        });
        at as u32
    }

    /// `attempts` is how many it had, `used` the providers it ran on.
    fn write_job(
        &mut self,
        record: &JobRecord,
        story: &Story,
        attempts: i64,
        used: i64,
    ) -> Result<(), ResultsError> {
        let job = &record.job;
        let success = record.outcome == JobOutcome::Completed;
        let rejected = matches!(record.outcome, JobOutcome::Rejected(_));
        let unfinished = record.outcome == JobOutcome::Unfinished;
        let finish = if rejected || unfinished { NO_INTEGER } else { story.end };
        let threshold = self.options.bounded_slowdown_threshold;

        let mut row = self.jobs.buffer.row();
        row.integer(job.number).code(u32::from(job.workload));
        row.word("delay").micros(story.submit);
        row.integer(i64::from(job.processors));
        row.micros(job.requested_time.map_or(-MICROS, Span::as_micros));
        row.integer(i64::from(success)).word(final_state(record));
        row.micros(story.start).micros(story.execution).micros(finish);
        row.micros(story.waiting).micros(story.turnaround);
        row.real(story.stretch());
        match &record.bag {
            Some(bag) => row.text(|out| {
                push_processors(out, &used_by_all(&bag.shares, &self.cast), 0);
            }),
            None => row.text(|out| {
                let processors = story.processors(record).into_iter();
                processors.for_each(|it| push_processors(out, it, story.first_processor));
            }),
        };
        row.real(if rejected { f64::NAN } else { -1.0 }).code(NO_WORD);

        row.integer(i64::from(job.id.0)).word(record.class.name());
        row.word(record.outcome.name());
        match record.outcome {
            JobOutcome::Rejected(refusal) => row.word(refusal.name()),
            _ => row.code(NO_WORD),
        };
        row.code(story.provider).integer(attempts);
        row.micros(micros(record.queued)).micros(story.end);
        row.micros(record.walltime.map_or(NO_INTEGER, Span::as_micros));
        row.micros(micros(record.promised_end));
        row.real(story.bounded_slowdown(record, threshold));
        row.micros(micros(job.ready)).micros(micros(job.deadline));
        row.integer(job.key);
        row.integer(i64::from(job.origin.user)).integer(i64::from(job.origin.group));
        row.integer(i64::from(job.origin.executable)).integer(i64::from(job.origin.queue));
        row.integer(i64::from(job.origin.partition));
        let bag = record.bag.as_ref();
        row.word(match job.shape {
            JobShape::Rigid if job.phases.is_some() => "phased",
            JobShape::Rigid if job.iterative.is_some() => "iterative",
            JobShape::Rigid if bag.is_some() => "spread",
            JobShape::Rigid => "rigid",
            JobShape::Bag => "bag",
            JobShape::Moldable(_) => "moldable",
        });
        row.integer(used);
        row.integer(bag.map_or(0, |bag| i64::from(bag.recompositions)));
        let balanced = bag.filter(|bag| bag.is_bag());
        row.integer(balanced.map_or(NO_INTEGER, |bag| i64::from(bag.balanced)));
        let task = job.task.as_ref();
        row.integer(task.map_or(NO_INTEGER, |it| i64::from(it.workflow)));
        row.integer(task.map_or(NO_INTEGER, |it| i64::from(it.task)));
        row.micros(micros(record.alternative)).integer(1).done();
        match &mut self.held {
            Some(held) if self.jobs.buffer.rows >= ROWS_PER_BATCH => {
                let pushed = held.push(&self.jobs.buffer);
                self.jobs.buffer.clear();
                pushed.map_err(|error| ResultsError::write(self.folder.path(), error))
            }
            Some(_) => Ok(()),
            None => self.jobs.flush_if_full(),
        }
    }

    /// The attempt of a rigid job that was not lost, or that still waits.
    fn write_last_attempt(
        &mut self,
        record: &JobRecord,
        story: &Story,
        provider: ProviderId,
    ) -> Result<(), ResultsError> {
        let attempt = record.lost.len() as i64 + 1;
        let allocated = story.processors(record).map(|it| (it, story.first_processor));
        self.write_attempt(AttemptCells {
            queued: record.queued.map(Time::as_micros),
            start: record.start.map(Time::as_micros),
            end: Some(story.end),
            processors: i64::from(record.width()),
            allocated,
            promised_end: record.promised_end.map(Time::as_micros),
            saved: Some(0),
            checkpointing: record.checkpointing.as_micros(),
            ..AttemptCells::new(&record.job, attempt, provider, record.outcome.into())
        })?;
        let span = (story.start, story.end);
        self.write_placements(record, attempt, provider.0, &record.processors, span)
    }

    /// What failures undid: each an attempt of its own, numbered from `first` on.
    fn write_lost(&mut self, record: &JobRecord, first: i64) -> Result<(), ResultsError> {
        for (attempt, run) in (first..).zip(&record.lost) {
            let offset = self.cast.providers[run.provider.index()].first_processor;
            let (start, end) = (run.start.as_micros(), run.end.as_micros());
            self.write_attempt(AttemptCells {
                queued: record.queued.map(Time::as_micros),
                start: Some(start),
                end: Some(end),
                processors: i64::from(run.processors.count()),
                allocated: Some((&run.processors, offset)),
                promised_end: record.promised_end.map(Time::as_micros),
                saved: Some(run.saved.as_micros()),
                checkpointing: run.checkpointing.as_micros(),
                ..AttemptCells::new(&record.job, attempt, run.provider, AttemptOutcome::Failed)
            })?;
            let provider = run.provider.0;
            self.write_placements(record, attempt, provider, &run.processors, (start, end))?;
        }
        Ok(())
    }

    /// A share is an attempt of its own, with a placement for all tasks that ran together.
    fn write_share(
        &mut self,
        record: &JobRecord,
        attempt: i64,
        share: &ShareRecord,
    ) -> Result<(), ResultsError> {
        let offset = self.cast.providers[share.provider.index()].first_processor;
        let over: u32 = share.runs.iter().map(|run| run.processors.count()).sum();
        let outcome = match share.runs.iter().find(|run| run.outcome != JobOutcome::Completed) {
            // Tasks that never came to their end have failed, or still wait.
            _ if over < share.tasks => record.outcome,
            Some(run) => run.outcome,
            None => JobOutcome::Completed,
        };
        self.write_attempt(AttemptCells {
            queued: Some(share.queued.as_micros()),
            start: share.runs.iter().map(|run| run.start.as_micros()).min(),
            end: share.runs.iter().map(|run| run.end.as_micros()).max(),
            processors: i64::from(share.tasks),
            allocated: Some((&used(share), offset)),
            promised_end: share.promised_end.map(Time::as_micros),
            saved: Some(0),
            ..AttemptCells::new(&record.job, attempt, share.provider, outcome.into())
        })?;
        for run in &share.runs {
            let span = (run.start.as_micros(), run.end.as_micros());
            self.write_placements(record, attempt, share.provider.0, &run.processors, span)?;
        }
        Ok(())
    }

    fn write_attempt(&mut self, attempt: AttemptCells<'_>) -> Result<(), ResultsError> {
        attempt.give(&mut self.attempts.buffer);
        self.attempts.flush_if_full()
    }

    fn write_placements(
        &mut self,
        record: &JobRecord,
        attempt: i64,
        provider: u32,
        processors: &ProcessorSet,
        (start, end): (i64, i64),
    ) -> Result<(), ResultsError> {
        for &(first, last) in processors.intervals() {
            let offset = self.cast.providers[provider as usize].first_processor;
            let cells = PlacementCells {
                job: i64::from(record.job.id.0),
                attempt,
                provider,
                first: i64::from(first + offset),
                last: i64::from(last + offset),
                start,
                end,
            };
            cells.give(&mut self.placements.buffer);
            self.placements.flush_if_full()?;
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
    /// What the tables say, as one short text.
    pub fn digest(&self) -> &RunDigest {
        &self.digest
    }

    /// The folder as long as it has no final name: where figures are drawn from and to.
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

    /// Writes `provenance.json`, by which a folder is known to hold a run.
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
        // Piece by piece: what a summary says of a million resources is long.
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

fn number(job: Option<JobId>) -> i64 {
    job.map_or(NO_INTEGER, |job| i64::from(job.0))
}

fn micros(time: Option<Time>) -> i64 {
    time.map_or(NO_INTEGER, Time::as_micros)
}

/// The states of Batsim.
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

/// The times of a job in microseconds, [`NO_INTEGER`] where it never got so far.
struct Story {
    submit: i64,
    start: i64,
    end: i64,
    waiting: i64,
    execution: i64,
    turnaround: i64,
    provider: u32,
    first_processor: u32,
}

impl Story {
    fn new(record: &JobRecord, cast: &Cast) -> Story {
        let submit = record.job.submit.as_micros();
        let end = record.end.as_micros();
        let start = micros(record.start);
        let span = |span: Option<Span>| span.map_or(NO_INTEGER, Span::as_micros);
        let ended = record.outcome != JobOutcome::Unfinished;
        let turnaround = record.start.map(|_| record.end - record.job.submit);
        let provider = record.provider;
        Story {
            submit,
            start,
            end,
            waiting: span(record.waiting_time()),
            execution: span(record.run_time().filter(|_| ended)),
            turnaround: span(turnaround.filter(|_| ended)),
            provider: provider.map_or(NO_WORD, |provider| provider.0),
            first_processor: provider.map_or(0, |it| cast.providers[it.index()].first_processor),
        }
    }

    fn processors<'a>(&self, record: &'a JobRecord) -> Option<&'a ProcessorSet> {
        (self.start != NO_INTEGER).then_some(&record.processors)
    }

    fn stretch(&self) -> f64 {
        if self.turnaround == NO_INTEGER || self.execution == 0 {
            return f64::NAN;
        }
        self.turnaround as f64 / self.execution as f64
    }

    fn bounded_slowdown(&self, record: &JobRecord, threshold: Span) -> f64 {
        if self.turnaround == NO_INTEGER {
            return f64::NAN;
        }
        let run_time = match &record.bag {
            Some(bag) if bag.is_bag() => record.job.run_time.reveal_to_machine().as_micros(),
            _ => self.execution,
        };
        bounded_slowdown(self.turnaround, run_time, threshold.as_micros())
    }
}

/// All processors a share used, at whatever time.
fn used(share: &ShareRecord) -> ProcessorSet {
    let mut used = ProcessorSet::new();
    for run in &share.runs {
        used = used.union(&run.processors);
    }
    used
}

/// All processors of a bag, in the run's numbering.
fn used_by_all(shares: &[ShareRecord], cast: &Cast) -> ProcessorSet {
    let mut all = ProcessorSet::new();
    for share in shares {
        let offset = cast.providers[share.provider.index()].first_processor;
        all = all.union(&used(share).shifted(offset));
    }
    all
}

/// What the `resources` table sums up.
struct Usage {
    first_submit: i64,
    last_end: i64,
    jobs: Vec<i64>,
    /// Processor-microseconds; 128 bits, for 64 last half a million processors one year.
    busy: Vec<i128>,
    /// Whether jobs share the provider's processors, so that theirs do not add up.
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
        self.first_submit = self.first_submit.min(story.submit);
        for share in record.bag.iter().flat_map(|bag| &bag.shares) {
            self.jobs[share.provider.index()] += 1;
            for run in &share.runs {
                self.last_end = self.last_end.max(run.end.as_micros());
                self.busy[share.provider.index()] += i128::from((run.end - run.start).as_micros())
                    * i128::from(run.processors.count());
            }
        }
        if record.bag.is_some() {
            return;
        }
        let Some(provider) = record.provider else { return };
        if story.start != NO_INTEGER {
            self.last_end = self.last_end.max(story.end);
            self.jobs[provider.index()] += 1;
        }
        // What a job that waits again has saved counts as well.
        let saved = || if came_to_nothing(record.outcome) { Span::ZERO } else { record.saved() };
        let ran = record.run_time().unwrap_or_else(saved).as_micros();
        self.busy[provider.index()] += i128::from(ran) * i128::from(record.width());
    }

    fn write(&self, cast: &Cast, buffer: &mut Buffer) {
        let makespan = self.last_end.saturating_sub(self.first_submit) as f64;
        for (i, provider) in cast.providers.iter().enumerate() {
            let first = i64::from(provider.first_processor);
            let processors = i64::from(provider.processors);
            let capacity = processors as f64 * makespan;
            let busy = self.busy[i] as f64;
            let has_one = capacity > 0.0 && !self.shared[i];
            let utilisation = if has_one { busy / capacity } else { f64::NAN };
            let mut row = buffer.row();
            row.code(i as u32).integer(first).integer(first + processors - 1);
            row.integer(processors).real(provider.speed).word(&provider.scheduler);
            row.integer(self.jobs[i]).real(busy / MICROS as f64).real(utilisation).done();
        }
    }
}

/// One table on its way to its files.
struct TableFile {
    buffer: Buffer,
    rows: u64,
    digest: TableDigest,
    parquet: Option<ParquetFile>,
    csv: Option<CsvFile>,
}

impl TableFile {
    fn create(
        folder: &Path,
        table: Table,
        cast: &Cast,
        format: Format,
    ) -> Result<TableFile, ResultsError> {
        let parquet = match format {
            Format::Parquet | Format::Both => Some(ParquetFile::create(folder, table)?),
            Format::Csv | Format::Neither => None,
        };
        let csv = match format {
            Format::Csv | Format::Both => Some(CsvFile::create(folder, table)?),
            Format::Parquet | Format::Neither => None,
        };
        Ok(TableFile {
            buffer: Buffer::new(table, |column| fixed_words(column, cast)),
            rows: 0,
            digest: TableDigest::new(table),
            parquet,
            csv,
        })
    }

    fn flush_if_full(&mut self) -> Result<(), ResultsError> {
        if self.buffer.rows < ROWS_PER_BATCH {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), ResultsError> {
        if self.buffer.rows == 0 {
            return Ok(());
        }
        self.digest.update(&self.buffer);
        if let Some(parquet) = &mut self.parquet {
            parquet.write(&self.buffer)?;
        }
        if let Some(csv) = &mut self.csv {
            csv.write(&self.buffer)?;
        }
        self.rows += self.buffer.rows as u64;
        self.buffer.clear();
        Ok(())
    }

    fn close(mut self) -> Result<(Table, u64, u128), ResultsError> {
        self.flush()?;
        if let Some(parquet) = self.parquet {
            parquet.close()?;
        }
        let table = self.buffer.table;
        Ok((table, self.rows, self.digest.finish(&self.buffer)))
    }
}

/// The words whose codes are identifiers of the run.
pub(crate) fn fixed_words(column: &str, cast: &Cast) -> Vec<String> {
    match column {
        "workload_name" => cast.workloads.clone(),
        "provider" => cast.providers.iter().map(|it| it.name.clone()).collect(),
        "sender" | "receiver" | "actor" | "holder" | "asked_by" => {
            cast.actors.iter().map(|it| it.name.clone()).collect()
        }
        "from" | "to" => places(cast),
        "class" => {
            [JobClass::Local, JobClass::External].map(|class| class.name().to_owned()).to_vec()
        }
        _ => Vec::new(),
    }
}
