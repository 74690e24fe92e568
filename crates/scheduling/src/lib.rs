//! Decisions as plain functions and data structures.
//!
//! A local scheduler is notified of events (a job was submitted, a job ended) and returns the jobs that
//! start. It has no clock, sends no message, does no input or output and draws no random number; every call
//! takes `now`.

pub mod bag_table;
pub mod bags;
pub mod capabilities;
pub mod checkpoints;
pub mod coallocation;
pub mod composition;
pub mod conservative;
pub mod coordinated;
pub mod dominated;
mod easy;
pub mod edf;
pub mod fcfs;
mod hints;
pub mod holder;
pub mod index;
mod interval;
pub mod maintenance;
pub mod nodes;
mod not_before;
pub mod own;
pub mod placement;
mod placing;
mod plan;
pub mod priority;
pub mod profile;
pub mod queue;
pub mod reallocation;
mod recorded;
pub mod replan;
pub mod reservations;
pub mod reserving;
pub mod runs;
pub mod scheduler;
pub mod site;

pub use bag_table::BagTable;
pub use bags::{Asked, Award, BagRequest, Bargainer, Batch, Fractions, FreeSlot, Offer, OfferRule};
pub use capabilities::{Capabilities, Guarantee};
pub use checkpoints::{CheckpointRule, Checkpoints};
pub use composition::{BagCall, Composition, CompositionOptions, CompositionPolicy};
pub use conservative::{Compression, Conservative};
pub use coordinated::{ConservativeBags, ReschedulingConfig, ReschedulingRule, Shares};
pub use easy::Easy;
pub use edf::{Edf, EdfConfig, EdfStats, Late};
pub use fcfs::Fcfs;
pub use holder::Holder;
pub use interval::Interval;
pub use maintenance::{Maintaining, Overlap};
pub use nodes::{NodeQueue, NodeSet, NodesConfig, OnNodes, Placing, Preempted};
pub use own::Own;
pub use profile::Profile;
pub use queue::Order;
pub use recorded::Recorded;
pub use replan::Replan;
pub use reserving::Reserving;
pub use runs::{MAX_ATTEMPTS, Overrun, Passes};
pub use scheduler::{
    Killed, LocalQueue, LocalScheduler, Policy, Request, SchedulerConfig, Scheduling, Slot, promise,
};
