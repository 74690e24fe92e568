//! A chart: a provider or a grid with its rows over time.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use super::index::{ClassOfBars, Index, overlaps};
use super::level::Level;
use super::{AreaSum, Bar, Mark, Sum, Tick, Tile, TileQuery};

/// Kind of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChartKind {
    /// Rows are processors.
    Provider,
    /// Rows are slots of resources, which are its bands.
    Grid,
    /// Rows are processors of a cluster that plans.
    Cluster,
}

/// Rows that belong together: a whole provider, or a resource of a grid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Band {
    /// Name.
    pub name: String,
    /// Site of a resource.
    pub site: Option<String>,
    /// First row.
    pub first_row: u32,
    /// Number of rows.
    pub rows: u32,
}

/// A provider, a cluster or a grid.
#[derive(Debug)]
pub struct Chart {
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: ChartKind,
    /// Number of rows.
    pub rows: u32,
    /// Run-wide number of row 0.
    pub first_number: i64,
    /// Bands, in the order of their rows.
    pub bands: Vec<Band>,
    /// Scheduler in words.
    pub scheduler: String,
    /// Speed; 1 = the reference processor. Of a grid, missing.
    pub speed: Option<f64>,
    /// Utilisation, 0 to 1.
    pub utilisation: Option<f64>,
    /// Jobs that started there.
    pub jobs: i64,
    /// Bars in layers. A chart that grows adds layers and leaves the large ones as they are.
    layers: Vec<Arc<Index>>,
    marks: Vec<Mark>,
    ticks: Vec<Tick>,
    /// Levels that were needed, the last used one first.
    levels: Mutex<Vec<Arc<Level>>>,
}

/// Number of short bars in a window from which on a level is used: it then has fewer cells.
const MANY: usize = 1 << 20;

/// Most levels in memory.
const LEVELS_MAX: usize = 3;

impl Chart {
    /// A chart without rows.
    pub fn new(name: String, kind: ChartKind) -> Chart {
        Chart {
            name,
            kind,
            rows: 0,
            first_number: 0,
            bands: Vec::new(),
            scheduler: String::new(),
            speed: None,
            utilisation: None,
            jobs: 0,
            layers: Vec::new(),
            marks: Vec::new(),
            ticks: Vec::new(),
            levels: Mutex::default(),
        }
    }

    /// Replaces all bars.
    pub fn set_bars(&mut self, bars: Vec<Bar>) {
        self.set_layers(vec![Arc::new(Index::new(bars))]);
    }

    /// Replaces all bars by those of these layers.
    pub(crate) fn set_layers(&mut self, layers: Vec<Arc<Index>>) {
        self.layers = layers;
        self.levels = Mutex::default();
    }

    /// Replaces all marks.
    pub fn set_marks(&mut self, mut marks: Vec<Mark>) {
        marks.sort_by_key(|mark| (mark.start, mark.row));
        self.marks = marks;
    }

    /// Replaces all ticks.
    pub fn set_ticks(&mut self, mut ticks: Vec<Tick>) {
        ticks.sort_by_key(|tick| (tick.time, tick.row, tick.job));
        self.ticks = ticks;
    }

    /// Changes the looks of bars. Start, end and rows must stay.
    pub fn change_looks(&mut self, change: impl FnMut(&mut Bar)) {
        let layers = self.layers.iter_mut().map(Arc::make_mut);
        layers.flat_map(|layer| layer.bars_mut()).for_each(change);
        self.levels = Mutex::default();
    }

    /// All bars, in the order of the index.
    pub fn bars(&self) -> impl Iterator<Item = &Bar> {
        self.layers.iter().flat_map(|layer| layer.bars())
    }

    /// All marks, by start.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// All ticks, by time.
    pub fn ticks(&self) -> &[Tick] {
        &self.ticks
    }

    /// The time from the first start to the last end.
    pub fn span(&self) -> Option<(i64, i64)> {
        let bars = self.layers.iter().filter_map(|layer| layer.span());
        let marks = self.marks.iter().map(|mark| (mark.start, mark.end));
        bars.chain(marks).reduce(|all, it| (all.0.min(it.0), all.1.max(it.1)))
    }

    /// The job at a place. Of several bars there, the one that started last.
    pub fn at(&self, time: i64, row: u32) -> Option<u32> {
        let rows = row..row.saturating_add(1);
        let here = self.within((time, time.saturating_add(1)), rows);
        here.max_by_key(|bar| (bar.start, bar.job)).map(|bar| bar.job)
    }

    /// Sums over a window of time and rows.
    pub fn sum(&self, window: (i64, i64), rows: Range<u32>) -> AreaSum {
        let mut sum = Sum::new(window, rows.clone());
        for bar in self.within(window, rows) {
            sum.add(bar);
        }
        sum.finished()
    }

    /// The first `count` bars of a window of time and rows, by start and row, and the number of all.
    pub fn first_bars(
        &self,
        window: (i64, i64),
        rows: Range<u32>,
        count: usize,
    ) -> (Vec<Bar>, usize) {
        let key = |bar: &Bar| (bar.start, bar.row, bar.job, bar.attempt);
        let (mut first, mut all) = (Vec::new(), 0);
        // A window may have millions of bars: no more than twice those that are asked for are in memory.
        let enough = count.saturating_mul(2).max(1_024);
        for bar in self.within(window, rows) {
            all += 1;
            first.push(*bar);
            if first.len() == enough {
                first.select_nth_unstable_by_key(count, key);
                first.truncate(count);
            }
        }
        first.sort_unstable_by_key(key);
        first.truncate(count);
        (first, all)
    }

