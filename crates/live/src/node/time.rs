//! The clock of a node follows that of the coordinator.

use std::time::Duration;

use actix::{Context, Handler};
use tracing::{debug, warn};

use super::Node;
use crate::clock::{Clock, Reading};

/// Difference of clocks, in seconds of real time, that an operator should know.
const LARGE: f64 = 1.0;

/// The coordinator has told the time.
#[derive(actix::Message)]
#[rtype(result = "()")]
pub(crate) struct Steer {
    pub(crate) told: Reading,
    /// The time was told somewhere within it.
    pub(crate) round_trip: Duration,
}

impl Handler<Steer> for Node {
    type Result = ();

    fn handle(&mut self, steer: Steer, context: &mut Context<Self>) {
        let Steer { told, round_trip } = steer;
        let scale = self.run.scale;
        let told = Clock::new(told, scale).now();
        let ahead_s = (self.clock.now() - told).as_secs_f64() / scale;
        if ahead_s.abs() <= round_trip.as_secs_f64() {
            return;
        }
        self.clock.steer(told);
        match ahead_s.abs() < LARGE {
            true => debug!(ahead_s, "the clock is brought to that of the coordinator"),
            false => warn!(ahead_s, "the clock was not that of the coordinator"),
        }
        // Events may be due now.
        self.attempt(context, Node::catch_up);
    }
}
