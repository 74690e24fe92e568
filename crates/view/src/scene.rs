//! The charts of a view: bars of jobs, marks of failures and maintenance, ticks of promises.
//!
//! Times are whole microseconds. A row is a processor of a provider, or a slot of a grid. This module
//! does no I/O.
//!
//! ```text
//! Bar, Mark, Tick ──> Chart ── Index: by length and height ──> Tile: bars, and density for the rest
//! ```

mod bar;
mod chart;
mod density;
mod index;
mod lanes;
mod level;
mod sum;
mod tile;

pub use bar::{Bar, Class, Compared, Mark, MarkKind, Tick, TickKind, flag};
pub use chart::{Band, Chart, ChartKind};
pub(crate) use index::Index;
pub(crate) use lanes::put_on_lanes;
pub use sum::{AreaSum, Sum};
pub use tile::{NO_JOB, Tile, TileQuery};

/// The charts of a view.
#[derive(Debug, Default)]
pub struct Scene {
    /// Charts, in the order of the tables.
    pub charts: Vec<Chart>,
}

impl Scene {
    /// The time from the first bar, mark or tick to the end of the last one; `None` without any.
    pub fn span(&self) -> Option<(i64, i64)> {
        self.span_of(|_| true)
    }

    /// The same of some charts, by their numbers.
    pub fn span_of(&self, is_there: impl Fn(usize) -> bool) -> Option<(i64, i64)> {
        let charts = self.charts.iter().enumerate().filter(|(number, _)| is_there(*number));
        let spans = charts.filter_map(|(_, chart)| chart.span());
        spans.reduce(|all, it| (all.0.min(it.0), all.1.max(it.1)))
    }
}
