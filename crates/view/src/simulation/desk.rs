//! The observers of a simulation: one notes what messages are, and the books combine observations.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use haggle_agents::protocol::SubmissionMessage;
use haggle_agents::{Message, RunMessage};
use haggle_model::{ActorId, Cast, MessageFault, Time};
use haggle_recording::{Books, Fact, Listener};
use haggle_runtime::{OutsideError, Simulation, Sink};

use super::layout::Layout;
use super::past::Past;

/// The books of a run, whose listener is its past.
pub(crate) type Desk = Books<Past>;

/// The desk of a run that has not begun.
pub(crate) fn desk(cast: &Arc<Cast>, layout: &Arc<Layout>) -> Desk {
    Books::new(cast, Past::new(cast, layout))
}

/// Lets a desk observe a simulation, while others read it between two messages.
pub(crate) fn observe(simulation: &mut Simulation<'static>, desk: &Rc<RefCell<Desk>>) {
    // The notes precede the facts that the books make of a message.
    simulation.listen(Notes(Rc::clone(desk)));
    simulation.listen(Rc::clone(desk));
}

/// Notes about messages themselves, of which the books tell only sender, receiver, kind and job.
struct Notes(Rc<RefCell<Desk>>);

impl Sink for Notes {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        let mut desk = self.0.borrow_mut();
        let past = desk.listener_mut();
        past.deliver(now, (from, to), message);
        match message {
            Message::Run(RunMessage::JobDue(job)) => past.arrived(now, to, job),
            Message::Run(RunMessage::RunOver) => past.leaves(to),
            Message::Submission(
                SubmissionMessage::Submit(submission) | SubmissionMessage::SubmitAhead(submission),
            ) => past.submitted(submission),
            Message::Reservation(reservation) => past.reserved(reservation),
            _ => {}
        }
        Ok(())
    }

    fn fault(
        &mut self,
        _now: Time,
        _from: ActorId,
        _to: ActorId,
        message: &Message,
        _fault: MessageFault,
        _resent: u64,
    ) -> Result<(), OutsideError> {
        self.0.borrow_mut().listener_mut().hit(message);
        Ok(())
    }
}

impl Listener for Past {
    fn hears_messages(&self) -> bool {
        true
    }

    fn hear(&mut self, now: Time, fact: Fact<'_>) -> Result<(), OutsideError> {
        match fact {
            Fact::Message { from, to, kind, job } => self.message(now, (from, to), kind, job, None),
            Fact::Fault(it) => {
                self.message(now, (it.from, it.to), it.kind, it.job, Some(it.fault));
            }
            Fact::Disclosed { from, to, item, count, job } => {
                self.told(now, (from, to), item, count, job);
            }
            Fact::Crashed(actor) => self.crashed(now, actor),
            Fact::Restarted(actor) => self.restarted(now, actor),
            Fact::Observed { observation, .. } => self.observe(now, observation),
            Fact::LatePart { job, attempt, part } => self.late_part(job, attempt, part),
            Fact::Settled(job) => self.settled(job),
            Fact::Left(_) | Fact::Over => {}
        }
        Ok(())
    }
}
