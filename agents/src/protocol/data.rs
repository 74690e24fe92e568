//! Data: a network moves data for resources of a grid, for metaschedulers with tasks, and for providers
//! with checkpoints. Resources request room from a storage.
//!
//! ```text
//!   resource or metascheduler      network
//!       │ ── Transfer ────────────────▶ │
//!       │ ── AbortTransfer ───────────▶ │  if the data are no longer needed
//!       │ ── NodeFailed ──────────────▶ │  a resource, where jobs move from one to another
//!       │ ◀─────────── TransferAborted ─│  if the other end has failed
//!       │ ◀─────────────── Transferred ─│
//!
//!   provider                       network
//!       │ ── TransferCheckpoint ──────▶ │
//!       │ ── AbortTransfer ───────────▶ │  if its job has lost its processors
//!       │ ◀────── CheckpointTransferred │
//!
//!   dispatcher                     network
//!       │ ── TrafficRequest ──────────▶ │
//!       │ ◀─────────────────── Traffic ─│
//!
//!   resource                       storage
//!       │ ── RoomRequest ─────────────▶ │
//!       │ ◀────────────────────── Room ─│  as soon as there is
//!       │ ── RoomUnused ──────────────▶ │  before or after that: the output does not arrive
//! ```

use haggle_model::network::Node;
use haggle_model::observation::DisclosedItem;
use haggle_model::{JobId, Time};
use serde::{Deserialize, Serialize};

use super::Phase;
use super::said::{protocol, said};
use crate::Traffic;

protocol! {
    /// Messages about data under way, and about room for data.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum DataMessage {
        /// Resource or metascheduler to network: move these data.
        Transfer(transfer: Box<Transfer>) => said("transfer"),
        /// Network to the sender of the request: the data have arrived.
        Transferred {
            /// The receiver's number for the transfer.
            number: u32,
            /// Time of arrival; a receiver that was down gets the message later.
            at: Time,
        } => said("transferred")
            // Ends of work and data precede failures in an instant.
            .during(Phase::Progress),
        /// Provider to network: move this checkpoint of a job to its store, or back.
        TransferCheckpoint(transfer: Box<Transfer>) => said("transfer_checkpoint"),
        /// Network to provider: the checkpoint has arrived. The job's machine waits for it, even if
        /// its scheduler is down.
        CheckpointTransferred {
            /// The provider's number for the transfer.
            number: u32,
        } => said("checkpoint_transferred").during(Phase::Progress),
        /// Resource, metascheduler or provider to network: these data are not needed any more.
        AbortTransfer {
            /// The sender's number for the transfer.
            number: u32,
        } => said("abort_transfer"),
        /// Resource to network: this node has failed.
        NodeFailed {
            /// The node.
            node: Node,
        } => said("node_failed").tells(DisclosedItem::ResourceStatus),
        /// Network to resource: the other end of the transfer has failed.
        TransferAborted {
            /// The resource's number for the transfer.
            number: u32,
        } => said("transfer_aborted"),
        /// Dispatcher to network: what is the load of the links?
        TrafficRequest => said("traffic_request"),
        /// Network to dispatcher: the load of the links.
        Traffic(traffic: Box<Traffic>) => said("traffic").tells(DisclosedItem::Traffic),
        /// Resource to storage: is there room for the output of this job?
        RoomRequest {
            /// The job.
            job: JobId,
            /// Size in bytes.
            bytes: u64,
        } => said("room_request").of(job),
        /// Storage to resource: there is room for it now.
        Room {
            /// The job.
            job: JobId,
        } => said("room").of(job),
        /// Resource to storage: the output for which it requested room does not come.
        RoomUnused {
            /// The job.
            job: JobId,
            /// Size in bytes.
            bytes: u64,
        } => said("room_unused").of(job),
    }
}

/// Data to be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The sender's number for the transfer.
    pub number: u32,
    /// Node at which the data are.
    pub from: Node,
    /// Node to which they go.
    pub to: Node,
    /// Size in bytes.
    pub bytes: u64,
}
