//! A simulation that is stepped forward and back, and branched.
//!
//! ```text
//! Script ──> Walk: Simulation, Desk (messages, jobs, bars so far), History (states to go back to)
//!             │ on a thread of its own: Stepper
//!             ▼
//!          Moment ──> Simulated, which is a View: scene, table of jobs, messages, knowledge of actors
//! ```
//!
//! A state that is shown shares its parts with the thread, so that answers never wait for a step.

mod bars;
mod branch;
mod contents;
mod desk;
mod drawn;
mod history;
mod job;
mod layout;
mod log;
mod measures;
mod panel;
mod past;
mod rows;
mod series;
mod simulated;
mod stepper;
#[cfg(test)]
mod tests;
mod until;
mod walk;

pub(crate) use branch::BranchRequest;
pub use branch::open;
pub(crate) use contents::in_words;
pub use simulated::Simulated;
pub(crate) use stepper::{Aim, Moment};
pub(crate) use until::StepRequest;
pub use walk::WalkError;
