//! Crashes of actors: an actor that is down receives no message until it restarts.
//!
//! Crashes are determined before the run, as failures are. The network queries them ahead of time,
//! because it determines the arrival of a message when it is sent. The course of the run takes each
//! crash when it is due.

use std::collections::{BTreeMap, VecDeque};

use haggle_model::{ActorId, Time};
use haggle_workloads::failures::Outage;
use serde::{Deserialize, Serialize};

use crate::input::Input;

/// The crashes of a run, read ahead as far as queries need.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Crashes {
    /// In order of time; endless if a law is.
    due: Input<(ActorId, Outage)>,
    /// The first crash that has not been read.
    next: Option<(ActorId, Outage)>,
    /// Crashes that have been read but not taken.
    ahead: VecDeque<(ActorId, Outage)>,
    /// Crashes that have been read, by actor, without those long over. They are in order and do not overlap.
    known: BTreeMap<ActorId, VecDeque<Outage>>,
    /// Number of actors that may crash.
    actors: u64,
}

impl Crashes {
    /// The crashes that are `due`, in order of time, of `actors` actors that may crash.
    pub fn new(actors: u64, due: Box<dyn Iterator<Item = (ActorId, Outage)> + Send>) -> Crashes {
        let mut due = Input::new(due);
        let next = due.next();
        Crashes { due, next, ahead: VecDeque::new(), known: BTreeMap::new(), actors }
    }

    /// Reads the same crashes up to the position at which the snapshot was made; false if there are fewer.
    pub(crate) fn reopen(&mut self, fresh: Crashes) -> bool {
        let Crashes { due, next, .. } = fresh;
        // A fresh input has been read up to its first crash.
        self.due.reopen(Box::new(next.into_iter().chain(due)))
    }

    /// Number of actors that may crash.
    pub(crate) fn actors(&self) -> u64 {
        self.actors
    }

    /// The next crash that has not been taken yet. After this call, no message may be sent before `now`.
    pub(crate) fn take_next(&mut self, now: Time) -> Option<(ActorId, Outage)> {
        if self.ahead.is_empty() {
            self.read_one();
        }
        let (actor, outage) = self.ahead.pop_front()?;
        if let Some(known) = self.known.get_mut(&actor) {
            // Queries are about later times only.
            while known.front().is_some_and(|it| it.restore <= now) {
                known.pop_front();
            }
        }
        Some((actor, outage))
    }

    /// Restart time of `actor`, if it is down at `time`.
    pub(super) fn at(&mut self, actor: ActorId, time: Time) -> Option<Time> {
        self.read_until(time);
        let known = self.known.get(&actor)?;
        // By bisection: a query may have to pass years of crashes that were read ahead.
        let place = known.partition_point(|it| it.restore <= time);
        known.get(place).filter(|it| it.fail <= time).map(|it| it.restore)
    }

    /// The first crash of `actor` after `after` and at or before `until`.
    pub(super) fn between(&mut self, actor: ActorId, after: Time, until: Time) -> Option<Outage> {
        self.read_until(until);
        let known = self.known.get(&actor)?;
        let place = known.partition_point(|it| it.fail <= after);
        known.get(place).copied().filter(|it| it.fail <= until)
    }

    fn read_until(&mut self, time: Time) {
        while self.next.is_some_and(|(_, outage)| outage.fail <= time) {
            self.read_one();
        }
    }

    fn read_one(&mut self) {
        let Some((actor, outage)) = std::mem::replace(&mut self.next, self.due.next()) else {
            return;
        };
        self.ahead.push_back((actor, outage));
        // Kept twice: in order of time for the course, and by actor for queries.
        self.known.entry(actor).or_default().push_back(outage);
    }
}

#[cfg(test)]
mod tests {
    use haggle_model::Span;

    use super::*;

    /// Crashes of an actor, each beginning a given time after the end of the previous one.
    fn crashes(lengths: &[(i64, i64)]) -> Vec<Outage> {
        let mut end = 0;
        let outage = |&(up, down): &(i64, i64)| {
            let fail = end + up;
            end = fail + down;
            Outage { fail: Time::from_secs(fail), restore: Time::from_secs(end) }
        };
        lengths.iter().map(outage).collect()
    }

    fn of_one(outages: &[Outage]) -> Crashes {
        let due: Vec<_> = outages.iter().map(|&outage| (ActorId(0), outage)).collect();
        Crashes::new(1, Box::new(due.into_iter()))
    }

    #[test]
    fn what_is_found_is_the_first_of_all_that_it_could_be() {
        let outages = crashes(&[(2, 3), (1, 0), (4, 1), (1, 1), (7, 2)]);
        let mut found = of_one(&outages);
        for time in (0..26).map(Time::from_secs) {
            let down = outages.iter().find(|it| it.fail <= time && time < it.restore);
            assert_eq!(found.at(ActorId(0), time), down.map(|it| it.restore), "at {time:?}");
            for until in (0..26).map(Time::from_secs) {
                let first = outages.iter().find(|it| time < it.fail && it.fail <= until);
                assert_eq!(found.between(ActorId(0), time, until), first.copied());
            }
        }
    }

    /// A linear scan of the crashes read ahead would take hours for all queries.
    #[test]
    fn many_crashes_ahead_are_not_looked_at_one_by_one() {
        let outages = crashes(&[(90, 30); 400_000]);
        let mut found = of_one(&outages);
        let end = outages[outages.len() - 1].fail;
        for outage in &outages {
            assert_eq!(found.at(ActorId(0), outage.fail), Some(outage.restore));
            assert_eq!(found.between(ActorId(0), outage.fail - Span::TICK, end), Some(*outage));
        }
        for outage in &outages {
            assert_eq!(found.take_next(outage.fail), Some((ActorId(0), *outage)));
        }
    }
}
