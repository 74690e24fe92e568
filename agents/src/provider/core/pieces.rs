//! The pieces of work of a provider, by slot and by job.

use haggle_model::{ByJob, JobId};
use haggle_scheduling::Slot;
use serde::{Deserialize, Serialize};

use super::machine::Attempt;
use super::slots::Slots;
use crate::glimpse::Promise;
use crate::provider::services::{Booking, Expectation, HeldJob, Part, Share};

/// Content of a slot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::provider) enum Piece {
    /// A rigid job.
    Job(HeldJob),
    /// A rigid job whose data are on their way.
    Expected(Box<Expectation>),
    /// A share of a bag.
    Share(Box<Share>),
    /// Tasks of a bag that are held but not committed.
    Held,
    /// A part of a rigid job.
    Part(Box<Part>),
    /// A part of a rigid job, by a protocol of the scenario's choice.
    Booking(Box<Booking>),
}

impl Piece {
    /// The job by which others know it. Held tasks are identified by the call for offers, and a
    /// booking by its agreement.
    fn job(&self) -> Option<JobId> {
        match self {
            Piece::Job(held) => Some(held.submission.job.id),
            Piece::Expected(expected) => Some(expected.job()),
            Piece::Share(share) => Some(share.call.job),
            Piece::Part(part) => Some(part.job()),
            Piece::Held | Piece::Booking(_) => None,
        }
    }

    /// Promises about it.
    pub(in crate::provider) fn promises(&self) -> Vec<Promise> {
        match self {
            Piece::Job(held) => held.promise().into_iter().collect(),
            Piece::Part(part) => part.promises(),
            Piece::Booking(booking) => booking.promise().into_iter().collect(),
            Piece::Expected(_) | Piece::Share(_) | Piece::Held => Vec::new(),
        }
    }

    /// Its attempts: the runs of a share with their numbers, one attempt without a number of any
    /// other kind.
    pub(in crate::provider) fn attempts(&self) -> impl Iterator<Item = (Option<u32>, &Attempt)> {
        let none: &[Option<Attempt>] = &[];
        let (whole, runs) = match self {
            Piece::Job(held) => (held.run.as_ref().map(|run| &run.attempt), none),
            Piece::Share(share) => (None, &share.running[..]),
            Piece::Part(part) => (part.attempt(), none),
            Piece::Booking(booking) => (booking.held.as_ref(), none),
            Piece::Expected(_) | Piece::Held => (None, none),
        };
        let runs = (0..).zip(runs).filter_map(|(run, it)| Some((Some(run), it.as_ref()?)));
        whole.map(|it| (None, it)).into_iter().chain(runs)
    }
}

/// A kind of pieces.
pub(in crate::provider) trait Kind: Sized {
    /// A piece, if it is of this kind.
    fn of(piece: &Piece) -> Option<&Self>;
    /// A piece, if it is of this kind.
    fn of_mut(piece: &mut Piece) -> Option<&mut Self>;
    /// A piece, if it is of this kind.
    fn out_of(piece: Piece) -> Option<Self>;
}

macro_rules! kinds {
    ($($kind:ty = $variant:ident($it:ident) => $out:expr;)*) => {$(
        impl Kind for $kind {
            fn of(piece: &Piece) -> Option<&Self> {
                if let Piece::$variant($it) = piece { Some($it) } else { None }
            }

            fn of_mut(piece: &mut Piece) -> Option<&mut Self> {
                if let Piece::$variant($it) = piece { Some($it) } else { None }
            }

            fn out_of(piece: Piece) -> Option<Self> {
                if let Piece::$variant($it) = piece { Some($out) } else { None }
            }
        }
    )*};
}

kinds! {
    HeldJob = Job(it) => it;
    Expectation = Expected(it) => *it;
    Share = Share(it) => *it;
    Part = Part(it) => *it;
    Booking = Booking(it) => *it;
}

/// All pieces of a provider.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::provider) struct Pieces {
    slots: Slots<Piece>,
    by_job: ByJob<Slot>,
}

impl Pieces {
    /// The slot of the next piece.
    pub(in crate::provider) fn next(&self) -> Slot {
        self.slots.next()
    }

    /// Puts a piece into the next slot.
    pub(in crate::provider) fn insert(&mut self, piece: Piece) -> Slot {
        let job = piece.job();
        let slot = self.slots.insert(piece);
        if let Some(job) = job {
            self.by_job.insert(job, slot);
        }
        slot
    }

    /// Held tasks are committed: they are a share.
    pub(in crate::provider) fn commit(&mut self, slot: Slot, share: Share) {
        self.by_job.insert(share.call.job, slot);
        self.slots.replace(slot, Piece::Share(Box::new(share)));
    }

    /// True if a piece of this job is here.
    pub(in crate::provider) fn has(&self, job: JobId) -> bool {
        self.by_job.has(job)
    }

    /// The slot of the piece of a job.
    pub(in crate::provider) fn slot(&self, job: JobId) -> Option<Slot> {
        self.by_job.get(job).copied()
    }

    /// The piece in a slot.
    pub(in crate::provider) fn at(&self, slot: Slot) -> Option<&Piece> {
        self.slots.get(slot)
    }

    /// The piece in a slot, if it is of this kind.
    pub(in crate::provider) fn get<K: Kind>(&self, slot: Slot) -> Option<&K> {
        self.slots.get(slot).and_then(K::of)
    }

    /// The piece in a slot, if it is of this kind.
    pub(in crate::provider) fn get_mut<K: Kind>(&mut self, slot: Slot) -> Option<&mut K> {
        self.slots.get_mut(slot).and_then(K::of_mut)
    }

    /// Takes out the piece in a slot, if it is of this kind.
    pub(in crate::provider) fn take<K: Kind>(&mut self, slot: Slot) -> Option<K> {
        self.get::<K>(slot)?;
        self.remove(slot).and_then(K::out_of)
    }

    /// Empties a slot.
    pub(in crate::provider) fn remove(&mut self, slot: Slot) -> Option<Piece> {
        let piece = self.slots.take(slot)?;
        if let Some(job) = piece.job() {
            self.by_job.remove(job);
        }
        Some(piece)
    }

    /// All pieces with their slots, in order of the slots.
    pub(in crate::provider) fn iter(&self) -> impl Iterator<Item = (Slot, &Piece)> {
        self.slots.iter()
    }

    /// Takes out all pieces, in order of their slots.
    pub(in crate::provider) fn drain(&mut self) -> impl Iterator<Item = Piece> {
        self.slots.drain()
    }
}
