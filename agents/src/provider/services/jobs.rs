//! Rigid jobs: they are submitted, wait, run, end, are lost, and leave.
//!
//! The messages about them belong to four conversations: submission, questions about queue and
//! load, reservations, and the sizes of moldable jobs.

mod displaced;
mod expected;
mod job;
mod query;
mod reallocation;
mod reserving;
mod running;
mod saving;
mod submission;

use haggle_model::Time;
use haggle_model::random::Stream;
use haggle_scheduling::Request;
use serde::{Deserialize, Serialize};

use self::expected::Expected;
use self::reserving::Reserving;
use self::saving::Carried;
use crate::protocol::Message;
use crate::provider::core::Turn;

pub(super) use self::displaced::keeps_window;
pub(in crate::provider) use self::expected::Expectation;
pub(in crate::provider) use self::job::HeldJob;
pub use self::reserving::ReservingConfig;
pub use self::saving::CheckpointStore;

/// State of the service, beside the jobs themselves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Jobs {
    expected: Expected,
    carried: Carried,
    reserving: Reserving,
}

impl Jobs {
    /// No jobs; orders of reservations are drawn from `stream`.
    pub(super) fn new(stream: Stream) -> Jobs {
        Jobs {
            expected: Expected::default(),
            carried: Carried::default(),
            reserving: Reserving::new(stream),
        }
    }

    /// Draws from the stream of another provider.
    pub(super) fn reseed(&mut self, other: Jobs) {
        self.reserving.stream = other.reserving.stream;
    }

    /// Drops the estimates that a message makes invalid, before it is handled.
    pub(super) fn on_message(&mut self, message: &Message) {
        self.expected.on_message(message);
    }

    /// A job must wait; it joins the queue with the next decision.
    fn arrive(&mut self, turn: &mut Turn<'_>, request: Request) {
        turn.core.deciding.arrive(request);
        if turn.core.deciding.is_by_event() {
            self.join_queue(turn);
        }
    }

    /// Jobs that have arrived join the queue, in its order.
    pub(super) fn join_queue(&mut self, turn: &mut Turn<'_>) {
        turn.core.deciding.take_initial(turn.now);
        if !turn.core.deciding.has_arrived() {
            return;
        }
        let (core, now) = (&mut *turn.core, turn.now);
        let mut together = core.deciding.take_arrived();
        if together.len() > 1 {
            core.scheduler.sort(&mut together);
        }
        for request in together.drain(..) {
            let Some(held) = core.pieces.get_mut::<HeldJob>(request.slot) else { continue };
            let ready = held.particulars().stage_in.ready;
            // Jobs of a start state, before time zero, wait for no data.
            let promised_end = match ready > now.max(Time::ZERO) {
                true => core.scheduler.submit_after(now, request, ready),
                false => core.scheduler.submit(now, request),
            };
            // The first promise stays: if a failure breaks it, the record must show that.
            if held.particulars().lost == 0 {
                held.promised_end = promised_end;
            }
        }
        core.deciding.keep(together);
    }
}
