//! Seats of transactions with their protocols: the protocol of a seat decides how a snapshot of it is read.

use std::fmt;
use std::ops::{Deref, DerefMut};

use haggle_agreements::protocol::Protocol;
use haggle_agreements::seat::{Keeps, Seat};
use haggle_model::ActorId;
use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    Claiming, Coordinates, Negotiation, OnePhase, Ordered, Participates, Paxos, Polling, Probing,
    Room, Transaction, TwoPhase, Watching, Witnesses,
};

/// A seat of any protocol, with the protocol.
#[derive(Debug)]
pub struct Seated<R: Role + ?Sized> {
    transaction: Transaction,
    seat: Box<R>,
}

/// A role in transactions.
pub trait Role: fmt::Debug {
    /// A seat of this protocol, which must be started.
    fn seat(transaction: &Transaction, me: ActorId) -> Box<Self>;

    /// A copy of a seat.
    fn copy(seat: &Self) -> Box<Self>;

    /// The seat as a value that can be written.
    fn written(seat: &Self) -> &dyn erased_serde::Serialize;

    /// Reads a seat of this protocol.
    ///
    /// # Errors
    /// If the deserializer fails.
    fn read<'de, D: Deserializer<'de>>(
        transaction: &Transaction,
        deserializer: D,
    ) -> Result<Box<Self>, D::Error>;
}

macro_rules! role {
    ($role:ident, $machine:ident) => {
        impl Role for dyn $role {
            fn seat(transaction: &Transaction, me: ActorId) -> Box<Self> {
                with!(transaction, P, rules => {
                    let rules = Clone::clone(rules);
                    Box::new(Seat::<<P as Protocol>::$machine, P>::new(me, rules, Keeps::All))
                })
            }

            fn copy(seat: &Self) -> Box<Self> {
                dyn_clone::clone_box(seat)
            }

            fn written(seat: &Self) -> &dyn erased_serde::Serialize {
                seat
            }

            fn read<'de, D: Deserializer<'de>>(
                transaction: &Transaction,
                deserializer: D,
            ) -> Result<Box<Self>, D::Error> {
                with!(transaction, P, _rules => {
                    let seat = Seat::<<P as Protocol>::$machine, P>::deserialize(deserializer)?;
                    Ok(Box::new(seat))
                })
            }
        }
    };
}

role!(Coordinates, Coordinator);
role!(Participates, Participant);
role!(Witnesses, Witness);

impl<R: Role + ?Sized> Seated<R> {
    /// A seat that must be started.
    pub(super) fn new(transaction: &Transaction, me: ActorId) -> Seated<R> {
        Seated { transaction: transaction.clone(), seat: R::seat(transaction, me) }
    }
}

impl<R: Role + ?Sized> Clone for Seated<R> {
    fn clone(&self) -> Self {
        Seated { transaction: self.transaction.clone(), seat: R::copy(&self.seat) }
    }
}

impl<R: Role + ?Sized> Deref for Seated<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.seat
    }
}

impl<R: Role + ?Sized> DerefMut for Seated<R> {
    fn deref_mut(&mut self) -> &mut R {
        &mut self.seat
    }
}

impl<R: Role + ?Sized> Serialize for Seated<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(2)?;
        tuple.serialize_element(&self.transaction)?;
        tuple.serialize_element(R::written(&self.seat))?;
        tuple.end()
    }
}

impl<'de, R: Role + ?Sized> Deserialize<'de> for Seated<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_tuple(2, Pair(std::marker::PhantomData))
    }
}

/// Reads the protocol, then its seat.
struct Pair<R: ?Sized>(std::marker::PhantomData<R>);

impl<'de, R: Role + ?Sized> Visitor<'de> for Pair<R> {
    type Value = Seated<R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a protocol and its seat")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Seated<R>, A::Error> {
        let transaction: Option<Transaction> = parts.next_element()?;
        let transaction = transaction.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let seat = parts.next_element_seed(SeatOf(&transaction, std::marker::PhantomData::<R>))?;
        let seat =
            seat.ok_or_else(|| A::Error::invalid_length(1, &"a seat behind its protocol"))?;
        Ok(Seated { transaction, seat })
    }
}

/// Reads a seat of a protocol.
struct SeatOf<'a, R: ?Sized>(&'a Transaction, std::marker::PhantomData<R>);

impl<'de, R: Role + ?Sized> DeserializeSeed<'de> for SeatOf<'_, R> {
    type Value = Box<R>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Box<R>, D::Error> {
        R::read(self.0, deserializer)
    }
}
