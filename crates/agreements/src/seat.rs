//! A machine together with the state that it leaves to its driver: durable records and timers.
//!
//! ```text
//!   owner ── with, hear, wake, ... ──▶ Seat ──▶ machine
//!     ▲                                  │ ◀── outputs
//!     └────── Act: send this, tell that ─┘ records and timers stay here
//! ```
//!
//! The owner of a seat carries out its acts in order ([`carry_out`]). An act may lead to more acts, which
//! are appended. A crash of the owner loses the machine; the seat starts it again from its records.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use haggle_model::{ActorId, Time};

use crate::protocol::{Machine, Protocol};
use crate::{Output, Record};

/// A machine as its seat drives it. `K` is the protocol of its messages: a [`Protocol`], or [`Plain`].
pub trait Driven<K>: Sized {
    /// Data that it needs to start.
    type Rules: Clone;
    /// Messages that it receives.
    type Received;
    /// Messages that it sends.
    type Sent;
    /// Its durable state.
    type Record: Record;
    /// Its timers.
    type Timer: Copy + Ord;
    /// News for its owner.
    type News;

    /// A machine with these records; there are none at its first start.
    fn begin(
        me: ActorId,
        rules: &Self::Rules,
        records: Vec<Self::Record>,
        now: Time,
        out: &mut Puts<K, Self>,
    ) -> Self;

    /// A message has arrived.
    fn receive(
        &mut self,
        now: Time,
        from: ActorId,
        message: Self::Received,
        out: &mut Puts<K, Self>,
    );

    /// A timer has expired.
    fn expire(&mut self, now: Time, timer: Self::Timer, out: &mut Puts<K, Self>);
}

/// Outputs of a driven machine, in order.
pub type Puts<K, M> = Vec<
    Output<
        <M as Driven<K>>::Sent,
        <M as Driven<K>>::Record,
        <M as Driven<K>>::Timer,
        <M as Driven<K>>::News,
    >,
>;

/// The messages of [`Coordinator`](crate::Coordinator) and [`Participant`](crate::Participant) whose owners
/// decide themselves, without a [`Protocol`] between.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl<P: Protocol, M: Machine<P>> Driven<P> for M {
    type Rules = P::Rules;
    type Received = P::Message;
    type Sent = P::Message;
    type Record = M::Record;
    type Timer = M::Timer;
    type News = M::News;

    fn begin(
        me: ActorId,
        rules: &P::Rules,
        records: Vec<M::Record>,
        now: Time,
        out: &mut Puts<P, M>,
    ) -> M {
        M::start(me, rules, records, now, out)
    }

    fn receive(&mut self, now: Time, from: ActorId, message: P::Message, out: &mut Puts<P, M>) {
        self.on_message(now, from, message, out);
    }

    fn expire(&mut self, now: Time, timer: M::Timer, out: &mut Puts<P, M>) {
        self.on_timer(now, timer, out);
    }
}

/// An act that a machine requests of its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act<M, N> {
    /// Send a message.
    Send {
        /// Receiver of the message.
        to: ActorId,
        /// The message.
        message: M,
    },
    /// Handle this news.
    Tell(N),
}

/// Acts that a machine requests of its owner, in order.
pub type Acts<M, N> = VecDeque<Act<M, N>>;

/// An act of a driven machine.
pub type ActOf<K, M> = Act<<M as Driven<K>>::Sent, <M as Driven<K>>::News>;

/// Acts of a driven machine, in order.
pub type ActsOf<K, M> = VecDeque<ActOf<K, M>>;

/// Carries out acts in order. Acts that one of them leads to are appended.
pub fn carry_out<M, N>(mut acts: Acts<M, N>, mut act: impl FnMut(Act<M, N>, &mut Acts<M, N>)) {
    while let Some(next) = acts.pop_front() {
        act(next, &mut acts);
    }
}

/// State that a seat keeps for its machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Records and timers. A crash loses the machine, and the records start it again.
    All,
    /// Nothing. No message is ever lost, so no timer is needed. The owner keeps its whole state over a crash,
    /// so no record is needed, and the machine stays.
    Nothing,
}

/// Smallest number of records that are compacted.
const RECORDS_MIN: usize = 1_000;

/// A machine with its records and timers.
pub struct Seat<K, M: Driven<K>> {
    me: ActorId,
    rules: M::Rules,
    keeps: Keeps,
    /// `None` before it is started, and after a crash.
    machine: Option<M>,
    records: Vec<M::Record>,
    /// Number of records at which they are compacted: twice as many as were left last time.
    records_max: usize,
    timers: Timers<M::Timer>,
}

impl<K, M: Driven<K>> fmt::Debug for Seat<K, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat")
            .field("me", &self.me)
            .field("keeps", &self.keeps)
            .field("is_up", &self.machine.is_some())
            .field("records", &self.records.len())
            .finish_non_exhaustive()
    }
}

