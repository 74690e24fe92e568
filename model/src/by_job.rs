//! What somebody keeps of jobs, by their numbers.
//!
//! Jobs are numbered in the order in which they are submitted, so they come to whoever keeps something
//! of them in this order, nearly always, and go in any other. Things stand in one list in this order: to add
//! one is to put it behind the last, and a thing is looked for where it would be if no number were
//! left out. Hash maps cost two misses of the cache a look once there are more jobs than it has
//! room for.
//!
//! ```text
//! jobs   17  18  21  22  25         late  19: ..., came behind 25
//! kept    a   -   b   -   c         18 and 22 have gone
//! ```

use std::collections::{BTreeMap, VecDeque};

use crate::JobId;

/// How many more may have gone than are kept before their places are given up.
const GONE_MAX: usize = 3;

/// Things by jobs.
#[derive(Clone, Debug)]
pub struct ByJob<T> {
    /// Ascending; apart from what is kept, so that a search reads little.
    jobs: VecDeque<JobId>,
    /// Parallel to `jobs`; `None` = it has gone.
    kept: VecDeque<Option<T>>,
    gone: usize,
    /// Of jobs that came behind one with a greater number.
    late: BTreeMap<JobId, T>,
}

impl<T> Default for ByJob<T> {
    fn default() -> Self {
        let (jobs, kept, late) = (VecDeque::new(), VecDeque::new(), BTreeMap::new());
        ByJob { jobs, kept, gone: 0, late }
    }
}

impl<T> ByJob<T> {
    /// Where a job stands in the list, whether or not it has gone.
    fn place(&self, job: JobId) -> Option<usize> {
        let most = job.0.checked_sub(self.jobs.front()?.0)? as usize;
        let place = match self.jobs.get(most) {
            Some(&at) if at == job => most,
            _ => self.jobs.partition_point(|&at| at < job),
        };
        (self.jobs.get(place) == Some(&job)).then_some(place)
    }

    /// Keeps a thing; `None`, and nothing changes, if there is one of this job.
    pub fn insert(&mut self, job: JobId, thing: T) -> Option<&mut T> {
        if self.jobs.back().is_none_or(|&last| last < job) {
            if !self.late.is_empty() && self.late.contains_key(&job) {
                return None;
            }
            self.jobs.push_back(job);
            self.kept.push_back(Some(thing));
            return self.kept.back_mut()?.as_mut();
        }
        if self.has(job) {
            return None;
        }
        match self.place(job) {
            Some(place) => {
                self.gone -= 1;
                Some(self.kept[place].insert(thing))
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
        match self.place(job) {
            Some(place) if self.kept[place].is_some() => self.kept[place].as_ref(),
            _ => self.late.get(&job),
        }
    }

    /// What is kept of a job.
    pub fn get_mut(&mut self, job: JobId) -> Option<&mut T> {
        match self.place(job) {
            Some(place) if self.kept[place].is_some() => self.kept[place].as_mut(),
            _ => self.late.get_mut(&job),
        }
    }

    /// Gives up what is kept of a job.
    pub fn remove(&mut self, job: JobId) -> Option<T> {
        let Some(thing) = self.place(job).and_then(|place| self.kept[place].take()) else {
            return self.late.remove(&job);
        };
        self.gone += 1;
        while let Some(None) = self.kept.front() {
            self.kept.pop_front();
            self.jobs.pop_front();
            self.gone -= 1;
        }
        if self.gone > GONE_MAX * (self.kept.len() - self.gone) + 64 {
            self.close_up();
        }
        Some(thing)
    }

    /// Gives up the places of those that have gone.
    fn close_up(&mut self) {
        let mut kept = self.kept.iter();
        self.jobs.retain(|_| matches!(kept.next(), Some(Some(_))));
        self.kept.retain(Option::is_some);
        self.gone = 0;
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.late.is_empty()
    }

    /// All jobs of which something is kept, in the order of their numbers.
    pub fn jobs(&self) -> Vec<JobId> {
        let places = self.jobs.iter().zip(&self.kept);
        let listed = places.filter(|(_, thing)| thing.is_some()).map(|(job, _)| job);
        let mut jobs = Vec::from_iter(listed.chain(self.late.keys()).copied());
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
            prop_assert!(things.kept.len() <= 4 * (things.kept.len() - things.gone) + 64);
        }
    }
}
