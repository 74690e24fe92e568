//! Free processors over time, as one flat list.
//!
//! The queue copies its availability for every attempt and then places hundreds of entries in it. A flat
//! list is copied at once, and it stays short: where the machine is full, steps of zero free processors
//! merge into one. Here it is better than the blocks of [`Profile`], which is made for one long plan with
//! small changes. With a profile, even with adjacent blocks, the queue took 1.1 to 1.7 times as long.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::demand::Demand;
use crate::Profile;
use crate::hints::Hints;

/// Steps of availability; the last one is for ever.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Steps {
    /// By start; the first one stands for all time before it, too.
    steps: Vec<Step>,
    /// Memory for the next list of steps.
    #[serde(skip)]
    spare: Vec<Step>,
    /// Memory for the next sweep.
    #[serde(skip)]
    pub(super) bounds: Vec<(u32, i64)>,
}

impl Clone for Steps {
    fn clone(&self) -> Steps {
        self.steps.clone().into()
    }

    fn clone_from(&mut self, source: &Steps) {
        self.steps.clone_from(&source.steps);
    }
}

impl From<Vec<Step>> for Steps {
    fn from(steps: Vec<Step>) -> Steps {
        Steps { steps, ..Steps::default() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) start: i64,
    pub(super) free: u32,
}

/// A place for some work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) start: Time,
    end: i64,
    /// The steps that it touches: from this one,
    first: usize,
    /// and before this one.
    behind: usize,
}

pub(super) const FOREVER: i64 = Time::FOREVER.as_micros();

impl From<&Profile> for Steps {
    fn from(profile: &Profile) -> Steps {
        let step = |(start, free): (Time, u32)| Step { start: start.as_micros(), free };
        profile.steps().map(step).collect::<Vec<_>>().into()
    }
}

impl Steps {
    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// An empty list to be filled for [`Steps::replace`].
    pub(super) fn spare(&mut self) -> Vec<Step> {
        let mut spare = std::mem::take(&mut self.spare);
        spare.clear();
        spare
    }

    pub(super) fn replace(&mut self, steps: Vec<Step>) {
        self.spare = std::mem::replace(&mut self.steps, steps);
    }

    /// Forgets the steps that end at or before `now`.
    pub(super) fn forget_before(&mut self, now: Time) {
        self.steps.drain(..self.find(now));
    }

    /// (start, free processors), oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Time, u32)> + '_ {
        self.steps.iter().map(|step| (Time::from_micros(step.start), step.free))
    }

    /// Books free processors.
    pub(super) fn add(&mut self, start: Time, end: Time, processors: u32) {
        if let Some(window) = self.window(start, end) {
            self.book(window, processors);
        }
    }

    /// Gives processors back.
    pub(super) fn remove(&mut self, start: Time, end: Time, processors: u32) {
        if let Some(window) = self.window(start, end) {
            self.change(window, |free| *free += processors);
        }
    }

    /// Fewest free processors during `[start, end)`; without bound if that is empty.
    pub(super) fn min_free(&self, start: Time, end: Time) -> u32 {
        let window = self.window(start, end);
        window.and_then(|window| self.fewest(window)).unwrap_or(u32::MAX)
    }

    /// Fewest free processors during the window.
    fn fewest(&self, window: Window) -> Option<u32> {
        self.steps[window.first..window.behind].iter().map(|step| step.free).min()
    }

    /// A given window; `None` if it is empty.
    fn window(&self, start: Time, end: Time) -> Option<Window> {
        let end_micros = end.as_micros().min(FOREVER);
        if start.as_micros() >= end_micros {
            return None;
        }
        let first = self.find(start);
        let count = self.steps[first..].partition_point(|step| step.start < end_micros);
        // The first step covers the start even if it begins earlier.
        Some(Window { start, end: end_micros, first, behind: first + count.max(1) })
    }

    /// The earliest window from `from` on in which `width` processors are free
    /// for `span`, if it starts at `latest` or before.
    pub(super) fn earliest(
        &self,
        width: u32,
        span: Span,
        from: Time,
        latest: Time,
    ) -> Option<Window> {
        let mut first = self.find(from);
        let mut start = from.as_micros();
        loop {
            let full = self.steps[first..].iter().position(|step| step.free >= width)?;
            if full > 0 {
                first += full;
                start = self.steps[first].start;
            }
            if start > latest.as_micros() {
                return None;
            }
            let end = start + span.as_micros();
            let mut behind = first + 1;
            for step in &self.steps[behind..] {
                if step.free < width || step.start >= end {
                    break;
                }
                behind += 1;
            }
            if self.steps.get(behind).is_none_or(|step| step.start >= end) {
                let start = Time::from_micros(start);
                return Some(Window { start, end, first, behind });
            }
            first = behind;
        }
    }

    /// A lower bound of the earliest start of work here. `hints` must belong to these steps, or to steps
    /// with more room.
    pub(super) fn earliest_hinted(&self, hints: &mut Hints, demand: Demand, now: Time) -> Time {
        hints.earliest_in(demand.width(), demand.span, now, |processors, span, from| {
            let window = self.earliest(processors, span, from, Time::FOREVER);
            window.map(|window| window.start)
        })
    }

    /// Books processors in a window that was found in exactly these steps.
    pub(super) fn book(&mut self, window: Window, processors: u32) {
        debug_assert!(self.fewest(window) >= Some(processors), "booked more than is free");
        self.change(window, |free| *free -= processors);
    }

    fn change(&mut self, window: Window, mut change: impl FnMut(&mut u32)) {
        let Window { start, end, mut first, mut behind, .. } = window;
        let start = start.as_micros();
        // The later end is inserted first, so that the indices before it stay valid.
        let ends_inside = self.steps.get(behind).is_none_or(|step| step.start > end);
        if end < FOREVER && ends_inside {
            let free = self.steps[behind - 1].free;
            self.steps.insert(behind, Step { start: end, free });
        }
        if self.steps[first].start < start {
            let free = self.steps[first].free;
            first += 1;
            behind += 1;
            self.steps.insert(first, Step { start, free });
        }
        for step in &mut self.steps[first..behind] {
            change(&mut step.free);
        }
        // The later place first, so that the earlier index stays valid.
        for place in [behind, first] {
            let free = self.steps.get(place).map(|step| step.free);
            if place > 0 && free == Some(self.steps[place - 1].free) {
                self.steps.remove(place);
            }
        }
    }

    /// The step that covers `time`.
    pub(super) fn find(&self, time: Time) -> usize {
        self.steps.partition_point(|step| step.start <= time.as_micros()).saturating_sub(1)
    }
}
