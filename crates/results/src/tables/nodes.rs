//! The table `nodes`.

use super::{Integer, Provider, Real, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Nodes, nodes, optional: "One row a node of each provider that places jobs on nodes: its resources, and their use. Only \
     there if jobs ask for more than processors and a provider has `[[provider.node]]`.";

    /// A row of `nodes`.
    NodeRow, NodeCells;

    provider: String = Provider, "provider", "", "the provider", Never;
    node: i64 = Integer, "node", "", "number of the node at that provider, from 0", Never;
    first: i64 = Integer, "first_resource", "", "its first processor, run-wide number", Never;
    last: i64 = Integer, "last_resource", "", "its last processor, included", Never;
    processors: i64 = Integer, "processors", "processors", "number of its processors", Never, at_least_one;
    memory: i64 = Integer, "memory", "B", "its memory; 0 = none is stated", Never, large;
    gpus: i64 = Integer, "gpus", "", "number of its accelerators", Never;
    busy_time: f64 = Real, "busy_time", "processor-seconds", "Σ run time x processors over the jobs that ended, their last attempts", Never;
    memory_time: Option<f64> = Real, "memory_time", "B s", "Σ run time x memory over these jobs", Empty("it has no memory");
    gpu_time: Option<f64> = Real, "gpu_time", "gpu-seconds", "Σ run time x accelerators over these jobs", Empty("it has no accelerators");
}
