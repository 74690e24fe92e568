//! Links, and a network of them.

use serde::{Deserialize, Serialize};

use super::error::NetworkError;
use super::path::Path;
use crate::Span;

/// A link of a network: its index in the list of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LinkId(pub usize);

/// A link between two places.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Capacity of the link.
    pub capacity: Capacity,
    /// Travel time of the first bit.
    pub latency: Span,
}

/// Capacity of a link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Capacity {
    /// Bit/s that the flows on the link share: a local link.
    Shared(#[serde(with = "crate::exact")] f64),
    /// Bit/s for every flow, for any number of flows: a wide-area link. It carries much other traffic,
    /// so each flow gets an equal small part.
    PerFlow(#[serde(with = "crate::exact")] f64),
    /// No limit.
    Unlimited,
}

/// Links that have been checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    links: Vec<Link>,
}

impl Network {
    /// A network of these links.
    pub fn new(links: Vec<Link>) -> Result<Network, NetworkError> {
        for (index, link) in links.iter().enumerate() {
            let what = || format!("link {index}");
            match link.capacity {
                Capacity::Shared(rate) | Capacity::PerFlow(rate) => check_rate(what, rate)?,
                Capacity::Unlimited => {}
            }
            check_latency(what, link.latency)?;
        }
        Ok(Network { links })
    }

    /// The links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The path over the links of a route, from one end to the other; a route
    /// without links stays at one node. A link that is named twice counts once
    /// when it is shared, and twice for the latency.
    pub fn path(&self, route: &[LinkId]) -> Result<Path, NetworkError> {
        let mut path = Path::local();
        for &id in route {
            let links = self.links.len();
            let link = self.links.get(id.0).ok_or(NetworkError::NoLink { link: id.0, links })?;
            path.extend(id, link);
        }
        Ok(path)
    }
}

pub(super) fn check_rate(what: impl Fn() -> String, rate: f64) -> Result<(), NetworkError> {
    if rate > 0.0 && rate.is_finite() {
        return Ok(());
    }
    Err(NetworkError::Rate { what: what(), rate })
}

pub(super) fn check_latency(what: impl Fn() -> String, latency: Span) -> Result<(), NetworkError> {
    if latency >= Span::ZERO && !latency.is_forever() {
        return Ok(());
    }
    Err(NetworkError::Latency { what: what(), latency })
}
