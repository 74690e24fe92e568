//! Writes a run as a trace of [Perfetto](https://perfetto.dev), a viewer and query engine for events.
//!
//! ```text
//! RunReader ── attempts, outages, messages ──> tracks, events ── protocol buffers ──> .pftrace
//! ```
//!
//! | track | events |
//! |---|---|
//! | an actor | holds the tracks below |
//! | `jobs`, one track for each job that runs at the same time | an interval for each attempt |
//! | `busy processors`, `waiting jobs` | a counter that changes at starts and ends |
//! | `promises` | an instant for each promised completion, `kept` or `broken` |
//! | `failures` | an interval for each outage that no other one overlaps, one track for each more |
//! | `sent`, `received` | an instant for each message, with an arrow from the sender to the receiver |
//!
//! Times are nanoseconds from the earliest time of the run. Intervals of a track do not overlap, as the format
//! requires.

mod events;
pub mod proto;
mod tracks;

use std::io;

pub use events::{Counts, write};
use haggle_results::ResultsError;

/// Reason why there is no trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The run cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A time is too late for the format.
    #[error("the trace cannot have the time {seconds} s: it ends 292 years after the start")]
    Late {
        /// The time, s.
        seconds: f64,
    },
    /// The trace cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}
