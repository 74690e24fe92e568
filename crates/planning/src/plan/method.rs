//! Planners as values, to choose one at run time.

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::{
    GeneticOptions, IncrementalOptions, Plan, Problem, brute_force, division, genetic, incremental,
    optimum, optimum_by_number,
};
use crate::IntervalOracle;

/// A planner with its options.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Method {
    /// [`brute_force()`].
    BruteForce,
    /// [`optimum_by_number`].
    OptimumByNumber,
    /// [`optimum`].
    Optimum,
    /// [`incremental()`].
    Incremental(IncrementalOptions),
    /// [`division()`].
    Division,
    /// [`genetic()`], the only one that uses random numbers.
    Genetic(GeneticOptions),
}

impl Method {
    /// The plan of this planner.
    pub fn plan<O: IntervalOracle, R: Rng + ?Sized>(
        &self,
        problem: &Problem<'_, O>,
        random: &mut R,
    ) -> Plan<O::Schedule> {
        match self {
            Method::BruteForce => brute_force(problem),
            Method::OptimumByNumber => optimum_by_number(problem),
            Method::Optimum => optimum(problem),
            Method::Incremental(options) => incremental(problem, *options),
            Method::Division => division(problem),
            Method::Genetic(options) => genetic(problem, options, random),
        }
    }
}
