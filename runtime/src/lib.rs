//! What drives actors: a virtual clock, and two ways to hand messages over.
//!
//! ```text
//! World ── Simulation::new ──> Simulation ── step, step_until, run ──> Sinks: delivered, observed, over
//!            course: clock, arrivals, outages, network, bounds
//!            actors: here, or over actix
//! ```
//!
//! A [`World`] is what a run starts from, a [`Simulation`] is it under way: it can be stepped
//! message by message, and [`run`] is a loop around that. Whoever listens is a [`Sink`]. The examples
//! of this crate build a world, step it, and put an actor of their own into it.
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
//! A timer that is set anew or stopped does not go off when it was to go off before: what is on its
//! way for it then is dropped, and is in no record.
//!
//! The order is fixed by [`clock::Clock`] alone; a [`Driver`] only decides how
//! a message reaches its actor, so every driver gives the same bytes.
//!
//! # Trouble
//!
//! * Actors that answer each other at zero latency for ever: after
//!   [`clock::HOPS_MAX`] messages that cause each other at one instant, and
//!   [`clock::HOPS_PER_JOB`] for each job that is there, the run
//!   ends with [`RunError::ZeroTimeCycle`].
//! * A workload that is out of order or ends in an error: the run ends with
//!   that error, and what was recorded so far is kept.

mod agenda;
mod arrivals;
mod bounds;
pub mod clock;
mod course;
mod down;
mod driver;
mod error;
pub mod network;
mod recovery;
mod simulation;
mod sink;
mod timers;
pub mod world;

pub use bounds::{EXAMINED_MAX, IN_VAIN_MAX};
pub use clock::Clock;
pub use driver::Driver;
pub use error::RunError;
pub use network::Network;
pub use recovery::Blueprint;
pub use simulation::{RunStats, Simulation, Step, run};
pub use sink::Sink;
pub use world::{Arrivals, Outages, OutsideError, World};
