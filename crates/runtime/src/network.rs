//! The fate of a message on its way from one actor to another: its time of arrival, or its loss.

mod channel;
mod crashes;
mod drawn;
mod partition;
mod recorded;
mod reliable;

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::random::Stream;
use haggle_model::{ActorId, MessageFault, Span, Time};
use serde::{Deserialize, Serialize};

use channel::{Chance, Channel, Jitter, Way};
use reliable::Reliable;

pub use crashes::Crashes;
pub use drawn::{Drawn, Measured};
pub use partition::Partition;
pub use recorded::Recorded;

/// The site of an actor that is local to all others. Messages to and from it take no time, are never
/// lost, and wait for a receiver that is down, as messages of an actor to itself do.
pub const EVERYWHERE: u32 = u32::MAX;

/// Latencies between sites, and faults on the way. Messages within a site arrive without delay and are never lost.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Network {
    /// One-way latency between actors of different sites.
    default_latency: Span,
    /// The site of each actor; an actor not listed is a site of its own.
    sites: Vec<u32>,
    /// Exceptions, by pair of sites, smaller number first.
    links: BTreeMap<(u32, u32), Span>,
    /// Variations and faults of messages; `None` = none.
    channel: Option<Box<Channel>>,
}

/// The fate of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives at this time.
    Arrives(Time),
    /// Its receiver is in another part of the world.
    Leaves,
    /// It is hit by a fault.
    Hit(Box<Hit>),
}

