//! Bounds from earlier searches of a pass for later ones.
//!
//! While jobs are booked one after the other and nothing is given back, availability only shrinks. The earliest fit
//! of a job is then a bound for each later job that is at least as wide and at least as long. The bounds are kept by
//! class of width and span in a two-dimensional Fenwick tree of maxima, so that no search is made for their sake.

use haggle_model::{Span, Time};

/// Number of leading bits that define a class; the first one is always 1.
const BITS: u32 = 4;

/// Lower bounds of earliest fits by width and span.
#[derive(Clone, Debug)]
pub(crate) struct Dominated {
    widths: usize,
    spans: usize,
    bounds: Vec<Time>,
}

impl Dominated {
    /// For a machine of `processors`; no bound is known.
    pub(crate) fn new(processors: u32) -> Dominated {
        let widths = class_above(u64::from(processors)) + 1;
        let spans = class_above(u64::MAX >> 1) + 1;
        Dominated { widths, spans, bounds: vec![Time::PAST; (widths + 1) * (spans + 1)] }
    }

    /// Notes that a job fits nowhere before `start`.
    pub(crate) fn note(&mut self, processors: u32, span: Span, start: Time) {
        let first = class_above(span.as_micros() as u64) + 1;
        let mut width = class_above(u64::from(processors)) + 1;
        while width <= self.widths {
            let mut at = first;
            while at <= self.spans {
                let bound = &mut self.bounds[width * (self.spans + 1) + at];
                *bound = start.max(*bound);
                at += at & at.wrapping_neg();
            }
            width += width & width.wrapping_neg();
        }
    }

    /// An instant before which a job does not fit.
    pub(crate) fn earliest(&self, processors: u32, span: Span) -> Time {
        let first = class_of(span.as_micros() as u64) + 1;
        let mut width = class_of(u64::from(processors)) + 1;
        let mut earliest = Time::PAST;
        while width > 0 {
            let mut at = first;
            while at > 0 {
                earliest = earliest.max(self.bounds[width * (self.spans + 1) + at]);
                at &= at - 1;
            }
            width &= width - 1;
        }
        earliest
    }
}

/// The class of a number above zero: its leading bits, and the number of its other bits.
fn class_of(number: u64) -> usize {
    let dropped = (number.max(1).ilog2() + 1).saturating_sub(BITS);
    // Numbers with fewer bits have smaller classes.
    ((dropped as usize) << (BITS - 1)) + (number.max(1) >> dropped) as usize
}

/// The first class whose numbers are all at least `number`.
fn class_above(number: u64) -> usize {
    let class = class_of(number);
    class + usize::from(number > 1 && class_of(number - 1) == class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_ascend_and_the_class_above_holds_nothing_smaller() {
        for number in 1..5_000_u64 {
            assert!(class_of(number) <= class_of(number + 1), "{number}");
            let above = class_above(number);
            let in_it = (1..2 * number + 2).find(|&other| class_of(other) >= above);
            assert!(in_it.is_some_and(|first| first >= number), "{number}");
        }
    }

    /// A bound comes from jobs that are no wider and no longer, and from the latest of them.
    #[test]
    fn a_bound_holds_for_jobs_that_are_as_wide_and_as_long() {
        let mut known = Dominated::new(64);
        let mut noted: Vec<(u32, i64, i64)> = Vec::new();
        let mut state = 7;
        let mut draw = |below: u64| {
            state = haggle_model::random::splitmix(state);
            (state % below) as i64
        };
        for _ in 0..300 {
            let (processors, span) = (draw(64) as u32 + 1, draw(9_000) + 1);
            let allowed = noted.iter().filter(|it| it.0 <= processors && it.1 <= span);
            let latest = allowed.map(|it| it.2).max().unwrap_or(0);
            let bound = known.earliest(processors, Span::from_micros(span)).as_micros();
            assert!(bound <= latest, "{processors} for {span}: {bound} and {latest}");
            let start = draw(1_000);
            known.note(processors, Span::from_micros(span), Time::from_micros(start));
            noted.push((processors, span, start));
            let (wide, long) = (2 * processors, Span::from_micros(2 * span));
            let twice = if wide <= 64 { known.earliest(wide, long).as_micros() } else { start };
            assert!(twice >= start, "{processors} for {span}");
        }
    }
}
