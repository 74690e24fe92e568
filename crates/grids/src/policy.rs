//! Any policy of a grid's scheduler, as a scenario describes it.

use std::fmt;

use super::combined::CombinedFt;
use super::queues::QueueScheduler;
use super::replication::{Replicas, Replication};
use super::rescheduling::Rescheduling;
use super::scheduler::GridScheduler;
use super::sessions::{SessionPolicy, SessionScheduler};
use super::view::Detection;
use super::workflows::{StaticPolicy, StaticScheduler, WorkflowPolicy, WorkflowScheduler};
use super::wqr::Wqr;
use haggle_model::work::Fraction;
use haggle_scheduling::own::Own;
use serde::{Deserialize, Serialize};

/// The rule by which jobs are sent to resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GridPolicy {
    /// First come, first served, to random resources.
    Fcfs,
    /// First job, best computational resource.
    Fjbcr,
    /// The longest job to the best resource.
    MaxMax,
    /// The shortest job to the best resource.
    MinMax,
    /// A fixed number of replicas of each job.
    UnconditionalRep(u32),
    /// Up to this many replicas of running jobs when no job waits.
    Wqr(u32),
    /// More replicas while there is room.
    LoadDependentRep(Replicas),
    /// A fixed number of replicas of each job; replicas noticed to have failed are replaced.
    DetectionAndReplication(u32),
    /// More replicas while there is room; replicas noticed to have failed are replaced.
    FailureDependentRep(Replicas),
    /// Replicas while there is room, checkpoints under load.
    CombinedFt {
        /// Numbers of replicas, and the definition of room.
        replicas: Replicas,
        /// Replication begins again when this much room is left for the next job.
        resume: u64,
    },
    /// FJBCR that restarts jobs noticed to have failed.
    Migration {
        /// True if jobs write checkpoints and start from them.
        checkpointing: bool,
    },
    /// As [`GridPolicy::Migration`], and jobs move to resources where they end earlier.
    Rescheduling {
        /// θ: the part of the remaining time that a move must save.
        gain: Fraction,
        /// True if jobs write checkpoints and start from them.
        checkpointing: bool,
    },
    /// Tasks of workflows that end together, see [`WorkflowScheduler`].
    Workflow(WorkflowPolicy),
    /// Tasks of workflows at the places of static schedules, see [`StaticScheduler`].
    StaticWorkflow(StaticPolicy),
    /// Sessions that reserve a share of a resource, or are rejected.
    Sessions(SessionPolicy),
    /// A scheduler from outside, which is created for a number of resources. A job of it counts as lost
    /// when it has no replica left.
    Own(Own<fn(u32) -> Box<dyn GridScheduler>>),
}

