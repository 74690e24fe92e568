//! `[provider.priority]`, `[[provider.queue]]`, `[[provider.qos]]` and `[[provider.account]]`: the rules of a site.

use haggle_model::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{Bytes, Name, TimeSpan};

/// A queue of a provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Queue {
    /// Name of the queue.
    pub name: Name,
    /// Queue number of its jobs, as in their log. Jobs without a number are in the first queue; jobs with the number of no
    /// queue are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub number: Option<i32>,
    /// Partition number of its jobs, in place of `number`. All queues of a provider go by the same number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub partition: Option<i32>,
    /// Jobs in queues of a higher tier are considered first.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 65_533))]
    pub tier: u32,
    /// Priority of the queue. The factor of a job's queue is this number, divided by that of the highest queue. Read with
    /// a weight `queue` of `priority` only.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(max = 1_000_000_000))]
    pub priority: u32,
    /// Names of the node groups on which its jobs run; all nodes if not given. Groups may belong to several queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub nodes: Option<Vec<Name>>,
    /// Numbers of the users whose jobs it takes; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<Vec<i32>>,
    /// Numbers of the groups whose jobs it takes; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<i32>>,
    /// Longest requested time of a job. Longer jobs, and jobs without a requested time, are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<TimeSpan>,
    /// Most processors of a job. Wider jobs are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub widest: Option<u32>,
    /// Names of the queues whose running jobs are stopped for its own, if these start earlier then. The first job of the queue
    /// of some nodes that no limit keeps from its start stops others there, those that started last first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preempts: Vec<Name>,
    /// Treatment of its own jobs, if they are stopped for others. Read only if another queue names it in `preempts`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_preemption: OnPreemption,
    /// Time for which its own jobs go on from the decision to stop them; none if not given. Read only if another queue names it
    /// in `preempts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace: Option<TimeSpan>,
    /// Limits on all jobs of the queue together.
    #[serde(default, skip_serializing_if = "Limits::are_none")]
    pub limits: Limits,
    /// Limits on the jobs of each user in the queue.
    #[serde(default, skip_serializing_if = "Limits::are_none")]
    pub user_limits: Limits,
    /// Limits on the jobs of each account in the queue.
    #[serde(default, skip_serializing_if = "Limits::are_none")]
    pub account_limits: Limits,
}

/// A quality of service (QOS): a class of jobs with a priority and limits of its own, beside those of their queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Qos {
    /// Name of the quality of service.
    pub name: Name,
    /// Queue number of its jobs, as in their log. Jobs without a number have no quality of service; jobs with the number of
    /// none are refused. The queues of the provider must go by `partition`.
    #[schemars(range(min = 0))]
    pub number: i32,
    /// Its priority. The factor of a job is this number, divided by the highest one. Read with a weight `qos` of
    /// `priority` only.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(max = 1_000_000_000))]
    pub priority: u32,
    /// True if its limits replace those of the queue where both limit the same. Otherwise, the limits of the queue count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_queue: bool,
    /// Numbers of the users whose jobs it takes; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<Vec<i32>>,
    /// Numbers of the groups whose jobs it takes; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<i32>>,
    /// Longest requested time of a job. Longer jobs, and jobs without a requested time, are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<TimeSpan>,
    /// Most processors of a job. Wider jobs are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub widest: Option<u32>,
    /// Names of the qualities of service whose running jobs are stopped for its own, as `preempts` of a queue. Only one of
    /// both kinds may have it at a provider.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preempts: Vec<Name>,
    /// Treatment of its own jobs, if they are stopped for others. Read only if another one names it in `preempts`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_preemption: OnPreemption,
    /// Time for which its own jobs go on from the decision to stop them; none if not given. Read only if another one names it
    /// in `preempts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace: Option<TimeSpan>,
    /// Limits on all of its jobs together.
    #[serde(default, skip_serializing_if = "Limits::are_none")]
    pub limits: Limits,
    /// Limits on its jobs of each user.
    #[serde(default, skip_serializing_if = "Limits::are_none")]
    pub user_limits: Limits,
    /// Limits on its jobs of each account.
    #[serde(default, skip_serializing_if = "Limits::are_none")]
    pub account_limits: Limits,
}

/// Treatment of a job that is stopped for another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnPreemption {
    /// It waits again, behind all others. It starts from the beginning, or from its last checkpoint if it writes some.
    #[default]
    Requeue,
    /// It is over: `cancelled`.
    Cancel,
}

