//! Knowledge of a metascheduler about the free times of its providers: they report changes since their last report,
//! and all earlier reports stay valid.

use haggle_model::{Span, Time};
use haggle_scheduling::coallocation::{FreeTimes, News, Put, Stretch, Together};
use serde::{Deserialize, Serialize};

/// Free times by the places of providers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Known {
    free: Together,
    news: News,
    /// Most processors that each provider has reported as free without end.
    most: Vec<u32>,
    /// Processors that each provider has reported last as free without end.
    last: Vec<u32>,
}

impl Known {
    /// No provider has reported anything yet.
    pub(super) fn nothing(providers: usize) -> Known {
        let free = Together::nothing(providers);
        let none = vec![0; providers];
        Known { free, news: News::default(), most: none.clone(), last: none }
    }

    /// Records changes that a provider has reported. Returns whether more of its processors are free without end
    /// than before.
    pub(super) fn hear(&mut self, place: usize, changed: &Stretch) -> bool {
        self.free.put(place, changed);
        let Some((begin, end)) = changed.bounds() else { return false };
        self.news.add(begin, end);
        // Nothing is booked so late, except on processors that are down.
        let free = self.free.min_free(place, Time::FOREVER - Span::TICK, Time::FOREVER);
        self.most[place] = self.most[place].max(free);
        free > std::mem::replace(&mut self.last[place], free)
    }

    /// Processors that each provider has reported last as free without end.
    pub(super) fn last(&self) -> &[u32] {
        &self.last
    }

    /// Free times as they would be if all processors were up and idle.
    pub(super) fn without_failures(&self) -> Together {
        let mut free = Together::nothing(self.most.len());
        for (place, &processors) in self.most.iter().enumerate() {
            if let Some(times) = FreeTimes::new(vec![(Time::ZERO, processors)]) {
                free.put(place, &times.whole());
            }
        }
        free
    }

    /// Number of changes so far, and the stretch that holds all changes since the first `since` of them.
    pub(super) fn news(&self, since: Option<u64>) -> (u64, Option<(Time, Time)>) {
        let since = since.unwrap_or_default();
        (self.news.count(), self.news.since(since))
    }

    /// Passes to `look` what is free for a job, whose `own` parts count as free. Times before `from` are forgotten,
    /// because no later search needs them.
    pub(super) fn see<T>(
        &mut self,
        from: Time,
        own: &[(usize, Stretch)],
        look: impl FnOnce(&Together) -> T,
    ) -> T {
        self.free.forget_before(from);
        let put = |(place, stretch): &(usize, Stretch)| self.free.lift(*place, stretch);
        let put: Vec<Put> = own.iter().map(put).collect();
        let seen = look(&self.free);
        // In reverse, because each change was made upon the ones before it.
        put.iter().rev().for_each(|put| self.free.take_back(put));
        seen
    }

    /// The same as lists. A provider whose `not_before` is [`Time::FOREVER`] has no free times.
    pub(super) fn see_lists<T>(
        &mut self,
        from: Time,
        own: &[(usize, Stretch)],
        not_before: &[Time],
        look: impl FnOnce(&[FreeTimes]) -> T,
    ) -> T {
        self.see(from, own, |free| {
            let known = |(place, &it): (usize, &Time)| match it {
                Time::FOREVER => FreeTimes::none(),
                _ => free.free_times(place),
            };
            look(&Vec::from_iter(not_before.iter().enumerate().map(known)))
        })
    }
}
