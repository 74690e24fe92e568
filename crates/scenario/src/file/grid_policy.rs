//! `policy` of `[grid]`: how the scheduler sends jobs to resources, with the keys that each policy has of its own,
//! and the policy of the engine that it makes of them.

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

/// How a grid's scheduler sends jobs to resources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
#[serde(deny_unknown_fields)]
#[schemars(transform = words_alone)]
pub enum GridPolicy {
    /// First come, first served, each job to a random resource that has a slot; failures go unnoticed.
    Fcfs {},
    /// First job, best computational resource; failures go unnoticed.
    Fjbcr {
        /// Which resource is the best one.
        #[serde(default)]
        prefers: Preference,
    },
    /// The longest job to the best resource; failures go unnoticed.
    MaxMax {
        /// Which resource is the best one.
        #[serde(default)]
        prefers: Preference,
    },
    /// The shortest job to the best resource; failures go unnoticed.
    MinMax {
        /// Which resource is the best one.
        #[serde(default)]
        prefers: Preference,
    },
    /// `replicas.max` replicas of each job, whatever happens; failures go unnoticed.
    UnconditionalRep(Replicating<MaxReplicas>),
    /// Workqueue with replication: copies of jobs that run when none waits, up to `replicas.max`.
    Wqr(Replicating<MaxReplicas>),
    /// `replicas.max` replicas of each job while there is room, `replicas.min` under load.
    LoadDependentRep(Replicating<Replicas>),
    /// `replicas.max` replicas of each job; those seen to have failed are replaced.
    DetectionAndReplication(Replicating<MaxReplicas>),
    /// As load-dependent-rep; replicas seen to have failed are replaced.
    FailureDependentRep(Replicating<Replicas>),
    /// Up to `replicas.max` replicas while there is room, checkpoints under load.
    CombinedFt(Replicating<SwitchedReplicas>),
    /// FJBCR that starts failed jobs again, from their checkpoints if they write any.
    Migration {
        /// Which resource is the best one.
        #[serde(default)]
        prefers: Preference,
    },
    /// As migration, and jobs that run move to where they end earlier.
    Rescheduling {
        /// What part of the time left a job must save to move.
        #[serde(default = "nothing")]
        gain: Share,
        /// Which resource is the best one.
        #[serde(default)]
        prefers: Preference,
    },
    /// Tasks of a workflow with the same successor are placed so that they end together; failed ones
    /// start again.
    Workflow {},
    /// As workflow, and tasks that run move so that those with the same successor end together.
    BalancedWorkflow(BalancedWorkflow),
    /// Each task of a workflow where a schedule has put it that was made when the workflow came; one task of a
    /// resource at a time.
    StaticWorkflow {
        /// Who makes the schedules of workflows.
        #[serde(default)]
        algorithm: StaticAlgorithm,
        /// What becomes of tasks that have not been sent when resources fail or work again.
        #[serde(default)]
        outages: Outages,
    },
    /// Sessions, which reserve a share: each where most of its user's are, or rejected.
    UserClustering {},
    /// Sessions, each to the first resource with enough left, or rejected.
    FullFill {},
    /// Sessions, each to the next resource in turn with enough left, or rejected.
    FullFillRoundRobin {},
    /// As full-fill-round-robin; a share above `limit` is rejected.
    WithLimit {
        /// Largest share that is accepted.
        limit: Share,
    },
    /// As full-fill-round-robin; each resource keeps room for light sessions, by Erlang's B formula.
    WithDynamicLimit(LightSessions),
    /// A rule of one's own, by its name; a program of one's own brings it (docs/own-rules.md).
    #[serde(untagged)]
    Own {
        /// Its name.
        own: Name,
        /// Which resource it is told to be the best one.
        #[serde(default)]
        prefers: Preference,
        /// When the other replicas of a job are cancelled once it cannot be lost any more.
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

    /// Whether it sends replicas of jobs.
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

    /// Whether its jobs are sessions, which reserve a share of a resource or are rejected.
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

    /// Whether its jobs may write checkpoints; one of these rules says so of itself.
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

    /// Which resource is the best one; for policies that ask for none, that does not matter.
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

    /// When other replicas are cancelled; where a job has one, that does not matter.
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
    /// How many replicas of a job there are.
    pub replicas: R,
    /// When the other replicas of a job are cancelled once it cannot be lost any more.
    pub cancel_mode: CancelMode,
}

/// How many replicas of a job there are, each on another resource.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct MaxReplicas {
    /// Rep_max: how many there are at most.
    #[schemars(range(min = 1, max = 1_000))]
    pub max: u32,
}

impl Default for MaxReplicas {
    fn default() -> MaxReplicas {
        MaxReplicas { max: 2 }
    }
}

/// How many replicas of a job there are under load and without, each on another resource.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Replicas {
    /// Rep_min: under load.
    #[schemars(range(min = 1, max = 1_000))]
    pub min: u32,
    /// Rep_max: while there is room.
    #[schemars(range(min = 1, max = 1_000))]
    pub max: u32,
    /// CL: there is room while so much is left for the next job.
    pub room: u32,
    /// In what room is counted.
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

/// How many replicas of a job there are, and when there are checkpoints instead.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SwitchedReplicas {
    /// Rep_min: under load.
    #[schemars(range(min = 1, max = 1_000))]
    pub min: u32,
    /// Rep_max: while there is room.
    #[schemars(range(min = 1, max = 1_000))]
    pub max: u32,
    /// CL: there is room while so much is left for the next job.
    pub room: u32,
    /// Replication begins again when so much is left; without it, `room`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<u32>,
    /// In what room is counted.
    pub unit: LoadUnit,
}

impl Default for SwitchedReplicas {
    fn default() -> SwitchedReplicas {
        let Replicas { min, max, room, unit } = Replicas::default();
        SwitchedReplicas { min, max, room, resume: None, unit }
    }
}

impl SwitchedReplicas {
    /// The numbers that other policies have, too.
    pub const fn replicas(&self) -> Replicas {
        Replicas { min: self.min, max: self.max, room: self.room, unit: self.unit }
    }
}

/// When tasks that run move (Chtepen 2011, section 5.5): the keys of policy "balanced-workflow".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct BalancedWorkflow {
    /// What part of the time left a task must save to move.
    pub gain: Share,
    /// RE_min: a task that needs no longer than this stays.
    pub floor: TimeSpan,
    /// θ: so many resources of a site that are about as fast are looked at as one.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub group: u32,
    /// Whether the root of a workflow leaves a resource that a task of a set can use.
    pub evict: bool,
    /// Whether a move is thought to take the time for its checkpoint and its recovery, beside that for its data.
    pub counts_checkpoint: bool,
    /// How the length of a task that runs is predicted.
    pub prediction: Prediction,
    /// With "curve-fit": a limit above so many times the largest length that a task has reported is no prediction.
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub bound: f64,
    /// By what a task that runs has got on when its length is estimated.
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

/// For which sessions room is kept: the keys of policy "with-dynamic-limit".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LightSessions {
    /// L0: sessions that ask for this share or less are light.
    pub light: Share,
    /// B*: share of light sessions that may be blocked, by Erlang's B formula.
    #[serde(default = "five_percent")]
    pub blocking: Share,
    /// Mean time between light sessions, as it is thought to be until 30 of them have ended.
    pub between: TimeSpan,
    /// Mean time for which a light session lasts, likewise.
    pub holding: TimeSpan,
    /// Mean share that a light session asks for, likewise; `light` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
}

fn five_percent() -> Share {
    "5%".parse().expect("a share")
}
