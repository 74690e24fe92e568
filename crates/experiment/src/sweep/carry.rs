//! Carrying out runs, or packs of them, side by side.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use haggle_model::Time;
use haggle_results::{Existing, ResultsError, RunReader};
use haggle_runtime::Driver;

use super::failed::Notes;
use super::past::Past;
use super::{Cause, Failed, HIDDEN, OnFailure, SweepConduct, SweepError, packed};
use crate::figures::{draw_all, file_name};
use crate::run::{
    Conduct, Destination, ExperimentError, Figures, Sharing, Unwatched, run_with_trunk,
};
use crate::threads::on_threads;
use crate::trunk::Maker;
use haggle_scenario::file::Figure;
use haggle_scenario::{Experiment, Run, Scenario};

/// Outcomes of the runs that were carried out.
#[derive(Debug, Default)]
pub struct Carried {
    /// Runs that failed, in the order of their numbers.
    pub failed: Vec<Failed>,
    /// Figures of runs that could not be drawn, each with the reason and the runs.
    pub figures_left_out: Vec<String>,
}

/// Carries out the runs that are not done and whose number is `mine`; they are summed up later. A
/// run that another command carries out is skipped.
///
/// # Errors
/// See [`SweepError`].
pub fn carry_out(
    experiment: &Experiment,
    folder: &Path,
    conduct: &SweepConduct<'_>,
    mine: &dyn Fn(usize) -> bool,
) -> Result<Carried, SweepError> {
    let mut past = Past::new(folder, conduct.output, conduct.wanted)?;
    let mut todo: Vec<Unit<'_>> = Vec::new();
    // Runs that were done before. Their figures may be missing.
    let mut done: Vec<Run<'_>> = Vec::new();
    let mut runs = experiment.runs().peekable();
    while let Some(run) = runs.next() {
        let first = run.number;
        let mut unit = vec![run];
        // Packs have fixed numbers, whatever is there already, so that commands agree on them.
        let together = |run: &Run<'_>| conduct.pack.is_some_and(|most| run.number < first + most);
        while let Some(run) = runs.next_if(together) {
            unit.push(run);
        }
        let mut missing = false;
        for run in unit.iter().filter(|run| mine(run.number)) {
            match past.has(run)? {
                true if conduct.figures == Figures::Draw => done.push(run.clone()),
                // All runs of a unit are examined, because an unsuitable one must end the sweep before any work begins.
                it_is_there => missing |= !it_is_there,
            }
        }
        if missing {
            if conduct.pack.is_some() {
                // A pack is made as a whole, except for runs with folders of their own.
                unit.retain(|run| !own_place(run, conduct).exists());
            }
            todo.push(Unit { pack: conduct.pack.map(|_| first), runs: unit });
        }
    }
    let (failed, left_out) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let leave_out = |run: &Run<'_>, reasons: Vec<String>| {
        let reasons = reasons.into_iter().map(|reason| (run.number, reason, run.folder()));
        left_out.lock().unwrap_or_else(PoisonError::into_inner).extend(reasons);
    };
    let fail = |all| failed.lock().unwrap_or_else(PoisonError::into_inner).extend::<Vec<_>>(all);
    let alone = |run: &Run<'_>, sharing: Sharing<'_>| {
        match one(run, folder, &own_place(run, conduct), conduct, sharing)? {
            Ended::Done(reasons) => leave_out(run, reasons),
            Ended::Failed(it) => fail(vec![it]),
            Ended::Elsewhere => {}
        }
        Ok::<(), SweepError>(())
    };
    let (families, todo) = families(todo);
    side_by_side(conduct.workers.min(todo.len()), &todo, |unit| {
        if let Some(first) = unit.pack {
            fail(packed::carry_out(first, &unit.runs, folder, conduct)?);
            return Ok(());
        }
        unit.runs.iter().try_for_each(|run| alone(run, Sharing::Nothing))
    })?;
    // In groups, because the states of a family need memory until its last run.
    for group in families.chunks(conduct.workers.max(1)) {
        branch_off(group, conduct, &alone)?;
    }
    side_by_side(conduct.workers.min(done.len()), &done, |run| {
        leave_out(run, draw_missing(run, conduct.output)?);
        Ok::<(), SweepError>(())
    })?;
    let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.sort_by_key(|failed| failed.run);
    let left_out = left_out.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Carried { failed, figures_left_out: with_runs(left_out) })
}

/// Runs that share their beginning, in the order of their numbers.
type Family<'e> = Vec<Run<'e>>;

