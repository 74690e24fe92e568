//! All about a job of a run, and its story.

use std::sync::PoisonError;

use haggle_experiment::explain::Chronicle;
use haggle_results::reader::{AttemptRow, CellValue, Rows};
use haggle_results::{JobRow, ResultsError, RunReader};

use super::{Data, jobs};
use crate::Refusal;
use crate::clock::micros;
use crate::jobs::columns;
use crate::promise::Promise;
use crate::shown::shown;
use crate::view::{JobAnswer, JobAttempt, JobBar, JobPromise, JobValue, Story, StoryLine};

/// Most bars and attempts in an answer.
const ROWS_MAX: usize = 10_000;

/// Most lines of a story.
const LINES_MAX: usize = 2_000;

/// All about a job.
pub(super) fn answer(data: &Data, job: u32) -> Result<JobAnswer, Refusal> {
    let run = data.run()?;
    let numbers = jobs::column(data, "job")?;
    let row = (0..numbers.len()).find(|&row| numbers.number(row) == Some(job));
    let row = row.ok_or_else(|| Refusal::missing(format!("there is no job {job}")))?;
    let cells = jobs::page(data, &[u32::try_from(row).unwrap_or(u32::MAX)])?;
    let cells = cells.into_iter().next().unwrap_or_default();
    let values = columns().iter().zip(cells).map(|(column, value)| JobValue {
        name: column.name,
        value,
        hidden: false,
        unit: column.unit,
        meaning: column.formula,
    });
    // A damaged table of attempts leaves the rest of the answer.
    let rows = AttemptRow::some(run, &Rows::of("job", [i64::from(job)])).unwrap_or_default();
    let (previous, next) = of_user(data, row)?;
    Ok(JobAnswer {
        job,
        values: values.collect(),
        attempts: rows.iter().take(ROWS_MAX).map(attempt).collect(),
        bars: bars(data, job),
        promises: promises(data, row, &rows)?,
        previous_of_user: previous,
        next_of_user: next,
        story: story(run, job),
    })
}

fn attempt(row: &AttemptRow) -> JobAttempt {
    JobAttempt {
        attempt: row.attempt,
        provider: shown(&row.provider),
        queued: row.queued.and_then(micros),
        start: row.start.and_then(micros),
        end: row.end.and_then(micros),
        outcome: row.outcome.name().to_owned(),
        processors: row.processors,
    }
}

fn bars(data: &Data, job: u32) -> Vec<JobBar> {
    let scene = data.scene.read().unwrap_or_else(PoisonError::into_inner);
    let mut bars = Vec::new();
    for (chart, it) in scene.charts.iter().enumerate() {
        let own = it.bars().filter(|bar| bar.job == job);
        bars.extend(own.map(|bar| JobBar {
            chart,
            row: bar.row,
            rows: bar.rows,
            start: bar.start,
            end: bar.end,
            style: bar.style(),
        }));
    }
    bars.sort_by_key(|bar| (bar.start, bar.chart, bar.row));
    bars.truncate(ROWS_MAX);
    bars
}

fn promises(data: &Data, row: usize, attempts: &[AttemptRow]) -> Result<Vec<JobPromise>, Refusal> {
    let time = |name| Ok::<_, Refusal>(jobs::column(data, name)?.real(row).and_then(micros));
    let (end, left) = (time("finish_time")?, time("left_time")?);
    let whole = time("promised_finish_time")?;
    let outcomes = jobs::column(data, "outcome")?;
    let outcome = outcomes.text(row).and_then(Promise::outcome);
    let promise = |attempt, time, outcome, end| JobPromise {
        attempt,
        time,
        state: Promise::of(outcome, time, end).name(),
    };
    let whole = whole.map(|it| promise(None, it, outcome, end.or(left)));
    let of = |row: &AttemptRow| {
        let time = row.promised_end.and_then(micros)?;
        let end = row.end.and_then(micros).or(left);
        Some(promise(Some(row.attempt), time, Some(row.outcome), end))
    };
    Ok(whole.into_iter().chain(attempts.iter().take(ROWS_MAX).filter_map(of)).collect())
}

/// The jobs that the same user submitted right before and right after a job.
fn of_user(data: &Data, row: usize) -> Result<(Option<u32>, Option<u32>), Refusal> {
    let (numbers, users) = (jobs::column(data, "job")?, jobs::column(data, "user_id")?);
    let (workloads, submits) =
        (jobs::column(data, "workload_name")?, jobs::column(data, "submission_time")?);
    let user = |row: usize| match users.cell(row) {
        CellValue::Integer(user) => Some(user),
        _ => None,
    };
    let place = |row: usize| Some((submits.real(row).and_then(micros)?, numbers.number(row)?));
    let Some(here) = place(row) else { return Ok((None, None)) };
    let (own, workload) = (user(row), workloads.text(row));
    let mut previous: Option<(i64, u32)> = None;
    let mut next: Option<(i64, u32)> = None;
    for other in (0..numbers.len()).filter(|&it| user(it) == own) {
        let Some(there) = place(other).filter(|_| workloads.text(other) == workload) else {
            continue;
        };
        if there < here {
            previous = previous.max(Some(there));
        } else if there > here {
            next = Some(next.map_or(there, |it| it.min(there)));
        }
    }
    Ok((previous.map(|it| it.1), next.map(|it| it.1)))
}

/// Its story in the words of `haggle explain`. A run without the needed tables has a line with the reason.
fn story(run: &RunReader, job: u32) -> Story {
    told(run, job).unwrap_or_else(|error| {
        let text = shown(&format!("the job cannot be explained: {error}"));
        Story { title: format!("job {job}"), lines: vec![StoryLine { time: None, text }] }
    })
}

fn told(run: &RunReader, job: u32) -> Result<Story, ResultsError> {
    let rows = JobRow::some(run, &Rows::of("job", [i64::from(job)]))?;
    let all = Chronicle::of(run, &rows, false)?;
    let Some(row) = rows.first() else { return Ok(Story::default()) };
    let story = all.story(row);
    let line = |(time, text): (f64, String)| StoryLine { time: micros(time), text: shown(&text) };
    let mut lines: Vec<StoryLine> = story.events().into_iter().map(line).collect();
    let reasons = story.reasons();
    let reasons = reasons.trim_start_matches('\n').lines();
    lines.extend(reasons.map(|it| StoryLine { time: None, text: shown(it) }));
    lines.truncate(LINES_MAX);
    Ok(Story { title: shown(&story.title()), lines })
}
