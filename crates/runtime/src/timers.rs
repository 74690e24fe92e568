//! The timers of the actors and the times to which they are set.
//!
//! A scheduled message cannot be removed cheaply. It stays scheduled, and is dropped when it is due
//! unless its timer is set to that very instant.

use haggle_agents::Timer;
use haggle_model::{ActorId, Time};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// The timers of all actors, by actor, up to the last actor that has set one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Timers(Vec<Own>);

/// The times to which the timers of an actor are set.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Own {
    /// Timers with a place, see [`Timer::place`], which need no look-up. Usually there are few, which
    /// need no allocation.
    placed: SmallVec<[Option<Time>; 4]>,
    others: FxHashMap<Timer, Time>,
}

impl Timers {
    /// Sets a timer to `at`; false if it was set to that already.
    pub(crate) fn set(&mut self, actor: ActorId, timer: Timer, at: Time) -> bool {
        if self.0.len() <= actor.index() {
            self.0.resize_with(actor.index() + 1, Own::default);
        }
        // If it was set to that instant before, a message for it is scheduled already.
        self.0[actor.index()].set(timer, at) != Some(at)
    }

    /// Stops a timer.
    pub(crate) fn stop(&mut self, actor: ActorId, timer: Timer) {
        if let Some(own) = self.0.get_mut(actor.index()) {
            own.stop(timer);
        }
    }

    /// True if a timer is set to `at`.
    pub(crate) fn is_set(&self, actor: ActorId, timer: Timer, at: Time) -> bool {
        self.0.get(actor.index()).is_some_and(|own| own.get(timer) == Some(at))
    }

    /// True if a timer is set to `now`; it is then no longer set.
    pub(crate) fn goes_off(&mut self, actor: ActorId, timer: Timer, now: Time) -> bool {
        let own = &mut self.0[actor.index()];
        // A timer message is scheduled only by a setting, so its actor has an entry.
        let goes_off = own.get(timer) == Some(now);
        if goes_off {
            own.stop(timer);
        }
        goes_off
    }
}

impl Own {
    fn get(&self, timer: Timer) -> Option<Time> {
        match timer.place() {
            Some(place) => self.placed.get(place).copied().flatten(),
            None => self.others.get(&timer).copied(),
        }
    }

    /// Sets a timer, and returns its earlier setting.
    fn set(&mut self, timer: Timer, at: Time) -> Option<Time> {
        let Some(place) = timer.place() else { return self.others.insert(timer, at) };
        if self.placed.len() <= place {
            self.placed.resize(place + 1, None);
        }
        self.placed[place].replace(at)
    }

    fn stop(&mut self, timer: Timer) {
        match timer.place() {
            Some(place) => {
                if let Some(placed) = self.placed.get_mut(place) {
                    *placed = None;
                }
            }
            None => {
                self.others.remove(&timer);
            }
        }
    }
}
