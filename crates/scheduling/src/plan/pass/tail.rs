//! The end of a long queue, which moves as a whole.
//!
//! After an early end the next jobs in order of start move up one by one, each by as much as the job it
//! waited for. Suppose that all bookings that reach beyond some instant have moved by the same span. Then a
//! job that starts after that instant finds the same bookings before it, only earlier by that span. So it
//! moves by that span, too. It moves by more only if it fits among bookings that moved by other spans. So
//! the rest of the plan is moved as one.

use haggle_model::{Span, Time};

use super::Pass;
use crate::index::class_of;
use crate::plan::waiting::Entry;
use crate::scheduler::BEYOND_ALL_LIMITS;

/// Fewest jobs at the end of a queue for which moving them as one pays off.
const LONG: usize = 16;

/// Progress of a pass in order of start.
#[derive(Debug)]
pub(super) struct Tail {
    /// The span by which most of the moved jobs have moved.
    by: Span,
    /// The span of the latest move.
    last: Span,
    /// All jobs planned to end after this have moved by `by`.
    from: Time,
    /// Latest end of all jobs examined, before they moved, and of all that does not wait.
    ends: Time,
    /// The first place in the list from which on all jobs may move as one.
    first: usize,
}

impl Tail {
    /// A pass begins; nothing beside the waiting jobs ends after `ends`.
    pub(super) fn new(ends: Time) -> Tail {
        Tail { by: Span::ZERO, last: Span::ZERO, from: Time::FOREVER, ends, first: 0 }
    }

    /// The job planned to end at `end` has moved by `by`.
    pub(super) fn moved(&mut self, end: Time, by: Span) {
        self.ends = self.ends.max(end);
        if by != self.by && by == self.last {
            (self.by, self.from) = (by, self.ends + by);
        }
        if by != self.by {
            self.from = self.from.max(end + (self.by - by).max(Span::ZERO));
        }
        if by > Span::ZERO {
            self.last = by;
        }
    }
}

impl Pass<'_> {
    /// Moves all jobs from this place of the list on as one, if each would move so.
    pub(super) fn move_tail(&mut self, list: &mut [Entry], place: usize, tail: &mut Tail) -> bool {
        let (before, rest) = list.split_at_mut(place);
        let starts = rest[0].booked;
        let known = starts > tail.from && place >= tail.first && tail.by > Span::ZERO;
        if !known || rest.len() < LONG || rest[rest.len() - 1].booked >= BEYOND_ALL_LIMITS {
            return false;
        }
        // This stretch, between moved and unmoved jobs, is cut out.
        let end = starts - Span::TICK;
        let start = end - tail.by;
        if let Some(other) = self.first_other(rest, tail, start) {
            tail.first = place + other + 1;
            return false;
        }
        // A booking that reaches behind the cut is first set back there, for the cut moves all behind it
        // up.
        let reaches = || before.iter().filter(|entry| entry.booked + entry.span > start);
        let profile = self.plan.profile_mut();
        for &Entry { booked, span, processors, .. } in reaches() {
            profile.remove(booked.max(end), booked + span, processors);
        }
        for &Entry { booked, span, processors, .. } in reaches() {
            let booked = booked + tail.by;
            profile.add(booked.max(end), booked + span, processors);
        }
        profile.cut(start, end);
        for entry in rest {
            entry.booked = entry.booked - tail.by;
            entry.key.0 = entry.booked.as_micros();
        }
        true
    }

    /// The first job of `rest` that may not move with the others. Either it cannot start so early, or it
    /// fits among bookings that moved by other spans. Such a fit counts if its processors are free until
    /// `cut`: the time behind it is assumed free.
    fn first_other(&self, rest: &[Entry], tail: &Tail, cut: Time) -> Option<usize> {
        let limit = tail.from - tail.by;
        let profile = self.plan.profile();
        let mut rooms = self.openings.longest_before(limit);
        for (class, room) in rooms.iter_mut().enumerate() {
            let across = profile.free_since(1 << class, cut, self.now);
            if across.is_some_and(|since| since < limit) {
                *room = Span::FOREVER;
            }
        }
        // A job no smaller than one that found no place finds none, either.
        let mut too_large: Vec<Option<(u32, Span)>> = vec![None; rooms.len()];
        rest.iter().position(|entry| {
            let Entry { span, processors, booked, slot, .. } = *entry;
            // The end of all time does not move.
            if booked + span >= Time::FOREVER {
                return true;
            }
            if self.not_before.get(slot).is_some_and(|ready| booked - tail.by < ready) {
                return true;
            }
            let class = class_of(processors);
            let is_too_large =
                too_large[class].is_some_and(|(width, time)| width <= processors && time <= span);
            if is_too_large || span > rooms[class] {
                return false;
            }
            let fits = profile.fits_by(processors, span, self.now, limit - Span::TICK, cut);
            if !fits {
                too_large[class] = Some((processors, span));
            }
            fits
        })
    }
}
