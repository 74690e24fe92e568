//! What the actors of a grid tell each other.

use haggle_model::job::HiddenRunTime;
use haggle_model::network::Node;
use haggle_model::work::{Speed, Work};
use haggle_model::{ActorId, JobId, ProviderId, Time};
use haggle_scheduling::grid::Report;
use haggle_scheduling::grid::ResourceId;

use super::Traffic;
use crate::Phase;

/// What one actor of a grid says to another.
///
/// Each variant says who sends it. Numbers of tries count from 1 for each job.
#[derive(Clone, Debug, PartialEq)]
pub enum GridMessage {
    // Jobs.
    /// Dispatcher to resource: run this job, a slot is meant for it.
    Dispatch(Box<Dispatch>),
    /// Resource to dispatcher: it fails to take the job, for want of a slot or because it is down.
    Refused {
        /// The job.
        job: JobId,
        /// Which try of it.
        number: u32,
    },
    /// Dispatcher to resource: the job is not needed there any more.
    Cancel {
        /// The job.
        job: JobId,
    },
    /// Dispatcher to resource: the job begins or ceases to write checkpoints.
    Checkpointing {
        /// The job.
        job: JobId,
        /// Whether it begins.
        on: bool,
    },
    /// Dispatcher to resource: the job saves its progress and goes on elsewhere.
    Move {
        /// The job.
        job: JobId,
        /// Where it goes.
        to: ActorId,
    },
    /// Resource to resource: here is the job you keep a slot for; its data are with me.
    Moved(Box<Moved>),
    /// Resource to dispatcher: a job that moves has given its slot back.
    Left {
        /// The job.
        job: JobId,
    },
    /// Resource to dispatcher: the job's data did not arrive, its slot is free.
    Stranded {
        /// The job.
        job: JobId,
    },
    /// Resource to dispatcher: the job has been computed, its slot is free.
    Computed {
        /// The job.
        job: JobId,
        /// Which try of it.
        number: u32,
        /// Whether there was no output to send.
        delivered: bool,
    },
    /// Resource to dispatcher: the job's output is where it belongs.
    Delivered {
        /// The job.
        job: JobId,
    },
    /// Dispatcher to resource: how far is this job?
    ProgressRequest {
        /// The job.
        job: JobId,
    },
    /// Resource to dispatcher: so far.
    Progress {
        /// The job.
        job: JobId,
        /// What has been done; of one that died, what had been done then.
        done: Box<Work>,
        /// Whether it computes at present.
        computes: bool,
    },

    // Information.
    /// Resource to information service: something has changed here.
    Status(Box<Status>),
    /// Information service to dispatcher: what is known of a resource.
    Report(Box<Status>),

    // Data.
    /// Resource to network: move these data.
    Transfer {
        /// The resource's number for the transfer.
        number: u32,
        /// Where the data are.
        from: Node,
        /// Where they go.
        to: Node,
        /// How much.
        bytes: u64,
    },
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

    // Checkpoints.
    /// Resource to checkpoint server: the job's checkpoint has arrived.
    Saved(Box<Saved>),
    /// Checkpoint server to dispatcher: the job can be started from there.
    CheckpointAvailable(Box<Saved>),
    /// Dispatcher to checkpoint server: the job is done.
    Forget {
        /// The job.
        job: JobId,
    },
}

/// A job on its way to a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// The job.
    pub job: JobId,
    /// Which try of it.
    pub number: u32,
    /// Which workload it came from; its data depend on that.
    pub workload: u16,
    /// How long it computes on the reference resource; the machine finds out.
    pub run_time: HiddenRunTime,
    /// What the checkpoint holds from which it starts; zero = from the beginning.
    pub from: Work,
    /// The try that wrote it.
    pub parent: Option<u32>,
    /// Whether it writes checkpoints.
    pub checkpointing: bool,
    /// Whether it comes from another resource, which says when it is ready.
    pub moves: bool,
}

/// A job that has left a resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    /// The job.
    pub job: JobId,
    /// Which try of it has left.
    pub number: u32,
    /// What has been done of it.
    pub done: Work,
    /// The resource it has left, where its data are.
    pub from: ProviderId,
}

/// A checkpoint at the checkpoint server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saved {
    /// The job.
    pub job: JobId,
    /// Which try of it.
    pub number: u32,
    /// What had been done of it.
    pub done: Work,
    /// Since when it can be used.
    pub at: Time,
    /// Its size.
    pub bytes: u64,
}

/// What is found at a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// Its number in the scheduler's view.
    pub resource: ResourceId,
    /// What is found.
    pub report: Report,
}

impl Status {
    /// What is found at `resource` now.
    pub fn new(
        resource: ResourceId,
        taken: Time,
        up: bool,
        avail: Speed,
        jobs: Vec<JobId>,
    ) -> Box<Status> {
        Box::new(Status { resource, report: Report { taken, up, avail, jobs } })
    }
}

