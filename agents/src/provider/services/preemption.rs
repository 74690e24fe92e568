//! Running jobs that are stopped for waiting ones.
//!
//! The queue chooses them before each of its passes. A job goes on for the grace time of its queue; if it has not come to its
//! end by then, it is stopped, and waits again or is over. All that happens to its attempt is as after a failure.

use haggle_model::JobId;
use haggle_scheduling::site::OnPreemption;
use haggle_scheduling::{Preempted, Slot};
use serde::{Deserialize, Serialize};

use super::{HeldJob, Services};
use crate::protocol::Timer;
use crate::provider::core::{Losses, Piece, Turn};

/// The decision to stop a running job.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::provider) struct Stopped {
    /// The job for which it is stopped.
    pub(super) stopped_for: JobId,
    /// Its treatment then.
    pub(super) then: OnPreemption,
}

impl Services {
    /// Stops running jobs for waiting ones, if the queue does that.
    pub(super) fn stop_for_waiting(&mut self, turn: &mut Turn<'_>) {
        if turn.core.mailbox.is_some() {
            return;
        }
        loop {
            let preempted = turn.core.scheduler.nodes().preempt(turn.now);
            if preempted.is_empty() {
                return;
            }
            preempted.into_iter().for_each(|it| stop(turn, it));
        }
    }

    /// Ends the attempt of a job that has been stopped; `false` if it has not.
    pub(super) fn end_of_stopped(&mut self, turn: &mut Turn<'_>, slot: Slot) -> bool {
        let Some(Piece::Job(held)) = turn.core.pieces.at(slot) else { return false };
        let Some(stopped) = held.run.as_ref().and_then(|run| run.stopped) else { return false };
        let mut losses = Losses::default();
        self.jobs.lose(turn, slot, &mut losses);
        turn.tell_later().stop(slot, stopped.then, losses);
        true
    }
}

/// A running job ends with its grace time, unless it comes to its own end before.
fn stop(turn: &mut Turn<'_>, preempted: Preempted) {
    let Preempted { slot, waiting, end, then } = preempted;
    let Some(stopped_for) = turn.core.pieces.get::<HeldJob>(waiting).map(HeldJob::id) else {
        return;
    };
    let held = turn.core.pieces.get_mut::<HeldJob>(slot);
    let Some(run) = held.and_then(|held| held.run.as_mut()) else { return };
    if run.attempt.end <= end {
        return;
    }
    run.stopped = Some(Stopped { stopped_for, then });
    run.attempt.end = end;
    turn.out.stop(Timer::PlanEnds { slot: slot.0 });
    turn.out.set(end, Timer::RunEnds { slot: slot.0 });
}
