//! Overheads: percentages by which rigid jobs take longer on several providers than on one. They
//! are drawn for each job by its lot, so that other jobs do not affect them.

use haggle_model::Job;
use haggle_model::law::{Law, Sampler};
use serde::{Deserialize, Serialize};

/// Draws overheads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Overheads {
    law: Sampler,
    /// The largest, in percent.
    most: u32,
    seed: u64,
}

impl Overheads {
    /// Percentages drawn from `law`, at most `most`.
    ///
    /// # Panics
    /// If the law cannot be drawn from. Scenarios are checked for that.
    pub(crate) fn new(law: &Law, most: u32, seed: u64) -> Overheads {
        Overheads { law: law.sampler().expect("a law that can be drawn from"), most, seed }
    }

    /// The percentage by which a job takes longer.
    pub(crate) fn of(&self, job: &Job) -> u32 {
        let mut stream = job.lot.stream(self.seed, "overhead of co-allocation");
        let percent = self.law.sample(&mut stream).round();
        // A law without bounds may draw a negative overhead, or one that makes a job many times longer.
        percent.clamp(0.0, f64::from(self.most)) as u32
    }
}
