//! What becomes of a message on its way from one actor to another: when it arrives, and whether.

mod channel;
mod partition;

use std::collections::BTreeMap;

use haggle_model::random::Stream;
use haggle_model::{ActorId, Span, Time};

use channel::{Chance, Channel, Jitter};

pub use partition::Partition;

/// Latencies between sites, and what goes wrong there; actors of one site talk without delay,
/// and nothing they say is lost.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// One-way latency between actors of different sites.
    default_latency: Span,
    /// The site of each actor; an actor not listed is a site of its own.
    sites: Vec<u32>,
    /// Exceptions, by pair of sites, smaller number first.
    links: BTreeMap<(u32, u32), Span>,
    /// What is not the same for every message; `None` = nothing.
    channel: Option<Box<Channel>>,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives then.
    Arrives(Time),
    /// It arrives then, and once more, in the order of the two times.
    Twice(Time, Time),
    /// It never arrives.
    Lost,
    /// It never arrives, since sender and receiver were parted.
    Parted,
}

impl Network {
    /// A network with one latency between all `sites`, given by actor.
    pub fn new(default_latency: Span, sites: Vec<u32>) -> Network {
        Network { default_latency, sites, links: BTreeMap::new(), channel: None }
    }

    /// Sets the latency between two sites, both ways.
    pub fn link(&mut self, a: u32, b: u32, latency: Span) {
        self.links.insert((a.min(b), a.max(b)), latency);
    }

    /// Makes every message between sites take up to `longest` more; `streams`
    /// are those of the actors. What one actor tells another stays in order, as
    /// on a connection; what it tells a third may be there before.
    pub fn jitter(&mut self, longest: Span, streams: Vec<Stream>) {
        if longest > Span::ZERO {
            self.channel().jitter = Some(Jitter::new(longest, streams));
        }
    }

    /// Lets what one actor tells another arrive as it comes: each message takes its own time, and
    /// may overtake those that were sent before it. Without jitter all take the same.
    pub fn reordering(&mut self) {
        self.channel().reordering = true;
    }

    /// Loses so large a share, from 0 to 1, of the messages between sites, drawn from `streams` of the senders.
    pub fn loss(&mut self, share: f64, streams: Vec<Stream>) {
        if share > 0.0 {
            self.channel().loss = Some(Chance::new(share, streams));
        }
    }

    /// Delivers so large a share, from 0 to 1, of the messages between sites twice, drawn from `streams` of the
    /// senders. The copy follows right behind the message; where messages may overtake, it takes
    /// its own time, drawn from `copies`.
    pub fn duplication(&mut self, share: f64, streams: Vec<Stream>, copies: Vec<Stream>) {
        if share > 0.0 {
            self.channel().duplication = Some((Chance::new(share, streams), copies));
        }
    }

    /// Parts sites for a while.
    pub fn part(&mut self, partition: Partition) {
        self.channel().partitions.push(partition);
    }

    fn channel(&mut self) -> &mut Channel {
        self.channel.get_or_insert_default()
    }

    /// What becomes of a message that `from` sends to `to` now.
    pub fn fate(&mut self, now: Time, from: ActorId, to: ActorId) -> Fate {
        if self.default_latency == Span::ZERO && self.links.is_empty() && self.channel.is_none() {
            return Fate::Arrives(now);
        }
        let site = |actor: ActorId| self.sites.get(actor.index()).copied();
        let sites = site(from).zip(site(to));
        let latency = match sites {
            Some((a, b)) if a == b => return Fate::Arrives(now),
            Some((a, b)) => {
                self.links.get(&(a.min(b), a.max(b))).copied().unwrap_or(self.default_latency)
            }
            None => self.default_latency,
        };
        match &mut self.channel {
            Some(channel) => channel.fate(now, latency, (from, to), sites),
            None => Fate::Arrives(now + latency),
        }
    }
}
