//! Records of a grid of resources that fail: attempts of jobs, fates of jobs, and accounts of resources
//! (Chtepen 2011, sections 2.2 and 4.4).

mod fate;

pub use fate::{JobFate, ReplicaFate, fate};

use std::ops::AddAssign;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::work::{Fraction, Work};
use crate::{AttemptOutcome, Job, JobClass, JobId, ProviderId, Span, Time};

/// One attempt of a job on one resource, observed when it is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// The job.
    pub job: JobId,
    /// Number of the attempt within its job, from 1.
    pub number: u32,
    /// Resource on which it ran.
    pub resource: ProviderId,
    /// Work of the job that was done when the attempt began.
    pub from: Work,
    /// The attempt that did this work; `None` for an attempt that starts from the beginning.
    pub parent: Option<u32>,
    /// Time at which it got its slot.
    pub dispatched: Time,
    /// Time at which it began to compute; `None` if it never did.
    pub started: Option<Time>,
    /// Time at which it gave its slot back.
    pub left: Time,
    /// Time at which it was over, output included.
    pub end: Time,
    /// Outcome of the attempt.
    pub outcome: AttemptOutcome,
    /// Work of the job that was done when the attempt was over.
    pub done: Work,
    /// Time in which it computed.
    pub computing: Span,
    /// Time for which checkpoints stopped it.
    pub writing: Span,
    /// Number of checkpoints written.
    pub written: u32,
    /// Number of written checkpoints that became usable.
    pub available: u32,
    /// Its checkpoints in order: all of them, or only those from which another attempt may have started.
    pub checkpoints: Box<[CheckpointRecord]>,
    /// Number of checkpoints that were due and omitted.
    pub omitted: u32,
    /// Space that its checkpoints occupy at the checkpoint server; `None` if none has arrived.
    pub kept: Option<Box<KeptCheckpoint>>,
    /// Data that arrived for it or from it.
    pub data: DataMoved,
}

/// Space that an attempt's checkpoints occupy at the checkpoint server until its job is over. Each
/// checkpoint replaces the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCheckpoint {
    /// Arrival of the first checkpoint.
    pub since: Time,
    /// Size of one checkpoint.
    pub bytes: u64,
}

impl AttemptRecord {
    /// Work that it has computed.
    pub fn computed(&self) -> Work {
        self.done - self.from
    }

    /// Time in which it held a slot.
    pub fn held(&self) -> Span {
        self.left - self.dispatched
    }

    /// Time in which it held a slot and waited for data.
    pub fn waiting(&self) -> Span {
        self.held() - self.computing - self.writing
    }
}

/// A point in the course of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reach {
    /// Work of the job that was done.
    pub done: Work,
    /// Time for which the attempt had computed.
    pub computing: Span,
}

impl Reach {
    /// The beginning of an attempt.
    pub fn start(record: &AttemptRecord) -> Reach {
        Reach { done: record.from, computing: Span::ZERO }
    }

    /// The end of an attempt.
    pub fn end(record: &AttemptRecord) -> Reach {
        Reach { done: record.done, computing: record.computing }
    }

    /// The checkpoint of an attempt that holds this much work; `None` if no such checkpoint became usable.
    pub fn saved(record: &AttemptRecord, done: Work) -> Option<Reach> {
        let is_it = |it: &&CheckpointRecord| it.available.is_some() && it.done == done;
        let checkpoint = record.checkpoints.iter().find(is_it)?;
        Some(Reach { done, computing: checkpoint.computing })
    }
}

/// One checkpoint of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointRecord {
    /// Time at which the job stopped to write it.
    pub requested: Time,
    /// Work of the job that was done by then.
    pub done: Work,
    /// Time in which the attempt had computed by then.
    pub computing: Span,
    /// Time at which it was written and the job went on; `None` if the attempt ended first.
    pub written: Option<Time>,
    /// Time at which it became usable; `None` if it never did.
    pub available: Option<Time>,
}

/// Record of a job of a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridJobRecord {
    /// The job as it was submitted.
    pub job: Arc<Job>,
    /// Class of the job.
    pub class: JobClass,
    /// The share of a resource that it reserves as a session; `None` where shares are equal.
    pub share: Option<Fraction>,
    /// Fate of the job.
    pub outcome: GridOutcome,
}

