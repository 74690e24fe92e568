//! Effect of a change on jobs: the number of changed completions, their direction, and the response
//! times (Caniou, Charrier and Desprez 2010, section 4.4).
//!
//! Only jobs that ended in both runs count. Warm-up and cool-down are included.

use std::collections::BTreeMap;

use haggle_results::columns::Table;
use haggle_results::reader::TableData;
use haggle_results::{ResultsError, RunReader};
use serde::{Serialize, Serializer};

use super::same::{Job, Pairs, places};

/// Effect of one run on jobs, relative to another: the base.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impact {
    /// Jobs that ended in both.
    pub jobs: u64,
    /// Jobs of these that ended at another time.
    pub impacted: u64,
    /// Impacted jobs that ended earlier than in the base.
    pub earlier: u64,
    /// Jobs not impacted that started in the base at their submission.
    pub at_once: u64,
    /// Sums over the impacted jobs.
    sums: Sums,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    /// Response times in the base, s.
    base: f64,
    /// Response times, s.
    other: f64,
    /// Sum of the quotients of both; jobs without response time in the base have none.
    quotients: f64,
    /// Number of quotients.
    count: u64,
}

/// A job that ended in the base, s.
struct Ended {
    submit: f64,
    start: Option<f64>,
    end: f64,
}

/// The impacts on all jobs, and on those of each class and workload, by name.
pub type Impacts = BTreeMap<String, Impact>;

/// Group of all jobs.
pub const ALL: &str = "all";

impl Impact {
    /// Names of the values, which are keys of metrics after `impact.`.
    pub const NAMES: [&str; 8] = [
        "jobs",
        "impacted",
        "earlier",
        "impacted_percent",
        "earlier_percent",
        "unimpacted_at_once_percent",
        "response_ratio",
        "mean_response_ratio",
    ];

    /// A value by its name; `None` if the name is unknown or no job gives the value.
    pub fn value(&self, name: &str) -> Option<f64> {
        let percent = |part: u64, of: u64| (of > 0).then(|| 100.0 * part as f64 / of as f64);
        match name {
            "jobs" => Some(self.jobs as f64),
            "impacted" => Some(self.impacted as f64),
            "earlier" => Some(self.earlier as f64),
            "impacted_percent" => percent(self.impacted, self.jobs),
            "earlier_percent" => percent(self.earlier, self.impacted),
            "unimpacted_at_once_percent" => percent(self.at_once, self.jobs - self.impacted),
            "response_ratio" => Some(self.response_ratio()),
            "mean_response_ratio" => match self.sums.count {
                // Without impacted jobs nothing has changed; impacted jobs without a quotient have no mean.
                0 => (self.impacted == 0).then_some(1.0),
                count => Some(self.sums.quotients / count as f64),
            },
            _ => None,
        }
    }

    /// Mean response time of the impacted jobs over that in the base: below 1, they gain. 1 if
    /// there are none.
    pub fn response_ratio(&self) -> f64 {
        if self.sums.base > 0.0 { self.sums.other / self.sums.base } else { 1.0 }
    }

    fn add(&mut self, job: &Ended, other: f64) {
        let &Ended { submit, start, end: base } = job;
        self.jobs += 1;
        // Exact, because both times come from whole microseconds.
        if base == other {
            self.at_once += u64::from(start == Some(submit));
            return;
        }
        self.impacted += 1;
        self.earlier += u64::from(other < base);
        let (base, other) = (base - submit, other - submit);
        self.sums.base += base;
        self.sums.other += other;
        if base > 0.0 {
            self.sums.quotients += other / base;
            self.sums.count += 1;
        }
    }
}

impl Serialize for Impact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Impact::NAMES.map(|name| (name, self.value(name))))
    }
}

/// Effect of B on the jobs that are the same in A and B, relative to A.
pub(super) fn of_pairs(pairs: &Pairs<'_>) -> Impact {
    let mut impact = Impact::default();
    for (a, b) in &pairs.same {
        if let (Some(base), Some(other)) = (finish(a), finish(b)) {
            impact.add(&Ended { submit: a.submit, start: a.start, end: base }, other);
        }
    }
    impact
}

fn finish(job: &Job) -> Option<f64> {
    (!matches!(&*job.outcome, "rejected" | "unfinished")).then_some(job.left)
}

