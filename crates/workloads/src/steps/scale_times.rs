//! Scales jobs of a machine that is faster or slower than the reference machine.

use super::super::error::WorkloadError;
use super::super::{JobStream, StreamItem};
use super::check_factor;
use haggle_model::Span;
use haggle_model::job::HiddenRunTime;

/// Multiplies run times and requested times by `factor`, rounded up to the microsecond. The factor is
/// 1.4 for jobs of a log whose machine is 1.4 times as fast as the reference machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaleTimes {
    /// Factor of the times.
    pub factor: f64,
}

impl ScaleTimes {
    pub(super) fn apply(&self, jobs: JobStream) -> Result<JobStream, WorkloadError> {
        check_factor("scale_times", "factor", self.factor)?;
        let factor = self.factor;
        let scaled = move |time: Span| match time {
            // No limit stays no limit.
            Span::FOREVER => time,
            time => Span::from_secs_f64(time.as_secs_f64() * factor),
        };
        Ok(Box::new(jobs.map(move |job: StreamItem| {
            let mut job = job?;
            job.run_time = HiddenRunTime::new(scaled(job.run_time.reveal_to_machine()));
            job.requested_time = job.requested_time.map(scaled);
            Ok(job)
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, refusal, submissions, submitted_at};
    use super::*;

    #[test]
    fn both_times_are_scaled_and_nothing_else() {
        let mut jobs = submitted_at(&[0, 5]);
        jobs[0].requested_time = Some(Span::from_secs(100));
        jobs[1].requested_time = None;
        let jobs = after(&[Step::ScaleTimes(ScaleTimes { factor: 1.4 })], jobs);
        assert_eq!(submissions(&jobs), [0, 5]);
        let times = |at: usize| (jobs[at].run_time.reveal_to_machine(), jobs[at].requested_time);
        assert_eq!(times(0), (Span::from_secs(84), Some(Span::from_secs(140))));
        assert_eq!(times(1), (Span::from_secs(84), None));
        let none = Step::ScaleTimes(ScaleTimes { factor: 0.0 });
        assert!(refusal(none).contains("factor is 0"));
    }
}
