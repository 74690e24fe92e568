//! Figures against the tables from which they are drawn.
//!
//! The area under a timeline is the held processor time, or the waiting time of jobs. No bag counts
//! twice, no lost attempt is left out, and the held processors never exceed the existing ones.

use std::path::Path;

use haggle_model::AttemptOutcome;
use haggle_plots::load::{Part, Tables};
use haggle_plots::{PlotError, Shows, TimelinePart, timeline};
use haggle_results::RunReader;

use super::findings::Findings;
use super::rows::Attempt;
use super::{Books, Disagreement};

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

pub(super) fn check(folder: &Path, books: &Books, findings: &mut Findings) {
    let whole = books.rows.resources.iter().any(|it| !books.is_shared(&it.provider));
    for (is_grid, _) in
        [(false, whole), (true, !books.resources.is_empty())].into_iter().filter(|(_, any)| *any)
    {
        match parts(folder, is_grid) {
            Ok(parts) if is_grid => slots(&parts, books, findings),
            Ok(parts) => providers(&parts, books, findings),
            Err(error) => findings.expect(false, Disagreement::READABLE, || error.to_string()),
        }
    }
}

/// Contents of the figures of a run; for a grid, in slots.
fn parts(folder: &Path, is_grid: bool) -> Result<Vec<TimelinePart>, PlotError> {
    let run = RunReader::open(folder)?;
    let (tables, all) = (Tables::new(&run), Part::default());
    let slots = |_: &str, _: &str| 1.0;
    let timeline = match is_grid {
        true => timeline::grid_timeline(&tables, "", &all, Shows::Utilisation, ("", slots))?,
        false => timeline::timeline(&tables, "", &all, Shows::Both)?,
    };
    Ok(timeline.parts)
}

/// The area under the held processors.
fn area(parts: &[TimelinePart]) -> f64 {
    let held = parts.iter().flat_map(|part| &part.held);
    held.map(|it| it.amount * (it.end - it.start)).sum()
}

fn slots(parts: &[TimelinePart], books: &Books, findings: &mut Findings) {
    let total = books.summary.grid.as_ref().map(|grid| grid.slot_time.total);
    let rule = "the area under `utilisation` of a grid is the time for which slots were held";
    findings.close(rule, "", Some(area(parts)), total);
}

fn providers(parts: &[TimelinePart], books: &Books, findings: &mut Findings) {
    let placed: i128 = books.rows.placements.iter().map(|it| it.area()).sum();
    let rule = "the area under `utilisation` is the time for which processors were held";
    findings.close(rule, "", Some(area(parts)), Some(placed as f64 / SECOND));
    for part in parts {
        let most = part.most_held();
        findings.expect(
            most <= part.capacity * (1.0 + 1e-9),
            "held processors do not exceed all processors",
            || format!("{}: {most} of {}", part.name, part.capacity),
        );
    }
    // The tables give the queued time directly only if no job has lost an attempt.
    let mine = || books.rows.jobs.iter().filter(|it| !books.is_on_grid(it));
    let is_stopped = |it: &Attempt| it.outcome == AttemptOutcome::Preempted;
    let simple = mine().all(|it| !it.is_bag && it.attempts <= 1 && it.outcome != "failed")
        && !books.rows.attempts.iter().any(is_stopped);
    if simple {
        let waited: f64 = parts.iter().flat_map(|part| &part.waits).map(|it| it.1 - it.0).sum();
        let queued = mine();
        let queued =
            queued.filter_map(|it| it.queued.map(|queued| it.started.unwrap_or(it.left) - queued));
        let queued: i128 = queued.map(i128::from).sum();
        let rule = "the area under `queue-length` is how long jobs were queued";
        findings.close(rule, "", Some(waited), Some(queued as f64 / SECOND));
    }
}
