//! What a metascheduler knows of its providers' free times: they tell what has changed since it was
//! told last, and all that they have told stays known.

use haggle_model::Time;
use haggle_scheduling::coallocation::{FreeTimes, News, Stretch};

/// Free times by the places of providers.
#[derive(Debug)]
pub(super) struct Known {
    free: Vec<FreeTimes>,
    news: News,
}

impl Known {
    /// Nobody has told anything yet.
    pub(super) fn nothing(providers: usize) -> Known {
        Known { free: vec![FreeTimes::none(); providers], news: News::default() }
    }

    /// A provider has told what has changed.
    pub(super) fn hear(&mut self, now: Time, place: usize, changed: &Stretch) {
        let free = &mut self.free[place];
        free.forget_before(now);
        free.put(changed);
        if let Some((begin, end)) = changed.bounds() {
            self.news.add(begin, end);
        }
    }

    /// A provider has told all that it tells.
    pub(super) fn replace(&mut self, place: usize, free: FreeTimes) {
        self.free[place] = free;
        self.news.add(Time::ZERO, Time::FOREVER);
    }

    /// How often something has changed, and in which stretch all that is since it was so often.
    pub(super) fn news(&self, since: Option<u64>) -> (u64, Option<(Time, Time)>) {
        let since = since.unwrap_or_default();
        (self.news.count(), self.news.since(since))
    }

    /// Shows what is free for a job whose `own` parts are taken away; nothing is known of who is not
    /// asked before [`Time::FOREVER`].
    pub(super) fn see<T>(
        &mut self,
        own: &[(usize, Stretch)],
        not_before: &[Time],
        look: impl FnOnce(&[FreeTimes]) -> T,
    ) -> T {
        let put = |(place, stretch): &(usize, Stretch)| (*place, self.free[*place].put(stretch));
        let booked: Vec<(usize, Stretch)> = own.iter().map(put).collect();
        let unasked = not_before.iter().enumerate().filter(|(_, it)| **it == Time::FOREVER);
        let hide = |(place, _)| (place, std::mem::take(&mut self.free[place]));
        let hidden: Vec<(usize, FreeTimes)> = unasked.map(hide).collect();
        let seen = look(&self.free);
        for (place, free) in hidden {
            self.free[place] = free;
        }
        for (place, stretch) in booked {
            self.free[place].put(&stretch);
        }
        seen
    }
}