/// Separates the runs that share their beginning with others from the other units. A pack is always a unit.
fn families(todo: Vec<Unit<'_>>) -> (Vec<Family<'_>>, Vec<Unit<'_>>) {
    let changes = |unit: &Unit<'_>| unit.runs.iter().any(|run| first_change(run).is_some());
    if !todo.iter().any(|unit| unit.pack.is_none() && changes(unit)) {
        return (Vec::new(), todo);
    }
    let mut by_start: BTreeMap<String, Family<'_>> = BTreeMap::new();
    let mut others = Vec::new();
    for unit in todo {
        if unit.pack.is_some() {
            others.push(unit);
            continue;
        }
        for run in unit.runs {
            let start = Scenario { changes: Vec::new(), ..run.scenario() };
            by_start.entry(start.to_toml()).or_default().push(run);
        }
    }
    let (mut families, alone): (Vec<_>, Vec<_>) =
        by_start.into_values().partition(|family| family.len() > 1);
    others.extend(alone.into_iter().map(|runs| Unit { pack: None, runs }));
    // The texts of scenarios have no order that users know.
    families.sort_by_key(|family| family[0].number);
    others.sort_by_key(|unit| unit.runs[0].number);
    (families, others)
}

/// Instant from which a run differs from the others of its family; `None` = it never does.
fn first_change(run: &Run<'_>) -> Option<Time> {
    run.variant.scenario.changes.first().map(|change| Time::ZERO + change.at.0)
}

/// Carries out families side by side: first the run of each that goes on for longest without a change, then all others.
fn branch_off(
    group: &[Family<'_>],
    conduct: &SweepConduct<'_>,
    alone: &(impl Fn(&Run<'_>, Sharing<'_>) -> Result<(), SweepError> + Sync),
) -> Result<(), SweepError> {
    let trunks = Mutex::new(BTreeMap::new());
    let numbered = Vec::from_iter(group.iter().enumerate());
    side_by_side(conduct.workers.min(group.len()), &numbered, |&(place, family)| {
        let (first, others) = split(family);
        let instants = others.iter().filter_map(|run| first_change(run)).collect();
        let name = format!("{}.events", first.number);
        let path = conduct.output.join(HIDDEN).join("trunks").join(name);
        let mut maker = Maker::new(path, instants);
        alone(first, Sharing::Makes(&mut maker))?;
        let mut trunks = trunks.lock().unwrap_or_else(PoisonError::into_inner);
        trunks.insert(place, maker.finish());
        Ok::<(), SweepError>(())
    })?;
    let trunks = trunks.into_inner().unwrap_or_else(PoisonError::into_inner);
    let others = numbered
        .iter()
        .flat_map(|&(place, family)| split(family).1.into_iter().map(move |run| (place, run)));
    let others = Vec::from_iter(others);
    side_by_side(conduct.workers.min(others.len()), &others, |(place, run)| {
        alone(run, trunks.get(place).map_or(Sharing::Nothing, Sharing::Uses))
    })
}

/// The run of a family with the latest first change, and the others.
fn split<'f, 'e>(family: &'f Family<'e>) -> (&'f Run<'e>, Vec<&'f Run<'e>>) {
    let latest = |run: &&Run<'_>| (first_change(run).unwrap_or(Time::FOREVER), Reverse(run.number));
    let first = family.iter().max_by_key(latest).expect("a family has two runs or more");
    (first, family.iter().filter(|run| run.number != first.number).collect())
}

/// Reasons why figures were left out, each once, with its runs.
fn with_runs(mut all: Vec<(usize, String, PathBuf)>) -> Vec<String> {
    all.sort();
    let mut reasons: Vec<(String, PathBuf, usize)> = Vec::new();
    for (_, reason, run) in all {
        match reasons.iter_mut().find(|it| it.0 == reason) {
            Some((_, _, runs)) => *runs += 1,
            None => reasons.push((reason, run, 1)),
        }
    }
    let told = |(reason, first, runs): (String, PathBuf, usize)| match runs {
        1 => format!("{reason} (run {})", first.display()),
        _ => format!("{reason} ({runs} runs, the first is {})", first.display()),
    };
    reasons.into_iter().map(told).collect()
}

/// Draws the figures of a run that are not in its folder. Returns the reasons why some were left
/// out.
fn draw_missing(run: &Run<'_>, output: &Path) -> Result<Vec<String>, SweepError> {
    let folder = output.join(run.folder());
    let figures = run.variant.scenario.figures.iter();
    let missing = figures.filter(|it| !folder.join(file_name(it)).exists());
    let missing: Vec<Figure> = missing.cloned().collect();
    // A packed run has no folder.
    if missing.is_empty() || !folder.exists() {
        return Ok(Vec::new());
    }
    let run = RunReader::open(&folder)?;
    let drawn = draw_all(&missing, &run, &folder);
    drawn.map(|drawn| drawn.left_out).map_err(|error| SweepError::Figure(Box::new(error)))
}

/// Work of one thread at a time.
struct Unit<'e> {
    /// Number of the first run, if the unit is a pack.
    pack: Option<usize>,
    runs: Vec<Run<'e>>,
}

/// Own folder of a run.
fn own_place(run: &Run<'_>, conduct: &SweepConduct<'_>) -> PathBuf {
    conduct.output.join(run.folder())
}

