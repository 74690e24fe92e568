//! What a grid of resources that fail leaves on record: attempts of jobs, what
//! became of each job, and what each resource has done (Chtepen 2011, sections
//! 2.2 and 4.4).

mod fate;

pub use fate::{JobFate, ReplicaFate, fate};

use std::ops::AddAssign;
use std::sync::Arc;

use crate::work::{Fraction, Work};
use crate::{AttemptOutcome, Job, JobClass, JobId, ProviderId, Span, Time};

/// One attempt of a job on one resource, observed when it is over.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptRecord {
    /// The job.
    pub job: JobId,
    /// Which of its attempts, counted from 1.
    pub number: u32,
    /// Where.
    pub resource: ProviderId,
    /// What had been done when it began.
    pub from: Work,
    /// The attempt that had done it; `None` for an attempt that starts from the beginning.
    pub parent: Option<u32>,
    /// When it got its slot.
    pub dispatched: Time,
    /// When it began to compute; `None` if it never did.
    pub started: Option<Time>,
    /// When it gave its slot back.
    pub left: Time,
    /// When it was over, output included.
    pub end: Time,
    /// How.
    pub outcome: AttemptOutcome,
    /// What had been done of the job when it was over.
    pub done: Work,
    /// Time in which it computed.
    pub computing: Span,
    /// Time for which checkpoints stopped it.
    pub writing: Span,
    /// How many checkpoints were written.
    pub written: u32,
    /// How many of them could be used.
    pub available: u32,
    /// Its checkpoints, in order: all, or those that another attempt may have started from.
    pub checkpoints: Box<[CheckpointRecord]>,
    /// Checkpoints that were due and omitted.
    pub omitted: u32,
    /// The room that its checkpoints take at the checkpoint server, once there is one.
    pub kept: Option<Box<KeptCheckpoint>>,
    /// The data that have arrived for it, or from it.
    pub data: DataMoved,
}

/// The room that an attempt's checkpoints take at the checkpoint server until its job is over: each
/// takes the place of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptCheckpoint {
    /// When the first of them had arrived.
    pub since: Time,
    /// The size of one.
    pub bytes: u64,
}

impl AttemptRecord {
    /// What it has computed.
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

/// A point on the way of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reach {
    /// What had been done of the job.
    pub done: Work,
    /// For how long the attempt had computed.
    pub computing: Span,
}

impl Reach {
    /// Where an attempt began.
    pub fn start(record: &AttemptRecord) -> Reach {
        Reach { done: record.from, computing: Span::ZERO }
    }

    /// Where an attempt ended.
    pub fn end(record: &AttemptRecord) -> Reach {
        Reach { done: record.done, computing: record.computing }
    }

    /// The checkpoint of an attempt that holds so much; `None` if none could ever be used.
    pub fn saved(record: &AttemptRecord, done: Work) -> Option<Reach> {
        let is_it = |it: &&CheckpointRecord| it.available.is_some() && it.done == done;
        let checkpoint = record.checkpoints.iter().find(is_it)?;
        Some(Reach { done, computing: checkpoint.computing })
    }
}

/// One checkpoint of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointRecord {
    /// When the job stopped to write it.
    pub requested: Time,
    /// What had been done then.
    pub done: Work,
    /// Time in which the attempt had computed by then.
    pub computing: Span,
    /// When it was written, and the job went on; `None` if it was cut off.
    pub written: Option<Time>,
    /// When it could be used; `None` if it never could.
    pub available: Option<Time>,
}

/// What became of a job of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct GridJobRecord {
    /// The job as it was submitted.
    pub job: Arc<Job>,
    /// Who placed it.
    pub class: JobClass,
    /// The share of a resource that it reserves as a session; `None` where shares are equal.
    pub share: Option<Fraction>,
    /// What became of it.
    pub outcome: GridOutcome,
}

/// What became of a job of a grid.
#[derive(Clone, Debug, PartialEq)]
pub enum GridOutcome {
    /// It is done.
    Done {
        /// The attempt that did it.
        winner: u32,
        /// When that attempt was computed.
        computed: Time,
        /// When its output was where it belongs.
        end: Time,
    },
    /// Its attempt was seen to have failed, and it gets no other.
    Lost(Time),
    /// Its user withdrew it before it was sent anywhere.
    Withdrawn(Time),
    /// The run ended before it was done.
    Open {
        /// The instant.
        end: Time,
        /// Attempts that its scheduler sends in all.
        wanted: u32,
        /// Attempts that its scheduler would start again if they have failed.
        replaced: Vec<u32>,
    },
}

impl GridOutcome {
    /// When that was.
    pub fn end(&self) -> Time {
        match *self {
            GridOutcome::Done { end, .. } | GridOutcome::Open { end, .. } => end,
            GridOutcome::Lost(end) | GridOutcome::Withdrawn(end) => end,
        }
    }
}

/// What a resource has done in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceAccount {
    /// The resource.
    pub resource: ProviderId,
    /// Time in which it was down.
    pub down: Span,
    /// Times it failed during the run.
    pub failures: u32,
    /// Time with at least one job that computed or wrote a checkpoint.
    pub busy: Span,
    /// Time in which it would have taken no further job.
    pub full: Span,
    /// Σ time in which jobs held a slot.
    pub held: Span,
    /// Σ time × share reserved, microseconds × parts per million; `None` where shares are equal.
    pub reserved: Option<u128>,
    /// Work done, for jobs that were lost as well.
    pub processed: Work,
    /// Attempts that got a slot.
    pub attempts: u64,
    /// Data that arrived here, or from here where they go.
    pub data: DataMoved,
    /// The same by the ways they took, each of which has one entry at most.
    pub flows: Box<[DataFlow]>,
}

/// Data that have arrived from one place at another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataFlow {
    /// Where they come from.
    pub from: Place,
    /// Where they go.
    pub to: Place,
    /// How much.
    pub carried: Carried,
}

/// Where data of a grid are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// At a resource.
    Resource(ProviderId),
    /// At the storage.
    Storage,
    /// At the checkpoint server.
    Checkpoints,
}

/// Transfers that have come to their end, and what they carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// How many there were.
    pub transfers: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Carried {
    /// Adds so many transfers of `bytes` each.
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

/// Data that have arrived, bytes by what they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataMoved {
    /// Input of jobs.
    pub input: u64,
    /// Output of jobs.
    pub output: u64,
    /// Checkpoints, on their way to the checkpoint server.
    pub checkpoints: u64,
    /// Checkpoints from which jobs went on.
    pub recovery: u64,
}

impl DataMoved {
    /// All of them.
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

/// What a grid's scheduler has done in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundsAccount {
    /// Rounds in which it decided; after one without a job, none follows before the next one comes.
    pub rounds: u64,
    /// Those after which jobs went on waiting to be sent anywhere.
    pub with_queue: u64,
    /// Pairs of a task that runs and a place for it that were compared, by policies that balance
    /// workflows.
    pub evaluations: u64,
}

/// What a storage with limits has held in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageAccount {
    /// Σ space occupied × time, byte microseconds.
    pub occupied: i128,
    /// Outputs that found no room at first.
    pub waits: u64,
    /// Σ time for which they waited for it.
    pub waited: Span,
    /// Jobs whose outputs waited for room that nobody would have given back.
    pub stuck: u64,
}
