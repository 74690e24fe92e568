//! What somebody keeps of jobs, by their numbers.
//!
//! Jobs are numbered in the order in which they are submitted, so they come to whoever keeps something
//! of them in this order, nearly always, and go in any other. Their places stand in one list in this order: to add
//! one is to put it behind the last, and a place is looked for where it would be if no number were
//! left out. Hash maps cost two misses of the cache a look once there are more jobs than it has
//! room for. The things themselves are elsewhere, one in the room of another that has gone: of a million
//! jobs, some may stay for good, and those between them have nothing but a place.
//!
//! ```text
//! jobs    17  18  21  22  25         late  19: ..., came behind 25
//! things   0   -   2   -   1         18 and 22 have gone
//! ```

use std::collections::{BTreeMap, VecDeque};

use slab::Slab;

use crate::JobId;

/// How many more may have gone than are kept before their places are given up.
const GONE_MAX: usize = 3;

/// Things by jobs.
#[derive(Clone, Debug)]
pub struct ByJob<T> {
    /// By job, ascending.
    places: VecDeque<Place>,
    things: Slab<T>,
    /// Of jobs that came behind one with a greater number.
    late: BTreeMap<JobId, T>,
}

/// Where a thing is.
#[derive(Clone, Copy, Debug)]
struct Place {
    job: JobId,
    /// Its key among the things.
    thing: u32,
}

/// The key of a thing that has gone.
const GONE: u32 = u32::MAX;

impl Place {
    fn thing(self) -> Option<usize> {
        (self.thing != GONE).then_some(self.thing as usize)
    }
}

impl<T> Default for ByJob<T> {
    fn default() -> Self {
        ByJob { places: VecDeque::new(), things: Slab::new(), late: BTreeMap::new() }
    }
}

impl<T> ByJob<T> {
    /// Where a job stands in the list, whether or not it has gone.
    fn place(&self, job: JobId) -> Option<usize> {
        let most = job.0.checked_sub(self.places.front()?.job.0)? as usize;
        let place = match self.places.get(most) {
            Some(at) if at.job == job => most,
            _ => self.places.partition_point(|at| at.job < job),
        };
        self.places.get(place).is_some_and(|at| at.job == job).then_some(place)
    }

    /// The key of what is kept of a job, unless it came late.
    fn key(&self, job: JobId) -> Option<usize> {
        self.places[self.place(job)?].thing()
    }

    /// Keeps a thing; `None`, and nothing changes, if there is one of this job.
    pub fn insert(&mut self, job: JobId, thing: T) -> Option<&mut T> {
        let is_last = self.places.back().is_none_or(|last| last.job < job);
        if is_last && !self.late.contains_key(&job) {
            let thing = self.things.insert(thing);
            self.places.push_back(Place { job, thing: thing as u32 });
            return self.things.get_mut(thing);
        }
        if self.has(job) {
            return None;
        }
        match self.place(job) {
            Some(place) => {
                let thing = self.things.insert(thing);
                self.places[place].thing = thing as u32;
                self.things.get_mut(thing)
            }
            None => Some(self.late.entry(job).or_insert(thing)),
        }
    }

    /// Whether something is kept of a job.
    pub fn has(&self, job: JobId) -> bool {
        self.get(job).is_some()
    }

    /// What is kept of a job.
    pub fn get(&self, job: JobId) -> Option<&T> {
        match self.key(job) {
            Some(key) => self.things.get(key),
            None => self.late.get(&job),
        }
    }

    /// What is kept of a job.
    pub fn get_mut(&mut self, job: JobId) -> Option<&mut T> {
        match self.key(job) {
            Some(key) => self.things.get_mut(key),
            None => self.late.get_mut(&job),
        }
    }

    /// Gives up what is kept of a job.
    pub fn remove(&mut self, job: JobId) -> Option<T> {
        let place = self.place(job);
        let Some((place, key)) = place.and_then(|it| Some((it, self.places[it].thing()?))) else {
            return self.late.remove(&job);
        };
        self.places[place].thing = GONE;
        let thing = self.things.remove(key);
        while self.places.front().is_some_and(|first| first.thing == GONE) {
            self.places.pop_front();
        }
        let (kept, gone) = (self.things.len(), self.places.len() - self.things.len());
        if gone > GONE_MAX * kept + 64 {
            self.places.retain(|place| place.thing != GONE);
        }
        Some(thing)
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.things.is_empty() && self.late.is_empty()
    }

    /// All that is kept, in no order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.things.iter().map(|(_, thing)| thing).chain(self.late.values())
    }

    /// All jobs of which something is kept, in the order of their numbers.
    pub fn jobs(&self) -> Vec<JobId> {
        let kept = self.places.iter().filter(|place| place.thing != GONE);
        let mut jobs = Vec::from_iter(kept.map(|place| place.job).chain(self.late.keys().copied()));
        jobs.sort_unstable();
        jobs
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// Whatever comes and goes in any order, it is as a map.
        #[test]
        fn it_is_a_map(deeds in prop::collection::vec((0..5_u8, 0..40_u32), 1..600)) {
            let (mut things, mut obvious) = (ByJob::default(), BTreeMap::new());
            let mut next = 0;
            for (number, (deed, id)) in deeds.into_iter().enumerate() {
                let job = match deed {
                    0 | 1 => {
                        next += id / 8;
                        JobId(next)
                    }
                    _ => JobId(next.saturating_sub(id * id / 8)),
                };
                if deed < 3 {
                    let is_new = !obvious.contains_key(&job);
                    let inserted = things.insert(job, number);
                    prop_assert_eq!(inserted.copied(), is_new.then_some(number));
                    obvious.entry(job).or_insert(number);
                } else {
                    prop_assert_eq!(things.remove(job), obvious.remove(&job));
                }
                prop_assert_eq!(things.get(job), obvious.get(&job));
                prop_assert_eq!(things.get_mut(job), obvious.get_mut(&job));
                prop_assert_eq!(things.is_empty(), obvious.is_empty());
                prop_assert_eq!(things.jobs(), Vec::from_iter(obvious.keys().copied()));
                let mut values = Vec::from_iter(things.values());
                values.sort_unstable();
                let mut expected = Vec::from_iter(obvious.values());
                expected.sort_unstable();
                prop_assert_eq!(values, expected);
            }
        }

        /// In order and in great numbers, places are given up and found again.
        #[test]
        fn those_that_stay_are_found_among_many_that_go(stay in 2..40_u32, gap in 1..5_u32) {
            let mut things = ByJob::default();
            for number in 0..2_000 {
                things.insert(JobId(number * gap), number);
                if number >= 30 && (number - 30) % stay != 0 {
                    prop_assert_eq!(things.remove(JobId((number - 30) * gap)), Some(number - 30));
                }
            }
            for number in 0..1_970 {
                let kept = (number % stay == 0).then_some(number);
                prop_assert_eq!(things.get(JobId(number * gap)).copied(), kept);
            }
            prop_assert!(things.places.len() <= (1 + GONE_MAX) * things.things.len() + 64);
            // Whoever comes takes the room of one that has gone.
            let room = things.things.capacity();
            let most = 30 + 2_000 / stay as usize + 1;
            prop_assert!(room <= 2 * most, "{room} for {most}");
        }
    }
}