    /// The marks of a window of time and rows, by start.
    pub fn marks_within(
        &self,
        window: (i64, i64),
        rows: Range<u32>,
    ) -> impl Iterator<Item = &Mark> {
        self.marks.iter().filter(move |mark| {
            (mark.start < window.1 && mark.end > window.0)
                && (mark.row < rows.end && mark.row.saturating_add(mark.rows) > rows.start)
        })
    }

    fn within(&self, window: (i64, i64), rows: Range<u32>) -> impl Iterator<Item = &Bar> {
        self.layers.iter().flat_map(move |layer| layer.within(window, rows.clone()))
    }

    /// A window, drawn.
    pub fn tile(&self, query: &TileQuery<'_>) -> Tile {
        self.tile_with(query, MANY)
    }

    /// A window, drawn. More than `many` short bars are taken from a level.
    fn tile_with(&self, query: &TileQuery<'_>, many: usize) -> Tile {
        let mut tile = Tile::empty(query);
        let level = self.level(query, many);
        if let Some(level) = &level {
            level.cells(query, |times, rows, busy, lost| {
                tile.add_dense(query, times, rows, (busy, lost));
            });
        }
        // The bars of the level are in it already.
        let in_level = level.as_ref().map_or(0, |it| it.length_below());
        let is_left = move |class: &&ClassOfBars| class.length_below > in_level;
        let classes = self.layers.iter().flat_map(|layer| {
            let left = layer.classes().iter().filter(is_left);
            left.map(|class| layer.places(class, query.from, query.to))
        });
        for bars in classes {
            for bar in bars {
                if overlaps(bar, (query.from, query.to), &query.row_range()) {
                    tile.add(query, bar);
                }
            }
        }
        for mark in self.marks.iter().filter(|it| query.has(it.start, it.end, it.row, it.rows)) {
            tile.add_mark(query, mark);
        }
        let first = self.ticks.partition_point(|tick| tick.time < query.from);
        let last = self.ticks.partition_point(|tick| tick.time < query.to).max(first);
        for tick in &self.ticks[first..last] {
            if query.has(tick.time, tick.time, tick.row, tick.rows) {
                tile.add_tick(query, tick);
            }
        }
        tile.finished()
    }

    /// The level of a tile, if its window has many short bars.
    fn level(&self, query: &TileQuery<'_>, many: usize) -> Option<Arc<Level>> {
        let spans = self.layers.iter().filter_map(|layer| layer.span());
        let span = spans.reduce(|all, it| (all.0.min(it.0), all.1.max(it.1)))?;
        let exponent = Level::exponent(query, span, self.rows)?;
        let bars = self.layers.iter().flat_map(|layer| {
            let short = layer.classes().iter();
            let short = short.filter(|it| it.length_below <= Level::below(exponent));
            short.map(|class| layer.places(class, query.from, query.to).len())
        });
        if bars.sum::<usize>() <= many {
            return None;
        }
        // Held while it is made: a second request for the same level must not make it, too.
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        let level = match levels.iter().position(|it| it.is(exponent)) {
            Some(at) => levels.remove(at),
            None => Arc::new(Level::of(&self.layers, span, self.rows, exponent)),
        };
        levels.insert(0, Arc::clone(&level));
        levels.truncate(LEVELS_MAX);
        Some(level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::flag;

    /// Short bars of different lengths on 300 rows, some of them lost.
    fn chart() -> Chart {
        let bar = |number: u32| {
            let start = i64::from(number) * 37 + i64::from(number % 7) * 1_000;
            let look = if number.is_multiple_of(11) { flag::LOST } else { 0 };
            let (row, rows) = (number * 31 % 297, 1 + number % 3);
            let end = start + i64::from(number * 53 % 900);
            Bar { start, end, row, rows, job: number, attempt: 1, look, colour: 0 }
        };
        let mut chart = Chart::new("north".to_owned(), ChartKind::Provider);
        chart.rows = 300;
        chart.set_bars((0..20_000).map(bar).collect());
        chart
    }

    #[test]
    fn the_first_bars_are_those_of_a_whole_list() {
        let chart = chart();
        let window = (100_000, 500_000);
        let mut all = Vec::from_iter(chart.within(window, 0..200).copied());
        all.sort_by_key(|bar| (bar.start, bar.row, bar.job, bar.attempt));
        assert!(all.len() > 5_000);
        for count in [0, 1, 700, 1_024, 3_000, all.len(), usize::MAX] {
            let expected = (Vec::from(&all[..count.min(all.len())]), all.len());
            assert!(chart.first_bars(window, 0..200, count) == expected, "{count}");
        }
    }

    #[test]
    fn a_level_has_the_area_of_its_bars() {
        let chart = chart();
        for (from, to, columns, first_row, rows, lanes) in [
            (0, 745_000, 100, 0, 300, 75),
            (100_000, 500_001, 37, 40, 200, 50),
            (-50_000, 90_000, 60, 10, 100, 20),
        ] {
            let query = TileQuery { from, to, columns, first_row, rows, lanes, compared: None };
            let (direct, level) = (chart.tile_with(&query, usize::MAX), chart.tile_with(&query, 0));
            assert_eq!(direct.bars, level.bars);
            let (Some(direct), Some(level)) = (direct.density, level.density) else {
                panic!("both have a density")
            };
            for (direct, level) in [(direct.0, level.0), (direct.1, level.1)] {
                for lane in 0..lanes as usize {
                    let row = lane * columns as usize..(lane + 1) * columns as usize;
                    // An error moves a part of a cell to its neighbour, and adds nothing.
                    let (mut one, mut other) = (0, 0);
                    for (a, b) in direct[row.clone()].iter().zip(&level[row]) {
                        (one, other) = (one + i32::from(*a), other + i32::from(*b));
                        assert!((one - other).abs() < 128, "{lane}: {one} {other}");
                    }
                }
            }
        }
    }
}
