//! What a metascheduler knows of its providers' free times: they tell what has changed since it was
//! told last, and all that they have told stays known.

use haggle_model::Time;
use haggle_scheduling::coallocation::{FreeTimes, News, Put, Stretch, Together};

/// Free times by the places of providers.
#[derive(Debug)]
pub(super) struct Known {
    free: Together,
    news: News,
}

impl Known {
    /// Nobody has told anything yet.
    pub(super) fn nothing(providers: usize) -> Known {
        Known { free: Together::nothing(providers), news: News::default() }
    }

    /// A provider has told what has changed.
    pub(super) fn hear(&mut self, place: usize, changed: &Stretch) {
        self.free.put(place, changed);
        if let Some((begin, end)) = changed.bounds() {
            self.news.add(begin, end);
        }
    }

    /// How often something has changed, and in which stretch all that is since it was so often.
    pub(super) fn news(&self, since: Option<u64>) -> (u64, Option<(Time, Time)>) {
        let since = since.unwrap_or_default();
        (self.news.count(), self.news.since(since))
    }

    /// Shows what is free from `from` on, before which nobody looks any more, for a job whose `own` parts
    /// are taken away.
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
        put.iter().rev().for_each(|put| self.free.take_back(put));
        seen
    }

    /// The same as lists; nothing is known of who is not asked before [`Time::FOREVER`].
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
