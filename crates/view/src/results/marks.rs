//! Marks: failures, maintenance, crashes.

use std::sync::PoisonError;

use haggle_results::reader::{CrashRow, MaintenanceRow, OutageRow, Rows};
use haggle_results::{ResultsError, RunReader};

use super::Data;
use super::load::{MISSING, NO_PROCESSORS, NO_PROVIDER, Skipped, rows_of};
use super::places::{Place, Places};
use crate::clock::{drawn, micros};
use crate::scene::{Mark, MarkKind, Scene};

/// Marks of a table, which are drawn when the charts have their rows.
#[derive(Default)]
struct Marks {
    placed: Vec<Placed>,
    skipped: Skipped,
}

/// A mark and its place.
struct Placed {
    place: Place,
    start: i64,
    /// `None` = it lasted to the end of the run.
    end: Option<i64>,
    /// `None` = all.
    processors: Option<(i64, i64)>,
}

/// Reads all marks, and notes the problems of their tables.
pub(super) fn read(data: &Data, run: &RunReader, places: &Places) {
    type Read = fn(&RunReader, &Places, &mut Marks) -> Result<(), ResultsError>;
    let tables: [(&str, MarkKind, Read); 3] = [
        ("outages", MarkKind::Failure, outages),
        ("maintenance", MarkKind::Maintenance, maintenance),
        ("crashes", MarkKind::Crash, crashes),
    ];
    let mut of_charts: Vec<Vec<Mark>> = Vec::new();
    let horizon = run.about().ok().and_then(|it| micros(it.horizon?));
    for (table, kind, read) in tables {
        let mut marks = Marks::default();
        read(run, places, &mut marks).unwrap_or_else(|error| data.problem(&error.to_string()));
        let scene = data.scene.read().unwrap_or_else(PoisonError::into_inner);
        let end = scene.span().map(|it| it.1).max(horizon).unwrap_or(0);
        of_charts.resize_with(scene.charts.len(), Vec::new);
        for it in marks.placed {
            match it.drawn(&scene, end, kind) {
                Some(mark) => of_charts[it.place.chart].push(mark),
                None => marks.skipped.add(NO_PROCESSORS),
            }
        }
        drop(scene);
        marks.skipped.tell(table, data);
    }
    let mut scene = data.scene.write().unwrap_or_else(PoisonError::into_inner);
    for (chart, marks) in scene.charts.iter_mut().zip(of_charts) {
        chart.set_marks(marks);
    }
}

impl Placed {
    fn drawn(&self, scene: &Scene, end: i64, kind: MarkKind) -> Option<Mark> {
        let chart = scene.charts.get(self.place.chart)?;
        let (row, rows) =
            match (self.place.band.and_then(|it| chart.bands.get(it)), self.processors) {
                (Some(band), _) => (band.first_row, band.rows),
                (None, Some(them)) => rows_of(them, chart.first_number, chart.rows)?,
                (None, None) => (0, chart.rows),
            };
        Some(Mark {
            start: self.start,
            end: self.end.unwrap_or(end).max(self.start),
            row,
            rows,
            kind,
        })
    }
}

impl Marks {
    fn add(
        &mut self,
        place: Option<Place>,
        (start, end): (f64, Option<f64>),
        processors: Option<(i64, i64)>,
    ) {
        let Some(place) = place else {
            return self.skipped.add(NO_PROVIDER);
        };
        let (start, end) = (drawn(start), end.map(drawn));
        match (start, end) {
            (Some(start), None) => self.placed.push(Placed { place, start, end: None, processors }),
            (Some(start), Some(Some(end))) => {
                self.placed.push(Placed { place, start, end: Some(end), processors });
            }
            _ => self.skipped.add(MISSING),
        }
    }
}

fn outages(run: &RunReader, places: &Places, marks: &mut Marks) -> Result<(), ResultsError> {
    OutageRow::each(run, &Rows::all(), |row| {
        let place = places.place(&row.provider);
        marks.add(place, (row.failed, row.restored), Some((row.first, row.last)));
    })
}

fn maintenance(run: &RunReader, places: &Places, marks: &mut Marks) -> Result<(), ResultsError> {
    MaintenanceRow::each(run, &Rows::all(), |row| match (row.first, row.last) {
        // None was closed.
        (None, None) => {}
        (Some(first), Some(last)) => {
            let place = places.place(&row.provider);
            marks.add(place, (row.start, Some(row.end)), Some((first, last)));
        }
        _ => marks.skipped.add(MISSING),
    })
}

fn crashes(run: &RunReader, places: &Places, marks: &mut Marks) -> Result<(), ResultsError> {
    CrashRow::each(run, &Rows::all(), |row| {
        // Other actors have no chart.
        if let Some(place) = places.place(&row.actor) {
            marks.add(Some(place), (row.crash, row.restart), None);
        }
    })
}
