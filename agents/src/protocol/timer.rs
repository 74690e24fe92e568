//! Timers: messages of an actor to itself, which no other actor can send.
//!
//! A timer is identified by its name and its ids. [`Outbox::set`](crate::Outbox::set) sets it anew, and
//! [`Outbox::stop`](crate::Outbox::stop) stops it. A timer that is set anew does not go off at its earlier time.

use haggle_model::JobId;
use serde::{Deserialize, Serialize};

use super::Phase;
use super::said::{Said, protocol, said, said_by};

said_by! {
    /// A timer that goes off in this phase of an instant.
    fn wake(phase: Phase) -> Said<'static> {
        phase => said("wake").during(phase),
    }
}

/// A timer of a grid.
#[inline(always)]
fn grid(timer: &GridTimer) -> Said<'_> {
    timer.said()
}

mod grid {
    pub(super) fn kinds() -> Vec<&'static str> {
        super::GridTimer::kinds()
    }
}

protocol! {
    /// Reason for which an actor wakes up.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum Timer {
        /// Provider: the job in this slot has run to its end or to its limit.
        RunEnds {
            /// The slot of the provider.
            slot: u32,
        } => wake(Phase::Completion),
        /// Provider: the job in this slot has used up its planned time and goes on.
        PlanEnds {
            /// The slot of the provider.
            slot: u32,
        } => wake(Phase::Decision),
        /// Provider: the job in this slot has computed until its next checkpoint, or the transfer of its data begins.
        CheckpointDue {
            /// The slot of the provider.
            slot: u32,
        } => wake(Phase::Progress),
        /// Provider: all failures and recoveries of this instant have happened.
        Settle => wake(Phase::Recovery),
        /// Provider: something has ended early at this instant, and all other ends of the instant have happened.
        Reschedule => wake(Phase::Rescheduling),
        /// Provider: a reservation of the plan is due.
        PlanDue => wake(Phase::Decision),
        /// Provider: tasks of a share that run together have ended.
        TasksEnd {
            /// The slot of the share.
            slot: u32,
            /// Number of the share's run.
            run: u32,
        } => wake(Phase::Completion),
        /// Provider: tasks of a share that run together have used up their planned time and go on.
        TasksPlanEnds {
            /// The slot of the share.
            slot: u32,
            /// Number of the share's run.
            run: u32,
        } => wake(Phase::Decision),
        /// Provider: the run time estimate of this bag is ready.
        EstimateReady {
            /// The bag.
            job: JobId,
        } => wake(Phase::Conversation).of(job),
        /// Provider: the throughput of this application has become steady.
        ThroughputSteady {
            /// The application.
            job: JobId,
        } => wake(Phase::Conversation).of(job),
        /// Provider: its scheduler is notified of a window of maintenance.
        MaintenanceAnnounced {
            /// The window's place in the provider's list.
            number: u32,
        } => wake(Phase::Resource),
        /// Provider: a window of maintenance begins; all ends of this instant have happened.
        MaintenanceBegins {
            /// The window's place in the provider's list.
            number: u32,
        } => wake(Phase::Decision),
        /// Provider: a window of maintenance is over.
        MaintenanceEnds {
            /// The window's place in the provider's list.
            number: u32,
        } => wake(Phase::Resource),
        /// User: the job may be submitted from now on.
        JobReady {
            /// The job.
            job: JobId,
        } => wake(Phase::Submission).of(job),
        /// User: the job has waited as long as the user will wait.
        PatienceOver {
            /// The job.
            job: JobId,
        } => wake(Phase::Decision).of(job),
        /// Metascheduler: this bag has waited for offers as long as its user will wait.
        OffersDue {
            /// The bag.
            job: JobId,
        } => wake(Phase::Conversation).of(job),
        /// Metascheduler: the messages of this instant are delivered, so the next bag can be taken up.
        NextBag => wake(Phase::Decision),
        /// Metascheduler: the messages of this instant are delivered, so an answered provider has sent its next
        /// request for a move. The next job can be taken up.
        NextTurn => wake(Phase::Turn),
        /// Metascheduler: all moves and starts of this instant have happened, so jobs that have arrived at it can be
        /// placed.
        JobsArrived => wake(Phase::Placement),
        /// Metascheduler, provider or acceptor: a timer of a protocol has gone off.
        AgreementDue => wake(Phase::Decision),
        /// Metascheduler or provider: numbered messages have not been acknowledged in time.
        RepeatDue => wake(Phase::Decision),
        /// Metascheduler: it is time to try once more to get parts of this job.
        TryAgain {
            /// The job.
            job: JobId,
        } => wake(Phase::Decision).of(job),
        /// Metascheduler: a provider has not reported that its part of this job has begun.
        BeginAgain {
            /// The job.
            job: JobId,
        } => wake(Phase::Decision).of(job),
        /// Metascheduler: all inputs of this task that share no link have arrived at the task's provider.
        InputsArrive {
            /// The task.
            job: JobId,
        } => wake(Phase::Submission).of(job),
        /// Reallocator: a reallocation of waiting jobs is due.
        Reallocate => wake(Phase::Decision),
        /// Cluster: the checkpoint of an application has arrived, and an interval of it begins.
        IntervalBegins {
            /// The application.
            job: JobId,
        } => wake(Phase::Completion).of(job),
        /// Cluster: a phase or an interval of an application is over.
        IntervalEnds {
            /// The application.
            job: JobId,
        } => wake(Phase::Completion).of(job),
        /// Cluster: its monitor reports loads.
        LoadsSeen => wake(Phase::Resource),
        /// Resource updates: loads change.
        LoadsChange => wake(Phase::Resource),
        /// Network: data arrive.
        DataArrive => wake(Phase::Progress),
        /// Nature: this resource is back.
        RestoreDue {
            /// Its number in nature's list.
            resource: u32,
        } => wake(Phase::Resource),
        /// An actor of a grid.
        Grid(timer: GridTimer) => grid(timer),
        /// An actor of another crate, for a reason that the number identifies.
        Other(mind: u64) => wake(Phase::Decision),
    }
}

