//! The observer of a simulation: it notes messages, and the books combine observations.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use haggle_agents::protocol::SubmissionMessage;
use haggle_agents::{Message, RunMessage};
use haggle_model::{ActorId, Cast, MessageFault, Observation, Time};
use haggle_recording::{Books, Fact, Listener};
use haggle_runtime::{OutsideError, RunStats, Sink};

use super::layout::Layout;
use super::past::Past;

/// The books of a run, and the number of its messages.
#[derive(Clone, Debug)]
pub(crate) struct Desk {
    books: Books<Past>,
}

impl Desk {
    /// The desk of a run that has not begun.
    pub(crate) fn new(cast: &Arc<Cast>, layout: &Arc<Layout>) -> Desk {
        Desk { books: Books::new(cast, Past::new(cast, layout)) }
    }

    /// The past.
    pub(crate) fn past(&self) -> &Past {
        self.books.listener()
    }

    /// The past, which may take notes of present knowledge.
    pub(crate) fn past_mut(&mut self) -> &mut Past {
        self.books.listener_mut()
    }
}

/// A desk that a simulation fills while another one reads it between two messages.
#[derive(Clone, Debug)]
pub(crate) struct Shared(pub(crate) Rc<RefCell<Desk>>);

impl Sink for Shared {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        let mut desk = self.0.borrow_mut();
        let past = desk.past_mut();
        past.deliver(now, to);
        match message {
            Message::Run(RunMessage::JobDue(job)) => past.arrived(now, to, job),
            Message::Run(RunMessage::RunOver) => past.leaves(to),
            Message::Submission(
                SubmissionMessage::Submit(submission) | SubmissionMessage::SubmitAhead(submission),
            ) => past.submitted(submission),
            _ => {}
        }
        desk.books.delivered(now, from, to, message)
    }

    fn fault(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
        fault: MessageFault,
        resent: u64,
    ) -> Result<(), OutsideError> {
        self.0.borrow_mut().books.fault(now, from, to, message, fault, resent)
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        self.0.borrow_mut().books.observed(now, actor, observation)
    }

    fn over(&mut self, stats: &RunStats) -> Result<(), OutsideError> {
        self.0.borrow_mut().books.over(stats)
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
