//! Where to begin looking for an earliest fit when the queue is deep.
//!
//! While nothing is given back, availability only shrinks: what did not fit
//! before some instant will not fit there later, nor will anything wider or
//! longer. So for each class of (width, span) the earliest fit of the smallest
//! job of the class is kept. It only moves on, which makes a burst of
//! submissions cost one walk over the profile for each class and not one for
//! each job.

use haggle_model::{Span, Time};

use crate::Profile;

/// Leading bits by which a class is known, the first of which is always 1.
const BITS: u32 = 2;

/// Classes of numbers up to 2^63.
const CLASSES: usize = 64 << (BITS - 1);

/// Earliest fits by class of width and span.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    /// Empty until the first use after something was given back.
    earliest: Vec<Time>,
}

impl Hints {
    /// Something was given back: nothing is known any more.
    pub(crate) fn forget(&mut self) {
        self.earliest.clear();
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

    /// The same in what is no [`Profile`]: `search(processors, span, from)` says where the first
    /// fit is.
    pub(crate) fn earliest_in(
        &mut self,
        processors: u32,
        span: Span,
        now: Time,
        search: impl FnOnce(u32, Span, Time) -> Option<Time>,
    ) -> Time {
        self.advance(processors, span, now, Time::FOREVER, search)
    }

    /// The same, but no more than that it cannot start by `latest` where that is so.
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
        let (width_class, width) = class(u64::from(processors));
        let (span_class, shortest) = class(span.as_micros() as u64);
        let place = width_class * CLASSES + span_class;
        if place >= self.earliest.len() {
            self.earliest.resize((width_class + 1) * CLASSES, Time::ZERO);
        }
        let from = self.earliest[place].max(now);
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

/// The class of a number above zero, and the smallest number in it.
fn class(number: u64) -> (usize, u64) {
    let exponent = number.max(1).ilog2();
    let dropped = (exponent + 1).saturating_sub(BITS);
    let leading = (number >> dropped) as usize;
    (
        ((exponent as usize) << (BITS - 1)) | (leading & ((1 << (BITS - 1)) - 1)),
        number >> dropped << dropped,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_ordered_and_begin_at_or_below_their_numbers() {
        let mut before = class(1);
        for number in 1..5_000 {
            let (place, smallest) = class(number);
            assert!(smallest <= number && number - smallest <= number / 2, "{number}");
            assert!(place >= before.0, "{number}");
            if place == before.0 && number > 4 {
                assert_eq!(smallest, before.1, "{number}");
            }
            before = (place, smallest);
        }
        assert!(class(u64::MAX >> 1).0 < CLASSES);
    }
}
