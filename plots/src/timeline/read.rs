//! Reads utilisation and waiting jobs from the folder of a run.
//!
//! Processors in use are in `placements`, for every attempt with any outcome. A bag holds as many
//! processors as tasks run, and failed attempts count as well. Waiting times are in `attempts`: the
//! time before each attempt. For a grid, both are in `attempts`.

use std::collections::BTreeMap;

use haggle_results::reader::{PlacementTimes, Rows, SlotTimes};
use haggle_results::{ResourceRow, ResultsError, Table};

use crate::Figure;
use crate::ask::Ask;
use crate::error::PlotError;
use crate::kind::Shown;
use crate::load::{Part, Tables, changes_of};
use crate::timeline::{Held, Shows, Timeline, TimelinePart};

/// Maximum number of panels. Above it, a timeline shows the sum, because panels would be too flat.
pub(super) const PANELS_MAX: usize = 5;

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
pub(super) fn sum(parts: Vec<TimelinePart>) -> TimelinePart {
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
        run.run().each_wait(|provider, from, until| {
            if let Some(panel) = provider.and_then(|it| panels.of(it)) {
                panel.waits.push((from.as_secs_f64(), until.as_secs_f64()));
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
    let shared = run.resources()?.iter().filter(|it| it.is_shared());
    let mut panels = Panels::new(shared, part, "all resources", |_| 1.0);
    if shows == Shows::Queue {
        // Jobs wait at the scheduler for any resource, so there is one queue.
        panels = Panels::together(panels);
        if let Some(all) = panels.parts.first_mut() {
            run.run().each_wait(|provider, from, until| {
                if provider.is_none() {
                    all.waits.push((from.as_secs_f64(), until.as_secs_f64()));
                }
            })?;
        }
    }
    let workloads = workloads(run)?;
    SlotTimes::each(run.run(), &Rows::all(), |row| {
        let Some((start, end)) = row.queued.zip(row.left) else { return };
        let workload = workloads.get(&row.job).map_or("", String::as_str);
        if let Some(panel) = panels.of(&row.provider) {
            let amount = amount(&row.provider, workload);
            panel.held.push(Held { start, end, amount });
        }
    })?;
    Ok(panels.into_timeline(title, part, shows, held))
}

/// The workload of each job.
fn workloads(run: &Tables) -> Result<BTreeMap<i64, String>, ResultsError> {
    let jobs = run.run().columns(Table::Jobs, &["job", "workload_name"])?;
    let names = jobs.text("workload_name")?;
    let pairs = jobs.integer("job")?.iter().enumerate();
    Ok(pairs.filter_map(|(row, job)| Some(((*job)?, names.at(row)?.to_owned()))).collect())
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
