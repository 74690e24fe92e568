//! The time of a map when processes are slower or faster than predicted.

use haggle_model::Span;

use super::{AsynchronousMap, Process, SynchronousMap};

impl SynchronousMap {
    /// Time of all stages, where `factor` is the ratio of a process's time to the predicted time. A
    /// stage is over after its last process and a `merge`.
    pub fn executed(&self, mut factor: impl FnMut(&Process) -> f64, merge: Span) -> Span {
        let mut total = Span::ZERO;
        for stage in &self.stages {
            let took = stage.iter().map(|process| took(process, factor(process)));
            total += took.max().unwrap_or(Span::ZERO) + merge;
        }
        total
    }
}

impl AsynchronousMap {
    /// Time until all cores are done, each with its processes in their order, where `factor` is the
    /// ratio of a process's time to the predicted time. Each process is followed by a `merge`.
    pub fn executed(&self, mut factor: impl FnMut(&Process) -> f64, merge: Span) -> Span {
        let cores = self.processes.iter().map(|process| process.core + 1).max().unwrap_or(0);
        let mut ready = vec![Span::ZERO; cores];
        for process in &self.processes {
            // Processes of a core follow one another without gaps, so that their times add up.
            ready[process.core] += took(process, factor(process)) + merge;
        }
        ready.into_iter().max().unwrap_or(Span::ZERO)
    }
}

fn took(process: &Process, factor: f64) -> Span {
    Span::from_secs_f64((process.end - process.start).as_secs_f64() * factor)
}
