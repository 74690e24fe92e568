//! Density of the short bars of a whole chart at one zoom, so that a window with millions of bars costs
//! as much as its pixels.

use std::sync::Arc;

use super::density::{Density, STEPS};
use super::index::Index;
use super::{Bar, TileQuery};

/// Most buckets of time of a level.
const BUCKETS_MAX: i64 = 1 << 14;

/// Most groups of rows of a level.
const GROUPS_MAX: u32 = 256;

/// Shares of cells: buckets of a power of two of time, and groups of rows.
#[derive(Debug)]
pub(super) struct Level {
    /// A bucket has 2^exponent µs.
    exponent: u32,
    /// Start of the first bucket, µs.
    start: i64,
    buckets: u32,
    group_rows: u32,
    groups: u32,
    busy: Vec<u16>,
    lost: Vec<u16>,
}

impl Level {
    /// The exponent of the level for a tile: a bucket is at most half of a column. `None` if the tile
    /// needs a finer level than there may be.
    pub(super) fn exponent(query: &TileQuery<'_>, span: (i64, i64), rows: u32) -> Option<u32> {
        let column = (query.to - query.from) / i64::from(query.columns);
        let exponent = column.max(1).ilog2().checked_sub(1)?;
        let is_small = (span.1 - span.0) >> exponent < BUCKETS_MAX;
        let lane = query.rows / query.drawn_lanes();
        (is_small && lane >= group_rows(rows)).then_some(exponent)
    }

    /// Lengths of the bars of a level of this exponent are below this, µs.
    pub(super) fn below(exponent: u32) -> i64 {
        1 << (exponent + 1)
    }

    /// Lengths of its bars are below this, µs.
    pub(super) fn length_below(&self) -> i64 {
        Level::below(self.exponent)
    }

    /// The level of all bars of a chart that are short enough.
    pub(super) fn of(layers: &[Arc<Index>], span: (i64, i64), rows: u32, exponent: u32) -> Level {
        let buckets = (((span.1 - span.0) >> exponent) + 1) as u32;
        let group_rows = group_rows(rows);
        let groups = rows.div_ceil(group_rows).max(1);
        let (mut busy, mut lost) = (Density::new(buckets, groups), Density::new(buckets, groups));
        let bucket = (1_i64 << exponent) as f64;
        let column = |time: i64| (time - span.0) as f64 / bucket;
        let lane = |row: u32| f64::from(row) / f64::from(group_rows);
        let short = layers.iter().flat_map(|it| it.shorter(Level::below(exponent)));
        for bar in short {
            let Bar { start, end, row, rows, .. } = *bar;
            let along = (lane(row), lane(row.saturating_add(rows)));
            busy.add((column(start), column(end)), along, 1.0);
            if bar.is_lost() {
                lost.add((column(start), column(end)), along, 1.0);
            }
        }
        let (start, busy) = (span.0, busy.shares());
        let lost = if lost.is_empty() { Vec::new() } else { lost.shares() };
        Level { exponent, start, buckets, group_rows, groups, busy, lost }
    }

    pub(super) fn is(&self, exponent: u32) -> bool {
        self.exponent == exponent
    }

    /// Gives each cell in a window that is not empty: times, rows, busy share, lost share.
    pub(super) fn cells(
        &self,
        query: &TileQuery<'_>,
        mut take: impl FnMut((i64, i64), (u32, u32), f64, f64),
    ) {
        let place = |time: i64| (time - self.start) >> self.exponent;
        let within = |place: i64| place.clamp(0, i64::from(self.buckets)) as u32;
        let buckets = within(place(query.from))..within(place(query.to - 1).saturating_add(1));
        let rows = query.row_range();
        let end = rows.end.div_ceil(self.group_rows).min(self.groups);
        for group in (rows.start / self.group_rows).min(end)..end {
            for bucket in buckets.clone() {
                let at = group as usize * self.buckets as usize + bucket as usize;
                let Some(busy) = self.busy.get(at).filter(|it| **it > 0) else { continue };
                let start = self.start + (i64::from(bucket) << self.exponent);
                let row = group * self.group_rows;
                let share = |it: u16| f64::from(it) / f64::from(STEPS);
                let lost = self.lost.get(at).map_or(0.0, |it| share(*it));
                let end = start + (1 << self.exponent);
                take((start, end), (row, self.group_rows), share(*busy), lost);
            }
        }
    }
}

fn group_rows(rows: u32) -> u32 {
    rows.div_ceil(GROUPS_MAX).max(1)
}
