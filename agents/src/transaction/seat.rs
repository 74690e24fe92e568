//! A machine of a protocol, with the parts that it leaves to its driver: durable records and
//! timers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use haggle_agreements::protocol::{
    Bound, Coordinates as _, Duty, Machine, Outputs, Participates as _, Parts, Verdict,
};
use haggle_agreements::{AgreementId, Output, Record};
use haggle_model::{ActorId, Span, Time};

use crate::protocol::transaction::{Room, Speaks, Spoken};

/// An act that a machine requests of its owner.
#[derive(Clone, Debug, PartialEq)]
pub enum Act<N> {
    /// Send a message.
    Send {
        /// Receiver of the message.
        to: ActorId,
        /// The message.
        message: Spoken,
    },
    /// Handle this news.
    Tell(N),
}

/// The acts that a machine requests of its owner, in order.
pub type Acts<N> = VecDeque<Act<N>>;

/// Smallest number of records that are compacted.
const RECORDS_MIN: usize = 1_000;

/// A machine with its records and timers.
pub struct Seat<P: Speaks, M: Machine<P>> {
    me: ActorId,
    rules: P::Rules,
    /// `None` before it is started, and after a crash.
    machine: Option<M>,
    records: Vec<M::Record>,
    /// Number of records at which they are compacted: twice as many as were left last time.
    records_max: usize,
    timers: Timers<M::Timer>,
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

impl<P: Speaks, M: Machine<P>> fmt::Debug for Seat<P, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat")
            .field("protocol", &P::TRAITS.name)
            .field("me", &self.me)
            .finish_non_exhaustive()
    }
}

impl<P: Speaks, M: Machine<P>> Seat<P, M> {
    /// A machine that must be started.
    pub fn new(me: ActorId, rules: &P::Rules) -> Seat<P, M> {
        let rules = rules.clone();
        Seat {
            me,
            rules,
            machine: None,
            records: Vec::new(),
            records_max: RECORDS_MIN,
            timers: Timers::new(),
        }
    }

    /// Lets the machine carry out `act`; `None` after a crash.
    fn with<R>(
        &mut self,
        acts: &mut Acts<M::News>,
        act: impl FnOnce(&mut M, &mut Outputs<P, M>) -> R,
    ) -> Option<R> {
        let mut out = Vec::new();
        let done = act(self.machine.as_mut()?, &mut out);
        self.take_down(out, acts);
        Some(done)
    }

