//! An optimiser in place of EMO, the application of the case study, which is not available. Populations
//! on topologies evolve as the processes of a map, and results are merged at the times of the map.
//!
//! ```text
//!  Topology ──┐                    SynchronousMap, AsynchronousMap
//!             ▼                                 ▼
//!  population::iterate   ◀── processes ──   Islands::synchronous, asynchronous ──▶ Course: epsilon over time
//!    variation, dtlz6                           deals merged results
//! ```
//!
//! Individuals occupy the nodes of a graph and mate with neighbours, after Kirley and Stewart 2007
//! ("Multiobjective evolutionary algorithms on complex networks"), which the thesis cites for its
//! topologies. Two rules are our own: an individual mates with a neighbour that no other one dominates,
//! and a child replaces its parent if it dominates it. Crowding, a usual tie-break, leads away from the
//! front here, because with ten objectives most of a population is undominated.
//!
//! Among the libraries that keep a population between generations, so that it can be merged, moors
//! needs ndarray and faer, and nsga_rs needs nalgebra and a C compiler. Neither supports mating along a
//! graph.
//!
//! All numbers are the same on every machine: the code uses sums, products and square roots, and `libm` for the rest.

mod course;
mod dtlz6;
mod population;
mod topology;
mod variation;

pub use course::{Course, Islands};
pub use dtlz6::{OBJECTIVES, Objectives, VARIABLES, Variables, dtlz6, front};
pub use population::{Population, Solution, dominates};
pub use topology::{Topology, TopologyError};
