//! Gantt charts out of the folder of a run.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::reader::MaintenanceRow;
use haggle_results::{JobRow, PlacementRow, ResourceRow, ResultsError};

use crate::Figure;
use crate::ask::Ask;
use crate::attempts::Outage;
use crate::error::PlotError;
use crate::gantt::{Gantt, GanttBar, GanttOutage, GanttProvider};
use crate::grouping::Grouping;
use crate::load::{By, Part, Tables, outages_of};

/// The chart that is asked for; without a word for its groups, by what its jobs differ.
pub(crate) fn asked(run: &Tables, ask: &Ask) -> Result<Figure, PlotError> {
    let of_jobs = ask.group_by.as_deref().map(|word| Grouping::of(Some(word))).transpose()?;
    let by = of_jobs.map_or_else(|| differ_by(run), |it| Ok(it.by()))?;
    let mut gantt = gantt(run, &ask.title(run.about()?, "schedule"), &ask.part, by)?;
    let grouping = of_jobs.unwrap_or(match by {
        By::Class => Grouping::Class,
        _ => Grouping::Workload,
    });
    if gantt.groups.len() > 1 {
        gantt.group_label = grouping.word().to_owned();
    }
    gantt.clock = ask.clock(run)?;
    let about = run.about()?;
    gantt.groups.iter_mut().for_each(|it| *it = grouping.label(it, about));
    Ok(Figure::Gantt(gantt))
}

/// By what jobs of a run differ, as far as Gantt charts tell them apart: by their classes, by their
/// workloads, or not at all.
///
/// # Errors
/// If the results cannot be read.
pub fn differ_by(run: &Tables) -> Result<By, PlotError> {
    let jobs = run.jobs()?;
    let several = |name: fn(&JobRow) -> &String| names(jobs.iter(), name).len() > 1;
    Ok(match (several(|job| &job.class), several(|job| &job.workload)) {
        (true, _) => By::Class,
        (false, true) => By::Workload,
        (false, false) => By::Nothing,
    })
}

/// The Gantt chart of a run, with a colour for each group of jobs. Resources of a grid, which jobs share, are
/// left out.
///
/// # Errors
/// If the results cannot be read.
pub fn gantt(run: &Tables, title: &str, part: &Part, by: By) -> Result<Gantt, PlotError> {
    let jobs: BTreeMap<i64, &JobRow> = run.jobs()?.iter().map(|job| (job.job, job)).collect();
    let placements = run.placements()?;
    let key = |row: &PlacementRow| {
        let job = jobs.get(&row.job);
        match by {
            By::Nothing => None,
            By::Provider => Some(row.provider.clone()),
            By::Class => job.map(|job| job.class.clone()),
            By::Workload => job.map(|job| job.workload.clone()),
        }
    };
    // Those of the whole run: a group has one colour, whatever part is drawn.
    let groups: BTreeSet<String> = placements.iter().filter_map(key).collect();
    let groups = Vec::from_iter(groups);
    let failed = failures(run)?;
    let mut bars: BTreeMap<&str, Vec<GanttBar>> = BTreeMap::new();
    for row in placements {
        if !part.has_provider(&row.provider) {
            continue;
        }
        let Some((start, end)) = part.clipped(row.start, row.end) else {
            continue;
        };
        let group = key(row).and_then(|name| groups.binary_search(&name).ok());
        let failure = failed.get(&(row.job, row.attempt));
        bars.entry(&row.provider).or_default().push(GanttBar {
            label: row.job.to_string(),
            job: row.job,
            group: group.unwrap_or(0),
            first: u32::try_from(row.first).unwrap_or(0),
            last: u32::try_from(row.last).unwrap_or(0),
            start,
            end,
            // Other tasks of a bag may go on.
            failed: failure.is_some_and(|times| times.contains(&row.end)),
        });
    }
    let (outages, maintenance) = (run.outages()?, run.maintenance()?);
    let provider = |resource: &ResourceRow| GanttProvider {
        bars: bars.remove(resource.provider.as_str()).unwrap_or_default(),
        outages: outages_of(outages, &resource.provider, part)
            .map(|row| GanttOutage {
                first: u32::try_from(row.first).unwrap_or(0),
                last: u32::try_from(row.last).unwrap_or(0),
                time: Outage { from: row.failed, until: row.restored },
            })
            .collect(),
        maintenance: closed(maintenance, &resource.provider, part).collect(),
        first: u32::try_from(resource.first).unwrap_or(0),
        processors: u32::try_from(resource.processors).unwrap_or(0),
        name: resource.provider.clone(),
    };
    let drawn = run.resources()?.iter();
    let drawn = drawn.filter(|it| !it.is_shared() && part.has_provider(&it.provider));
    Ok(Gantt {
        title: title.to_owned(),
        providers: drawn.map(provider).collect(),
        groups,
        group_label: String::new(),
        from: part.from,
        until: part.until,
        clock: None,
    })
}

/// When attempts failed: a bag may lose several tasks in one.
fn failures(run: &Tables) -> Result<BTreeMap<(i64, i64), Vec<f64>>, ResultsError> {
    let mut failures: BTreeMap<(i64, i64), Vec<f64>> = BTreeMap::new();
    for row in run.attempts()?.iter().filter(|row| row.has_failed()) {
        failures.entry((row.job, row.attempt)).or_default().extend(row.end);
    }
    Ok(failures)
}

/// When processors of a provider were in maintenance, of the part that is drawn.
fn closed<'a>(
    rows: &'a [MaintenanceRow],
    provider: &'a str,
    part: &'a Part,
) -> impl Iterator<Item = GanttOutage> {
    let mine = rows.iter().filter(move |row| row.provider == provider);
    mine.filter_map(|row| {
        let (first, last) = row.interval()?;
        let (from, until) = part.clipped(row.start, row.end)?;
        Some(GanttOutage {
            first: u32::try_from(first).unwrap_or(0),
            last: u32::try_from(last).unwrap_or(0),
            time: Outage { from, until: Some(until) },
        })
    })
}

/// The different names.
fn names<'a>(
    jobs: impl Iterator<Item = &'a JobRow>,
    name: impl Fn(&'a JobRow) -> &'a String,
) -> BTreeSet<&'a String> {
    jobs.map(name).collect()
}
