//! haggle simulates autonomous resource providers that bargain over work.
//!
//! This crate is the library behind the command `haggle`: it reads scenarios
//! ([`scenario`]), carries them out ([`experiment`]), on a cluster if asked to ([`slurm`]), and draws published figures
//! again, with what was claimed about them beside what came out ([`reproduce`]). The engine lives in the crates beside it.

pub mod experiment;
pub mod reproduce;
pub mod scenario;
pub mod slurm;
