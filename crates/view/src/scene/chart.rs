//! A chart: a provider or a grid with its rows over time.

use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use super::index::{Index, overlaps};
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
}

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
        }
    }

    /// Replaces all bars.
    pub fn set_bars(&mut self, bars: Vec<Bar>) {
        self.layers = vec![Arc::new(Index::new(bars))];
    }

    /// Replaces all bars by those of these layers.
    pub(crate) fn set_layers(&mut self, layers: Vec<Arc<Index>>) {
        self.layers = layers;
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
        let bars = self.bars().map(|bar| (bar.start, bar.end));
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

    fn within(&self, window: (i64, i64), rows: Range<u32>) -> impl Iterator<Item = &Bar> {
        self.layers.iter().flat_map(move |layer| layer.within(window, rows.clone()))
    }

    /// A window, drawn.
    pub fn tile(&self, query: &TileQuery<'_>) -> Tile {
        let mut tile = Tile::empty(query);
        let classes = self.layers.iter().flat_map(|layer| {
            layer.classes().iter().map(|class| layer.places(class, query.from, query.to))
        });
        for bars in classes {
            for bar in bars {
                if overlaps(bar, (query.from, query.to), &query.row_range()) && query.shows(bar) {
                    tile.add(query, bar);
                }
            }
        }
        // An actor that knows nothing of these rows knows nothing of their failures either.
        let marks = if query.shows_any() { &self.marks[..] } else { &[] };
        for mark in marks.iter().filter(|it| query.has(it.start, it.end, it.row, it.rows)) {
            tile.add_mark(query, mark);
        }
        let first = self.ticks.partition_point(|tick| tick.time < query.from);
        let last = self.ticks.partition_point(|tick| tick.time < query.to).max(first);
        for tick in &self.ticks[first..last] {
            if query.has(tick.time, tick.time, tick.row, tick.rows) && query.shows_job(tick.job) {
                tile.add_tick(query, tick);
            }
        }
        tile.finished()
    }
}
