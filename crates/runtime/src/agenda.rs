//! Scheduled messages and the timers of the actors: a timer message is delivered only if its timer is still set.

use haggle_agents::{Message, Phase, Timer};
use haggle_model::{ActorId, EventsOrder, Time};
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, Delivery, MessageKey, Origin, Place};
use crate::timers::Timers;

/// Setting of a timer that has gone off and waits for its actor. No real timer is set to this instant.
const HELD: Time = Time::from_micros(i64::MIN);

/// The clock of a run; it drops timer messages that are no longer valid.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Agenda {
    clock: Clock<Message>,
    timers: Timers,
}

impl Agenda {
    /// An agenda at the beginning of a run, without messages.
    pub(crate) fn new(order: EventsOrder, begin: Time) -> Agenda {
        Agenda { clock: Clock::starting(order, begin), timers: Timers::default() }
    }

    /// The instant of the last delivery.
    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Schedules a message.
    pub(crate) fn schedule(&mut self, at: Time, phase: Phase, delivery: Delivery<Message>) {
        self.clock.schedule(at, phase, delivery);
    }

    /// Wakes an actor at `at` unconditionally.
    pub(crate) fn wake(&mut self, at: Time, actor: ActorId, timer: Timer, hops: u32) {
        self.clock.schedule(at, timer.phase(), wake_up(actor, timer, hops, Origin::Run));
    }

    /// Sets a timer of an actor to `at`; its earlier setting is no longer valid. Within that instant,
    /// it keeps the position that it got when it was first set to it.
    pub(crate) fn set(&mut self, at: Time, actor: ActorId, timer: Timer, hops: u32) {
        // A timer goes off only at the instant to which it is set, and nothing is delivered in the past.
        let at = at.max(self.now());
        // If it was set to that instant already, the earlier message keeps its place.
        if self.timers.set(actor, timer, at) {
            self.clock.schedule(at, timer.phase(), wake_up(actor, timer, hops, Origin::Timer));
        }
    }

    /// Stops a timer of an actor.
    pub(crate) fn unset(&mut self, actor: ActorId, timer: Timer) {
        self.timers.stop(actor, timer);
    }

    /// A message that has not been taken yet.
    pub(crate) fn message(&self, key: MessageKey) -> &Delivery<Message> {
        self.clock.message(key)
    }

    /// Delays the next message, which has not been taken, behind all messages of its phase that are due now. Messages
    /// that are `with` it follow it in their order.
    pub(crate) fn defer(&mut self, key: MessageKey, with: impl Fn(&Delivery<Message>) -> bool) {
        let delivery = self.clock.message(key);
        if let Some((actor, timer)) = timer_of(delivery) {
            self.timers.set(actor, timer, self.clock.now());
        }
        let phase = delivery.message.phase();
        self.clock.defer(key, phase, with);
    }

    /// True if a message of this phase that is due now and still valid satisfies `is_it`.
    pub(crate) fn any_due(&self, phase: Phase, is_it: impl Fn(&Delivery<Message>) -> bool) -> bool {
        self.clock
            .due_in(phase)
            .any(|delivery| self.is_valid(self.now(), delivery) && is_it(delivery))
    }

    /// All messages that will be delivered, with their places.
    pub(crate) fn pending(&self) -> Vec<(Place, &Delivery<Message>)> {
        let all = self.clock.pending().into_iter();
        all.filter(|&((time, ..), delivery)| self.is_valid(time, delivery)).collect()
    }

    fn is_valid(&self, time: Time, delivery: &Delivery<Message>) -> bool {
        timer_of(delivery).is_none_or(|(actor, timer)| self.timers.is_set(actor, timer, time))
    }

    /// Stores a message that is not scheduled until it is taken.
    pub(crate) fn keep(&mut self, delivery: Delivery<Message>) -> MessageKey {
        self.clock.keep(delivery)
    }

