//! Placement of work: earliest first, all processors together or task by task.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::bags::Batch;

use super::steps::{Steps, Window};

/// Work to be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Demand {
    /// Processors of a rigid job, or tasks of a share.
    pub(super) units: u32,
    pub(super) span: Span,
    /// True if all units start at once.
    pub(super) rigid: bool,
    /// No unit starts before this.
    pub(super) earliest: Time,
}

impl Demand {
    pub(super) fn rigid(processors: u32, span: Span) -> Demand {
        Demand { units: processors, span, rigid: true, earliest: Time::PAST }
    }

    pub(super) fn tasks(tasks: u32, span: Span, earliest: Time) -> Demand {
        Demand { units: tasks, span: span.max(Span::TICK), rigid: false, earliest }
    }

    /// Processors that start together.
    pub(super) fn width(self) -> u32 {
        if self.rigid { self.units } else { 1 }
    }

    /// Books this in `steps` at the earliest starts from `now` on and adds the batches to `batches`.
    /// Returns `None`, with nothing booked, if it would be completed after `limit`.
    pub(super) fn place(
        self,
        steps: &mut Steps,
        now: Time,
        limit: Time,
        batches: &mut Vec<Batch>,
    ) -> Option<()> {
        let kept = batches.len();
        match self.find(steps, now, limit, batches)? {
            Some(window) => steps.book(window, self.units),
            None => add(steps, &batches[kept..], self.span),
        }
        Some(())
    }

    /// As [`Demand::place`], without booking; returns the window of a rigid job.
    ///
    /// Tasks are placed in batches as wide as the free processors at the earliest start, with the same
    /// result as one by one.
    pub(super) fn find(
        self,
        steps: &mut Steps,
        now: Time,
        limit: Time,
        batches: &mut Vec<Batch>,
    ) -> Option<Option<Window>> {
        let now = now.max(self.earliest);
        let latest = if limit < Time::FOREVER { limit - self.span } else { Time::FOREVER };
        if !self.rigid {
            steps.sweep(self.units, self.span, now, latest, batches)?;
            return Some(None);
        }
        let window = steps.earliest(self.units, self.span, now, latest);
        // A rigid job behind a job without a limit is placed at the end of all time.
        let never = (limit >= Time::FOREVER).then_some(Time::FOREVER);
        let start = window.map(|window| window.start).or(never)?;
        batches.push(Batch { start, tasks: self.units });
        Some(window)
    }

    /// Completion of the last of these batches; [`Time::FOREVER`] at the latest.
    pub(super) fn completion(self, batches: &[Batch]) -> Time {
        let last = batches.iter().map(|batch| batch.start).max();
        last.map_or(Time::FOREVER, |start| (start + self.span).min(Time::FOREVER))
    }
}

/// Books batches of work that takes `span`.
pub(super) fn add(steps: &mut Steps, batches: &[Batch], span: Span) {
    match batches {
        [batch] => steps.add(batch.start, batch.start + span, batch.tasks),
        _ => steps.book_batches(batches, span),
    }
}

/// Gives batches of work that takes `span` back.
pub(super) fn remove(steps: &mut Steps, batches: &[Batch], span: Span) {
    for batch in batches {
        steps.remove(batch.start, batch.start + span, batch.tasks);
    }
}
