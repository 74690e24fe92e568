//! Actors that have crashed, and messages that wait for their restart.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::Hasher;

use haggle_agents::Message;
use haggle_model::ActorId;
use serde::{Deserialize, Serialize};

use crate::branching::hash_keys;
use crate::clock::{Delivery, MessageKey};

/// Actors that are down. Messages from others are lost before they arrive (`network/crashes.rs`).
/// Messages from an actor to itself, and arriving jobs, wait. When every job is over, no actor restarts
/// any more, and messages that would arrive later wait, too.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Down {
    waiting: BTreeMap<ActorId, VecDeque<MessageKey>>,
    /// Messages that waited for restarted actors, in their order.
    released: VecDeque<MessageKey>,
    /// Actors that are down by a search of histories: the network does not know of it, so messages from other
    /// sites are lost when they arrive.
    losing: BTreeSet<ActorId>,
}

impl Down {
    /// Marks an actor as down.
    pub(crate) fn crash(&mut self, actor: ActorId) {
        // The entry itself marks the actor, even if no message waits.
        self.waiting.entry(actor).or_default();
    }

    /// True if an actor has crashed and not restarted.
    pub(crate) fn is_down(&self, actor: ActorId) -> bool {
        self.waiting.contains_key(&actor)
    }

    /// Lets messages to an actor from other sites be lost until it restarts.
    pub(crate) fn lose(&mut self, actor: ActorId) {
        self.losing.insert(actor);
    }

    /// True if messages to an actor from other sites are lost on arrival.
    pub(crate) fn loses(&self, actor: ActorId) -> bool {
        !self.losing.is_empty() && self.losing.contains(&actor)
    }

    /// Hashes the actors that are down, and the messages that wait.
    pub(crate) fn hash_state<'a>(
        &'a self,
        message: impl Fn(MessageKey) -> &'a Delivery<Message> + Copy,
        hasher: &mut impl Hasher,
    ) {
        for (actor, waiting) in &self.waiting {
            hasher.write_u32(actor.0);
            hash_keys(waiting.iter(), message, hasher);
        }
        hash_keys(self.released.iter(), message, hasher);
    }

    /// Marks an actor as up. The messages that waited for it come next.
    pub(crate) fn restart(&mut self, actor: ActorId) {
        self.losing.remove(&actor);
        self.released.extend(self.waiting.remove(&actor).into_iter().flatten());
    }

    /// The next message that waited for a restarted actor.
    pub(crate) fn take_released(&mut self) -> Option<MessageKey> {
        self.released.pop_front()
    }

    /// Keeps a due message if its receiver is down. Returns true if it was kept.
    pub(crate) fn keeps(&mut self, key: MessageKey, delivery: &Delivery<Message>) -> bool {
        if self.waiting.is_empty() || delivery.message.reaches_who_is_down() {
            return false;
        }
        let waiting = self.waiting.get_mut(&delivery.to);
        waiting.map(|waiting| waiting.push_back(key)).is_some()
    }

    /// Ends all restarts: waiting messages that are still wanted (`is_wanted`) come next, and all others are dropped.
    pub(crate) fn close(&mut self, is_wanted: impl Fn(MessageKey) -> bool) {
        let left = std::mem::take(&mut self.waiting).into_values().flatten();
        self.released.extend(left.filter(|&key| is_wanted(key)));
    }
}
