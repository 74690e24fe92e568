//! The properties of a route that a transfer needs.

use serde::{Deserialize, Serialize};

use super::error::NetworkError;
use super::link::{Capacity, Link, LinkId, check_latency, check_rate};
use crate::Span;

/// Latency assumed for a route without any when flows share a link by their latencies.
const LATENCY_MIN_SECS: f64 = 1e-9;

/// A route as a flow sees it: its latency, the bound of its rate that does not depend on other flows,
/// and the links that it shares with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Path {
    latency: Span,
    /// Highest rate, bit/s; infinite if only the shared links bound it.
    #[serde(with = "crate::exact")]
    rate_max: f64,
    shared: Vec<LinkId>,
    /// True for the path from a node to itself.
    local: bool,
}

impl Path {
    /// The path from a node to itself: data arrive at once.
    pub const fn local() -> Path {
        Path { latency: Span::ZERO, rate_max: f64::INFINITY, shared: Vec::new(), local: true }
    }

    /// An unshared path for every transfer: always `rate` bit/s after `latency`.
    pub fn constant(rate: f64, latency: Span) -> Result<Path, NetworkError> {
        check_rate(|| "constant network".to_owned(), rate)?;
        check_latency(|| "constant network".to_owned(), latency)?;
        Ok(Path { latency, rate_max: rate, shared: Vec::new(), local: false })
    }

    /// Latency of the whole route, paid once.
    pub const fn latency(&self) -> Span {
        self.latency
    }

    /// True if a transfer of any size over it takes no time.
    pub const fn is_local(&self) -> bool {
        self.local
    }

    /// The links whose capacity it shares with other flows, each once.
    pub fn shared(&self) -> &[LinkId] {
        &self.shared
    }

    /// Highest rate, bit/s, without other flows; may be infinite.
    pub(super) const fn rate_max(&self) -> f64 {
        self.rate_max
    }

    /// Weight of a flow where it shares a link: 1 / φ with the round-trip time φ = κ Σ latency. The
    /// constant κ is the same for all flows, so it is left out.
    pub(super) fn weight(&self) -> f64 {
        1.0 / self.latency.as_secs_f64().max(LATENCY_MIN_SECS)
    }

    /// The same path with another latency of the whole route.
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
