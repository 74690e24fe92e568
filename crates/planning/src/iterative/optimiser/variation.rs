//! Variation of children: simulated binary crossover (Deb and Agrawal 1995) and polynomial mutation
//! (Deb and Goyal 1996), as Deb, Pratap, Agarwal and Meyarivan 2002 combine them.

use super::dtlz6::{VARIABLES, Variables};
use crate::synthetic::Draws;

// The distribution indices of crossover and mutation are both 15; 10 to 20 are usual. With 15, the
// required root is the sixteenth: four square roots, which are fast and the same on every machine.

/// A child of two parents. Each variable is crossed with probability 1/2, and otherwise taken from the
/// first parent. On average, one variable in a child mutates.
pub(super) fn child(one: &Variables, other: &Variables, draws: &mut Draws) -> Variables {
    let mut child = *one;
    for (variable, other) in child.iter_mut().zip(other) {
        if draws.uniform() < 0.5 {
            *variable = crossed(*variable, *other, draws);
        }
        if draws.uniform() < 1.0 / VARIABLES as f64 {
            *variable = mutated(*variable, draws);
        }
    }
    child
}

/// One of the two children on both sides of the parents' mean, `spread` times as far from it as the parents are.
fn crossed(one: f64, other: f64, draws: &mut Draws) -> f64 {
    let drawn = draws.uniform();
    let spread = match drawn < 0.5 {
        true => sixteenth_root(2.0 * drawn),
        false => 1.0 / sixteenth_root(2.0 * (1.0 - drawn)),
    };
    let side = if draws.uniform() < 0.5 { 1.0 } else { -1.0 };
    (0.5 * (one + other + side * spread * (one - other))).clamp(0.0, 1.0)
}

/// A value near `value`, between 0 and 1.
fn mutated(value: f64, draws: &mut Draws) -> f64 {
    let drawn = draws.uniform();
    let moved = match drawn < 0.5 {
        true => {
            // With the distance to the bound, a step never leads beyond it.
            let room = sixteenth_power(1.0 - value);
            sixteenth_root(2.0 * drawn + (1.0 - 2.0 * drawn) * room) - 1.0
        }
        false => {
            let room = sixteenth_power(value);
            1.0 - sixteenth_root(2.0 * (1.0 - drawn) + (2.0 * drawn - 1.0) * room)
        }
    };
    (value + moved).clamp(0.0, 1.0)
}

fn sixteenth_root(value: f64) -> f64 {
    value.sqrt().sqrt().sqrt().sqrt()
}

fn sixteenth_power(value: f64) -> f64 {
    let square = value * value;
    let fourth = square * square;
    let eighth = fourth * fourth;
    eighth * eighth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_lie_within_bounds_around_the_parents() {
        let mut draws = Draws::new(1);
        let crossed = Vec::from_iter((0..1000).map(|_| crossed(0.4, 0.6, &mut draws)));
        let mean = crossed.iter().sum::<f64>() / 1000.0;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        // Half of them lie between the parents.
        let between = crossed.iter().filter(|&&it| (0.4..=0.6).contains(&it)).count();
        assert!((450..550).contains(&between), "{between}");
        assert_eq!(super::crossed(0.3, 0.3, &mut draws), 0.3);
    }

    #[test]
    fn mutants_stay_near_and_within_bounds() {
        let mut draws = Draws::new(1);
        for value in [0.0, 0.3, 1.0] {
            let mutants = Vec::from_iter((0..1000).map(|_| mutated(value, &mut draws)));
            assert!(mutants.iter().all(|mutant| (0.0..=1.0).contains(mutant)));
            let near = mutants.iter().filter(|&&mutant| (mutant - value).abs() < 0.1).count();
            assert!((700..1000).contains(&near), "{near} near {value}");
        }
    }
}
