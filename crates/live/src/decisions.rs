//! The decisions of actors, to compare a live run with its simulation.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::rc::Rc;

use haggle_agents::Message;
use haggle_model::{ActorId, JobId, Observation, Time};
use haggle_runtime::{OutsideError, Sink};

/// An event of an actor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its time.
    pub at: Time,
    /// The job it is about, if any.
    pub job: Option<JobId>,
    /// The event in words.
    pub words: String,
}

/// All events of some actors, in order: messages that they got, and what they observed.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    /// The actors; `None` = all.
    of: Option<BTreeSet<ActorId>>,
    events: Rc<RefCell<BTreeMap<ActorId, Vec<Event>>>>,
}

impl Decisions {
    /// The decisions of some actors.
    pub fn of(actors: BTreeSet<ActorId>) -> Decisions {
        Decisions { of: Some(actors), ..Decisions::default() }
    }

    fn add(&self, actor: ActorId, at: Time, job: Option<JobId>, words: String) {
        if self.of.as_ref().is_none_or(|of| of.contains(&actor)) {
            let event = Event { at, job, words };
            self.events.borrow_mut().entry(actor).or_default().push(event);
        }
    }

    /// The first event at which two runs differ, up to the time `end`: the actor, and its event in either.
    pub fn difference(
        &self,
        other: &Decisions,
        end: Time,
    ) -> Option<(ActorId, Option<Event>, Option<Event>)> {
        let (own, others) = (self.events.borrow(), other.events.borrow());
        let actors = own
            .keys()
            .chain(others.keys())
            .filter(|it| self.of.as_ref().is_none_or(|of| of.contains(it)));
        let nothing = Vec::new();
        let first = BTreeSet::from_iter(actors).into_iter().filter_map(|actor| {
            let (own, others) =
                (own.get(actor).unwrap_or(&nothing), others.get(actor).unwrap_or(&nothing));
            let count = own.iter().zip(others).take_while(|(a, b)| a == b).count();
            let at = |events: &Vec<Event>| events.get(count).filter(|it| it.at < end).cloned();
            let (own, other) = (at(own), at(others));
            let when = own.iter().chain(&other).map(|it| it.at).min()?;
            Some((when, *actor, own, other))
        });
        let first = first.min_by_key(|it| (it.0, it.1));
        first.map(|(_, actor, own, other)| (actor, own, other))
    }

    /// Number of events.
    pub fn count(&self) -> usize {
        self.events.borrow().values().map(Vec::len).sum()
    }
}

impl Sink for Decisions {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        // A node may hide fields of a message that the simulation knows, so its kind alone is compared.
        let words = format!("{} from {from}", message.kind());
        self.add(to, now, message.job(), words);
        Ok(())
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        let mut words = String::new();
        let job = match observation {
            // The record of a job is complete only where all of its observations are.
            Observation::JobOver(record) => {
                let _ = write!(words, "job over: {:?}", record.outcome);
                Some(record.job.id)
            }
            observation => {
                let _ = write!(words, "{observation:?}");
                None
            }
        };
        self.add(actor, now, job, words);
        Ok(())
    }
}
