//! Free times of several providers, as disclosed, stored so that searches skip full times.

use std::cell::RefCell;

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::{FreeTimes, Stretch};
use crate::Profile;
use crate::hints::Hints;

/// Free times by the places of providers, and their sum. Where the sum is too small, no provider must be
/// examined.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Together {
    places: Vec<Profile>,
    all: Profile,
    /// Largest count of one provider in the sum, so that the sum cannot overflow.
    most: u32,
    /// Bounds before which nothing fits, valid until something is given back.
    hints: RefCell<Hints>,
    /// Number of parts that are lifted out at present.
    lifted: usize,
}

/// Differences of one course from another: (from when, processors more or fewer).
type Bends = Vec<(Time, i32)>;

/// The changes made by [`Together::lift`].
#[derive(Clone, Debug)]
pub struct Put {
    place: usize,
    bends: Bends,
    in_all: Bends,
}

impl Together {
    /// No free processors are known.
    pub fn nothing(providers: usize) -> Together {
        let most = i32::MAX as u32 / providers.max(1) as u32;
        Together {
            places: vec![Profile::of_none(); providers],
            all: Profile::of_none(),
            most,
            hints: RefCell::new(Hints::fine()),
            lifted: 0,
        }
    }

    /// Replaces the known free times of a provider during a stretch.
    pub fn put(&mut self, place: usize, stretch: &Stretch) {
        let put = self.change(place, stretch);
        let mut more = 0;
        let gives_back = |&(_, by): &(Time, i32)| {
            more += by;
            more > 0
        };
        // Hints are too late as soon as more processors are free than before at any time.
        if put.in_all.iter().any(gives_back) {
            self.hints.get_mut().forget();
        }
    }

    /// As [`Together::put`], until it is [taken back](Together::take_back).
    pub fn lift(&mut self, place: usize, stretch: &Stretch) -> Put {
        self.lifted += 1;
        self.change(place, stretch)
    }

    fn change(&mut self, place: usize, stretch: &Stretch) -> Put {
        let put = Put {
            place,
            bends: self.bends(place, stretch, i32::MAX as u32),
            in_all: self.bends(place, stretch, self.most),
        };
        self.bend(&put, 1);
        put
    }

    /// Restores the free times known before.
    pub fn take_back(&mut self, put: &Put) {
        self.lifted -= 1;
        self.bend(put, -1);
    }

    fn bend(&mut self, put: &Put, sign: i32) {
        let signed = |bends: &Bends| Vec::from_iter(bends.iter().map(|&(at, by)| (at, by * sign)));
        self.places[put.place].change_course(signed(&put.bends).into_iter());
        self.all.change_course(signed(&put.in_all).into_iter());
    }

    /// Bends by which a stretch changes a provider's course, of which at most `most` processors count.
    fn bends(&self, place: usize, stretch: &Stretch, most: u32) -> Bends {
        let Some((from, until)) = stretch.bounds() else { return Bends::new() };
        let old = self.places[place].steps_from(from);
        let mut old = old.map(|(time, free)| (time.max(from), free.min(most) as i32)).peekable();
        let new = stretch.steps().iter().map(|&(time, free)| (time, free.min(most) as i32));
        let mut new = new.peekable();
        let (mut bends, mut was, mut is, mut by) = (Bends::new(), 0, 0, 0);
        loop {
            let next = |steps: Option<&(Time, i32)>| steps.map_or(until, |&(time, _)| time);
            let time = next(old.peek()).min(next(new.peek())).min(until);
            let ends = time == until;
            if let Some((_, free)) = old.next_if(|step| step.0 == time) {
                was = free;
            }
            if let Some((_, free)) = new.next_if(|step| step.0 == time) {
                is = free;
            }
            let differs = if ends { 0 } else { is - was };
            if differs != by {
                bends.push((time, differs - by));
                by = differs;
            }
            if ends {
                return bends;
            }
        }
    }

    /// Forgets the time before `now`.
    pub fn forget_before(&mut self, now: Time) {
        self.all.forget_before(now);
        self.places.iter_mut().for_each(|place| place.forget_before(now));
    }

    /// Number of providers.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns whether there are no providers.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// All known free times of a provider.
    pub fn free_times(&self, place: usize) -> FreeTimes {
        FreeTimes::new(self.places[place].steps().collect()).expect("steps of a profile ascend")
    }

    /// Fewest free processors of a provider during `[start, end)`.
    pub fn min_free(&self, place: usize, start: Time, end: Time) -> u32 {
        self.places[place].min_free(start, end.max(start + Span::TICK))
    }

    /// Earliest start from `from` on at which `processors` of a provider are free during `span`.
    pub fn earliest_fit(
        &self,
        place: usize,
        processors: u32,
        span: Span,
        from: Time,
    ) -> Option<Time> {
        self.places[place].earliest_fit(processors, span, from)
    }

    /// Earliest start from `from` on and before `until` at which `processors` are free in total during
    /// `span`, though not necessarily at the same places.
    pub(super) fn earliest_chance(
        &self,
        processors: u32,
        span: Span,
        from: Time,
        until: Time,
    ) -> Option<Time> {
        // The sum counts at most this many processors of each provider.
        let (processors, latest) = (processors.min(self.most), until - Span::TICK);
        self.all.earliest_fit_by(processors, span, from, latest)
    }

    /// An instant from `now` on before which `processors` are not free in total during `span`.
    pub(super) fn not_before(&self, processors: u32, span: Span, now: Time) -> Time {
        // Hints hold only while nothing is given back, and a lifted part counts as given back.
        if self.lifted > 0 {
            return now;
        }
        let mut hints = self.hints.borrow_mut();
        hints.earliest(&self.all, processors.min(self.most), span, now).max(now)
    }

    /// The first time after `after` at which the free processors of any provider change.
    pub(super) fn next_step(&self, after: Time) -> Option<Time> {
        self.places.iter().filter_map(|place| place.next_step(after)).min()
    }
}

impl From<Vec<FreeTimes>> for Together {
    fn from(free: Vec<FreeTimes>) -> Together {
        let mut together = Together::nothing(free.len());
        for (place, free) in free.iter().enumerate() {
            together.put(place, &free.whole());
        }
        together
    }
}
