//! Figures out of a run's folder.

use haggle_results::{JobRow, PlacementRow, ResourceRow, RunReader};

use crate::distribution::{DistributionFigure, Quantity, Sample};
use crate::error::PlotError;
use crate::gantt::{Gantt, GanttBar, GanttProvider};
use crate::timeline::{Timeline, TimelineJob};

/// By what jobs are told apart in a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// One curve.
    Nothing,
    /// A curve for each provider.
    Provider,
    /// A curve for each class (local, external).
    Class,
    /// A curve for each workload.
    Workload,
}

/// The Gantt chart of a run.
///
/// # Errors
/// If the results cannot be read.
pub fn gantt(run: &RunReader, title: &str) -> Result<Gantt, PlotError> {
    let jobs = run.jobs()?;
    let groups = names(&jobs, |job| Some(&job.class));
    let placements = run.placements()?;
    // Jobs by their number, for the class and the number in the workload.
    let by_number: std::collections::BTreeMap<i64, &JobRow> =
        jobs.iter().map(|job| (job.job, job)).collect();
    let bar = |row: &PlacementRow| {
        let job = by_number.get(&row.job);
        let group = job.and_then(|job| groups.iter().position(|group| *group == job.class));
        GanttBar {
            label: job.map_or(row.job, |job| job.job_id).to_string(),
            job: row.job,
            group: group.unwrap_or(0),
            first: u32::try_from(row.first).unwrap_or(0),
            last: u32::try_from(row.last).unwrap_or(0),
            start: row.start,
            end: row.end,
        }
    };
    let provider = |resource: ResourceRow| GanttProvider {
        bars: placements.iter().filter(|it| it.provider == resource.provider).map(bar).collect(),
        first: u32::try_from(resource.first).unwrap_or(0),
        processors: u32::try_from(resource.processors).unwrap_or(0),
        name: resource.provider,
    };
    Ok(Gantt {
        title: title.to_owned(),
        providers: run.resources()?.into_iter().map(provider).collect(),
        groups: groups.clone(),
    })
}

/// Busy processors and waiting jobs of a run, of one provider or of all.
///
/// # Errors
/// If the results cannot be read.
pub fn timeline(
    run: &RunReader,
    title: &str,
    provider: Option<&str>,
) -> Result<Timeline, PlotError> {
    let wanted = |name: Option<&str>| provider.is_none() || name == provider;
    let resources = run.resources()?;
    let mine = resources.iter().filter(|it| wanted(Some(&it.provider)));
    let processors = mine.map(|it| u64::try_from(it.processors).unwrap_or(0)).sum();
    let queued = |job: JobRow| {
        let queued = job.queued.filter(|_| wanted(job.provider.as_deref()))?;
        Some(TimelineJob {
            queued,
            start: job.start,
            end: job.left,
            processors: u32::try_from(job.processors).unwrap_or(0),
        })
    };
    Ok(Timeline {
        title: title.to_owned(),
        processors,
        jobs: run.jobs()?.into_iter().filter_map(queued).collect(),
    })
}

/// Distribution functions of one run, told apart by `by`.
///
/// # Errors
/// If the results cannot be read.
pub fn distribution(
    run: &RunReader,
    title: &str,
    quantity: Quantity,
    by: By,
) -> Result<DistributionFigure, PlotError> {
    let jobs = run.jobs()?;
    let key = |job: &JobRow| match by {
        By::Nothing => Some("all jobs".to_owned()),
        By::Provider => job.provider.clone(),
        By::Class => Some(job.class.clone()),
        By::Workload => Some(job.workload.clone()),
    };
    let mut samples: Vec<Sample> = Vec::new();
    for job in &jobs {
        let (Some(name), Some(value)) = (key(job), value(job, quantity)) else {
            continue;
        };
        match samples.iter_mut().find(|sample| sample.name == name) {
            Some(sample) => sample.values.push(value),
            None => samples.push(Sample { name, values: vec![value] }),
        }
    }
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(DistributionFigure { title: title.to_owned(), quantity, samples })
}

/// Distribution functions of several runs, each under its name.
///
/// # Errors
/// If the results cannot be read.
pub fn compare(
    runs: &[(String, RunReader)],
    title: &str,
    quantity: Quantity,
) -> Result<DistributionFigure, PlotError> {
    let sample = |(name, run): &(String, RunReader)| {
        let jobs = run.jobs()?;
        let values = jobs.iter().filter_map(|job| value(job, quantity)).collect();
        Ok(Sample { name: name.clone(), values })
    };
    Ok(DistributionFigure {
        title: title.to_owned(),
        quantity,
        samples: runs.iter().map(sample).collect::<Result<_, PlotError>>()?,
    })
}

fn value(job: &JobRow, quantity: Quantity) -> Option<f64> {
    match quantity {
        Quantity::WaitingTime => job.waiting_time,
        Quantity::BoundedSlowdown => job.bounded_slowdown,
    }
}

/// The different names, in alphabetical order.
fn names<'a>(jobs: &'a [JobRow], name: impl Fn(&'a JobRow) -> Option<&'a String>) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> = jobs.iter().filter_map(name).collect();
    names.into_iter().cloned().collect()
}
