//! Waiting of jobs: the intervals that queue lengths count.
//!
//! A job counts once in a queue, however many attempts it has. It waits at a provider from queueing to its first start,
//! and from a failure to the next start. Each share of a bag waits until one of its tasks starts. A job of a grid waits
//! for a slot whenever none of its attempts has one.

use std::collections::BTreeMap;

use haggle_model::Time;
use haggle_model::time::MICROS_PER_SECOND;

use crate::about::RunsOnGrid;
use crate::reader::{Rows, TextColumn};
use crate::{ResultsError, RunReader, Table};

/// An attempt of a job at a provider, as far as its waiting depends on it. A part that was given up is none: it waited
/// under an earlier agreement.
#[derive(Clone, Copy, Debug)]
pub struct Try<P> {
    /// Its provider.
    pub provider: P,
    /// Time at which the provider queued it.
    pub queued: Option<Time>,
    /// Its start; `None` = it never started.
    pub start: Option<Time>,
    /// Its end.
    pub end: Option<Time>,
    /// True if its processors failed.
    pub has_failed: bool,
}

/// Gives the intervals in which a job waited at providers to `take`. Its attempts are in order; it left at `left`.
pub fn at_providers<P: Copy + Ord>(
    tries: &[Try<P>],
    is_bag: bool,
    left: Time,
    mut take: impl FnMut(P, Time, Time),
) {
    if is_bag {
        return of_shares(tries, left, take);
    }
    let mut from = None;
    for it in tries {
        // An attempt that never started waited until it ended.
        let until = it.start.or(it.end).unwrap_or(left);
        if let Some(from) = from.or(it.queued) {
            take(it.provider, from, until);
        }
        // The next attempt waits from here, although it may be queued elsewhere later.
        from = it.end;
    }
}

fn of_shares<P: Copy + Ord>(tries: &[Try<P>], left: Time, mut take: impl FnMut(P, Time, Time)) {
    let mut by_provider: BTreeMap<P, Vec<&Try<P>>> = BTreeMap::new();
    for it in tries {
        by_provider.entry(it.provider).or_default().push(it);
    }
    for (provider, mine) in by_provider {
        // A share has the time at which it was queued. A failed attempt has that of the bag.
        let shares = mine.iter().filter(|it| !it.has_failed).filter_map(|it| it.queued);
        let queued = shares.min().or_else(|| mine.first()?.queued);
        let start = mine.iter().filter_map(|it| it.start).min();
        if let Some(from) = queued {
            take(provider, from, start.unwrap_or(left));
        }
    }
}

/// The intervals in which a job of a grid waited for a slot: those of its stay in which it had none.
pub fn for_slots((from, until): (Time, Time), mut slots: Vec<(Time, Time)>) -> Vec<(Time, Time)> {
    slots.sort_unstable();
    let mut free = from;
    let mut gaps = Vec::new();
    for (start, end) in slots {
        if start > free {
            gaps.push((free, start.min(until)));
        }
        free = free.max(end);
    }
    if until > free {
        gaps.push((free, until));
    }
    gaps
}

/// An attempt in a table, with the number of its job.
type Row = (i64, Try<u32>);

/// A slot on a grid in a table, with the number of its job.
type Slot = (i64, (Time, Time));

impl RunReader {
    /// Gives each interval in which a job waited to `take`: its provider, or `None` for jobs that waited for a slot on a
    /// grid, and its beginning and end.
    ///
    /// # Errors
    /// If a table is missing or damaged.
    pub fn each_wait(
        &self,
        mut take: impl FnMut(Option<&str>, Time, Time),
    ) -> Result<(), ResultsError> {
        let Attempts { names, rows, slots } = Attempts::read(self)?;
        // Jobs without an attempt wait for a grid only if they cannot run elsewhere.
        let about = self.about().unwrap_or_default();
        let is_on_grid =
            |name: &String| about.workload(name).is_some_and(|it| it.on_grid == RunsOnGrid::Always);
        const COLUMNS: [&str; 5] =
            ["job", "workload_name", "shape", "submission_time", "left_time"];
        self.in_batches(Table::Jobs, &COLUMNS, &Rows::all(), |batch| {
            let (workloads, shapes) = (batch.text("workload_name")?, batch.text("shape")?);
            let on_grid = Marked::of(workloads, is_on_grid);
            let bags = Marked::of(shapes, |shape| shape == "bag");
            let (submit, left) = (batch.real("submission_time")?, batch.real("left_time")?);
            for (row, job) in batch.integer("job")?.iter().enumerate() {
                let stay = time(submit[row]).zip(time(left[row]));
                let (Some(job), Some(stay)) = (*job, stay) else { continue };
                let mine = Vec::from_iter(of_job(&rows, job).iter().map(|it| it.1));
                at_providers(&mine, bags.has(row), stay.1, |provider, from, until| {
                    take(names.get(provider as usize).map(String::as_str), from, until);
                });
                let slots = Vec::from_iter(of_job(&slots, job).iter().map(|it| it.1));
                if !slots.is_empty() || on_grid.has(row) {
                    for_slots(stay, slots).into_iter().for_each(|(from, until)| {
                        take(None, from, until);
                    });
                }
            }
            Ok(())
        })
    }
}

/// The attempts of a run, by job; those of one job in order.
#[derive(Default)]
struct Attempts {
    /// Names of providers, by number.
    names: Vec<String>,
    rows: Vec<Row>,
    slots: Vec<Slot>,
}

