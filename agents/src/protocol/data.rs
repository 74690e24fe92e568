//! Data: resources of a grid have data moved by a network, and ask a storage for room.

use haggle_model::JobId;
use haggle_model::network::Node;
use haggle_model::observation::DisclosedItem;
use serde::{Deserialize, Serialize};

use super::{Phase, Tell};
use crate::grid::Traffic;

/// What is said about data on their way, and about room for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DataMessage {
    /// Resource to network: move these data.
    Transfer(Box<Transfer>),
    /// Network to resource: the data have arrived.
    Transferred {
        /// The resource's number for the transfer.
        number: u32,
    },
    /// Resource to network: these data are not needed any more.
    AbortTransfer {
        /// The resource's number for the transfer.
        number: u32,
    },
    /// Resource to network: this node has failed.
    NodeFailed {
        /// The node.
        node: Node,
    },
    /// Network to resource: the other end of the transfer has failed.
    TransferAborted {
        /// The resource's number for the transfer.
        number: u32,
    },
    /// Dispatcher to network: how busy are the links?
    TrafficRequest,
    /// Network to dispatcher: so busy.
    Traffic(Box<Traffic>),
    /// Resource to storage: is there room for the output of this job?
    RoomRequest {
        /// The job.
        job: JobId,
        /// How much it is.
        bytes: u64,
    },
    /// Storage to resource: there is room for it now.
    Room {
        /// The job.
        job: JobId,
    },
    /// Resource to storage: the output it had asked room for does not come.
    RoomUnused {
        /// The job.
        job: JobId,
        /// How much it is.
        bytes: u64,
    },
}

/// Data that are to be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The resource's number for the transfer.
    pub number: u32,
    /// Where the data are.
    pub from: Node,
    /// Where they go.
    pub to: Node,
    /// How much.
    pub bytes: u64,
}

impl DataMessage {
    /// The word used in the table of messages.
    pub fn kind(&self) -> &'static str {
        match self {
            DataMessage::Transfer(_) => "transfer",
            DataMessage::Transferred { .. } => "transferred",
            DataMessage::AbortTransfer { .. } => "abort_transfer",
            DataMessage::NodeFailed { .. } => "node_failed",
            DataMessage::TransferAborted { .. } => "transfer_aborted",
            DataMessage::TrafficRequest => "traffic_request",
            DataMessage::Traffic(_) => "traffic",
            DataMessage::RoomRequest { .. } => "room_request",
            DataMessage::Room { .. } => "room",
            DataMessage::RoomUnused { .. } => "room_unused",
        }
    }

    /// The job it is about, if it is about one.
    pub fn job(&self) -> Option<JobId> {
        match self {
            DataMessage::RoomRequest { job, .. }
            | DataMessage::Room { job }
            | DataMessage::RoomUnused { job, .. } => Some(*job),
            DataMessage::Transfer(_)
            | DataMessage::Transferred { .. }
            | DataMessage::AbortTransfer { .. }
            | DataMessage::NodeFailed { .. }
            | DataMessage::TransferAborted { .. }
            | DataMessage::TrafficRequest
            | DataMessage::Traffic(_) => None,
        }
    }

    /// When in an instant it is delivered. What ends by itself comes before what fails.
    pub fn phase(&self) -> Phase {
        match self {
            DataMessage::Transferred { .. } => Phase::Completion,
            _ => Phase::Conversation,
        }
    }

    /// Tells what its receiver learns of its sender.
    pub(super) fn disclose(&self, tell: &mut Tell<'_>) {
        match self {
            DataMessage::Traffic(_) => tell(DisclosedItem::Traffic, 1),
            DataMessage::NodeFailed { .. } => tell(DisclosedItem::ResourceStatus, 1),
            DataMessage::Transfer(_)
            | DataMessage::Transferred { .. }
            | DataMessage::AbortTransfer { .. }
            | DataMessage::TransferAborted { .. }
            | DataMessage::TrafficRequest
            | DataMessage::RoomRequest { .. }
            | DataMessage::Room { .. }
            | DataMessage::RoomUnused { .. } => {}
        }
    }
}
