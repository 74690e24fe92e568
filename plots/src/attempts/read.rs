//! Reads checkpoints and outages from the folder of a grid's run.

use std::collections::BTreeMap;

use haggle_results::reader::OutageRow;

use super::{CheckpointMark, Outage};
use crate::error::PlotError;
use crate::load::{Part, Tables, outages_of};

/// The checkpoints of each attempt, in order, each with the work it saved, MI.
pub(crate) type Saved = BTreeMap<(i64, i64), Vec<(CheckpointMark, f64)>>;

pub(crate) fn checkpoints(run: &Tables) -> Result<Saved, PlotError> {
    let mut saved = Saved::new();
    for row in run.checkpoints()? {
        let mark = CheckpointMark {
            requested: row.requested,
            written: row.written,
            available: row.available,
        };
        saved.entry((row.job, row.attempt)).or_default().push((mark, row.work_saved));
    }
    Ok(saved)
}

/// The outages of a resource in the part that is drawn.
pub(crate) fn outages(rows: &[OutageRow], name: &str, part: &Part) -> Vec<Outage> {
    let outage = |row: &OutageRow| Outage { from: row.failed, until: row.restored };
    outages_of(rows, name, part).map(outage).collect()
}