/// Fate of a job of a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum GridOutcome {
    /// It is done.
    Done {
        /// The attempt that completed it.
        winner: u32,
        /// Time at which that attempt had computed all.
        computed: Time,
        /// Arrival of its output at the destination.
        end: Time,
    },
    /// The failure of its attempt was detected, and the job gets no other attempt.
    Lost(Time),
    /// Its user withdrew it before it was sent to a resource.
    Withdrawn(Time),
    /// The run ended before it was done.
    Open {
        /// End of the run.
        end: Time,
        /// Number of attempts that its scheduler wants in all.
        wanted: u32,
        /// Attempts that its scheduler would restart after a failure.
        replaced: Vec<u32>,
    },
}

impl GridOutcome {
    /// Time at which the job was done, lost or withdrawn, or at which the run ended.
    pub fn end(&self) -> Time {
        match *self {
            GridOutcome::Done { end, .. } | GridOutcome::Open { end, .. } => end,
            GridOutcome::Lost(end) | GridOutcome::Withdrawn(end) => end,
        }
    }
}

/// Account of a resource over a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceAccount {
    /// The resource.
    pub resource: ProviderId,
    /// Time in which it was down.
    pub down: Span,
    /// Number of failures during the run.
    pub failures: u32,
    /// Time with at least one job that computed or wrote a checkpoint.
    pub busy: Span,
    /// Time in which it had no room for a further job.
    pub full: Span,
    /// Σ time in which jobs held a slot.
    pub held: Span,
    /// Σ time × share reserved, microseconds × parts per million; `None` where shares are equal.
    pub reserved: Option<u128>,
    /// Work done, including that of jobs that were lost.
    pub processed: Work,
    /// Attempts that got a slot.
    pub attempts: u64,
    /// Data that arrived here, or that left from here and arrived elsewhere.
    pub data: DataMoved,
    /// The same data by route, at most one entry for each.
    pub flows: Box<[DataFlow]>,
}

/// Data that have arrived from one place at another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFlow {
    /// Origin of the data.
    pub from: Place,
    /// Destination of the data.
    pub to: Place,
    /// Number of transfers and bytes.
    pub carried: Carried,
}

/// A location of data in a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Place {
    /// At a resource.
    Resource(ProviderId),
    /// At the storage.
    Storage,
    /// At the checkpoint server.
    Checkpoints,
}

/// Completed transfers and the bytes they carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Number of transfers.
    pub transfers: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Carried {
    /// Adds `transfers` transfers of `bytes` each.
    pub fn add(&mut self, transfers: u64, bytes: u64) {
        self.transfers += transfers;
        self.bytes += transfers * bytes;
    }
}

impl AddAssign for Carried {
    fn add_assign(&mut self, other: Carried) {
        self.transfers += other.transfers;
        self.bytes += other.bytes;
    }
}

/// Data that have arrived: bytes by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataMoved {
    /// Input of jobs.
    pub input: u64,
    /// Output of jobs.
    pub output: u64,
    /// Checkpoints on their way to the checkpoint server.
    pub checkpoints: u64,
    /// Checkpoints from which jobs resumed.
    pub recovery: u64,
}

impl DataMoved {
    /// Sum of all kinds.
    pub fn total(&self) -> u64 {
        self.input + self.output + self.checkpoints + self.recovery
    }
}

impl AddAssign for DataMoved {
    fn add_assign(&mut self, other: DataMoved) {
        self.input += other.input;
        self.output += other.output;
        self.checkpoints += other.checkpoints;
        self.recovery += other.recovery;
    }
}

/// Account of a grid's scheduler over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundsAccount {
    /// Scheduling rounds. After a round without jobs, no round follows before the next job arrives.
    pub rounds: u64,
    /// Rounds after which jobs still waited to be sent to a resource.
    pub with_queue: u64,
    /// Pairs of a running task and a place for it that were compared, by policies that balance workflows.
    pub evaluations: u64,
}

/// Account of a storage with limits over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageAccount {
    /// Σ space occupied × time, byte microseconds.
    pub occupied: i128,
    /// Outputs that found no space at first.
    pub waits: u64,
    /// Σ time for which outputs waited for space.
    pub waited: Span,
    /// Jobs whose outputs waited for space that nothing could free any more.
    pub stuck: u64,
}
