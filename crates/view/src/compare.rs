//! Comparison of the jobs of two views, by the definitions of `haggle compare`. Jobs are the same if their workload, their
//! number there, their request and their run time are the same, as far as both are known.

use std::sync::Arc;

use haggle_experiment::compare::{Request, RunTimes, Starts};
use haggle_results::reader::CellValue;

use crate::clock::micros;
use crate::jobs::{Column, JobTable};
use crate::scene::{Compared, NO_JOB};
use crate::shown::shown;
use crate::view::{Counts, Difference, Differences};
use crate::{Refusal, View};

/// Most differences in an answer.
const LISTED_MAX: usize = 1_000;

/// Comparison of a view with another one.
pub struct Comparison {
    /// [`Compared`] by number of the job.
    pub codes: Vec<u8>,
    /// Numbers of jobs.
    pub counts: Counts,
    /// For each job here, its number there.
    there_of: Vec<u32>,
    /// Rows of the jobs that differ, largest difference first.
    differing: Vec<(u32, u32)>,
    here: Side,
    there: Side,
}

/// Columns that name a job and its place.
struct Side {
    job: Arc<Column>,
    workload: Arc<Column>,
    number: Arc<Column>,
    provider: Arc<Column>,
    start: Arc<Column>,
}

/// Columns that tell jobs with one number apart.
struct Requests {
    submit: Arc<Column>,
    processors: Arc<Column>,
    requested_time: Arc<Column>,
    shape: Arc<Column>,
    run_times: RunTimes,
}

impl Side {
    fn of(table: &dyn JobTable) -> Result<Side, Refusal> {
        Ok(Side {
            job: table.column("job")?,
            workload: table.column("workload_name")?,
            number: table.column("job_id")?,
            provider: table.column("provider")?,
            start: table.column("starting_time")?,
        })
    }

    fn key(&self, row: usize) -> Option<(&str, i64)> {
        Some((self.workload.text(row)?, integer(&self.number, row)?))
    }

    /// The rows of all jobs, in the order of their names. A map of them would need much more memory.
    fn ordered(&self) -> Vec<u32> {
        let count = u32::try_from(self.job.len()).unwrap_or(u32::MAX);
        let mut rows = Vec::from_iter((0..count).filter(|it| self.key(*it as usize).is_some()));
        rows.sort_unstable_by_key(|it| (self.key(*it as usize), *it));
        rows
    }

    /// The row of a job among ordered rows.
    fn find(&self, ordered: &[u32], key: (&str, i64)) -> Option<usize> {
        let at = ordered.partition_point(|it| self.key(*it as usize) < Some(key));
        let row = *ordered.get(at)? as usize;
        (self.key(row) == Some(key)).then_some(row)
    }

    fn start(&self, row: usize) -> Option<i64> {
        self.start.real(row).and_then(micros)
    }

    fn place(&self, row: usize) -> Option<String> {
        self.provider.text(row).map(shown)
    }
}

impl Requests {
    fn of(view: &dyn View, table: &dyn JobTable) -> Result<Requests, Refusal> {
        Ok(Requests {
            submit: table.column("submission_time")?,
            processors: table.column("requested_number_of_resources")?,
            requested_time: table.column("requested_time")?,
            shape: table.column("shape")?,
            run_times: view.run_times()?,
        })
    }

    fn request(&self, row: usize) -> Request<'_> {
        Request {
            submit: self.submit.real(row),
            processors: integer(&self.processors, row),
            requested_time: self.requested_time.real(row),
            shape: self.shape.text(row),
        }
    }
}

fn integer(column: &Column, row: usize) -> Option<i64> {
    match column.cell(row) {
        CellValue::Integer(value) => Some(value),
        _ => None,
    }
}

