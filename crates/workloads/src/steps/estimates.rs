//! Models of users' estimates, which set requested times.

use super::super::error::WorkloadError;
use super::super::{JobStream, StreamItem};
use super::draws::JobDraws;
use super::step_error;
use super::time_of::TimeOf;
use haggle_model::law::{Law, Sampler};
use haggle_model::{Job, Span};

/// Shortest request of a model, so that a drawn factor of 0 does not request zero time.
const REQUEST_MIN: Span = Span::from_secs(1);

/// A model of requested times. Results are rounded up to the microsecond. A job whose request is below
/// its run time is stopped there.
#[derive(Clone, Debug, PartialEq)]
pub enum Estimates {
    /// Requests stay as they are.
    Trace,
    /// All users know the run time.
    Exact,
    /// No user gives a limit.
    NoLimit,
    /// All users request the run time plus a percentage.
    Overestimate {
        /// Percent of the run time added to it; 100 = twice the run time.
        percent: f64,
    },
    /// Precision, the run time in percent of the request, rises by a number of percentage points, to at
    /// most 100. Jobs without a request, or that ran longer than it, stay as they are.
    RaisedPrecision {
        /// Percentage points added to each job's precision.
        points: f64,
    },
    /// A drawn multiple. A draw below 0 counts as 0, and the request is at least 1 s.
    Multiplied {
        /// The time to be multiplied.
        base: TimeOf,
        /// The factor.
        factor: Law,
    },
}

impl Estimates {
    pub(super) fn apply(
        &self,
        jobs: JobStream,
        mut draws: JobDraws,
    ) -> Result<JobStream, WorkloadError> {
        let model = self.checked()?;
        Ok(Box::new(jobs.map(move |job: StreamItem| {
            let mut job = job?;
            job.requested_time = model.request(&job, &mut draws);
            Ok(job)
        })))
    }

    fn checked(&self) -> Result<Model, WorkloadError> {
        match self {
            Estimates::Trace => Ok(Model::Trace),
            Estimates::Exact => Ok(Model::Factor(1.0)),
            Estimates::NoLimit => Ok(Model::NoLimit),
            Estimates::Overestimate { percent } if percent.is_finite() && *percent > -100.0 => {
                Ok(Model::Factor(1.0 + percent / 100.0))
            }
            Estimates::Overestimate { percent } => Err(step_error(
                "estimates",
                format!("percent is {percent}, expected a finite number above -100"),
            )),
            Estimates::RaisedPrecision { points } if (0.0..=100.0).contains(points) => {
                Ok(Model::RaisedPrecision(*points / 100.0))
            }
            Estimates::RaisedPrecision { points } => {
                Err(step_error("estimates", format!("points is {points}, expected 0 to 100")))
            }
            Estimates::Multiplied { base, factor } => {
                let sampler = factor
                    .sampler()
                    .map_err(|problem| WorkloadError::StepLaw { step: "estimates", problem })?;
                Ok(Model::Drawn(*base, sampler))
            }
        }
    }
}

enum Model {
    Trace,
    NoLimit,
    Factor(f64),
    RaisedPrecision(f64),
    Drawn(TimeOf, Sampler),
}

impl Model {
    fn request(&self, job: &Job, draws: &mut JobDraws) -> Option<Span> {
        let run_time = job.run_time.reveal_to_machine();
        match self {
            Model::Trace => job.requested_time,
            Model::NoLimit => None,
            Model::Factor(factor) => Some(run_time.scaled(*factor)),
            Model::RaisedPrecision(raise) => {
                job.requested_time.map(|request| raised_precision(run_time, request, *raise))
            }
            Model::Drawn(base, sampler) => {
                let base = match base {
                    TimeOf::RunTime => run_time,
                    // A job without a limit stays without one.
                    TimeOf::RequestedTime => job.requested_time?,
                };
                let factor = sampler.sample(draws.of(job)).max(0.0);
                Some(base.scaled(factor).max(REQUEST_MIN))
            }
        }
    }
}

