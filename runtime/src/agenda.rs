//! What is on its way, and which of it is still wanted: the clock, and the timers of the actors.

use haggle_agents::{Message, Phase, Timer};
use haggle_model::{ActorId, EventsOrder, Time};

use crate::clock::{Clock, Delivery, MessageKey};
use crate::timers::Timers;

/// When a timer has gone off that waits for its actor: never, for anything that can be set.
const HELD: Time = Time::from_micros(-1);

/// The clock of a run, which drops wake-ups that do not hold any more.
#[derive(Debug)]
pub(crate) struct Agenda {
    clock: Clock<Message>,
    timers: Timers,
}

impl Agenda {
    /// Nothing is on its way at time zero.
    pub(crate) fn new(order: EventsOrder) -> Agenda {
        Agenda { clock: Clock::new(order), timers: Timers::default() }
    }

    /// The instant of the last delivery.
    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Puts a message on its way.
    pub(crate) fn schedule(&mut self, at: Time, phase: Phase, delivery: Delivery<Message>) {
        self.clock.schedule(at, phase, delivery);
    }

    /// Wakes an actor up, whatever happens until then.
    pub(crate) fn wake(&mut self, at: Time, actor: ActorId, timer: Timer, hops: u32) {
        self.clock.schedule(at, timer.phase(), wake_up(actor, timer, hops, false));
    }

    /// Lets a timer of an actor go off at `at`, and no longer when it was to go off before. Within
    /// that instant it comes where it was put when it was first set to it.
    pub(crate) fn set(&mut self, at: Time, actor: ActorId, timer: Timer, hops: u32) {
        let at = at.max(self.now());
        if self.timers.set(actor, timer, at) {
            self.clock.schedule(at, timer.phase(), wake_up(actor, timer, hops, true));
        }
    }

    /// Lets a timer of an actor not go off.
    pub(crate) fn unset(&mut self, actor: ActorId, timer: Timer) {
        self.timers.stop(actor, timer);
    }

    /// A message that has not been taken.
    pub(crate) fn message(&self, key: MessageKey) -> &Delivery<Message> {
        self.clock.message(key)
    }

    /// Keeps a message that is not on its way until it is taken.
    pub(crate) fn keep(&mut self, delivery: Delivery<Message>) -> MessageKey {
        self.clock.keep(delivery)
    }

    /// Takes a message, once.
    pub(crate) fn take(&mut self, key: MessageKey) -> Delivery<Message> {
        self.clock.take(key)
    }

    /// What has gone off waits, for its actor is down: it holds until its actor sets or stops it.
    pub(crate) fn hold(&mut self, key: MessageKey) {
        if let Some((actor, timer)) = timer_of(self.clock.message(key)) {
            self.timers.set(actor, timer, HELD);
        }
    }

    /// Whether what has waited still holds, which it does not any more after that.
    pub(crate) fn holds(&mut self, key: MessageKey) -> bool {
        self.goes_off(key, HELD)
    }

    /// The next message that is due until then, moving on to its instant.
    pub(crate) fn next(&mut self, until: Option<Time>) -> Option<MessageKey> {
        loop {
            if let Some(until) = until
                && self.clock.next_time().is_some_and(|next| next > until)
            {
                return None;
            }
            let key = self.clock.next_due()?;
            if self.goes_off(key, self.now()) {
                return Some(key);
            }
            self.clock.take(key);
        }
    }

    /// Whether a message is to be delivered: a timer only if it is set to `to`.
    #[inline]
    fn goes_off(&mut self, key: MessageKey, to: Time) -> bool {
        match timer_of(self.clock.message(key)) {
            Some((actor, timer)) => self.timers.goes_off(actor, timer, to),
            None => true,
        }
    }

    /// Moves on to `time`, and hands out what is still on its way, in order: none of it arrives.
    pub(crate) fn stop(&mut self, time: Time) -> Vec<Delivery<Message>> {
        self.clock.stop(time)
    }
}

/// The timer that goes off with a message only if it is still set.
#[inline]
fn timer_of(delivery: &Delivery<Message>) -> Option<(ActorId, Timer)> {
    match delivery.message {
        Message::Wake(timer) if delivery.if_set => Some((delivery.to, timer)),
        _ => None,
    }
}

