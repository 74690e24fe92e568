//! Arrivals of messages that were recorded in another run, such as a live one.

use std::collections::{BTreeMap, VecDeque};

use haggle_model::{ActorId, Time};
use serde::{Deserialize, Serialize};

use super::Fate;

/// The arrivals of all messages between parts of a world. Messages within a part take the time of the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// The part of each actor; `None` = it is in every part, as nature is.
    parts: Vec<Option<u32>>,
    /// From one actor to another, in the order in which the messages were sent. `None` = it never arrived.
    arrivals: BTreeMap<(ActorId, ActorId), VecDeque<Option<Time>>>,
}

impl Recorded {
    /// A record without messages, of a world whose actors are in these `parts`; `None` = in every part.
    pub fn new(parts: Vec<Option<u32>>) -> Recorded {
        Recorded { parts, arrivals: BTreeMap::new() }
    }

    /// Adds the next message from one actor to another.
    pub fn push(&mut self, from: ActorId, to: ActorId, arrival: Option<Time>) {
        self.arrivals.entry((from, to)).or_default().push_back(arrival);
    }

    /// Number of recorded messages that have not been sent yet.
    pub fn left(&self) -> usize {
        self.arrivals.values().map(VecDeque::len).sum()
    }

    /// The fate of the next message; `None` within a part. A message that was not recorded never arrives.
    pub(super) fn fate(&mut self, now: Time, from: ActorId, to: ActorId) -> Option<Fate> {
        let part = |actor: ActorId| self.parts.get(actor.index()).copied().flatten();
        let (Some(of_sender), Some(of_receiver)) = (part(from), part(to)) else { return None };
        if of_sender == of_receiver {
            return None;
        }
        let recorded = self.arrivals.get_mut(&(from, to)).and_then(VecDeque::pop_front);
        Some(match recorded.flatten() {
            Some(at) => Fate::Arrives(at.max(now)),
            None => Fate::Hit(Box::default()),
        })
    }
}
