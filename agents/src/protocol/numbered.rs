//! Numbered messages: between a metascheduler that repeats messages and its providers, each message is sent
//! until its receiver has acknowledged it.
//!
//! ```text
//!   sender                 receiver
//!      │ ── Item ────────────▶ │  again after a while
//!      │ ◀─────── Received ─── │
//! ```

use serde::{Deserialize, Serialize};

use super::Message;
use super::said::{Said, protocol, said};

protocol! {
    /// Messages with numbers, and their acknowledgements.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum NumberedMessage {
        /// Sender to receiver: a message. Discloses the same as that message.
        Item {
            /// Its number among all from this sender to this receiver, from 0.
            number: u64,
            /// The message.
            message: Box<Message>,
        } => contents(message),
        /// Receiver to sender: all messages with smaller numbers have arrived.
        Received {
            /// The number of the next message.
            next: u64,
        } => said("received"),
    }
}

/// Facts about the message in an item. Not inlined, because a message contains a message.
#[inline(never)]
fn contents(message: &Message) -> Said<'_> {
    message.said()
}

mod contents {
    /// The message in an item is of another protocol.
    pub(super) fn kinds() -> Vec<&'static str> {
        Vec::new()
    }
}
