//! All about a job of a simulation.

use haggle_agents::glimpse::PromiseKind;
use haggle_model::{Cast, JobId, Time};
use haggle_results::AttemptView;

use super::contents::contents;
use super::past::{Delivered, Known, Past, Record, Said};
use super::rows::{present, works};
use super::walk::{name, words};
use crate::Refusal;
use crate::clock::clamped;
use crate::jobs::{JobTable, columns};
use crate::promise::Promise;
use crate::scene::Scene;
use crate::shown::shown;
use crate::view::{
    JobAnswer, JobAttempt, JobBar, JobPromise, JobValue, MessageEntry, Story, StoryLine,
};

/// Most lines of a story.
const LINES_MAX: usize = 2_000;

/// The answer about a job.
pub(super) fn answer(
    past: &Past,
    scene: &Scene,
    table: &dyn JobTable,
    (number, now): (u32, Time),
) -> Result<JobAnswer, Refusal> {
    let job = JobId(number);
    let known =
        past.job(job).ok_or_else(|| Refusal::missing(format!("no job {number} has arrived")))?;
    let attempts = attempts(past, job, now);
    let micros = |time: Time| clamped(time.as_micros());
    let promise = |attempt, (outcome, time, end): (&str, i64, Option<i64>)| JobPromise {
        attempt,
        time,
        state: Promise::of(Promise::outcome(outcome), time, end.or(Some(micros(now)))).name(),
    };
    let whole = match past.record(job) {
        Some(Record::Job(record)) => record.promised_end.map(|promised| {
            promise(None, (record.outcome.name(), micros(promised), Some(micros(record.end))))
        }),
        _ => None,
    };
    let of_attempts = attempts.iter().filter_map(|(it, promised)| {
        Some(promise(Some(it.attempt), (&it.outcome, (*promised)?, it.end)))
    });
    let promises = whole.into_iter().chain(of_attempts).collect();
    let attempts = Vec::from_iter(attempts.into_iter().map(|(it, _)| it));
    Ok(JobAnswer {
        job: number,
        values: values(table, number)?,
        bars: bars(scene, number),
        promises,
        previous_of_user: neighbour(past, known, (0..number).rev()),
        next_of_user: neighbour(past, known, number + 1..past.jobs.len() as u32),
        story: story(past, known, &attempts, now),
        attempts,
    })
}

fn values(table: &dyn JobTable, number: u32) -> Result<Vec<JobValue>, Refusal> {
    let numbers = table.column("job")?;
    let row = (0..table.rows()).find(|&row| numbers.number(row) == Some(number));
    let row =
        row.and_then(|row| u32::try_from(row).ok()).map(|row| table.page(&[row])).transpose()?;
    let values = row.and_then(|mut rows| rows.pop()).unwrap_or_default();
    let value = |(column, value): (&haggle_results::columns::Column, serde_json::Value)| JobValue {
        name: column.name,
        value,
        hidden: false,
        unit: column.unit,
        meaning: column.formula,
    };
    Ok(columns().iter().zip(values).map(value).collect())
}

fn bars(scene: &Scene, job: u32) -> Vec<JobBar> {
    let charts = scene.charts.iter().enumerate();
    let mut bars = Vec::from_iter(charts.flat_map(|(chart, it)| {
        it.bars().filter(move |bar| bar.job == job).map(move |bar| JobBar {
            chart,
            row: bar.row,
            rows: bar.rows,
            start: bar.start,
            end: bar.end,
            style: bar.style(),
        })
    }));
    bars.sort_by_key(|bar| (bar.start, bar.chart, bar.row));
    bars
}

