//! Reads the timeline of a grid's job from the folder of a run.

use std::collections::BTreeMap;

use haggle_results::reader::AttemptRow;

use crate::Figure;
use crate::ask::Ask;
use crate::attempts::{AttemptBar, CheckpointMark, checkpoints, outages};
use crate::error::PlotError;
use crate::job_timeline::{JobAttempt, JobTimeline};
use crate::load::{Part, Tables};

/// The requested timeline.
pub(crate) fn asked(run: &Tables, ask: &Ask) -> Result<Figure, PlotError> {
    let title = ask.title(run.about()?, "a job and its attempts");
    job_timeline(run, &title, &ask.part, ask.job(run)?).map(Figure::JobTimeline)
}

/// The timeline of the job with number `job` in the run; without a number, of the first job with the
/// most attempts.
///
/// # Errors
/// If the results cannot be read, or no such job was dispatched.
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
    // `max_by_key` returns the last of equal ones, which in reverse order is the lowest number.
    let most = counts.iter().rev().max_by_key(|(_, count)| **count).map(|(job, _)| *job);
    let rows = run.jobs()?;
    let found = job.or(most).and_then(|job| rows.iter().find(|row| row.job == job));
    let Some(row) = found else {
        let title = title.to_owned();
        return Err(match job {
            None => PlotError::NoData { title, reason: "no job was sent to a resource" },
            Some(job) => PlotError::NoJob(job.to_string()),
        });
    };
    // An attempt without a bar has no place, so it must not count for the places of others.
    let has_bar = |it: &AttemptRow| AttemptBar::of(it, String::new(), Vec::new()).is_some();
    let of_job = run.attempts()?.iter().filter(|it| it.job == row.job && has_bar(it));
    let mut attempts: Vec<&AttemptRow> = of_job.collect();
    attempts.sort_by_key(|it| it.attempt);
    let checkpoints = checkpoints(run)?;
    let none = Vec::new();
    let of = |attempt: i64| checkpoints.get(&(row.job, attempt)).unwrap_or(&none);
    let origin = |it: &AttemptRow| {
        let parent = it.parent?;
        // The checkpoint is found by its saved work, which equals the work at the start of the attempt.
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