fn raised_precision(run_time: Span, request: Span, raise: f64) -> Span {
    if run_time >= request || run_time <= Span::ZERO {
        return request;
    }
    let precision = run_time.as_micros() as f64 / request.as_micros() as f64;
    let raised = (precision + raise).min(1.0);
    // Rounding must not turn a precise request into one that stops the job.
    run_time.scaled(1.0 / raised).clamp(run_time, request)
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, numbers, refusal, submitted_at};
    use super::*;
    use haggle_model::job::HiddenRunTime;

    /// Requests, in seconds, of jobs of 100 s that requested 400 s, no limit, 100 s and 50 s.
    fn check(model: Estimates, expected: [Option<i64>; 4]) {
        let mut jobs = submitted_at(&[0, 1, 2, 3]);
        for (job, request) in jobs.iter_mut().zip([Some(400), None, Some(100), Some(50)]) {
            job.run_time = HiddenRunTime::new(Span::from_secs(100));
            job.requested_time = request.map(Span::from_secs);
        }
        let jobs = after(&[Step::Estimates(model)], jobs);
        let found: Vec<_> = jobs.iter().map(|job| job.requested_time).collect();
        assert_eq!(found, expected.map(|seconds| seconds.map(Span::from_secs)));
    }

    #[test]
    fn trace_changes_nothing_and_no_limit_takes_all_away() {
        check(Estimates::Trace, [Some(400), None, Some(100), Some(50)]);
        check(Estimates::NoLimit, [None; 4]);
    }

    #[test]
    fn exact_and_overestimated_requests_follow_the_run_time() {
        check(Estimates::Exact, [Some(100); 4]);
        check(Estimates::Overestimate { percent: 50.0 }, [Some(150); 4]);
    }

    #[test]
    fn precision_rises_by_percentage_points() {
        // 25 % + 25 = 50 %: 200 s.
        let model = Estimates::RaisedPrecision { points: 25.0 };
        check(model, [Some(200), None, Some(100), Some(50)]);
        let model = Estimates::RaisedPrecision { points: 100.0 };
        check(model, [Some(100), None, Some(100), Some(50)]);
    }

    #[test]
    fn a_drawn_factor_multiplies_run_time_or_request() {
        let by = |base, factor| Estimates::Multiplied { base, factor: Law::Constant(factor) };
        check(by(TimeOf::RunTime, 3.0), [Some(300); 4]);
        check(by(TimeOf::RunTime, -3.0), [Some(1); 4]);
        check(by(TimeOf::RequestedTime, 2.0), [Some(800), None, Some(200), Some(100)]);
    }

    #[test]
    fn a_filter_ahead_does_not_change_what_a_job_draws() {
        let jobs = submitted_at(&[0, 1, 2, 3, 4]);
        let model = Step::Estimates(Estimates::Multiplied {
            base: TimeOf::RunTime,
            factor: Law::Uniform { low: 1.0, high: 9.0 },
        });
        let all = after(std::slice::from_ref(&model), jobs.clone());
        let window = Step::Window(super::super::Window {
            from: haggle_model::Time::from_secs(2),
            ..Default::default()
        });
        let some = after(&[window, model], jobs);
        assert_eq!(numbers(&some), [3, 4, 5]);
        for (job, same) in some.iter().zip(&all[2..]) {
            assert_eq!(job.requested_time, same.requested_time);
        }
        assert_ne!(all[0].requested_time, all[1].requested_time);
    }

    #[test]
    fn models_out_of_range_are_refused() {
        for model in [
            Estimates::Overestimate { percent: -100.0 },
            Estimates::RaisedPrecision { points: f64::NAN },
            Estimates::Multiplied { base: TimeOf::RunTime, factor: Law::Constant(f64::NAN) },
        ] {
            assert!(refusal(Step::Estimates(model)).starts_with("step estimates: "));
        }
    }
}
