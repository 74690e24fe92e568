//! Live operation: the same actors as in a simulation, over TCP.
//!
//! The actors do not change. This crate has what stands between two of them when they do not share a
//! process.

pub mod clock;
pub mod core;
pub mod decisions;
mod durable;
pub mod ending;
pub mod hello;
mod join;
pub mod keeper;
pub mod keys;
pub mod link;
pub mod machine;
pub mod node;
pub mod parts;
pub mod process;
pub mod run;
pub mod session;
pub mod status;
pub mod verify;
pub mod wire;
