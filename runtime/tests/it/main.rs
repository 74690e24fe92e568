//! Small worlds with their exact event logs, on both drivers.

mod any_message;
mod bargaining;
mod bargaining_invariants;
mod channel;
mod coallocation;
mod disclosure;
mod examples;
mod failures;
mod golden;
mod grid;
mod grid_invariants;
mod grid_rules;
mod grid_sessions;
mod grid_setup;
mod holding;
mod invariants;
mod metascheduling;
mod privacy;
mod reserving;
mod said;
mod setup;
mod simulation;
mod tickets;
mod timers;
mod trouble;
mod wire;
