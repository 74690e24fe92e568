//! Live operation: the same actors as in a simulation, over TCP.
//!
//! The actors do not change. This crate has what stands between two of them when they do not share a
//! process.

pub mod session;
pub mod wire;
