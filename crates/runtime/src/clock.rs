//! The virtual clock: it determines the next message to deliver.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use haggle_agents::Phase;
use haggle_model::{ActorId, EventsOrder, Time};
use serde::{Deserialize, Serialize};
use slab::Slab;

/// Largest number of messages that may cause each other one after the other within one instant, apart from
/// those for jobs.
pub const HOPS_MAX: u32 = 10_000;

/// Additional messages for each job that is not over. An actor that places jobs one after the other
/// begins with the next one after the last message about the previous one.
pub const HOPS_PER_JOB: u32 = 100;

/// Rank of `phase` within an instant under `order`.
const fn rank(order: EventsOrder, phase: Phase) -> u8 {
    match (order, phase) {
        // Rescheduling follows from completions, so it moves up with them.
        (EventsOrder::CompletionsFirst, Phase::Completion) => Phase::Submission as u8,
        (EventsOrder::CompletionsFirst, Phase::Rescheduling) => Phase::Completion as u8,
        (EventsOrder::CompletionsFirst, Phase::Submission) => Phase::Rescheduling as u8,
        _ => phase as u8,
    }
}

/// Origin of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// An actor or the world: it is delivered.
    Run,
    /// A timer: it is delivered only if the timer is still set to this instant.
    Timer,
    /// Injected from outside of the run: it is delivered, and no other message follows from its delivery in the
    /// inputs of the run.
    Outside,
}

/// A message at its destination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivery<M> {
    /// Sender of the message.
    pub from: ActorId,
    /// Receiver of the message.
    pub to: ActorId,
    /// Number of messages of this instant that led to it, each causing the next.
    pub hops: u32,
    /// Its origin, which decides about its delivery.
    pub origin: Origin,
    /// The message.
    pub message: M,
}

impl<M> Delivery<M> {
    /// A message without a sender and without a cause.
    pub fn first(to: ActorId, message: M) -> Delivery<M> {
        Delivery { from: to, to, hops: 0, origin: Origin::Run, message }
    }
}

/// Messages on their way, and the time.
///
/// Messages that are due later wait in a heap. Messages that are due now wait in one queue for each
/// phase: most messages take no time, and a queue is cheaper than a heap. Both hold keys only. A
/// message stays in one place until it is taken, because moving it at each step would cost more than
/// all other work on it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Clock<M> {
    now: Time,
    order: EventsOrder,
    sequence: u64,
    messages: Slab<Delivery<M>>,
    later: BinaryHeap<Event>,
    due: [VecDeque<MessageKey>; Phase::COUNT],
    /// Bit set of the queues that are not empty.
    waiting: u16,
}

const _: () = assert!(Phase::COUNT <= u16::BITS as usize);

/// Place of a message until it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageKey(u32);

/// Time of a message, rank of its phase, and its place in both.
pub(crate) type Place = (Time, u8, u64);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Event {
    time: Time,
    /// Rank of the phase in the top eight bits, sequence below.
    order: u64,
    key: MessageKey,
}

impl<M> Clock<M> {
    /// A clock at time zero without messages.
    pub fn new(order: EventsOrder) -> Clock<M> {
        Clock::starting(order, Time::ZERO)
    }

    /// A clock at this time without messages.
    pub fn starting(order: EventsOrder, now: Time) -> Clock<M> {
        Clock {
            now,
            order,
            sequence: 0,
            messages: Slab::new(),
            later: BinaryHeap::new(),
            due: std::array::from_fn(|_| VecDeque::new()),
            waiting: 0,
        }
    }

    /// The instant of the last delivery.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Schedules a message for delivery at `at` in `phase`.
    ///
    /// Times in the past count as now.
    #[inline(always)] // handed over in memory, a message would be read wider than it was just written
    pub fn schedule(&mut self, at: Time, phase: Phase, delivery: Delivery<M>) {
        let rank = rank(self.order, phase);
        if at <= self.now {
            // No sequence is needed: a queue keeps the order of its messages.
            let key = self.keep(delivery);
            self.due[usize::from(rank)].push_back(key);
            self.waiting |= 1 << rank;
        } else {
            // Time passes until then, so the count within one instant begins anew.
            let key = self.keep(Delivery { hops: 0, ..delivery });
            // One comparison decides by phase and then by sequence; 56 bits are enough for any run.
            let order = u64::from(rank) << 56 | self.sequence;
            self.sequence += 1;
            self.later.push(Event { time: at, order, key });
        }
    }