    /// Keeps records and timers, and passes the other outputs on.
    fn take_down(&mut self, out: Outputs<P, M>, acts: &mut Acts<M::News>) {
        for output in out {
            match output {
                Output::Send { to, message } => {
                    acts.push_back(Act::Send { to, message: P::wrap(message) });
                }
                Output::Persist(record) => self.persist(record),
                Output::Set { timer, at } => self.timers.set(timer, at),
                Output::Stop(timer) => self.timers.stop(timer),
                Output::Tell(news) => acts.push_back(Act::Tell(news)),
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

/// Inputs of a machine of any protocol; its owner receives `N`.
pub trait Drives<N>: fmt::Debug + Send {
    /// The machine starts, or starts again after a crash.
    fn start(&mut self, now: Time, acts: &mut Acts<N>);
    /// The machine is lost, except its records.
    fn crash(&mut self);
    /// A message has arrived; `false` if it belongs to another protocol.
    fn hear(&mut self, now: Time, from: ActorId, message: Spoken, acts: &mut Acts<N>) -> bool;
    /// The next of its timers that are due goes off; `false` if none is due.
    fn wake(&mut self, now: Time, acts: &mut Acts<N>) -> bool;
    /// Time of its next timer.
    fn next_wake(&self) -> Option<Time>;
}

impl<P: Speaks, M: Machine<P>> Drives<M::News> for Seat<P, M>
where
    P::Rules: Send,
    M: Send,
    M::Record: Send,
    M::Timer: Send,
{
    fn start(&mut self, now: Time, acts: &mut Acts<M::News>) {
        let mut out = Vec::new();
        let records = self.records.clone();
        self.machine = Some(M::start(self.me, &self.rules, records, now, &mut out));
        self.take_down(out, acts);
    }

    fn crash(&mut self) {
        self.machine = None;
        self.timers.clear();
    }

    fn hear(
        &mut self,
        now: Time,
        from: ActorId,
        message: Spoken,
        acts: &mut Acts<M::News>,
    ) -> bool {
        let Some(message) = P::unwrap(message) else { return false };
        self.with(acts, |machine, out| machine.on_message(now, from, message, out)).is_some()
    }

    fn wake(&mut self, now: Time, acts: &mut Acts<M::News>) -> bool {
        let Some(timer) = self.timers.take(now) else { return false };
        self.with(acts, |machine, out| machine.on_timer(now, timer, out)).is_some()
    }

    fn next_wake(&self) -> Option<Time> {
        self.timers.next().filter(|&at| at < Time::FOREVER)
    }
}

/// The machine of a coordinator, see [`haggle_agreements::protocol::Coordinates`].
pub trait Coordinates: Drives<Verdict<Room>> {
    /// Requests these parts, all or none, and returns the agreement's number. `None` after a crash.
    fn open(
        &mut self,
        now: Time,
        parts: Parts<Room>,
        acts: &mut Acts<Verdict<Room>>,
    ) -> Option<u64>;
    /// Gives up an undecided agreement, or gives back parts that are held until then.
    fn close(&mut self, now: Time, number: u64, acts: &mut Acts<Verdict<Room>>);
    /// True if an agreement is not over.
    fn is_open(&self, number: u64) -> bool;
}

impl<P: Speaks> Coordinates for Seat<P, P::Coordinator>
where
    Seat<P, P::Coordinator>: Drives<Verdict<Room>>,
{
    fn open(
        &mut self,
        now: Time,
        parts: Parts<Room>,
        acts: &mut Acts<Verdict<Room>>,
    ) -> Option<u64> {
        self.with(acts, |machine, out| machine.open(now, parts, out))
    }

    fn close(&mut self, now: Time, number: u64, acts: &mut Acts<Verdict<Room>>) {
        self.with(acts, |machine, out| machine.close(now, number, out));
    }

    fn is_open(&self, number: u64) -> bool {
        self.machine.as_ref().is_some_and(|it| it.open_numbers().contains(&number))
    }
}

/// The machine of a participant, see [`haggle_agreements::protocol::Participates`].
pub trait Participates: Drives<Duty<Room>> {
    /// The requested part is held from now on, for the lease if the protocol has leases.
    fn ready(
        &mut self,
        now: Time,
        id: AgreementId,
        start: Time,
        lease: Span,
        acts: &mut Acts<Duty<Room>>,
    );
    /// The requested part cannot be held now, but could be from `earliest` on.
    fn not_ready(
        &mut self,
        now: Time,
        id: AgreementId,
        earliest: Time,
        acts: &mut Acts<Duty<Room>>,
    );
    /// The requested part can never be held.
    fn never(&mut self, now: Time, id: AgreementId, acts: &mut Acts<Duty<Room>>);
    /// Takes back a held part that is not carried out yet, for a more urgent one; `false` if there
    /// is no such part.
    fn preempt(&mut self, now: Time, id: AgreementId, acts: &mut Acts<Duty<Room>>) -> bool;
    /// A part that was carried out has ended.
    fn over(&mut self, now: Time, id: AgreementId, acts: &mut Acts<Duty<Room>>);
    /// Room may have become free.
    fn room_changed(&mut self, now: Time, acts: &mut Acts<Duty<Room>>);
    /// There is room for a watched part, or no longer.
    fn available(&mut self, now: Time, id: AgreementId, fits: bool, acts: &mut Acts<Duty<Room>>);
    /// Parts that it holds or carries out by its records.
    fn bound(&self) -> Vec<Bound<Room>>;
    /// Waits between agreements: each waits for another.
    fn waits(&self) -> Vec<(AgreementId, AgreementId)>;
}

impl<P: Speaks> Participates for Seat<P, P::Participant>
where
    Seat<P, P::Participant>: Drives<Duty<Room>>,
{
    fn ready(
        &mut self,
        now: Time,
        id: AgreementId,
        start: Time,
        lease: Span,
        acts: &mut Acts<Duty<Room>>,
    ) {
        self.with(acts, |machine, out| machine.ready(now, id, start, lease, out));
    }

    fn not_ready(
        &mut self,
        now: Time,
        id: AgreementId,
        earliest: Time,
        acts: &mut Acts<Duty<Room>>,
    ) {
        self.with(acts, |machine, out| machine.not_ready(now, id, earliest, out));
    }

    fn never(&mut self, now: Time, id: AgreementId, acts: &mut Acts<Duty<Room>>) {
        self.with(acts, |machine, out| machine.never(now, id, Time::FOREVER, out));
    }

    fn preempt(&mut self, now: Time, id: AgreementId, acts: &mut Acts<Duty<Room>>) -> bool {
        self.with(acts, |machine, out| machine.preempt(now, id, out)).unwrap_or(false)
    }

    fn over(&mut self, now: Time, id: AgreementId, acts: &mut Acts<Duty<Room>>) {
        self.with(acts, |machine, out| machine.over(now, id, out));
    }

    fn room_changed(&mut self, now: Time, acts: &mut Acts<Duty<Room>>) {
        self.with(acts, |machine, out| machine.room_changed(now, out));
    }

    fn available(&mut self, now: Time, id: AgreementId, fits: bool, acts: &mut Acts<Duty<Room>>) {
        self.with(acts, |machine, out| machine.available(now, id, fits, out));
    }

    fn bound(&self) -> Vec<Bound<Room>> {
        self.machine.as_ref().map(|it| it.bound()).unwrap_or_default()
    }

    fn waits(&self) -> Vec<(AgreementId, AgreementId)> {
        self.machine.as_ref().map(|it| it.waits()).unwrap_or_default()
    }
}

/// The machine of an acceptor, which stores decisions for others.
pub trait Witnesses: Drives<()> {}

impl<P: Speaks> Witnesses for Seat<P, P::Witness> where Seat<P, P::Witness>: Drives<()> {}
