//! Reading of the tables, in the order in which the page needs them.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use haggle_results::reader::{Rows, TableData};
use haggle_results::{ResultsError, RunReader, Table};

use super::places::{Place, Places};
use super::{Data, check, facts, looks, marks};
use crate::clock::drawn;
use crate::scene::{Bar, ChartKind, Class, Scene, put_on_lanes};

/// Reads the places, and publishes charts without bars.
pub(super) fn begin(data: &Data) {
    let mut problems = Vec::new();
    let mut places = match data.run() {
        Ok(run) => {
            let resources = run.resources().unwrap_or_else(|error| {
                problems.push(error.to_string());
                Vec::new()
            });
            let places = Places::of(&resources, run, &mut problems);
            let read = facts::Facts::read(run, &places, &mut problems);
            data.facts.get_or_init(|| read);
            places
        }
        Err(refusal) => {
            problems.push(refusal.error);
            Places::default()
        }
    };
    problems.iter().for_each(|it| data.problem(it));
    let mut scene = data.scene.write().unwrap_or_else(PoisonError::into_inner);
    scene.charts = places.take_charts();
    drop(scene);
    data.places.get_or_init(|| places);
}

/// Parts that are read, in order.
pub(super) const PARTS: [&str; 3] = ["charts", "jobs", "checks"];

/// Reads the other tables.
pub(super) fn everything(data: &Data) {
    let (Ok(run), Some(places)) = (data.run(), data.places.get()) else {
        PARTS.iter().for_each(|it| data.loaded(it));
        return;
    };
    charts(data, run, places);
    data.loaded("charts");
    looks::read(data, run, places);
    data.loaded("jobs");
    check::all(data, run);
    data.loaded("checks");
}

/// Reads all bars and marks.
fn charts(data: &Data, run: &RunReader, places: &Places) {
    let count = data.scene.read().unwrap_or_else(PoisonError::into_inner).charts.len();
    let mut bars: Vec<Vec<Bar>> = Vec::new();
    bars.resize_with(count, Vec::new);
    let mut skipped = Skipped::default();
    if places.any_provider() {
        let read = placements(data, run, places, &mut bars, &mut skipped);
        read.unwrap_or_else(|error| data.problem(&error.to_string()));
    }
    skipped.tell("placements", data);
    let mut scene = data.scene.write().unwrap_or_else(PoisonError::into_inner);
    for (chart, bars) in scene.charts.iter_mut().zip(bars) {
        chart.set_bars(bars);
    }
    // Before the charts can be read, so that nobody has the old ones under the new number.
    data.bars.fetch_add(1, Ordering::Release);
    drop(scene);
    data.changed();
    if places.any_resource() && !data.has_stopped() {
        let mut skipped = Skipped::default();
        let read = slots(data, run, places, &mut skipped);
        read.unwrap_or_else(|error| data.problem(&error.to_string()));
        skipped.tell("attempts", data);
    }
    marks::read(data, run, places);
}

/// Reasons why rows of tables are not drawn.
pub(super) const MISSING: &str = "a value is missing or out of range";
pub(super) const NO_PROVIDER: &str = "their provider is not in `resources`";
pub(super) const NO_PROCESSORS: &str = "their processors are not those of their provider";

/// Rows of a table that cannot be drawn.
#[derive(Default)]
pub(super) struct Skipped {
    reasons: BTreeMap<&'static str, usize>,
}

impl Skipped {
    pub(super) fn add(&mut self, reason: &'static str) {
        *self.reasons.entry(reason).or_default() += 1;
    }

    pub(super) fn tell(&self, table: &str, data: &Data) {
        for (reason, count) in &self.reasons {
            data.problem(&format!("`{table}`: {count} rows are not drawn: {reason}"));
        }
    }
}

/// End of a reading that was not needed any more.
fn stopped() -> Result<(), ResultsError> {
    Ok(())
}

const PLACEMENTS: [&str; 7] = [
    "job",
    "attempt",
    "provider",
    "first_resource",
    "last_resource",
    "starting_time",
    "finish_time",
];

fn placements(
    data: &Data,
    run: &RunReader,
    places: &Places,
    bars: &mut [Vec<Bar>],
    skipped: &mut Skipped,
) -> Result<(), ResultsError> {
    let charts = data.scene.read().unwrap_or_else(PoisonError::into_inner);
    let sizes = Vec::from_iter(charts.charts.iter().map(|it| (it.first_number, it.rows)));
    drop(charts);
    run.in_batches(Table::Placements, &PLACEMENTS, &Rows::all(), |batch| {
        if data.has_stopped() {
            return stopped();
        }
        let place = places_of(&batch, places)?;
        let (job, attempt) = (batch.integer("job")?, batch.integer("attempt")?);
        let (first, last) = (batch.integer("first_resource")?, batch.integer("last_resource")?);
        let (start, end) = (batch.real("starting_time")?, batch.real("finish_time")?);
        for row in 0..batch.rows() {
            let Some(place) = place[row] else {
                skipped.add(NO_PROVIDER);
                continue;
            };
            let (from, rows) = sizes[place.chart];
            let bar = bar((job[row], attempt[row]), (start[row], end[row]));
            let span = first[row].zip(last[row]).and_then(|it| rows_of(it, from, rows));
            match (bar, span) {
                (Some(bar), Some((row, rows))) => bars[place.chart].push(Bar { row, rows, ..bar }),
                (None, _) => skipped.add(MISSING),
                (_, None) => skipped.add(NO_PROCESSORS),
            }
        }
        Ok(())
    })
}

