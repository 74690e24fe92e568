//! Decisions as plain functions and data structures.
//!
//! A local scheduler is told what happened (a job was submitted, a job ended)
//! and says which jobs start. It has no clock, sends no message, does no input
//! or output and draws no random number; every call takes `now`.

pub mod conservative;
pub mod easy;
pub mod fcfs;
mod hints;
pub mod index;
pub mod placement;
pub mod profile;
pub mod queue;
mod running;
pub mod scheduler;

pub use conservative::{Compression, Conservative};
pub use easy::Easy;
pub use fcfs::Fcfs;
pub use profile::Profile;
pub use queue::Order;
pub use scheduler::{LocalScheduler, Policy, Request, SchedulerConfig, Slot};
