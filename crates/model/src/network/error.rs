//! Reasons why a network cannot be built.

use crate::Span;
use crate::law::LawError;

/// Reason why a network cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// A capacity or rate is out of range.
    #[error("{what}: {rate} bit/s, expected a finite number above 0")]
    Rate {
        /// The link or network concerned.
        what: String,
        /// The given value.
        rate: f64,
    },
    /// A latency is negative.
    #[error("{what}: latency is {latency} s, expected at least 0")]
    Latency {
        /// The link or network concerned.
        what: String,
        /// The given value.
        latency: Span,
    },
    /// The law of latencies between sites is invalid.
    #[error("latency between sites: {0}")]
    Law(#[from] LawError),
    /// A route names a link that does not exist.
    #[error("there is no link {link}, only 0 to {last}", last = links.saturating_sub(1))]
    NoLink {
        /// The given value.
        link: usize,
        /// Number of links.
        links: usize,
    },
}
