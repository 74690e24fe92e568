//! `[[provider.node]]`: the nodes of a provider, and the resources of each.

use haggle_model::{Amounts, NodeGroup};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{Bytes, Name};

/// Equal nodes of a provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Node {
    /// Name of the group, for `nodes` of queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Number of nodes.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// Processors of each node.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub cores: u32,
    /// Memory of each node. Without it, jobs that ask for memory cannot run there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Accelerators of each node; 0 if not given.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(max = 1_000_000))]
    pub gpus: u32,
}

impl Node {
    /// Nodes without memory and accelerators.
    pub fn new(count: u32, cores: u32) -> Node {
        Node { name: None, count, cores, memory: None, gpus: 0 }
    }

    /// Processors of all of them.
    pub fn processors(&self) -> u64 {
        u64::from(self.count) * u64::from(self.cores)
    }

    /// The nodes, in the terms of the model.
    pub fn to_model(&self) -> NodeGroup {
        let memory = self.memory.map_or(0, |memory| memory.0);
        let capacity = Amounts { processors: self.cores, gpus: self.gpus, memory };
        NodeGroup { count: self.count, capacity }
    }
}

fn one() -> u32 {
    1
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
