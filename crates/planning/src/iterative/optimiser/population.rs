//! A population whose individuals occupy the nodes of a topology.

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

    /// The values to be minimised.
    pub fn objectives(&self) -> &Objectives {
        &self.objectives
    }
}

impl AsRef<[f64]> for Solution {
    fn as_ref(&self) -> &[f64] {
        &self.objectives
    }
}

/// True if `one` is nowhere worse than `other`, and somewhere better.
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

/// Runs `iterations` iterations. In each, every individual has a child with a neighbour, which replaces
/// it if it dominates it. All individuals see their neighbours as they were before the iteration.
pub(super) fn iterate(
    population: &mut Population,
    topology: &Topology,
    iterations: u32,
    draws: &mut Draws,
) {
    let mut parents = population.clone();
    for _ in 0..iterations {
        // Reuses the memory of the iteration before.
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

/// A neighbour that no other one dominates. The choice begins with a drawn one, and moves to each next one
/// that dominates it. One pass suffices: a neighbour that was passed over cannot dominate a later choice, or
/// it would have dominated the earlier choice as well.
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
