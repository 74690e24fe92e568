//! `policy` of `[grid]`: how the scheduler sends jobs to resources. Each policy has keys of its own, and becomes a
//! policy of the engine.

use crate::Rules;
use haggle_grids::GridPolicyRule;
use haggle_grids::workflows::{self, BalanceRules, StaticPolicy, WorkflowPolicy};
use haggle_grids::{
    Checkpointing, DynamicLimit, GridPolicy as Scheduler, LightLoad, SessionPolicy,
};
use haggle_model::work::Fraction;
use haggle_scheduling::Own;
use haggle_scheduling::own::NoSuchRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CancelMode, Estimate, LoadUnit, Outages, Prediction, Preference, StaticAlgorithm, words_alone,
};
use crate::quantity::{Name, Share, TimeSpan};

/// Rule by which a grid's scheduler sends jobs to resources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
#[serde(deny_unknown_fields)]
#[schemars(transform = words_alone)]
pub enum GridPolicy {
    /// First come, first served, each job to a random resource with a free slot; failures go unnoticed.
    Fcfs {},
    /// First job, best computational resource; failures go unnoticed.
    Fjbcr {
        /// Ranking of the resources.
        #[serde(default)]
        prefers: Preference,
    },
    /// The longest job to the best resource; failures go unnoticed.
    MaxMax {
        /// Ranking of the resources.
        #[serde(default)]
        prefers: Preference,
    },
    /// The shortest job to the best resource; failures go unnoticed.
    MinMax {
        /// Ranking of the resources.
        #[serde(default)]
        prefers: Preference,
    },
    /// `replicas.max` replicas of each job, under any load; failures go unnoticed.
    UnconditionalRep(Replicating<MaxReplicas>),
    /// Workqueue with replication: when no job waits, copies of running jobs start, up to `replicas.max`.
    Wqr(Replicating<MaxReplicas>),
    /// `replicas.max` replicas of each job while there is room, `replicas.min` under load.
    LoadDependentRep(Replicating<Replicas>),
    /// `replicas.max` replicas of each job; replicas known to have failed are replaced.
    DetectionAndReplication(Replicating<MaxReplicas>),
    /// As load-dependent-rep; replicas known to have failed are replaced.
    FailureDependentRep(Replicating<Replicas>),
    /// Up to `replicas.max` replicas while there is room, checkpoints under load.
    CombinedFt(Replicating<SwitchedReplicas>),
    /// FJBCR that restarts failed jobs, from their checkpoints if they write any.
    Migration {
        /// Ranking of the resources.
        #[serde(default)]
        prefers: Preference,
    },
    /// As migration; running jobs also move to resources where they end earlier.
    Rescheduling {
        /// Part of the remaining time that a job must save to move.
        #[serde(default = "nothing")]
        gain: Share,
        /// Ranking of the resources.
        #[serde(default)]
        prefers: Preference,
    },
    /// Tasks of a workflow with the same successor are placed so that they end together; failed tasks start again.
    Workflow {},
    /// As workflow; running tasks also move so that those with the same successor end together.
    BalancedWorkflow(BalancedWorkflow),
    /// Each task of a workflow goes to the resource chosen by a schedule that is made when the workflow arrives; a
    /// resource runs one task at a time.
    StaticWorkflow {
        /// Algorithm that makes the schedules of workflows.
        #[serde(default)]
        algorithm: StaticAlgorithm,
        /// Treatment of tasks that have not been sent when resources fail or work again.
        #[serde(default)]
        outages: Outages,
    },
    /// Sessions, which reserve a share: each goes to the resource with most sessions of its user, or is rejected.
    UserClustering {},
    /// Sessions, each to the first resource with enough room, or rejected.
    FullFill {},
    /// Sessions, each to the next resource in turn with enough room, or rejected.
    FullFillRoundRobin {},
    /// As full-fill-round-robin; a share above `limit` is rejected.
    WithLimit {
        /// Largest share that is accepted.
        limit: Share,
    },
    /// As full-fill-round-robin; each resource keeps room for light sessions, by Erlang's B formula.
    WithDynamicLimit(LightSessions),
    /// A rule of one's own, by its name; a program of one's own supplies it (docs/own-rules.md).
    #[serde(untagged)]
    Own {
        /// Its name.
        own: Name,
        /// Ranking of the resources that is passed to the rule.
        #[serde(default)]
        prefers: Preference,
        /// Time at which the other replicas of a job are cancelled, once the job can no longer be lost.
        #[serde(default, rename = "cancel-mode")]
        cancel_mode: CancelMode,
    },
}

