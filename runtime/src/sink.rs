//! Who listens to a run.

use haggle_agents::Message;
use haggle_model::{ActorId, MessageFault, Observation, Time};

use crate::simulation::RunStats;
use crate::world::OutsideError;

/// Takes down what happens; nothing it does can change the run, but an error ends it.
///
/// Several may listen to one run. Each hears of everything, in the order in which it happens;
/// whoever cares for a part of it leaves the rest to what stands here.
pub trait Sink {
    /// `message` from `from` reaches `to`.
    ///
    /// # Errors
    /// Whatever stands in the way of taking it down.
    fn delivered(
        &mut self,
        _now: Time,
        _from: ActorId,
        _to: ActorId,
        _message: &Message,
    ) -> Result<(), OutsideError> {
        Ok(())
    }

    /// Something goes wrong with `message`, which `from` sends to `to` now, and it is sent again so
    /// often because of that: then it arrives in the end, once. Otherwise what is lost is never
    /// delivered, and what is doubled is twice.
    ///
    /// # Errors
    /// Whatever stands in the way of taking it down.
    fn fault(
        &mut self,
        _now: Time,
        _from: ActorId,
        _to: ActorId,
        _message: &Message,
        _fault: MessageFault,
        _resent: u64,
    ) -> Result<(), OutsideError> {
        Ok(())
    }

    /// `actor` has put an observation into its outbox. The record of a job that is over has been
    /// completed from what was observed of it before, see [`JobStories`](haggle_model::JobStories).
    ///
    /// # Errors
    /// Whatever stands in the way of taking it down.
    fn observed(
        &mut self,
        _now: Time,
        _actor: ActorId,
        _observation: &Observation,
    ) -> Result<(), OutsideError> {
        Ok(())
    }

    /// The run has reached its end.
    ///
    /// # Errors
    /// Whatever stands in the way of taking it down.
    fn over(&mut self, _stats: &RunStats) -> Result<(), OutsideError> {
        Ok(())
    }
}
