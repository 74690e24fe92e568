//! Reads the timeline of a workflow from the folder of a run.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::JobRow;
use haggle_results::critical::critical_path;
use haggle_results::reader::{AttemptRow, InputRow, OutageRow};

use crate::Figure;
use crate::ask::Ask;
use crate::attempts::{AttemptBar, Outage};
use crate::error::PlotError;
use crate::load::{Part, Tables, outages_of};
use crate::workflow_timeline::{TaskAttempt, TaskInput, WorkflowPlace, WorkflowTimeline};

/// A transfer: the attempt of its origin, if any, the time of departure and the time of arrival.
type Came = (Option<(i64, i64)>, f64, f64);

/// An attempt without a lane so far.
struct Tried<'a> {
    place: &'a str,
    /// Number of the job and of the attempt.
    key: (i64, i64),
    /// Time from which its lane is in use.
    from: f64,
    bar: AttemptBar,
    /// Transfers for which it waited.
    inputs: Vec<Came>,
}

/// The requested timeline.
pub(crate) fn asked(run: &Tables, ask: &Ask) -> Result<Figure, PlotError> {
    let about = run.about()?;
    let title = |what: &str| ask.title(about, what);
    workflow_timeline(run, title, &ask.part, ask.job(run)?).map(Figure::WorkflowTimeline)
}

/// The timeline of the workflow to which `job` belongs, by its number in the run; without a job, of the
/// workflow with the most attempts.
///
/// # Errors
/// If the results cannot be read, or there is no such workflow.
pub fn workflow_timeline(
    run: &Tables,
    title: impl Fn(&str) -> String,
    part: &Part,
    job: Option<i64>,
) -> Result<WorkflowTimeline, PlotError> {
    let jobs = run.jobs()?;
    let found = match job {
        Some(job) => {
            Some(jobs.iter().find(|row| row.job == job).ok_or(PlotError::NoJob(job.to_string()))?)
        }
        None => most_attempts(jobs),
    };
    let Some((row, workflow)) = found.and_then(|row| Some((row, row.in_workflow()?.0))) else {
        let title = title("a workflow");
        let reason = match job {
            Some(_) => "the job is no task of a workflow",
            None => "no job is a task of a workflow",
        };
        return Err(PlotError::NoData { title, reason });
    };
    let is_its_own = |it: &&JobRow| it.workload == row.workload && it.workflow == Some(workflow);
    let tasks: BTreeMap<i64, &JobRow> =
        jobs.iter().filter(is_its_own).map(|it| (it.job, it)).collect();
    let title = title(&format!("workflow {workflow} of {}", row.workload));
    let inputs = run.run().inputs()?;
    let mut tried = attempts_of(run.attempts()?, &inputs, &tasks);
    tried.retain(|it| part.has_provider(it.place) && part.clipped(it.from, it.bar.end).is_some());
    tried.sort_by(|a, b| a.from.total_cmp(&b.from).then(a.key.cmp(&b.key)));
    if tried.is_empty() {
        return Err(PlotError::NoData {
            title,
            reason: "none of its tasks ran there in that time",
        });
    }
    let known = run.resources()?.iter().map(|it| it.provider.as_str());
    let places: Vec<&str> = known.filter(|name| tried.iter().any(|it| it.place == *name)).collect();
    let outages = |name: &str| -> Result<Vec<Outage>, PlotError> {
        // A provider continues with its other processors, so only resources of a grid have outages here.
        let on_grid = run.attempts()?.iter().any(|it| it.provider == name && it.slot().is_some());
        let rows = if on_grid { run.outages()? } else { &[] };
        let outage = |row: &OutageRow| Outage { from: row.failed, until: row.restored };
        Ok(outages_of(rows, name, part).map(outage).collect())
    };
    // All tasks of a workflow are submitted together.
    let start = row.submit;
    let places = lanes(&places, tried, &critical(run, &tasks, &inputs)?);
    let places = places.into_iter().map(|(name, lanes)| {
        let place = WorkflowPlace { name: name.to_owned(), lanes, outages: outages(name)? };
        Ok(since(place, start))
    });
    let places = places.collect::<Result<Vec<_>, PlotError>>()?;
    let from = part.from.map_or(0.0, |from| from - start);
    Ok(WorkflowTimeline { title, places, from, until: part.until.map(|until| until - start) })
}

/// The last attempts of the tasks on the critical path.
fn critical(
    run: &Tables,
    tasks: &BTreeMap<i64, &JobRow>,
    inputs: &[InputRow],
) -> Result<BTreeSet<(i64, i64)>, PlotError> {
    let slots = run.attempts()?.iter().filter(|it| it.slot().is_some());
    let on_grid: BTreeSet<i64> = slots.map(|it| it.job).collect();
    let tasks: Vec<&JobRow> = tasks.values().copied().collect();
    let path = critical_path(&tasks, inputs, |job| on_grid.contains(&job.job));
    Ok(path.into_iter().map(|it| (it.job, it.attempts)).collect())
}

