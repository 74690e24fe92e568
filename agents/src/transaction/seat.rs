//! Seats of any protocol, as their owners drive them: without the types of the protocol.

use std::fmt;
use std::marker::PhantomData;

use haggle_agreements::AgreementId;
use haggle_agreements::protocol::{
    Bound, Coordinates as _, Duty, Machine, Participates as _, Parts, Verdict,
};
use haggle_agreements::seat::{self, Seat};
use haggle_model::{ActorId, Span, Time};

use crate::protocol::transaction::{Room, Speaks, Spoken};

/// An act that a machine requests of its owner.
pub type Act<N> = seat::Act<Spoken, N>;

/// The acts that a machine requests of its owner, in order.
pub type Acts<N> = seat::Acts<Spoken, N>;

/// Takes the acts of a machine of protocol `P`.
struct Wrapped<'a, P, N>(&'a mut Acts<N>, PhantomData<P>);

impl<P: Speaks, N> Extend<seat::Act<P::Message, N>> for Wrapped<'_, P, N> {
    fn extend<I: IntoIterator<Item = seat::Act<P::Message, N>>>(&mut self, acts: I) {
        self.0.extend(acts.into_iter().map(|act| match act {
            seat::Act::Send { to, message } => Act::Send { to, message: P::wrap(message) },
            seat::Act::Tell(news) => Act::Tell(news),
        }));
    }
}

fn wrapped<P: Speaks, N>(acts: &mut Acts<N>) -> Wrapped<'_, P, N> {
    Wrapped(acts, PhantomData)
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
        Seat::start(self, now, &mut wrapped::<P, _>(acts));
    }

    fn crash(&mut self) {
        Seat::crash(self);
    }

    fn hear(
        &mut self,
        now: Time,
        from: ActorId,
        message: Spoken,
        acts: &mut Acts<M::News>,
    ) -> bool {
        let Some(message) = P::unwrap(message) else { return false };
        let mut acts = wrapped::<P, _>(acts);
        self.with(&mut acts, |machine, out| machine.on_message(now, from, message, out)).is_some()
    }

    fn wake(&mut self, now: Time, acts: &mut Acts<M::News>) -> bool {
        Seat::wake(self, now, &mut wrapped::<P, _>(acts))
    }

    fn next_wake(&self) -> Option<Time> {
        Seat::next_wake(self)
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
        self.with(&mut wrapped::<P, _>(acts), |machine, out| machine.open(now, parts, out))
    }

    fn close(&mut self, now: Time, number: u64, acts: &mut Acts<Verdict<Room>>) {
        self.with(&mut wrapped::<P, _>(acts), |machine, out| machine.close(now, number, out));
    }

    fn is_open(&self, number: u64) -> bool {
        self.machine().is_some_and(|it| it.open_numbers().contains(&number))
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
        self.with(&mut wrapped::<P, _>(acts), |machine, out| {
            machine.ready(now, id, start, lease, out)
        });
    }

    fn not_ready(
        &mut self,
        now: Time,
        id: AgreementId,
        earliest: Time,
        acts: &mut Acts<Duty<Room>>,
    ) {
        self.with(&mut wrapped::<P, _>(acts), |machine, out| {
            machine.not_ready(now, id, earliest, out)
        });
    }

    fn never(&mut self, now: Time, id: AgreementId, acts: &mut Acts<Duty<Room>>) {
        self.with(&mut wrapped::<P, _>(acts), |machine, out| {
            machine.never(now, id, Time::FOREVER, out)
        });
    }

    fn preempt(&mut self, now: Time, id: AgreementId, acts: &mut Acts<Duty<Room>>) -> bool {
        self.with(&mut wrapped::<P, _>(acts), |machine, out| machine.preempt(now, id, out))
            .unwrap_or(false)
    }

    fn over(&mut self, now: Time, id: AgreementId, acts: &mut Acts<Duty<Room>>) {
        self.with(&mut wrapped::<P, _>(acts), |machine, out| machine.over(now, id, out));
    }

    fn room_changed(&mut self, now: Time, acts: &mut Acts<Duty<Room>>) {
        self.with(&mut wrapped::<P, _>(acts), |machine, out| machine.room_changed(now, out));
    }

    fn available(&mut self, now: Time, id: AgreementId, fits: bool, acts: &mut Acts<Duty<Room>>) {
        self.with(&mut wrapped::<P, _>(acts), |machine, out| machine.available(now, id, fits, out));
    }

    fn bound(&self) -> Vec<Bound<Room>> {
        self.machine().map(|it| it.bound()).unwrap_or_default()
    }

    fn waits(&self) -> Vec<(AgreementId, AgreementId)> {
        self.machine().map(|it| it.waits()).unwrap_or_default()
    }
}

/// The machine of an acceptor, which stores decisions for others.
pub trait Witnesses: Drives<()> {}

impl<P: Speaks> Witnesses for Seat<P, P::Witness> where Seat<P, P::Witness>: Drives<()> {}
