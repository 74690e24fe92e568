//! Branches of a run: a search of histories lets a copy of a run go on in another way than the run itself.
//!
//! The next message may be delayed, lost, or find its receiver crashed. A delayed message comes behind all
//! messages of its phase and instant, with the later ones of the same sender to the same receiver.
//! All orders that a network permits within an instant are reached by delays.

use std::hash::{DefaultHasher, Hash, Hasher};

use haggle_agents::{Message, RunMessage};
use haggle_model::{ActorId, MessageFault, Span, shared};
use serde::Serialize;

use crate::clock::{Delivery, MessageKey, Origin, Place};
use crate::course::{Course, Observers};
use crate::error::RunError;
use crate::simulation::{Simulation, Step};

/// The next message of a run, and the other things that may happen to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// The message.
    pub step: Step,
    /// True if the network may lose it: it comes from another actor at another site.
    pub may_be_lost: bool,
    /// True if another message of its phase and instant may come first.
    pub may_be_delayed: bool,
    /// True if its receiver may crash before it, as a receiver that is up.
    pub may_find_crash: bool,
}

/// A run that cannot be branched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the run has inputs that a branch cannot read again: a workload has more than 31 jobs, resources fail, or \
     a change is ahead; take fewer jobs, no failures and no changes"
)]
pub struct InputsLeft;

impl Simulation<'_> {
    /// A copy of the run without its sinks, on the sequential driver. It goes on independently.
    ///
    /// ```
    /// use haggle_runtime::{Driver, Simulation, World};
    /// let simulation = Simulation::new(World::default(), Driver::Sequential)?;
    /// let mut branch = simulation.branch()?;
    /// assert_eq!(branch.next_message()?, None, "no actor is there");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If inputs of the run have not been read to their ends. A few jobs are read when the run begins.
    pub fn branch(&self) -> Result<Simulation<'static>, InputsLeft> {
        if !self.course().has_read_all() {
            return Err(InputsLeft);
        }
        Ok(Simulation::continued(self.snapshot()))
    }

    /// The next message; `None` when only notices of the end are left.
    ///
    /// # Errors
    /// If the run cannot continue, see [`RunError`].
    pub fn next_message(&mut self) -> Result<Option<Ahead>, RunError> {
        self.course_mut().look_ahead()
    }

    /// Delays the next message, see [`Ahead::may_be_delayed`].
    ///
    /// # Errors
    /// If the run cannot continue, see [`RunError`].
    pub fn delay_next(&mut self) -> Result<(), RunError> {
        self.course_mut().delay_next()
    }

    /// Loses the next message, see [`Ahead::may_be_lost`].
    ///
    /// # Errors
    /// If the run cannot continue, or a sink has an error, see [`RunError`].
    pub fn lose_next(&mut self) -> Result<(), RunError> {
        let (course, observers) = self.parts_mut();
        course.lose_next(observers)
    }

    /// Lets the receiver of the next message crash before the message, for `down`. Messages from other sites that
    /// arrive until it restarts are lost, see [`Ahead::may_find_crash`].
    ///
    /// # Errors
    /// If the run cannot continue, or a sink has an error, see [`RunError`].
    pub fn crash_next(&mut self, down: Span) -> Result<(), RunError> {
        if self.course_mut().crash_next(down)? {
            self.step()?;
        }
        Ok(())
    }

    /// A hash of the state. Two runs with equal hashes go on in the same way, up to the order in which messages to
    /// different receivers arrive at one instant. Counts of messages are not part of it.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.course().hash_state(&mut hasher);
        // Values that actors share are written once.
        shared::once(|| written(&*self.copied_actors())).hash(&mut hasher);
        hasher.finish()
    }
}

impl Course {
    /// The next message, which stays ahead.
    fn look_ahead(&mut self) -> Result<Option<Ahead>, RunError> {
        self.next_time()?;
        let Some(key) = self.ahead() else { return Ok(None) };
        let delivery = self.message(key);
        let &Delivery { from, to, origin, ref message, .. } = delivery;
        let (kind, job) = (message.kind(), message.job());
        let step = Step { time: self.now(), from, to, kind, job };
        let is_of_world = matches!(message, Message::Run(_) | Message::Resource(_));
        // Messages that had waited for a restart come at once, in their order.
        let is_free = !self.has_waited() && !is_of_world;
        Ok(Some(Ahead {
            step,
            may_be_lost: is_free && origin == Origin::Run && self.network().may_lose(from, to),
            may_be_delayed: is_free && self.has_rivals(key),
            may_find_crash: is_free && !self.is_down(to),
        }))
    }

    fn delay_next(&mut self) -> Result<(), RunError> {
        self.next_time()?;
        if let Some(key) = self.take_ahead() {
            self.defer(key);
        }
        Ok(())
    }

    fn lose_next(&mut self, observers: &mut Observers<'_>) -> Result<(), RunError> {
        self.next_time()?;
        let Some(key) = self.take_ahead() else { return Ok(()) };
        let delivery = self.take(key);
        self.note_lost(&delivery, observers)
    }

    /// Puts the crash of the next receiver ahead of all messages, and schedules its restart. Returns false if there
    /// is no next message.
    fn crash_next(&mut self, down: Span) -> Result<bool, RunError> {
        self.next_time()?;
        let Some(key) = self.take_ahead() else { return Ok(false) };
        let to = self.message(key).to;
        self.put_back(key);
        self.crash_ahead(to, down);
        Ok(true)
    }

    /// Records a message that is lost on arrival.
    fn note_lost(
        &mut self,
        delivery: &Delivery<Message>,
        observers: &mut Observers<'_>,
    ) -> Result<(), RunError> {
        let Delivery { from, to, message, .. } = delivery;
        let now = self.now();
        self.count_lost();
        for sink in &mut observers.sinks {
            sink.fault(now, *from, *to, message, MessageFault::Lost, 0)
                .map_err(RunError::Record)?;
        }
        Ok(())
    }
}

/// Hashes pending messages by receiver, in their order.
pub(crate) fn hash_pending(
    mut pending: Vec<(Place, &Delivery<Message>)>,
    hasher: &mut impl Hasher,
) {
    pending.sort_by_key(|&((time, rank, place), it)| (time, rank, it.to, place));
    for ((time, rank, _), delivery) in pending {
        (time, rank).hash(hasher);
        hash_message(delivery, hasher);
    }
}

/// Hashes a message with its ends, and without its count of causes.
pub(crate) fn hash_message(delivery: &Delivery<Message>, hasher: &mut impl Hasher) {
    let Delivery { from, to, origin, message, .. } = delivery;
    (from, to, *origin == Origin::Timer).hash(hasher);
    shared::once(|| written(message)).hash(hasher);
}

/// A part of the state as bytes.
pub(crate) fn written<T: Serialize + ?Sized>(part: &T) -> Vec<u8> {
    postcard::to_stdvec(part).expect("snapshots are written in the same way")
}

/// The crash of an actor from a search of histories.
pub(crate) fn crash_of(actor: ActorId) -> Delivery<Message> {
    Delivery::first(actor, Message::Run(RunMessage::Crashed))
}

/// Its restart.
pub(crate) fn restart_of(actor: ActorId) -> Delivery<Message> {
    Delivery::first(actor, Message::Run(RunMessage::Restarted))
}

/// Names of the messages that wait at actors which are down.
pub(crate) fn hash_keys<'a>(
    keys: impl Iterator<Item = &'a MessageKey>,
    message: impl Fn(MessageKey) -> &'a Delivery<Message>,
    hasher: &mut impl Hasher,
) {
    keys.for_each(|&key| hash_message(message(key), hasher));
}
