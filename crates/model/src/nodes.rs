//! The nodes of a machine, and the numbers of their processors.

use serde::{Deserialize, Serialize};

use crate::{Amounts, Demand, ProcessorSet, Resource};

/// Equal nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeGroup {
    /// Number of nodes, at least one.
    pub count: u32,
    /// The resources of each; at least one processor.
    pub capacity: Amounts,
}

/// The nodes of a machine, in the order of its groups. Processors are numbered node by node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nodes {
    /// Of each node.
    capacities: Vec<Amounts>,
    /// First processor of each node, and the number of all processors.
    first: Vec<u32>,
}

impl Nodes {
    /// The nodes of these groups. Their processors must be fewer than `u32::MAX` in all.
    pub fn new(groups: &[NodeGroup]) -> Nodes {
        let nodes = |group: &NodeGroup| std::iter::repeat_n(group.capacity, group.count as usize);
        let capacities = Vec::from_iter(groups.iter().flat_map(nodes));
        let mut first = vec![0];
        for (node, capacity) in capacities.iter().enumerate() {
            first.push(first[node] + capacity.processors);
        }
        Nodes { capacities, first }
    }

    /// The resources of each node.
    pub fn capacities(&self) -> &[Amounts] {
        &self.capacities
    }

    /// Number of all processors.
    pub fn processors(&self) -> u32 {
        self.first[self.capacities.len()]
    }

    /// The processors of a node.
    pub fn processors_of(&self, node: u32) -> ProcessorSet {
        let node = node as usize;
        ProcessorSet::range(self.first[node], self.capacities[node].processors)
    }

    /// The nodes of these processors, in order, each with the number of its processors among them.
    pub fn of(&self, processors: &ProcessorSet) -> Vec<(u32, u32)> {
        let mut nodes: Vec<(u32, u32)> = Vec::new();
        for &(from, to) in processors.intervals() {
            let mut from = from;
            // The first of all nodes begins with processor 0.
            let mut node = self.first.partition_point(|&first| first <= from) - 1;
            while from <= to && node < self.capacities.len() {
                let count = self.first[node + 1].min(to + 1) - from;
                match nodes.last_mut().filter(|last| last.0 == node as u32) {
                    Some(last) => last.1 += count,
                    None => nodes.push((node as u32, count)),
                }
                from += count;
                node += 1;
            }
        }
        nodes
    }

    /// The nodes of a job, in order, each with the resources that it holds there.
    pub fn held(&self, demand: &Demand, processors: &ProcessorSet) -> Vec<(u32, Amounts)> {
        let amounts = |(node, count): (u32, u32)| {
            let chunks = count / demand.chunk.processors.max(1);
            (node, demand.takes(chunks, &self.capacities[node as usize]))
        };
        self.of(processors).into_iter().map(amounts).collect()
    }

    /// Number of chunks of a demand that all idle nodes can take together.
    pub fn fits(&self, demand: &Demand) -> u64 {
        self.fits_in(demand, &self.capacities)
    }

    /// The same, if so much of each node is free.
    pub fn fits_in(&self, demand: &Demand, free: &[Amounts]) -> u64 {
        let nodes = free.iter().zip(&self.capacities);
        nodes.map(|(free, capacity)| u64::from(demand.fits(free, capacity))).sum()
    }

    /// The resource that a demand lacks even if all nodes are idle; `None` if it fits.
    pub fn lacks(&self, demand: &Demand) -> Option<Resource> {
        self.lacks_in(demand, &self.capacities)
    }

    /// The resource that a demand lacks if so much of each node is free: the one without which the most chunks would
    /// fit. Of equals it is the first one.
    pub fn lacks_in(&self, demand: &Demand, free: &[Amounts]) -> Option<Resource> {
        if self.fits_in(demand, free) >= u64::from(demand.chunks) {
            return None;
        }
        let without = |resource: Resource| {
            let mut demand = *demand;
            match resource {
                Resource::Processors => demand.chunk.processors = 0,
                Resource::Memory => demand.chunk.memory = 0,
                Resource::Gpus => demand.chunk.gpus = 0,
            }
            (self.fits_in(&demand, free), std::cmp::Reverse(resource))
        };
        Resource::ALL.into_iter().max_by_key(|&it| without(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes() -> Nodes {
        let thin = NodeGroup { count: 2, capacity: Amounts::processors(4) };
        let gpus = Amounts { processors: 8, gpus: 2, memory: 1_000 };
        Nodes::new(&[thin, NodeGroup { count: 1, capacity: gpus }])
    }

    #[test]
    fn processors_are_numbered_node_by_node() {
        let nodes = nodes();
        assert_eq!(nodes.processors(), 16);
        assert_eq!(nodes.processors_of(2), ProcessorSet::range(8, 8));
        let some = ProcessorSet::range(3, 3).union(&ProcessorSet::range(7, 1));
        assert_eq!(nodes.of(&some), [(0, 1), (1, 3)]);
        assert_eq!(nodes.of(&ProcessorSet::range(0, 16)), [(0, 4), (1, 4), (2, 8)]);
        assert_eq!(nodes.of(&ProcessorSet::new()), []);
    }

    #[test]
    fn a_demand_that_never_fits_lacks_a_resource() {
        let nodes = nodes();
        assert_eq!(nodes.lacks(&Demand::processors(16)), None);
        assert_eq!(nodes.lacks(&Demand::processors(17)), Some(Resource::Processors));
        let chunk = Amounts { processors: 1, gpus: 1, memory: 0 };
        let demand = Demand { chunks: 3, chunk, apart: false, exclusive: false };
        assert_eq!((nodes.fits(&demand), nodes.lacks(&demand)), (2, Some(Resource::Gpus)));
        let chunk = Amounts { processors: 1, gpus: 0, memory: 600 };
        let demand = Demand { chunks: 2, chunk, ..demand };
        assert_eq!(nodes.lacks(&demand), Some(Resource::Memory));
    }
}
