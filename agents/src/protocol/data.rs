//! Data: resources of a grid, metaschedulers for tasks that they place, and providers for checkpoints, have data moved by a
//! network; resources ask a storage for room.
//!
//! ```text
//!   resource or metascheduler      network
//!       │ ── Transfer ────────────────▶ │
//!       │ ── AbortTransfer ───────────▶ │  if the data are not needed any more
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
//!       │ ── RoomUnused ──────────────▶ │  before or after that: the output does not come
//! ```

use haggle_model::network::Node;
use haggle_model::observation::DisclosedItem;
use haggle_model::{JobId, Time};
use serde::{Deserialize, Serialize};

use super::Phase;
use super::said::{protocol, said};
use crate::Traffic;

protocol! {
    /// What is said about data on their way, and about room for them.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum DataMessage {
        /// Resource or metascheduler to network: move these data.
        Transfer(transfer: Box<Transfer>) => said("transfer"),
        /// Network to who asked for it: the data have arrived.
        Transferred {
            /// The receiver's number for the transfer.
            number: u32,
            /// When; who was down then hears of it later.
            at: Time,
        } => said("transferred")
            // What ends by itself comes before what fails.
            .during(Phase::Progress),
        /// Provider to network: move this checkpoint of a job, to where it is kept or back.
        TransferCheckpoint(transfer: Box<Transfer>) => said("transfer_checkpoint"),
        /// Network to provider: the checkpoint is there. The job's machine waits for it, whether or not its
        /// scheduler is down.
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
        /// Dispatcher to network: how busy are the links?
        TrafficRequest => said("traffic_request"),
        /// Network to dispatcher: so busy.
        Traffic(traffic: Box<Traffic>) => said("traffic").tells(DisclosedItem::Traffic),
        /// Resource to storage: is there room for the output of this job?
        RoomRequest {
            /// The job.
            job: JobId,
            /// How much it is.
            bytes: u64,
        } => said("room_request").of(job),
        /// Storage to resource: there is room for it now.
        Room {
            /// The job.
            job: JobId,
        } => said("room").of(job),
        /// Resource to storage: the output it had asked room for does not come.
        RoomUnused {
            /// The job.
            job: JobId,
            /// How much it is.
            bytes: u64,
        } => said("room_unused").of(job),
    }
}

/// Data that are to be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The sender's number for the transfer.
    pub number: u32,
    /// Where the data are.
    pub from: Node,
    /// Where they go.
    pub to: Node,
    /// How much.
    pub bytes: u64,
}