    /// Stores a message that is not scheduled until it is taken.
    #[inline]
    pub fn keep(&mut self, delivery: Delivery<M>) -> MessageKey {
        MessageKey(self.messages.insert(delivery) as u32)
    }

    /// A message that has not been taken yet.
    #[inline]
    pub fn message(&self, key: MessageKey) -> &Delivery<M> {
        &self.messages[key.0 as usize]
    }

    /// Takes a message, once.
    #[inline]
    pub fn take(&mut self, key: MessageKey) -> Delivery<M> {
        self.messages.remove(key.0 as usize)
    }

    /// Withdraws the scheduled messages of later instants for which `withdraws` holds, and returns their number.
    pub fn withdraw(&mut self, withdraws: impl Fn(&Delivery<M>) -> bool) -> usize {
        let before = self.later.len();
        let Clock { later, messages, .. } = self;
        later.retain(|event| {
            let withdrawn = withdraws(&messages[event.key.0 as usize]);
            if withdrawn {
                messages.remove(event.key.0 as usize);
            }
            !withdrawn
        });
        before - later.len()
    }

    /// Time of the next message; `None` if no message is scheduled.
    pub fn next_time(&self) -> Option<Time> {
        let due = (self.waiting != 0).then_some(self.now);
        due.or_else(|| self.later.peek().map(|event| event.time))
    }

    /// Delays a message that was the next one and has not been taken. It comes behind all messages of its phase that
    /// are due now. Messages that are `with` it stay behind it.
    pub fn defer(&mut self, key: MessageKey, phase: Phase, with: impl Fn(&Delivery<M>) -> bool) {
        let rank = rank(self.order, phase);
        let mut later = std::mem::take(&mut self.later).into_sorted_vec();
        // The heap is reversed, so the earliest event is the last one.
        later.reverse();
        let mut delayed = vec![key];
        for event in later {
            let is_due = event.time == self.now && (event.order >> 56) as u8 == rank;
            match is_due && with(&self.messages[event.key.0 as usize]) {
                true => delayed.push(event.key),
                false => self.later.push(event),
            }
        }
        let (follow, stay): (Vec<_>, Vec<_>) = std::mem::take(&mut self.due[usize::from(rank)])
            .into_iter()
            .partition(|it| with(&self.messages[it.0 as usize]));
        self.due[usize::from(rank)] = stay.into_iter().chain(delayed).chain(follow).collect();
        self.waiting |= 1 << rank;
    }

    /// Messages of a phase that are due now.
    pub fn due_in(&self, phase: Phase) -> impl Iterator<Item = &Delivery<M>> {
        let rank = rank(self.order, phase);
        let is_due =
            move |event: &&Event| event.time == self.now && (event.order >> 56) as u8 == rank;
        let later = self.later.iter().filter(is_due).map(|event| event.key);
        let keys = later.chain(self.due[usize::from(rank)].iter().copied());
        keys.map(|key| &self.messages[key.0 as usize])
    }

    /// All scheduled messages, in no order. Each has its time, the rank of its phase, and its place in both.
    pub(crate) fn pending(&self) -> Vec<(Place, &Delivery<M>)> {
        let message = |key: MessageKey| &self.messages[key.0 as usize];
        let later = self.later.iter().map(|event| {
            let (rank, sequence) = ((event.order >> 56) as u8, event.order & (u64::MAX >> 8));
            ((event.time, rank, sequence), message(event.key))
        });
        let due = (0_u8..).zip(&self.due).flat_map(|(rank, queue)| {
            // Behind all messages that were sent before this instant.
            let places = (1 << 60)..;
            places.zip(queue).map(move |(place, &key)| ((self.now, rank, place), message(key)))
        });
        later.chain(due).collect()
    }

