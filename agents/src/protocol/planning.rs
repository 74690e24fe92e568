//! Planning: a metascheduler reschedules applications of many phases over clusters, each of which has
//! a planner in front of it (Sanjay and Vadhiyar 2011).
//!
//! ```text
//!   metascheduler                 cluster                     resource updates
//!       │ ── PlanRequest ─────────▶ │                               │
//!       │ ◀── Plan or NoMachines ── │  the first interval           │
//!       │ ── TimesRequest ────────▶ │                               │
//!       │ ◀───────────────── Times  │  of intervals of all          │
//!       │ ── Propose ─────────────▶ │  for applications of workflows  │
//!       │ ◀──────────────── Lapsed  │  if the machines are not free any more
//!       │ ── RunInterval ─────────▶ │                               │
//!       │ ◀── Begun or NotRun ───── │                               │
//!       │ ◀── PhaseOver ─────────── │  without rescheduling         │
//!       │ ◀── IntervalOver or Lost  │                               │
//!       │ ── Redraw ──────────────────────────────────────────────▶ │
//!       │                           │ ◀───────────────────── Loads  │
//!       │ ◀───────────────────────────────────────────────── Redrawn│
//!       │ ── Forget ──────────────▶ │  the application is over      │
//!       │ ◀── MachinesFree ──────── │  if it had none to give before  │
//! ```
//!
//! A planner discloses the times of intervals on the machines that it would choose, and the times of
//! the moves there, but never the machines, their number, or their loads. An application discloses its
//! models to every cluster that gets a request.
//!
//! Applications of a workflow propose intervals before one of them is granted machines. A cluster keeps
//! the machines of each proposal in mind. It notifies the metascheduler of proposals whose machines were
//! taken or have failed, so the metascheduler learns of conflicts without machines or loads.

use std::sync::Arc;

use haggle_model::observation::DisclosedItem;
use haggle_model::phased::Move;
use haggle_model::{ActorId, Job, JobId, Span};
use haggle_planning::Interval;
use serde::{Deserialize, Serialize};

use super::said::{Tells, protocol, said};

protocol! {
    /// Messages about plans, and about loads.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum PlanningMessage {
        /// Metascheduler to cluster: plan this application from the phase `first` on. Discloses the
        /// application.
        PlanRequest {
            /// The application.
            job: Arc<Job>,
            /// Its first phase that is not over.
            first: u32,
        } => said("plan_request").of(&job.id).tells(DisclosedItem::Job),
        /// Cluster to metascheduler: the first interval of its plan. Discloses that interval, and
        /// the cost of the plan.
        Plan(plan: Box<Planned>) => said("plan").of(&plan.job).tells(DisclosedItem::Estimate),
        /// Cluster to metascheduler: no machine is free that can run it. Discloses that.
        NoMachines {
            /// The application.
            job: JobId,
        } => said("no_machines").of(job).tells(DisclosedItem::Refusal),
        /// Metascheduler to cluster: which times would these intervals take on your machines?
        TimesRequest(request: Box<TimesRequest>) => said("times_request")
            .of(&request.job.id)
            .tells(DisclosedItem::Job),
        /// Cluster to metascheduler: these times. Discloses each of them.
        Times(times: Box<Times>) => said("times")
            .of(&times.job)
            .tells(Tells::Many(DisclosedItem::Estimate, times.count())),
        /// Metascheduler to cluster: this interval is proposed, but not granted yet. Discloses the
        /// application.
        Propose(order: Box<IntervalOrder>) => said("interval_proposed")
            .of(&order.job.id)
            .tells(DisclosedItem::Job),
        /// Cluster to metascheduler: the machines of the proposed interval are not free any more.
        /// Discloses that.
        Lapsed {
            /// The application.
            job: JobId,
        } => said("proposal_lapsed").of(job).tells(DisclosedItem::Refusal),
        /// Metascheduler to cluster: run this interval. Discloses the application.
        RunInterval(order: Box<IntervalOrder>) => said("run_interval")
            .of(&order.job.id)
            .tells(DisclosedItem::Job),
        /// Cluster to metascheduler: the interval has begun with its move. Discloses that.
        Begun {
            /// The application.
            job: JobId,
        } => said("interval_begun").of(job).tells(DisclosedItem::JobStatus),
        /// Cluster to metascheduler: the machines for it are not free any more. Discloses that.
        NotRun {
            /// The application.
            job: JobId,
        } => said("interval_not_run").of(job).tells(DisclosedItem::Refusal),
        /// Cluster to metascheduler: a phase is over, and the application goes on. Discloses that.
        PhaseOver {
            /// The application.
            job: JobId,
        } => said("phase_over").of(job).tells(DisclosedItem::JobStatus),
        /// Cluster to metascheduler: the interval is over, and its checkpoint is here. Discloses that.
        IntervalOver {
            /// The application.
            job: JobId,
        } => said("interval_over").of(job).tells(DisclosedItem::JobStatus),
        /// Cluster to metascheduler: a machine has failed under the interval. Discloses that.
        IntervalLost {
            /// The application.
            job: JobId,
            /// True if the checkpoint with which it began had arrived, and is here.
            arrived: bool,
        } => said("interval_lost").of(job).tells(DisclosedItem::JobStatus),
        /// Metascheduler to cluster: the application is over.
        Forget {
            /// The application.
            job: JobId,
        } => said("forget_application").of(job),
        /// Cluster to metascheduler: machines are free again. Discloses that.
        MachinesFree => said("machines_free").tells(DisclosedItem::Change),
        /// Metascheduler to resource updates: an interval is over, or a phase.
        Redraw => said("redraw"),
        /// Resource updates to metascheduler: loads have changed.
        Redrawn => said("redrawn"),
        /// Resource updates to cluster: its availability from now on.
        Loads(loads: Arc<ClusterLoads>) => said("loads"),
    }
}

/// The first interval of a cluster's plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// The application.
    pub job: JobId,
    /// The interval.
    pub interval: Interval,
    /// The cost of the whole plan, for all phases that are left.
    pub remaining: Span,
}

/// A question for the times of intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimesRequest {
    /// The application.
    pub job: Arc<Job>,
    /// The intervals.
    pub intervals: Vec<Interval>,
    /// The cluster that has its last checkpoint.
    pub from: Option<ActorId>,
}

/// Times that intervals would take on a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// The application.
    pub job: JobId,
    /// Time of each interval on the best machines for it; empty if no machine is free.
    pub least: Vec<Span>,
    /// Time of each on the machines of the last interval; empty if that was elsewhere, or these are
    /// not free.
    pub stay: Vec<Span>,
    /// Time of the checkpoint to the best machines.
    pub moving: Span,
}

impl Times {
    fn count(&self) -> usize {
        self.least.len() + self.stay.len()
    }
}

/// An order to run an interval, or its proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntervalOrder {
    /// The application.
    pub job: Arc<Job>,
    /// The phases.
    pub interval: Interval,
    /// The number of the interval within the application, from 1.
    pub number: u32,
    /// On the same machines as before, or on the best ones.
    pub how: Move,
    /// The cluster that has its checkpoint; `None` for the first interval.
    pub from: Option<ActorId>,
}

/// Availability of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterLoads {
    /// The available part of each processor.
    pub cpu: Vec<f64>,
    /// The available parts of the links between them.
    pub links: LinkLoads,
    /// The available part of the way to each cluster.
    pub ways: Vec<f64>,
}

/// Availability of the links between the machines of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LinkLoads {
    /// The link of each machine to all others.
    Uplinks(Vec<f64>),
    /// The link between each two machines: a row a machine.
    Pairs(Vec<Vec<f64>>),
}