/// Faults of a message, and its arrivals in spite of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    /// Times of arrival, in order; none if the message is lost, two if it arrives twice.
    pub arrivals: Vec<Time>,
    /// The faults, each with the number of transmissions that it caused.
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

    /// Lets every message between sites take up to `longest` more, drawn from the `streams` of the
    /// senders. Messages from one actor to another stay in order, as on a connection; messages to
    /// different actors may overtake each other.
    pub fn jitter(&mut self, longest: Span, streams: Vec<Stream>) {
        if longest > Span::ZERO {
            self.channel().jitter = Some(Jitter::new(longest, streams));
        }
    }

    /// Lets messages from one actor to another arrive out of order: each takes its own time, and may
    /// overtake earlier ones. Without jitter, all take the same time.
    pub fn reordering(&mut self) {
        self.channel().reordering = true;
    }

    /// Loses the share `share`, from 0 to 1, of the messages between sites, drawn from the `streams` of the senders.
    pub fn loss(&mut self, share: f64, streams: Vec<Stream>) {
        if share > 0.0 {
            self.channel().loss = Some(Chance::new(share, streams));
        }
    }

    /// Delivers the share `share`, from 0 to 1, of the messages between sites twice, drawn from the
    /// `streams` of the senders. The copy follows immediately after the message. If messages may
    /// overtake, the copy takes its own time, drawn from `copies`.
    pub fn duplication(&mut self, share: f64, streams: Vec<Stream>, copies: Vec<Stream>) {
        if share > 0.0 {
            self.channel().duplication = Some((Chance::new(share, streams), copies));
        }
    }

    /// Separates sites for some time.
    pub fn part(&mut self, partition: Partition) {
        self.channel().partitions.push(partition);
    }

    /// Sends lost messages again until they arrive, first after `timeout`, and drops copies. The fates
    /// of later attempts are drawn from the `seeds` of the senders.
    pub fn reliable(&mut self, timeout: Span, seeds: Vec<Stream>) {
        self.channel().reliable = Some(Reliable::new(timeout, seeds));
    }

    /// Lets actors crash and restart. An actor that is down receives no message, not even from its own site.
    pub fn crashes(&mut self, crashes: Crashes) {
        self.channel().crashes = Some(crashes);
    }

    /// Lets messages arrive at the times at which they arrived in another run.
    pub fn replay(&mut self, recorded: Recorded) {
        self.channel().recorded = Some(recorded);
    }

    /// Lets messages take latencies of another run, from a drawn place on.
    pub fn draw(&mut self, drawn: Drawn) {
        self.channel().drawn = Some(drawn);
    }

    /// Lets messages to actors that are not `here` leave the run.
    pub(crate) fn keep(&mut self, here: BTreeSet<ActorId>) {
        self.channel().here = Some(here);
    }

    /// The crashes, if there are any.
    pub(crate) fn crashes_ref(&self) -> Option<&Crashes> {
        self.channel.as_ref()?.crashes.as_ref()
    }

    /// Takes the crashes out.
    pub(crate) fn take_crashes(&mut self) -> Option<Crashes> {
        self.channel.as_mut()?.crashes.take()
    }

    /// The crashes, mutable.
    pub(crate) fn crashes_mut(&mut self) -> Option<&mut Crashes> {
        self.channel.as_mut()?.crashes.as_mut()
    }

    /// Takes over latencies and faults for messages that are sent from now on. The streams stay unless they are
    /// `reseeded`; the order of messages from one actor to another is kept, and so are the crashes.
    pub(crate) fn change(&mut self, new: Network, reseeded: bool) {
        let Network { default_latency, sites, links, channel } = new;
        (self.default_latency, self.sites, self.links) = (default_latency, sites, links);
        match (&mut self.channel, channel) {
            (Some(channel), new) => channel.change(new.map(|it| *it).unwrap_or_default(), reseeded),
            (none, Some(new)) => *none = Some(Box::new(Channel { crashes: None, ..*new })),
            (None, None) => {}
        }
    }

    /// True if a message between these actors leaves a site, so that it may be lost.
    pub(crate) fn may_lose(&self, from: ActorId, to: ActorId) -> bool {
        let site = |actor: ActorId| self.sites.get(actor.index()).copied();
        from != to
            && match (site(from), site(to)) {
                (Some(a), Some(b)) => a != b && a != EVERYWHERE && b != EVERYWHERE,
                (Some(EVERYWHERE), None) | (None, Some(EVERYWHERE)) => false,
                _ => true,
            }
    }

    /// True if messages from one actor to another stay in order.
    pub(crate) fn keeps_order(&self) -> bool {
        self.channel.as_ref().is_none_or(|channel| !channel.reordering)
    }

    /// Drops losses, copies and crashes, which a search of histories decides about itself. Jitter, partitions and
    /// repeated transmissions stay.
    pub fn decide_faults(&mut self) {
        if let Some(channel) = &mut self.channel {
            (channel.loss, channel.duplication, channel.crashes) = (None, None, None);
        }
    }

    fn channel(&mut self) -> &mut Channel {
        self.channel.get_or_insert_default()
    }

    /// The fate of a message that `from` sends to `to` now.
    #[inline]
    pub fn fate(&mut self, now: Time, from: ActorId, to: ActorId) -> Fate {
        // Most networks have no latency, and then no site need be looked up.
        if self.default_latency == Span::ZERO && self.links.is_empty() && self.channel.is_none() {
            return Fate::Arrives(now);
        }
        self.fate_between(now, from, to)
    }

    /// The fate of a message where it depends on sender and receiver.
    fn fate_between(&mut self, now: Time, from: ActorId, to: ActorId) -> Fate {
        let decided = self.channel.as_mut().and_then(|channel| channel.decided(now, from, to));
        if let Some(fate) = decided {
            return fate;
        }
        let site = |actor: ActorId| self.sites.get(actor.index()).copied();
        let sites = site(from).zip(site(to));
        // Checked before all faults, so that no message from or to such an actor is ever lost.
        if sites.is_some_and(|(a, b)| a == EVERYWHERE || b == EVERYWHERE) {
            return Fate::Arrives(now);
        }
        let latency = match sites {
            Some((a, b)) if a == b => Span::ZERO,
            Some((a, b)) => {
                self.links.get(&(a.min(b), a.max(b))).copied().unwrap_or(self.default_latency)
            }
            // An actor without a site is on one of its own.
            None => self.default_latency,
        };
        let is_near = sites.is_some_and(|(a, b)| a == b);
        match &mut self.channel {
            // Within a site, only a crash of the receiver can lose a message.
            Some(channel) if !is_near || channel.crashes.is_some() => {
                channel.fate(now, Way { from, to, latency, sites })
            }
            _ => Fate::Arrives(now + latency),
        }
    }
}