impl GridPolicy {
    /// The policy that it describes, which may be one of these rules, of a grid whose jobs write checkpoints or not.
    ///
    /// # Errors
    /// If it names another rule.
    pub fn scheduler(&self, checkpointing: bool, own: &Rules) -> Result<Scheduler, NoSuchRule> {
        Ok(match self {
            GridPolicy::Fcfs {} => Scheduler::Fcfs,
            GridPolicy::Fjbcr { .. } => Scheduler::Fjbcr,
            GridPolicy::MaxMax { .. } => Scheduler::MaxMax,
            GridPolicy::MinMax { .. } => Scheduler::MinMax,
            GridPolicy::UnconditionalRep(it) => Scheduler::UnconditionalRep(it.replicas.max),
            GridPolicy::Wqr(it) => Scheduler::Wqr(it.replicas.max),
            GridPolicy::LoadDependentRep(it) => Scheduler::LoadDependentRep(it.replicas.counts()),
            GridPolicy::DetectionAndReplication(it) => {
                Scheduler::DetectionAndReplication(it.replicas.max)
            }
            GridPolicy::FailureDependentRep(it) => {
                Scheduler::FailureDependentRep(it.replicas.counts())
            }
            GridPolicy::CombinedFt(Replicating { replicas: it, .. }) => {
                let resume = it.resume.unwrap_or(it.room).into();
                Scheduler::CombinedFt { replicas: it.replicas().counts(), resume }
            }
            GridPolicy::Migration { .. } => Scheduler::Migration { checkpointing },
            GridPolicy::Rescheduling { gain, .. } => {
                Scheduler::Rescheduling { gain: gain.exact(), checkpointing }
            }
            GridPolicy::Workflow {} => Scheduler::Workflow(WorkflowPolicy {
                balance: None,
                prediction: workflows::Prediction::default(),
                bound: Fraction::ONE,
                estimate: Estimate::default(),
                checkpointing,
            }),
            GridPolicy::BalancedWorkflow(it) => Scheduler::Workflow(WorkflowPolicy {
                balance: Some(BalanceRules {
                    floor: it.floor.0,
                    gain: it.gain.exact(),
                    group: it.group,
                    evicts: it.evict,
                    counts_checkpoint: it.counts_checkpoint,
                }),
                prediction: it.prediction.among(&own.predictions)?,
                bound: Fraction::from_ppm((it.bound * 1e6).round() as u32),
                estimate: it.estimate,
                checkpointing,
            }),
            GridPolicy::StaticWorkflow { algorithm, outages } => {
                let (by, outages) = (*algorithm, *outages);
                Scheduler::StaticWorkflow(StaticPolicy { by, outages, checkpointing })
            }
            GridPolicy::UserClustering {} => Scheduler::Sessions(SessionPolicy::UserClustering),
            GridPolicy::FullFill {} => Scheduler::Sessions(SessionPolicy::FullFill),
            GridPolicy::FullFillRoundRobin {} => Scheduler::Sessions(SessionPolicy::RoundRobin),
            GridPolicy::WithLimit { limit } => {
                Scheduler::Sessions(SessionPolicy::Limit(limit.reserved()))
            }
            GridPolicy::WithDynamicLimit(it) => {
                Scheduler::Sessions(SessionPolicy::DynamicLimit(DynamicLimit {
                    light: it.light.reserved(),
                    blocking: it.blocking.exact(),
                    initial: LightLoad {
                        inter_arrival: it.between.0,
                        holding: it.holding.0,
                        share: it.share.unwrap_or(it.light).reserved(),
                    },
                }))
            }
            GridPolicy::Own { own: name, .. } => {
                Scheduler::Own(own.grid_policies.get(name.as_str())?)
            }
        })
    }

