//! The processors of a provider as stretches of neighbours with equal state. The memory depends on the
//! number of stretches, so a provider may have a hundred million processors.

use std::collections::BTreeMap;

use haggle_model::Time;
use haggle_results::Availability;

/// State of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Processor {
    pub(super) held_until: Time,
    pub(super) state: Availability,
    pub(super) since: Time,
    /// Last window of maintenance, which may be in the future.
    pub(super) closed: (Time, Time),
}

/// All processors of a provider.
#[derive(Debug)]
pub(super) struct Processors {
    count: u32,
    /// By the first processor of each stretch, which ends before the next one.
    stretches: BTreeMap<u32, Processor>,
}

impl Processors {
    /// `count` processors, up and never held.
    pub(super) fn new(count: u32) -> Processors {
        // A start state has begun before time zero.
        let ever = Time::from_micros(i64::MIN);
        let (state, since) = (Availability::Restored, ever);
        let closed = (ever, ever);
        let free = Processor { held_until: ever, state, since, closed };
        Processors { count, stretches: BTreeMap::from([(0, free)]) }
    }

    /// Changes the processors from `first` to `last`, one stretch at a time. `change` gets the number
    /// of the stretch's first processor.
    ///
    /// # Errors
    /// The first error of `change`.
    pub(super) fn change<E>(
        &mut self,
        (first, last): (u32, u32),
        mut change: impl FnMut(u32, &mut Processor) -> Result<(), E>,
    ) -> Result<(), E> {
        // Stretches end at both sides, so that the change reaches no other processor.
        self.split(first);
        self.split(last + 1);
        self.stretches.range_mut(first..=last).try_for_each(|(&at, it)| change(at, it))?;
        // Without joining equal neighbours, the map would grow with the length of the run.
        self.join(first, last + 1);
        Ok(())
    }

    /// Makes a stretch begin at a processor.
    fn split(&mut self, at: u32) {
        if at < self.count
            && let Some((&start, &same)) = self.stretches.range(..=at).next_back()
            && start < at
        {
            self.stretches.insert(at, same);
        }
    }

    /// Joins each stretch that begins from `first` to `last` with the one before it, if their states
    /// are equal.
    fn join(&mut self, first: u32, last: u32) {
        let mut before = self.stretches.range(..first).next_back().map(|(_, &it)| it);
        // Collected first, because the map cannot change while it is read.
        let mut alike = Vec::new();
        for (&at, &it) in self.stretches.range(first..=last) {
            if before.replace(it) == Some(it) {
                alike.push(at);
            }
        }
        for at in alike {
            self.stretches.remove(&at);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const COUNT: u32 = 20;

    fn hold(until: i64) -> impl Fn(u32, &mut Processor) -> Result<(), Infallible> {
        move |_, processor| {
            processor.held_until = Time::from_secs(until);
            Ok(())
        }
    }

    #[test]
    fn what_is_alike_takes_the_room_of_one() {
        let mut all = Processors::new(u32::MAX);
        let Ok(()) = all.change((5, 9), hold(1));
        let Ok(()) = all.change((10, 20), hold(1));
        assert_eq!(all.stretches.len(), 3);
        let Ok(()) = all.change((0, 4), hold(1));
        let Ok(()) = all.change((21, u32::MAX - 1), hold(1));
        assert_eq!(all.stretches.len(), 1);
    }

    #[test]
    fn stretches_are_a_list_of_processors() {
        let mut draws = ChaCha8Rng::seed_from_u64(1);
        let mut plain = [Time::from_micros(i64::MIN); COUNT as usize];
        let mut all = Processors::new(COUNT);
        for _ in 0..1_000 {
            let (a, b) = (draws.random_range(0..COUNT), draws.random_range(0..COUNT));
            let (first, last, until) = (a.min(b), a.max(b), draws.random_range(0..3));
            let Ok(()) = all.change((first, last), hold(until));
            plain[first as usize..=last as usize].fill(Time::from_secs(until));
            for (number, &until) in (0..).zip(&plain) {
                let (_, stretch) = all.stretches.range(..=number).next_back().expect("0 is there");
                assert_eq!(stretch.held_until, until);
            }
            let stretches: Vec<_> = all.stretches.values().collect();
            assert!(stretches.windows(2).all(|it| it[0] != it[1]), "{all:?}");
        }
    }
}
