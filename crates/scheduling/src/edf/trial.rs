//! The place of new work: attempts to place it in one unchanged plan.
//!
//! An attempt puts the work behind the first k entries and places the rest again. If one of these would be
//! late, k moves behind it and the next round begins. The result of a round depends on k only, not on the
//! deadline, so all attempts of a search share their rounds. Behind more entries the work is done no
//! earlier. So many attempts are known to fail before their first round is made.

use std::collections::BTreeMap;

use haggle_model::{Span, Time};

use crate::bags::Batch;
use crate::scheduler::promise;

use super::again::Moves;
use super::demand::{Demand, add};
use super::queue::Queue;
use super::steps::Steps;
use super::{EdfConfig, EdfStats, Late};

/// Attempts to place one piece of work.
#[derive(Debug)]
pub(super) struct Trial<'a> {
    demand: Demand,
    config: &'a EdfConfig,
    /// The rounds made so far, by k.
    rounds: BTreeMap<usize, Round>,
    /// The availability that some first entries leave; as a rule the next round adds only few.
    beside: Option<(usize, Steps)>,
    /// Buffer in which entries are placed again.
    again: Steps,
}

/// The work placed behind the first k entries.
#[derive(Debug)]
struct Round {
    batches: Vec<Batch>,
    completion: Time,
    rest: Rest,
}

/// The entries behind the work.
#[derive(Debug)]
enum Rest {
    /// Not needed so far.
    Unknown,
    /// Their new places.
    Placed(Moves),
    /// The index of an entry that would be late.
    Late(usize),
}

impl Round {
    /// The entry that would be late, if any; the outer `None` if that is unknown.
    fn victim(&self) -> Option<Option<usize>> {
        match self.rest {
            Rest::Unknown => None,
            Rest::Placed(_) => Some(None),
            Rest::Late(victim) => Some(Some(victim)),
        }
    }
}

/// An attempt that succeeded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    round: usize,
    /// Number of entries behind which the work moved back.
    pub(super) repairs: u64,
}

impl<'a> Trial<'a> {
    pub(super) fn new(demand: Demand, config: &'a EdfConfig) -> Trial<'a> {
        Trial { demand, config, rounds: BTreeMap::new(), beside: None, again: Steps::default() }
    }

    /// The earliest completion from `wished` on that can be promised: `wished`
    /// itself if possible, else the result of a binary search (Netto 2009, 6.3.1);
    /// [`Time::FOREVER`] if there is none.
    pub(super) fn promise(
        &mut self,
        queue: &mut Queue,
        now: Time,
        wished: Time,
        stats: &mut EdfStats,
    ) -> Time {
        stats.attempts += 1;
        if wished >= Time::FOREVER || self.attempt(queue, now, wished).is_some() {
            return wished;
        }
        // Behind all promised entries the work delays no promise.
        let promised = queue.position(Time::FOREVER - Span::TICK);
        let (mut infeasible, mut feasible) = (wished, self.round(queue, now, promised).completion);
        // The entry cannot move behind those that are promised for later, so its promise must not be
        // earlier than theirs.
        if self.config.mode == Late::Strict && promised > 0 {
            feasible = feasible.max(queue.entries()[promised - 1].promise);
        }
        let step = self.config.resolution.as_micros();
        while (feasible - infeasible).as_micros() > step {
            // Whole steps, and at least one: the distance need not be a multiple of the step.
            let steps = ((feasible - infeasible).as_micros() / (2 * step)).max(1);
            let middle = Time::from_micros(infeasible.as_micros() + steps * step);
            stats.attempts += 1;
            stats.probes += 1;
            match self.attempt(queue, now, middle) {
                Some(_) => feasible = middle,
                None => infeasible = middle,
            }
        }
        // No completion behind work without a limit can be promised.
        promise(feasible).unwrap_or(Time::FOREVER)
    }

    /// Tries to place the work by `deadline` with every promise kept.
    pub(super) fn attempt(
        &mut self,
        queue: &mut Queue,
        now: Time,
        deadline: Time,
    ) -> Option<Chain> {
        let mut chain = Chain { round: queue.position(deadline), repairs: 0 };
        loop {
            let fewer = self.rounds.range(..=chain.round).next_back();
            if fewer.is_some_and(|(_, round)| round.completion > deadline) {
                return None;
            }
            // Most rounds have been made for an earlier attempt.
            let made = fewer.filter(|&(&k, _)| k == chain.round);
            let victim = match made.and_then(|(_, round)| round.victim()) {
                Some(victim) => victim,
                None if self.round(queue, now, chain.round).completion > deadline => return None,
                None => self.find_victim(queue, now, chain.round),
            };
            match victim {
                None => return Some(chain),
                Some(_) if self.config.mode == Late::Strict => return None,
                Some(victim) => {
                    chain.round = victim + 1;
                    chain.repairs += 1;
                }
            }
        }
    }

    /// Moves the other entries out of the way and returns the batches of the work.
    pub(super) fn apply(mut self, queue: &mut Queue, chain: Chain) -> Vec<Batch> {
        let round = self.rounds.remove(&chain.round).expect("the chain ended in it");
        if let Rest::Placed(moves) = round.rest {
            queue.apply(&moves);
        }
        round.batches
    }

    fn round(&mut self, queue: &mut Queue, now: Time, k: usize) -> &Round {
        if !self.rounds.contains_key(&k) {
            let mut steps = self.beside(queue, k);
            let mut batches = Vec::new();
            let fewer = self.rounds.range(..k).next_back();
            let not_before = fewer.map_or(now, |(_, round)| round.batches[0].start);
            let earliest = queue.earliest(k, self.demand, now).max(not_before);
            let found = self.demand.find(&mut steps, earliest, Time::FOREVER, &mut batches);
            debug_assert!(found.is_some(), "without a limit there is always a place");
            self.beside = Some((k, steps));
            let completion = self.demand.completion(&batches);
            self.rounds.insert(k, Round { batches, completion, rest: Rest::Unknown });
        }
        &self.rounds[&k]
    }

    /// The availability that the first k entries leave.
    fn beside(&mut self, queue: &mut Queue, k: usize) -> Steps {
        if let Some((count, mut steps)) = self.beside.take()
            && queue.go_on(&mut steps, count, k)
        {
            return steps;
        }
        queue.prefix(k)
    }

    /// The first entry that would be late with the work behind the first k. Requires that the work has been
    /// placed there.
    fn find_victim(&mut self, queue: &mut Queue, now: Time, k: usize) -> Option<usize> {
        let steps = self.beside(queue, k);
        let round = self.rounds.get_mut(&k).expect("the work has been placed first");
        // Copying the steps costs less than giving the bookings back.
        self.again.clone_from(&steps);
        self.beside = Some((k, steps));
        add(&mut self.again, &round.batches, self.demand.span);
        let moves = queue.place_again(&mut self.again, now, k);
        let late = moves.as_ref().err().copied();
        round.rest = match moves {
            Ok(moves) => Rest::Placed(moves),
            Err(late) => Rest::Late(late),
        };
        late
    }
}
