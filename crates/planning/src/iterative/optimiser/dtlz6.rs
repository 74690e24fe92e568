//! DTLZ6 of Deb, Thiele, Laumanns and Zitzler 2005, "Scalable test problems for evolutionary multiobjective
//! optimization", with ten objectives as in the case study.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

/// M: number of objectives.
pub const OBJECTIVES: usize = 10;

/// n = M + k - 1: number of variables, with k = 10 as its authors suggest.
pub const VARIABLES: usize = OBJECTIVES + 9;

/// A point of the search space: variables in \[0, 1\].
pub type Variables = [f64; VARIABLES];

/// The values to be minimised.
pub type Objectives = [f64; OBJECTIVES];

/// The objectives of a point.
///
/// The last k variables determine the distance from the front: g is the sum of their tenth roots, and
/// the front has g = 0. The others are angles. All but the first approach π/4 as g falls, so that the
/// front is a curve.
pub fn dtlz6(variables: &Variables) -> Objectives {
    let (angles, distances) = variables.split_at(OBJECTIVES - 1);
    // Functions of libm give the same bits on every machine; those of the standard library need not.
    let root = |&distance: &f64| libm::exp(0.1 * libm::log(distance)); // of 0 it is 0
    let g: f64 = distances.iter().map(root).sum();
    let mut objectives = [0.0; OBJECTIVES];
    let mut product = 1.0 + g;
    for (place, angle) in angles.iter().enumerate() {
        let theta = match place {
            0 => angle * FRAC_PI_2,
            _ => FRAC_PI_4 / (1.0 + g) * (1.0 + 2.0 * g * angle),
        };
        let (sine, cosine) = libm::sincos(theta);
        objectives[OBJECTIVES - 1 - place] = product * sine;
        product *= cosine;
    }
    objectives[0] = product;
    objectives
}

/// Points of the true front, at equal steps of the first angle from one end to the other; two or more.
pub fn front(points: usize) -> Vec<Objectives> {
    let point = |number: usize| {
        let mut variables = [0.0; VARIABLES];
        variables[0] = number as f64 / (points - 1) as f64;
        dtlz6(&variables)
    };
    (0..points).map(point).collect()
}