/// The same place, with times relative to an instant.
fn since(mut place: WorkflowPlace, start: f64) -> WorkflowPlace {
    for it in place.lanes.iter_mut().flatten() {
        let bar = &mut it.bar;
        bar.start.iter_mut().for_each(|time| *time -= start);
        for time in [&mut bar.dispatched, &mut bar.left, &mut bar.end] {
            *time -= start;
        }
        for input in &mut it.inputs {
            input.sent -= start;
            input.arrived -= start;
        }
    }
    for outage in &mut place.outages {
        outage.from -= start;
        outage.until.iter_mut().for_each(|time| *time -= start);
    }
    place
}

/// A task of the first workflow with the most attempts of its tasks.
fn most_attempts(jobs: &[JobRow]) -> Option<&JobRow> {
    let mut counts: BTreeMap<(&str, i64), (i64, &JobRow)> = BTreeMap::new();
    for row in jobs {
        let Some((workflow, _)) = row.in_workflow() else { continue };
        counts.entry((&row.workload, workflow)).or_insert((0, row)).0 += row.attempts;
    }
    // `max_by_key` returns the last of equal ones, which in reverse order is the first workflow.
    counts.into_values().rev().max_by_key(|(attempts, _)| *attempts).map(|(_, row)| row)
}

/// The attempts of tasks. On a grid, a moved attempt continues from its parent. At a provider, inputs
/// are sent for the first attempt.
fn attempts_of<'a>(
    rows: &'a [AttemptRow],
    inputs: &[InputRow],
    tasks: &BTreeMap<i64, &JobRow>,
) -> Vec<Tried<'a>> {
    let left: BTreeMap<(i64, i64), f64> =
        rows.iter().filter_map(|row| Some(((row.job, row.attempt), row.left?))).collect();
    // Data come from the last attempt of a task, which completed it.
    let last: BTreeMap<i64, (i64, i64)> =
        tasks.values().filter_map(|it| Some((it.task?, (it.job, it.attempts)))).collect();
    let tried = |row: &'a AttemptRow| {
        let task = tasks.get(&row.job)?;
        let bar = AttemptBar::of(row, label(task), Vec::new())?;
        let before = row.parent.map(|parent| (row.job, parent));
        let came = before.and_then(|key| Some((Some(key), *left.get(&key)?, bar.dispatched)));
        let its_own = inputs
            .iter()
            .filter(|it| row.attempt == 1 && it.job == row.job && it.to == row.provider);
        let moved = its_own.filter_map(|it| {
            let (sent, arrived) = it.moved()?;
            Some((it.made_by.and_then(|made_by| last.get(&made_by).copied()), sent, arrived))
        });
        let moved: Vec<_> = moved.collect();
        Some(Tried {
            place: row.provider.as_str(),
            key: (row.job, row.attempt),
            from: moved.iter().map(|(_, sent, _)| *sent).fold(bar.dispatched, f64::min),
            bar,
            inputs: came.into_iter().chain(moved).collect(),
        })
    };
    rows.iter().filter_map(tried).collect()
}

fn label(task: &JobRow) -> String {
    task.task.map_or_else(String::new, |number| number.to_string())
}

/// A place, and its lanes.
type Lanes<'a> = (&'a str, Vec<Vec<TaskAttempt>>);

/// Puts each attempt into the first free lane of its place, and finds the origins of its transfers.
fn lanes<'a>(
    places: &[&'a str],
    tried: Vec<Tried<'_>>,
    critical: &BTreeSet<(i64, i64)>,
) -> Vec<Lanes<'a>> {
    let mut free_from: Vec<Vec<f64>> = vec![Vec::new(); places.len()];
    let mut lane_of: BTreeMap<(i64, i64), (usize, usize)> = BTreeMap::new();
    for it in &tried {
        let Some(place) = places.iter().position(|name| *name == it.place) else { continue };
        let lanes = &mut free_from[place];
        let lane = lanes.iter().position(|until| *until <= it.from).unwrap_or(lanes.len());
        if lane == lanes.len() {
            lanes.push(0.0);
        }
        lanes[lane] = it.bar.end;
        lane_of.insert(it.key, (place, lane));
    }
    let counts = free_from.iter().map(Vec::len);
    let mut all: Vec<Lanes<'a>> =
        places.iter().zip(counts).map(|(name, count)| (*name, vec![Vec::new(); count])).collect();
    // A second pass: lanes of all origins are known only now.
    for it in tried {
        let Some(&(place, lane)) = lane_of.get(&it.key) else { continue };
        let input = |&(from, sent, arrived): &Came| TaskInput {
            from: from.and_then(|from| lane_of.get(&from).copied()),
            sent,
            arrived,
        };
        let inputs = it.inputs.iter().map(input).collect();
        let is_critical = critical.contains(&it.key);
        all[place].1[lane].push(TaskAttempt { bar: it.bar, inputs, is_critical });
    }
    all
}
