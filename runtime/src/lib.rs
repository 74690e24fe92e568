//! What drives actors: a virtual clock, and two ways to hand messages over.
//!
//! # The order of events
//!
//! Events are delivered in order of (time, phase, sequence). Time is integer
//! microseconds. The phases of one instant are resources, submissions,
//! completions, rescheduling, conversation, decisions ([`EventOrder`] may let
//! completions and rescheduling come first). The sequence counts messages in the order in which they were
//! sent. An actor's effects are carried out in the order in which it put them
//! into its outbox, after it has returned.
//!
//! The order is fixed by [`clock::Clock`] alone; a [`Driver`] only decides how
//! a message reaches its actor, so every driver gives the same bytes.
//!
//! # Trouble
//!
//! * Actors that answer each other at zero latency for ever: after
//!   [`clock::HOPS_MAX`] messages that cause each other at one instant the run
//!   ends with [`RunError::ZeroTimeCycle`].
//! * A workload that is out of order or ends in an error: the run ends with
//!   that error, and what was recorded so far is kept.

mod actix_driver;
pub mod clock;
pub mod network;
pub mod world;

pub use clock::{Clock, EventOrder};
pub use network::Network;
pub use world::{Driver, Recorder, RunError, RunStats, World, run};
