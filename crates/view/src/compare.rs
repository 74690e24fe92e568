//! Comparison of the jobs of two views. Jobs are the same if their workload and their number there are.

use haggle_results::reader::CellValue;

use crate::clock::micros;
use crate::jobs::{Column, JobTable};
use crate::scene::Compared;
use crate::shown::shown;
use crate::view::{Difference, Differences};
use crate::{Refusal, View};

/// Largest differences that are listed.
const LISTED: usize = 100;

/// Comparison of a view with another one.
#[derive(Debug)]
pub struct Comparison {
    /// [`Compared`] by number of the job.
    pub codes: Vec<u8>,
    /// Numbers of jobs, and the largest differences.
    pub differences: Differences,
}

/// Columns of a table that are compared.
struct Side {
    job: std::sync::Arc<Column>,
    workload: std::sync::Arc<Column>,
    number: std::sync::Arc<Column>,
    provider: std::sync::Arc<Column>,
    start: std::sync::Arc<Column>,
    rows: usize,
}

impl Side {
    fn of(view: &dyn View) -> Result<Side, Refusal> {
        let table = view.job_table()?;
        let table: &dyn JobTable = &*table;
        Ok(Side {
            job: table.column("job")?,
            workload: table.column("workload_name")?,
            number: table.column("job_id")?,
            provider: table.column("provider")?,
            start: table.column("starting_time")?,
            rows: table.rows(),
        })
    }

    fn key(&self, row: usize) -> Option<(&str, i64)> {
        match self.number.cell(row) {
            CellValue::Integer(number) => Some((self.workload.text(row)?, number)),
            _ => None,
        }
    }

    /// The rows of all jobs, in the order of their names. A map of them would need much more memory.
    fn ordered(&self) -> Vec<u32> {
        let count = u32::try_from(self.rows).unwrap_or(u32::MAX);
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
}

/// Compares all jobs of two views.
///
/// # Errors
/// If the table of jobs of one of them cannot be read.
pub fn compared(here: &dyn View, there: &dyn View) -> Result<Comparison, Refusal> {
    let (here, there) = (Side::of(here)?, Side::of(there)?);
    let ordered = there.ordered();
    let mut codes: Vec<u8> = Vec::new();
    let mut differences = Differences::default();
    let mut found = 0;
    let mut largest: Vec<(i64, usize, usize)> = Vec::new();
    for row in 0..here.rows {
        let other = here.key(row).and_then(|key| there.find(&ordered, key));
        let Some(other) = other else {
            differences.only_here += 1;
            set(&mut codes, here.job.number(row), Compared::OnlyHere);
            continue;
        };
        found += 1;
        let (start, start_there) = (here.start(row), there.start(other));
        let is_elsewhere = here.provider.text(row) != there.provider.text(other);
        // A job that never starts is later than all others.
        let order = start.unwrap_or(i64::MAX).cmp(&start_there.unwrap_or(i64::MAX));
        let code = match (is_elsewhere, order) {
            (true, _) => Compared::Elsewhere,
            (false, std::cmp::Ordering::Less) => Compared::Earlier,
            (false, std::cmp::Ordering::Equal) => Compared::Same,
            (false, std::cmp::Ordering::Greater) => Compared::Later,
        };
        match code {
            Compared::Elsewhere => differences.elsewhere += 1,
            Compared::Earlier => differences.earlier += 1,
            Compared::Later => differences.later += 1,
            _ => differences.same += 1,
        }
        set(&mut codes, here.job.number(row), code);
        if code != Compared::Same {
            let by = match (start, start_there) {
                (Some(a), Some(b)) => (a - b).abs(),
                (None, None) => 0,
                _ => i64::MAX,
            };
            largest.push((by, row, other));
            // Now and then, so that the list stays short.
            if largest.len() > 64 * LISTED {
                cut(&mut largest);
            }
        }
    }
    differences.only_there = ordered.len().saturating_sub(found);
    cut(&mut largest);
    let entry = |&(_, row, other): &(i64, usize, usize)| {
        let (workload, number) = here.key(row)?;
        Some(Difference {
            job: here.job.number(row)?,
            label: shown(&format!("{workload}!{number}")),
            start_here: here.start(row),
            start_there: there.start(other),
            provider_here: here.provider.text(row).map(shown),
            provider_there: there.provider.text(other).map(shown),
        })
    };
    differences.largest = largest.iter().filter_map(entry).collect();
    Ok(Comparison { codes, differences })
}

fn cut(largest: &mut Vec<(i64, usize, usize)>) {
    largest.sort_by_key(|it| (std::cmp::Reverse(it.0), it.1));
    largest.truncate(LISTED);
}

fn set(codes: &mut Vec<u8>, job: Option<u32>, code: Compared) {
    // A damaged table may have any number.
    let Some(job) = job.map(|it| it as usize).filter(|it| *it < 1 << 28) else { return };
    if codes.len() <= job {
        codes.resize(job + 1, Compared::Not as u8);
    }
    codes[job] = code as u8;
}
