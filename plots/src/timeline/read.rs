//! Reads utilisation and waiting jobs from the folder of a run.
//!
//! Processors in use are in `placements`, for every attempt with any outcome. A bag holds as many
//! processors as tasks run, and failed attempts count as well. Waiting times are in `attempts`: the
//! time before each attempt. For a grid, both are in `attempts`.

use std::collections::BTreeMap;

use haggle_results::about::RunsOnGrid;
use haggle_results::reader::{AttemptTimes, JobStay, PlacementTimes, Rows};
use haggle_results::{ResourceRow, ResultsError};

use crate::Figure;
use crate::ask::Ask;
use crate::error::PlotError;
use crate::kind::Shown;
use crate::load::{Part, Tables, changes_of};
use crate::timeline::{Held, Shows, Timeline, TimelinePart};

/// Maximum number of panels. Above it, a timeline shows the sum, because panels would be too flat.
const PANELS_MAX: usize = 5;

/// Utilisation of providers and of a grid over time, or their waiting jobs.
pub(crate) fn asked(run: &Tables, ask: &Ask, shows: Shows) -> Result<Figure, PlotError> {
    of_one(run, ask, shows, &ask.title(run.about()?, what(shows))).map(Figure::Timeline)
}

fn what(shows: Shows) -> &'static str {
    if shows == Shows::Queue { "waiting jobs" } else { "utilisation" }
}

/// The timelines of several runs, one below the other, with one axis of time. If there are many
/// providers, the sum of each run is drawn.
pub(crate) fn compared(
    runs: &[(String, Tables)],
    ask: &Ask,
    shows: Shows,
) -> Result<Figure, PlotError> {
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    let title = ask.title_of_several(&names, what(shows));
    let drawn = runs.iter().map(|(_, run)| of_one(run, ask, shows, &title));
    let drawn = drawn.collect::<Result<Vec<Timeline>, PlotError>>()?;
    // Every run has a panel at least, even if there are many runs.
    let many = drawn.iter().map(|it| it.parts.len()).sum::<usize>() > PANELS_MAX.max(runs.len());
    let mut parts = Vec::new();
    for (name, mut run) in names.iter().zip(drawn.clone()) {
        if many {
            run.parts = vec![sum(run.parts)];
        }
        let alone = run.parts.len() == 1;
        parts.extend(run.parts.into_iter().map(|part| {
            let name = if alone { (*name).to_owned() } else { format!("{name}, {}", part.name) };
            TimelinePart { name, ..part }
        }));
    }
    let changes = changes_of(runs.iter().map(|(_, run)| run))?;
    let mut drawn = drawn.into_iter();
    let Some(first) = drawn.next() else {
        return Err(PlotError::NoData { title, reason: "there is no run" });
    };
    if drawn.any(|it| it.clock != first.clock) {
        let reason = "the runs begin at different dates: draw them without dates, or each alone";
        return Err(PlotError::NoValues(reason.to_owned()));
    }
    Ok(Figure::Timeline(Timeline { parts, changes, compares: true, ..first }))
}

/// Merges all parts into one.
fn sum(parts: Vec<TimelinePart>) -> TimelinePart {
    let mut all = TimelinePart::default();
    let whole: f64 = parts.iter().map(|part| part.capacity).sum();
    for part in parts {
        all.held.extend(part.held);
        all.waits.extend(part.waits);
    }
    TimelinePart { capacity: whole, ..all }
}

fn of_one(run: &Tables, ask: &Ask, shows: Shows, title: &str) -> Result<Timeline, PlotError> {
    let part = &ask.part;
    let drawn = match Shown::of(run)? {
        Shown { resources: false, .. } => timeline(run, title, part, shows)?,
        Shown { processors: false, .. } => of_grid(run, title, part, shows)?,
        // Providers and grid are read separately and drawn together.
        _ => {
            let of_grid = of_grid(run, title, part, shows)?;
            let mut all = timeline(run, title, part, shows)?;
            all.parts.extend(of_grid.parts.into_iter().filter(|part| part.capacity > 0.0));
            Timeline { held: "in use", ..all }
        }
    };
    Ok(Timeline { clock: ask.clock(run)?, changes: changes_of([run])?, ..drawn })
}

