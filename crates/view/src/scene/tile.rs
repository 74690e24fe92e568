//! A window of a chart on columns and lanes of pixels.

use std::collections::HashSet;
use std::ops::Range;

use super::density::Density;
use super::{Bar, Mark, Tick};

/// `HGT1`, the first bytes of a tile.
const MAGIC: u32 = 0x3154_4748;

/// Number of a job that has none in the view whose numbers a tile has. The painter adds 1 to numbers.
pub const NO_JOB: u32 = u32::MAX - 1;

/// A window and its size in pixels.
#[derive(Clone, Debug)]
pub struct TileQuery<'a> {
    /// Start, µs.
    pub from: i64,
    /// End, µs; behind the start.
    pub to: i64,
    /// Columns of pixels, at least 1.
    pub columns: u32,
    /// First row.
    pub first_row: u32,
    /// Number of rows, at least 1.
    pub rows: u32,
    /// Lanes of pixels, at least 1.
    pub lanes: u32,
    /// Results of a comparison, by job.
    pub compared: Option<&'a [u8]>,
}

impl TileQuery<'_> {
    /// Lanes that are drawn: a lane is never smaller than a row.
    pub fn drawn_lanes(&self) -> u32 {
        self.lanes.min(self.rows)
    }

    pub(super) fn row_range(&self) -> Range<u32> {
        self.first_row..self.first_row.saturating_add(self.rows)
    }

    /// True if something at a place is in the window.
    pub(super) fn has(&self, start: i64, end: i64, row: u32, rows: u32) -> bool {
        let all = self.row_range();
        start < self.to
            && (end > self.from || start >= self.from)
            && row < all.end
            && row.saturating_add(rows) > all.start
    }

    /// True if a bar is at least a column wide and a lane high, without a rounding error.
    pub fn is_drawn(&self, bar: &Bar) -> bool {
        self.is_large(bar.length(), bar.rows)
    }

    fn is_large(&self, length: i64, rows: u32) -> bool {
        let wide = i128::from(length) * i128::from(self.columns);
        let high = u64::from(rows) * u64::from(self.drawn_lanes());
        wide >= i128::from(self.to - self.from) && high >= u64::from(self.rows)
    }

    /// The cell of a place: its column and lane.
    fn cell(&self, time: i64, row: u32) -> (u32, u32) {
        let column = self.part(time).max(0.0) * f64::from(self.columns);
        let row = f64::from(row.saturating_sub(self.first_row));
        let lane = row * f64::from(self.drawn_lanes()) / f64::from(self.rows);
        (column as u32, lane as u32)
    }

    /// A time as a part of the window: 0 is its start, 1 its end.
    fn part(&self, time: i64) -> f64 {
        // The origin is subtracted as an integer, so that a microsecond counts after years, too.
        (time - self.from) as f64 / (self.to - self.from) as f64
    }

    fn clamped(&self, time: i64) -> f32 {
        self.part(time).clamp(-1.0, 2.0) as f32
    }
}

/// A drawn window.
#[derive(Debug, Default)]
pub struct Tile {
    columns: u32,
    lanes: u32,
    first_row: u32,
    rows: u32,
    from: i64,
    to: i64,
    /// Bars: start, end, first row, rows, job, style.
    pub bars: Vec<(f32, f32, u32, u32, u32, u32)>,
    /// Marks: start, end, first row, rows, kind.
    pub marks: Vec<(f32, f32, u32, u32, u32)>,
    /// Ticks: time, first row, rows, job, kind.
    pub ticks: Vec<(f32, u32, u32, u32, u32)>,
    /// Busy share of each cell, and the share of lost attempts; empty without narrow bars.
    pub density: Option<(Vec<u8>, Vec<u8>)>,
    busy: Option<Density>,
    lost: Option<Density>,
    small_marks: HashSet<InCell>,
    small_ticks: HashSet<InCell>,
}

/// A cell, and the kind of a mark or tick there.
type InCell = ((u32, u32), u32);

impl Tile {
    /// A finished tile of a window without anything.
    pub fn blank(query: &TileQuery<'_>) -> Tile {
        Tile::empty(query).finished()
    }

    /// A tile of a window to which nothing has been added.
    pub(super) fn empty(query: &TileQuery<'_>) -> Tile {
        let (columns, lanes) = (query.columns, query.drawn_lanes());
        Tile {
            columns,
            lanes,
            first_row: query.first_row,
            rows: query.rows,
            from: query.from,
            to: query.to,
            busy: Some(Density::new(columns, lanes)),
            lost: Some(Density::new(columns, lanes)),
            ..Tile::default()
        }
    }

    pub(super) fn add(&mut self, query: &TileQuery<'_>, bar: &Bar) {
        if !query.is_drawn(bar) {
            let lost = if bar.is_lost() { 1.0 } else { 0.0 };
            self.add_dense(query, (bar.start, bar.end), (bar.row, bar.rows), (1.0, lost));
            return;
        }
        let compared = query
            .compared
            .map_or(0, |all| u32::from(all.get(bar.job as usize).copied().unwrap_or(0)));
        let style = bar.style() | compared << 8;
        let (start, end) = (query.clamped(bar.start), query.clamped(bar.end));
        self.bars.push((start, end, bar.row, bar.rows, bar.job, style));
    }

