//! Makes jobs moldable.

use rand::RngExt;

use super::{JobDraws, step_error};
use crate::{JobStream, WorkloadError};
use haggle_model::moldable::{KINDS, Rounding, Speedup};
use haggle_model::{Job, JobShape};

/// Rules by which jobs are made moldable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Molding {
    /// Speedups of the jobs.
    pub speedups: Speedups,
    /// True if a request for more processors than help is reduced to the largest number that helps.
    pub capped: bool,
    /// Rounding of their times.
    pub rounding: Rounding,
}

/// Source of the speedups of jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speedups {
    /// One of the four kinds of Caniou, Charrier and Desprez 2010, table 2, is drawn for each job.
    Kinds,
    /// The same for all jobs: the parallel fraction, and the largest number of processors that helps.
    Alike {
        /// From 0 to 1.
        parallel: f64,
        /// At least 1.
        limit: u32,
    },
}

impl Molding {
    pub(super) fn apply(
        &self,
        jobs: JobStream,
        mut draws: JobDraws,
    ) -> Result<JobStream, WorkloadError> {
        let speedup = |fraction, limit| -> Result<Speedup, WorkloadError> {
            let speedup = Speedup::new(fraction, limit);
            let speedup = speedup.map_err(|it| step_error("moldable", it.to_string()))?;
            Ok(speedup.rounded(self.rounding))
        };
        let mut of: Box<dyn FnMut(&Job) -> Speedup + Send> = match self.speedups {
            Speedups::Alike { parallel, limit } => {
                let speedup = speedup(parallel, limit)?;
                Box::new(move |_| speedup)
            }
            Speedups::Kinds => {
                let mut kinds = Vec::new();
                for (fraction, limit, percent) in KINDS {
                    kinds.push((speedup(fraction, limit)?, percent));
                }
                Box::new(move |job| {
                    let mut drawn = draws.of(job).random_range(0..100_u32);
                    for &(speedup, percent) in &kinds {
                        match drawn.checked_sub(percent) {
                            Some(rest) => drawn = rest,
                            None => return speedup,
                        }
                    }
                    unreachable!("the shares are those of a hundred")
                })
            }
        };
        let capped = self.capped;
        Ok(Box::new(jobs.map(move |job| {
            job.map(|mut job| {
                let speedup = of(&job);
                job.shape = JobShape::Moldable(speedup);
                if capped {
                    job.processors = job.processors.min(speedup.limit());
                }
                job
            })
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{after, refusal, submitted_at};
    use super::*;
    use crate::Step;

    #[test]
    fn kinds_are_drawn_by_their_shares() {
        let molding =
            Molding { speedups: Speedups::Kinds, capped: false, rounding: Rounding::default() };
        let jobs = after(&[Step::Molding(molding)], submitted_at(&[0; 100_000]));
        for (fraction, limit, percent) in KINDS {
            let shape = JobShape::Moldable(Speedup::new(fraction, limit).expect("a kind"));
            let drawn = jobs.iter().filter(|job| job.shape == shape).count() as f64 / 1_000.0;
            assert!((drawn - f64::from(percent)).abs() < 0.5, "{drawn} for {percent}");
        }
    }

    #[test]
    fn all_may_be_alike() {
        let alike = |parallel| {
            let speedups = Speedups::Alike { parallel, limit: 3 };
            Step::Molding(Molding { speedups, capped: true, rounding: Rounding::default() })
        };
        let mut jobs = submitted_at(&[0, 1]);
        jobs[1].processors = 5;
        let jobs = after(&[alike(0.75)], jobs);
        let shape = JobShape::Moldable(Speedup::new(0.75, 3).expect("a speedup"));
        assert!(jobs.iter().all(|job| job.shape == shape));
        assert_eq!(Vec::from_iter(jobs.iter().map(|job| job.processors)), [1, 3]);
        assert!(refusal(alike(1.5)).contains("parallel fraction is 1.5"));
    }
}
