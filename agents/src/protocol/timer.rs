//! What actors wake up for: messages of an actor to itself, which no other actor can send.
//!
//! A timer is known by its name and its ids: [`Outbox::set`](crate::Outbox::set) sets the one of
//! that name and those ids anew, [`Outbox::stop`](crate::Outbox::stop) stops it. Whatever it was
//! for and has changed since, it does not go off when it was to go off before.

use haggle_model::JobId;
use serde::{Deserialize, Serialize};

use super::Phase;

/// Why an actor wakes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// Provider: the job in this slot has run to its end or to its limit.
    RunEnds {
        /// The slot of the provider.
        slot: u32,
    },
    /// Provider: the job in this slot has used up its planned time and goes on.
    PlanEnds {
        /// The slot of the provider.
        slot: u32,
    },
    /// Provider: something has ended early in this instant, and all else that ends in it has.
    Reschedule,
    /// Provider: a reservation of the plan is due.
    PlanDue,
    /// Provider: tasks of a share that run together have come to their end.
    TasksEnd {
        /// The slot of the share.
        slot: u32,
        /// Which of the share's runs.
        run: u32,
    },
    /// Provider: tasks of a share that run together have used up their planned time and go on.
    TasksPlanEnds {
        /// The slot of the share.
        slot: u32,
        /// Which of the share's runs.
        run: u32,
    },
    /// Provider: the run time estimate of this bag is ready.
    EstimateReady {
        /// The bag.
        job: JobId,
    },
    /// User: the job may be submitted from now on.
    JobReady {
        /// The job.
        job: JobId,
    },
    /// User: the job has waited as long as the user will wait.
    PatienceOver {
        /// The job.
        job: JobId,
    },
    /// Metascheduler: this bag has waited for offers as long as its user will wait.
    OffersDue {
        /// The bag.
        job: JobId,
    },
    /// Metascheduler: this instant's messages are delivered, the next bag can be taken up.
    NextBag,
    /// Nature: this resource is back.
    RestoreDue {
        /// Its number in nature's list.
        resource: u32,
    },
    /// An actor of a grid.
    Grid(GridTimer),
    /// An actor of somebody else's: whatever it has in mind.
    Other(u64),
}

/// Why an actor of a grid wakes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GridTimer {
    /// Resource: the next job has been computed.
    Ends,
    /// Resource: what comes before the job's data has been done.
    Prepared {
        /// The job.
        job: JobId,
    },
    /// Resource: the job has been recovered from its checkpoint.
    Recovered {
        /// The job.
        job: JobId,
    },
    /// Resource: a checkpoint of the job is due.
    CheckpointDue {
        /// The job.
        job: JobId,
    },
    /// Resource: the checkpoint of the job is written.
    Written {
        /// The job.
        job: JobId,
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

impl From<GridTimer> for Timer {
    fn from(timer: GridTimer) -> Timer {
        Timer::Grid(timer)
    }
}

impl Timer {
    /// When in an instant it goes off.
    pub fn phase(self) -> Phase {
        match self {
            Timer::RestoreDue { .. } => Phase::Resource,
            Timer::JobReady { .. } => Phase::Submission,
            Timer::RunEnds { .. } | Timer::TasksEnd { .. } => Phase::Completion,
            Timer::Reschedule => Phase::Rescheduling,
            Timer::EstimateReady { .. } | Timer::OffersDue { .. } => Phase::Conversation,
            Timer::PlanEnds { .. }
            | Timer::PlanDue
            | Timer::TasksPlanEnds { .. }
            | Timer::PatienceOver { .. }
            | Timer::NextBag
            | Timer::Other(_) => Phase::Decision,
            Timer::Grid(timer) => timer.phase(),
        }
    }

    /// A small number for timers of which an actor has one, or one a slot: whoever keeps account
    /// of them needs no table to find them.
    pub fn place(self) -> Option<usize> {
        match self {
            Timer::Reschedule => Some(0),
            Timer::PlanDue => Some(1),
            Timer::NextBag => Some(2),
            Timer::Grid(GridTimer::Ends) => Some(3),
            Timer::Grid(GridTimer::Seen) => Some(4),
            Timer::Grid(GridTimer::Tell) => Some(5),
            Timer::Grid(GridTimer::DataArrive) => Some(6),
            Timer::RunEnds { slot } => Some(7 + slot as usize),
            _ => None,
        }
    }

    /// The job it is about, if it is about one of those that this actor has to do with.
    pub fn job(self) -> Option<JobId> {
        match self {
            Timer::EstimateReady { job }
            | Timer::JobReady { job }
            | Timer::PatienceOver { job }
            | Timer::OffersDue { job } => Some(job),
            _ => None,
        }
    }
}

impl GridTimer {
    /// When in an instant it goes off.
    pub fn phase(self) -> Phase {
        match self {
            GridTimer::Ends
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
