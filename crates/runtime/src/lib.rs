//! Drives actors: a virtual clock, and two ways to deliver messages.
//!
//! ```text
//! World ── Simulation::new ──> Simulation ── step, step_until, run ──> Sinks: delivered, observed, over
//!            course: clock, arrivals, outages, network, bounds
//!            actors: here, or over actix
//! ```
//!
//! A [`World`] is the start of a run, a [`Simulation`] is the run itself. It can be stepped message by
//! message, and [`run`] is a loop around that. A [`Host`] runs a part of a world. A [`Sink`] observes either.
//! The examples of this crate build
//! a world, step it, and add an actor of their own.
//!
//! # The order of events
//!
//! Events are delivered in order of (time, phase, sequence). Time is integer
//! microseconds. The phases of one instant are progress on a grid, resources, recovery, submissions,
//! completions, rescheduling, conversation, decisions ([`EventsOrder`](haggle_model::EventsOrder) may let
//! completions and rescheduling come before submissions). The sequence counts messages in the order in which they were
//! sent. An actor's effects are carried out in the order in which it put them
//! into its outbox, after it has returned.
//!
//! A timer that is set anew or stopped does not go off at its earlier time: the scheduled timer message
//! is dropped, and is in no record.
//!
//! The order is determined by [`clock::Clock`] alone. A [`Driver`] only decides how a message reaches
//! its actor, so all drivers give the same bytes.
//!
//! # Trouble
//!
//! - Actors that answer each other at zero latency for ever: the run ends with
//!   [`RunError::ZeroTimeCycle`]. The limit is [`clock::HOPS_MAX`] messages that cause
//!   each other at one instant, and [`clock::HOPS_PER_JOB`] more for each job
//!   that is not over.
//! - A workload that is out of order or ends in an error: the run ends with
//!   that error, and everything recorded so far is kept.

mod agenda;
mod arrivals;
mod bounds;
mod branching;
mod change;
pub mod clock;
mod course;
mod down;
mod driver;
mod error;
mod host;
mod inject;
mod input;
pub mod network;
mod recovery;
mod simulation;
mod sink;
mod timers;
pub mod world;

pub use bounds::{EXAMINED_MAX, NO_PROGRESS_MAX};
pub use branching::{Ahead, InputsLeft};
pub use change::{Change, ChangeError};
pub use clock::Clock;
pub use driver::Driver;
pub use error::RunError;
pub use host::{Host, HostError, Leaving};
pub use inject::InjectError;
pub use network::Network;
pub use recovery::Blueprint;
pub use simulation::{OtherWorld, RunStats, Simulation, Snapshot, Step, run};
pub use sink::Sink;
pub use world::{Arrivals, Outages, OutsideError, World};
