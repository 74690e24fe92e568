//! Changes of true run times.

use super::super::error::WorkloadError;
use super::super::{JobStream, StreamItem};
use super::draws::JobDraws;
use super::percent_of;
use haggle_model::job::HiddenRunTime;
use haggle_model::law::Law;
use haggle_model::{Job, Span};

/// A model of true run times.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RunTimes {
    /// Run times stay as they are.
    #[default]
    Trace,
    /// Every job runs for its requested time, as in studies that take estimates for the truth; jobs
    /// without a request stay as they are.
    Requested,
    /// Every job runs for a drawn percentage of its requested time, at most all of it, in whole seconds
    /// and at least one second. Jobs without a request stay as they are.
    Part(Law),
    /// Every job runs longer by a percentage of its requested time, but at most for all of it
    /// (Netto and Buyya 2008, section 5.1). Jobs without a request stay as they are.
    Longer(f64),
}

impl RunTimes {
    pub(super) fn apply(
        &self,
        jobs: JobStream,
        mut draws: JobDraws,
    ) -> Result<JobStream, WorkloadError> {
        match self {
            RunTimes::Trace => Ok(jobs),
            RunTimes::Requested => Ok(with_run_times(jobs, |_, requested| requested)),
            &RunTimes::Longer(percent) => Ok(with_run_times(jobs, move |job, requested| {
                let run_time = job.run_time.reveal_to_machine();
                let longer = run_time + percent_of(requested, percent);
                // A job that already runs for longer than requested stays as it is.
                if run_time < requested { longer.min(requested) } else { run_time }
            })),
            RunTimes::Part(percent) => {
                let law = percent.sampler();
                let law =
                    law.map_err(|problem| WorkloadError::StepLaw { step: "run_times", problem })?;
                Ok(with_run_times(jobs, move |job, requested| {
                    let percent = law.sample(draws.of(job)).clamp(0.0, 100.0);
                    // The request bounds last, because it may be shorter than a second.
                    percent_of(requested, percent).max(Span::from_secs(1)).min(requested)
                }))
            }
        }
    }
}

/// Sets the run times of jobs to `run_time` of the job and its requested time.
fn with_run_times(
    jobs: JobStream,
    mut run_time: impl FnMut(&Job, Span) -> Span + Send + 'static,
) -> JobStream {
    Box::new(jobs.map(move |job: StreamItem| {
        let mut job = job?;
        if let Some(requested) = job.requested_time {
            job.run_time = HiddenRunTime::new(run_time(&job, requested));
        }
        Ok(job)
    }))
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, submitted_at};
    use super::*;
    use haggle_model::Span;

    #[test]
    fn jobs_run_for_as_long_as_was_asked_for() {
        let mut jobs = submitted_at(&[0, 1]);
        jobs[0].requested_time = Some(Span::from_secs(100));
        jobs[1].requested_time = None;
        let run_times = |model| {
            let jobs = after(&[Step::RunTimes(model)], jobs.clone());
            jobs.iter().map(|job| job.run_time.reveal_to_machine()).collect::<Vec<_>>()
        };
        assert_eq!(run_times(RunTimes::Requested), [100, 60].map(Span::from_secs));
        assert_eq!(run_times(RunTimes::Trace), [60, 60].map(Span::from_secs));
        // Case M7 of the co-allocation, and one that runs over its request.
        for (percent, runs) in [(0.0, 60), (10.0, 70), (20.0, 80), (25.0, 85), (50.0, 100)] {
            let runs = [runs, 60].map(Span::from_secs);
            assert_eq!(run_times(RunTimes::Longer(percent)), runs, "{percent} points");
        }
        for (percent, runs) in [(80.0, 80), (79.5, 80), (103.0, 100), (0.0, 1), (-3.0, 1)] {
            let runs = [runs, 60].map(Span::from_secs);
            assert_eq!(run_times(RunTimes::Part(Law::Constant(percent))), runs, "{percent} %");
        }
    }
}
