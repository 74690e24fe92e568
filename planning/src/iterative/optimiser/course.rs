//! Processes of a map as islands: each evolves a population for as many iterations as the map says, and
//! begins with what results were known when it began.

use haggle_model::Span;

use super::dtlz6::Objectives;
use super::population::{self, Population, Solution};
use super::topology::Topology;
use crate::iterative::{AsynchronousMap, Epsilon, Process, SynchronousMap};
use crate::synthetic::Draws;

/// How good the results of all processes that have ended are, from the start of an application on.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Since when which epsilon, the first one from the start.
    steps: Vec<(Span, f64)>,
    /// How many individuals had a child in all of it.
    pub evaluations: u64,
}

impl Course {
    /// Epsilon at a time.
    pub fn at(&self, time: Span) -> f64 {
        let known = self.steps.partition_point(|&(since, _)| since <= time);
        self.steps[known.saturating_sub(1)].1
    }

    /// Epsilon in the end.
    pub fn last(&self) -> f64 {
        self.steps[self.steps.len() - 1].1
    }
}

/// What the processes of a map evolve.
#[derive(Clone, Copy, Debug)]
pub struct Islands<'a> {
    /// The topology of each size of processes, all of as many nodes.
    pub topologies: &'a [Topology],
    /// Points of the front that is looked for.
    pub reference: &'a [Objectives],
}

impl Islands<'_> {
    /// In stages: when all processes of one have ended, and after a `merge`, their results are
    /// dealt out to those of the next.
    pub fn synchronous(&self, map: &SynchronousMap, merge: Span, draws: &mut Draws) -> Course {
        let cores = map.stages.first().map_or(0, Vec::len);
        let (mut run, mut results) = Run::new(self, cores, draws);
        let mut now = Span::ZERO;
        for stage in &map.stages {
            let mut merged = results.concat();
            shuffle(&mut merged, draws);
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

    /// Without stages: a process begins with a part of what is merged from the last results of all
    /// cores. Its own are known to the others when it ends.
    pub fn asynchronous(&self, map: &AsynchronousMap, draws: &mut Draws) -> Course {
        let cores = map.processes.iter().map(|process| process.core + 1).max().unwrap_or(0);
        let (mut run, mut results) = Run::new(self, cores, draws);
        let mut running = vec![None; cores];
        // At one instant, those who end tell before others begin.
        let of = |process: &'_ Process| [(process.end, false), (process.start, true)];
        let events = map.processes.iter().flat_map(|process| of(process).map(|at| (at, process)));
        let mut events = Vec::from_iter(events);
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

/// What has come so far.
struct Run<'a> {
    islands: &'a Islands<'a>,
    epsilon: Epsilon<'a, Objectives>,
    course: Course,
}

impl<'a> Run<'a> {
    /// Nothing but drawn populations, one for each core.
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

/// Fisher and Yates's.
fn shuffle(solutions: &mut [Solution], draws: &mut Draws) {
    for last in (1..solutions.len()).rev() {
        solutions.swap(last, draws.whole(0, last as u32) as usize);
    }
}
