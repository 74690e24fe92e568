//! Links, and a network of them.

use serde::{Deserialize, Serialize};

use super::error::NetworkError;
use super::path::Path;
use crate::Span;

/// A link of a network: its place in the list of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LinkId(pub usize);

/// A link between two places.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// How much it carries.
    pub capacity: Capacity,
    /// How long the first bit is under way.
    pub latency: Span,
}

/// How much a link carries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Capacity {
    /// So many bit/s, shared by the flows on it: a local link.
    Shared(#[serde(with = "crate::exact")] f64),
    /// So many bit/s for every flow, however many there are: a wide-area link, which
    /// carries much other traffic, so that each flow gets an equal small piece.
    PerFlow(#[serde(with = "crate::exact")] f64),
    /// As much as comes.
    Unlimited,
}

/// Links that were checked.
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
