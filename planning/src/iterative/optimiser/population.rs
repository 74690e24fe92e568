//! A population whose individuals sit on the nodes of a topology.

use super::dtlz6::{Objectives, VARIABLES, Variables, dtlz6};
use super::topology::Topology;
use super::variation;
use crate::synthetic::Draws;

/// A point with its objectives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solution {
    variables: Variables,
    objectives: Objectives,
}

impl Solution {
    /// The solution at a point.
    pub fn at(variables: Variables) -> Solution {
        Solution { variables, objectives: dtlz6(&variables) }
    }

    /// What is minimised.
    pub fn objectives(&self) -> &Objectives {
        &self.objectives
    }
}

impl AsRef<[f64]> for Solution {
    fn as_ref(&self) -> &[f64] {
        &self.objectives
    }
}

/// Whether `one` is nowhere worse than `other`, and somewhere better.
pub fn dominates(one: &Objectives, other: &Objectives) -> bool {
    let mut better = false;
    for (one, other) in one.iter().zip(other) {
        if one > other {
            return false;
        }
        better |= one < other;
    }
    better
}

/// An approximation set: as many individuals as the topology has nodes, in their order.
pub type Population = Vec<Solution>;

/// Individuals at points drawn uniformly.
pub(super) fn random(individuals: usize, draws: &mut Draws) -> Population {
    let mut point = || Solution::at([(); VARIABLES].map(|()| draws.uniform()));
    (0..individuals).map(|_| point()).collect()
}

/// So many iterations: in each, every individual has a child with a neighbour, which takes its place if it
/// dominates it. All of them look at their neighbours as these were before the iteration.
pub(super) fn iterate(
    population: &mut Population,
    topology: &Topology,
    iterations: u32,
    draws: &mut Draws,
) {
    let mut parents = population.clone();
    for _ in 0..iterations {
        parents.clone_from(population);
        for (place, parent) in parents.iter().enumerate() {
            let mate = mate(&parents, topology.neighbours(place), draws);
            let child = variation::child(&parent.variables, &mate.variables, draws);
            let child = Solution::at(child);
            if dominates(&child.objectives, &parent.objectives) {
                population[place] = child;
            }
        }
    }
}

/// A neighbour that no other one dominates: a drawn one, and then whoever dominates it, as all of them are looked at
/// in turn. Who was passed over does not dominate those that come later, for then it would have dominated the one before.
fn mate<'a>(parents: &'a [Solution], neighbours: &[usize], draws: &mut Draws) -> &'a Solution {
    let first = draws.whole(0, neighbours.len() as u32 - 1) as usize;
    let (before, from) = neighbours.split_at(first);
    let mut mate = &parents[from[0]];
    for &next in from[1..].iter().chain(before) {
        if dominates(&parents[next].objectives, &mate.objectives) {
            mate = &parents[next];
        }
    }
    mate
}
