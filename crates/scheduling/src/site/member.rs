//! A job as the rules of a site depend on it.

use haggle_model::job::JobOrigin;
use haggle_model::{Demand, Span, Time};
use serde::{Deserialize, Serialize};

use crate::priority::{Billing, Claim, PriorityJob};

/// Owner of a job, by numbers; -1 = unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Owner {
    /// User number.
    pub user: i32,
    /// Group number.
    pub group: i32,
    /// Queue number.
    pub queue: i32,
    /// Partition number.
    pub partition: i32,
}

impl Owner {
    /// All numbers unknown.
    pub const UNKNOWN: Owner = Owner { user: -1, group: -1, queue: -1, partition: -1 };
}

impl From<&JobOrigin> for Owner {
    fn from(origin: &JobOrigin) -> Owner {
        let JobOrigin { user, group, queue, partition, .. } = *origin;
        Owner { user, group, queue, partition }
    }
}

/// A job as it comes to a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its owner.
    pub owner: Owner,
    /// Its demand; only processors at a machine without nodes.
    pub demand: Demand,
    /// Its time limit.
    pub limit: Option<Span>,
}

/// Index of the queue and of the quality of service (QOS) of a job; `None` = it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    /// Of its queue.
    pub queue: Option<u32>,
    /// Of its QOS.
    pub qos: Option<u32>,
}

/// A job that waits or runs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Member {
    pub(super) claim: Claim,
    /// Its queue and its quality of service.
    pub(super) class: Class,
    /// Instant of its submission.
    pub(super) since: Time,
    /// True if its resources are counted, and its user is charged.
    pub(super) holds: bool,
    /// True if it ran before time zero.
    pub(super) ran_before: bool,
}

impl Member {
    pub(super) fn priority_job(&self) -> PriorityJob {
        PriorityJob {
            user: self.claim.user,
            eligible: self.since,
            asked: self.claim.amounts,
            limit: self.claim.time,
            partition: self.class.queue,
            qos: self.class.qos,
            site: 0,
            nice: 0,
        }
    }

    pub(super) fn billing(&self) -> Billing {
        Billing::of(self.claim.amounts.processors as f64)
    }
}