/// Limits on jobs together. Jobs that would exceed a limit on running jobs or on resources wait. Jobs that would exceed a
/// limit on submitted jobs are refused, and so is a job that exceeds a limit alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Limits {
    /// Most running jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub running: Option<u32>,
    /// Most waiting and running jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub submitted: Option<u32>,
    /// Most processors of running jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub processors: Option<u32>,
    /// Most memory of running jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Most nodes of running jobs, each counted for each of its jobs. Without nodes, each processor is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub nodes: Option<u32>,
    /// Most accelerators of running jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub gpus: Option<u32>,
}

impl Limits {
    fn are_none(&self) -> bool {
        *self == Limits::default()
    }
}

/// An account: its users have a common share of the machine, and common limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Account {
    /// Name of the account.
    pub name: Name,
    /// Name of the account above it, which is listed before it; without it, the account is at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Name>,
    /// Group numbers of its jobs, as in their log. Jobs without a group are in the first account that lists their user. All
    /// other users are at the top, beside the accounts without a parent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<i32>,
    /// Shares among the accounts and users beside it. Read with a weight `fair-share` of `priority` only.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(max = 1_000_000))]
    pub shares: u32,
    /// Some of its users with their shares; all others have one share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<AccountUser>,
    /// Limits on all jobs of the account, and of those below it.
    #[serde(default, skip_serializing_if = "Limits::are_none")]
    pub limits: Limits,
    /// Limits on the jobs of each of its users.
    #[serde(default, skip_serializing_if = "UserLimits::are_none")]
    pub user_limits: UserLimits,
    /// Longest requested time of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<TimeSpan>,
    /// Most processors of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub widest: Option<u32>,
}

/// A user of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AccountUser {
    /// Number of the user.
    pub user: i32,
    /// Shares among the users of the account.
    #[schemars(range(max = 1_000_000))]
    pub shares: u32,
}

/// Limits on the jobs of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct UserLimits {
    /// Most running jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub running: Option<u32>,
    /// Most waiting and running jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub submitted: Option<u32>,
}

impl UserLimits {
    fn are_none(&self) -> bool {
        *self == UserLimits::default()
    }
}

/// Priorities of a provider's jobs, by factors that change with time: larger priorities go first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Priority {
    /// The weight of each factor.
    pub weights: PriorityWeights,
    /// Waiting time at which the factor of age is 1.
    #[serde(default = "a_week")]
    pub max_age: TimeSpan,
    /// Jobs that the factor of size favours.
    #[serde(default)]
    pub favours: Favours,
    /// Definition of the factor of fair share.
    #[serde(default)]
    pub fair_share: FairShareRule,
    /// Exponent by which usage lowers the factor: 2^(-usage / (shares x dampening)). 1 if not given. Read with `fair-share
    /// = "classic"` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub dampening: Option<f64>,
    /// Time after which past usage counts half; "0s": past usage always counts in full.
    #[serde(default = "a_week")]
    pub half_life: TimeSpan,
    /// Time between two calculations of the priorities.
    #[serde(default = "five_minutes")]
    pub calculation_period: TimeSpan,
}

/// The weight of each factor of a priority.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PriorityWeights {
    /// Of the waiting time.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(max = 1_000_000_000))]
    pub age: u32,
    /// Of the user's fair share.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(max = 1_000_000_000))]
    pub fair_share: u32,
    /// Of the job's part of the machine.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(max = 1_000_000_000))]
    pub size: u32,
    /// Of the priority of the job's queue.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(max = 1_000_000_000))]
    pub queue: u32,
    /// Of the priority of the job's quality of service.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(max = 1_000_000_000))]
    pub qos: u32,
}

/// Jobs that the factor of size favours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Favours {
    /// Large ones, by the mean of their parts of the nodes and of the processors.
    #[default]
    Large,
    /// Small ones: 1 less the factor of large ones.
    Small,
    /// Large ones with short requested times: the part of the processors for each minute.
    LargeAndShort,
    /// Small ones with long requested times: 1 less that factor.
    SmallAndLong,
}

/// Definition of the factor of fair share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FairShareRule {
    /// Users are ranked along the tree of accounts, those with the least usage for their shares first.
    #[default]
    FairTree,
    /// 2^(-usage / shares) of each user, with usage and shares in parts of the whole machine.
    Classic,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn a_week() -> TimeSpan {
    TimeSpan(Span::from_secs(7 * 24 * 3_600))
}

fn five_minutes() -> TimeSpan {
    TimeSpan(Span::from_secs(300))
}
