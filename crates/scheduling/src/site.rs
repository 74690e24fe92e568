//! Rules of a site: its queues, its qualities of service (QOS), its accounts, their limits, and the priorities of its jobs.
//!
//! ```text
//!   owner of a job ──▶ queue:    on which nodes, and before which other queues?
//!                      QOS:      which limits hold beside those of the queue?
//!                      account:  which limits hold, and how large is its share?
//!                      priority: in which order?
//! ```
//!
//! A [queue on nodes](crate::NodeQueue) asks these rules. `haggle explain` repeats them over the jobs of a run.

mod config;
mod member;
mod rules;

pub use self::config::{
    AccountConfig, OnPreemption, Preemption, PriorityRules, QosConfig, QueueConfig, QueueNumber,
    SiteConfig,
};
pub use self::member::{Class, Entry, Owner};
pub use self::rules::{Denied, Site};
