//! A population of plans that are crossed, mutated and selected (section 5.3).
//!
//! A plan is represented by the set of its markers. The publication's chromosome has one bit a phase
//! and the same content; the bit of the last phase has no meaning there.

mod operators;

use std::cmp::Ordering;

use haggle_model::Span;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::{Plan, Problem};
use crate::IntervalOracle;

pub use operators::{crossover, merge, split};

/// Sizes and probabilities of the genetic algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneticOptions {
    /// Number of generations after the first population.
    pub generations: usize,
    /// Number of plans in a generation; at least 1.
    pub population: usize,
    /// A plan whose fitness is within this fraction of the best one is always selected; in \[0, 1).
    pub elite: f64,
    /// Probability that two parents are crossed; otherwise their children are copies.
    pub crossover: f64,
    /// Probability that a child mutates.
    pub mutation: f64,
}

impl Default for GeneticOptions {
    /// The published sizes. The probabilities of crossing and mutation are not published.
    fn default() -> GeneticOptions {
        GeneticOptions {
            generations: 50,
            population: 200,
            elite: 0.1,
            crossover: 0.8,
            mutation: 0.2,
        }
    }
}

/// Cost and fitness of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitness {
    /// Cost of the plan.
    pub cost: Span,
    /// True if all its intervals are valid.
    pub valid: bool,
    /// The reverse fitness in seconds: the cost, increased for intervals that are too short (equation
    /// 6). The fitness is 1 / this (equation 7).
    pub reverse: f64,
}

impl<O: IntervalOracle> Problem<'_, O> {
    /// Cost and fitness of the plan with these markers, ascending and before the last phase.
    pub fn fitness(&self, markers: &[usize]) -> Fitness {
        let mut cost = self.rescheduling * markers.len() as i64;
        let (mut violations, mut extent) = (0_u32, Span::ZERO);
        for interval in self.intervals(markers) {
            let time = self.oracle.least_time(interval);
            cost += time;
            if !self.allows(time) {
                violations += 1;
                extent += self.threshold - time;
            }
        }
        let mean_extent = extent.as_secs_f64() / f64::from(violations.max(1));
        let share = f64::from(violations) / (markers.len() + 1) as f64;
        let reverse = (cost.as_secs_f64() + mean_extent) * (1.0 + share);
        Fitness { cost, valid: violations == 0, reverse }
    }
}

#[derive(Clone, PartialEq)]
struct Individual {
    markers: Vec<usize>,
    fitness: Fitness,
}

impl Individual {
    /// The fitter first; equally fit ones by their markers.
    fn order(&self, other: &Individual) -> Ordering {
        let reverse = self.fitness.reverse.total_cmp(&other.fitness.reverse);
        reverse.then_with(|| self.markers.cmp(&other.markers))
    }

    /// The order of valid plans, the best first.
    fn rank(&self) -> (Span, usize, &[usize]) {
        (self.fitness.cost, self.markers.len(), &self.markers)
    }
}

/// The cheapest valid plan of all populations. If there is none, the fittest plan of the last
/// population, which is not valid. A small population may miss existing valid plans.
///
/// It examines plans: the first population, and as many children in each generation. The same generator
/// in the same state gives the same draws.
pub fn genetic<O: IntervalOracle, R: Rng + ?Sized>(
    problem: &Problem<'_, O>,
    options: &GeneticOptions,
    random: &mut R,
) -> Plan<O::Schedule> {
    let mut breed = Breed { problem, options, random, cheapest: None, examined: 0 };
    let mut population = breed.first_population();
    for _ in 0..options.generations {
        let children = breed.children(&population);
        population = breed.select([population, children].concat());
    }
    let fittest = population.into_iter().min_by(Individual::order);
    // A valid plan counts more than a fitter one that is not valid.
    let markers = breed.cheapest.or(fittest).map_or_else(Vec::new, |best| best.markers);
    problem.plan(&markers).examined(breed.examined)
}

struct Breed<'b, 'a, O, R: ?Sized> {
    problem: &'b Problem<'a, O>,
    options: &'b GeneticOptions,
    random: &'b mut R,
    /// The cheapest valid plan so far. Kept apart because selection may lose it.
    cheapest: Option<Individual>,
    examined: u64,
}

impl<O: IntervalOracle, R: Rng + ?Sized> Breed<'_, '_, O, R> {
    fn individual(&mut self, markers: Vec<usize>) -> Individual {
        self.examined += 1;
        let fitness = self.problem.fitness(&markers);
        let individual = Individual { markers, fitness };
        let best = self.cheapest.as_ref();
        if fitness.valid && best.is_none_or(|best| individual.rank() < best.rank()) {
            self.cheapest = Some(individual.clone());
        }
        individual
    }

