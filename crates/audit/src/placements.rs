//! `placements` against `attempts` and `resources`.

use std::collections::{BTreeMap, BTreeSet};

use super::Books;
use super::findings::Findings;
use super::rows::{Attempt, Job, Placement};

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

pub(super) fn check(books: &Books, findings: &mut Findings) {
    of_attempts(books, findings);
    no_processor_twice(books, findings);
    busy_time(books, findings);
}

/// An attempt holds its processors from start to end; tasks of a share may hold theirs one by one.
fn of_attempts(books: &Books, findings: &mut Findings) {
    let bags: BTreeMap<i64, bool> = books.rows.jobs.iter().map(|it| (it.job, it.is_bag)).collect();
    let mut by_attempt: BTreeMap<(i64, i64), Vec<&Placement>> = BTreeMap::new();
    for it in &books.rows.placements {
        by_attempt.entry((it.job, it.attempt)).or_default().push(it);
    }
    for attempt in books.rows.at_providers() {
        let key = (attempt.job, attempt.attempt);
        let place = || attempt.named();
        // Taken out, so that placements without an attempt are left over for the last rule.
        let mine = by_attempt.remove(&key).unwrap_or_default();
        let there = mine.iter().all(|it| it.provider == attempt.provider);
        findings.expect(there, "an attempt's processors are its provider's", place);
        let (Some(started), Some(finished)) = (attempt.started, attempt.finished) else {
            findings.expect(
                mine.is_empty(),
                "an attempt that never started held no \
                                              processors",
                place,
            );
            continue;
        };
        let first = mine.iter().map(|it| it.started).min();
        let last = mine.iter().map(|it| it.finished).max();
        findings.expect(
            first == Some(started) && last == Some(finished),
            "an attempt's processors are held while it runs",
            || format!("{}: {first:?} to {last:?}, {started} to {finished}", place()),
        );
        // Tasks of a bag hold their processors one by one, so their area is not the whole rectangle.
        if bags.get(&attempt.job) != Some(&true) {
            let held: i128 = mine.iter().map(|it| it.area()).sum();
            let expected = area(attempt, finished - started);
            findings.equal("a rigid attempt holds all its processors", place(), held, expected);
        }
    }
    for (job, attempt) in by_attempt.into_keys() {
        let place = || format!("job {job}, attempt {attempt}");
        findings.expect(
            false,
            "an attempt that held processors is in `attempts`, at a \
                                provider",
            place,
        );
    }
}

/// Sweeps over the intervals in order of their starts and keeps the current holder of each
/// processor.
fn no_processor_twice(books: &Books, findings: &mut Findings) {
    let mut ordered: Vec<&Placement> = books.rows.placements.iter().collect();
    ordered.sort_by_key(|it| (it.started, it.finished));
    // By first processor: the last one, and the time until which it is held.
    let mut held: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for it in ordered {
        // The interval that begins before may reach into this one.
        let from = held.range(..it.first).next_back().map_or(it.first, |(&first, _)| first);
        let met: Vec<(i64, i64, i64)> = held
            .range(from..=it.last)
            .filter(|(_, (last, _))| *last >= it.first)
            .map(|(&first, &(last, until))| (first, last, until))
            .collect();
        for (first, last, until) in met {
            findings.expect(until <= it.started, "no processor holds two jobs", || {
                format!("job {} at {} us, held until {until} us", it.job, it.started)
            });
            held.remove(&first);
            // The parts of the older interval beside the new one are still held.
            if first < it.first {
                held.insert(first, (it.first - 1, until));
            }
            if last > it.last {
                held.insert(it.last + 1, (last, until));
            }
        }
        // A placement of no time holds nothing.
        if it.finished > it.started {
            held.insert(it.first, (it.last, it.finished));
        }
    }
}

/// All held processor time of a provider is in `busy_time`, except the lost part.
fn busy_time(books: &Books, findings: &mut Findings) {
    let jobs: BTreeMap<i64, &Job> = books.rows.jobs.iter().map(|it| (it.job, it)).collect();
    let mut held: BTreeMap<&str, i128> = BTreeMap::new();
    for it in &books.rows.placements {
        *held.entry(&it.provider).or_default() += it.area_in_run();
    }
    // The shares of a failed bag are `failed` like its lost ones, but count in `busy_time`: no
    // check is possible.
    let mut unclear: BTreeSet<&str> = BTreeSet::new();
    for it in books.rows.at_providers().filter(|it| it.outcome.is_in_vain()) {
        let (Some(started), Some(finished)) = (it.started, it.finished) else { continue };
        let Some(job) = jobs.get(&it.job) else { continue };
        if job.is_bag && job.outcome == "failed" && it.has_failed() {
            unclear.insert(&it.provider);
        }
        // Saved work counts, unless the job had no success.
        let came_to_nothing =
            matches!(job.outcome.as_str(), "failed" | "cancelled" | "rejected") || job.is_bag;
        let saved = if came_to_nothing { 0 } else { it.saved };
        *held.entry(&it.provider).or_default() -=
            area(it, finished.max(0) - (started + saved).max(0));
    }
    for it in books.rows.resources.iter().filter(|it| !books.is_shared(&it.provider)) {
        let held = held.get(it.provider.as_str()).copied().unwrap_or(0) as f64 / SECOND;
        if !unclear.contains(it.provider.as_str()) {
            let rule = "busy_time is the sum of placements, without lost ones";
            findings.close(rule, &it.provider, Some(it.busy), Some(held));
        }
    }
}

fn area(attempt: &Attempt, span: i64) -> i128 {
    i128::from(attempt.width) * i128::from(span)
}