/// The place of each row.
pub(super) fn places_of(
    batch: &TableData,
    places: &Places,
) -> Result<Vec<Option<Place>>, ResultsError> {
    let names = batch.text("provider")?;
    // Each name is looked up once per block.
    let known = Vec::from_iter(names.texts.iter().map(|it| places.place(it)));
    let place = |code: &Option<u32>| code.and_then(|it| known.get(it as usize).copied().flatten());
    Ok(names.codes.iter().map(place).collect())
}

/// A bar without rows.
fn bar(
    (job, attempt): (Option<i64>, Option<i64>),
    (start, end): (Option<f64>, Option<f64>),
) -> Option<Bar> {
    let (start, end) = (drawn(start?)?, drawn(end?)?);
    Some(Bar {
        start,
        end: end.max(start),
        row: 0,
        rows: 1,
        job: number_of(job)?,
        attempt: u16::try_from(attempt.filter(|it| *it > 0)?).unwrap_or(u16::MAX),
        look: 0,
        colour: 0,
    })
}

/// Numbers of jobs are below this. A damaged table may have any.
const JOB_MAX: u32 = 1 << 28;

/// The number of a job, if it can be one.
pub(super) fn number_of(job: Option<i64>) -> Option<u32> {
    u32::try_from(job?).ok().filter(|it| *it < JOB_MAX)
}

/// Rows of a chart that run-wide numbers of processors have; `None` if the chart does not have all of them.
pub(super) fn rows_of((first, last): (i64, i64), from: i64, rows: u32) -> Option<(u32, u32)> {
    let row = |number: i64| u32::try_from(number.checked_sub(from)?).ok();
    let (top, bottom) = (row(first)?, row(last)?);
    (top <= bottom && bottom < rows).then(|| (top, bottom - top + 1))
}

const ATTEMPTS: [&str; 5] = ["job", "attempt", "provider", "queued_time", "slot_left_time"];

/// Reads the slots of a grid.
fn slots(
    data: &Data,
    run: &RunReader,
    places: &Places,
    skipped: &mut Skipped,
) -> Result<(), ResultsError> {
    let mut bands: BTreeMap<(usize, usize), Vec<Bar>> = BTreeMap::new();
    run.in_batches(Table::Attempts, &ATTEMPTS, &Rows::all(), |batch| {
        if data.has_stopped() {
            return stopped();
        }
        let place = places_of(&batch, places)?;
        let (job, attempt) = (batch.integer("job")?, batch.integer("attempt")?);
        let (queued, left) = (batch.real("queued_time")?, batch.real("slot_left_time")?);
        for row in 0..batch.rows() {
            let bar = match (queued[row], left[row]) {
                // It got no slot.
                (None, None) => continue,
                times => bar((job[row], attempt[row]), times),
            };
            match (place[row], bar) {
                (Some(Place { chart, band: Some(band) }), Some(bar)) => {
                    bands.entry((chart, band)).or_default().push(bar);
                }
                // Attempts at providers have their bars from `placements`.
                (Some(Place { band: None, .. }), _) => {}
                (None, _) => skipped.add(NO_PROVIDER),
                (_, None) => skipped.add(MISSING),
            }
        }
        Ok(())
    })?;
    let mut scene = data.scene.write().unwrap_or_else(PoisonError::into_inner);
    put_slots(&mut scene, bands);
    data.bars.fetch_add(1, Ordering::Release);
    drop(scene);
    data.changed();
    Ok(())
}

/// Puts attempts on lanes, and gives each band as many rows as it needs.
fn put_slots(scene: &mut Scene, mut bands: BTreeMap<(usize, usize), Vec<Bar>>) {
    let grids = scene.charts.iter_mut().enumerate().filter(|it| it.1.kind == ChartKind::Grid);
    for (number, chart) in grids {
        let mut all = Vec::new();
        let mut rows: u32 = 0;
        for (place, band) in chart.bands.iter_mut().enumerate() {
            let mut bars = bands.remove(&(number, place)).unwrap_or_default();
            (band.first_row, band.rows) = (rows, put_on_lanes(&mut bars, rows));
            bars.iter_mut().for_each(|bar| bar.set_class(Class::GridTask));
            rows += band.rows;
            all.extend(bars);
        }
        chart.rows = rows;
        chart.set_bars(all);
    }
}
