//! Simulations whose messages take the latencies of a live run, later by a drawn time.

use std::collections::BTreeMap;

use haggle_model::random::stream;
use haggle_model::{Span, Time};
use haggle_runtime::World;
use haggle_runtime::network::{Drawn, Measured};
use rand::RngExt;

use super::Replay;
use crate::core::Known;
use crate::parts::PartId;

/// Least number of messages from one node to another for which their latencies are a distribution of their own.
const ENOUGH: usize = 100;

/// A message between two parts that was delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) from: PartId,
    pub(super) to: PartId,
    pub(super) sent: Time,
    pub(super) at: Time,
}

impl Passage {
    pub(super) fn latency(&self) -> Span {
        self.at - self.sent
    }
}

/// The messages of a live run with their latencies, in order: from each node to each other one, if there are 100 or
/// more, and all messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    pairs: BTreeMap<(PartId, PartId), Vec<Measured>>,
    all: Vec<Measured>,
}

impl Replay {
    /// The latencies of its messages. Messages that waited for the restart of a node are left out.
    pub fn spread(&self) -> Spread {
        let waited = |it: &Passage| {
            let mut crashes = self.crashes.iter();
            crashes.any(|&(part, fail, restore)| {
                (part == it.from || part == it.to) && it.sent <= restore && fail <= it.at
            })
        };
        let mut passages = Vec::from_iter(self.passages.iter().filter(|it| !waited(it)));
        // Journals were repeated one after the other. The sort is stable, so messages of one instant keep their order.
        passages.sort_by_key(|it| it.sent);
        let mut spread = Spread::default();
        for passage in passages {
            let measured = (passage.sent, passage.latency());
            spread.pairs.entry((passage.from, passage.to)).or_default().push(measured);
            spread.all.push(measured);
        }
        spread.pairs.retain(|_, latencies| latencies.len() >= ENOUGH);
        spread
    }

    /// Lets a world be a run like this one: messages between parts take the latencies that messages of `spread` had later, by
    /// a time that `seed` draws. Parts crash as they did.
    pub fn draw_into(&self, world: &mut World, known: &Known, spread: &Spread, seed: u64) {
        self.part_into(world, known);
        let share = stream(seed, "live run", "latencies").random();
        let parts = known.parts.by_actor().to_vec();
        let drawn = Drawn::new(parts, spread.pairs.clone(), spread.all.clone(), share);
        world.network.draw(drawn);
    }
}

impl Spread {
    /// Number of latencies.
    pub fn messages(&self) -> usize {
        self.all.len()
    }

    /// Number of pairs of nodes, in one direction, with a distribution of their own.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_apart_by_pair_and_without_waits_for_restarts() {
        let at = Time::from_secs;
        let mut replay = Replay::default();
        let mut pass = |from, to, sent: i64, took: i64| {
            let (sent, at) = (at(sent), at(sent + took));
            replay.passages.push(Passage { from, to, sent, at });
        };
        (0..100).for_each(|it| pass(0, 1, it, 2));
        (0..99).for_each(|it| pass(1, 0, it, 3));
        // These two waited for a node; the last one did not.
        pass(0, 1, 990, 100);
        pass(1, 0, 1_015, 50);
        pass(1, 2, 1_015, 5);
        replay.crashes.push((0, at(1_000), at(1_060)));
        let spread = replay.spread();
        let span = Span::from_secs;
        let first = Vec::from_iter((0..100).map(|it| (at(it), span(2))));
        assert_eq!(spread.pairs, BTreeMap::from([((0, 1), first)]));
        // By the times at which they were sent.
        let in_turn = (0..99).flat_map(|it| [(at(it), span(2)), (at(it), span(3))]);
        let last = [(at(99), span(2)), (at(1_015), span(5))];
        assert_eq!(spread.all, Vec::from_iter(in_turn.chain(last)));
    }
}