    /// Random plans with at most as many intervals as could be valid.
    fn first_population(&mut self) -> Vec<Individual> {
        let whole = self.problem.whole();
        let time = self.problem.oracle.least_time(whole).as_micros();
        let fit = match self.problem.threshold.as_micros() {
            ..=0 => whole.phases(),
            // Intervals on their own best machines take together no longer than all phases on one set. More
            // intervals than this can therefore not all exceed the threshold.
            threshold => whole.phases().min(time.div_euclid(threshold) as usize + 1),
        };
        let population = self.options.population;
        (0..population)
            .map(|_| {
                let intervals = self.random.random_range(1..=fit);
                let markers = self.choose(intervals - 1);
                self.individual(markers)
            })
            .collect()
    }

    /// Chooses `markers` markers; all sets of this size are equally likely.
    fn choose(&mut self, markers: usize) -> Vec<usize> {
        let whole = self.problem.whole();
        let mut missing = markers;
        let mut is_chosen = |&phase: &usize| {
            // Selection sampling: of the places left, each is taken with probability missing / left.
            let chosen = self.random.random_range(0..whole.last - phase) < missing;
            missing -= usize::from(chosen);
            chosen
        };
        (whole.first..whole.last).filter(|phase| is_chosen(phase)).collect()
    }

    /// As many children as parents.
    fn children(&mut self, parents: &[Individual]) -> Vec<Individual> {
        let wheel = Wheel::new(parents);
        let mut children = Vec::with_capacity(parents.len() + 1);
        while children.len() < parents.len() {
            let one = &parents[wheel.turn(self.random)].markers;
            let other = &parents[wheel.turn(self.random)].markers;
            for child in self.pair(one, other) {
                let child = self.mutated(child);
                children.push(self.individual(child));
            }
        }
        // Children come in pairs, so there is one too many for an odd number.
        children.truncate(parents.len());
        children
    }

    fn pair(&mut self, one: &[usize], other: &[usize]) -> [Vec<usize>; 2] {
        let whole = self.problem.whole();
        // A single phase has no place for a cut.
        if whole.phases() > 1 && self.happens(self.options.crossover) {
            crossover(one, other, self.random.random_range(whole.first..whole.last))
        } else {
            [one.to_vec(), other.to_vec()]
        }
    }

    fn mutated(&mut self, child: Vec<usize>) -> Vec<usize> {
        if !self.happens(self.options.mutation) {
            child
        } else if self.happens(0.5) {
            split(self.problem, child)
        } else {
            merge(self.problem, child)
        }
    }

    fn happens(&mut self, probability: f64) -> bool {
        self.random.random::<f64>() < probability
    }

    /// The elite, each plan once, and then plans drawn by fitness.
    fn select(&mut self, mut pool: Vec<Individual>) -> Vec<Individual> {
        pool.sort_by(Individual::order);
        let mut elite = elite(&pool, self.options.elite);
        elite.truncate(self.options.population);
        let wheel = Wheel::new(&pool);
        while elite.len() < self.options.population {
            elite.push(pool[wheel.turn(self.random)].clone());
        }
        elite
    }
}

/// Individuals whose fitness is within this fraction of the best one, each plan once; the fittest are
/// first in `pool`.
fn elite(pool: &[Individual], fraction: f64) -> Vec<Individual> {
    // Fitness is 1 / reverse, so a lower fitness is a larger value here.
    let limit = pool.first().map_or(0.0, |best| best.fitness.reverse / (1.0 - fraction));
    let mut elite = pool[..pool.partition_point(|one| one.fitness.reverse <= limit)].to_vec();
    // Equal plans are adjacent, because the pool is in order.
    elite.dedup();
    elite
}

/// Draws in proportion to fitness.
struct Wheel {
    /// Cumulated fitness of the first n individuals, n from 1.
    until: Vec<f64>,
}

impl Wheel {
    fn new(individuals: &[Individual]) -> Wheel {
        let mut sum = 0.0;
        let until = individuals.iter().map(|individual| {
            // No real interval takes less than a tick, but an oracle may predict zero.
            sum += 1.0 / individual.fitness.reverse.max(Span::TICK.as_secs_f64());
            sum
        });
        Wheel { until: until.collect() }
    }

    fn turn<R: Rng + ?Sized>(&self, random: &mut R) -> usize {
        let total = self.until.last().copied().unwrap_or(0.0);
        let drawn = random.random::<f64>() * total;
        // Rounding may make the drawn value as large as the total.
        self.until.partition_point(|&until| until <= drawn).min(self.until.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P-7: plans within a tenth of a fitness of 1/6800 are those up to 6800 / 0.9 = 7555.56.
    #[test]
    fn the_elite_is_close_to_the_best() {
        let reverses = [6800.0, 6900.0, 6900.0, 7200.0, 7555.5, 7556.0, 10_000.0];
        let individual = |reverse: f64| Individual {
            markers: vec![reverse as usize],
            fitness: Fitness { cost: Span::ZERO, valid: true, reverse },
        };
        let elite = elite(&reverses.map(individual), 0.1);
        let kept = Vec::from_iter(elite.iter().map(|one| one.fitness.reverse));
        assert_eq!(kept, [6800.0, 6900.0, 7200.0, 7555.5]);
    }
}
