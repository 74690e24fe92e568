//! The first frame of each side of a connection: both must be nodes of one run.

use haggle_model::{ActorId, Time};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::parts::PartId;
use crate::session::Number;
use crate::wire::{Envelope, Frame};

/// The introduction of a node. Fields are only appended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Digest of the scenario, and of everything else that must be the same.
    pub run: [u8; 32],
    /// Seconds of the run in a second of real time.
    pub scale: f64,
    /// The present of its clock; `None` = it asks for the time of the run.
    pub now: Option<Time>,
    /// Number of its part.
    pub part: PartId,
    /// Number of this process among all that had its journal.
    pub incarnation: u32,
    /// The last message of the other node that is durable here: those behind it are to be sent again.
    pub taken: Number,
    /// The last message that the other node has acknowledged, as far as this process knows.
    pub acknowledged: Number,
}

/// Reason why two nodes do not talk.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum HelloError {
    /// The first frame is another one.
    #[error("the first frame is no greeting of this version")]
    NoHello,
    /// The nodes have other scenarios.
    #[error("the peer has another scenario, seed, log or version of haggle")]
    OtherRun,
    /// The clocks of the nodes have other scales.
    #[error("the scale is {own} here and {found} at the peer: all nodes of a run need the same")]
    OtherScale {
        /// That of this node.
        own: f64,
        /// That of the peer.
        found: f64,
    },
    /// The peer is another node than its certificate says.
    #[error("the peer says it is node {found}, and its certificate names another one")]
    OtherNode {
        /// Its number.
        found: PartId,
    },
}

impl Hello {
    /// Number of the kind of its frames.
    pub const KIND: u16 = 0x0002;

    /// Its frame.
    pub fn frame(&self) -> Frame {
        let body = postcard::to_stdvec(self).expect("memory takes it");
        control(Hello::KIND, body)
    }

    /// The introduction in a frame.
    ///
    /// # Errors
    /// If it is none.
    pub fn of(frame: &Frame) -> Result<Hello, HelloError> {
        match postcard::take_from_bytes(&frame.body) {
            Ok((hello, [])) if frame.envelope.kind == Hello::KIND => Ok(hello),
            _ => Err(HelloError::NoHello),
        }
    }

    /// Checks the introduction of the peer, whose certificate names the part `expected`.
    ///
    /// # Errors
    /// If the nodes are not of one run.
    pub fn check(&self, peer: &Hello, expected: PartId) -> Result<(), HelloError> {
        if peer.scale != self.scale {
            Err(HelloError::OtherScale { own: self.scale, found: peer.scale })
        } else if peer.run != self.run {
            Err(HelloError::OtherRun)
        } else if peer.part != expected {
            Err(HelloError::OtherNode { found: peer.part })
        } else {
            Ok(())
        }
    }
}

/// Number of the kind of frames that only acknowledge.
pub const ACKNOWLEDGE: u16 = 0x0003;
/// Number of the kind of frames with the [`Progress`](crate::ending::Progress) of a node.
pub const PROGRESS: u16 = 0x0004;
/// Number of the kind of frames that end the run.
pub const END: u16 = 0x0005;
/// Number of the kind of frames of a node that has ended.
pub const ENDED: u16 = 0x0006;
/// Number of the kind of frames that only show that the sender is there.
pub const ALIVE: u16 = 0x0007;

/// A frame of the connection itself. It has no number among the messages.
pub fn control(kind: u16, body: Vec<u8>) -> Frame {
    let envelope = Envelope {
        kind,
        sender: 0,
        incarnation: 0,
        sequence: 0,
        acknowledged: 0,
        receiver: ActorId(0),
        time: Time::ZERO,
    };
    Frame { envelope, body: body.into() }
}
