//! How long a message takes from one actor to another.

use std::collections::BTreeMap;

use haggle_model::random::Stream;
use haggle_model::{ActorId, Span, Time};
use rand::RngExt;

/// Latencies between sites; actors of one site talk without delay.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// One-way latency between actors of different sites.
    default_latency: Span,
    /// The site of each actor; an actor not listed is a site of its own.
    sites: Vec<u32>,
    /// Exceptions, by pair of sites, smaller number first.
    links: BTreeMap<(u32, u32), Span>,
    jitter: Option<Jitter>,
}

/// What is added to latencies, uniformly distributed from nothing to `longest`.
#[derive(Clone, Debug)]
struct Jitter {
    longest: Span,
    /// One a sender, so that what one says does not delay others.
    streams: Vec<Stream>,
    /// When the last message from one to another arrives.
    last: BTreeMap<(ActorId, ActorId), Time>,
}

impl Network {
    /// A network with one latency between all `sites`, given by actor.
    pub fn new(default_latency: Span, sites: Vec<u32>) -> Network {
        Network { default_latency, sites, links: BTreeMap::new(), jitter: None }
    }

    /// Makes every message between sites take up to `longest` more; `streams`
    /// are those of the actors. What one actor tells another stays in order, as
    /// on a connection; what it tells a third may be there before.
    pub fn jitter(&mut self, longest: Span, streams: Vec<Stream>) {
        let jitter = Jitter { longest, streams, last: BTreeMap::new() };
        self.jitter = (longest > Span::ZERO).then_some(jitter);
    }

    /// Sets the latency between two sites, both ways.
    pub fn link(&mut self, a: u32, b: u32, latency: Span) {
        self.links.insert((a.min(b), a.max(b)), latency);
    }

    /// When a message that `from` sends to `to` now arrives.
    pub fn arrival(&mut self, now: Time, from: ActorId, to: ActorId) -> Time {
        if self.default_latency == Span::ZERO && self.links.is_empty() && self.jitter.is_none() {
            return now;
        }
        let latency = match (self.sites.get(from.index()), self.sites.get(to.index())) {
            (Some(a), Some(b)) if a == b => return now,
            (Some(&a), Some(&b)) => {
                self.links.get(&(a.min(b), a.max(b))).copied().unwrap_or(self.default_latency)
            }
            _ => self.default_latency,
        };
        let Some(Jitter { longest, streams, last }) = &mut self.jitter else {
            return now + latency;
        };
        let more = streams[from.index()].random_range(0..=longest.as_micros());
        let last = last.entry((from, to)).or_insert(now);
        *last = (now + latency + Span::from_micros(more)).max(*last);
        *last
    }
}
