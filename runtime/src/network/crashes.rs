//! Who is down when: an actor that has crashed hears nothing until it restarts.
//!
//! What crashes when is decided before the run, as failures are. The network asks ahead of time, for
//! it says when a message is sent when it will arrive; the course of the run asks when it is time.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use haggle_model::failures::Outage;
use haggle_model::{ActorId, Time};

/// The crashes of a run, read as far ahead as anybody asks.
pub struct Crashes {
    /// In order of time, without end where a law has none.
    due: Box<dyn Iterator<Item = (ActorId, Outage)> + Send>,
    /// The first that has not been read.
    next: Option<(ActorId, Outage)>,
    /// Those that have been read and not been taken.
    ahead: VecDeque<(ActorId, Outage)>,
    /// Those that have been read, by actor, but for what is long over: one after the other, and apart.
    known: BTreeMap<ActorId, VecDeque<Outage>>,
    /// How many actors may crash.
    actors: u64,
}

impl Crashes {
    /// The crashes that are `due`, in order of time; so many `actors` may crash.
    pub fn new(
        actors: u64,
        mut due: Box<dyn Iterator<Item = (ActorId, Outage)> + Send>,
    ) -> Crashes {
        let next = due.next();
        Crashes { due, next, ahead: VecDeque::new(), known: BTreeMap::new(), actors }
    }

    /// How many actors may crash.
    pub(crate) fn actors(&self) -> u64 {
        self.actors
    }

    /// The next crash that has not been taken yet; no message is sent before `now` any more.
    pub(crate) fn take_next(&mut self, now: Time) -> Option<(ActorId, Outage)> {
        if self.ahead.is_empty() {
            self.read_one();
        }
        let (actor, outage) = self.ahead.pop_front()?;
        if let Some(known) = self.known.get_mut(&actor) {
            while known.front().is_some_and(|it| it.restore <= now) {
                known.pop_front();
            }
        }
        Some((actor, outage))
    }

    /// Until when `actor` is down at `time`, if it is.
    pub(super) fn at(&mut self, actor: ActorId, time: Time) -> Option<Time> {
        self.read_until(time);
        let known = self.known.get(&actor)?;
        // Who is sent something every day is asked for over years of crashes.
        let place = known.partition_point(|it| it.restore <= time);
        known.get(place).filter(|it| it.fail <= time).map(|it| it.restore)
    }

    /// The first crash of `actor` after a time and not after another.
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
        self.known.entry(actor).or_default().push_back(outage);
    }
}

impl fmt::Debug for Crashes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crashes").field("next", &self.next).field("known", &self.known).finish()
    }
}

#[cfg(test)]
mod tests {
    use haggle_model::Span;

    use super::*;

    /// Crashes of an actor, each so long after the one before is over.
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

    /// One scan of those read ahead for each question would take hours.
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
