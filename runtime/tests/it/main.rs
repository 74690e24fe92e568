//! Small worlds with their exact event logs, on both drivers.

mod disclosure;
mod golden;
mod invariants;
mod metascheduling;
mod setup;
