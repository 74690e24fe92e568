//! What differs from message to message: how long each takes, and which are lost or come twice.
//!
//! Each fault draws from streams of its own, one a sender, and draws for every message between
//! sites, whatever becomes of it otherwise. So turning one fault on changes nothing about another,
//! and what is not hit arrives when it would have.

use std::collections::BTreeMap;

use haggle_model::random::Stream;
use haggle_model::{ActorId, Span, Time};
use rand::RngExt;

use super::{Fate, Partition};

/// From one site to another.
#[derive(Clone, Debug, Default)]
pub(super) struct Channel {
    pub(super) jitter: Option<Jitter>,
    /// Whether messages from one actor to another may overtake each other.
    pub(super) reordering: bool,
    pub(super) loss: Option<Chance>,
    /// And how much longer copies take.
    pub(super) duplication: Option<(Chance, Vec<Stream>)>,
    pub(super) partitions: Vec<Partition>,
}

/// What is added to latencies, uniformly distributed from nothing to `longest`.
#[derive(Clone, Debug)]
pub(super) struct Jitter {
    longest: Span,
    /// One a sender, so that what one says does not delay others.
    streams: Vec<Stream>,
    /// When the last message from one to another arrives.
    last: BTreeMap<(ActorId, ActorId), Time>,
}

/// What befalls a share of all messages.
#[derive(Clone, Debug)]
pub(super) struct Chance {
    share: f64,
    /// One a sender.
    streams: Vec<Stream>,
}

impl Channel {
    /// What becomes of a message between two `actors` that takes `latency` at least; `sites` are
    /// theirs, if they are known.
    pub(super) fn fate(
        &mut self,
        now: Time,
        latency: Span,
        actors: (ActorId, ActorId),
        sites: Option<(u32, u32)>,
    ) -> Fate {
        let (from, earliest) = (actors.0, now + latency);
        let arrival = self.arrival(earliest, actors);
        let is_lost = self.loss.as_mut().is_some_and(|loss| loss.strikes(from));
        let copy = self.copy(earliest, arrival, from);
        let parts = |it: &Partition| sites.is_some_and(|sites| it.parts(sites, (now, arrival)));
        if self.partitions.iter().any(parts) {
            return Fate::Parted;
        }
        match copy {
            _ if is_lost => Fate::Lost,
            Some(copy) => Fate::Twice(arrival.min(copy), arrival.max(copy)),
            None => Fate::Arrives(arrival),
        }
    }

    /// When a message is there. One that is lost takes its place in the order all the same.
    fn arrival(&mut self, earliest: Time, actors: (ActorId, ActorId)) -> Time {
        let Some(jitter) = &mut self.jitter else { return earliest };
        let arrival = earliest + draw(&mut jitter.streams[actors.0.index()], jitter.longest);
        if self.reordering {
            return arrival;
        }
        let last = jitter.last.entry(actors).or_insert(earliest);
        *last = arrival.max(*last);
        *last
    }

    /// When a message is there once more, if it is.
    fn copy(&mut self, earliest: Time, arrival: Time, from: ActorId) -> Option<Time> {
        let (chance, copies) = self.duplication.as_mut()?;
        if !chance.strikes(from) {
            return None;
        }
        match &self.jitter {
            Some(jitter) if self.reordering => {
                Some(earliest + draw(&mut copies[from.index()], jitter.longest))
            }
            _ => Some(arrival),
        }
    }
}

impl Jitter {
    pub(super) fn new(longest: Span, streams: Vec<Stream>) -> Jitter {
        Jitter { longest, streams, last: BTreeMap::new() }
    }
}

impl Chance {
    pub(super) fn new(share: f64, streams: Vec<Stream>) -> Chance {
        Chance { share, streams }
    }

    /// Whether it befalls the next message of `from`.
    fn strikes(&mut self, from: ActorId) -> bool {
        self.streams[from.index()].random_bool(self.share)
    }
}

fn draw(stream: &mut Stream, longest: Span) -> Span {
    Span::from_micros(stream.random_range(0..=longest.as_micros()))
}
