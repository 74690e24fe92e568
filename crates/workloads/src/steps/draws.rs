//! Draws that belong to a job and not to its place in the stream.

use haggle_model::Job;
use haggle_model::random::{Stream, stream};

/// The seed and the workload of the draws of steps.
#[derive(Clone, Debug)]
pub struct Draws {
    seed: u64,
    workload: String,
}

/// The draws of one step: each job has its own stream.
pub struct JobDraws {
    base: Stream,
}

impl Draws {
    /// Draws of the workload named `workload` under the run's master `seed`.
    pub fn new(seed: u64, workload: impl Into<String>) -> Draws {
        Draws { seed, workload: workload.into() }
    }

    /// The run's master seed, for draws that other programs should be able to repeat.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The draws for `purpose`, one stream a job.
    pub fn for_jobs(&self, purpose: &str) -> JobDraws {
        JobDraws { base: stream(self.seed, &self.workload, purpose) }
    }

    /// Draws shared by all workloads that name the same `pool`.
    pub fn for_pool(&self, pool: &str) -> JobDraws {
        JobDraws { base: stream(self.seed, pool, "split") }
    }
}

impl JobDraws {
    /// The stream of `job`, identified by its number in the log. It is therefore the same whichever
    /// jobs were dropped before.
    pub fn of(&mut self, job: &Job) -> &mut Stream {
        self.of_number(job.number)
    }

    /// The stream of any number.
    pub fn of_number(&mut self, number: i64) -> &mut Stream {
        // ChaCha has 2^64 independent streams under one key.
        self.base.set_stream(number as u64);
        // A new stream keeps the position, which the draws of the last job have moved.
        self.base.set_word_pos(0);
        &mut self.base
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    #[test]
    fn a_job_draws_the_same_whatever_was_drawn_before() {
        let mut draws = Draws::new(1, "north").for_jobs("estimates 0");
        let first = draws.of_number(7).next_u64();
        for _ in 0..100 {
            draws.of_number(8).next_u32();
        }
        assert_eq!(draws.of_number(7).next_u64(), first);
        assert_ne!(draws.of_number(8).next_u64(), first);
        let mut other = Draws::new(1, "north").for_jobs("estimates 1");
        assert_ne!(other.of_number(7).next_u64(), first);
    }
}
