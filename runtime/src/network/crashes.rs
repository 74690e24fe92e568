//! Who is down when: an actor that has crashed hears nothing until it restarts.
//!
//! What crashes when is decided before the run, as failures are. The network asks ahead of time, for
//! it says when a message is sent when it will arrive; the course of the run asks when it is time.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use haggle_model::failures::Outage;
use haggle_model::{ActorId, Time};

/// The crashes of a run, read as far ahead as anybody asks.
pub struct Crashes {
    /// In order of time, without end where a law has none.
    due: Box<dyn Iterator<Item = (ActorId, Outage)> + Send>,
    /// The first that has not been read.
    next: Option<(ActorId, Outage)>,
    /// Those that have been read and not been taken.
    ahead: VecDeque<(ActorId, Outage)>,
    /// Those that have been read, by actor, but for what is long over.
    known: BTreeMap<ActorId, VecDeque<Outage>>,
    /// How many actors may crash.
    actors: u64,
}

impl Crashes {
    /// The crashes that are `due`, in order of time; so many `actors` may crash.
    pub fn new(
        actors: u64,
        mut due: Box<dyn Iterator<Item = (ActorId, Outage)> + Send>,
    ) -> Crashes {
        let next = due.next();
        Crashes { due, next, ahead: VecDeque::new(), known: BTreeMap::new(), actors }
    }

    /// How many actors may crash.
    pub(crate) fn actors(&self) -> u64 {
        self.actors
    }

    /// The next crash that has not been taken yet; no message is sent before `now` any more.
    pub(crate) fn take_next(&mut self, now: Time) -> Option<(ActorId, Outage)> {
        if self.ahead.is_empty() {
            self.read_one();
        }
        let (actor, outage) = self.ahead.pop_front()?;
        if let Some(known) = self.known.get_mut(&actor) {
            known.retain(|it| it.restore > now);
        }
        Some((actor, outage))
    }

    /// Until when `actor` is down at `time`, if it is.
    pub(super) fn at(&mut self, actor: ActorId, time: Time) -> Option<Time> {
        self.read_until(time);
        let mut known = self.known.get(&actor)?.iter();
        known.find(|it| it.fail <= time && time < it.restore).map(|it| it.restore)
    }

    /// The first crash of `actor` after a time and not after another.
    pub(super) fn between(&mut self, actor: ActorId, after: Time, until: Time) -> Option<Outage> {
        self.read_until(until);
        let mut known = self.known.get(&actor)?.iter().copied();
        known.find(|it| after < it.fail && it.fail <= until)
    }

    fn read_until(&mut self, time: Time) {
        while self.next.is_some_and(|(_, outage)| outage.fail <= time) {
            self.read_one();
        }
    }

    fn read_one(&mut self) {
        let Some((actor, outage)) = std::mem::replace(&mut self.next, self.due.next()) else {
            return;
        };
        self.ahead.push_back((actor, outage));
        self.known.entry(actor).or_default().push_back(outage);
    }
}

impl fmt::Debug for Crashes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crashes").field("next", &self.next).field("known", &self.known).finish()
    }
}
