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

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::protocol::{
    Bound, Coordinates, Duty, Machine, Outputs, Participates, Parts, Protocol, Setting, Verdict,
};
use crate::{AgreementId, Output, Record, Subject};

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

/// Carries out acts in order. Acts that one of them leads to are appended.
pub fn carry_out<M, N>(mut acts: Acts<M, N>, mut act: impl FnMut(Act<M, N>, &mut Acts<M, N>)) {
    while let Some(next) = acts.pop_front() {
        act(next, &mut acts);
    }
}

/// State that a seat keeps for its machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Keeps {
    /// Records and timers. A crash loses the machine, and the records start it again.
    All,
    /// Nothing. No message is ever lost, so no timer is needed. The owner keeps its whole state over a crash,
    /// so no record is needed, and the machine stays.
    Nothing,
}

/// Smallest number of records that are compacted.
const RECORDS_MIN: usize = 1_000;

/// A machine with its records and timers. A machine may be its own [`Setting`].
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Seat<M: Machine<K>, K: Setting = M> {
    me: ActorId,
    rules: K::Rules,
    keeps: Keeps,
    /// `None` before it is started, and after a crash.
    machine: Option<M>,
    records: Vec<M::Record>,
    /// Number of records at which they are compacted: twice as many as were left last time.
    records_max: usize,
    timers: Timers<M::Timer>,
}

/// Without a bound on the setting, which may be a mark without values.
impl<K: Setting, M: Machine<K>> Clone for Seat<M, K> {
    fn clone(&self) -> Self {
        let Seat { me, keeps, records_max, .. } = *self;
        Seat {
            me,
            rules: self.rules.clone(),
            keeps,
            machine: self.machine.clone(),
            records: self.records.clone(),
            records_max,
            timers: self.timers.clone(),
        }
    }
}

impl<K: Setting, M: Machine<K>> fmt::Debug for Seat<M, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat")
            .field("me", &self.me)
            .field("keeps", &self.keeps)
            .field("is_up", &self.machine.is_some())
            .field("records", &self.records.len())
            .finish_non_exhaustive()
    }
}

