//! How a group of [bookings](crate::booking) is given up: all that may be booked is deleted, and a group
//! whose parts were all carried out to their ends before that is agreed on.
//!
//! ```text
//!   given up ──▶ somebody says that nothing is booked ────▶ failed
//!        │
//!        ├─────▶ all say that their parts are over ───────▶ agreed on
//!        └─────▶ nobody has said either for too long ─────▶ failed
//! ```

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::ActorId;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::booking::Booking;

/// A group that is given up.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Deletion<S: Subject> {
    /// Everything of this round and of those before is deleted.
    round: u32,
    /// Participants that have not answered.
    silent: BTreeSet<ActorId>,
    /// Those whose part came to its end.
    over: BTreeMap<ActorId, S::Terms>,
    /// Whether some part is not carried out, for sure.
    torn: bool,
    /// Whether its owner knows what became of it.
    told: bool,
}

/// What became of the group.
pub(crate) enum Fate<S: Subject> {
    /// Some part is not carried out.
    Failed,
    /// All parts are, on these terms.
    Ran(BTreeMap<ActorId, S::Terms>),
}

impl<S: Subject> Deletion<S> {
    /// Deletes what `silent` may have booked; `torn` = another participant has booked nothing.
    pub(crate) fn new(
        round: u32,
        silent: BTreeSet<ActorId>,
        over: BTreeMap<ActorId, S::Terms>,
        torn: bool,
    ) -> Deletion<S> {
        // Nothing is carried out of a group without parts.
        let torn = torn || (silent.is_empty() && over.is_empty());
        Deletion { round, silent, over, torn, told: false }
    }

    /// A participant has answered.
    pub(crate) fn hear(&mut self, from: ActorId, message: Booking<S>) {
        if !self.silent.contains(&from) {
            return;
        }
        match message {
            Booking::Deleted { round } | Booking::Refused { round, .. } if round == self.round => {
                self.torn = true;
            }
            // In whichever round that was, nothing else is booked after it.
            Booking::Over { terms, .. } => {
                self.over.insert(from, terms);
            }
            _ => return,
        }
        self.silent.remove(&from);
    }

    /// What became of the group, once that is known and has not been returned before.
    pub(crate) fn fate(&mut self) -> Option<Fate<S>> {
        let known = self.torn || self.silent.is_empty();
        if self.told || !known {
            return None;
        }
        self.told = true;
        Some(if self.torn { Fate::Failed } else { Fate::Ran(std::mem::take(&mut self.over)) })
    }

    /// The group counts as failed from now on; returns whether that is news.
    pub(crate) fn despair(&mut self) -> bool {
        !std::mem::replace(&mut self.told, true)
    }

    /// Whether all have answered.
    pub(crate) fn is_done(&self) -> bool {
        self.silent.is_empty()
    }

    /// What is said to those that have not.
    pub(crate) fn unanswered(&self) -> Vec<(ActorId, Booking<S>)> {
        self.silent.iter().map(|&who| (who, Booking::Delete { round: self.round })).collect()
    }
}
