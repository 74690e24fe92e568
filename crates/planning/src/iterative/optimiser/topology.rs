//! The four graphs of the case study, by which individuals are neighbours (figure 5.3).

use std::collections::VecDeque;

use thiserror::Error;

use crate::iterative::case_study::{RANDOM, REGULAR, SCALE_FREE, SMALL_WORLD};
use crate::synthetic::Draws;

/// An undirected graph without loops. The neighbours of a node are in the order of their links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    neighbours: Vec<Vec<usize>>,
}

/// Reason why there is no such graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// There are too few nodes for that many neighbours.
    #[error("a square of {side} x {side} nodes has no room for {DEGREE_RANDOM} neighbours of each")]
    TooFew {
        /// Nodes along each side.
        side: usize,
    },
    /// There is no graph for such a size of processes.
    #[error("the case study has four topologies, and none of number {size}")]
    Unknown {
        /// The size.
        size: usize,
    },
}

// The thesis prints no degrees; these are our own. The grid has the four of figure 5.3. Scale-free
// graphs have as many with two links a new node, and iterate as fast (table 5.3). An iteration examines
// all neighbours. The degrees of Small-World and Random therefore follow from their times: 3.0 and 3.3
// times that of the grid on every machine.
const LINKS_SCALE_FREE: usize = 2;
const DEGREE_SMALL_WORLD: usize = 12;
const DEGREE_RANDOM: usize = 13;
/// Share of links that lead to random nodes. The value is our own; with it, Watts and Strogatz have
/// short paths in tight neighbourhoods.
const REWIRED: f64 = 0.1;

impl Topology {
    /// The graph of a size of processes of the case study, for `side` x `side` individuals.
    ///
    /// # Errors
    /// If there is no such graph.
    pub fn of_case_study(
        size: usize,
        side: usize,
        draws: &mut Draws,
    ) -> Result<Topology, TopologyError> {
        let nodes = side * side;
        if nodes <= 2 * DEGREE_RANDOM {
            return Err(TopologyError::TooFew { side });
        }
        Ok(match size {
            REGULAR => Topology::regular(side),
            SCALE_FREE => Topology::scale_free(nodes, LINKS_SCALE_FREE, draws),
            SMALL_WORLD => {
                connected(|| Topology::small_world(nodes, DEGREE_SMALL_WORLD, REWIRED, draws))
            }
            RANDOM => connected(|| Topology::random(nodes, nodes * DEGREE_RANDOM / 2, draws)),
            _ => return Err(TopologyError::Unknown { size }),
        })
    }

    /// A square whose opposite sides are joined: each node has four neighbours.
    fn regular(side: usize) -> Topology {
        let mut graph = Topology::empty(side * side);
        for node in 0..side * side {
            let (row, column) = (node / side, node % side);
            graph.join(node, row * side + (column + 1) % side);
            graph.join(node, (row + 1) % side * side + column);
        }
        graph
    }

    /// New nodes prefer to link to nodes with many links (Barabási and Albert 1999); the first nodes form a clique.
    fn scale_free(nodes: usize, links: usize, draws: &mut Draws) -> Topology {
        let mut graph = Topology::empty(nodes);
        let mut ends = Vec::new(); // every node once for each of its links
        for node in 1..nodes {
            while graph.neighbours[node].len() < links.min(node) {
                // The first nodes link to all earlier ones, in order. For later ones, `ends` names a node
                // once for each of its links, so that nodes with many links are drawn more often.
                let other = match node <= links {
                    true => graph.neighbours[node].len(),
                    false => ends[draw(ends.len(), draws)],
                };
                graph.join(node, other);
            }
            for &other in &graph.neighbours[node] {
                ends.extend([node, other]);
            }
        }
        graph
    }

    /// A ring of which some links lead to random nodes (Watts and Strogatz 1998).
    fn small_world(nodes: usize, degree: usize, rewired: f64, draws: &mut Draws) -> Topology {
        let mut graph = Topology::empty(nodes);
        for distance in 1..=degree / 2 {
            for node in 0..nodes {
                let stays = draws.uniform() >= rewired;
                // A link that exists already is drawn anew as well, so that the number of links is always the
                // same.
                if !(stays && graph.join(node, (node + distance) % nodes)) {
                    while !graph.join(node, draw(nodes, draws)) {}
                }
            }
        }
        graph
    }

    /// `links` links between random nodes (Erdős and Rényi 1959).
    fn random(nodes: usize, links: usize, draws: &mut Draws) -> Topology {
        let mut graph = Topology::empty(nodes);
        for _ in 0..links {
            while !graph.join(draw(nodes, draws), draw(nodes, draws)) {}
        }
        graph
    }

    fn empty(nodes: usize) -> Topology {
        Topology { neighbours: vec![Vec::new(); nodes] }
    }

    /// Links two nodes. Returns false if they are the same node or are linked already.
    fn join(&mut self, one: usize, other: usize) -> bool {
        let new = one != other && !self.neighbours[one].contains(&other);
        if new {
            self.neighbours[one].push(other);
            self.neighbours[other].push(one);
        }
        new
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.neighbours.len()
    }

    /// Nodes to which a node is linked.
    pub fn neighbours(&self, node: usize) -> &[usize] {
        &self.neighbours[node]
    }

    /// The mean number of neighbours.
    pub fn degree(&self) -> f64 {
        self.neighbours.iter().map(Vec::len).sum::<usize>() as f64 / self.nodes() as f64
    }

    /// Mean number of hops between two nodes, the path line of the thesis; `None` if the graph is not connected.
    pub fn path_length(&self) -> Option<f64> {
        let mut hops = 0;
        for node in 0..self.nodes() {
            // One node that cannot be reached makes the sum `None`.
            let all: Option<usize> = self.hops_from(node).into_iter().sum();
            hops += all?;
        }
        Some(hops as f64 / (self.nodes() * (self.nodes() - 1)) as f64)
    }

    fn hops_from(&self, node: usize) -> Vec<Option<usize>> {
        let mut hops = vec![None; self.nodes()];
        hops[node] = Some(0);
        let mut reached = VecDeque::from([(node, 0)]);
        while let Some((node, so_far)) = reached.pop_front() {
            for &next in &self.neighbours[node] {
                if hops[next].is_none() {
                    hops[next] = Some(so_far + 1);
                    reached.push_back((next, so_far + 1));
                }
            }
        }
        hops
    }
}

/// The first connected graph. Most graphs with this many links are connected.
fn connected(mut graph: impl FnMut() -> Topology) -> Topology {
    loop {
        let graph = graph();
        if graph.hops_from(0).iter().all(Option::is_some) {
            return graph;
        }
    }
}

fn draw(below: usize, draws: &mut Draws) -> usize {
    draws.whole(0, below as u32 - 1) as usize
}
