//! Observers of a run.

use std::cell::RefCell;
use std::rc::Rc;

use haggle_agents::Message;
use haggle_model::{ActorId, MessageFault, Observation, Time};

use crate::simulation::RunStats;
use crate::world::OutsideError;

/// Records the events of a run. It cannot change the run, but an error ends it.
///
/// Several sinks may observe one run. Each receives all events, in the order in which they happen. All
/// methods have default bodies, so a sink implements only those it needs.
pub trait Sink {
    /// `message` from `from` reaches `to`.
    ///
    /// # Errors
    /// Any error of the record.
    fn delivered(
        &mut self,
        _now: Time,
        _from: ActorId,
        _to: ActorId,
        _message: &Message,
    ) -> Result<(), OutsideError> {
        Ok(())
    }

    /// `message`, which `from` sends to `to` now, is hit by a fault. It is sent again `resent` times
    /// because of this fault; with a reliable transport, it arrives once in the end. Otherwise a lost
    /// message is never delivered, and a doubled one is delivered twice.
    ///
    /// # Errors
    /// Any error of the record.
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
    /// completed from earlier observations, see [`JobStories`](haggle_model::JobStories).
    ///
    /// # Errors
    /// Any error of the record.
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
    /// Any error of the record.
    fn over(&mut self, _stats: &RunStats) -> Result<(), OutsideError> {
        Ok(())
    }
}

/// Passes all events on to the sink that an expression gives.
macro_rules! passes_on {
    ($self:ident => $sink:expr) => {
        fn delivered(
            &mut $self,
            now: Time,
            from: ActorId,
            to: ActorId,
            message: &Message,
        ) -> Result<(), OutsideError> {
            $sink.delivered(now, from, to, message)
        }

        fn fault(
            &mut $self,
            now: Time,
            from: ActorId,
            to: ActorId,
            message: &Message,
            fault: MessageFault,
            resent: u64,
        ) -> Result<(), OutsideError> {
            $sink.fault(now, from, to, message, fault, resent)
        }

        fn observed(
            &mut $self,
            now: Time,
            actor: ActorId,
            observation: &Observation,
        ) -> Result<(), OutsideError> {
            $sink.observed(now, actor, observation)
        }

        fn over(&mut $self, stats: &RunStats) -> Result<(), OutsideError> {
            $sink.over(stats)
        }
    };
}

/// Another name for the same sink.
impl<S: Sink + ?Sized> Sink for &mut S {
    passes_on!(self => (**self));
}

/// A sink that others read between two messages.
impl<S: Sink> Sink for Rc<RefCell<S>> {
    passes_on!(self => self.borrow_mut());
}
