//! From a resolved scenario to a run: what is written in a file becomes what the engine needs.

pub mod workload;
