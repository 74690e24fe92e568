//! Bodies of messages on the wire.

mod bodies;
mod samples;
