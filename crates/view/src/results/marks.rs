//! Marks: failures, maintenance, crashes.

use std::sync::PoisonError;

use haggle_results::reader::{CrashRow, MaintenanceRow, OutageRow, Rows};
use haggle_results::{ResultsError, RunReader};

use super::Data;
use super::load::rows_of;
use super::places::{Place, Places};
use crate::clock::{LAST, micros};
use crate::scene::{Mark, MarkKind};

/// A mark and its place.
type Placed = (Place, (i64, i64), Option<(i64, i64)>, MarkKind);

/// Reads all marks. Returns the problems of the tables.
pub(super) fn read(data: &Data, run: &RunReader, places: &Places) -> Vec<String> {
    let mut marks: Vec<Placed> = Vec::new();
    let read = [
        outages(run, places, &mut marks),
        maintenance(run, places, &mut marks),
        crashes(run, places, &mut marks),
    ];
    let problems = read.into_iter().filter_map(Result::err).map(|it| it.to_string());
    let mut scene = data.scene.write().unwrap_or_else(PoisonError::into_inner);
    let horizon = run.about().ok().and_then(|it| micros(it.horizon?));
    let end = scene.span().map(|it| it.1).max(horizon).unwrap_or(0);
    let mut of_charts: Vec<Vec<Mark>> = Vec::new();
    of_charts.resize_with(scene.charts.len(), Vec::new);
    for (place, (start, until), processors, kind) in marks {
        let Some(chart) = scene.charts.get(place.chart) else { continue };
        let rows = match (place.band.and_then(|it| chart.bands.get(it)), processors) {
            (Some(band), _) => Some((band.first_row, band.rows)),
            (None, Some(them)) => rows_of(them, chart.first_number, chart.rows),
            (None, None) => Some((0, chart.rows)),
        };
        // A failure that lasted to the end of the run has no end of its own.
        let until = if until == LAST { end.max(start) } else { until.max(start) };
        if let Some((row, rows)) = rows {
            of_charts[place.chart].push(Mark { start, end: until, row, rows, kind });
        }
    }
    for (chart, marks) in scene.charts.iter_mut().zip(of_charts) {
        chart.set_marks(marks);
    }
    problems.collect()
}

fn outages(run: &RunReader, places: &Places, marks: &mut Vec<Placed>) -> Result<(), ResultsError> {
    OutageRow::each(run, &Rows::all(), |row| {
        let until = row.restored.map_or(Some(LAST), micros);
        if let (Some(place), Some(span)) =
            (places.place(&row.provider), micros(row.failed).zip(until))
        {
            marks.push((place, span, Some((row.first, row.last)), MarkKind::Failure));
        }
    })
}

fn maintenance(
    run: &RunReader,
    places: &Places,
    marks: &mut Vec<Placed>,
) -> Result<(), ResultsError> {
    MaintenanceRow::each(run, &Rows::all(), |row| {
        if let (Some(place), Some(span), Some(them)) =
            (places.place(&row.provider), micros(row.start).zip(micros(row.end)), row.interval())
        {
            marks.push((place, span, Some(them), MarkKind::Maintenance));
        }
    })
}

fn crashes(run: &RunReader, places: &Places, marks: &mut Vec<Placed>) -> Result<(), ResultsError> {
    CrashRow::each(run, &Rows::all(), |row| {
        let until = row.restart.map_or(Some(LAST), micros);
        if let (Some(place), Some(span)) = (places.place(&row.actor), micros(row.crash).zip(until))
        {
            marks.push((place, span, None, MarkKind::Crash));
        }
    })
}
