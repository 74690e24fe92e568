//! What a map takes where processes are not quite as fast as was predicted.

use haggle_model::Span;

use super::{AsynchronousMap, Process, SynchronousMap};

impl SynchronousMap {
    /// How long all stages take, where `factor` says by how much longer a process takes than was
    /// predicted, and a stage is over with its last process and a `merge`.
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
    /// How long all cores take, each its processes in their order, where `factor` says by how much
    /// longer a process takes than was predicted, and each is followed by a `merge`.
    pub fn executed(&self, mut factor: impl FnMut(&Process) -> f64, merge: Span) -> Span {
        let cores = self.processes.iter().map(|process| process.core + 1).max().unwrap_or(0);
        let mut ready = vec![Span::ZERO; cores];
        for process in &self.processes {
            ready[process.core] += took(process, factor(process)) + merge;
        }
        ready.into_iter().max().unwrap_or(Span::ZERO)
    }
}

fn took(process: &Process, factor: f64) -> Span {
    Span::from_secs_f64((process.end - process.start).as_secs_f64() * factor)
}