    /// Puts a message back that was the next one and has not been taken. It is the next one again, unless an
    /// earlier one is scheduled.
    pub fn put_back(&mut self, key: MessageKey, phase: Phase) {
        // The first of its phase and instant: no other message of that instant was ahead of it.
        let order = u64::from(rank(self.order, phase)) << 56;
        self.later.push(Event { time: self.now, order, key });
    }

    /// Goes back to `time`, after which no message was taken. No message may be due now.
    pub fn go_back(&mut self, time: Time) {
        debug_assert!(self.waiting == 0, "a message that is due now would be due earlier");
        self.now = time;
    }

    /// Advances to `time`, which must not be in the past, and returns all scheduled messages in order.
    /// None of them is delivered.
    pub fn stop(&mut self, time: Time) -> Vec<Delivery<M>> {
        let next = || self.next_due().map(|key| self.take(key));
        let left = std::iter::from_fn(next).collect();
        self.now = time;
        left
    }

    /// The next message; the clock advances to its instant. `None` if no message is scheduled.
    #[inline]
    pub fn next_due(&mut self) -> Option<MessageKey> {
        if self.waiting != 0 {
            // The lowest bit is the first phase that has messages.
            let rank = self.waiting.trailing_zeros();
            // Within a phase, messages sent before this instant come before messages sent in it.
            let is_before =
                |event: &Event| event.time == self.now && (event.order >> 56) as u32 <= rank;
            if !self.later.peek().is_some_and(is_before) {
                return self.pop_due(rank);
            }
        }
        let event = self.later.pop()?;
        self.now = event.time;
        Some(event.key)
    }

    /// Removes the first message of a queue that is not empty.
    #[inline]
    fn pop_due(&mut self, rank: u32) -> Option<MessageKey> {
        let queue = &mut self.due[rank as usize];
        // The queue is empty after this message.
        if queue.len() == 1 {
            self.waiting ^= 1 << rank;
        }
        queue.pop_front()
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Reversed, so that the earliest event is the greatest and leaves the heap first.
impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.order).cmp(&(self.time, self.order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(clock: &mut Clock<char>, at: i64, phase: Phase, message: char) {
        let delivery = Delivery::first(ActorId(0), message);
        clock.schedule(Time::from_secs(at), phase, delivery);
    }

    fn next(clock: &mut Clock<char>) -> Option<char> {
        clock.next_due().map(|key| clock.take(key).message)
    }

    fn drain(clock: &mut Clock<char>) -> String {
        std::iter::from_fn(|| next(clock)).collect()
    }

    #[test]
    fn time_then_phase_then_sequence() {
        let mut order = Vec::new();
        for events in [EventsOrder::SubmissionsFirst, EventsOrder::CompletionsFirst] {
            let mut clock = Clock::new(events);
            schedule(&mut clock, 5, Phase::Recovery, 's');
            schedule(&mut clock, 5, Phase::Resource, 'r');
            schedule(&mut clock, 5, Phase::Progress, 'p');
            schedule(&mut clock, 5, Phase::Rescheduling, 'e');
            schedule(&mut clock, 5, Phase::Completion, 'd');
            schedule(&mut clock, 5, Phase::Conversation, 'f');
            schedule(&mut clock, 5, Phase::Submission, 'b');
            schedule(&mut clock, 5, Phase::Decision, 'g');
            schedule(&mut clock, 5, Phase::Submission, 'c');
            schedule(&mut clock, 1, Phase::Decision, 'a');
            order.push(drain(&mut clock));
        }
        assert_eq!(order, ["aprsbcdefg", "aprsdebcfg"]);
    }

    #[test]
    fn what_is_sent_within_an_instant_comes_behind_its_phase() {
        let mut clock = Clock::new(EventsOrder::SubmissionsFirst);
        schedule(&mut clock, 5, Phase::Submission, 'a');
        schedule(&mut clock, 5, Phase::Completion, 'c');
        schedule(&mut clock, 5, Phase::Decision, 'e');
        assert_eq!(next(&mut clock), Some('a'));
        schedule(&mut clock, 5, Phase::Completion, 'd');
        schedule(&mut clock, 3, Phase::Submission, 'b');
        schedule(&mut clock, 5, Phase::Decision, 'f');
        assert_eq!(drain(&mut clock), "bcdef");
    }
}
