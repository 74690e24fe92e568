//! An optimiser that stands for EMO, the application of the case study, which is not at hand: populations on
//! topologies evolve as the processes of a map, and results are merged when the map's times say so.
//!
//! ```text
//!  Topology ──┐                    SynchronousMap, AsynchronousMap
//!             ▼                                 ▼
//!  population::iterate   ◀── processes ──   Islands::synchronous, asynchronous ──▶ Course: epsilon over time
//!    variation, dtlz6                           deals merged results
//! ```
//!
//! Individuals sit on the nodes of a graph and mate with neighbours, after Kirley and Stewart 2007
//! ("Multiobjective evolutionary algorithms on complex networks"), whom the thesis names for its
//! topologies. What is ours: an individual mates with a neighbour that no other one dominates, and a
//! child takes its parent's place if it dominates it. Crowding, by which others break ties, leads away
//! from the front where ten objectives leave most of a population undominated.
//!
//! Of the libraries that keep a population between generations, so that it can be merged, moors needs
//! ndarray and faer, and nsga_rs nalgebra and a compiler of C; neither has mating along a graph.
//!
//! All numbers are the same on every machine: sums, products, square roots, and `libm` for the rest.

mod course;
mod dtlz6;
mod population;
mod topology;
mod variation;

pub use course::{Course, Islands};
pub use dtlz6::{OBJECTIVES, Objectives, VARIABLES, Variables, dtlz6, front};
pub use population::{Population, Solution, dominates};
pub use topology::{Topology, TopologyError};
