//! How long a message takes from one actor to another.

use std::collections::BTreeMap;

use haggle_model::{ActorId, Span};

/// Latencies between sites; actors of one site talk without delay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// One-way latency between actors of different sites.
    default_latency: Span,
    /// The site of each actor; an actor not listed is a site of its own.
    sites: Vec<u32>,
    /// Exceptions, by pair of sites, smaller number first.
    links: BTreeMap<(u32, u32), Span>,
}

impl Network {
    /// A network with one latency between all `sites`, given by actor.
    pub fn new(default_latency: Span, sites: Vec<u32>) -> Network {
        Network { default_latency, sites, links: BTreeMap::new() }
    }

    /// Sets the latency between two sites, both ways.
    pub fn link(&mut self, a: u32, b: u32, latency: Span) {
        self.links.insert((a.min(b), a.max(b)), latency);
    }

    /// How long a message from `from` to `to` is on its way.
    pub fn latency(&self, from: ActorId, to: ActorId) -> Span {
        if self.default_latency == Span::ZERO && self.links.is_empty() {
            return Span::ZERO;
        }
        match (self.sites.get(from.index()), self.sites.get(to.index())) {
            (Some(a), Some(b)) if a == b => Span::ZERO,
            (Some(&a), Some(&b)) => {
                self.links.get(&(a.min(b), a.max(b))).copied().unwrap_or(self.default_latency)
            }
            _ => self.default_latency,
        }
    }
}
