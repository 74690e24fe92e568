//! Processes of a map as islands. Each evolves a population for the iterations that the map gives it,
//! and begins with the results known at its start.

use haggle_model::Span;

use super::dtlz6::Objectives;
use super::population::{self, Population, Solution};
use super::topology::Topology;
use crate::iterative::{AsynchronousMap, Epsilon, Process, SynchronousMap};
use crate::synthetic::Draws;

/// Quality of the results of all processes that have ended, from the start of an application on.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Values of epsilon with the times from which they hold; the first one from the start.
    steps: Vec<(Span, f64)>,
    /// Number of individuals that had a child.
    pub evaluations: u64,
}

impl Course {
    /// Epsilon at a time.
    pub fn at(&self, time: Span) -> f64 {
        let known = self.steps.partition_point(|&(since, _)| since <= time);
        self.steps[known.saturating_sub(1)].1
    }

    /// Final epsilon.
    pub fn last(&self) -> f64 {
        self.steps[self.steps.len() - 1].1
    }
}

/// The populations that the processes of a map evolve.
#[derive(Clone, Copy, Debug)]
pub struct Islands<'a> {
    /// The topology of each size of processes, all with the same number of nodes.
    pub topologies: &'a [Topology],
    /// Points of the searched front.
    pub reference: &'a [Objectives],
}

impl Islands<'_> {
    /// Course in stages. When all processes of a stage have ended, and after a `merge`, their results
    /// are distributed among the processes of the next stage.
    pub fn synchronous(&self, map: &SynchronousMap, merge: Span, draws: &mut Draws) -> Course {
        let cores = map.stages.first().map_or(0, Vec::len);
        let (mut run, mut results) = Run::new(self, cores, draws);
        let mut now = Span::ZERO;
        for stage in &map.stages {
            let mut merged = results.concat();
            shuffle(&mut merged, draws);
            // Only the last stage may have fewer processes than cores; the parts beyond them are left out.
            let parts = merged.chunks(self.individuals());
            results = Vec::from_iter(stage.iter().zip(parts).map(|(process, part)| {
                let mut population = part.to_vec();
                run.evolve(&mut population, process, draws);
                population
            }));
            now += stage.iter().map(|process| process.end).max().unwrap_or(Span::ZERO) + merge;
            run.learn(now, &results.concat());
        }
        run.course
    }

    /// Course without stages. A process begins with a part of the merged last results of all cores. Its
    /// own results become known to the others when it ends.
    pub fn asynchronous(&self, map: &AsynchronousMap, draws: &mut Draws) -> Course {
        let cores = map.processes.iter().map(|process| process.core + 1).max().unwrap_or(0);
        let (mut run, mut results) = Run::new(self, cores, draws);
        let mut running = vec![None; cores];
        // At one instant, ends come before starts, so that new processes use all results.
        let of = |process: &'_ Process| [(process.end, false), (process.start, true)];
        let events = map.processes.iter().flat_map(|process| of(process).map(|at| (at, process)));
        let mut events = Vec::from_iter(events);
        // Cores in the order of their numbers at one instant, so that draws are always made in one order.
        events.sort_by_key(|&(at, process)| (at, process.core));
        for ((now, begins), process) in events {
            if begins {
                let mut merged = results.concat();
                shuffle(&mut merged, draws);
                merged.truncate(self.individuals());
                run.evolve(&mut merged, process, draws);
                running[process.core] = Some(merged);
            } else if let Some(result) = running[process.core].take() {
                run.learn(now, &result);
                results[process.core] = result;
            }
        }
        run.course
    }

    fn individuals(&self) -> usize {
        self.topologies.first().map_or(0, Topology::nodes)
    }
}

/// The state of a run.
struct Run<'a> {
    islands: &'a Islands<'a>,
    epsilon: Epsilon<'a, Objectives>,
    course: Course,
}

impl<'a> Run<'a> {
    /// A run with random populations, one for each core.
    fn new(
        islands: &'a Islands<'a>,
        cores: usize,
        draws: &mut Draws,
    ) -> (Run<'a>, Vec<Population>) {
        let draw = |_| population::random(islands.individuals(), draws);
        let drawn = Vec::from_iter((0..cores).map(draw));
        let course = Course { steps: Vec::new(), evaluations: 0 };
        let mut run = Run { islands, epsilon: Epsilon::new(islands.reference), course };
        run.learn(Span::ZERO, &drawn.concat());
        (run, drawn)
    }

    fn evolve(&mut self, population: &mut Population, process: &Process, draws: &mut Draws) {
        let topology = &self.islands.topologies[process.size];
        population::iterate(population, topology, process.iterations, draws);
        self.course.evaluations += population.len() as u64 * u64::from(process.iterations);
    }

    fn learn(&mut self, now: Span, results: &[Solution]) {
        self.epsilon.add(results);
        self.course.steps.push((now, self.epsilon.value()));
    }
}

/// The shuffle of Fisher and Yates.
fn shuffle(solutions: &mut [Solution], draws: &mut Draws) {
    for last in (1..solutions.len()).rev() {
        solutions.swap(last, draws.whole(0, last as u32) as usize);
    }
}
