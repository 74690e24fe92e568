//! Events of a branch. Branches share the events before they part.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use haggle_agents::{Message, RunMessage};
use haggle_model::{ActorId, MessageFault, Observation, Time};
use haggle_runtime::{OutsideError, RunStats, Sink};

/// An event of a history.
#[derive(Debug)]
pub(super) enum Event {
    Delivered(Time, ActorId, ActorId, Message),
    Fault(Time, ActorId, ActorId, Message, MessageFault),
    Observed(Time, ActorId, Observation),
    /// A message that was delayed.
    Delayed(Time, ActorId, ActorId, &'static str),
}

/// The events of a history so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    events: Vec<Rc<Event>>,
    /// Sum of hashes of all observations, which does not depend on their order.
    observed: u64,
}

/// A record that a run fills.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorder(Rc<RefCell<Record>>);

impl Record {
    pub(super) fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().map(|event| &**event)
    }

    /// The actors that have crashed.
    pub(super) fn crashed(&self) -> impl Iterator<Item = ActorId> {
        self.events().filter_map(|event| match event {
            Event::Delivered(_, _, to, Message::Run(RunMessage::Crashed)) => Some(*to),
            _ => None,
        })
    }

    /// A hash of all observations, in any order.
    pub(super) fn observed(&self) -> u64 {
        self.observed
    }

    fn push(&mut self, event: Event) {
        if let Event::Observed(now, actor, observation) = &event {
            let mut hasher = DefaultHasher::new();
            (now, actor, format!("{observation:?}")).hash(&mut hasher);
            self.observed = self.observed.wrapping_add(hasher.finish());
        }
        self.events.push(Rc::new(event));
    }

    /// Passes all events to `sink`.
    pub(super) fn tell(&self, stats: &RunStats, sink: &mut dyn Sink) -> Result<(), OutsideError> {
        for event in self.events() {
            match event {
                Event::Delivered(now, from, to, message) => {
                    sink.delivered(*now, *from, *to, message)?;
                }
                Event::Fault(now, from, to, message, fault) => {
                    sink.fault(*now, *from, *to, message, *fault, 0)?;
                }
                Event::Observed(now, actor, observation) => {
                    sink.observed(*now, *actor, observation)?;
                }
                Event::Delayed(..) => {}
            }
        }
        sink.over(stats)
    }
}

impl Recorder {
    /// A recorder that goes on from `record`.
    pub(super) fn from(record: Record) -> Recorder {
        Recorder(Rc::new(RefCell::new(record)))
    }

    /// Adds an event that the run does not report.
    pub(super) fn push(&self, event: Event) {
        self.0.borrow_mut().push(event);
    }

    /// The events so far.
    pub(super) fn record(&self) -> Record {
        self.0.borrow().clone()
    }

    /// A hash of all observations so far.
    pub(super) fn observed(&self) -> u64 {
        self.0.borrow().observed()
    }
}

impl Sink for Recorder {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        self.push(Event::Delivered(now, from, to, message.clone()));
        Ok(())
    }

    fn fault(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
        fault: MessageFault,
        _resent: u64,
    ) -> Result<(), OutsideError> {
        self.push(Event::Fault(now, from, to, message.clone(), fault));
        Ok(())
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        self.push(Event::Observed(now, actor, observation.clone()));
        Ok(())
    }
}
