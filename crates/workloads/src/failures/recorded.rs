//! Recorded failures of real machines, as outages per node.
//!
//! Three formats are read, plain or packed with gzip or zstd:
//!
//! - the event table of the Failure Trace Archive (Kondo et al. 2010),
//! - the records that Los Alamos National Laboratory published as LA-UR-05-7318,
//! - a plain table of failures.
//!
//! The table `event_trace` of a set of the Failure Trace Archive has one event a
//! line, nine fields between tabs, comments behind `#`. An event of type 0 means that
//! the node was down from its start to its stop, one of type 1 that it was up. Times
//! are seconds since 1970-01-01 UTC. Nodes are distinguished by platform and node id,
//! because names collide. Of a name such as `G1/site1/c2/node3`, `site1` becomes the
//! site and `site1/c2` the cluster; of a decimal number `10.003`, the system 10
//! becomes both.
//!
//! The failure records of Los Alamos are comma-separated values under a line of column
//! names, one failure a line. Columns are found by name: `System`, `nodenumz`,
//! `Prob Started` and `Prob Fixed`. The times are minutes on a local clock without
//! zone. They are read as if that clock showed UTC all year. A time zone only moves the
//! whole record. An outage over a change of summer time is an hour too long or too
//! short. The column `Down Time` is not read. The system becomes site and cluster.
//! Records without a node number are taken as those of one more node of their system.
//!
//! A plain table has comma-separated values under a line of column names, one failure
//! a line: `node`, `start` and `end`. Times are seconds, or dates of ISO 8601.
//!
//! ```text
//! file -> lines -> events -> Recording: nodes with their outages
//!                              | choose nodes
//!                              v
//!                            RecordedNode -> outages within a window -> Cause::List
//! ```
//!
//! A file is read line by line; memory holds the outages only. A node is down while at least one event
//! records it as down. Outages that overlap or touch are merged. A failure whose end is its start
//! counts: the node was back within the resolution of the record. Time without a record of a node
//! counts as up.

mod choice;
mod clock;
mod columns;
mod csv;
mod error;
mod fta;
mod lanl;
mod other;
mod reader;

use std::path::Path;
use std::sync::Arc;

pub use choice::{ChoiceError, NodeChoice};
pub use error::{TraceError, TraceProblem};
pub use reader::parse_bytes;

use super::outage::OutageList;
use crate::swf::{Malformed, SkippedLines};
use haggle_model::{Span, Time};

haggle_model::words! {
    /// Format of recorded failures.
    pub enum RecordFormat {
        /// Event table of the Failure Trace Archive (event_trace.tab).
        Fta = "fta",
        /// Comma-separated records that Los Alamos National Laboratory published (LA-UR-05-7318).
        Lanl = "lanl",
        /// Comma-separated values with the columns node, start and end; times are seconds or dates.
        Csv = "csv",
    }
}

/// Recorded outages of many nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Name of the file in messages.
    pub file: Arc<str>,
    /// The format of the file.
    pub format: RecordFormat,
    /// The nodes, in the order in which the file names them first.
    pub nodes: Vec<RecordedNode>,
    /// Malformed lines that were skipped.
    pub skipped: SkippedLines,
}

/// Record of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedNode {
    /// Its name; not always unique.
    pub name: String,
    /// Its site; empty if the record has none.
    pub site: String,
    /// Its cluster within the site; empty if the record has none.
    pub cluster: String,
    /// Start of the time in which it was observed, since 1970-01-01.
    pub from: Time,
    /// End of that time.
    pub until: Time,
    /// Times in which it was down, since 1970-01-01.
    pub outages: OutageList,
}

impl Recording {
    /// Reads the file at `path`, or standard input for `-`. Without a given format, the first line determines it.
    pub fn open(
        path: &Path,
        format: impl Into<Option<RecordFormat>>,
        malformed: Malformed,
    ) -> Result<Recording, TraceError> {
        reader::open(path, format.into(), malformed)
    }

    /// Start of the observation of the first node, since 1970-01-01.
    pub fn from(&self) -> Time {
        self.nodes.iter().map(|node| node.from).min().unwrap_or(Time::ZERO)
    }

    /// End of the observation of the last node, since 1970-01-01.
    pub fn until(&self) -> Time {
        self.nodes.iter().map(|node| node.until).max().unwrap_or(Time::ZERO)
    }

    /// The part of all observed time in which nodes were up, from 0 to 1. A node that was observed for
    /// longer weighs more. 1 if no node was observed.
    pub fn availability(&self) -> f64 {
        // Sums in 128 bits, because those of a few nodes over tens of thousands of years do not fit 64 bits.
        let micros = |span: Span| i128::from(span.as_micros());
        let observed: i128 = self.nodes.iter().map(|node| micros(node.until - node.from)).sum();
        let down: i128 = self.nodes.iter().map(|node| micros(node.down())).sum();
        if observed == 0 { 1.0 } else { (observed - down) as f64 / observed as f64 }
    }
}

impl RecordedNode {
    /// Total time for which it was down.
    pub fn down(&self) -> Span {
        self.outages.as_slice().iter().map(|outage| outage.restore - outage.fail).sum()
    }
}