/// The attempts of a job, each with the completion that was promised for it.
fn attempts(past: &Past, job: JobId, now: Time) -> Vec<(JobAttempt, Option<i64>)> {
    let micros = |time: Time| clamped(time.as_micros());
    let place = |provider: haggle_model::ProviderId| {
        past.cast().providers.get(provider.index()).map_or_else(String::new, |it| shown(&it.name))
    };
    let mut all = Vec::new();
    let settled = match past.record(job) {
        Some(Record::Settled(job)) => job.attempts.iter().map(|it| &it.record).collect(),
        Some(_) => Vec::new(),
        None => past.pieces.get(&job).map_or_else(Vec::new, |it| it.attempts.iter().collect()),
    };
    all.extend(settled.into_iter().map(|it| {
        let attempt = JobAttempt {
            attempt: i64::from(it.number),
            provider: place(it.resource),
            queued: Some(micros(it.dispatched)),
            start: it.started.map(micros),
            end: Some(micros(it.end)),
            outcome: it.outcome.name().to_owned(),
            processors: 1,
        };
        (attempt, None)
    }));
    let works = works(past);
    let open;
    let record = match past.record(job) {
        Some(Record::Job(record)) => Some(&**record),
        Some(_) => None,
        None => {
            open = present(past, &works, job, now);
            open.as_ref()
        }
    };
    let of_view = |it: AttemptView<'_>| {
        let attempt = JobAttempt {
            attempt: it.number,
            provider: place(it.provider),
            queued: it.queued.map(micros),
            start: it.start.map(micros),
            end: it.end.map(micros),
            outcome: it.outcome.name().to_owned(),
            processors: i64::from(it.processors),
        };
        (attempt, it.promised_end.map(micros))
    };
    if let Some(record) = record {
        let each = AttemptView::each(record, |it| {
            all.push(of_view(it));
            Ok::<(), std::convert::Infallible>(())
        });
        each.unwrap_or_else(|never| match never {});
    }
    all.extend(past.records.iter().filter_map(|it| match it {
        Record::Late { job: of, attempt, part } if *of == job => {
            Some(of_view(AttemptView::given_up(*attempt, part)))
        }
        _ => None,
    }));
    all
}

/// The windows that machines have granted to a job, and the starts that they plan for it, in words.
fn planned(past: &Past, job: JobId) -> Vec<String> {
    let mut lines = Vec::new();
    for (&actor, glimpse) in past.machines.iter() {
        let place = shown(name(past.cast(), actor));
        let granted = glimpse.promises.iter();
        let granted = granted.filter(|it| it.kind == PromiseKind::Window && it.job == Some(job));
        lines.extend(granted.map(|it| {
            let start = it.start.map(|start| format!(" from {}", words(start))).unwrap_or_default();
            let end = it.end.map(|end| format!(" until {}", words(end))).unwrap_or_default();
            format!("a window{start}{end} is granted at {place}")
        }));
        let here = glimpse.jobs.iter().filter(|work| work.job == job);
        lines.extend(here.filter_map(|work| past.plan(work)).map(|(start, end)| {
            let (start, end) = (words(start), words(end));
            format!("its start is planned at {place} for {start}, its end for {end}")
        }));
    }
    lines
}

/// The nearest of these jobs that has the same user.
fn neighbour(past: &Past, known: &Known, numbers: impl Iterator<Item = u32>) -> Option<u32> {
    let is_same = |other: &Known| {
        other.job.workload == known.job.workload && other.job.origin.user == known.job.origin.user
    };
    let mut numbers = numbers;
    numbers.find(|&number| past.job(JobId(number)).is_some_and(is_same))
}

/// A message, and its contents if they are kept.
pub(super) fn entry(cast: &Cast, it: &Delivered, said: Option<&Said>) -> MessageEntry {
    MessageEntry {
        // A message that a fault has hit may never be delivered.
        number: it.fault.is_none().then_some(it.number as usize),
        time: clamped(it.time.as_micros()),
        sender: shown(name(cast, it.from)),
        receiver: shown(name(cast, it.to)),
        kind: it.kind.to_owned(),
        job: it.job.map(|job| job.0),
        fault: it.fault.map(|fault| fault.name().to_owned()),
        values: said.map(|said| contents(said, cast)),
    }
}

/// The events of a job in order: its arrival, its messages, its starts and ends.
fn story(past: &Past, known: &Known, attempts: &[JobAttempt], now: Time) -> Story {
    let cast = past.cast();
    let job = &known.job;
    let arrives = format!("it arrives at {}", shown(name(cast, known.user)));
    let line = |time: Time, text| StoryLine { time: Some(clamped(time.as_micros())), text };
    let mut lines = vec![line(known.arrived, arrives)];
    let spoken = (past.messages.dropped()..).zip(past.messages.iter());
    let spoken = spoken.filter(|(_, it)| it.job == Some(job.id)).take(LINES_MAX);
    let message = |(place, it)| StoryLine::of_message(&entry(cast, it, past.contents(place)));
    lines.extend(spoken.map(message));
    lines.extend(attempts.iter().flat_map(StoryLine::of_attempt));
    lines.extend(known.over.map(|over| line(over, "it is over".to_owned())));
    lines.extend(planned(past, job.id).into_iter().map(|text| line(now, text)));
    // Stable: events of one instant keep this order.
    lines.sort_by_key(|line| line.time);
    let workload = cast.workloads.get(usize::from(job.workload)).map_or("", String::as_str);
    Story { title: shown(&format!("job {} ({workload}!{})", job.id.0, job.number)), lines }
}
