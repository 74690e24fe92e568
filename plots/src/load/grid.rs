//! Timelines out of the folder of a grid's run.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::ResourceRow;
use haggle_results::reader::{AttemptRow, OutageRow};

use super::{Part, Tables, outages_of};
use crate::attempts::{AttemptBar, CheckpointMark, Outage};
use crate::error::PlotError;
use crate::job_timeline::{JobAttempt, JobTimeline};
use crate::resource_timeline::{ResourceLanes, ResourceTimeline};

/// The timeline of the resources of `part`; without any, of the first one that had jobs and
/// failed, or else that had jobs. Each has its slots, or more if jobs held more; one where any number of jobs
/// may be has as many as it needed.
///
/// # Errors
/// If the results cannot be read.
pub fn resource_timeline(
    run: &Tables,
    title: &str,
    part: &Part,
) -> Result<ResourceTimeline, PlotError> {
    let attempts = || run.attempts().map(|rows| rows.iter().filter(|row| row.slot().is_some()));
    let failures = run.outages()?;
    let used: BTreeSet<&str> = attempts()?.map(|row| row.provider.as_str()).collect();
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
    let mut held: BTreeMap<&str, Vec<AttemptBar>> = BTreeMap::new();
    for row in attempts()?.filter(|row| is_drawn(&row.provider)) {
        let marks = checkpoints.remove(&(row.job, row.attempt)).unwrap_or_default();
        let marks = marks.into_iter().map(|(mark, _)| mark).collect();
        let Some(bar) = AttemptBar::of(row, row.job.to_string(), marks) else { continue };
        // What was sent as the run ended has held its slot for no time at all.
        if bar.dispatched < bar.left && part.clipped(bar.dispatched, bar.left).is_some() {
            // Its output holds no slot.
            let bar = AttemptBar { end: bar.left, ..bar };
            held.entry(&row.provider).or_default().push(bar);
        }
    }
    let lanes = |resource: &ResourceRow| {
        let name = resource.provider.as_str();
        let slots = resource.slots.and_then(|it| usize::try_from(it).ok()).unwrap_or(1);
        ResourceLanes {
            name: name.to_owned(),
            slots: lanes(held.remove(name).unwrap_or_default(), slots),
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
/// most attempts.
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
    for row in run.attempts()?.iter().filter(|row| row.slot().is_some()) {
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
    let mut attempts: Vec<&AttemptRow> =
        run.attempts()?.iter().filter(|it| it.job == row.job).collect();
    attempts.sort_by_key(|it| it.attempt);
    let checkpoints = checkpoints(run)?;
    let none = Vec::new();
    let of = |attempt: i64| checkpoints.get(&(row.job, attempt)).unwrap_or(&none);
    let origin = |it: &AttemptRow| {
        let parent = it.parent?;
        // What had been done then is what had been saved.
        let is_it = |(mark, saved): &(CheckpointMark, f64)| {
            mark.available.is_some() && Some(*saved) == it.work_at_start
        };
        let place = attempts.iter().position(|other| other.attempt == parent)?;
        Some((place, of(parent).iter().position(is_it)?))
    };
    let failures = run.outages()?;
    let job_attempt = |it: &&AttemptRow| {
        let marks = of(it.attempt).iter().map(|(mark, _)| *mark).collect();
        Some(JobAttempt {
            name: format!("attempt {}, {}", it.attempt, it.provider),
            bar: AttemptBar::of(it, String::new(), marks)?,
            origin: origin(it),
            outages: outages(failures, &it.provider, part),
        })
    };
    Ok(JobTimeline {
        title: title.to_owned(),
        job: format!("job {} of the run, {}!{}", row.job, row.workload, row.job_id),
        submitted: row.submit,
        left: row.left,
        outcome: row.outcome.replace('_', " "),
        attempts: attempts.iter().filter_map(job_attempt).collect(),
        from: part.from,
        until: part.until,
    })
}

/// The checkpoints of each attempt, in order, each with the work it saved, MI.
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

/// When a resource was down, of the part that is drawn.
fn outages(rows: &[OutageRow], name: &str, part: &Part) -> Vec<Outage> {
    let outage = |row: &OutageRow| Outage { from: row.failed, until: row.restored };
    outages_of(rows, name, part).map(outage).collect()
}

/// Attempts in at least `least` lanes, each in the first that is free: which slot it was is no
/// observation, since slots are all alike.
fn lanes(mut bars: Vec<AttemptBar>, least: usize) -> Vec<Vec<AttemptBar>> {
    bars.sort_by(|a, b| a.dispatched.total_cmp(&b.dispatched));
    let mut lanes = vec![Vec::new(); least.max(1)];
    for bar in bars {
        let is_free =
            |lane: &Vec<AttemptBar>| lane.last().is_none_or(|last| last.left <= bar.dispatched);
        match lanes.iter().position(is_free) {
            Some(place) => lanes[place].push(bar),
            None => lanes.push(vec![bar]),
        }
    }
    lanes
}
