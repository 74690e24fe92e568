//! Why a network cannot be built.

use crate::Span;
use crate::workload::LawError;

/// Why a network cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// A capacity or rate is out of range.
    #[error("{what}: {rate} bit/s, expected a finite number above 0")]
    Rate {
        /// What has it.
        what: String,
        /// What was given.
        rate: f64,
    },
    /// A latency is negative.
    #[error("{what}: latency is {latency} s, expected at least 0")]
    Latency {
        /// What has it.
        what: String,
        /// What was given.
        latency: Span,
    },
    /// The latencies between sites follow no law.
    #[error("latency between sites: {0}")]
    Law(#[from] LawError),
    /// A route names a link that does not exist.
    #[error("there is no link {link}, only 0 to {last}", last = links.saturating_sub(1))]
    NoLink {
        /// What was given.
        link: usize,
        /// How many links there are.
        links: usize,
    },
}
