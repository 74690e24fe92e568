//! Messages from outside of a run: further jobs, failures, and the end of a user's patience.
//!
//! They are the messages that the world itself sends to actors. Messages between actors have a sender that
//! answers for them, so none of them comes from outside. Neither do the timers of an actor, except a user's.

use std::sync::Arc;

use haggle_agents::{AnyActor, Message, RunMessage, Timer};
use haggle_model::{ActorId, Job, JobId, Time};
use haggle_workloads::failures::Outage;

use crate::clock::{Delivery, Origin};
use crate::course::Course;
use crate::simulation::Simulation;

/// Reason why a message from outside is not delivered. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InjectError {
    /// Its time has passed.
    #[error(
        "the message comes at {at} s, and the run is at {now} s already; give a time from then on"
    )]
    Past {
        /// Time of the message.
        at: Time,
        /// Present time of the run.
        now: Time,
    },
    /// It comes after the end of the run.
    #[error(
        "the message comes at {at} s, after the end of the run at {end} s; give an earlier time"
    )]
    AfterEnd {
        /// Time of the message.
        at: Time,
        /// End of the run.
        end: Time,
    },
    /// The run is over.
    #[error("the run is over; restore a snapshot from before its end")]
    Over,
    /// The receiver does not exist.
    #[error("the run has no {actor}; its actors are numbered from 0 in the order of its world")]
    NoActor {
        /// The receiver.
        actor: ActorId,
    },
    /// No actor of this kind gets such a message from outside.
    #[error(
        "{actor} takes no such `{kind}` from outside; a user takes `job_due` and the end of its patience, and nature \
         takes `outage_due`"
    )]
    NotFromOutside {
        /// The receiver.
        actor: ActorId,
        /// Kind of the message.
        kind: &'static str,
    },
    /// The job is a task: its workflow came with the world.
    #[error(
        "a task of a workflow comes with its workload, and not alone; submit a job without `task`"
    )]
    Task,
    /// The job requests no processors.
    #[error("the job requests no processors; request at least one")]
    NoProcessors,
    /// A failure ends before it begins.
    #[error("the failure ends at {restore} s, before its begin at {fail} s; give a later end")]
    Backwards {
        /// Its begin.
        fail: Time,
        /// Its end.
        restore: Time,
    },
}

impl Simulation<'_> {
    /// Delivers a message from outside at `at`, behind the messages of its phase that are scheduled for then.
    /// The receiver checks it as any other message, and refuses a message that it does not expect.
    ///
    /// A job gets the next free number of the run; [`Simulation::submit`] returns it. The same calls at the same
    /// instants give the same run, and a snapshot contains the messages that have not been delivered.
    ///
    /// ```
    /// use haggle_agents::RunMessage;
    /// use haggle_model::{ActorId, Time};
    /// use haggle_runtime::{Driver, InjectError, Simulation, World};
    /// let mut simulation = Simulation::new(World::default(), Driver::Sequential)?;
    /// let error = simulation.inject(Time::ZERO, ActorId(7), RunMessage::RunOver);
    /// assert_eq!(error, Err(InjectError::NoActor { actor: ActorId(7) }));
    /// # Ok::<(), haggle_runtime::RunError>(())
    /// ```
    ///
    /// # Errors
    /// If the message cannot come from outside, see [`InjectError`].
    pub fn inject(
        &mut self,
        at: Time,
        to: ActorId,
        message: impl Into<Message>,
    ) -> Result<(), InjectError> {
        let message = message.into();
        self.expects(to, &message)?;
        match message {
            Message::Run(RunMessage::JobDue(job)) => {
                let job = Job { submit: at, ..Arc::unwrap_or_clone(job) };
                self.course_mut().inject_job(to, job).map(drop)
            }
            message => self.course_mut().inject(at, to, message),
        }
    }

    /// Submits a further job at its `submit` time to `user`. Returns the number of the job in this run.
    ///
    /// # Errors
    /// If the job cannot come from outside, see [`InjectError`].
    pub fn submit(&mut self, user: ActorId, job: Job) -> Result<JobId, InjectError> {
        self.expects(user, &job_due(job.clone()))?;
        self.course_mut().inject_job(user, job)
    }

    /// Lets a resource in the list of `nature` fail.
    ///
    /// # Errors
    /// If the failure cannot come from outside, see [`InjectError`].
    pub fn fail(
        &mut self,
        nature: ActorId,
        resource: u32,
        outage: Outage,
    ) -> Result<(), InjectError> {
        let Outage { fail, restore } = outage;
        if restore < fail {
            return Err(InjectError::Backwards { fail, restore });
        }
        self.inject(fail, nature, RunMessage::OutageDue { resource, restore })
    }

    /// Checks the receiver of a message from outside.
    fn expects(&self, to: ActorId, message: &Message) -> Result<(), InjectError> {
        match self.look(to, |actor| expects(actor, message)) {
            Some(true) => Ok(()),
            Some(false) => Err(InjectError::NotFromOutside { actor: to, kind: message.kind() }),
            None => Err(InjectError::NoActor { actor: to }),
        }
    }
}

fn job_due(job: Job) -> Message {
    Message::Run(RunMessage::JobDue(Arc::new(job)))
}

/// True if an actor of this kind gets such messages from outside.
fn expects(actor: &AnyActor, message: &Message) -> bool {
    matches!(
        (actor, message),
        (AnyActor::User(_), Message::Run(RunMessage::JobDue(_)))
            | (AnyActor::User(_), Message::Wake(Timer::PatienceOver { .. }))
            | (AnyActor::Nature(_), Message::Run(RunMessage::OutageDue { .. }))
    )
}

impl Course {
    /// Schedules the arrival of a job from outside at its submission. Returns its number.
    fn inject_job(&mut self, user: ActorId, mut job: Job) -> Result<JobId, InjectError> {
        match job {
            Job { task: Some(_), .. } => return Err(InjectError::Task),
            Job { processors: 0, .. } => return Err(InjectError::NoProcessors),
            _ => self.check_time(job.submit)?,
        }
        job.id = self.take_number();
        let (at, id) = (job.submit, job.id);
        self.inject(at, user, job_due(job))?;
        Ok(id)
    }

    /// Schedules a message from outside.
    fn inject(&mut self, at: Time, to: ActorId, message: Message) -> Result<(), InjectError> {
        self.check_time(at)?;
        self.put_back_ahead();
        let phase = message.phase();
        let delivery = Delivery { origin: Origin::Outside, ..Delivery::first(to, message) };
        self.schedule(at, phase, delivery);
        Ok(())
    }

    fn check_time(&self, at: Time) -> Result<(), InjectError> {
        let now = self.stats().end;
        match self.horizon() {
            _ if self.is_ending() => Err(InjectError::Over),
            _ if at < now => Err(InjectError::Past { at, now }),
            Some(end) if at > end => Err(InjectError::AfterEnd { at, end }),
            _ => Ok(()),
        }
    }
}
