//! Free times of several providers, as they have been told, kept so that searches pass over what is full.

use std::cell::RefCell;

use haggle_model::{Span, Time};

use super::{FreeTimes, Stretch};
use crate::Profile;
use crate::hints::Hints;

/// Free times by the places of providers, and how many processors are free at all of them together:
/// where these are too few, nobody has to be looked at.
#[derive(Clone, Debug)]
pub struct Together {
    places: Vec<Profile>,
    all: Profile,
    /// What counts of one provider among all, so that no sum is too large.
    most: u32,
    /// Before when nothing fits, until something is given back.
    hints: RefCell<Hints>,
    /// How many parts are lifted out for a while.
    lifted: usize,
}

/// By how many processors a course differs from another, from when on.
type Bends = Vec<(Time, i32)>;

/// What [`Together::lift`] has changed.
#[derive(Clone, Debug)]
pub struct Put {
    place: usize,
    bends: Bends,
    in_all: Bends,
}

impl Together {
    /// Nothing is known to be free.
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

    /// Puts a stretch in the place of what was known of a provider then.
    pub fn put(&mut self, place: usize, stretch: &Stretch) {
        let put = self.change(place, stretch);
        let mut more = 0;
        let gives_back = |&(_, by): &(Time, i32)| {
            more += by;
            more > 0
        };
        if put.in_all.iter().any(gives_back) {
            self.hints.get_mut().forget();
        }
    }

    /// The same until it is [taken back](Together::take_back).
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

    /// Makes what was known before known again.
    pub fn take_back(&mut self, put: &Put) {
        self.lifted -= 1;
        self.bend(put, -1);
    }

    fn bend(&mut self, put: &Put, sign: i32) {
        let signed = |bends: &Bends| Vec::from_iter(bends.iter().map(|&(at, by)| (at, by * sign)));
        self.places[put.place].change_course(signed(&put.bends).into_iter());
        self.all.change_course(signed(&put.in_all).into_iter());
    }

    /// What a stretch changes of a provider's course, of which no more than `most` counts.
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

    /// Forgets what was before `now`.
    pub fn forget_before(&mut self, now: Time) {
        self.all.forget_before(now);
        self.places.iter_mut().for_each(|place| place.forget_before(now));
    }

    /// How many providers.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no providers.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// All that is known of a provider.
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

    /// Earliest start from `from` on and before `until` at which so many processors are free
    /// everywhere together, though not all of them at the same places, during `span`.
    pub(super) fn earliest_chance(
        &self,
        processors: u32,
        span: Span,
        from: Time,
        until: Time,
    ) -> Option<Time> {
        let (processors, latest) = (processors.min(self.most), until - Span::TICK);
        self.all.earliest_fit_by(processors, span, from, latest)
    }

    /// An instant from `now` on before which so many are not free together during `span`.
    pub(super) fn not_before(&self, processors: u32, span: Span, now: Time) -> Time {
        if self.lifted > 0 {
            return now;
        }
        let mut hints = self.hints.borrow_mut();
        hints.earliest(&self.all, processors.min(self.most), span, now).max(now)
    }

    /// The first time after another at which somebody has more or fewer free.
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
