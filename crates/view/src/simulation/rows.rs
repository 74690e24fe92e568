//! The table of jobs of a simulation: jobs that are over as in the table `jobs`, then all others as far as they are known.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use haggle_agents::glimpse::{Stage, Work};
use haggle_model::{ActorId, Cast, JobClass, JobId, JobOutcome, JobRecord, ProviderId, Span, Time};
use haggle_results::reader::{CellValue, ColumnData, TextColumn};
use haggle_results::{Cut, JobRows};
use serde_json::Value;

use super::past::{Past, Record};
use crate::Refusal;
use crate::jobs::{Column, JobTable, columns, json_of};

/// Rows of jobs that are over. They never change, so they are made once; a simulation that goes back shows fewer.
#[derive(Debug)]
pub(crate) struct DoneRows {
    rows: JobRows,
    /// Number of records whose rows are there.
    records: usize,
    /// For each row, the place of its record.
    record_of: Vec<u32>,
}

impl DoneRows {
    pub(crate) fn new(cast: &Arc<Cast>, threshold: Span) -> DoneRows {
        DoneRows {
            rows: JobRows::new(Arc::clone(cast), threshold),
            records: 0,
            record_of: Vec::new(),
        }
    }

    /// Adds the rows of all records of a past. Returns the number of its rows.
    pub(crate) fn follow(&mut self, past: &Past) -> usize {
        for (place, record) in (self.records..).zip(past.records.from(self.records)) {
            let place = u32::try_from(place).unwrap_or(u32::MAX);
            let preceding = |job: JobId| past.job(job)?.preceding;
            match record {
                Record::Job(record) => self.rows.push(record, preceding(record.job.id)),
                Record::Settled(job) => {
                    self.rows.push_settled(job, preceding(job.record.job.id));
                }
                Record::Late { .. } => continue,
            }
            self.record_of.push(place);
        }
        self.records = self.records.max(past.records.len());
        self.record_of.partition_point(|&place| (place as usize) < past.records.len())
    }
}

/// The column `counted` of jobs that are over.
enum Counts {
    /// As the rows have it.
    AsTheyAre,
    /// Not known: warm-up and cool-down are parts of all jobs of the run.
    Unknown,
    /// The run is over.
    Are(Vec<bool>),
}

/// The table at a moment.
pub(crate) struct Rows {
    done: Arc<Mutex<DoneRows>>,
    /// Number of the rows of jobs that are over.
    count: usize,
    /// Rows of the other jobs.
    open: JobRows,
    counts: Counts,
    /// Columns that have been asked for.
    columns: Mutex<BTreeMap<&'static str, Arc<Column>>>,
}

impl Rows {
    /// The table of a past at a moment. `cut` are the jobs that metrics leave out.
    pub(crate) fn of(
        done: &Arc<Mutex<DoneRows>>,
        past: &Past,
        (now, threshold): (Time, Span),
        (cut, is_over): (Cut, bool),
    ) -> Rows {
        let count = done.lock().unwrap_or_else(PoisonError::into_inner).follow(past);
        let mut open = JobRows::new(Arc::clone(past.cast()), threshold);
        let works = works(past);
        for (number, known) in (0..).zip(past.jobs.iter()) {
            if known.as_ref().is_some_and(|known| known.record.is_none())
                && let Some(record) = present(past, &works, JobId(number), now)
            {
                open.push(&record, known.as_ref().and_then(|known| known.preceding));
            }
        }
        let counts = match (cut == Cut::default(), is_over) {
            (true, _) => Counts::AsTheyAre,
            (false, false) => Counts::Unknown,
            (false, true) => Counts::Are(cut.counted(&submissions(past))),
        };
        Rows { done: Arc::clone(done), count, open, counts, columns: Mutex::default() }
    }

    /// The values of a column.
    fn each<T>(&self, column: usize, mut take: impl FnMut(CellValue<'_>) -> T) -> Vec<T> {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        (0..self.rows()).map(|row| take(self.cell(&done.rows, row, column))).collect()
    }

    /// A value. `done` are the rows of jobs that are over.
    fn cell<'a>(&'a self, done: &'a JobRows, row: usize, column: usize) -> CellValue<'a> {
        if columns()[column].name == "counted" {
            match &self.counts {
                Counts::AsTheyAre => {}
                Counts::Unknown => return CellValue::Missing,
                Counts::Are(all) => {
                    let counts = all.get(row).copied();
                    return counts.map_or(CellValue::Missing, |it| CellValue::Integer(it.into()));
                }
            }
        }
        match row.checked_sub(self.count) {
            None => done.value(row, column),
            Some(row) => self.open.value(row, column),
        }
    }
}

impl JobTable for Rows {
    fn rows(&self) -> usize {
        self.count + self.open.len()
    }