/// Use of the resources by attempts: slots, or reserved shares.
fn of_grid(run: &Tables, title: &str, part: &Part, shows: Shows) -> Result<Timeline, PlotError> {
    let resources = run.resources()?;
    let reserves = resources.iter().any(|it| it.sharing.as_deref() == Some("reserved"));
    let slots: BTreeMap<&str, i64> =
        resources.iter().filter_map(|it| Some((it.provider.as_str(), it.slots?))).collect();
    let workloads = run.about()?.workloads.iter();
    let shares: BTreeMap<&str, f64> =
        workloads.filter_map(|it| Some((it.name.as_str(), it.share?))).collect();
    let amount = |resource: &str, workload: &str| match slots.get(resource) {
        Some(slots) if !reserves => 1.0 / *slots as f64,
        _ => shares.get(workload).copied().unwrap_or(1.0),
    };
    let held = if reserves { "reserved share" } else { "slots held" };
    grid_timeline(run, title, part, shows, (held, amount))
}

/// Busy processors or waiting jobs of a run, or both, of each provider. If providers are too many,
/// their sum is drawn. Resources of a grid are left out.
///
/// # Errors
/// If the results cannot be read.
pub fn timeline(
    run: &Tables,
    title: &str,
    part: &Part,
    shows: Shows,
) -> Result<Timeline, PlotError> {
    let whole = run.resources()?.iter().filter(|it| !it.is_shared());
    let mut panels = Panels::new(whole, part, "all providers", |it| {
        u32::try_from(it.processors).map_or(0.0, f64::from)
    });
    PlacementTimes::each(run.run(), &Rows::all(), |row| {
        if let Some(panel) = panels.of(&row.provider) {
            let amount = (row.last - row.first + 1) as f64;
            panel.held.push(Held { start: row.start, end: row.end, amount });
        }
    })?;
    if shows != Shows::Utilisation {
        for_each_wait(run, |provider, from, until| {
            if let Some(panel) = panels.of(provider) {
                panel.waits.push((from, until));
            }
        })?;
    }
    Ok(panels.into_timeline(title, part, shows, "busy processors"))
}

/// Use of a grid's resources by attempts, or jobs that waited for dispatch by its scheduler. `amount`
/// gives the part of a resource that a job of a workload holds.
///
/// # Errors
/// If the results cannot be read.
pub fn grid_timeline(
    run: &Tables,
    title: &str,
    part: &Part,
    shows: Shows,
    (held, amount): (&'static str, impl Fn(&str, &str) -> f64),
) -> Result<Timeline, PlotError> {
    let jobs = JobStay::some(run.run(), &Rows::all())?;
    let workloads: BTreeMap<i64, &str> =
        jobs.iter().map(|job| (job.job, job.workload.as_str())).collect();
    let shared = run.resources()?.iter().filter(|it| it.is_shared());
    let mut panels = Panels::new(shared, part, "all resources", |_| 1.0);
    if shows == Shows::Queue {
        // Jobs wait at the scheduler for any resource, so there is one queue.
        panels = Panels::together(panels);
    }
    let mut live: BTreeMap<i64, Vec<(f64, f64)>> = BTreeMap::new();
    AttemptTimes::each(run.run(), &Rows::all(), |row| {
        let Some((start, end)) = row.slot() else { return };
        live.entry(row.job).or_default().push((start, row.end.unwrap_or(end)));
        let workload = workloads.get(&row.job).copied().unwrap_or_default();
        if let Some(panel) = panels.of(&row.provider) {
            let amount = amount(&row.provider, workload);
            panel.held.push(Held { start, end, amount });
        }
    })?;
    if let Some(all) = panels.parts.first_mut().filter(|_| shows == Shows::Queue) {
        let about = run.about()?;
        // Jobs without an attempt wait here only if they cannot run elsewhere.
        let is_on_grid =
            |name: &str| about.workload(name).is_some_and(|it| it.on_grid == RunsOnGrid::Always);
        for job in &jobs {
            let attempts = live.remove(&job.job);
            if attempts.is_none() && !is_on_grid(&job.workload) {
                continue;
            }
            let attempts = attempts.unwrap_or_default();
            all.waits.extend(gaps((job.submit, job.left), attempts));
        }
    }
    Ok(panels.into_timeline(title, part, shows, held))
}

/// The panels, and the panel of each provider.
struct Panels {
    parts: Vec<TimelinePart>,
    places: BTreeMap<String, usize>,
}

impl Panels {
    fn new<'r>(
        resources: impl Iterator<Item = &'r ResourceRow>,
        part: &Part,
        all: &str,
        capacity: impl Fn(&ResourceRow) -> f64,
    ) -> Panels {
        let mut panels = Panels { parts: Vec::new(), places: BTreeMap::new() };
        for resource in resources.filter(|it| part.has_provider(&it.provider)) {
            let (name, capacity) = (resource.provider.clone(), capacity(resource));
            panels.places.insert(name.clone(), panels.parts.len());
            panels.parts.push(TimelinePart { name, capacity, ..TimelinePart::default() });
        }
        if panels.parts.len() > PANELS_MAX { panels.merged(all) } else { panels }
    }

    /// Merges all panels into one.
    fn together(panels: Panels) -> Panels {
        panels.merged("all resources")
    }

    fn merged(self, name: &str) -> Panels {
        let capacity = self.parts.iter().map(|it| it.capacity).sum();
        let name = name.to_owned();
        Panels {
            parts: vec![TimelinePart { name, capacity, ..TimelinePart::default() }],
            places: self.places.into_keys().map(|name| (name, 0)).collect(),
        }
    }

    fn of(&mut self, provider: &str) -> Option<&mut TimelinePart> {
        self.places.get(provider).map(|&place| &mut self.parts[place])
    }

    fn into_timeline(self, title: &str, part: &Part, shows: Shows, held: &'static str) -> Timeline {
        let (from, until) = (part.from, part.until);
        Timeline {
            title: title.to_owned(),
            shows,
            held,
            parts: self.parts,
            from,
            until,
            changes: Vec::new(),
            clock: None,
            compares: false,
        }
    }
}

