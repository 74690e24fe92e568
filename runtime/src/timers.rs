//! Which timers of the actors are set, and to when.
//!
//! What has been put on its way cannot be taken back cheaply, so it stays there, and is dropped
//! when it comes up unless its timer is set to that very instant.

use haggle_agents::Timer;
use haggle_model::{ActorId, Time};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The timers of all actors, by actor, up to the last one that has set any.
#[derive(Debug, Default)]
pub(crate) struct Timers(Vec<Own>);

/// When the timers of an actor go off.
#[derive(Debug, Default)]
struct Own {
    /// Those with a place, see [`Timer::place`]: nothing has to be looked up. Mostly there are few, which
    /// need no memory of their own.
    placed: SmallVec<[Option<Time>; 4]>,
    others: FxHashMap<Timer, Time>,
}

impl Timers {
    /// Sets a timer to `at`; false if it is already.
    pub(crate) fn set(&mut self, actor: ActorId, timer: Timer, at: Time) -> bool {
        if self.0.len() <= actor.index() {
            self.0.resize_with(actor.index() + 1, Own::default);
        }
        self.0[actor.index()].set(timer, at) != Some(at)
    }

    /// Stops a timer.
    pub(crate) fn stop(&mut self, actor: ActorId, timer: Timer) {
        if let Some(own) = self.0.get_mut(actor.index()) {
            own.stop(timer);
        }
    }

    /// Whether a timer is set to `now`, which it is no more after that.
    pub(crate) fn goes_off(&mut self, actor: ActorId, timer: Timer, now: Time) -> bool {
        let own = &mut self.0[actor.index()];
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
            Some(place) => self.placed[place],
            None => self.others.get(&timer).copied(),
        }
    }

    /// Sets a timer, and gives when it was to go off before.
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
