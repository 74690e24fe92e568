//! Live operation: the same actors as in a simulation, over TCP.
//!
//! The actors do not change. This crate has what stands between two of them when they do not share a
//! process.

pub mod clock;
pub mod core;
pub mod decisions;
pub mod hello;
pub mod keeper;
pub mod keys;
pub mod link;
pub mod node;
pub mod parts;
pub mod run;
pub mod session;
pub mod verify;
pub mod wire;