/// Compares all jobs of two views.
///
/// # Errors
/// If the table of jobs of one of them cannot be read.
pub fn compared(here: &dyn View, there: &dyn View) -> Result<Comparison, Refusal> {
    let tables = (here.job_table()?, there.job_table()?);
    let asked = (Requests::of(here, &*tables.0)?, Requests::of(there, &*tables.1)?);
    let (here, there) = (Side::of(&*tables.0)?, Side::of(&*tables.1)?);
    let ordered = there.ordered();
    let (mut codes, mut there_of) = (Vec::new(), Vec::new());
    let (mut counts, mut starts) = (Counts::default(), Starts::default());
    let mut differing: Vec<(f64, u32, u32)> = Vec::new();
    for row in 0..here.job.len() {
        let job = here.job.number(row);
        let Some(other) = here.key(row).and_then(|key| there.find(&ordered, key)) else {
            counts.only_here += 1;
            set(&mut codes, job, Compared::OnlyHere as u8, Compared::Not as u8);
            continue;
        };
        let numbers = integer(&here.job, row).zip(integer(&there.job, other));
        let agree = |(a, b)| asked.0.run_times.may_agree(a, &asked.1.run_times, b);
        if asked.0.request(row) != asked.1.request(other) || !numbers.is_some_and(agree) {
            counts.other += 1;
            set(&mut codes, job, Compared::OnlyHere as u8, Compared::Not as u8);
            continue;
        }
        set(&mut there_of, job, there.job.number(other).unwrap_or(NO_JOB), NO_JOB);
        let (start, start_there) = (here.start.real(row), there.start.real(other));
        let is_elsewhere = here.provider.text(row) != there.provider.text(other);
        // The other view is run A, relative to which this one is earlier or later.
        let delay = starts.add((start_there, start), is_elsewhere);
        let code = match (is_elsewhere, delay, start) {
            (true, ..) => Compared::Elsewhere,
            (false, Some(delay), _) if delay < 0.0 => Compared::Earlier,
            (false, Some(delay), _) if delay > 0.0 => Compared::Later,
            // A job that never starts is later than all others.
            (false, None, Some(_)) => Compared::Earlier,
            (false, None, None) if start_there.is_some() => Compared::Later,
            _ => Compared::Same,
        };
        set(&mut codes, job, code as u8, Compared::Not as u8);
        if code != Compared::Same {
            let by = match start.is_some() == start_there.is_some() {
                true => delay.map_or(0.0, f64::abs),
                false => f64::INFINITY,
            };
            differing.push((by, row as u32, other as u32));
        }
    }
    counts.only_there = ordered.len().saturating_sub(starts.in_both + counts.other);
    counts.take(&starts);
    // Jobs of one difference are in the order of their names, as in `haggle compare`.
    differing.sort_by(|a, b| {
        let names = || here.key(a.1 as usize).cmp(&here.key(b.1 as usize));
        b.0.total_cmp(&a.0).then_with(names)
    });
    let differing = differing.into_iter().map(|(_, row, other)| (row, other)).collect();
    Ok(Comparison { codes, counts, there_of, differing, here, there })
}

impl Comparison {
    /// The counts, and a page of the differences.
    pub fn page(&self, first: usize, count: usize) -> Differences {
        let rows = self.differing.iter().skip(first).take(count.min(LISTED_MAX));
        let entry = |&(row, other): &(u32, u32)| {
            let (row, other) = (row as usize, other as usize);
            let (workload, number) = self.here.key(row)?;
            Some(Difference {
                job: self.here.job.number(row)?,
                job_there: self.there.job.number(other)?,
                label: shown(&format!("{workload}!{number}")),
                start_here: self.here.start(row),
                start_there: self.there.start(other),
                provider_here: self.here.place(row),
                provider_there: self.there.place(other),
            })
        };
        Differences {
            counts: self.counts,
            total: self.differing.len(),
            first,
            largest: rows.filter_map(entry).collect(),
        }
    }

    /// The number there of a job of this view; `None` = it is not there, or it is another job.
    pub fn job_there(&self, job: u32) -> Option<u32> {
        self.there_of.get(job as usize).copied().filter(|it| *it != NO_JOB)
    }
}

/// Sets a value of a job; values of jobs between are `nothing`.
fn set<T: Copy>(all: &mut Vec<T>, job: Option<u32>, value: T, nothing: T) {
    // A damaged table may have any number.
    let Some(job) = job.map(|it| it as usize).filter(|it| *it < 1 << 28) else { return };
    if all.len() <= job {
        all.resize(job + 1, nothing);
    }
    all[job] = value;
}
