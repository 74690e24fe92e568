//! haggle simulates autonomous resource providers that bargain over work.
//!
//! This crate is the library behind the command `haggle`: it reads scenarios
//! ([`scenario`]) and makes them ready to run ([`experiment`]). The engine lives
//! in the crates beside it.

pub mod experiment;
pub mod scenario;
