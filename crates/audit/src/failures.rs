//! `failures` and `outages` against each other, and against the lost attempts.

use std::collections::{BTreeMap, BTreeSet};

use super::Books;
use super::findings::Findings;
use super::rows::Job;
use haggle_model::AttemptOutcome;

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

pub(super) fn check(books: &Books, findings: &mut Findings) {
    events(books, findings);
    preempted_work(books, findings);
    if books.summary.failures.is_some() {
        lost_work(books, findings);
    }
    if let Some(grid) = &books.summary.grid {
        let outages = || books.rows.outages.iter().filter(|it| books.is_shared(&it.provider));
        let lost: i64 = outages().map(|it| it.jobs_lost).sum();
        let failed = grid.attempts_by_outcome.get("failed").copied().unwrap_or(0) as i64;
        // A run without failures does not write this table.
        if outages().next().is_some() || failed > 0 {
            findings.equal("`outages` has all attempts that failed", "jobs_lost", lost, failed);
            let work = outages().map(|it| it.work_lost).sum();
            let rule = "`outages` adds up to the work that a grid lost by failures";
            findings.close(rule, "work_lost", Some(work), Some(grid.work.lost_by_failure));
            let within = grid.work.lost_by_failure <= grid.work.lost;
            findings.expect(within, "work lost by failures is lost", || {
                format!("{} and {}", grid.work.lost_by_failure, grid.work.lost)
            });
        }
    }
}

/// Each outage begins and ends as `failures` says, and each of these events belongs to an outage.
fn events(books: &Books, findings: &mut Findings) {
    let mut events: BTreeMap<(&str, i64, i64, &str, i64), i64> = BTreeMap::new();
    for it in &books.rows.failures {
        let key = (it.provider.as_str(), it.first, it.last, it.event.as_str(), it.time);
        *events.entry(key).or_default() += 1;
    }
    for it in &books.rows.outages {
        let (provider, first, last) = (it.provider.as_str(), it.first, it.last);
        let place = || format!("{provider} {first}-{last} at {} us", it.failed);
        let ends = it.restored.is_none_or(|restored| it.failed <= restored);
        findings.expect(ends, "an outage ends after it began", place);
        let begun = Some(("failed", it.failed));
        for (event, time) in begun.into_iter().chain(it.restored.map(|time| ("restored", time))) {
            let left = events.get_mut(&(provider, first, last, event, time));
            let found = left.is_some_and(|left| {
                // Each event belongs to one outage, even if several are equal.
                *left -= 1;
                *left >= 0
            });
            findings.expect(found, "an outage is in `failures`", || {
                format!("{}: {event} at {time} us", place())
            });
        }
    }
    for ((provider, first, last, event, time), left) in events {
        findings.expect(left <= 0, "a failure is in `outages`", || {
            format!("{provider} {first}-{last}: {event} at {time} us")
        });
    }
}

/// The summary's numbers of jobs that were stopped for others are those of their attempts.
fn preempted_work(books: &Books, findings: &mut Findings) {
    let stopped = || books.rows.at_providers().filter(|it| it.outcome == AttemptOutcome::Preempted);
    let Some(summary) = &books.summary.preemptions else {
        let none = "no attempt is stopped for another job where no provider does that";
        return findings.equal(none, "", stopped().count() as u64, 0);
    };
    let jobs: BTreeMap<i64, &Job> = books.rows.jobs.iter().map(|it| (it.job, it)).collect();
    let vain = |job: i64| jobs.get(&job).is_some_and(|it| it.outcome == "cancelled");
    let mut work = 0_i128;
    for it in stopped() {
        let (Some(started), Some(finished)) = (it.started, it.finished) else { continue };
        let kept = if vain(it.job) { 0 } else { it.saved };
        work += i128::from(it.width) * i128::from(finished - started - kept - it.checkpointing);
    }
    let count = stopped().count() as u64;
    findings.equal("the summary counts stopped attempts", "", summary.attempts_preempted, count);
    let rule = "the summary's preempted work is that of `attempts`";
    let work = work as f64 / SECOND;
    findings.close(rule, "work_preempted", Some(summary.work_preempted), Some(work));
}

/// Work undone by outages and by parts given up, work lost by attempts and the summary's lost work are equal. A job
/// without success loses its saved work as well.
fn lost_work(books: &Books, findings: &mut Findings) {
    let Some(failures) = &books.summary.failures else { return };
    let jobs: BTreeMap<i64, &Job> = books.rows.jobs.iter().map(|it| (it.job, it)).collect();
    let vain = |job: i64| {
        jobs.get(&job)
            .is_some_and(|it| matches!(it.outcome.as_str(), "failed" | "cancelled" | "rejected"))
    };
    let given_up = |job: i64| jobs.get(&job).is_some_and(|it| it.is_bag && it.outcome == "failed");
    let lost = books.rows.at_providers().filter(|it| it.has_failed());
    let lost: Vec<_> = lost.filter(|it| !given_up(it.job)).collect();
    let exact = !jobs.values().any(|it| it.is_bag && it.outcome == "failed");
    let (mut undone, mut saved_in_vain) = (0_i128, 0_i128);
    for it in &lost {
        let (Some(started), Some(finished)) = (it.started, it.finished) else { continue };
        let width = i128::from(it.width);
        undone += width * i128::from(finished - started - it.saved - it.checkpointing);
        saved_in_vain += if vain(it.job) { width * i128::from(it.saved) } else { 0 };
    }
    let whole = || books.rows.outages.iter().filter(|it| !books.is_shared(&it.provider));
    let outages: f64 = whole().map(|it| it.work_lost).sum();
    let seconds = |micros: i128| micros as f64 / SECOND;
    // Shares of a failed bag are `failed` like its lost ones, so no exact sum is possible.
    if exact {
        let rule = "`outages` adds up to the lost work of attempts";
        findings.close(rule, "work_lost", Some(outages), Some(seconds(undone)));
        let count = lost.len() as u64;
        findings.equal("the summary counts lost attempts", "", failures.attempts_lost, count);
    }
    let parts = books.rows.at_providers().filter(|it| it.is_given_up());
    let parts = parts.filter_map(|it| Some((it.finished? - it.started?, it.width)));
    let parts: i128 = parts.map(|(ran, width)| i128::from(ran) * i128::from(width)).sum();
    let rule =
        "the summary's lost work is that of `outages`, unused saved work, and parts given up";
    let expected = outages + seconds(saved_in_vain + parts);
    findings.close(rule, "work_lost", Some(failures.work_lost), Some(expected));
    let starts: BTreeSet<(&str, i64, i64, i64)> =
        whole().map(|it| (it.provider.as_str(), it.first, it.last, it.failed)).collect();
    let rule = "the summary counts the rows of `outages`";
    findings.equal(rule, "", failures.outages, starts.len() as u64);
}