    /// Goes back to `time`, after which no message was taken. It is not known any more which message is next.
    pub(crate) fn go_back(&mut self, time: Time) {
        self.clock.go_back(time);
    }

    /// Puts the next message back, which has not been taken.
    pub(crate) fn put_back(&mut self, key: MessageKey) {
        let delivery = self.clock.message(key);
        if let Some((actor, timer)) = timer_of(delivery) {
            self.timers.set(actor, timer, self.clock.now());
        }
        let phase = delivery.message.phase();
        self.clock.put_back(key, phase);
    }

    /// Takes a message, once.
    pub(crate) fn take(&mut self, key: MessageKey) -> Delivery<Message> {
        self.clock.take(key)
    }

    /// Holds a message whose actor is down. A held timer stays valid until its actor sets or stops it.
    pub(crate) fn hold(&mut self, key: MessageKey) {
        if let Some((actor, timer)) = timer_of(self.clock.message(key)) {
            self.timers.set(actor, timer, HELD);
        }
    }

    /// True if a held message is still valid. A timer is then no longer set.
    pub(crate) fn holds(&mut self, key: MessageKey) -> bool {
        self.goes_off(key, HELD)
    }

    /// The next message that is due by `until`; time advances to its instant.
    pub(crate) fn next(&mut self, until: Option<Time>) -> Option<MessageKey> {
        loop {
            if let Some(until) = until
                // Looked at before the clock advances: a message behind the horizon must stay scheduled.
                && self.clock.next_time().is_some_and(|next| next > until)
            {
                return None;
            }
            let key = self.clock.next_due()?;
            if self.goes_off(key, self.now()) {
                return Some(key);
            }
            // An outdated timer message is dropped without a record.
            self.clock.take(key);
        }
    }

    /// True if a message must be delivered. A timer message is delivered only if the timer is set to `to`.
    #[inline]
    fn goes_off(&mut self, key: MessageKey, to: Time) -> bool {
        match timer_of(self.clock.message(key)) {
            Some((actor, timer)) => self.timers.goes_off(actor, timer, to),
            None => true,
        }
    }

    /// Withdraws the messages of later instants for which `withdraws` holds, and returns their number.
    pub(crate) fn withdraw(&mut self, withdraws: impl Fn(&Delivery<Message>) -> bool) -> usize {
        self.clock.withdraw(withdraws)
    }

    /// Advances to `time` and returns all scheduled messages in order. None of them is delivered.
    pub(crate) fn stop(&mut self, time: Time) -> Vec<Delivery<Message>> {
        self.clock.stop(time)
    }
}

/// The timer of a message that is delivered only if the timer is still set.
#[inline]
fn timer_of(delivery: &Delivery<Message>) -> Option<(ActorId, Timer)> {
    match delivery.message {
        Message::Wake(timer) if delivery.origin == Origin::Timer => Some((delivery.to, timer)),
        _ => None,
    }
}

fn wake_up(actor: ActorId, timer: Timer, hops: u32, origin: Origin) -> Delivery<Message> {
    Delivery { from: actor, to: actor, hops, origin, message: timer.into() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use haggle_model::Span;
    use proptest::prelude::*;

    use super::*;

    /// An operation on the agenda.
    #[derive(Clone, Copy, Debug)]
    enum Deed {
        /// (actor, timer, delay from now)
        Set(u32, Timer, i64),
        Stop(u32, Timer),
        Wake(u32, Timer, i64),
        Next,
    }

    /// The naive model: all scheduled messages that have not been delivered, in the order of
    /// scheduling, and the settings of all timers.
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

        /// Timers are set, set anew, stopped and go off in any order. The agenda delivers what the
        /// naive model delivers, in the same order.
        #[test]
        fn timers_are_as_they_were_set_last(deeds in prop::collection::vec(deeds(), 1..60)) {
            let mut agenda = Agenda::new(EventsOrder::SubmissionsFirst, Time::ZERO);
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
