//! How long jobs really run.

use super::super::{JobStream, StreamItem};
use crate::job::HiddenRunTime;

/// A model of true run times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunTimes {
    /// Run times stay as they are.
    #[default]
    Trace,
    /// Every job runs for as long as its user asked for, as in studies that
    /// take estimates for the truth; jobs without a request stay as they are.
    Requested,
}

impl RunTimes {
    pub(super) fn apply(self, jobs: JobStream) -> JobStream {
        match self {
            RunTimes::Trace => jobs,
            RunTimes::Requested => Box::new(jobs.map(|job: StreamItem| {
                let mut job = job?;
                if let Some(requested) = job.requested_time {
                    job.run_time = HiddenRunTime::new(requested);
                }
                Ok(job)
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, submitted_at};
    use super::*;
    use crate::Span;

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
    }
}
