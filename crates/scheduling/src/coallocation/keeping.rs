//! Queues that keep parts beside their jobs.

use std::borrow::Cow;

use haggle_model::Time;

use super::difference::difference;
use crate::maintenance::OnPlan;
use crate::plan::Plan;
use crate::scheduler::{LocalScheduler, Request};
use crate::{Interval, Profile};

/// A queue whose plan keeps parts at their places, and that starts the parts that are due before its jobs.
///
/// A part is held only in time that is *offered*: free beside running jobs, other parts, maintenance and all
/// that the queue promises to its waiting jobs. So no promise is broken by a part:
///
/// | queue | promised to waiting jobs |
/// |---|---|
/// | FCFS | the planned starts of all jobs, in the order of the queue |
/// | EASY | the reservation of the first job |
/// | conservative, `replan` | the reservations of all jobs |
/// | EDF | the planned times of all jobs and tasks, in the plan that keeps all promised completions |
/// | bags | the planned times of all jobs and tasks |
pub(crate) trait KeepsParts: OnPlan + LocalScheduler {
    /// The plan, which has the parts.
    fn plan(&self) -> &Plan;

    /// The number of the next job or part, in the order in which they come.
    fn next_number(&mut self) -> u32;

    /// The processors that are offered to parts from `now` on.
    fn offered(&mut self, now: Time) -> Cow<'_, Profile>;

    /// The copy of the plan's profile on which waiting jobs are planned, if it is kept while parts are held.
    fn copy(&mut self) -> Option<&mut Profile> {
        None
    }

    /// The stretch outside which the offered processors have not changed since the last call. They were
    /// `known` then.
    fn take_changed(&mut self, now: Time, known: &mut Profile) -> Option<(Time, Time)> {
        let offered = self.offered(now);
        let changed = difference(known, &offered, now);
        if changed.is_some() {
            known.clone_from(&offered);
        }
        changed
    }

    /// Moves waiting jobs up to the time that has been given back. A queue without reservations has nothing
    /// to move.
    fn jobs_move_up(&mut self, _now: Time) {}

    /// As [`KeepsParts::jobs_move_up`], unless no job could move up.
    fn jobs_move_up_if_due(&mut self, _now: Time) {}

    /// A waiting part becomes a job of the queue, and keeps its place as a reservation. Returns `false` if
    /// the queue has no such reservations: then it stays a part.
    fn join(&mut self, _request: Request) -> bool {
        false
    }

    /// Books a part, or processors for its move, where they are offered.
    fn take_offered(&mut self, take: impl Fn(&mut Profile)) {
        // Jobs keep their planned starts, because these processors are promised to none of them.
        if let Some(copy) = self.copy() {
            take(copy);
        }
    }

    /// Gives the rest of an interval back.
    fn give_back(&mut self, now: Time, interval: Interval) {
        self.given_back(interval.start.max(now), interval.end(), interval.processors);
    }
}