impl Attempts {
    fn read(run: &RunReader) -> Result<Attempts, ResultsError> {
        const COLUMNS: [&str; 7] = [
            "job",
            "provider",
            "queued_time",
            "starting_time",
            "finish_time",
            "slot_left_time",
            "outcome",
        ];
        let mut all = Attempts::default();
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        run.in_batches(Table::Attempts, &COLUMNS, &Rows::all(), |batch| {
            let (providers, outcomes) = (batch.text("provider")?, batch.text("outcome")?);
            let has_failed = Marked::of(outcomes, |it| it == "failed");
            let is_given_up = Marked::of(outcomes, |it| it == "given_up");
            let number = |name: &String| match numbers.get(name) {
                Some(number) => *number,
                None => {
                    let new = u32::try_from(all.names.len()).unwrap_or(u32::MAX);
                    all.names.push(name.clone());
                    numbers.insert(name.clone(), new);
                    new
                }
            };
            let places = Vec::from_iter(providers.texts.iter().map(number));
            let column = |name| batch.real(name);
            let (queued, start) = (column("queued_time")?, column("starting_time")?);
            let (end, left) = (column("finish_time")?, column("slot_left_time")?);
            for (row, job) in batch.integer("job")?.iter().enumerate() {
                let place = providers.codes[row].and_then(|code| places.get(code as usize));
                let (Some(job), Some(&provider)) = (*job, place) else { continue };
                let (queued, end) = (time(queued[row]), time(end[row]));
                match (queued, time(left[row])) {
                    (Some(from), Some(left)) => all.slots.push((job, (from, end.unwrap_or(left)))),
                    _ if is_given_up.has(row) => {}
                    _ => {
                        let start = time(start[row]);
                        let has_failed = has_failed.has(row);
                        all.rows.push((job, Try { provider, queued, start, end, has_failed }));
                    }
                }
            }
            Ok(())
        })?;
        // Stable: the attempts of one job stay in order.
        all.rows.sort_by_key(|it| it.0);
        all.slots.sort_by_key(|it| it.0);
        Ok(all)
    }
}

/// The rows of a job among those of all jobs in order.
fn of_job<T>(rows: &[(i64, T)], job: i64) -> &[(i64, T)] {
    let first = rows.partition_point(|it| it.0 < job);
    let count = rows[first..].partition_point(|it| it.0 == job);
    &rows[first..first + count]
}

/// A column of texts for which a condition holds or not.
struct Marked<'a> {
    column: &'a TextColumn,
    marks: Vec<bool>,
}

impl<'a> Marked<'a> {
    /// Each text is examined once, not in every row.
    fn of(column: &'a TextColumn, is_marked: impl Fn(&String) -> bool) -> Marked<'a> {
        Marked { column, marks: column.texts.iter().map(is_marked).collect() }
    }

    fn has(&self, row: usize) -> bool {
        let code = self.column.codes.get(row).copied().flatten();
        code.and_then(|it| self.marks.get(it as usize).copied()).unwrap_or(false)
    }
}

/// A time of a table, which has whole microseconds; `None` if it is missing or no number.
fn time(seconds: Option<f64>) -> Option<Time> {
    let micros = seconds.filter(|it| !it.is_nan())? * MICROS_PER_SECOND as f64;
    // The conversion saturates.
    let micros = (micros.round() as i64).clamp(Time::PAST.as_micros(), Time::FOREVER.as_micros());
    Some(Time::from_micros(micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_secs(seconds)
    }

    fn pairs(pairs: &[(i64, i64)]) -> Vec<(Time, Time)> {
        pairs.iter().map(|&(from, until)| (at(from), at(until))).collect()
    }

    #[test]
    fn a_job_waits_for_a_slot_whenever_none_of_its_attempts_has_one() {
        assert_eq!(for_slots((at(1), at(9)), Vec::new()), pairs(&[(1, 9)]));
        let slots = pairs(&[(6, 9), (2, 4), (3, 5)]);
        assert_eq!(for_slots((at(1), at(9)), slots), pairs(&[(1, 2), (5, 6)]));
        assert_eq!(for_slots((at(1), at(9)), pairs(&[(1, 8)])), pairs(&[(8, 9)]));
    }

    fn waits(tries: &[Try<char>], is_bag: bool) -> Vec<(char, Time, Time)> {
        let mut waits = Vec::new();
        at_providers(tries, is_bag, at(99), |provider, from, until| {
            waits.push((provider, from, until));
        });
        waits
    }

    fn attempt(provider: char, times: [Option<i64>; 3], has_failed: bool) -> Try<char> {
        let [queued, start, end] = times.map(|it| it.map(at));
        Try { provider, queued, start, end, has_failed }
    }

    #[test]
    fn a_job_waits_again_from_a_failure_on() {
        let tries = [
            attempt('a', [Some(0), Some(3), Some(5)], true),
            attempt('b', [Some(7), Some(8), Some(9)], false),
        ];
        assert_eq!(waits(&tries, false), [('a', at(0), at(3)), ('b', at(5), at(8))]);
        // A job that never started waited until it left.
        let open = [attempt('a', [Some(2), None, None], false)];
        assert_eq!(waits(&open, false), [('a', at(2), at(99))]);
    }

    #[test]
    fn a_share_of_a_bag_waits_once_at_its_provider() {
        let tries = [
            attempt('a', [Some(4), Some(6), Some(9)], false),
            attempt('a', [Some(5), Some(7), Some(9)], false),
            attempt('b', [Some(4), None, None], false),
            attempt('a', [Some(1), Some(6), Some(8)], true),
        ];
        assert_eq!(waits(&tries, true), [('a', at(4), at(6)), ('b', at(4), at(99))]);
    }
}