/// Why an actor of a grid wakes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridTimer {
    /// Resource: the next job has been computed, unless that has changed meanwhile.
    Ends {
        /// Counts the changes.
        generation: u32,
    },
    /// Resource: what comes before the job's data has been done.
    Prepared {
        /// The job.
        job: JobId,
        /// Which try of it.
        number: u32,
    },
    /// Resource: the job has been recovered from its checkpoint.
    Recovered {
        /// The job.
        job: JobId,
        /// Which try of it.
        number: u32,
    },
    /// Resource: a checkpoint of the job is due, unless that has changed meanwhile.
    CheckpointDue {
        /// The job.
        job: JobId,
        /// Counts the changes on this resource.
        generation: u32,
    },
    /// Resource: the checkpoint of the job is written.
    Written {
        /// The job.
        job: JobId,
        /// Which try of it.
        number: u32,
    },
    /// Resource: something may have happened by itself that others are to hear of.
    Seen,
    /// Resource: a round may be due that is to know of its newest checkpoints.
    Tell,
    /// Resource: the load by others changes.
    LoadChanges,
    /// Information service: a report is due.
    ReportDue,
    /// Network: data arrive.
    DataArrive,
    /// Storage: outputs have been fetched.
    OutputFetched,
    /// Dispatcher: a round is due.
    Round,
    /// Dispatcher: the information service has answered.
    Answered,
    /// Dispatcher: the round has come to its decisions.
    Decided,
}

impl GridMessage {
    /// When in an instant it is delivered. What ends by itself comes before what fails.
    pub fn phase(&self) -> Phase {
        match self {
            GridMessage::Transferred { .. } => Phase::Completion,
            _ => Phase::Conversation,
        }
    }

    /// The word used in the table of messages.
    pub fn kind(&self) -> &'static str {
        match self {
            GridMessage::Dispatch(_) => "dispatch",
            GridMessage::Refused { .. } => "dispatch_refused",
            GridMessage::Cancel { .. } => "cancel",
            GridMessage::Checkpointing { .. } => "checkpointing",
            GridMessage::Move { .. } => "move",
            GridMessage::Moved(_) => "moved",
            GridMessage::Left { .. } => "left",
            GridMessage::Stranded { .. } => "stranded",
            GridMessage::Computed { .. } => "computed",
            GridMessage::Delivered { .. } => "delivered",
            GridMessage::ProgressRequest { .. } => "progress_request",
            GridMessage::Progress { .. } => "progress",
            GridMessage::Status(_) => "status",
            GridMessage::Report(_) => "report",
            GridMessage::Transfer { .. } => "transfer",
            GridMessage::Transferred { .. } => "transferred",
            GridMessage::AbortTransfer { .. } => "abort_transfer",
            GridMessage::NodeFailed { .. } => "node_failed",
            GridMessage::TransferAborted { .. } => "transfer_aborted",
            GridMessage::TrafficRequest => "traffic_request",
            GridMessage::Traffic(_) => "traffic",
            GridMessage::RoomRequest { .. } => "room_request",
            GridMessage::Room { .. } => "room",
            GridMessage::RoomUnused { .. } => "room_unused",
            GridMessage::Saved(_) => "saved",
            GridMessage::CheckpointAvailable(_) => "checkpoint_available",
            GridMessage::Forget { .. } => "forget",
        }
    }

    /// The job it is about, if it is about one.
    pub fn job(&self) -> Option<JobId> {
        match self {
            GridMessage::Dispatch(dispatch) => Some(dispatch.job),
            GridMessage::Moved(moved) => Some(moved.job),
            GridMessage::Saved(saved) | GridMessage::CheckpointAvailable(saved) => Some(saved.job),
            GridMessage::Refused { job, .. }
            | GridMessage::Cancel { job }
            | GridMessage::Checkpointing { job, .. }
            | GridMessage::Move { job, .. }
            | GridMessage::Left { job }
            | GridMessage::Stranded { job }
            | GridMessage::Computed { job, .. }
            | GridMessage::Delivered { job }
            | GridMessage::ProgressRequest { job }
            | GridMessage::Progress { job, .. }
            | GridMessage::RoomRequest { job, .. }
            | GridMessage::Room { job }
            | GridMessage::RoomUnused { job, .. }
            | GridMessage::Forget { job } => Some(*job),
            GridMessage::Status(_)
            | GridMessage::Report(_)
            | GridMessage::Transfer { .. }
            | GridMessage::Transferred { .. }
            | GridMessage::AbortTransfer { .. }
            | GridMessage::NodeFailed { .. }
            | GridMessage::TransferAborted { .. }
            | GridMessage::TrafficRequest
            | GridMessage::Traffic(_) => None,
        }
    }
}

impl GridTimer {
    /// When in an instant it goes off.
    pub fn phase(self) -> Phase {
        match self {
            GridTimer::Ends { .. }
            | GridTimer::Prepared { .. }
            | GridTimer::Recovered { .. }
            | GridTimer::Written { .. }
            | GridTimer::Seen
            | GridTimer::DataArrive => Phase::Completion,
            GridTimer::LoadChanges => Phase::Resource,
            GridTimer::CheckpointDue { .. }
            | GridTimer::Tell
            | GridTimer::ReportDue
            | GridTimer::OutputFetched => Phase::Conversation,
            GridTimer::Round | GridTimer::Answered | GridTimer::Decided => Phase::Decision,
        }
    }
}