    /// Adds a place of which some shares are busy and lost.
    pub(super) fn add_dense(
        &mut self,
        query: &TileQuery<'_>,
        (start, end): (i64, i64),
        (row, rows): (u32, u32),
        (busy, lost): (f64, f64),
    ) {
        let columns = f64::from(self.columns);
        let across = (query.part(start) * columns, query.part(end) * columns);
        let lanes = f64::from(self.lanes) / f64::from(query.rows);
        let lane = |row: i64| (row - i64::from(query.first_row)) as f64 * lanes;
        let along = (lane(i64::from(row)), lane(i64::from(row) + i64::from(rows)));
        for (density, share) in [(self.busy.as_mut(), busy), (self.lost.as_mut(), lost)] {
            if let Some(density) = density.filter(|_| share > 0.0) {
                density.add(across, along, share);
            }
        }
    }

    pub(super) fn add_mark(&mut self, query: &TileQuery<'_>, mark: &Mark) {
        // Of marks in one cell, the first of each kind is enough.
        let is_large = query.is_large(mark.end - mark.start, mark.rows);
        let key = (query.cell(mark.start, mark.row), mark.kind as u32);
        if !is_large && !self.small_marks.insert(key) {
            return;
        }
        let (start, end) = (query.clamped(mark.start), query.clamped(mark.end));
        self.marks.push((start, end, mark.row, mark.rows, mark.kind as u32));
    }

    pub(super) fn add_tick(&mut self, query: &TileQuery<'_>, tick: &Tick) {
        // Of ticks in one cell, the first of each kind is enough.
        if !self.small_ticks.insert((query.cell(tick.time, tick.row), tick.kind as u32)) {
            return;
        }
        let time = query.clamped(tick.time);
        self.ticks.push((time, tick.row, tick.rows, tick.job, tick.kind as u32));
    }

    /// The tile with its density.
    pub(super) fn finished(mut self) -> Tile {
        let busy = self.busy.take().filter(|it| !it.is_empty());
        let lost = self.lost.take();
        self.density = busy.map(|busy| {
            let none = || vec![0; self.columns as usize * self.lanes as usize];
            let lost = lost.filter(|it| !it.is_empty()).map_or_else(none, |it| it.bytes());
            (busy.bytes(), lost)
        });
        self
    }

    /// Gives jobs other numbers; [`NO_JOB`] for a job without one.
    pub fn renumber(&mut self, number: impl Fn(u32) -> Option<u32>) {
        let number = |job: u32| number(job).unwrap_or(NO_JOB);
        self.bars.iter_mut().for_each(|it| it.4 = number(it.4));
        self.ticks.iter_mut().for_each(|it| it.3 = number(it.3));
    }

    /// The bytes of the interface.
    pub fn encode(&self, version: u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.bars.len() * 24);
        let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        for word in [MAGIC, self.columns, self.lanes, self.first_row] {
            out.extend(word.to_le_bytes());
        }
        out.extend((self.from as f64).to_le_bytes());
        out.extend((self.to as f64).to_le_bytes());
        let has_density = u32::from(self.density.is_some());
        let (bars, marks, ticks) = (self.bars.len(), self.marks.len(), self.ticks.len());
        for word in [self.rows, count(bars), count(marks), count(ticks), has_density, 0] {
            out.extend(word.to_le_bytes());
        }
        out.extend(version.to_le_bytes());
        self.bars.iter().for_each(|it| out.extend(it.0.to_le_bytes()));
        self.bars.iter().for_each(|it| out.extend(it.1.to_le_bytes()));
        self.bars.iter().for_each(|it| out.extend(it.2.to_le_bytes()));
        self.bars.iter().for_each(|it| out.extend(it.3.to_le_bytes()));
        self.bars.iter().for_each(|it| out.extend(it.4.to_le_bytes()));
        self.bars.iter().for_each(|it| out.extend(it.5.to_le_bytes()));
        self.marks.iter().for_each(|it| out.extend(it.0.to_le_bytes()));
        self.marks.iter().for_each(|it| out.extend(it.1.to_le_bytes()));
        self.marks.iter().for_each(|it| out.extend(it.2.to_le_bytes()));
        self.marks.iter().for_each(|it| out.extend(it.3.to_le_bytes()));
        self.marks.iter().for_each(|it| out.extend(it.4.to_le_bytes()));
        self.ticks.iter().for_each(|it| out.extend(it.0.to_le_bytes()));
        self.ticks.iter().for_each(|it| out.extend(it.1.to_le_bytes()));
        self.ticks.iter().for_each(|it| out.extend(it.2.to_le_bytes()));
        self.ticks.iter().for_each(|it| out.extend(it.3.to_le_bytes()));
        self.ticks.iter().for_each(|it| out.extend(it.4.to_le_bytes()));
        if let Some((busy, lost)) = &self.density {
            out.extend(busy);
            out.extend(lost);
        }
        out
    }
}
