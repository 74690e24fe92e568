//! Waiting times of the jobs of each user, group, queue or partition, in two runs or beside a log.
//!
//! Jobs of one week wait in the same queue, so their differences are not independent. The intervals count blocks of
//! time as replications, not jobs.

use std::collections::BTreeMap;

use haggle_results::reader::{CellValue, Rows};
use haggle_results::stats::Blocks;
use haggle_results::{ResultsError, RunReader, Table};
use serde::Serialize;

use super::same::{self, Job};

/// Number of a job by which waiting times are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OwnerKind {
    /// Its user.
    User,
    /// Its group, or its account in a log of accounts.
    Group,
    /// Its queue, or its quality of service in a log of sacct.
    Queue,
    /// Its partition.
    Partition,
}

impl OwnerKind {
    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            OwnerKind::User => "user",
            OwnerKind::Group => "group",
            OwnerKind::Queue => "queue",
            OwnerKind::Partition => "partition",
        }
    }

    fn column(self) -> &'static str {
        match self {
            OwnerKind::User => "user_id",
            OwnerKind::Group => "group_id",
            OwnerKind::Queue => "queue_id",
            OwnerKind::Partition => "partition_id",
        }
    }
}

/// Waiting times by owner.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OwnedWaits {
    /// Number of a job by which they are summed up.
    pub by: OwnerKind,
    /// Length of a block, s.
    pub block: f64,
    /// Each owner, by number. -1 stands for jobs without a number.
    pub owners: Vec<OwnerWaits>,
    /// All of them together.
    pub all: OwnerWaits,
}

/// Waiting times of the jobs that started in both, or in the run and by its log.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OwnerWaits {
    /// Number of the owner; 0 of all together.
    pub owner: i64,
    /// Number of these jobs.
    pub jobs: u64,
    /// Sum of waiting times in A, or by the log (h).
    pub a: f64,
    /// Sum of waiting times in B, or in the run (h).
    pub b: f64,
    /// Half of the 95 % confidence interval's width of B - A (h); missing with one block.
    pub half_width: Option<f64>,
}

impl OwnerWaits {
    /// B - A, h.
    pub fn difference(&self) -> f64 {
        self.b - self.a
    }
}

/// A job: its owner, submission, and waiting times in both (s).
struct Wait {
    owner: i64,
    submit: f64,
    job: i64,
    a: f64,
    b: f64,
}

/// Seconds of an hour.
const HOUR: f64 = 3_600.0;

/// Waiting times of the jobs that are the same in two runs and started in both.
///
/// # Errors
/// If the results of one cannot be read.
pub fn of_runs(
    (run_a, run_b): (&RunReader, &RunReader),
    by: OwnerKind,
    block: f64,
) -> Result<OwnedWaits, ResultsError> {
    let mut owners = BTreeMap::new();
    run_a.in_batches(Table::Jobs, &["job", by.column()], &Rows::all(), |data| {
        let whole = |row, name| match data.cell(row, name) {
            CellValue::Integer(value) => value,
            _ => -1,
        };
        owners.extend((0..data.rows()).map(|row| (whole(row, "job"), whole(row, by.column()))));
        Ok(())
    })?;
    let (a, b) = (Job::all(run_a)?, Job::all(run_b)?);
    let pairs = same::pairs((run_a, &a), (run_b, &b))?;
    let wait = |&(a, b): &(&Job, &Job)| {
        let (start_a, start_b) = a.start.zip(b.start)?;
        let owner = owners.get(&a.job).copied().unwrap_or(-1);
        Some(Wait {
            owner,
            submit: a.submit,
            job: a.job,
            a: start_a - a.submit,
            b: start_b - b.submit,
        })
    };
    Ok(sums(pairs.same.iter().filter_map(wait).collect(), by, block))
}

/// Waiting times of the jobs of a run whose log has theirs.
///
/// # Errors
/// If the results cannot be read.
pub fn beside_log(run: &RunReader, by: OwnerKind, block: f64) -> Result<OwnedWaits, ResultsError> {
    let columns = ["job", "submission_time", "waiting_time", "recorded_waiting_time", by.column()];
    let mut waits = Vec::new();
    run.in_batches(Table::Jobs, &columns, &Rows::all(), |data| {
        for row in 0..data.rows() {
            let real = |name| match data.cell(row, name) {
                CellValue::Real(value) => Some(value),
                _ => None,
            };
            let whole = |name| match data.cell(row, name) {
                CellValue::Integer(value) => value,
                _ => -1,
            };
            if let (Some(a), Some(b)) = (real("recorded_waiting_time"), real("waiting_time")) {
                let submit = real("submission_time").unwrap_or_default();
                waits.push(Wait { owner: whole(by.column()), submit, job: whole("job"), a, b });
            }
        }
        Ok(())
    })?;
    Ok(sums(waits, by, block))
}

fn sums(mut waits: Vec<Wait>, by: OwnerKind, block: f64) -> OwnedWaits {
    // Sums must not depend on the order of the tables.
    waits.sort_by(|a, b| a.submit.total_cmp(&b.submit).then(a.job.cmp(&b.job)));
    let first = waits.first().map_or(0.0, |it| it.submit);
    let blank = || (OwnerWaits::default(), Blocks::new(first, block));
    let mut all = blank();
    let mut owners = BTreeMap::new();
    for it in &waits {
        for (sum, blocks) in [&mut all, owners.entry(it.owner).or_insert_with(blank)] {
            sum.jobs += 1;
            sum.a += it.a / HOUR;
            sum.b += it.b / HOUR;
            blocks.add(it.submit, (it.b - it.a) / HOUR);
        }
    }
    let finished = |owner, (sum, blocks): (OwnerWaits, Blocks)| {
        let half_width = blocks.mean().and_then(|it| it.half_width);
        OwnerWaits { owner, half_width: half_width.map(|it| it * sum.jobs as f64), ..sum }
    };
    let owners = owners.into_iter().map(|(owner, it)| finished(owner, it)).collect();
    OwnedWaits { by, block, owners, all: finished(0, all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(owner: i64, submit: f64, a: f64, b: f64) -> Wait {
        Wait { owner, submit, job: submit as i64, a, b }
    }

    /// The first owner saves an hour in each of two blocks, so the sum is certain. The second one has one block.
    #[test]
    fn hours_of_each_owner() {
        let waits = vec![
            wait(1, 0.0, 2.0 * HOUR, HOUR),
            wait(1, 100.0, 3.0 * HOUR, 2.0 * HOUR),
            wait(2, 110.0, HOUR, 4.0 * HOUR),
        ];
        let sums = sums(waits, OwnerKind::User, 100.0);
        let found = |it: &OwnerWaits| (it.owner, it.jobs, it.difference(), it.half_width);
        assert_eq!(
            Vec::from_iter(sums.owners.iter().map(found)),
            [(1, 2, -2.0, Some(0.0)), (2, 1, 3.0, None)]
        );
        assert_eq!((sums.all.jobs, sums.all.a, sums.all.b), (3, 6.0, 7.0));
        assert!(sums.all.half_width.is_some_and(|it| it > 0.0));
    }
}
