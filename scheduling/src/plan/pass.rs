//! One pass over jobs that wait: each that can start earlier does, one after the other.
//!
//! Which ones can, and where to, say the openings: the schedules are those of the obvious version,
//! which tries all of them, job for job; the tests compare them.

mod tail;

use haggle_model::{Span, Time};

use self::tail::Tail;
use super::Plan;
use super::openings::Openings;
use super::waiting::Entry;
use crate::not_before::NotBefore;
use crate::scheduler::Slot;

/// What a pass works on.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    pub(crate) plan: &'a mut Plan,
    pub(crate) openings: &'a mut Openings,
    pub(crate) not_before: &'a NotBefore,
    /// Those who are to be tried on all that is free, few; where there are any, none move as one.
    pub(crate) untried: &'a [Slot],
    pub(crate) now: Time,
}

/// Who has another start after a pass.
#[derive(Debug)]
pub(crate) struct Moved {
    /// Places of the list, ascending.
    pub(crate) places: Vec<usize>,
    /// All from this place on.
    pub(crate) tail: usize,
}

impl Pass<'_> {
    /// In any order.
    pub(crate) fn one_by_one(mut self, list: &mut [Entry]) -> Moved {
        self.begin(list);
        let mut places = Vec::new();
        for (place, entry) in list.iter_mut().enumerate() {
            // Jobs before this one get their chance in the next pass.
            if self.move_up(entry, true).is_some() {
                places.push(place);
            }
        }
        Moved { places, tail: list.len() }
    }

    /// In order of start, where the list is that and its keys begin with it; nothing else is booked to
    /// end after `ends`.
    pub(crate) fn by_start(mut self, list: &mut [Entry], ends: Time) -> Moved {
        let given_back = self.openings.noted().iter().map(|region| region.end).max();
        self.begin(list);
        let ends = if self.untried.is_empty() { ends } else { Time::FOREVER };
        let (mut places, mut tail) = (Vec::new(), Tail::new(ends.max(given_back.unwrap_or(ends))));
        for place in 0..list.len() {
            if self.move_tail(list, place, &mut tail) {
                return Moved { places, tail: place };
            }
            let entry = &mut list[place];
            let end = entry.booked + entry.span;
            let by = self.move_up(entry, false);
            tail.moved(end, by.unwrap_or(Span::ZERO));
            if by.is_some() {
                entry.key.0 = entry.booked.as_micros();
                places.push(place);
            }
        }
        Moved { places, tail: list.len() }
    }

    fn begin(&mut self, list: &[Entry]) {
        let jobs = list.iter().map(|entry| (entry.processors, entry.span));
        self.openings.begin_pass(self.plan.profile(), self.now, jobs);
    }

    /// Moves a job, if it can; says by how much.
    fn move_up(&mut self, entry: &mut Entry, in_next_pass: bool) -> Option<Span> {
        let Pass { plan, openings, not_before, untried, now } = self;
        let Entry { booked, span, processors, slot, .. } = *entry;
        let from = not_before.from(*now, slot);
        let profile = plan.profile();
        let earlier = match untried.contains(&slot) {
            true => profile.earlier_fit(processors, span, from, booked)?.start,
            false => openings.earlier_fit(profile, processors, span, booked, from, *now)?,
        };
        let left_behind = plan.move_up(processors, span, booked, earlier);
        openings.moved(plan.profile(), left_behind, *now, in_next_pass);
        entry.booked = earlier;
        Some(booked - earlier)
    }
}
