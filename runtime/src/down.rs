//! Actors that have crashed, and what waits for them to restart.

use std::collections::{BTreeMap, VecDeque};

use haggle_agents::Message;
use haggle_model::ActorId;

use crate::bounds::is_arrival;
use crate::clock::Delivery;

/// Who is down. What others say to them is lost before it arrives (`network/crashes.rs`); what they
/// would say to themselves, and jobs that come, wait. When every job is over nobody restarts any more,
/// and what was to arrive after that waits, too.
#[derive(Debug, Default)]
pub(crate) struct Down {
    waiting: BTreeMap<ActorId, VecDeque<Delivery<Message>>>,
    /// What waited for those who are back, in its order.
    released: VecDeque<Delivery<Message>>,
}

/// What is to be done with a message that is due.
pub(crate) enum Due<'a> {
    /// It is delivered.
    Deliver(Delivery<Message>),
    /// It waits.
    Waits(&'a Delivery<Message>),
}

impl Down {
    /// An actor crashes.
    pub(crate) fn crash(&mut self, actor: ActorId) {
        self.waiting.entry(actor).or_default();
    }

    /// An actor restarts: what waited for it comes next.
    pub(crate) fn restart(&mut self, actor: ActorId) {
        self.released.extend(self.waiting.remove(&actor).into_iter().flatten());
    }

    /// The next message that waited for somebody who is back.
    pub(crate) fn take_released(&mut self) -> Option<Delivery<Message>> {
        self.released.pop_front()
    }

    /// Keeps a message that is due if its receiver is down.
    pub(crate) fn keep(&mut self, delivery: Delivery<Message>) -> Due<'_> {
        if self.waiting.is_empty() || delivery.message.reaches_who_is_down() {
            return Due::Deliver(delivery);
        }
        let Some(waiting) = self.waiting.get_mut(&delivery.to) else {
            return Due::Deliver(delivery);
        };
        waiting.push_back(delivery);
        Due::Waits(waiting.back().expect("it was put there just now"))
    }

    /// Nobody restarts any more: jobs that came are taken in, all else is forgotten.
    pub(crate) fn close(&mut self) {
        let left = std::mem::take(&mut self.waiting).into_values().flatten();
        self.released.extend(left.filter(|delivery| is_arrival(&delivery.message)));
    }
}