    /// True if the policy sends replicas of jobs.
    pub const fn replicates(&self) -> bool {
        matches!(
            self,
            GridPolicy::UnconditionalRep(_)
                | GridPolicy::Wqr(_)
                | GridPolicy::LoadDependentRep(_)
                | GridPolicy::DetectionAndReplication(_)
                | GridPolicy::FailureDependentRep(_)
                | GridPolicy::CombinedFt(_)
        )
    }

    /// True if the jobs of the policy are sessions, which reserve a share of a resource or are rejected.
    pub const fn takes_sessions(&self) -> bool {
        matches!(
            self,
            GridPolicy::UserClustering {}
                | GridPolicy::FullFill {}
                | GridPolicy::FullFillRoundRobin {}
                | GridPolicy::WithLimit { .. }
                | GridPolicy::WithDynamicLimit(_)
        )
    }

    /// True if jobs may write checkpoints under the policy; a rule of one's own states it itself.
    pub fn takes_checkpoints(&self, own: &Rules) -> bool {
        if let GridPolicy::Own { own: name, .. } = self {
            let found = own.grid_policies.get(name.as_str());
            // Nothing is known of one that is not there.
            let never =
                |it: Own<GridPolicyRule>| (it.rule)(1).checkpointing() == Checkpointing::Never;
            return !found.is_ok_and(never);
        }
        matches!(
            self,
            GridPolicy::CombinedFt(_)
                | GridPolicy::Migration { .. }
                | GridPolicy::Rescheduling { .. }
                | GridPolicy::Workflow {}
                | GridPolicy::BalancedWorkflow(_)
                | GridPolicy::StaticWorkflow { .. }
        )
    }

    /// Ranking of the resources; without meaning for policies that need none.
    pub fn prefers(&self) -> Preference {
        match self {
            GridPolicy::Fjbcr { prefers }
            | GridPolicy::MaxMax { prefers }
            | GridPolicy::MinMax { prefers }
            | GridPolicy::Migration { prefers }
            | GridPolicy::Rescheduling { prefers, .. }
            | GridPolicy::Own { prefers, .. } => *prefers,
            _ => Preference::default(),
        }
    }

    /// Time at which other replicas are cancelled; without meaning where a job has one.
    pub fn cancel_mode(&self) -> CancelMode {
        match self {
            GridPolicy::UnconditionalRep(it)
            | GridPolicy::Wqr(it)
            | GridPolicy::DetectionAndReplication(it) => it.cancel_mode,
            GridPolicy::LoadDependentRep(it) | GridPolicy::FailureDependentRep(it) => {
                it.cancel_mode
            }
            GridPolicy::CombinedFt(it) => it.cancel_mode,
            GridPolicy::Own { cancel_mode, .. } => *cancel_mode,
            _ => CancelMode::default(),
        }
    }
}

fn nothing() -> Share {
    "0%".parse().expect("a share")
}

/// The keys of policies that send replicas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Replicating<R: Default> {
    /// Numbers of replicas of a job.
    pub replicas: R,
    /// Time at which the other replicas of a job are cancelled, once the job can no longer be lost.
    pub cancel_mode: CancelMode,
}

/// Number of replicas of a job, each on another resource.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct MaxReplicas {
    /// Rep_max: most replicas of a job.
    #[schemars(range(min = 1, max = 1_000))]
    pub max: u32,
}

