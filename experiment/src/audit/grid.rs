//! `tries`, `checkpoints` and `transfers` against the books of a grid.

use std::collections::BTreeMap;

use haggle_results::metrics::GridSummary;

use super::Books;
use super::findings::{Findings, is_same};
use super::rows::Try;

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

pub(super) fn check(books: &Books, findings: &mut Findings) {
    let Some(grid) = &books.summary.grid else {
        let none = books.rows.tries.is_empty() && books.rows.bytes.is_empty();
        findings.expect(none, "only grids have tries and transfers", String::new);
        return;
    };
    let ready = books.rows.jobs.iter().filter_map(|it| Some((it.job, it.ready?)));
    let ready: BTreeMap<i64, i64> = ready.collect();
    for it in &books.rows.tries {
        each(it, findings);
        let ready = ready.get(&it.job).is_none_or(|&ready| ready <= it.dispatched);
        findings.expect(ready, "no try gets a slot before its job is ready", || {
            format!("job {}, try {}", it.job, it.attempt)
        });
    }
    sums(&books.rows.tries, grid, findings);
    let came = books.rows.jobs.iter().filter(|job| books.is_on_grid(job)).count() as u64;
    findings.equal("the summary counts the jobs of a grid", "grid.jobs", came, grid.jobs);
    let started = |name: &str| {
        let mine = books.rows.tries.iter().filter(|it| it.provider == name);
        mine.filter(|it| it.started.is_some()).count() as i64
    };
    for it in books.rows.resources.iter().filter(|it| books.is_shared(&it.provider)) {
        let rule = "`resources` counts tries that started";
        findings.equal(rule, &it.provider, it.jobs, started(&it.provider));
    }
    let bytes: i64 = books.rows.bytes.iter().sum();
    let rule = "`transfers` adds up to the bytes of the summary";
    findings.equal(rule, "bytes", bytes, grid.data.total as i64);
}

fn each(it: &Try, findings: &mut Findings) {
    let place = || format!("job {}, try {}", it.job, it.attempt);
    let course = [Some(it.dispatched), it.started, Some(it.left), Some(it.finished)];
    let course: Vec<i64> = course.into_iter().flatten().collect();
    findings.expect(course.is_sorted(), "a try is dispatched, started and over", || {
        format!("{}: {course:?}", place())
    });
    let spent = it.computing + it.writing + it.waiting;
    let held = it.left - it.dispatched;
    findings.expect(is_same(spent, held, it.left), "a slot's time is all for something", || {
        format!("{}: {spent} and {held}", place())
    });
    findings.expect(it.waiting >= 0, "a try waits for data no negative time", place);
}

fn sums(tries: &[Try], grid: &GridSummary, findings: &mut Findings) {
    let seconds = |part: fn(&Try) -> i64| {
        let sum: i128 = tries.iter().map(|it| i128::from(part(it))).sum();
        Some(sum as f64 / SECOND)
    };
    let rule = "`tries` adds up to the slot time of the summary";
    let slots = &grid.slot_time;
    findings.close(rule, "total", seconds(|it| it.left - it.dispatched), Some(slots.total));
    findings.close(rule, "checkpoints", seconds(|it| it.writing), Some(slots.checkpoints));
    findings.close(rule, "transfers", seconds(|it| it.waiting), Some(slots.transfers));
    let computing = slots.useful + slots.lost + slots.duplicate + slots.in_progress;
    findings.close(rule, "computing", seconds(|it| it.computing), Some(computing));
    let work = tries.iter().map(|it| it.work).sum();
    findings.close(
        "`tries` adds up to the work of the summary",
        "",
        Some(work),
        Some(grid.work.total),
    );
    let parts = grid.work.useful + grid.work.lost + grid.work.duplicate + grid.work.in_progress;
    findings.close("work is all for something", "", Some(parts), Some(grid.work.total));
    let mut endings: BTreeMap<&str, u64> = BTreeMap::new();
    for it in tries {
        *endings.entry(&it.outcome).or_default() += 1;
    }
    for (ending, &count) in &grid.tries_by_ending {
        let found = endings.remove(ending.as_str()).unwrap_or(0);
        findings.equal("the summary counts tries by their endings", ending, found, count);
    }
    findings.expect(endings.is_empty(), "the summary has every ending", || format!("{endings:?}"));
    let written: i64 = tries.iter().map(|it| it.checkpoints).sum();
    let rule = "`tries` counts the checkpoints of the summary";
    findings.equal(rule, "", written, grid.checkpoints_written as i64);
}
