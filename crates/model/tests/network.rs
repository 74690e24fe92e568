//! Data transfers end to end: published examples, properties of all flows, and how the cost grows.

#[path = "network/examples.rs"]
mod examples;
#[path = "network/obvious.rs"]
mod obvious;
#[path = "network/properties.rs"]
mod properties;
