//! Attempts on a grid and `transfers` against the summary of the grid.

use std::collections::BTreeMap;

use haggle_results::metrics::GridSummary;

use super::Books;
use super::findings::{Findings, is_same};
use super::rows::{Attempt, Slot};

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

pub(super) fn check(books: &Books, findings: &mut Findings) {
    let Some(grid) = &books.summary.grid else {
        let none = books.rows.on_grid().next().is_none() && books.rows.bytes.is_empty();
        findings.expect(none, "only grids have slots and transfers", String::new);
        return;
    };
    let ready = books.rows.jobs.iter().filter_map(|it| Some((it.job, it.ready?)));
    let ready: BTreeMap<i64, i64> = ready.collect();
    let on_grid = Vec::from_iter(books.rows.on_grid());
    for &(it, slot) in &on_grid {
        each(it, slot, findings);
        let ready = ready.get(&it.job).is_none_or(|&ready| ready <= slot.got);
        findings.expect(ready, "no attempt gets a slot before its job is ready", || it.named());
    }
    sums(&on_grid, grid, findings);
    let came = books.rows.jobs.iter().filter(|job| books.is_on_grid(job)).count() as u64;
    let maybe = books.rows.jobs.iter().filter(|job| books.may_wait_on_grid(job)).count() as u64;
    let counted = (came..=came + maybe).contains(&grid.jobs);
    findings.expect(counted, "the summary counts the jobs of a grid", || {
        format!("grid.jobs: {}, and {came} to {} in the tables", grid.jobs, came + maybe)
    });
    let started = |name: &str| {
        let mine = on_grid.iter().filter(|(it, _)| it.provider == name);
        mine.filter(|(it, _)| it.started.is_some()).count() as i64
    };
    for it in books.rows.resources.iter().filter(|it| books.is_shared(&it.provider)) {
        let rule = "`resources` counts attempts that started";
        findings.equal(rule, &it.provider, it.jobs, started(&it.provider));
    }
    let bytes: i64 = books.rows.bytes.iter().sum();
    let rule = "`transfers` adds up to the bytes of the summary";
    findings.equal(rule, "bytes", bytes, grid.data.total as i64);
}

fn each(it: &Attempt, slot: &Slot, findings: &mut Findings) {
    let spent = slot.computing + it.checkpointing + slot.waiting;
    let held = slot.left - slot.got;
    findings.expect(is_same(spent, held, slot.left), "the parts of a slot's time add up", || {
        format!("{}: {spent} and {held}", it.named())
    });
    let waits = slot.waiting >= 0;
    findings.expect(waits, "an attempt waits for data no negative time", || it.named());
}

fn sums(on_grid: &[(&Attempt, &Slot)], grid: &GridSummary, findings: &mut Findings) {
    let seconds = |part: fn(&Attempt, &Slot) -> i64| {
        let sum: i128 = on_grid.iter().map(|(it, slot)| i128::from(part(it, slot))).sum();
        Some(sum as f64 / SECOND)
    };
    let rule = "`attempts` adds up to the slot time of the summary";
    let slots = &grid.slot_time;
    findings.close(rule, "total", seconds(|_, slot| slot.left - slot.got), Some(slots.total));
    findings.close(rule, "checkpoints", seconds(|it, _| it.checkpointing), Some(slots.checkpoints));
    findings.close(rule, "transfers", seconds(|_, slot| slot.waiting), Some(slots.transfers));
    let computing = slots.useful + slots.lost + slots.duplicate + slots.in_progress;
    findings.close(rule, "computing", seconds(|_, slot| slot.computing), Some(computing));
    let rule = "`attempts` adds up to the work of the summary";
    let work = on_grid.iter().map(|(_, slot)| slot.work).sum();
    findings.close(rule, "", Some(work), Some(grid.work.total));
    let parts = grid.work.useful + grid.work.lost + grid.work.duplicate + grid.work.in_progress;
    findings.close("the parts of work add up", "", Some(parts), Some(grid.work.total));
    let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
    for (it, _) in on_grid {
        *outcomes.entry(it.outcome.name()).or_default() += 1;
    }
    for (outcome, &count) in &grid.attempts_by_outcome {
        let found = outcomes.remove(outcome.as_str()).unwrap_or(0);
        findings.equal("the summary counts attempts by outcome", outcome, found, count);
    }
    findings
        .expect(outcomes.is_empty(), "the summary has every outcome", || format!("{outcomes:?}"));
    let written: i64 = on_grid.iter().map(|(_, slot)| slot.checkpoints).sum();
    let rule = "`attempts` counts the checkpoints of the summary";
    findings.equal(rule, "", written, grid.checkpoints_written as i64);
}