/// Intervals in which jobs waited at providers, each with its provider: from queueing to the first start, and from a
/// failure to the next start. Each share of a bag waits until one of its tasks starts.
fn for_each_wait(run: &Tables, mut take: impl FnMut(&str, f64, f64)) -> Result<(), ResultsError> {
    let mut attempts = attempts(run)?;
    JobStay::each(run.run(), &Rows::all(), |job| {
        let mine = attempts.remove(&job.job).unwrap_or_default();
        if job.shape == "bag" {
            return shares(&mine, job.left, &mut take);
        }
        let mut from = None;
        for it in &mine {
            // An attempt that never started waited until it ended.
            let until = it.start.or(it.end).unwrap_or(job.left);
            if let Some(from) = from.or(it.queued) {
                take(&it.provider, from, until);
            }
            // The next attempt waits from here, although it may be queued elsewhere later.
            from = it.end;
        }
    })
}

fn shares(attempts: &[AttemptTimes], left: f64, take: &mut impl FnMut(&str, f64, f64)) {
    let mut by_provider: BTreeMap<&str, Vec<&AttemptTimes>> = BTreeMap::new();
    for it in attempts {
        by_provider.entry(&it.provider).or_default().push(it);
    }
    for (provider, mine) in by_provider {
        // A share has the time at which it was queued. A failed attempt has that of the bag.
        let shares = mine.iter().filter(|it| !it.has_failed()).filter_map(|it| it.queued);
        let queued = shares.reduce(f64::min).or_else(|| mine.first()?.queued);
        let start = mine.iter().filter_map(|it| it.start).reduce(f64::min);
        if let Some(from) = queued {
            take(provider, from, start.unwrap_or(left));
        }
    }
}

/// The attempts of each job at providers, in order.
fn attempts(run: &Tables) -> Result<BTreeMap<i64, Vec<AttemptTimes>>, ResultsError> {
    let mut attempts: BTreeMap<i64, Vec<AttemptTimes>> = BTreeMap::new();
    AttemptTimes::each(run.run(), &Rows::all(), |row| {
        // A part that was given up waited under an earlier agreement.
        if row.slot().is_none() && !row.is_given_up() {
            attempts.entry(row.job).or_default().push(row);
        }
    })?;
    Ok(attempts)
}

/// The intervals from `from` to `until` that are in none of `spans`.
fn gaps((from, until): (f64, f64), mut spans: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = from;
    let mut gaps = Vec::new();
    for (start, end) in spans {
        if start > free {
            gaps.push((free, start.min(until)));
        }
        free = f64::max(free, end);
    }
    if until > free {
        gaps.push((free, until));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_waits_whenever_none_of_its_tries_is_alive() {
        assert_eq!(gaps((1.0, 9.0), Vec::new()), [(1.0, 9.0)]);
        let attempts = vec![(6.0, 9.0), (2.0, 4.0), (3.0, 5.0)];
        assert_eq!(gaps((1.0, 9.0), attempts), [(1.0, 2.0), (5.0, 6.0)]);
        assert_eq!(gaps((1.0, 9.0), vec![(1.0, 8.0)]), [(8.0, 9.0)]);
    }
}
