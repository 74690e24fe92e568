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
use crate::own::Own;
use haggle_model::work::Fraction;

/// The rule by which jobs are sent to resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridPolicy {
    /// First come, first served, to random resources.
    Fcfs,
    /// First job, best computational resource.
    Fjbcr,
    /// The longest job to the best resource.
    MaxMax,
    /// The shortest job to the best resource.
    MinMax,
    /// So many replicas of each job, whatever happens.
    UnconditionalRep(u32),
    /// Up to so many replicas of those jobs that run when none waits.
    Wqr(u32),
    /// More replicas while there is room.
    LoadDependentRep(Replicas),
    /// So many replicas of each job; what is seen to have failed is replaced.
    DetectionAndReplication(u32),
    /// More replicas while there is room; what is seen to have failed is replaced.
    FailureDependentRep(Replicas),
    /// Replicas while there is room, checkpoints under load.
    CombinedFt {
        /// How many, and when there is room.
        replicas: Replicas,
        /// Replication begins again when so much is left for the next job.
        resume: u64,
    },
    /// FJBCR that starts jobs again that were seen to have failed.
    Migration {
        /// Whether jobs write checkpoints and start from them.
        checkpointing: bool,
    },
    /// As [`GridPolicy::Migration`], and jobs move to where they end earlier.
    Rescheduling {
        /// θ: the part of the time left that a move has to save.
        gain: Fraction,
        /// Whether jobs write checkpoints and start from them.
        checkpointing: bool,
    },
    /// Tasks of workflows that end together, see [`WorkflowScheduler`].
    Workflow(WorkflowPolicy),
    /// Tasks of workflows where static schedules put them, see [`StaticScheduler`].
    StaticWorkflow(StaticPolicy),
    /// Sessions that reserve a share of a resource, or are rejected.
    Sessions(SessionPolicy),
    /// A scheduler from outside, which is made for so many resources. A job of it counts as lost when it has no
    /// replica left.
    Own(Own<fn(u32) -> Box<dyn GridScheduler>>),
}

impl GridPolicy {
    /// All policies of ours, in the order of the manual.
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

    /// The scheduler of so many resources.
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

    /// Whether jobs that run may be told to go on elsewhere.
    pub const fn moves(self) -> bool {
        matches!(
            self,
            GridPolicy::Rescheduling { .. }
                | GridPolicy::Own(_)
                | GridPolicy::Workflow(WorkflowPolicy { balance: Some(_), .. })
        )
    }

    /// Whether it may ask how far jobs are.
    pub const fn asks_progress(self) -> bool {
        matches!(
            self,
            GridPolicy::CombinedFt { .. }
                | GridPolicy::Rescheduling { .. }
                | GridPolicy::Workflow(_)
                | GridPolicy::Own(_)
        )
    }

    /// How many replicas a job gets in all; for the count of jobs that are lost
    /// though more replicas are to follow, see [`fate`](haggle_model::grid::fate).
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
    use crate::grid::LoadUnit;

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
