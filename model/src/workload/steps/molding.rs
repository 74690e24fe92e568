//! Makes jobs moldable.

use rand::RngExt;

use super::{JobDraws, step_error};
use crate::moldable::{KINDS, Speedup};
use crate::workload::{JobStream, WorkloadError};
use crate::{Job, JobShape};

/// How jobs speed up with processors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Molding {
    /// One of the four kinds of Caniou, Charrier and Desprez 2010, table 2, is drawn for each job.
    Kinds,
    /// All alike: the part that runs in parallel, and most processors that are of use.
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
        let speedup = |fraction, limit| {
            Speedup::new(fraction, limit).map_err(|it| step_error("moldable", it.to_string()))
        };
        let mut of: Box<dyn FnMut(&Job) -> Speedup + Send> = match *self {
            Molding::Alike { parallel, limit } => {
                let speedup = speedup(parallel, limit)?;
                Box::new(move |_| speedup)
            }
            Molding::Kinds => {
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
        Ok(Box::new(jobs.map(move |job| {
            job.map(|mut job| {
                job.shape = JobShape::Moldable(of(&job));
                job
            })
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{after, refusal, submitted_at};
    use super::*;
    use crate::workload::Step;

    #[test]
    fn kinds_are_drawn_by_their_shares() {
        let jobs = after(&[Step::Molding(Molding::Kinds)], submitted_at(&[0; 100_000]));
        for (fraction, limit, percent) in KINDS {
            let shape = JobShape::Moldable(Speedup::new(fraction, limit).expect("a kind"));
            let drawn = jobs.iter().filter(|job| job.shape == shape).count() as f64 / 1_000.0;
            assert!((drawn - f64::from(percent)).abs() < 0.5, "{drawn} for {percent}");
        }
    }

    #[test]
    fn all_may_be_alike() {
        let molding = Molding::Alike { parallel: 0.75, limit: 3 };
        let jobs = after(&[Step::Molding(molding)], submitted_at(&[0, 1]));
        let shape = JobShape::Moldable(Speedup::new(0.75, 3).expect("a speedup"));
        assert!(jobs.iter().all(|job| job.shape == shape));
        let none = Molding::Alike { parallel: 1.5, limit: 3 };
        assert!(refusal(Step::Molding(none)).contains("parallel fraction is 1.5"));
    }
}