impl<K: Setting, M: Machine<K>> Seat<M, K> {
    /// A machine that must be started.
    pub fn new(me: ActorId, rules: K::Rules, keeps: Keeps) -> Seat<M, K> {
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
    pub fn start<W: From<K::Sent>>(&mut self, now: Time, acts: &mut Acts<W, M::News>) {
        if self.machine.is_some() {
            return;
        }
        let mut out = Vec::new();
        let records = self.records.clone();
        self.machine = Some(M::start(self.me, &self.rules, records, now, &mut out));
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
    pub fn with<W: From<K::Sent>, R>(
        &mut self,
        acts: &mut Acts<W, M::News>,
        step: impl FnOnce(&mut M, &mut Outputs<K, M>) -> R,
    ) -> Option<R> {
        let mut out = Vec::new();
        let done = step(self.machine.as_mut()?, &mut out);
        self.take_down(out, acts);
        Some(done)
    }

    /// A message has arrived.
    pub fn hear<W: From<K::Sent>>(
        &mut self,
        now: Time,
        from: ActorId,
        message: K::Received,
        acts: &mut Acts<W, M::News>,
    ) {
        self.with(acts, |machine, out| machine.on_message(now, from, message, out));
    }

    /// The next of its timers that are due goes off; `false` if none is due.
    pub fn wake<W: From<K::Sent>>(&mut self, now: Time, acts: &mut Acts<W, M::News>) -> bool {
        let Some(timer) = self.timers.take(now) else { return false };
        self.with(acts, |machine, out| machine.on_timer(now, timer, out)).is_some()
    }

    /// The owner lets a timer go off: it has found by itself that its time has come.
    pub fn expire<W: From<K::Sent>>(
        &mut self,
        now: Time,
        timer: M::Timer,
        acts: &mut Acts<W, M::News>,
    ) {
        self.timers.stop(timer);
        self.with(acts, |machine, out| machine.on_timer(now, timer, out));
    }

    /// Time of its next timer.
    pub fn next_wake(&self) -> Option<Time> {
        self.timers.next().filter(|&at| at < Time::FOREVER)
    }

    /// Keeps records and timers, and passes the other outputs on.
    fn take_down<W: From<K::Sent>>(&mut self, out: Outputs<K, M>, acts: &mut Acts<W, M::News>) {
        let keeps = self.keeps == Keeps::All;
        for output in out {
            match output {
                Output::Send { to, message } => {
                    acts.push_back(Act::Send { to, message: message.into() });
                }
                Output::Tell(news) => acts.push_back(Act::Tell(news)),
                Output::Persist(record) if keeps => self.persist(record),
                Output::Set { timer, at } if keeps => self.timers.set(timer, at),
                Output::Stop(timer) if keeps => self.timers.stop(timer),
                Output::Persist(_) | Output::Set { .. } | Output::Stop(_) => {}
            }
        }
    }

    fn persist(&mut self, record: M::Record) {
        self.records.push(record);
        if self.records.len() == self.records_max {
            self.records = Record::compact(std::mem::take(&mut self.records));
            self.records_max = RECORDS_MIN.max(2 * self.records.len());
        }
    }
}

/// The inputs that seats of all protocols have, without the types of the protocol: messages travel as `W`.
pub trait Drives<W, N>: fmt::Debug + Send {
    /// The machine starts, or starts again after a crash.
    fn start(&mut self, now: Time, acts: &mut Acts<W, N>);
    /// The machine is lost, except its records.
    fn crash(&mut self);
    /// A message has arrived; `false` if it belongs to another protocol, or the machine is down.
    fn hear(&mut self, now: Time, from: ActorId, message: W, acts: &mut Acts<W, N>) -> bool;
    /// The next of its timers that are due goes off; `false` if none is due.
    fn wake(&mut self, now: Time, acts: &mut Acts<W, N>) -> bool;
    /// Time of its next timer.
    fn next_wake(&self) -> Option<Time>;
}

impl<W, K: Setting, M: Machine<K>> Drives<W, M::News> for Seat<M, K>
where
    W: From<K::Sent> + TryInto<K::Received>,
{
    fn start(&mut self, now: Time, acts: &mut Acts<W, M::News>) {
        Seat::start(self, now, acts);
    }

    fn crash(&mut self) {
        Seat::crash(self);
    }

    fn hear(&mut self, now: Time, from: ActorId, message: W, acts: &mut Acts<W, M::News>) -> bool {
        let Ok(message) = message.try_into() else { return false };
        self.with(acts, |machine, out| machine.on_message(now, from, message, out)).is_some()
    }

    fn wake(&mut self, now: Time, acts: &mut Acts<W, M::News>) -> bool {
        Seat::wake(self, now, acts)
    }

    fn next_wake(&self) -> Option<Time> {
        Seat::next_wake(self)
    }
}

impl<S, P, W> Coordinates<S, Acts<W, Verdict<S>>> for Seat<P::Coordinator, P>
where
    S: Subject,
    P: Protocol<Subject = S>,
    W: From<P::Message>,
{
    fn open(&mut self, now: Time, parts: Parts<S>, acts: &mut Acts<W, Verdict<S>>) -> Option<u64> {
        self.with(acts, |machine, out| machine.open(now, parts, out))?
    }

    fn close(&mut self, now: Time, number: u64, acts: &mut Acts<W, Verdict<S>>) {
        self.with(acts, |machine, out| machine.close(now, number, out));
    }

    fn open_numbers(&self) -> Vec<u64> {
        self.machine().map(|it| it.open_numbers()).unwrap_or_default()
    }
}

impl<S, P, W> Participates<S, Acts<W, Duty<S>>> for Seat<P::Participant, P>
where
    S: Subject,
    P: Protocol<Subject = S>,
    W: From<P::Message>,
{
    fn ready(
        &mut self,
        now: Time,
        id: AgreementId,
        terms: S::Terms,
        lease: Span,
        acts: &mut Acts<W, Duty<S>>,
    ) {
        self.with(acts, |machine, out| machine.ready(now, id, terms, lease, out));
    }

    fn not_ready(
        &mut self,
        now: Time,
        id: AgreementId,
        counter: S::Counter,
        acts: &mut Acts<W, Duty<S>>,
    ) {
        self.with(acts, |machine, out| machine.not_ready(now, id, counter, out));
    }

    fn never_ready(
        &mut self,
        now: Time,
        id: AgreementId,
        counter: S::Counter,
        acts: &mut Acts<W, Duty<S>>,
    ) {
        self.with(acts, |machine, out| machine.never_ready(now, id, counter, out));
    }

    fn over(&mut self, now: Time, id: AgreementId, acts: &mut Acts<W, Duty<S>>) {
        self.with(acts, |machine, out| machine.over(now, id, out));
    }

    fn room_changed(&mut self, now: Time, acts: &mut Acts<W, Duty<S>>) {
        self.with(acts, |machine, out| machine.room_changed(now, out));
    }

    fn preempt(&mut self, now: Time, id: AgreementId, acts: &mut Acts<W, Duty<S>>) -> bool {
        self.with(acts, |machine, out| machine.preempt(now, id, out)).unwrap_or(false)
    }

    fn available(&mut self, now: Time, id: AgreementId, fits: bool, acts: &mut Acts<W, Duty<S>>) {
        self.with(acts, |machine, out| machine.available(now, id, fits, out));
    }

    fn bound(&self) -> Vec<Bound<S>> {
        self.machine().map(|it| it.bound()).unwrap_or_default()
    }

    fn waits(&self) -> Vec<(AgreementId, AgreementId)> {
        self.machine().map(|it| it.waits()).unwrap_or_default()
    }
}

/// Timers that are set, each once.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound(deserialize = "T: Ord + Deserialize<'de>"))]
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
