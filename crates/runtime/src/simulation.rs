//! A run, message by message.

use std::sync::atomic::AtomicBool;

use haggle_agents::{Message, Outbox, RunMessage};
use haggle_model::{ActorId, JobId, Time};

use crate::clock::Delivery;
use crate::course::{Cause, Course};
use crate::driver::{Actors, Driver};
use crate::error::RunError;
use crate::recovery::Journals;
use crate::sink::Sink;
use crate::world::World;

/// Counts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RunStats {
    /// Jobs that arrived from the workloads.
    pub jobs: u64,
    /// True if more jobs would have arrived when the run was stopped.
    pub cut_off: bool,
    /// Arrived jobs that are over; at the end of a run, all of them are.
    pub jobs_over: u64,
    /// Messages delivered, wake-ups included.
    pub messages: u64,
    /// Messages that never arrived.
    pub lost: u64,
    /// Messages that were duplicated on their way.
    pub doubled: u64,
    /// Number of repeated transmissions.
    pub resent: u64,
    /// Messages that their receivers refused as unexpected, without any change.
    pub refused: u64,
    /// The instant of the last message, or the end of a run that is over.
    pub end: Time,
}

/// One delivered message; all its effects have been carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Time of the delivery.
    pub time: Time,
    /// Sender of the message.
    pub from: ActorId,
    /// Receiver of the message.
    pub to: ActorId,
    /// Kind of the message, in the word of the table of messages.
    pub kind: &'static str,
    /// Job of the message, if any.
    pub job: Option<JobId>,
}

/// A run of a world.
///
/// ```
/// use haggle_runtime::{Driver, Simulation, World};
/// let mut simulation = Simulation::new(World::default(), Driver::Sequential)?;
/// assert_eq!(simulation.step()?, None, "nobody is there");
/// # Ok::<(), haggle_runtime::RunError>(())
/// ```
pub struct Simulation<'a> {
    course: Course<'a>,
    actors: Actors,
    journals: Journals,
    out: Outbox,
}

impl<'a> Simulation<'a> {
    /// `world` at time zero, before its first message.
    ///
    /// # Errors
    /// If the first job of a workload cannot be read.
    pub fn new(mut world: World, driver: Driver) -> Result<Simulation<'a>, RunError> {
        let journals = Journals::new(std::mem::take(&mut world.blueprints));
        let (course, actors) = Course::new(world)?;
        let actors = Actors::new(driver, actors);
        Ok(Simulation { course, actors, journals, out: Outbox::default() })
    }

    /// Lets `sink` observe everything from now on, after the sinks that observe already.
    pub fn listen(&mut self, sink: &'a mut dyn Sink) {
        self.course.listen(sink);
    }

    /// Stops with [`RunError::Interrupted`] soon after `flag` is set. After it is cleared, the run can continue.
    pub fn stop_on(&mut self, flag: &'a AtomicBool) {
        self.course.stop_on(flag);
    }

    /// The instant of the last message, or the end of a run that is over.
    pub fn now(&self) -> Time {
        self.stats().end
    }

    /// The counts so far.
    pub fn stats(&self) -> RunStats {
        self.course.stats()
    }

    /// Time of the next delivery or, if no message is left, of the end of the run. `None` after the end.
    ///
    /// # Errors
    /// If the run cannot continue, see [`RunError`].
    pub fn peek(&mut self) -> Result<Option<Time>, RunError> {
        self.course.next_time()
    }

    /// Delivers the next message; `None` when the run is over. The last messages notify actors of the end.
    ///
    /// # Errors
    /// If the run cannot continue, see [`RunError`].
    pub fn step(&mut self) -> Result<Option<Step>, RunError> {
        self.deliver_next(|time, &Delivery { from, to, ref message, .. }| {
            let (kind, job) = (message.kind(), message.job());
            Step { time, from, to, kind, job }
        })
    }

    /// Delivers all messages that are due at `time` or before it.
    ///
    /// # Errors
    /// If the run cannot continue, see [`RunError`].
    pub fn step_until(&mut self, time: Time) -> Result<(), RunError> {
        while self.peek()?.is_some_and(|next| next <= time) {
            self.deliver_next(|_, _| ())?;
        }
        Ok(())
    }

    /// Delivers up to `messages` messages. Returns false if the run was over before.
    ///
    /// # Errors
    /// If the run cannot continue, see [`RunError`].
    pub fn advance(&mut self, messages: u64) -> Result<bool, RunError> {
        for _ in 0..messages {
            if self.deliver_next(|_, _| ())?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Delivers messages until none is left.
    ///
    /// # Errors
    /// If the run does not reach its end, see [`RunError`].
    pub fn run(&mut self) -> Result<RunStats, RunError> {
        while self.deliver_next(|_, _| ())?.is_some() {}
        Ok(self.stats())
    }

    /// Delivers the next message, and returns the result of `note` on it.
    fn deliver_next<T>(
        &mut self,
        note: impl FnOnce(Time, &Delivery<Message>) -> T,
    ) -> Result<Option<T>, RunError> {
        let Some(key) = self.course.next()? else { return Ok(None) };
        let (now, delivery) = (self.now(), self.course.message(key));
        let (noted, cause) = (note(now, delivery), Cause::from(delivery));
        // Recorded before the delivery: a restarted actor must be rebuilt before it takes this message.
        if let Some(recovered) = self.journals.write(now, delivery) {
            self.actors.replace(delivery.to, recovered);
        }
        // Read before the delivery takes the message.
        let last = matches!(delivery.message, Message::Run(RunMessage::RunOver));
        let to = delivery.to;
        self.actors.deliver(now, self.course.take(key), &mut self.out);
        if last {
            self.actors.dismiss(to);
        }
        // After the actor has returned, so that its effects cannot reach it during the message.
        self.course.carry_out(cause, &mut self.out)?;
        Ok(Some(noted))
    }
}

/// Delivers messages until none is left, or `stop` is raised.
///
/// # Errors
/// If the run does not reach its end, see [`RunError`].
pub fn run(
    world: World,
    driver: Driver,
    sink: &mut dyn Sink,
    stop: &AtomicBool,
) -> Result<RunStats, RunError> {
    let mut simulation = Simulation::new(world, driver)?;
    simulation.listen(sink);
    simulation.stop_on(stop);
    simulation.run()
}
