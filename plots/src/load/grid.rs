//! Timelines out of the folder of a grid's run.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::ResourceRow;
use haggle_results::reader::{OutageRow, TryRow};

use super::{Part, Tables, outages_of};
use crate::error::PlotError;
use crate::job_timeline::{JobTimeline, JobTry};
use crate::resource_timeline::{ResourceLanes, ResourceTimeline};
use crate::tries::{CheckpointMark, Outage, TryBar};

/// The timeline of the resources of `part`; without any, of the first one that had jobs and
/// failed, or else that had jobs. Each has `slots` of its name, or more if jobs held more.
///
/// # Errors
/// If the results cannot be read.
pub fn resource_timeline(
    run: &Tables,
    title: &str,
    part: &Part,
    slots: impl Fn(&str) -> usize,
) -> Result<ResourceTimeline, PlotError> {
    let tries = run.tries()?;
    let failures = run.outages()?;
    let used: BTreeSet<&str> = tries.iter().map(|row| row.provider.as_str()).collect();
    let failed: BTreeSet<&str> = failures.iter().map(|row| row.provider.as_str()).collect();
    let resources = run.resources()?;
    let first = |wanted: &dyn Fn(&str) -> bool| {
        resources.iter().find(|it| wanted(&it.provider)).map(|it| it.provider.as_str())
    };
    let example = first(&|name| used.contains(name) && failed.contains(name));
    let example = example.or_else(|| first(&|name| used.contains(name)));
    let is_drawn = |name: &str| match part.providers.is_empty() {
        true => example == Some(name),
        false => part.has_provider(name),
    };
    let mut checkpoints = checkpoints(run)?;
    let mut held: BTreeMap<&str, Vec<TryBar>> = BTreeMap::new();
    for row in tries.iter().filter(|row| is_drawn(&row.provider)) {
        // What was sent as the run ended has held its slot for no time at all.
        if row.dispatched < row.left && part.clipped(row.dispatched, row.left).is_some() {
            let marks = checkpoints.remove(&(row.job, row.attempt)).unwrap_or_default();
            let marks = marks.into_iter().map(|(mark, _)| mark).collect();
            // Its output holds no slot.
            let bar = TryBar { end: row.left, ..bar(row, row.job.to_string(), marks) };
            held.entry(&row.provider).or_default().push(bar);
        }
    }
    let lanes = |resource: &ResourceRow| {
        let name = resource.provider.as_str();
        ResourceLanes {
            name: name.to_owned(),
            slots: lanes(held.remove(name).unwrap_or_default(), slots(name)),
            outages: outages(failures, name, part),
        }
    };
    Ok(ResourceTimeline {
        title: title.to_owned(),
        resources: resources.iter().filter(|it| is_drawn(&it.provider)).map(lanes).collect(),
        from: part.from,
        until: part.until,
    })
}

/// The timeline of the job with number `job` in the run; without it, of the first one with the
/// most tries.
///
/// # Errors
/// If the results cannot be read, or no such job was sent anywhere.
pub fn job_timeline(
    run: &Tables,
    title: &str,
    part: &Part,
    job: Option<i64>,
) -> Result<JobTimeline, PlotError> {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for row in run.tries()? {
        *counts.entry(row.job).or_default() += 1;
    }
    let most = counts.iter().rev().max_by_key(|(_, count)| **count).map(|(job, _)| *job);
    let rows = run.jobs()?;
    let found = job.or(most).and_then(|job| rows.iter().find(|row| row.job == job));
    let Some(row) = found else {
        let title = title.to_owned();
        return Err(match job {
            None => PlotError::NoData { title, reason: "no job was sent anywhere" },
            Some(job) => PlotError::NoJob(job),
        });
    };
    let mut tries: Vec<&TryRow> = run.tries()?.iter().filter(|it| it.job == row.job).collect();
    tries.sort_by_key(|it| it.attempt);
    let checkpoints = checkpoints(run)?;
    let none = Vec::new();
    let of = |attempt: i64| checkpoints.get(&(row.job, attempt)).unwrap_or(&none);
    let origin = |it: &TryRow| {
        let parent = it.parent?;
        // What had been done then is what had been saved.
        let is_it = |(mark, saved): &(CheckpointMark, f64)| {
            mark.available.is_some() && *saved == it.work_at_start
        };
        let place = tries.iter().position(|other| other.attempt == parent)?;
        Some((place, of(parent).iter().position(is_it)?))
    };
    let job_try = |it: &&TryRow| {
        Ok(JobTry {
            name: format!("try {}, {}", it.attempt, it.provider),
            bar: bar(it, String::new(), of(it.attempt).iter().map(|(mark, _)| *mark).collect()),
            origin: origin(it),
            outages: outages(run.outages()?, &it.provider, part),
        })
    };
    Ok(JobTimeline {
        title: title.to_owned(),
        job: format!("job {} of the run, {}!{}", row.job, row.workload, row.job_id),
        submitted: row.submit,
        left: row.left,
        outcome: row.outcome.replace('_', " "),
        tries: tries.iter().map(job_try).collect::<Result<_, PlotError>>()?,
        from: part.from,
        until: part.until,
    })
}

/// The checkpoints of each try, in order, each with the work it saved, MI.
type Saved = BTreeMap<(i64, i64), Vec<(CheckpointMark, f64)>>;

fn checkpoints(run: &Tables) -> Result<Saved, PlotError> {
    let mut saved = Saved::new();
    for row in run.checkpoints()? {
        let mark = CheckpointMark {
            requested: row.requested,
            written: row.written,
            available: row.available,
        };
        saved.entry((row.job, row.attempt)).or_default().push((mark, row.work_saved));
    }
    Ok(saved)
}

fn bar(row: &TryRow, label: String, checkpoints: Vec<CheckpointMark>) -> TryBar {
    TryBar {
        label,
        dispatched: row.dispatched,
        start: row.start,
        left: row.left,
        end: row.end,
        ending: row.ending,
        checkpoints,
    }
}

/// When a resource was down, of the part that is drawn.
fn outages(rows: &[OutageRow], name: &str, part: &Part) -> Vec<Outage> {
    let outage = |row: &OutageRow| Outage { from: row.failed, until: row.restored };
    outages_of(rows, name, part).map(outage).collect()
}

/// Tries in at least `least` lanes, each in the first that is free: which slot it was is no
/// observation, since slots are all alike.
fn lanes(mut bars: Vec<TryBar>, least: usize) -> Vec<Vec<TryBar>> {
    bars.sort_by(|a, b| a.dispatched.total_cmp(&b.dispatched));
    let mut lanes = vec![Vec::new(); least.max(1)];
    for bar in bars {
        let is_free =
            |lane: &Vec<TryBar>| lane.last().is_none_or(|last| last.left <= bar.dispatched);
        match lanes.iter().position(is_free) {
            Some(place) => lanes[place].push(bar),
            None => lanes.push(vec![bar]),
        }
    }
    lanes
}