impl Default for MaxReplicas {
    fn default() -> MaxReplicas {
        MaxReplicas { max: 2 }
    }
}

/// Numbers of replicas of a job under load and without, each on another resource.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Replicas {
    /// Rep_min: under load.
    #[schemars(range(min = 1, max = 1_000))]
    pub min: u32,
    /// Rep_max: while there is room.
    #[schemars(range(min = 1, max = 1_000))]
    pub max: u32,
    /// CL: there is room while at least this much is left for the next job.
    pub room: u32,
    /// Unit in which room is counted.
    pub unit: LoadUnit,
}

impl Default for Replicas {
    fn default() -> Replicas {
        Replicas { min: 1, max: 2, room: 1, unit: LoadUnit::default() }
    }
}

impl Replicas {
    fn counts(self) -> haggle_grids::Replicas {
        let Replicas { min, max, room, unit } = self;
        haggle_grids::Replicas { min, max, room: room.into(), unit }
    }
}

/// Numbers of replicas of a job, and the room at which checkpoints replace replicas.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SwitchedReplicas {
    /// Rep_min: under load.
    #[schemars(range(min = 1, max = 1_000))]
    pub min: u32,
    /// Rep_max: while there is room.
    #[schemars(range(min = 1, max = 1_000))]
    pub max: u32,
    /// CL: there is room while at least this much is left for the next job.
    pub room: u32,
    /// Room at which replication begins again; without it, `room`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<u32>,
    /// Unit in which room is counted.
    pub unit: LoadUnit,
}

impl Default for SwitchedReplicas {
    fn default() -> SwitchedReplicas {
        let Replicas { min, max, room, unit } = Replicas::default();
        SwitchedReplicas { min, max, room, resume: None, unit }
    }
}

impl SwitchedReplicas {
    /// The numbers that other policies have too.
    pub const fn replicas(&self) -> Replicas {
        Replicas { min: self.min, max: self.max, room: self.room, unit: self.unit }
    }
}

/// Moves of running tasks (Chtepen 2011, section 5.5): the keys of policy "balanced-workflow".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct BalancedWorkflow {
    /// Part of the remaining time that a task must save to move.
    pub gain: Share,
    /// RE_min: a task with at most this remaining time stays.
    pub floor: TimeSpan,
    /// θ: number of resources of a site, of about the same speed, that are examined as one.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub group: u32,
    /// True if the root of a workflow leaves a resource that a task of a set can use.
    pub evict: bool,
    /// True if the predicted time of a move includes its checkpoint and its recovery, beside the transfer of its data.
    pub counts_checkpoint: bool,
    /// Prediction of the length of a running task.
    pub prediction: Prediction,
    /// With "curve-fit": a limit above this multiple of the largest length that a task has reported is not used as a
    /// prediction.
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub bound: f64,
    /// Progress of a running task from which its length is estimated.
    pub estimate: Estimate,
}

impl Default for BalancedWorkflow {
    fn default() -> BalancedWorkflow {
        BalancedWorkflow {
            gain: nothing(),
            floor: TimeSpan::ZERO,
            group: 1,
            evict: true,
            counts_checkpoint: true,
            prediction: Prediction::default(),
            bound: 2.0,
            estimate: Estimate::default(),
        }
    }
}

/// Light sessions, for which room is kept: the keys of policy "with-dynamic-limit".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LightSessions {
    /// L0: largest share of a light session.
    pub light: Share,
    /// B*: share of light sessions that may be blocked, by Erlang's B formula.
    #[serde(default = "five_percent")]
    pub blocking: Share,
    /// Mean time between light sessions, assumed until 30 of them have ended.
    pub between: TimeSpan,
    /// Mean duration of a light session, assumed until 30 of them have ended.
    pub holding: TimeSpan,
    /// Mean share that a light session requests, assumed until 30 of them have ended; `light` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
}

fn five_percent() -> Share {
    "5%".parse().expect("a share")
}