/// End of a run while others go on.
pub(super) enum Ended {
    /// It has results; the texts are the reasons why figures were left out.
    Done(Vec<String>),
    /// It failed, and the failure is noted.
    Failed(Failed),
    /// Another command carries it out, or has done so.
    Elsewhere,
}

/// Calls `work` for each of `all` on `threads` threads, or as many as the system gives; this thread
/// is one of them. After an error no new work begins. Of several errors, the first in the list is
/// returned.
fn side_by_side<T: Sync, E: Send>(
    threads: usize,
    all: &[T],
    work: impl Fn(&T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None::<(usize, E)>));
    let failed = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    let worker = || {
        while failed().is_none() {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(place) else { break };
            if let Err(error) = work(one) {
                // Several threads may fail at once; the first in the list counts, whichever thread was faster.
                let mut first = failed();
                if first.as_ref().is_none_or(|&(other, _)| place < other) {
                    *first = Some((place, error));
                }
            }
        }
    };
    on_threads(threads, worker);
    let first = failed().take();
    first.map_or(Ok(()), |(_, error)| Err(error))
}

/// Carries out a run with results at `place`.
pub(super) fn one(
    one: &Run<'_>,
    folder: &Path,
    place: &Path,
    conduct: &SweepConduct<'_>,
    sharing: Sharing<'_>,
) -> Result<Ended, SweepError> {
    // Examined before each run, so that nothing is written after a stop.
    if conduct.stop.load(Ordering::Relaxed) {
        return Err(SweepError::Interrupted);
    }
    let destination = Destination {
        folder: place.to_owned(),
        // A packed run is written elsewhere, but its paths start from its own place in the sweep.
        end: Some(own_place(one, conduct)),
        existing: Existing::Keep,
        keep: conduct.wanted.keep,
        figures: conduct.figures,
    };
    let how = Conduct {
        driver: Driver::Sequential,
        stop: conduct.stop,
        watch: &Unwatched,
        check: false,
        warnings: &one.variant.warnings,
    };
    // An error of one run, even a bug, must not end the others.
    let scenario = one.scenario();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        run_with_trunk(&scenario, folder, &destination, &how, sharing)
    }));
    let notes = Notes::of(conduct.output);
    let (failed, error) = match ended {
        Ok(Ok(outcome)) => {
            // A note of an earlier failure does not hold any more.
            notes.remove(one.number)?;
            (conduct.on_run)();
            let left_out = outcome.written.map(|written| written.figures_left_out);
            return Ok(Ended::Done(left_out.unwrap_or_default()));
        }
        Ok(Err(ExperimentError::Run(haggle_runtime::RunError::Interrupted))) => {
            return Err(SweepError::Interrupted);
        }
        // Another command took this run after it was examined.
        Ok(Err(ExperimentError::Results(
            ResultsError::InUse { .. } | ResultsError::FolderExists { .. },
        ))) => return Ok(Ended::Elsewhere),
        Ok(Err(error)) => (Failed::of(one, &error), Some(error)),
        // A caller that stops at the first failure gets the panic itself.
        Err(panic) if conduct.on_failure == OnFailure::Stop => std::panic::resume_unwind(panic),
        Err(panic) => (Some(Failed::new(one, Cause::Bug, said(&*panic))), None),
    };
    match (failed, error) {
        (Some(failed), _) if conduct.on_failure == OnFailure::GoOn => {
            notes.add(&failed)?;
            (conduct.on_run)();
            Ok(Ended::Failed(failed))
        }
        (_, Some(error)) => Err(SweepError::Run {
            number: one.number,
            folder: one.folder().display().to_string(),
            error: Box::new(error),
        }),
        (_, None) => unreachable!("a panic is a failure of its own"),
    }
}

/// Text of a panic.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("it ended by a bug of haggle: {}", text.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once_on_any_number_of_threads() {
        let all: Vec<AtomicUsize> = (0..100).map(AtomicUsize::new).collect();
        for threads in [0, 1, 2, 7] {
            let done = side_by_side(threads, &all, |it| {
                it.fetch_add(1_000, Ordering::Relaxed);
                Ok::<(), ()>(())
            });
            assert_eq!(done, Ok(()));
        }
        let times = all.iter().map(|it| it.load(Ordering::Relaxed));
        assert!(times.enumerate().all(|(place, times)| times == place + 4_000));
    }

    #[test]
    fn the_first_error_counts_and_ends_it() {
        let begun = AtomicUsize::new(0);
        let all: Vec<usize> = (0..1_000).collect();
        let error = side_by_side(2, &all, |&it| {
            begun.fetch_add(1, Ordering::Relaxed);
            if it < 2 { Err(it) } else { Ok(()) }
        });
        assert!(matches!(error, Err(0 | 1)), "{error:?}");
        assert!(begun.load(Ordering::Relaxed) < 1_000);
    }
}
