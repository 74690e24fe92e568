//! Actors that have crashed, and what waits for them to restart.

use std::collections::{BTreeMap, VecDeque};

use haggle_agents::Message;
use haggle_model::ActorId;

use crate::clock::{Delivery, MessageKey};

/// Who is down. What others say to them is lost before it arrives (`network/crashes.rs`); what they
/// would say to themselves, and jobs that come, wait. When every job is over nobody restarts any more,
/// and what was to arrive after that waits, too.
#[derive(Debug, Default)]
pub(crate) struct Down {
    waiting: BTreeMap<ActorId, VecDeque<MessageKey>>,
    /// What waited for those who are back, in its order.
    released: VecDeque<MessageKey>,
}

impl Down {
    /// An actor crashes.
    pub(crate) fn crash(&mut self, actor: ActorId) {
        self.waiting.entry(actor).or_default();
    }

    /// Whether an actor has crashed and not restarted.
    pub(crate) fn is_down(&self, actor: ActorId) -> bool {
        self.waiting.contains_key(&actor)
    }

    /// An actor restarts: what waited for it comes next.
    pub(crate) fn restart(&mut self, actor: ActorId) {
        self.released.extend(self.waiting.remove(&actor).into_iter().flatten());
    }

    /// The next message that waited for somebody who is back.
    pub(crate) fn take_released(&mut self) -> Option<MessageKey> {
        self.released.pop_front()
    }

    /// Whether a message that is due waits, for its receiver is down.
    pub(crate) fn keeps(&mut self, key: MessageKey, delivery: &Delivery<Message>) -> bool {
        if self.waiting.is_empty() || delivery.message.reaches_who_is_down() {
            return false;
        }
        let waiting = self.waiting.get_mut(&delivery.to);
        waiting.map(|waiting| waiting.push_back(key)).is_some()
    }

    /// Nobody restarts any more: what `is_wanted` all the same comes next, all else is forgotten.
    pub(crate) fn close(&mut self, is_wanted: impl Fn(MessageKey) -> bool) {
        let left = std::mem::take(&mut self.waiting).into_values().flatten();
        self.released.extend(left.filter(|&key| is_wanted(key)));
    }
}
