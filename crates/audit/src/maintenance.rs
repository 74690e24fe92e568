//! `maintenance` against `placements`, the providers and the summary.

use std::collections::BTreeMap;

use super::Books;
use super::findings::Findings;
use super::rows::{Crash, Maintenance, Micros};

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

pub(super) fn check(books: &Books, findings: &mut Findings) {
    let windows = windows(books, findings);
    nothing_runs(books, findings);
    let sums = books.summary.maintenance.unwrap_or_default();
    let count = |is: &dyn Fn(&Maintenance) -> bool| {
        windows.values().filter(|(it, _)| is(it)).count() as u64
    };
    let counted = [
        ("windows", sums.windows, count(&|it| ["held", "short"].contains(&it.outcome.as_str()))),
        ("short", sums.short, count(&|it| it.outcome == "short")),
        ("refused", sums.refused, count(&|it| it.outcome == "refused")),
    ];
    for (name, sum, counted) in counted {
        let rule = "the summary counts all windows of maintenance";
        findings.equal(rule, name.to_owned(), counted, sum);
    }
    // The sums leave out closed time after the end of the run. No table has the horizon.
    let end = books.rows.jobs.iter().map(|job| job.left).max().filter(|_| books.settles);
    let area = |it: &Maintenance| {
        let lasted = it.finished.min(end.unwrap_or(Micros::MAX)) - it.started;
        lasted.max(0) as f64 * it.closed as f64 / SECOND
    };
    let most: f64 = windows.values().map(|(it, _)| area(it)).sum();
    let is_whole = end.is_none() || sums.closed >= most * (1.0 - 1e-9);
    let holds = sums.closed <= most * (1.0 + 1e-9) && is_whole;
    let rule = "the summary has the maintenance that was closed until the last job left";
    findings.expect(holds, rule, || format!("{} and {most} processor-seconds", sums.closed));
}

/// The windows, each with the number of processors in its rows.
fn windows<'a>(
    books: &'a Books,
    findings: &mut Findings,
) -> BTreeMap<(&'a str, i64), (&'a Maintenance, i64)> {
    let mut windows: BTreeMap<(&str, i64), (&Maintenance, i64)> = BTreeMap::new();
    for it in &books.rows.maintenance {
        let width = it.interval.map_or(0, |(first, last)| last - first + 1);
        windows.entry((&it.provider, it.window)).or_insert((it, 0)).1 += width;
    }
    for (&(provider, window), &(it, width)) in &windows {
        let place = || format!("window {window} of {provider}");
        findings.equal("a window closes the processors of its rows", place(), it.closed, width);
        let outcome = match it.outcome.as_str() {
            // A window that is only announced has closed nothing yet.
            "refused" | "announced" => it.closed == 0,
            "short" => it.closed < it.wanted,
            _ => it.closed == it.wanted,
        };
        findings.expect(outcome, "a window's outcome agrees with the closed processors", place);
        let later = it.possible.is_none_or(|time| it.outcome == "refused" && time >= it.started);
        findings.expect(later, "only a window that is refused is possible later", place);
        let crashes = || books.rows.crashes.iter().filter(|crash| crash.actor == provider);
        let back = |crash: &Crash| crash.restarted.unwrap_or(Micros::MAX);
        // A scheduler that was down at the planned start of a window learns of it too late.
        let was_down =
            crashes().any(|crash| crash.crashed <= it.started && it.started <= back(crash));
        let heard = it.announced <= it.started || (it.outcome == "refused" && was_down);
        let in_order = heard && it.started < it.finished;
        findings.expect(in_order, "a window is announced, begins and ends in this order", place);
        let is_deaf = |crash: &Crash| crash.crashed < it.announced && it.announced < back(crash);
        let hears = !crashes().any(is_deaf);
        findings.expect(hears, "no window is announced to a scheduler that is down", place);
    }
    windows
}

/// No attempt and no other window holds a closed processor.
fn nothing_runs(books: &Books, findings: &mut Findings) {
    let closed = || books.rows.maintenance.iter().filter_map(|it| Some((it, it.interval?)));
    for (it, (first, last)) in closed() {
        let place = || format!("window {} of {}", it.window, it.provider);
        let mut held = books.rows.placements.iter().filter(|other| {
            let at_once = other.started < it.finished && it.started < other.finished;
            at_once && other.first <= last && first <= other.last
        });
        let job = held.next().map(|it| it.job);
        findings.expect(job.is_none(), "no job runs on processors in maintenance", || {
            format!("{}, job {}", place(), job.unwrap_or_default())
        });
        let resource = books.rows.resources.iter().find(|other| other.provider == it.provider);
        let within = resource.is_some_and(|it| it.first <= first && last <= it.last);
        findings.expect(within, "a window closes processors of its provider", place);
        let twice = closed().any(|(other, (from, to))| {
            let at_once = other.started < it.finished && it.started < other.finished;
            // Each pair once.
            other.window < it.window && at_once && from <= last && first <= to
        });
        findings.expect(!twice, "no processor is closed twice", place);
    }
}
