//! Multifactor priority, fair share and limits of accounts, as Slurm documents them.
//!
//! The parts, in the order in which they depend on each other:
//!
//! - [`resources`]: amounts of resources, and their billing.
//! - [`tree`]: the associations, that is, accounts and users with their shares.
//! - [`usage`]: the usage of each association, which decays and is reset ([`resets`]).
//! - [`fair_tree`] and [`classic`]: two definitions of the fair-share factor of a user.
//! - [`factors`]: the factors of a job, their weights, and their sum.
//! - [`multifactor`]: the priority of each waiting job at an instant.
//! - [`limits`]: limits of users, accounts and qualities of service (QOS).
//!
//! Sources are the pages of Slurm on the multifactor priority plugin, fair tree, classic fair share and
//! resource limits. A type names its parameter of Slurm where both differ in name.

pub mod classic;
pub mod factors;
pub mod fair_tree;
pub mod limits;
pub mod multifactor;
pub mod resets;
pub mod resources;
pub mod tree;
pub mod usage;

pub use factors::{Breakdown, Factors, Machine, SizeRule, Weights};
pub use fair_tree::Standing;
pub use limits::{Alone, AssociationLimits, Caps, Claim, Ledger, QosLimits, Reason, Together};
pub use multifactor::{FairShare, Multifactor, Partition, PriorityConfig, PriorityJob};
pub use resets::{ResetPeriod, Resets};
pub use resources::{Billing, BillingRule, BillingWeights, PerResource, Totals};
pub use tree::{Association, Shares, Tree};
pub use usage::Usage;
