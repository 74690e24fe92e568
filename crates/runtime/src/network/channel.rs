//! Properties that differ from message to message: travel time, loss and duplication.
//!
//! Each fault has streams of its own, one for each sender, and draws for every message between sites,
//! whatever the fate of the message. Turning one fault on therefore does not change another, and
//! unaffected messages arrive at the same times. Repeated transmissions draw from a generator of the
//! message's own.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::random::Stream;
use haggle_model::{ActorId, MessageFault, Span, Time};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::drawn::Drawn;
use super::recorded::Recorded;
use super::reliable::{Attempts, Reliable};
use super::{Crashes, Fate, Hit, Partition};

/// A channel between sites.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Channel {
    pub(super) jitter: Option<Jitter>,
    /// True if messages from one actor to another may overtake each other.
    pub(super) reordering: bool,
    pub(super) loss: Option<Chance>,
    /// Chance of duplication, and the streams for the travel times of copies.
    pub(super) duplication: Option<(Chance, Vec<Stream>)>,
    pub(super) partitions: Vec<Partition>,
    pub(super) reliable: Option<Reliable>,
    pub(super) crashes: Option<Crashes>,
    /// Arrival of the last message from one actor to another.
    pub(super) last: BTreeMap<(ActorId, ActorId), Time>,
    /// The actors that are here; messages to all others leave. `None` = all are.
    pub(super) here: Option<BTreeSet<ActorId>>,
    /// Arrivals of the messages of another run. `None` = messages take the times of this network.
    pub(super) recorded: Option<Recorded>,
    /// Latencies of another run. `None` = messages take those of this network.
    pub(super) drawn: Option<Drawn>,
}

/// Sender and receiver of a message, with their sites.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) from: ActorId,
    pub(super) to: ActorId,
    /// Least travel time.
    pub(super) latency: Span,
    /// Sites of sender and receiver, if they are known.
    pub(super) sites: Option<(u32, u32)>,
}

/// Addition to latencies, uniformly distributed from zero to `longest`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Jitter {
    longest: Span,
    /// One for each sender, so that messages of one sender do not change delays of others.
    streams: Vec<Stream>,
}

/// A fault that hits a share of all messages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Chance {
    share: f64,
    /// One for each sender.
    streams: Vec<Stream>,
}

/// Draws for one attempt to send a message.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    /// Travel time.
    takes: Span,
    is_lost: bool,
    /// Travel time of the copy, if there is one.
    copy: Option<Span>,
}

impl Way {
    /// True if sender and receiver are on different sites.
    fn is_far(&self) -> bool {
        self.sites.is_none_or(|(a, b)| a != b)
    }
}

impl Channel {
    /// Takes over the faults, with their streams only if they are `reseeded` or new here.
    pub(super) fn change(&mut self, new: Channel, reseeded: bool) {
        let Channel { jitter, reordering, loss, duplication, partitions, reliable, .. } = new;
        self.reordering = reordering;
        self.partitions = partitions;
        let keep = !reseeded;
        self.jitter = match (self.jitter.take().filter(|_| keep), jitter) {
            (Some(old), Some(new)) => Some(Jitter { longest: new.longest, ..old }),
            (_, new) => new,
        };
        self.loss = match (self.loss.take().filter(|_| keep), loss) {
            (Some(old), Some(new)) => Some(Chance { share: new.share, ..old }),
            (_, new) => new,
        };
        self.duplication = match (self.duplication.take().filter(|_| keep), duplication) {
            (Some((old, copies)), Some((new, _))) => {
                Some((Chance { share: new.share, ..old }, copies))
            }
            (_, new) => new,
        };
        // The transport itself cannot change, so its time-out and seeds need not either.
        if reseeded {
            self.reliable = reliable;
        }
    }

    /// The fate of a message that another part or another run decides; `None` if this network does.
    pub(super) fn decided(&mut self, now: Time, from: ActorId, to: ActorId) -> Option<Fate> {
        if self.here.as_ref().is_some_and(|here| !here.contains(&to)) {
            return Some(Fate::Leaves);
        }
        if let Some(recorded) = &mut self.recorded {
            return recorded.fate(now, from, to);
        }
        let arrival = self.drawn.as_mut()?.arrival(now, from, to, self.crashes.as_mut());
        arrival.map(Fate::Arrives)
    }

