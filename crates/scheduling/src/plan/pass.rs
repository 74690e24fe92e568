//! One pass over waiting jobs: each job that can start earlier is moved up, one after the other.
//!
//! The openings show which jobs can move, and where to. The schedules equal those of the obvious version,
//! which tries all jobs, job for job; the tests compare them.

mod tail;

use haggle_model::{Span, Time};

use self::tail::Tail;
use super::Plan;
use super::openings::Openings;
use super::waiting::Entry;
use crate::not_before::NotBefore;
use crate::scheduler::Slot;

/// The data that a pass works on.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    pub(crate) plan: &'a mut Plan,
    pub(crate) openings: &'a mut Openings,
    pub(crate) not_before: &'a NotBefore,
    /// The few jobs that must be tried on all free time; if there are any, no tail moves as a whole.
    pub(crate) untried: &'a [Slot],
    pub(crate) now: Time,
}

/// Jobs that have another start after a pass.
#[derive(Debug)]
pub(crate) struct Moved {
    /// Places of the list, ascending.
    pub(crate) places: Vec<usize>,
    /// All jobs from this place on.
    pub(crate) tail: usize,
}

impl Pass<'_> {
    /// A pass over a list in any order.
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

    /// A pass over a list in order of start, whose keys begin with the start. Nothing else is booked to end
    /// after `ends`.
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

    /// Moves a job up, if possible; returns by how much.
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
