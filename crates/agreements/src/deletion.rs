//! Giving up a group of [bookings](crate::booking): all possible bookings are deleted. A group whose parts
//! were all carried out to their ends before that is agreed on.
//!
//! ```text
//!   given up ──▶ one reports that nothing is booked ──────▶ failed
//!        │
//!        ├─────▶ all report that their parts have ended ──▶ agreed on
//!        └─────▶ neither is reported for too long ────────▶ failed
//! ```

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::ActorId;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::booking::Booking;

/// A group that is being given up.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Deletion<S: Subject> {
    /// All bookings of this round and of earlier ones are deleted.
    round: u32,
    /// Participants that have not answered.
    silent: BTreeSet<ActorId>,
    /// Participants whose parts ended.
    over: BTreeMap<ActorId, S::Terms>,
    /// True if a part is certainly not carried out.
    torn: bool,
    /// True if its owner has been notified of its fate.
    told: bool,
}

/// Fate of the group.
pub(crate) enum Fate<S: Subject> {
    /// A part is not carried out.
    Failed,
    /// All parts are carried out, on these terms.
    Ran(BTreeMap<ActorId, S::Terms>),
}

impl<S: Subject> Deletion<S> {
    /// Deletes the possible bookings of `silent`; `torn` if another participant has booked nothing.
    pub(crate) fn new(
        round: u32,
        silent: BTreeSet<ActorId>,
        over: BTreeMap<ActorId, S::Terms>,
        torn: bool,
    ) -> Deletion<S> {
        // A group without parts has nothing to carry out.
        let torn = torn || (silent.is_empty() && over.is_empty());
        Deletion { round, silent, over, torn, told: false }
    }

    /// A participant has answered.
    pub(crate) fn hear(&mut self, from: ActorId, message: Booking<S>) {
        if !self.silent.contains(&from) {
            return;
        }
        match message {
            Booking::Deleted { round, .. } | Booking::Refused { round, .. }
                if round == self.round =>
            {
                self.torn = true;
            }
            // Of any round: nothing else is booked after it.
            Booking::Over { terms, .. } => {
                self.over.insert(from, terms);
            }
            _ => return,
        }
        self.silent.remove(&from);
    }

    /// The fate of the group, once it is known and has not been returned before.
    pub(crate) fn fate(&mut self) -> Option<Fate<S>> {
        let known = self.torn || self.silent.is_empty();
        if self.told || !known {
            return None;
        }
        self.told = true;
        Some(if self.torn { Fate::Failed } else { Fate::Ran(std::mem::take(&mut self.over)) })
    }

    /// Makes the group count as failed; returns whether that is new to its owner.
    pub(crate) fn despair(&mut self) -> bool {
        !std::mem::replace(&mut self.told, true)
    }

    /// Returns whether all have answered.
    pub(crate) fn is_done(&self) -> bool {
        self.silent.is_empty()
    }

    /// Messages to the participants that have not answered.
    pub(crate) fn unanswered(&self) -> Vec<(ActorId, Booking<S>)> {
        self.silent.iter().map(|&who| (who, Booking::Delete { round: self.round })).collect()
    }
}
