//! What becomes of a message on its way from one actor to another: when it arrives, and whether.

mod channel;
mod crashes;
mod partition;
mod reliable;

use std::collections::BTreeMap;

use haggle_model::random::Stream;
use haggle_model::{ActorId, MessageFault, Span, Time};

use channel::{Chance, Channel, Jitter, Way};
use reliable::Reliable;

pub use crashes::Crashes;
pub use partition::Partition;

/// The site of an actor that is beside everybody. What is said to it and by it takes no time, is never lost, and waits
/// for who is down, as what one says to oneself.
pub const EVERYWHERE: u32 = u32::MAX;

/// Latencies between sites, and what goes wrong there; actors of one site talk without delay,
/// and nothing they say is lost.
#[derive(Debug, Default)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives then.
    Arrives(Time),
    /// Something goes wrong.
    Hit(Box<Hit>),
}

/// What goes wrong with a message, and when it arrives all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    /// In order; none if it is lost, two if it arrives twice.
    pub arrivals: Vec<Time>,
    /// Each with how often it was sent again because of that.
    pub faults: Vec<(MessageFault, u64)>,
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

    /// Sends again what is lost, after `timeout` at first, until it arrives, and drops copies. What happens to
    /// the attempts behind the first is drawn from `seeds` of the senders.
    pub fn reliable(&mut self, timeout: Span, seeds: Vec<Stream>) {
        self.channel().reliable = Some(Reliable::new(timeout, seeds));
    }

    /// Lets actors crash and restart: one that is down hears nothing, not even from where it is.
    pub fn crashes(&mut self, crashes: Crashes) {
        self.channel().crashes = Some(crashes);
    }

    /// The crashes, if there can be any.
    pub(crate) fn crashes_ref(&self) -> Option<&Crashes> {
        self.channel.as_ref()?.crashes.as_ref()
    }

    /// The crashes, to be taken.
    pub(crate) fn crashes_mut(&mut self) -> Option<&mut Crashes> {
        self.channel.as_mut()?.crashes.as_mut()
    }

    fn channel(&mut self) -> &mut Channel {
        self.channel.get_or_insert_default()
    }

    /// What becomes of a message that `from` sends to `to` now.
    #[inline]
    pub fn fate(&mut self, now: Time, from: ActorId, to: ActorId) -> Fate {
        if self.default_latency == Span::ZERO && self.links.is_empty() && self.channel.is_none() {
            return Fate::Arrives(now);
        }
        self.fate_between(now, from, to)
    }

    /// What becomes of a message where it makes a difference who tells whom.
    fn fate_between(&mut self, now: Time, from: ActorId, to: ActorId) -> Fate {
        let site = |actor: ActorId| self.sites.get(actor.index()).copied();
        let sites = site(from).zip(site(to));
        if sites.is_some_and(|(a, b)| a == EVERYWHERE || b == EVERYWHERE) {
            return Fate::Arrives(now);
        }
        let latency = match sites {
            Some((a, b)) if a == b => Span::ZERO,
            Some((a, b)) => {
                self.links.get(&(a.min(b), a.max(b))).copied().unwrap_or(self.default_latency)
            }
            None => self.default_latency,
        };
        let is_near = sites.is_some_and(|(a, b)| a == b);
        match &mut self.channel {
            Some(channel) if !is_near || channel.crashes.is_some() => {
                channel.fate(now, Way { from, to, latency, sites })
            }
            _ => Fate::Arrives(now + latency),
        }
    }
}