    /// The fate of a message that is sent now.
    pub(super) fn fate(&mut self, now: Time, way: Way) -> Fate {
        let attempt = match way.is_far() {
            true => self.first(&way),
            // Within a site, a message arrives at once unless its receiver is down.
            false => Attempt { takes: Span::ZERO, is_lost: false, copy: None },
        };
        // Taken out for the call, which borrows the whole channel.
        match self.reliable.take() {
            None => self.datagram(now, &way, attempt),
            Some(mut reliable) => {
                let fate = self.until_it_arrives(now, &way, attempt, &mut reliable);
                self.reliable = Some(reliable);
                fate
            }
        }
    }

    /// Draws for the first attempt to send the next message.
    fn first(&mut self, way: &Way) -> Attempt {
        let from = way.from.index();
        // Drawn in any case: each message uses one draw of each fault, whatever its fate.
        let takes = way.latency + self.jitter.as_mut().map_or(Span::ZERO, |it| it.next(from));
        let is_lost = self.loss.as_mut().is_some_and(|loss| loss.strikes(from));
        Attempt { takes, is_lost, copy: self.copy(way, takes) }
    }

    /// Travel time of the copy of a message with travel time `takes`; `None` without a copy.
    fn copy(&mut self, way: &Way, takes: Span) -> Option<Span> {
        let (chance, copies) = self.duplication.as_mut()?;
        if !chance.strikes(way.from.index()) {
            return None;
        }
        match &self.jitter {
            // Without reordering the copy follows at once, so it needs no time of its own.
            Some(jitter) if self.reordering => {
                Some(way.latency + draw(&mut copies[way.from.index()], jitter.longest))
            }
            _ => Some(takes),
        }
    }

    /// A message that is sent once. A lost message still counts for the order of later ones.
    fn datagram(&mut self, now: Time, way: &Way, attempt: Attempt) -> Fate {
        // Within a site, a message waits until its receiver restarts.
        let down = self.crashes.as_mut().filter(|_| !way.is_far());
        if let Some(restore) = down.and_then(|crashes| crashes.at(way.to, now)) {
            return Fate::Arrives(self.in_order(way, restore));
        }
        let arrival = match self.jitter {
            Some(_) => self.in_order(way, now + attempt.takes),
            // Equal travel times keep messages in order.
            None => now + attempt.takes,
        };
        // After `in_order`, because a lost message still holds up later ones.
        if let Some(fault) = self.fault(now, arrival, way, attempt.is_lost) {
            return hit(Vec::new(), vec![(fault, 0)]);
        }
        let Some(copy) = attempt.copy else { return Fate::Arrives(arrival) };
        let copy = if self.reordering { now + copy } else { arrival };
        let arrivals = vec![arrival.min(copy), arrival.max(copy)];
        hit(arrivals, vec![(MessageFault::Doubled, 0)])
    }

    /// A message that is sent until it arrives.
    fn until_it_arrives(
        &mut self,
        now: Time,
        way: &Way,
        mut attempt: Attempt,
        reliable: &mut Reliable,
    ) -> Fate {
        // Every message between sites takes its seed, even if its first attempt arrives.
        let mut draws = way.is_far().then(|| reliable.draws(way.from.index()));
        let mut attempts = reliable.attempts(now);
        let mut faults: BTreeMap<MessageFault, u64> = BTreeMap::new();
        let arrival = loop {
            let arrival = attempts.sent + attempt.takes;
            let Some(fault) = self.fault(attempts.sent, arrival, way, attempt.is_lost) else {
                break arrival;
            };
            let until = self.hopeless_until(attempts.sent, way);
            // No attempt can ever arrive, and the loop would not end.
            if until == Time::FOREVER {
                faults.entry(fault).or_default();
                return hit(Vec::new(), faults.into_iter().collect());
            }
            *faults.entry(fault).or_default() +=
                self.go_on(until, way.from, reliable, &mut attempts);
            attempt = draws.as_mut().map_or(attempt, |draws| self.again(way, draws));
        };
        // Copies of repeated transmissions are dropped, as those of the first attempt are.
        let mut first = arrival;
        if let Some(copy) = attempt.copy.map(|copy| attempts.sent + copy) {
            faults.insert(MessageFault::Doubled, 0);
            // The copy may overtake the message, but may also meet a fault of its own.
            if copy < first && self.fault(attempts.sent, copy, way, false).is_none() {
                first = copy;
            }
        }
        let arrival = self.in_order(way, first);
        match faults.is_empty() {
            true => Fate::Arrives(arrival),
            false => hit(vec![arrival], faults.into_iter().collect()),
        }
    }

