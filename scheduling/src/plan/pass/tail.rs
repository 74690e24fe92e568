//! The end of a long queue, which moves as a whole.
//!
//! When something ends early, what is next in order of start moves up one by one, each by as much as
//! what it waited for. Where all that reaches behind some instant has moved by the same time, whatever
//! starts after that instant has the same before it as ever, only so much earlier: it moves by that
//! time, too, and none of it by more, unless it finds a place among what has moved otherwise. So the
//! rest of the plan is moved as one.

use haggle_model::{Span, Time};

use super::Pass;
use crate::index::class_of;
use crate::plan::waiting::Entry;
use crate::scheduler::BEYOND_ALL_LIMITS;

/// Jobs at the end of a queue from which on it pays to move them as one.
const LONG: usize = 16;

/// What one pass in order of start has come to so far.
#[derive(Debug)]
pub(super) struct Tail {
    /// By how much what moved has moved, for the most part.
    by: Span,
    /// The latest amount.
    last: Span,
    /// All that was to end after this has moved by so much.
    from: Time,
    /// Latest end of all that has been looked at, before it moved, and of what does not wait.
    ends: Time,
    /// The first place in the list from which on all may move as one.
    first: usize,
}

impl Tail {
    /// A pass begins, and nothing that does not wait ends after `ends`.
    pub(super) fn new(ends: Time) -> Tail {
        Tail { by: Span::ZERO, last: Span::ZERO, from: Time::FOREVER, ends, first: 0 }
    }

    /// What was to end at `end` has moved by so much.
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
    /// Moves all from this place of the list on as one, if they would one by one.
    pub(super) fn move_tail(&mut self, list: &mut [Entry], place: usize, tail: &mut Tail) -> bool {
        let (before, rest) = list.split_at_mut(place);
        let starts = rest[0].booked;
        let known = starts > tail.from && place >= tail.first && tail.by > Span::ZERO;
        if !known || rest.len() < LONG || rest[rest.len() - 1].booked >= BEYOND_ALL_LIMITS {
            return false;
        }
        // Between what has moved and what has not, this is taken out.
        let end = starts - Span::TICK;
        let start = end - tail.by;
        if let Some(other) = self.first_other(rest, tail, start) {
            tail.first = place + other + 1;
            return false;
        }
        // What reaches behind it gets its place back there, so that all behind it is as it was.
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

    /// The first of the `rest` that may not move with the others: it cannot start so early, or finds
    /// a place before all that has moved otherwise, if all that is free from there to `cut` can be
    /// used, and what follows it.
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
        // Nor does what is no smaller than one that has found no place.
        let mut vain: Vec<Option<(u32, Span)>> = vec![None; rooms.len()];
        rest.iter().position(|entry| {
            let Entry { span, processors, booked, slot, .. } = *entry;
            // The end of all time does not come earlier.
            if booked + span >= Time::FOREVER {
                return true;
            }
            if self.not_before.get(slot).is_some_and(|ready| booked - tail.by < ready) {
                return true;
            }
            let class = class_of(processors);
            let is_vain =
                vain[class].is_some_and(|(width, time)| width <= processors && time <= span);
            if is_vain || span > rooms[class] {
                return false;
            }
            let fits = profile.fits_by(processors, span, self.now, limit - Span::TICK, cut);
            if !fits {
                vain[class] = Some((processors, span));
            }
            fits
        })
    }
}
