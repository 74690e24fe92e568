//! A provider with a real machine: the work that the machine has to run.
//!
//! The provider decides as ever. The process around it compares this work with the programs that run, starts and stops
//! programs, and sends [`RunMessage::WorkOver`](crate::RunMessage::WorkOver) when one has ended.

use std::sync::Arc;

use haggle_model::{Job, JobId, ProcessorSet, Time};

use super::core::Piece;
use super::{OnFailure, Provider};

/// An attempt of a job that runs now.
#[derive(Clone, Debug, PartialEq)]
pub struct RealWork {
    /// The job.
    pub job: Arc<Job>,
    /// Start of the attempt.
    pub start: Time,
    /// Its processors, by the provider's own numbers.
    pub processors: ProcessorSet,
    /// Time at which the provider stops it; `None` = it may go on.
    pub limit: Option<Time>,
}

impl Provider {
    /// Lets a real machine run the jobs from now on. It is called before the first message.
    ///
    /// # Errors
    /// If a setting of the provider is one of simulated machines. The text names the setting and the remedy.
    pub fn put_before_real_machine(&mut self) -> Result<(), &'static str> {
        let config = &self.core.config;
        if self.core.bargains() {
            return Err("its queue places tasks of bags; use a queue of rigid jobs");
        }
        if self.core.takes_parts() {
            return Err(
                "it takes parts of jobs that run at several providers; use a scenario without them",
            );
        }
        if config.scheduler.nodes().is_some() {
            return Err("it places jobs on nodes of its own; leave `node` out");
        }
        if config.scheduler.preempts() {
            return Err("its running jobs are stopped for others; leave `preempts` out");
        }
        if config.speed != 1.0 {
            return Err("it has a `speed`, and a real machine has its own; leave `speed` out");
        }
        if config.store.is_some() || matches!(config.on_failure, OnFailure::Resume(_)) {
            return Err("its jobs write simulated checkpoints; use another `on-failure`");
        }
        self.core.config.real = true;
        Ok(())
    }

    /// True if a real machine runs its jobs.
    pub fn is_real(&self) -> bool {
        self.core.config.real
    }

    /// The attempts that run now, in order of the provider's slots; none without a real machine.
    pub fn real_work(&self) -> Vec<RealWork> {
        if !self.core.config.real {
            return Vec::new();
        }
        self.core.pieces.iter().filter_map(|(_, piece)| of_piece(piece)).collect()
    }

    /// The attempt of a job that began at `start`; `None` if it is over.
    pub fn real_attempt(&self, job: JobId, start: Time) -> Option<RealWork> {
        let piece = self.core.pieces.at(self.core.pieces.slot(job)?)?;
        of_piece(piece).filter(|it| self.core.config.real && it.start == start)
    }

    /// Number of starts and ends of attempts.
    pub fn real_changes(&self) -> u64 {
        self.core.machine.changes()
    }
}

fn of_piece(piece: &Piece) -> Option<RealWork> {
    match piece {
        Piece::Job(held) => held.real_work(),
        _ => None,
    }
}
