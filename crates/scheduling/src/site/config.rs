//! The rules of a site as a scenario describes them.

use haggle_model::Span;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeSet;
use crate::priority::{
    AssociationLimits, FairShare, PriorityConfig, QosLimits, Resets, Shares, SizeRule, Weights,
};

/// Queues, qualities of service (QOS), accounts and priorities of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteConfig {
    /// Accounts, parents before their children.
    pub accounts: Vec<AccountConfig>,
    /// Queues. Without any, all jobs are in one queue without limits.
    pub queues: Vec<QueueConfig>,
    /// The number of a job that is compared with those of the queues.
    pub queues_by: QueueNumber,
    /// Qualities of service. Without any, no job has one.
    pub qos: Vec<QosConfig>,
    /// Priorities; `None`: jobs are considered in the order of the local scheduler.
    pub priority: Option<PriorityRules>,
}

impl SiteConfig {
    /// True if running jobs may be stopped for others.
    pub fn preempts(&self) -> bool {
        let of_queues = self.queues.iter().map(|it| &it.preemption);
        of_queues.chain(self.qos.iter().map(|it| &it.preemption)).any(|it| !it.stops.is_empty())
    }
}

/// The number of a job that says its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueueNumber {
    /// Its queue number.
    #[default]
    Queue,
    /// Its partition number.
    Partition,
}

/// Treatment of a job that is stopped for another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnPreemption {
    /// It waits again, behind all others.
    #[default]
    Requeue,
    /// It is over.
    Cancel,
}

/// Preemption: jobs that start at once, because running jobs are stopped for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preemption {
    /// Indices of the queues whose running jobs are stopped for its own; of a quality of service, of others such.
    pub stops: Vec<u32>,
    /// Treatment of its own jobs, if they are stopped.
    pub then: OnPreemption,
    /// Time for which its own jobs go on from the decision to stop them.
    pub grace: Span,
}

/// An account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccountConfig {
    /// Its name, for messages.
    pub name: String,
    /// Index of the account above it; `None` = the root account.
    pub parent: Option<u32>,
    /// Group numbers of its jobs.
    pub groups: Vec<i32>,
    /// Shares among its siblings.
    pub shares: Shares,
    /// Limits on its jobs, and on those of each of its users.
    pub limits: AssociationLimits,
    /// Shares of some of its users, by number. All others have one share.
    pub users: Vec<(i32, Shares)>,
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueConfig {
    /// Its name, for messages.
    pub name: String,
    /// Queue number or partition number of its jobs.
    pub number: i32,
    /// Jobs of a higher tier are considered first.
    pub tier: u32,
    /// Priority of the queue, for the factor of queues.
    pub priority: u32,
    /// Its nodes; `None` = all. Nodes may belong to several queues.
    pub nodes: Option<NodeSet>,
    /// Group numbers that may use it; `None` = all.
    pub groups: Option<Vec<i32>>,
    /// User numbers that may use it; `None` = all.
    pub users: Option<Vec<i32>>,
    /// Limits on its jobs.
    pub limits: QosLimits,
    /// Its jobs stop others, or are stopped.
    pub preemption: Preemption,
}

/// A quality of service (QOS). It limits its jobs beside their queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QosConfig {
    /// Its name, for messages.
    pub name: String,
    /// Queue number of its jobs.
    pub number: i32,
    /// Its priority, for the factor of QOS.
    pub priority: u32,
    /// Group numbers that may use it; `None` = all.
    pub groups: Option<Vec<i32>>,
    /// User numbers that may use it; `None` = all.
    pub users: Option<Vec<i32>>,
    /// Limits on its jobs.
    pub limits: QosLimits,
    /// Its jobs stop others, or are stopped.
    pub preemption: Preemption,
    /// True if its limits replace those of the queue where both limit the same (`OverPartQOS`); otherwise, the limits of the
    /// queue do.
    pub over_queue: bool,
}

/// The rules of priorities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriorityRules {
    /// The weight of each factor.
    pub weights: Weights,
    /// Age at which its factor is 1.
    pub max_age: Span,
    /// Jobs that are favoured by their size.
    pub size: SizeRule,
    /// Definition of fair share.
    pub fair_share: FairShare,
    /// Time after which past usage counts half; `None`: always in full.
    pub half_life: Option<Span>,
    /// Instants at which usage begins again at zero.
    pub resets: Resets,
    /// Time between two calculations, positive.
    pub calculation_period: Span,
}

impl PriorityRules {
    /// These rules in the configuration of a machine.
    pub(super) fn put_into(&self, config: &mut PriorityConfig) {
        let PriorityRules {
            weights,
            max_age,
            size,
            fair_share,
            half_life,
            resets,
            calculation_period,
        } = *self;
        (config.weights, config.max_age, config.size) = (weights, max_age, size);
        (config.fair_share, config.half_life, config.resets) = (fair_share, half_life, resets);
        config.calculation_period = calculation_period;
    }
}