    /// Draws for the next attempt. The number of draws is the same for all faults.
    fn again(&self, way: &Way, draws: &mut Stream) -> Attempt {
        let (late, lost) = (draws.random::<f64>(), draws.random::<f64>());
        let jitter = self.jitter.as_ref().map_or(Span::ZERO, |it| it.longest.scaled(late));
        let is_lost = self.loss.as_ref().is_some_and(|loss| lost < loss.share);
        Attempt { takes: way.latency + jitter, is_lost, copy: None }
    }

    /// The fault of a message under way from `sent` to `arrival`, if any.
    fn fault(
        &mut self,
        sent: Time,
        arrival: Time,
        way: &Way,
        is_lost: bool,
    ) -> Option<MessageFault> {
        let parts = |it: &Partition| way.sites.is_some_and(|at| it.parts(at, (sent, arrival)));
        if self.partitions.iter().any(parts) {
            // In a fixed order, so that a message with several faults is always counted in the same way.
            return Some(MessageFault::Parted);
        }
        if is_lost {
            return Some(MessageFault::Lost);
        }
        let crashes = self.crashes.as_mut()?;
        crashes.at(way.to, arrival).map(|_| MessageFault::Missed)
    }

    /// Time until which every message sent from now on is lost, at any travel time; `sent` if there is no such time.
    fn hopeless_until(&mut self, sent: Time, way: &Way) -> Time {
        if sent == Time::FOREVER || self.loss.as_ref().is_some_and(|loss| loss.share >= 1.0) {
            return Time::FOREVER;
        }
        let first = sent + way.latency;
        let parted = |it: &Partition| {
            let parts = way.sites.is_some_and(|at| it.parts(at, (sent, first)));
            parts.then_some(it.until())
        };
        let parted = self.partitions.iter().filter_map(parted).max();
        let jitter = self.jitter.as_ref().filter(|_| way.is_far());
        let slowest = way.latency + jitter.map_or(Span::ZERO, |it| it.longest);
        let down = self.crashes.as_mut().and_then(|it| it.at(way.to, first));
        // An attempt that is sent after this may arrive after the restart, if it is slow enough.
        let missed = down.map(|up| if up == Time::FOREVER { up } else { up - slowest });
        parted.into_iter().chain(missed).fold(sent, Time::max)
    }

    /// Proceeds to the next attempt, or past all attempts before `until`. Returns the number of lost
    /// ones. A sender that is down sends nothing, and begins anew after its restart.
    fn go_on(
        &mut self,
        until: Time,
        from: ActorId,
        reliable: &Reliable,
        attempts: &mut Attempts,
    ) -> u64 {
        let sent = attempts.sent;
        let crash = self.crashes.as_mut().and_then(|it| it.between(from, sent, until));
        let lost = attempts.skip_to(crash.map_or(until, |crash| crash.fail));
        // The last step may have passed the crash of the sender, too.
        let crash = self.crashes.as_mut().and_then(|it| it.between(from, sent, attempts.sent));
        if let Some(crash) = crash {
            *attempts = reliable.attempts(crash.restore);
        }
        lost
    }

    /// Arrival of a message that could arrive at `arrival`: not before any message that was sent earlier.
    fn in_order(&mut self, way: &Way, arrival: Time) -> Time {
        if self.reordering {
            return arrival;
        }
        let last = self.last.entry((way.from, way.to)).or_insert(arrival);
        *last = arrival.max(*last);
        *last
    }
}

impl Jitter {
    pub(super) fn new(longest: Span, streams: Vec<Stream>) -> Jitter {
        Jitter { longest, streams }
    }

    /// Additional travel time of the next message of a sender.
    fn next(&mut self, sender: usize) -> Span {
        draw(&mut self.streams[sender], self.longest)
    }
}

impl Chance {
    pub(super) fn new(share: f64, streams: Vec<Stream>) -> Chance {
        Chance { share, streams }
    }

    /// True if the fault hits the next message of a sender.
    fn strikes(&mut self, sender: usize) -> bool {
        self.streams[sender].random_bool(self.share)
    }
}

fn hit(arrivals: Vec<Time>, faults: Vec<(MessageFault, u64)>) -> Fate {
    Fate::Hit(Box::new(Hit { arrivals, faults }))
}

fn draw(stream: &mut Stream, longest: Span) -> Span {
    Span::from_micros(stream.random_range(0..=longest.as_micros()))
}