impl GridPolicy {
    /// All built-in policies, in the order of the manual.
    pub const NAMES: [&str; 20] = [
        "fcfs",
        "fjbcr",
        "max-max",
        "min-max",
        "unconditional-rep",
        "wqr",
        "load-dependent-rep",
        "detection-and-replication",
        "failure-dependent-rep",
        "combined-ft",
        "migration",
        "rescheduling",
        "workflow",
        "balanced-workflow",
        "static-workflow",
        "user-clustering",
        "full-fill",
        "full-fill-round-robin",
        "with-limit",
        "with-dynamic-limit",
    ];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            GridPolicy::Fcfs => "fcfs",
            GridPolicy::Fjbcr => "fjbcr",
            GridPolicy::MaxMax => "max-max",
            GridPolicy::MinMax => "min-max",
            GridPolicy::UnconditionalRep(_) => "unconditional-rep",
            GridPolicy::Wqr(_) => "wqr",
            GridPolicy::LoadDependentRep(_) => "load-dependent-rep",
            GridPolicy::DetectionAndReplication(_) => "detection-and-replication",
            GridPolicy::FailureDependentRep(_) => "failure-dependent-rep",
            GridPolicy::CombinedFt { .. } => "combined-ft",
            GridPolicy::Migration { .. } => "migration",
            GridPolicy::Rescheduling { .. } => "rescheduling",
            GridPolicy::Workflow(WorkflowPolicy { balance: None, .. }) => "workflow",
            GridPolicy::Workflow(_) => "balanced-workflow",
            GridPolicy::StaticWorkflow(_) => "static-workflow",
            GridPolicy::Sessions(policy) => policy.name(),
            GridPolicy::Own(own) => own.name,
        }
    }

    /// The scheduler of `resources` resources.
    pub fn build(self, resources: u32) -> Box<dyn GridScheduler> {
        const NOTICED: Detection = Detection::RestartReport;
        match self {
            GridPolicy::Fcfs => Box::new(QueueScheduler::FCFS),
            GridPolicy::Fjbcr => Box::new(QueueScheduler::FJBCR),
            GridPolicy::MaxMax => Box::new(QueueScheduler::MAX_MAX),
            GridPolicy::MinMax => Box::new(QueueScheduler::MIN_MAX),
            GridPolicy::UnconditionalRep(count) => Box::new(Replication::unconditional(count)),
            GridPolicy::Wqr(max) => Box::new(Wqr { max }),
            GridPolicy::LoadDependentRep(replicas) => {
                Box::new(Replication::load_dependent(replicas))
            }
            GridPolicy::DetectionAndReplication(count) => {
                Box::new(Replication::with_detection(count))
            }
            GridPolicy::FailureDependentRep(replicas) => {
                Box::new(Replication::failure_dependent(replicas))
            }
            GridPolicy::CombinedFt { replicas, resume } => {
                Box::new(CombinedFt::new(replicas).with_hysteresis(resume))
            }
            GridPolicy::Migration { checkpointing } => {
                Box::new(QueueScheduler::FJBCR.with_recovery(NOTICED, checkpointing))
            }
            GridPolicy::Rescheduling { gain, checkpointing } => {
                Box::new(Rescheduling { gain, checkpointing, detection: NOTICED })
            }
            GridPolicy::Workflow(policy) => Box::new(WorkflowScheduler::new(policy)),
            GridPolicy::StaticWorkflow(policy) => Box::new(StaticScheduler::new(policy, resources)),
            GridPolicy::Sessions(policy) => Box::new(SessionScheduler::new(policy, resources)),
            GridPolicy::Own(own) => (own.rule)(resources),
        }
    }

    /// Returns whether running jobs may be moved to other resources.
    pub const fn moves(self) -> bool {
        matches!(
            self,
            GridPolicy::Rescheduling { .. }
                | GridPolicy::Own(_)
                | GridPolicy::Workflow(WorkflowPolicy { balance: Some(_), .. })
        )
    }

    /// Returns whether it may request the progress of jobs.
    pub const fn asks_progress(self) -> bool {
        matches!(
            self,
            GridPolicy::CombinedFt { .. }
                | GridPolicy::Rescheduling { .. }
                | GridPolicy::Workflow(_)
                | GridPolicy::Own(_)
        )
    }

    /// Total number of replicas of a job. It is used to count jobs that are lost although more replicas
    /// would follow, see [`fate`](haggle_model::grid::fate).
    pub const fn replicas(self) -> u32 {
        match self {
            GridPolicy::UnconditionalRep(count)
            | GridPolicy::Wqr(count)
            | GridPolicy::DetectionAndReplication(count) => count,
            GridPolicy::LoadDependentRep(replicas)
            | GridPolicy::FailureDependentRep(replicas)
            | GridPolicy::CombinedFt { replicas, .. } => replicas.max,
            _ => 1,
        }
    }
}

/// Such as `fcfs`, `unconditional-rep (2)` or `combined-ft (1 to 3)`.
impl fmt::Display for GridPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            GridPolicy::UnconditionalRep(count)
            | GridPolicy::Wqr(count)
            | GridPolicy::DetectionAndReplication(count) => write!(f, " ({count})"),
            GridPolicy::LoadDependentRep(replicas)
            | GridPolicy::FailureDependentRep(replicas)
            | GridPolicy::CombinedFt { replicas, .. } => {
                write!(f, " ({} to {})", replicas.min, replicas.max)
            }
            GridPolicy::StaticWorkflow(policy) => write!(f, " ({})", policy.by),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LoadUnit;

    #[test]
    fn policies_print_with_their_replicas() {
        let replicas = Replicas { min: 1, max: 3, room: 40, unit: LoadUnit::Resources };
        let combined = GridPolicy::CombinedFt { replicas, resume: 40 };
        assert_eq!(combined.to_string(), "combined-ft (1 to 3)");
        assert_eq!(GridPolicy::UnconditionalRep(2).to_string(), "unconditional-rep (2)");
        assert_eq!(GridPolicy::Fcfs.to_string(), "fcfs");
        assert_eq!(combined.replicas(), 3);
    }
}
