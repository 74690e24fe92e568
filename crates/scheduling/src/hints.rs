//! Starts of the search for an earliest fit when the queue is deep.
//!
//! While nothing is given back, availability only shrinks. A job that did not fit before some instant will
//! not fit there later, nor will a wider or longer one. So the earliest fit of the smallest job is kept for
//! each class of (width, span). It only moves on. So a burst of submissions costs one walk over the profile
//! for each class, not one for each job. Finer classes give better bounds and cost more walks; they did not
//! pay off.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::Profile;

/// Earliest fits by class of width and span.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hints {
    /// Number of leading bits that define a class; the first one is always 1.
    bits: u32,
    /// Empty until the first use after something was given back.
    earliest: Vec<Time>,
    /// True if nothing has been booked since the search, so that another search would find the same.
    fresh: Vec<bool>,
}

impl Default for Hints {
    fn default() -> Self {
        Hints { bits: 1, earliest: Vec::new(), fresh: Vec::new() }
    }
}

impl Hints {
    /// With finer classes, for a caller that books every job it searches for: its searches begin nearer to
    /// where they end.
    pub(crate) fn fine() -> Hints {
        Hints { bits: 3, ..Hints::default() }
    }

    /// Classes of spans.
    fn classes(&self) -> usize {
        64 << (self.bits - 1)
    }

    /// Something was given back: all bounds are dropped.
    pub(crate) fn forget(&mut self) {
        self.earliest.clear();
        self.fresh.clear();
    }

    /// Something was booked: another search may find less, and the present bounds still hold.
    pub(crate) fn booked(&mut self) {
        self.fresh.fill(false);
    }

    /// An instant before which the job cannot start.
    pub(crate) fn earliest(
        &mut self,
        profile: &Profile,
        processors: u32,
        span: Span,
        now: Time,
    ) -> Time {
        self.earliest_by(profile, processors, span, now, Time::FOREVER)
    }

    /// As [`Hints::earliest`], for availability that is no [`Profile`]: `search(processors, span, from)`
    /// returns the first fit. A caller that searches more than once must call [`Hints::booked`] after
    /// bookings in between.
    pub(crate) fn earliest_in(
        &mut self,
        processors: u32,
        span: Span,
        now: Time,
        search: impl FnOnce(u32, Span, Time) -> Option<Time>,
    ) -> Time {
        let (width_class, _) = class(u64::from(processors), self.bits);
        let (span_class, _) = class(span.as_micros() as u64, self.bits);
        let place = width_class * self.classes() + span_class;
        if self.fresh.get(place) == Some(&true) && self.earliest[place] >= now {
            return self.earliest[place];
        }
        let earliest = self.advance(processors, span, now, Time::FOREVER, search);
        self.fresh.resize(self.earliest.len(), false);
        self.fresh[place] = true;
        earliest
    }

    /// As [`Hints::earliest`], but the search ends at `latest`: then the result is only a bound behind it.
    pub(crate) fn earliest_by(
        &mut self,
        profile: &Profile,
        processors: u32,
        span: Span,
        now: Time,
        latest: Time,
    ) -> Time {
        self.advance(processors, span, now, latest, |processors, span, from| {
            profile.earliest_fit_by(processors, span, from, latest)
        })
    }

    fn advance(
        &mut self,
        processors: u32,
        span: Span,
        now: Time,
        latest: Time,
        search: impl FnOnce(u32, Span, Time) -> Option<Time>,
    ) -> Time {
        let classes = self.classes();
        let (width_class, width) = class(u64::from(processors), self.bits);
        let (span_class, shortest) = class(span.as_micros() as u64, self.bits);
        let place = width_class * classes + span_class;
        if place >= self.earliest.len() {
            self.earliest.resize((width_class + 1) * classes, Time::PAST);
        }
        let mut from = self.earliest[place].max(now);
        // The bounds of the next narrower and the next shorter class hold, too.
        if width_class > 0 {
            from = from.max(self.earliest[place - classes]);
        }
        if span_class > 0 {
            from = from.max(self.earliest[place - 1]);
        }
        if from > latest {
            return from;
        }
        let shortest = Span::from_micros(shortest as i64);
        let never = (latest + Span::TICK).min(Time::FOREVER);
        let earliest = search(width as u32, shortest, from).unwrap_or(never);
        self.earliest[place] = earliest;
        earliest
    }
}

/// The class of a number above zero, by its first `bits` leading bits, and the smallest number in it.
fn class(number: u64, bits: u32) -> (usize, u64) {
    let exponent = number.max(1).ilog2();
    let dropped = (exponent + 1).saturating_sub(bits);
    let behind_first = (number >> dropped) & ((1 << (bits - 1)) - 1);
    let class = (exponent as usize) << (bits - 1) | behind_first as usize;
    (class, number.max(1) >> dropped << dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_ordered_and_begin_at_or_below_their_numbers() {
        for bits in 1..4 {
            let mut before = class(1, bits);
            for number in 1..5_000 {
                let (place, smallest) = class(number, bits);
                assert!(smallest <= number, "{number}");
                assert!(
                    (number - smallest) << (bits - 1) < number,
                    "{number} is in too wide a class"
                );
                assert!(place >= before.0, "{number}");
                if place == before.0 {
                    assert_eq!(smallest, before.1, "{number}");
                }
                before = (place, smallest);
            }
            assert!(class(u64::MAX >> 1, bits).0 < 64 << (bits - 1));
        }
    }
}
