//! Turns jobs into bags of tasks.

use crate::JobStream;
use haggle_model::JobShape;

/// Makes each job a bag: as many independent one-processor tasks as it requests processors, each as long as the job.
pub(super) fn bags(jobs: JobStream) -> JobStream {
    Box::new(jobs.map(|job| {
        job.map(|mut job| {
            job.shape = JobShape::Bag;
            job
        })
    }))
}

#[cfg(test)]
mod tests {
    use crate::Step;
    use crate::steps::testing::{after, submitted_at};
    use haggle_model::JobShape;

    #[test]
    fn every_job_becomes_a_bag() {
        let jobs = after(&[Step::Bags], submitted_at(&[0, 1]));
        assert!(jobs.iter().all(|job| job.shape == JobShape::Bag));
    }
}
