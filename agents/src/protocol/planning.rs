//! Planning: a metascheduler reschedules applications of many phases over clusters, each of which has
//! a planner in front of it (Sanjay and Vadhiyar 2011).
//!
//! ```text
//!   metascheduler                 cluster                     resource updates
//!       │ ── PlanRequest ─────────▶ │                               │
//!       │ ◀── Plan or NoMachines ── │  the first interval           │
//!       │ ── TimesRequest ────────▶ │                               │
//!       │ ◀───────────────── Times  │  of intervals of all          │
//!       │ ── RunInterval ─────────▶ │                               │
//!       │ ◀── Begun or NotRun ───── │                               │
//!       │ ◀── PhaseOver ─────────── │  without rescheduling         │
//!       │ ◀── IntervalOver or Lost  │                               │
//!       │ ── Redraw ──────────────────────────────────────────────▶ │
//!       │                           │ ◀───────────────────── Loads  │
//!       │ ◀───────────────────────────────────────────────── Redrawn│
//!       │ ── Forget ──────────────▶ │  the application is over      │
//!       │ ◀── MachinesFree ──────── │  to whom it had none to give  │
//! ```
//!
//! A planner tells how long intervals would take on the machines that it would choose, and how long
//! it takes to get there; never which machines these are, how many, or how loaded. An application
//! discloses its models to every cluster that is asked.

use std::sync::Arc;

use haggle_model::observation::DisclosedItem;
use haggle_model::phased::Move;
use haggle_model::{ActorId, Job, JobId, Span};
use haggle_planning::Interval;
use serde::{Deserialize, Serialize};

use super::said::{Tells, protocol, said};

protocol! {
    /// What is said about plans, and about loads.
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
        /// Cluster to metascheduler: the first interval of its plan. Discloses that, and what the plan
        /// costs.
        Plan(plan: Box<Planned>) => said("plan").of(&plan.job).tells(DisclosedItem::Estimate),
        /// Cluster to metascheduler: no machine is free that can run it. Discloses that.
        NoMachines {
            /// The application.
            job: JobId,
        } => said("no_machines").of(job).tells(DisclosedItem::Refusal),
        /// Metascheduler to cluster: how long would these intervals take with you?
        TimesRequest(request: Box<TimesRequest>) => said("times_request")
            .of(&request.job.id)
            .tells(DisclosedItem::Job),
        /// Cluster to metascheduler: so long. Discloses each of these times.
        Times(times: Box<Times>) => said("times")
            .of(&times.job)
            .tells(Tells::Many(DisclosedItem::Estimate, times.count())),
        /// Metascheduler to cluster: run this interval. Discloses the application.
        RunInterval(order: Box<IntervalOrder>) => said("run_interval")
            .of(&order.job.id)
            .tells(DisclosedItem::Job),
        /// Cluster to metascheduler: it is on its way. Discloses that.
        Begun {
            /// The application.
            job: JobId,
        } => said("interval_begun").of(job).tells(DisclosedItem::JobStatus),
        /// Cluster to metascheduler: the machines for it are gone. Discloses that.
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
            /// Whether the checkpoint that it began with had come, and is here.
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
        /// Resource updates to cluster: this is available of you from now on.
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

/// A question for times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimesRequest {
    /// The application.
    pub job: Arc<Job>,
    /// Of these intervals.
    pub intervals: Vec<Interval>,
    /// The cluster that has its last checkpoint.
    pub from: Option<ActorId>,
}

/// What intervals would take on a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// The application.
    pub job: JobId,
    /// Of each interval on the best machines for it; none if no machine is free.
    pub least: Vec<Span>,
    /// Of each on the machines of the last interval; none if it was elsewhere, or these are not free.
    pub stay: Vec<Span>,
    /// How long the checkpoint takes to the best machines.
    pub moving: Span,
}

impl Times {
    fn count(&self) -> usize {
        self.least.len() + self.stay.len()
    }
}

/// An interval that is to be run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntervalOrder {
    /// The application.
    pub job: Arc<Job>,
    /// The phases.
    pub interval: Interval,
    /// Which of the application's intervals, from 1.
    pub number: u32,
    /// On the same machines as before, or on the best ones.
    pub how: Move,
    /// The cluster that has its checkpoint; `None` for the first interval.
    pub from: Option<ActorId>,
}

/// What is available of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterLoads {
    /// The available part of each processor.
    pub cpu: Vec<f64>,
    /// The available parts of the links between them.
    pub links: LinkLoads,
    /// The available part of the way to each cluster.
    pub ways: Vec<f64>,
}

/// What is available of the links between the machines of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LinkLoads {
    /// Of the link of each machine to all others.
    Uplinks(Vec<f64>),
    /// Of the link between each two: a row a machine.
    Pairs(Vec<Vec<f64>>),
}