/// Effect of `other` on its jobs relative to `base`; classes are those of the base.
///
/// # Errors
/// If a table is missing or damaged.
pub fn impacts(base: &RunReader, other: &RunReader) -> Result<Impacts, ResultsError> {
    let mut ends = BTreeMap::new();
    let mut workloads = BTreeMap::new();
    let columns = [
        "job",
        "job_id",
        "workload_name",
        "submission_time",
        "finish_time",
        "starting_time",
        "class",
    ];
    // The other run needs no starts and classes, and tables may be large.
    let table = other.columns(Table::Jobs, &columns[..5])?;
    let (submits, finishes) = (table.real("submission_time")?, table.real("finish_time")?);
    for (row, job) in names_of(&table, &mut workloads)?.into_iter().enumerate() {
        ends.insert(job, (submits[row], finishes[row]));
    }
    let table = base.columns(Table::Jobs, &columns)?;
    let names = table.text("workload_name")?;
    let (submits, finishes) = (table.real("submission_time")?, table.real("finish_time")?);
    let starts = table.real("starting_time")?;
    let classes = table.text("class")?;
    let mut impacts = Impacts::from([(ALL.to_owned(), Impact::default())]);
    for (row, key) in names_of(&table, &mut workloads)?.into_iter().enumerate() {
        let name = names.at(row).unwrap_or_default();
        let (submit, Some(end)) = (submits[row], finishes[row]) else { continue };
        let Some(&(submit_other, Some(other))) = ends.get(&key) else { continue };
        // Equal number, but another job: the two cannot be compared.
        let (Some(submit), true) = (submit, submit == submit_other) else { continue };
        let job = Ended { submit, start: starts[row], end };
        for group in [ALL, name, classes.at(row).unwrap_or_default()] {
            // A name is copied for its first job only.
            match impacts.get_mut(group) {
                Some(impact) => impact.add(&job, other),
                None => impacts.entry(group.to_owned()).or_default().add(&job, other),
            }
        }
    }
    Ok(impacts)
}

/// A job of a run in another run: the number of its workload, its number in it, its place among those with this number.
type Name = (usize, Option<i64>, usize);

fn names_of(
    table: &TableData,
    workloads: &mut BTreeMap<String, usize>,
) -> Result<Vec<Name>, ResultsError> {
    let (ids, names) = (table.integer("job_id")?, table.text("workload_name")?);
    let jobs = ids.iter().zip(table.integer("job")?).enumerate().map(|(row, (&id, &job))| {
        ((number(workloads, names.at(row).unwrap_or_default()), id), job)
    });
    let jobs = Vec::from_iter(jobs);
    let named = jobs.iter().zip(places(&jobs));
    Ok(named.map(|(&((workload, id), _), place)| (workload, id, place)).collect())
}

/// A number for each name. Names are many and long, so each is stored once.
fn number(known: &mut BTreeMap<String, usize>, name: &str) -> usize {
    if let Some(&number) = known.get(name) {
        return number;
    }
    let next = known.len();
    known.insert(name.to_owned(), next);
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs that run for a minute: submission, end in the base, and other end.
    fn impact(jobs: &[(f64, f64, f64)]) -> Impact {
        let mut impact = Impact::default();
        for &(submit, end, other) in jobs {
            impact.add(&Ended { submit, start: Some(end - 60.0), end }, other);
        }
        impact
    }

    /// M-10: submission and completions of six jobs, without reallocation and with it.
    #[test]
    fn impacts_are_those_worked_out_by_hand() {
        let reference = [7200.0, 3000.0, 8400.0, 8700.0, 5700.0, 6300.0];
        let submits = [0.0, 0.0, 60.0, 120.0, 3300.0, 3700.0];
        let with = |ends: [f64; 6]| {
            let pairs = submits.iter().zip(reference).zip(ends);
            impact(&Vec::from_iter(pairs.map(|((&submit, base), end)| (submit, base, end))))
        };
        let oldest_first = with([7200.0, 3000.0, 6900.0, 7200.0, 5700.0, 7800.0]);
        assert_eq!(oldest_first.value("impacted_percent"), Some(50.0));
        let near = |value: Option<f64>, expected: f64| {
            assert!((value.expect("a value") - expected).abs() < 5e-7, "{value:?}");
        };
        near(oldest_first.value("earlier_percent"), 200.0 / 3.0);
        near(oldest_first.value("response_ratio"), 18_020.0 / 19_520.0);
        near(oldest_first.value("mean_response_ratio"), 1.074_081);
        let first_done_first = with([7200.0, 3000.0, 7200.0, 6000.0, 5700.0, 7800.0]);
        near(first_done_first.value("response_ratio"), 0.877_049);
        near(first_done_first.value("mean_response_ratio"), 1.039_451);
    }

    #[test]
    fn where_nothing_changes_nothing_is_gained() {
        let none = impact(&[(0.0, 5.0, 5.0)]);
        assert_eq!(none.value("response_ratio"), Some(1.0));
        assert_eq!(none.value("mean_response_ratio"), Some(1.0));
        assert_eq!(none.value("earlier_percent"), None);
        assert_eq!(none.value("impacted_percent"), Some(0.0));
        assert_eq!(Impact::default().value("impacted_percent"), None);
        let some = impact(&[(0.0, 5.0, 4.0), (0.0, 60.0, 60.0), (0.0, 70.0, 70.0)]);
        assert!(Impact::NAMES.iter().all(|name| some.value(name).is_some()));
        assert_eq!(some.value("unimpacted_at_once_percent"), Some(50.0));
    }
}
