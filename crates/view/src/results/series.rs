//! Series of a run: waiting jobs and busy processors, of each chart and of all.

use std::sync::{Arc, PoisonError};

use haggle_results::ResultsError;

use super::{Data, Kept, lock};
use crate::Refusal;
use crate::clock::clamped;
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
    let version = data.version.load(std::sync::atomic::Ordering::Acquire);
    let is_it = |it: &&Kept<Steps>| it.0.0 == id && it.0.1 == version;
    let known = lock(&data.series).iter().find(is_it).map(|it| Arc::clone(&it.1));
    if let Some(known) = known {
        return Ok(known);
    }
    let made = made(data, id)?;
    let asked = made.iter().find(|it| it.0 == id).map(|it| Arc::clone(&it.1));
    let new = asked.ok_or_else(|| unknown(id))?;
    let mut all = lock(&data.series);
    all.retain(|it| it.0.1 == version && made.iter().all(|new| new.0 != it.0.0));
    all.splice(0..0, made.into_iter().map(|(id, steps)| ((id, version), steps)));
    // The asked one is the last to go.
    all.sort_by_key(|it| it.0.0 != id);
    let mut bytes = 0;
    let kept = all.iter().take_while(|it| {
        bytes += it.1.bytes();
        bytes <= BYTES_MAX
    });
    let kept = kept.count().max(1);
    all.truncate(kept);
    Ok(new)
}

fn unknown(id: &str) -> Refusal {
    Refusal::missing(format!("there is no series `{id}`"))
}

/// The series of this name, and all others that the same pass over the tables gives.
fn made(data: &Data, id: &str) -> Result<Vec<(String, Arc<Steps>)>, Refusal> {
    let (kind, place) = id.split_once(':').ok_or_else(|| unknown(id))?;
    let chart = match place {
        "all" => None,
        place => Some(place.parse::<usize>().map_err(|_| unknown(id))?),
    };
    match kind {
        "busy" if chart.is_some_and(|it| it >= count(data)) => Err(unknown(id)),
        "busy" => Ok(vec![(id.to_owned(), Arc::new(Steps::of(busy(data, chart))))]),
        "queue" => queues(data).map_err(|error| Data::refusal(&error)),
        _ => Err(unknown(id)),
    }
}

/// Number of charts.
fn count(data: &Data) -> usize {
    data.scene.read().unwrap_or_else(PoisonError::into_inner).charts.len()
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

/// Numbers of waiting jobs, of each chart and of all.
fn queues(data: &Data) -> Result<Vec<(String, Arc<Steps>)>, ResultsError> {
    let (Ok(run), Some(places)) = (data.run(), data.places.get()) else { return Ok(Vec::new()) };
    let grid = places.grid();
    let mut of_charts: Vec<Vec<(i64, i32)>> = vec![Vec::new(); count(data)];
    run.each_wait(|provider, from, until| {
        let place = match provider {
            Some(name) => places.place(name).filter(|it| it.band.is_none()).map(|it| it.chart),
            None => grid,
        };
        if let Some(changes) = place.and_then(|it| of_charts.get_mut(it))
            && from < until
        {
            changes.extend([(clamped(from.as_micros()), 1), (clamped(until.as_micros()), -1)]);
        }
    })?;
    let all = ("queue:all".to_owned(), Arc::new(Steps::of(of_charts.concat())));
    let each = of_charts.into_iter().enumerate();
    let each = each.map(|(chart, it)| (format!("queue:{chart}"), Arc::new(Steps::of(it))));
    Ok([all].into_iter().chain(each).collect())
}
