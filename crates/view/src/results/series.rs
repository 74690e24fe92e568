//! Series of a run: waiting jobs and busy processors, of each chart and of all.

use std::sync::{Arc, PoisonError};

use haggle_results::ResultsError;

use super::{Data, lock};
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
    let changes = match kind {
        "busy" => busy(data, chart),
        "queue" => queue(data, chart).map_err(|error| Data::refusal(&error))?,
        _ => return Err(unknown()),
    };
    Ok(Steps::of(changes))
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

/// Changes of the number of waiting jobs of a chart, or of all charts.
fn queue(data: &Data, chart: Option<usize>) -> Result<Vec<(i64, i32)>, ResultsError> {
    let mut changes = Vec::new();
    let (Ok(run), Some(places)) = (data.run(), data.places.get()) else { return Ok(changes) };
    let grid = places.grid();
    run.each_wait(|provider, from, until| {
        let place = match provider {
            Some(name) => places.place(name).filter(|it| it.band.is_none()).map(|it| it.chart),
            None => grid,
        };
        if place.is_some() && (chart.is_none() || chart == place) && from < until {
            changes.extend([(clamped(from.as_micros()), 1), (clamped(until.as_micros()), -1)]);
        }
    })?;
    Ok(changes)
}
