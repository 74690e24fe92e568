//! Limits of associations and qualities of service (QOS), as a ledger of submitted and running jobs.
//!
//! A limit holds at the first place that defines it: the QOS of a job in their order (that of the partition
//! first), its user, and the accounts above. There are two exceptions. Limits of groups hold at each account
//! of the path. A limit of a user's own jobs is that of the nearest account that defines one.
//!
//! The first limit that a job exceeds is the reason why it waits. The order of checks is that of Slurm: counts of
//! jobs, time limits, then resources; at each of these, QOS before associations.
//!
//! A ledger counts the nodes of each job. Slurm counts a node once if several jobs of a group share it.

mod ledger;
mod reason;

use haggle_model::Span;
use serde::{Deserialize, Serialize};

use super::resources::{PerResource, Totals};
use super::tree::Association;

pub use ledger::Ledger;
pub use reason::Reason;

/// A limit on each resource; `None` = no limit.
pub type Caps = PerResource<Option<u64>>;

impl Caps {
    /// The limits on resources that `other` does not limit.
    fn without(self, other: Caps) -> Caps {
        self.zip(other, |own, other| own.filter(|_| other.is_none()))
    }
}

/// Limits on jobs and on what they hold together; `None` = no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Together {
    /// Running jobs.
    pub running: Option<u32>,
    /// Waiting and running jobs.
    pub submitted: Option<u32>,
    /// Resources of running jobs.
    pub amounts: Caps,
}

impl Together {
    /// The limits that `other` does not define.
    fn without(self, other: Together) -> Together {
        Together {
            running: self.running.filter(|_| other.running.is_none()),
            submitted: self.submitted.filter(|_| other.submitted.is_none()),
            amounts: self.amounts.without(other.amounts),
        }
    }

    /// The limits of `other`, and these where it defines none.
    fn or(self, other: Together) -> Together {
        Together {
            running: other.running.or(self.running),
            submitted: other.submitted.or(self.submitted),
            amounts: self.amounts.zip(other.amounts, |own, other| other.or(own)),
        }
    }
}

/// Limits on each job by itself; `None` = no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alone {
    /// Its resources (`MaxTRESPerJob`).
    pub amounts: Caps,
    /// Its time limit (`MaxWallDurationPerJob`). A job without a time limit exceeds it.
    pub time: Option<Span>,
}

impl Alone {
    /// The limits that `other` does not define.
    fn without(self, other: Alone) -> Alone {
        let amounts = self.amounts.without(other.amounts);
        Alone { amounts, time: self.time.filter(|_| other.time.is_none()) }
    }

    /// The limits of `other`, and these where it defines none.
    fn or(self, other: Alone) -> Alone {
        let amounts = self.amounts.zip(other.amounts, |own, other| other.or(own));
        Alone { amounts, time: other.time.or(self.time) }
    }
}

/// Limits of an account or a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssociationLimits {
    /// Of the association with all that is below it (`GrpJobs`, `GrpSubmitJobs`, `GrpTRES`).
    pub group: Together,
    /// Running jobs of each user below it (`MaxJobs`).
    pub running: Option<u32>,
    /// Waiting and running jobs of each user below it (`MaxSubmitJobs`).
    pub submitted: Option<u32>,
    /// Of each job.
    pub job: Alone,
}

impl AssociationLimits {
    /// Takes over the limits on a user's own jobs that it does not define.
    fn inherit(&mut self, above: &AssociationLimits) {
        self.running = self.running.or(above.running);
        self.submitted = self.submitted.or(above.submitted);
        self.job = above.job.or(self.job);
    }
}

/// Limits of a QOS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QosLimits {
    /// Of all its jobs (`GrpJobs`, `GrpSubmitJobs`, `GrpTRES`).
    pub group: Together,
    /// Of each account (`MaxJobsPerAccount`, `MaxSubmitJobsPerAccount`, `MaxTRESPerAccount`).
    pub account: Together,
    /// Of each person in all accounts (`MaxJobsPerUser`, `MaxSubmitJobsPerUser`, `MaxTRESPerUser`).
    pub person: Together,
    /// Of each job.
    pub job: Alone,
    /// The least amounts of each job (`MinTRESPerJob`); 0 = no limit.
    pub least: Totals,
}

impl QosLimits {
    /// The limits that `other` does not define.
    fn without(self, other: &QosLimits) -> QosLimits {
        QosLimits {
            group: self.group.without(other.group),
            account: self.account.without(other.account),
            person: self.person.without(other.person),
            job: self.job.without(other.job),
            least: self.least.zip(other.least, |own, other| if other == 0 { own } else { 0 }),
        }
    }

    /// The limits of `other`, and these where it defines none.
    fn or(self, other: &QosLimits) -> QosLimits {
        QosLimits {
            group: self.group.or(other.group),
            account: self.account.or(other.account),
            person: self.person.or(other.person),
            job: self.job.or(other.job),
            least: self.least.zip(other.least, |own, other| if other == 0 { own } else { other }),
        }
    }
}

/// A job as limits depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The user association.
    pub user: Association,
    /// Number of the person, the same in all accounts.
    pub person: u32,
    /// Numbers of its QOS, in the order in which their limits hold: by default that of the partition, then its
    /// own.
    pub qos: [Option<u32>; 2],
    /// Totals that it asks for.
    pub amounts: Totals,
    /// Its time limit.
    pub time: Option<Span>,
}