protocol! {
    /// Reason for which an actor of a grid wakes up.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum GridTimer {
        /// Resource: the next job has been computed.
        Ends => wake(Phase::Progress),
        /// Resource: the preparation of the job is done, before its data are requested.
        Prepared {
            /// The job.
            job: JobId,
        } => wake(Phase::Progress),
        /// Resource: the job has been recovered from its checkpoint.
        Recovered {
            /// The job.
            job: JobId,
        } => wake(Phase::Progress),
        /// Resource: a checkpoint of the job is due.
        CheckpointDue {
            /// The job.
            job: JobId,
        } => wake(Phase::Conversation),
        /// Resource: the checkpoint of the job is written.
        Written {
            /// The job.
            job: JobId,
        } => wake(Phase::Progress),
        /// Resource: an event may have happened that must be reported.
        Seen => wake(Phase::Progress),
        /// Resource: a round may be due that needs the newest checkpoints of the resource.
        Tell => wake(Phase::Conversation),
        /// Resource: the load by others changes.
        LoadChanges => wake(Phase::Resource),
        /// Information service: a report is due.
        ReportDue => wake(Phase::Conversation),
        /// Storage: outputs have been fetched.
        OutputFetched => wake(Phase::Conversation),
        /// Dispatcher: a round is due.
        Round => wake(Phase::Decision),
        /// Dispatcher: the information service has answered.
        Answered => wake(Phase::Decision),
        /// Dispatcher: the round has made its decisions.
        Decided => wake(Phase::Decision),
        /// Dispatcher: the job has waited as long as it may.
        Overdue {
            /// The job.
            job: JobId,
        } => wake(Phase::Decision).of(job),
    }
}

impl From<GridTimer> for Timer {
    fn from(timer: GridTimer) -> Timer {
        Timer::Grid(timer)
    }
}

impl Timer {
    /// Phase of an instant in which it goes off.
    #[inline]
    pub fn phase(self) -> Phase {
        self.said().phase
    }

    /// A small number for timers of which an actor has one, or one a slot. It serves as an index, so that no table is
    /// needed to find them.
    pub fn place(self) -> Option<usize> {
        match self {
            Timer::Reschedule => Some(0),
            Timer::PlanDue => Some(1),
            Timer::NextBag => Some(2),
            Timer::Grid(GridTimer::Ends) => Some(3),
            Timer::Grid(GridTimer::Seen) => Some(4),
            Timer::Grid(GridTimer::Tell) => Some(5),
            Timer::DataArrive => Some(6),
            Timer::Settle => Some(7),
            Timer::RunEnds { slot } => Some(8 + slot as usize),
            _ => None,
        }
    }
}
