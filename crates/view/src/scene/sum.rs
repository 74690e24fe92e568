//! Sums over a window of a chart.

use std::ops::Range;

use serde::Serialize;

use super::Bar;

/// Sums over a window of time and rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AreaSum {
    /// Jobs with a bar there.
    pub jobs: usize,
    /// Bars.
    pub bars: usize,
    /// Σ time x rows of the bars in the window, s.
    pub processor_seconds: f64,
    /// The same over the size of the window; `None` for an empty window.
    pub utilisation: Option<f64>,
    /// Mean waiting time of the jobs, s; filled by callers that know it.
    pub mean_waiting_time: Option<f64>,
    /// Numbers of the jobs, in order, each once.
    #[serde(skip)]
    pub numbers: Vec<u32>,
}

/// Sums while bars are added.
pub struct Sum {
    window: (i64, i64),
    rows: Range<u32>,
    jobs: Vec<u32>,
    bars: usize,
    area: i128,
}

impl Sum {
    /// Starts with nothing.
    pub fn new(window: (i64, i64), rows: Range<u32>) -> Sum {
        Sum { window, rows, jobs: Vec::new(), bars: 0, area: 0 }
    }

    /// Adds a bar that overlaps the window.
    pub fn add(&mut self, bar: &Bar) {
        let (from, to) = self.window;
        let length = bar.end.min(to) - bar.start.max(from);
        let end = bar.row.saturating_add(bar.rows).min(self.rows.end);
        let rows = end - bar.row.max(self.rows.start);
        self.area += i128::from(length.max(0)) * i128::from(rows);
        self.bars += 1;
        // Bars of one job often follow each other.
        if self.jobs.last() != Some(&bar.job) {
            self.jobs.push(bar.job);
        }
    }

    /// The sums.
    pub fn finished(mut self) -> AreaSum {
        self.jobs.sort_unstable();
        self.jobs.dedup();
        let (from, to) = self.window;
        let rows = self.rows.end.saturating_sub(self.rows.start);
        let whole = (to - from) as f64 * f64::from(rows);
        AreaSum {
            jobs: self.jobs.len(),
            bars: self.bars,
            processor_seconds: self.area as f64 / 1e6,
            utilisation: (whole > 0.0).then(|| self.area as f64 / whole),
            mean_waiting_time: None,
            numbers: self.jobs,
        }
    }
}
