//! Series of a run: waiting jobs and busy processors, of each chart and of all.

use std::sync::{Arc, PoisonError};

use haggle_results::reader::Rows;
use haggle_results::{ResultsError, Table};

use super::load::places_of;
use super::{Data, lock};
use crate::Refusal;
use crate::clock::micros;
use crate::scene::Chart;
use crate::series::Steps;
use crate::view::{SeriesAnswer, SeriesQuery};

/// Most bytes of series in memory, unless a single one is larger.
const BYTES_MAX: usize = 64 << 20;

/// Values of series.
pub(super) fn answer(data: &Data, query: &SeriesQuery) -> Result<SeriesAnswer, Refusal> {
    let mut answer =
        SeriesAnswer { from: query.from, to: query.to, columns: query.columns, series: vec![] };
    for id in &query.ids {
        let steps = steps(data, id)?;
        answer.series.push(steps.columns(id, (query.from, query.to), query.columns));
    }
    Ok(answer)
}

/// A series, from memory or from its tables.
fn steps(data: &Data, id: &str) -> Result<Arc<Steps>, Refusal> {
    // A series of half of the data is not kept: the version is part of its name.
    let name = (id.to_owned(), data.version.load(std::sync::atomic::Ordering::Acquire));
    let known = lock(&data.series).iter().find(|it| it.0 == name).map(|it| Arc::clone(&it.1));
    if let Some(known) = known {
        return Ok(known);
    }
    let new = Arc::new(made(data, id)?);
    let mut all = lock(&data.series);
    all.retain(|it| it.0.1 == name.1);
    all.insert(0, (name, Arc::clone(&new)));
    let mut bytes = 0;
    let kept = all.iter().take_while(|it| {
        bytes += it.1.bytes();
        bytes <= BYTES_MAX
    });
    let kept = kept.count().max(1);
    all.truncate(kept);
    Ok(new)
}

fn made(data: &Data, id: &str) -> Result<Steps, Refusal> {
    let unknown = || Refusal::missing(format!("there is no series `{id}`"));
    let (kind, place) = id.split_once(':').ok_or_else(unknown)?;
    let count = data.scene.read().unwrap_or_else(PoisonError::into_inner).charts.len();
    let chart = match place {
        "all" => None,
        place => Some(place.parse().ok().filter(|it| *it < count).ok_or_else(unknown)?),
    };
    let changes = match (kind, chart) {
        ("busy", chart) => Ok(busy(data, chart)),
        ("queue", None) => queue_of_run(data),
        ("queue", Some(chart)) => queue(data, chart),
        _ => return Err(unknown()),
    };
    changes.map(Steps::of).map_err(|error| Data::refusal(&error))
}

/// Changes of the number of busy rows.
fn busy(data: &Data, chart: Option<usize>) -> Vec<(i64, i32)> {
    let scene = data.scene.read().unwrap_or_else(PoisonError::into_inner);
    let charts = scene.charts.iter().enumerate();
    let charts = charts.filter(|it| chart.is_none_or(|asked| asked == it.0));
    let mut changes = Vec::new();
    for (_, chart) in charts {
        busy_of(chart, &mut changes);
    }
    changes
}

fn busy_of(chart: &Chart, changes: &mut Vec<(i64, i32)>) {
    for bar in chart.bars().filter(|bar| bar.end > bar.start) {
        let rows = i32::try_from(bar.rows).unwrap_or(i32::MAX);
        changes.extend([(bar.start, rows), (bar.end, -rows)]);
    }
}

/// Adds a job that waits from `from` to `to`.
fn waits(from: Option<f64>, to: Option<f64>, changes: &mut Vec<(i64, i32)>) {
    let span = from.and_then(micros).zip(to.and_then(micros));
    if let Some((from, to)) = span.filter(|it| it.0 < it.1) {
        changes.extend([(from, 1), (to, -1)]);
    }
}

/// Changes of the number of jobs that were submitted and have not started.
fn queue_of_run(data: &Data) -> Result<Vec<(i64, i32)>, ResultsError> {
    const COLUMNS: [&str; 3] = ["submission_time", "starting_time", "left_time"];
    let mut changes = Vec::new();
    let Ok(run) = data.run() else { return Ok(changes) };
    run.in_batches(Table::Jobs, &COLUMNS, &Rows::all(), |batch| {
        let (submit, start) = (batch.real("submission_time")?, batch.real("starting_time")?);
        let left = batch.real("left_time")?;
        for row in 0..batch.rows() {
            waits(submit[row], start[row].or(left[row]), &mut changes);
        }
        Ok(())
    })?;
    Ok(changes)
}

/// Changes of the number of jobs that wait at a provider; of a grid, that wait for a slot.
fn queue(data: &Data, chart: usize) -> Result<Vec<(i64, i32)>, ResultsError> {
    let mut changes = Vec::new();
    let (Ok(run), Some(places)) = (data.run(), data.places.get()) else { return Ok(changes) };
    if places.is_grid(chart) {
        const COLUMNS: [&str; 3] = ["provider", "submission_time", "queued_time"];
        run.in_batches(Table::Jobs, &COLUMNS, &Rows::all(), |batch| {
            let place = places_of(&batch, places)?;
            let (submit, slot) = (batch.real("submission_time")?, batch.real("queued_time")?);
            let here =
                (0..batch.rows()).filter(|&it| place[it].is_some_and(|at| at.chart == chart));
            here.for_each(|row| waits(submit[row], slot[row], &mut changes));
            Ok(())
        })?;
        return Ok(changes);
    }
    const COLUMNS: [&str; 4] = ["provider", "queued_time", "starting_time", "finish_time"];
    run.in_batches(Table::Attempts, &COLUMNS, &Rows::all(), |batch| {
        let place = places_of(&batch, places)?;
        let (queued, start) = (batch.real("queued_time")?, batch.real("starting_time")?);
        let end = batch.real("finish_time")?;
        for row in (0..batch.rows()).filter(|&it| place[it].is_some_and(|at| at.chart == chart)) {
            waits(queued[row], start[row].or(end[row]), &mut changes);
        }
        Ok(())
    })?;
    Ok(changes)
}