impl<K, M: Driven<K>> Seat<K, M> {
    /// A machine that must be started.
    pub fn new(me: ActorId, rules: M::Rules, keeps: Keeps) -> Seat<K, M> {
        Seat {
            me,
            rules,
            keeps,
            machine: None,
            records: Vec::new(),
            records_max: RECORDS_MIN,
            timers: Timers::new(),
        }
    }

    /// The machine starts, or starts again after a crash.
    pub fn start(&mut self, now: Time, acts: &mut impl Extend<ActOf<K, M>>) {
        if self.machine.is_some() {
            return;
        }
        let mut out = Vec::new();
        let records = self.records.clone();
        self.machine = Some(M::begin(self.me, &self.rules, records, now, &mut out));
        self.take_down(out, acts);
    }

    /// The owner has crashed: the machine is lost if its records can start it again.
    pub fn crash(&mut self) {
        if self.keeps == Keeps::All {
            self.machine = None;
            self.timers.clear();
        }
    }

    /// The machine; `None` before its start, and after a crash.
    pub fn machine(&self) -> Option<&M> {
        self.machine.as_ref()
    }

    /// Lets the machine do `step`; `None` before its start, and after a crash.
    pub fn with<R>(
        &mut self,
        acts: &mut impl Extend<ActOf<K, M>>,
        step: impl FnOnce(&mut M, &mut Puts<K, M>) -> R,
    ) -> Option<R> {
        let mut out = Vec::new();
        let done = step(self.machine.as_mut()?, &mut out);
        self.take_down(out, acts);
        Some(done)
    }

    /// A message has arrived.
    pub fn hear(
        &mut self,
        now: Time,
        from: ActorId,
        message: M::Received,
        acts: &mut impl Extend<ActOf<K, M>>,
    ) {
        self.with(acts, |machine, out| machine.receive(now, from, message, out));
    }

    /// The next of its timers that are due goes off; `false` if none is due.
    pub fn wake(&mut self, now: Time, acts: &mut impl Extend<ActOf<K, M>>) -> bool {
        let Some(timer) = self.timers.take(now) else { return false };
        self.with(acts, |machine, out| machine.expire(now, timer, out)).is_some()
    }

    /// The owner lets a timer go off: it has found by itself that its time has come.
    pub fn expire(&mut self, now: Time, timer: M::Timer, acts: &mut impl Extend<ActOf<K, M>>) {
        self.timers.stop(timer);
        self.with(acts, |machine, out| machine.expire(now, timer, out));
    }

    /// Time of its next timer.
    pub fn next_wake(&self) -> Option<Time> {
        self.timers.next().filter(|&at| at < Time::FOREVER)
    }

    /// Keeps records and timers, and passes the other outputs on.
    fn take_down(&mut self, out: Puts<K, M>, acts: &mut impl Extend<ActOf<K, M>>) {
        acts.extend(out.into_iter().filter_map(|output| self.take(output)));
    }

    fn take(
        &mut self,
        output: Output<M::Sent, M::Record, M::Timer, M::News>,
    ) -> Option<ActOf<K, M>> {
        let keeps = self.keeps == Keeps::All;
        match output {
            Output::Send { to, message } => return Some(Act::Send { to, message }),
            Output::Tell(news) => return Some(Act::Tell(news)),
            Output::Persist(record) if keeps => self.persist(record),
            Output::Set { timer, at } if keeps => self.timers.set(timer, at),
            Output::Stop(timer) if keeps => self.timers.stop(timer),
            Output::Persist(_) | Output::Set { .. } | Output::Stop(_) => {}
        }
        None
    }

    fn persist(&mut self, record: M::Record) {
        self.records.push(record);
        if self.records.len() == self.records_max {
            self.records = Record::compact(std::mem::take(&mut self.records));
            self.records_max = RECORDS_MIN.max(2 * self.records.len());
        }
    }
}

/// Timers that are set, each once.
struct Timers<T> {
    /// Time of each timer, and its number in the order of setting.
    set: BTreeMap<T, (Time, u64)>,
    /// The same in order of time, because there may be a timer for each agreement.
    due: BTreeSet<(Time, u64, T)>,
    /// Number of settings so far.
    count: u64,
}

impl<T: Copy + Ord> Timers<T> {
    fn new() -> Timers<T> {
        Timers { set: BTreeMap::new(), due: BTreeSet::new(), count: 0 }
    }

    fn set(&mut self, timer: T, at: Time) {
        self.stop(timer);
        self.count += 1;
        self.set.insert(timer, (at, self.count));
        self.due.insert((at, self.count, timer));
    }

    fn stop(&mut self, timer: T) {
        if let Some((at, count)) = self.set.remove(&timer) {
            self.due.remove(&(at, count, timer));
        }
    }

    /// Takes the next timer that is due.
    fn take(&mut self, now: Time) -> Option<T> {
        let &(_, _, timer) = self.due.first().filter(|&&(at, ..)| at <= now)?;
        self.stop(timer);
        Some(timer)
    }

    fn next(&self) -> Option<Time> {
        self.due.first().map(|&(at, ..)| at)
    }

    fn clear(&mut self) {
        self.set.clear();
        self.due.clear();
    }
}
