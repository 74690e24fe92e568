//! Rules of a site: its queues, its accounts with their limits, and the priorities of its jobs.
//!
//! ```text
//!   owner of a job ──▶ queue:    on which nodes, and before which other queues?
//!                      account:  which limits hold, and how large is its share?
//!                      priority: in which order?
//! ```
//!
//! A [queue on nodes](crate::NodeQueue) asks these rules. `haggle explain` repeats them over the jobs of a run.

mod config;
mod member;
mod rules;

pub use self::config::{AccountConfig, PriorityRules, QueueConfig, QueueNumber, SiteConfig};
pub use self::member::{Entry, Owner};
pub use self::rules::{Denied, Site};
