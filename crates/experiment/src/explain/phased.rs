//! The story of an application of phases: its intervals, and the time between them.

use haggle_results::JobRow;
use haggle_results::reader::IntervalRow;
use serde::Serialize;

use super::spent::{Ledger, Part, micros};
use super::{Chronicle, Story};

/// Phases that it ran on one set of machines. Times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Number of the interval.
    pub interval: i64,
    /// Its first phase.
    pub first: i64,
    /// Its last phase.
    pub last: i64,
    /// The cluster.
    pub cluster: String,
    /// Its machines.
    pub processors: i64,
    /// Kind of its placement: `start`, `stay`, `within` or `between`.
    pub how: String,
    /// Time at which it was sent there.
    pub ordered: f64,
    /// Start of computing.
    pub start: Option<f64>,
    /// End of computing.
    pub end: f64,
    /// Predicted duration of the phases.
    pub predicted: f64,
    /// `done`, `lost` or `open`.
    pub outcome: String,
}

/// Completes the story: the application waits for its level and for machines, moves, and computes.
pub(super) fn tell(mut story: Story, all: &Chronicle, job: &JobRow) -> Story {
    let mut ledger = Ledger::new(job);
    let mut rows = Vec::from_iter(all.intervals.iter().filter(|it| it.job == job.job));
    rows.sort_by_key(|it| it.interval);
    ledger.until(job.ready.map_or(0, micros), Part::NotReady);
    for it in &rows {
        ledger.until(micros(it.ordered), Part::Busy);
        // Without a start of computing, all of the interval was the move.
        ledger.until(micros(it.start.unwrap_or(it.end)), Part::Transfers);
        let part = if it.outcome == "lost" { Part::Lost } else { Part::Computing };
        ledger.until(micros(it.end), part);
    }
    // Behind the last interval, it waits for machines again.
    ledger.until(micros(job.left), Part::Busy);
    story.intervals = rows.into_iter().map(interval).collect();
    story.sizes = all.resources.iter().map(|it| (it.provider.clone(), it.processors)).collect();
    story.parts = ledger.spent();
    story
}

fn interval(row: &IntervalRow) -> Interval {
    Interval {
        interval: row.interval,
        first: row.first,
        last: row.last,
        cluster: row.provider.clone(),
        processors: row.processors,
        how: row.how.clone(),
        ordered: row.ordered,
        start: row.start,
        end: row.end,
        predicted: row.predicted,
        outcome: row.outcome.clone(),
    }
}