fn wake_up(actor: ActorId, timer: Timer, hops: u32, if_set: bool) -> Delivery<Message> {
    Delivery { from: actor, to: actor, hops, if_set, message: timer.into() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use haggle_model::Span;
    use proptest::prelude::*;

    use super::*;

    /// Something that is done to the agenda.
    #[derive(Clone, Copy, Debug)]
    enum Deed {
        /// (actor, timer, from now on)
        Set(u32, Timer, i64),
        Stop(u32, Timer),
        Wake(u32, Timer, i64),
        Next,
    }

    /// The obvious: all that was ever put on its way and has not come up, in the order in which it
    /// was put there, and which timer is set to when.
    #[derive(Default)]
    struct Obvious {
        on_its_way: Vec<(Time, u32, Timer, bool)>,
        set: BTreeMap<(u32, String), Time>,
    }

    impl Obvious {
        fn set(&mut self, actor: u32, timer: Timer, at: Time) {
            if self.set.insert((actor, format!("{timer:?}")), at) != Some(at) {
                self.on_its_way.push((at, actor, timer, true));
            }
        }

        fn next(&mut self) -> Option<(Time, u32, Timer)> {
            loop {
                let all = self.on_its_way.iter().enumerate();
                let first = all.min_by_key(|&(place, &(at, _, it, _))| (at, it.phase(), place));
                let place = first?.0;
                let (at, actor, timer, if_set) = self.on_its_way.remove(place);
                let key = (actor, format!("{timer:?}"));
                let is_set = self.set.get(&key) == Some(&at);
                if if_set && is_set {
                    self.set.remove(&key);
                }
                if !if_set || is_set {
                    return Some((at, actor, timer));
                }
            }
        }
    }

    fn timers() -> impl Strategy<Value = Timer> {
        (0..4_u32, 0..5_u8).prop_map(|(id, kind)| match kind {
            0 => Timer::PlanDue,
            1 => Timer::NextBag,
            2 => Timer::RunEnds { slot: id },
            3 => Timer::TasksEnd { slot: 1, run: id },
            _ => Timer::Other(id.into()),
        })
    }

    fn deeds() -> impl Strategy<Value = Deed> {
        prop_oneof![
            4 => (0..3_u32, timers(), 0..4_i64).prop_map(|(who, it, at)| Deed::Set(who, it, at)),
            2 => (0..3_u32, timers()).prop_map(|(who, it)| Deed::Stop(who, it)),
            1 => (0..3_u32, timers(), 0..4_i64).prop_map(|(who, it, at)| Deed::Wake(who, it, at)),
            3 => Just(Deed::Next),
        ]
    }

    fn next(agenda: &mut Agenda) -> Option<(Time, u32, Timer)> {
        let key = agenda.next(None)?;
        let delivery = agenda.take(key);
        let Message::Wake(timer) = delivery.message else { panic!("{delivery:?}") };
        Some((agenda.now(), delivery.to.0, timer))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Set, set anew, stopped and gone off in any order: what comes is what the obvious
        /// model says, in its order.
        #[test]
        fn timers_are_as_they_were_set_last(deeds in prop::collection::vec(deeds(), 1..60)) {
            let mut agenda = Agenda::new(EventsOrder::SubmissionsFirst);
            let mut obvious = Obvious::default();
            for deed in deeds {
                match deed {
                    Deed::Set(who, timer, after) => {
                        let at = agenda.now() + Span::from_secs(after);
                        agenda.set(at, ActorId(who), timer, 0);
                        obvious.set(who, timer, at);
                    }
                    Deed::Stop(who, timer) => {
                        agenda.unset(ActorId(who), timer);
                        obvious.set.remove(&(who, format!("{timer:?}")));
                    }
                    Deed::Wake(who, timer, after) => {
                        let at = agenda.now() + Span::from_secs(after);
                        agenda.wake(at, ActorId(who), timer, 0);
                        obvious.on_its_way.push((at, who, timer, false));
                    }
                    Deed::Next => {
                        let expected = obvious.next();
                        prop_assert_eq!(next(&mut agenda), expected);
                    }
                }
            }
            while let Some(expected) = obvious.next() {
                prop_assert_eq!(next(&mut agenda), Some(expected));
            }
            prop_assert_eq!(next(&mut agenda), None);
        }
    }
}