    fn column(&self, name: &'static str) -> Result<Arc<Column>, Refusal> {
        let place = columns().iter().position(|it| it.name == name);
        let place =
            place.ok_or_else(|| Refusal::missing(format!("there is no column `{name}`")))?;
        let mut kept = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(column) = kept.get(name) {
            return Ok(Arc::clone(column));
        }
        let data = match columns()[place].kind.type_name() {
            "float" => ColumnData::Real(self.each(place, |value| match value {
                CellValue::Real(value) => Some(value),
                _ => None,
            })),
            "integer" => ColumnData::Integer(self.each(place, |value| match value {
                CellValue::Integer(value) => Some(value),
                _ => None,
            })),
            _ => {
                let mut texts: Vec<String> = Vec::new();
                let mut codes = std::collections::HashMap::new();
                let codes = self.each(place, |value| match value {
                    CellValue::Text(text) => {
                        Some(*codes.entry(text.to_owned()).or_insert_with(|| {
                            texts.push(text.to_owned());
                            texts.len() as u32 - 1
                        }))
                    }
                    _ => None,
                });
                ColumnData::Text(TextColumn { codes, texts })
            }
        };
        let mut column = Column::like(&data);
        column.append(&data);
        let column = Arc::new(column);
        kept.insert(name, Arc::clone(&column));
        Ok(column)
    }

    fn page(&self, rows: &[u32]) -> Result<Vec<Vec<Value>>, Refusal> {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let row = |&row: &u32| {
            let cell = |column| json_of(self.cell(&done.rows, row as usize, column));
            (0..columns().len()).map(cell).collect()
        };
        Ok(rows.iter().map(row).collect())
    }
}

/// Of each job that is over, its submission, µs, and true if it belongs to the start state.
fn submissions(past: &Past) -> Vec<(i64, bool)> {
    let jobs = past.records.iter().filter_map(|record| match record {
        Record::Job(record) => Some(&record.job),
        Record::Settled(job) => Some(&job.record.job),
        Record::Late { .. } => None,
    });
    jobs.map(|job| (job.submit.as_micros(), job.initial.is_some())).collect()
}

/// Work of machines, by job.
pub(crate) type Works<'p> = BTreeMap<JobId, Vec<(ActorId, &'p Work)>>;

/// The present work of all machines, by job.
pub(crate) fn works(past: &Past) -> Works<'_> {
    let mut works = Works::new();
    for (&actor, glimpse) in past.machines.iter() {
        for work in &glimpse.jobs {
            works.entry(work.job).or_default().push((actor, work));
        }
    }
    works
}

/// The record of a job that is not over, as far as it is known: as if the run stopped now.
pub(crate) fn present(past: &Past, works: &Works<'_>, job: JobId, now: Time) -> Option<JobRecord> {
    let known = past.job(job)?;
    let class = known.class.unwrap_or(JobClass::Local);
    let mut record =
        JobRecord::never_queued(Arc::clone(&known.job), class, JobOutcome::Unfinished, now);
    if let Some(pieces) = past.pieces.get(&job) {
        record.lost.clone_from(&pieces.lost);
        record.provider = record.lost.last().map(|it| it.provider);
    }
    let here = works.get(&job).into_iter().flatten();
    // A job with several parts has the earliest start.
    let is_there = |work: &Work| !matches!(work.stage, Stage::Sent | Stage::Asking);
    for (actor, work) in here.filter(|(_, work)| is_there(work)) {
        let runs = matches!(work.stage, Stage::Running);
        if record.provider.is_none() || runs && record.start.is_none() {
            record.provider = Some(ProviderId(actor.0));
            record.queued = work.since;
            record.promised_end = work.promised_end;
        }
        if let Some(start) = work.start.filter(|start| runs && *start <= now)
            && record.start.is_none_or(|before| start < before)
        {
            record.start = Some(start);
            record.processors.clone_from(&work.held);
        }
    }
    Some(record)
}
