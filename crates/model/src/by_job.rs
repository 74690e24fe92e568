//! A map from job numbers to values, fast for numbers that come nearly in order.
//!
//! Jobs are numbered in the order in which they are submitted. An actor therefore inserts them nearly
//! always in this order, and removes them in any order. The places of the jobs form one sorted list: a
//! new job is appended, and a look-up begins where the job would stand if no number were missing. A
//! hash map costs two cache misses a look-up once it is larger than the cache. The values are in a
//! slab, which reuses the room of removed ones. Of a job removed between two that stay, only its place
//! remains.
//!
//! ```text
//! jobs    17  18  21  22  25         late  19: ..., came behind 25
//! things   0   -   2   -   1         18 and 22 have gone
//! ```

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use slab::Slab;

use crate::JobId;

/// The list is compacted when it has more than this many removed jobs for each kept one.
const GONE_MAX: usize = 3;

/// Values by job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ByJob<T> {
    /// By job, ascending.
    places: VecDeque<Place>,
    things: Slab<T>,
    /// Values of jobs that were inserted after a job with a greater number.
    late: BTreeMap<JobId, T>,
}

/// Place of a job in the list.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Place {
    job: JobId,
    /// Key of the value in the slab.
    thing: u32,
}

/// Key of a removed value.
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
    /// Index of a job in the list, also of a removed one.
    fn place(&self, job: JobId) -> Option<usize> {
        // Missing numbers only move a job towards the front, so it stands here or earlier.
        let most = job.0.checked_sub(self.places.front()?.job.0)? as usize;
        let place = match self.places.get(most) {
            Some(at) if at.job == job => most,
            _ => self.places.partition_point(|at| at.job < job),
        };
        self.places.get(place).is_some_and(|at| at.job == job).then_some(place)
    }

    /// Slab key of a job's value, unless the job came late.
    fn key(&self, job: JobId) -> Option<usize> {
        self.places[self.place(job)?].thing()
    }

    /// Inserts a value. Returns `None` and changes nothing if the job has one.
    pub fn insert(&mut self, job: JobId, thing: T) -> Option<&mut T> {
        let is_last = self.places.back().is_none_or(|last| last.job < job);
        // The list may have emptied while the job was among the late ones.
        if is_last && !self.late.contains_key(&job) {
            let thing = self.things.insert(thing);
            self.places.push_back(Place { job, thing: thing as u32 });
            return self.things.get_mut(thing);
        }
        if self.has(job) {
            return None;
        }
        match self.place(job) {
            // The job had a value before, and its place has not left the list.
            Some(place) => {
                let thing = self.things.insert(thing);
                self.places[place].thing = thing as u32;
                self.things.get_mut(thing)
            }
            None => Some(self.late.entry(job).or_insert(thing)),
        }
    }

    /// True if the job has a value.
    pub fn has(&self, job: JobId) -> bool {
        self.get(job).is_some()
    }

    /// The value of a job.
    pub fn get(&self, job: JobId) -> Option<&T> {
        match self.key(job) {
            Some(key) => self.things.get(key),
            None => self.late.get(&job),
        }
    }

    /// The value of a job.
    pub fn get_mut(&mut self, job: JobId) -> Option<&mut T> {
        match self.key(job) {
            Some(key) => self.things.get_mut(key),
            None => self.late.get_mut(&job),
        }
    }

    /// Removes the value of a job.
    pub fn remove(&mut self, job: JobId) -> Option<T> {
        let place = self.place(job);
        let Some((place, key)) = place.and_then(|it| Some((it, self.places[it].thing()?))) else {
            return self.late.remove(&job);
        };
        self.places[place].thing = GONE;
        let thing = self.things.remove(key);
        // Removed jobs at the front leave the list at once; those in the middle stay until it is compacted.
        while self.places.front().is_some_and(|first| first.thing == GONE) {
            self.places.pop_front();
        }
        let (kept, gone) = (self.things.len(), self.places.len() - self.things.len());
        // Compacting a short list saves nothing.
        if gone > GONE_MAX * kept + 64 {
            self.places.retain(|place| place.thing != GONE);
        }
        Some(thing)
    }

    /// True if no value is kept.
    pub fn is_empty(&self) -> bool {
        self.things.is_empty() && self.late.is_empty()
    }

    /// All values, in no order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.things.iter().map(|(_, thing)| thing).chain(self.late.values())
    }

    /// All jobs that have a value, in the order of their numbers.
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

        /// Inserts and removals in any order give the same as a map.
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
            // A new value takes the room of a removed one.
            let room = things.things.capacity();
            let most = 30 + 2_000 / stay as usize + 1;
            prop_assert!(room <= 2 * most, "{room} for {most}");
        }
    }
}
