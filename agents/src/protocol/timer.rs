//! What actors wake up for: messages of an actor to itself, which no other actor can send.
//!
//! A timer is known by its name and its ids: [`Outbox::set`](crate::Outbox::set) sets the one of
//! that name and those ids anew, [`Outbox::stop`](crate::Outbox::stop) stops it. Whatever it was
//! for and has changed since, it does not go off when it was to go off before.

use haggle_model::JobId;
use serde::{Deserialize, Serialize};

use super::Phase;
use super::said::{Said, protocol, said};

/// A timer that goes off in this part of an instant.
#[inline(always)]
fn wake<'a>(phase: Phase) -> Said<'a> {
    said("wake").during(phase)
}

protocol! {
    /// Why an actor wakes up.
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
        /// Provider: the job in this slot has computed until its next checkpoint, or its data are to go on
        /// their way.
        CheckpointDue {
            /// The slot of the provider.
            slot: u32,
        } => wake(Phase::Progress),
        /// Provider: all that fails or comes back at this instant has.
        Settle => wake(Phase::Recovery),
        /// Provider: something has ended early in this instant, and all else that ends in it has.
        Reschedule => wake(Phase::Rescheduling),
        /// Provider: a reservation of the plan is due.
        PlanDue => wake(Phase::Decision),
        /// Provider: tasks of a share that run together have come to their end.
        TasksEnd {
            /// The slot of the share.
            slot: u32,
            /// Which of the share's runs.
            run: u32,
        } => wake(Phase::Completion),
        /// Provider: tasks of a share that run together have used up their planned time and go on.
        TasksPlanEnds {
            /// The slot of the share.
            slot: u32,
            /// Which of the share's runs.
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
        /// Provider: its scheduler hears of a window of maintenance.
        MaintenanceAnnounced {
            /// The window's place in the provider's list.
            number: u32,
        } => wake(Phase::Resource),
        /// Provider: a window of maintenance begins; all that ends in this instant has.
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
        /// Metascheduler: this instant's messages are delivered, the next bag can be taken up.
        NextBag => wake(Phase::Decision),
        /// Metascheduler: this instant's messages are delivered, so that a provider that was answered has asked
        /// for its next move, and the next job can be taken up.
        NextTurn => wake(Phase::Turn),
        /// Metascheduler: jobs that have arrived at this instant can be placed, for all that moves and starts in it has.
        JobsArrived => wake(Phase::Placement),
        /// Metascheduler, provider or acceptor: a timer of a protocol has gone off.
        AgreementDue => wake(Phase::Decision),
        /// Metascheduler: it is time to try once more to get parts of this job.
        TryAgain {
            /// The job.
            job: JobId,
        } => wake(Phase::Decision).of(job),
        /// Metascheduler: somebody has not said that its part of this job has begun.
        BeginAgain {
            /// The job.
            job: JobId,
        } => wake(Phase::Decision).of(job),
        /// Metascheduler: what this task needs, and shares no link on its way, is at the provider that it
        /// was placed on.
        InputsArrive {
            /// The task.
            job: JobId,
        } => wake(Phase::Submission).of(job),
        /// Reallocator: it is time to look at what waits.
        Reallocate => wake(Phase::Decision),
        /// Cluster: the checkpoint of an application has come, and an interval of it begins.
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
        Grid(timer: GridTimer) => timer.said(),
        /// An actor of somebody else's: whatever it has in mind.
        Other(mind: u64) => wake(Phase::Decision),
    }
}

protocol! {
    /// Why an actor of a grid wakes up.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum GridTimer {
        /// Resource: the next job has been computed.
        Ends => wake(Phase::Progress),
        /// Resource: what comes before the job's data has been done.
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
        /// Resource: something may have happened by itself that others are to hear of.
        Seen => wake(Phase::Progress),
        /// Resource: a round may be due that is to know of its newest checkpoints.
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
        /// Dispatcher: the round has come to its decisions.
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
    /// When in an instant it goes off.
    #[inline]
    pub fn phase(self) -> Phase {
        self.said().phase
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
            Timer::DataArrive => Some(6),
            Timer::Settle => Some(7),
            Timer::RunEnds { slot } => Some(8 + slot as usize),
            _ => None,
        }
    }
}
