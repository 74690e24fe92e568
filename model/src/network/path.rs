//! What a transfer needs to know of its route.

use serde::{Deserialize, Serialize};

use super::error::NetworkError;
use super::link::{Capacity, Link, LinkId, check_latency, check_rate};
use crate::Span;

/// The latency of a route that has none, when flows share a link by their latencies.
const LATENCY_MIN_SECS: f64 = 1e-9;

/// A route as a flow sees it: its latency, what bounds its rate whatever other flows
/// do, and the links it shares with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Path {
    latency: Span,
    /// Highest rate, bit/s; infinite if only the shared links bound it.
    #[serde(with = "crate::exact")]
    rate_max: f64,
    shared: Vec<LinkId>,
    /// From a node to itself.
    local: bool,
}

impl Path {
    /// From a node to itself: data are there at once.
    pub const fn local() -> Path {
        Path { latency: Span::ZERO, rate_max: f64::INFINITY, shared: Vec::new(), local: true }
    }

    /// A path of its own for every transfer: always `rate` bit/s after `latency`.
    pub fn constant(rate: f64, latency: Span) -> Result<Path, NetworkError> {
        check_rate(|| "constant network".to_owned(), rate)?;
        check_latency(|| "constant network".to_owned(), latency)?;
        Ok(Path { latency, rate_max: rate, shared: Vec::new(), local: false })
    }

    /// Latency of the whole route, paid once.
    pub const fn latency(&self) -> Span {
        self.latency
    }

    /// Whether a transfer over it takes no time, whatever its size.
    pub const fn is_local(&self) -> bool {
        self.local
    }

    /// The links whose capacity it shares with other flows, each once.
    pub fn shared(&self) -> &[LinkId] {
        &self.shared
    }

    /// Highest rate, bit/s, whatever other flows do; may be infinite.
    pub(super) const fn rate_max(&self) -> f64 {
        self.rate_max
    }

    /// What a flow weighs where it shares a link: 1 / φ with the round-trip time
    /// φ = κ Σ latency. The constant κ is the same for all flows, so it is left out.
    pub(super) fn weight(&self) -> f64 {
        1.0 / self.latency.as_secs_f64().max(LATENCY_MIN_SECS)
    }

    /// The same with another latency of the whole route.
    pub(super) fn taking(self, latency: Span) -> Path {
        Path { latency, ..self }
    }

    pub(super) fn extend(&mut self, id: LinkId, link: &Link) {
        self.local = false;
        self.latency = (self.latency + link.latency).min(Span::FOREVER);
        match link.capacity {
            Capacity::Shared(_) if self.shared.contains(&id) => {}
            Capacity::Shared(_) => self.shared.push(id),
            Capacity::PerFlow(rate) => self.rate_max = self.rate_max.min(rate),
            Capacity::Unlimited => {}
        }
    }
}
