//! Deadlines and earliest starts, drawn from stated laws.

use super::super::error::WorkloadError;
use super::super::law::{Law, Sampler};
use super::super::{JobStream, StreamItem};
use super::draws::JobDraws;
use crate::{Job, Span, Time};

/// How deadlines are made.
#[derive(Clone, Debug, PartialEq)]
pub enum Deadlines {
    /// Deadline = submission + base x max(`least`, p), p drawn from `factor`.
    /// With `least` 1 and a Poisson factor this is the deadline of the
    /// advance-reservation studies: no job has less time than it needs.
    Stretched {
        /// What is multiplied.
        base: TimingBase,
        /// The factor.
        factor: Law,
        /// Smallest factor.
        least: f64,
    },
    /// Deadline = submission + base + slack, the slack in seconds, never below 0.
    Slack {
        /// What the slack is added to.
        base: TimingBase,
        /// The slack, seconds; [`Law::among`] draws from a list.
        slack: Law,
    },
}

/// How earliest starts are made; none lies before the submission.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadyTimes {
    /// Ready = submission + delay, the delay in seconds, never below 0.
    AfterSubmission {
        /// The delay, seconds.
        delay: Law,
    },
    /// Ready = deadline - lead, the lead in seconds; jobs without a deadline stay as they are.
    BeforeDeadline {
        /// The lead, seconds.
        lead: Law,
    },
}

/// The time a job takes, as deadlines count it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimingBase {
    /// What its user asked for; the run time where there is no request.
    #[default]
    RequestedTime,
    /// How long it really runs.
    RunTime,
}

impl TimingBase {
    fn of(self, job: &Job) -> Span {
        let run_time = job.run_time.reveal_to_machine();
        match self {
            TimingBase::RequestedTime => job.requested_time.unwrap_or(run_time),
            TimingBase::RunTime => run_time,
        }
    }
}

impl Deadlines {
    pub(super) fn apply(
        &self,
        jobs: JobStream,
        mut draws: JobDraws,
    ) -> Result<JobStream, WorkloadError> {
        let (base, law) = match self {
            Deadlines::Stretched { base, factor, .. } => (*base, sampler("deadlines", factor)?),
            Deadlines::Slack { base, slack } => (*base, sampler("deadlines", slack)?),
        };
        let least = match self {
            Deadlines::Stretched { least, .. } => Some(least.max(0.0)),
            Deadlines::Slack { .. } => None,
        };
        Ok(Box::new(jobs.map(move |job: StreamItem| {
            let mut job = job?;
            let length = base.of(&job);
            let draw = law.sample(draws.of(&job));
            let allowed = match least {
                Some(least) => length.scaled(draw.max(least)),
                None => length + drawn_seconds(draw),
            };
            job.deadline = Some(after(job.submit, allowed));
            Ok(job)
        })))
    }
}

impl ReadyTimes {
    pub(super) fn apply(
        &self,
        jobs: JobStream,
        mut draws: JobDraws,
    ) -> Result<JobStream, WorkloadError> {
        let (law, before_deadline) = match self {
            ReadyTimes::AfterSubmission { delay } => (sampler("ready_times", delay)?, false),
            ReadyTimes::BeforeDeadline { lead } => (sampler("ready_times", lead)?, true),
        };
        Ok(Box::new(jobs.map(move |job: StreamItem| {
            let mut job = job?;
            let drawn = drawn_seconds(law.sample(draws.of(&job)));
            let ready = if before_deadline {
                job.deadline.map(|deadline| deadline - drawn)
            } else {
                Some(after(job.submit, drawn))
            };
            if let Some(ready) = ready {
                job.ready = Some(ready.max(job.submit));
            }
            Ok(job)
        })))
    }
}

fn sampler(step: &'static str, law: &Law) -> Result<Sampler, WorkloadError> {
    law.sampler().map_err(|problem| WorkloadError::StepLaw { step, problem })
}

fn drawn_seconds(seconds: f64) -> Span {
    Span::from_secs_f64(seconds.max(0.0))
}

/// Sums of extreme draws stay within the range of time.
fn after(time: Time, span: Span) -> Time {
    let micros = time.as_micros().saturating_add(span.as_micros());
    Time::from_micros(micros).min(Time::FOREVER)
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, refusal, submitted_at};
    use super::*;

    fn jobs() -> Vec<Job> {
        let mut jobs = submitted_at(&[10, 20]);
        jobs[0].requested_time = Some(Span::from_secs(100));
        jobs[1].requested_time = None;
        jobs
    }

    fn deadlines(model: Deadlines) -> Vec<i64> {
        let jobs = after(&[Step::Deadlines(model)], jobs());
        let deadline = |job: &Job| job.deadline.expect("every job gets one").as_micros();
        jobs.iter().map(|job| deadline(job) / 1_000_000).collect()
    }

    #[test]
    fn a_stretched_deadline_multiplies_request_or_run_time() {
        let stretched = |base, factor| {
            deadlines(Deadlines::Stretched { base, factor: Law::Constant(factor), least: 1.0 })
        };
        assert_eq!(stretched(TimingBase::RequestedTime, 2.0), [210, 140]);
        assert_eq!(stretched(TimingBase::RunTime, 2.0), [130, 140]);
        assert_eq!(stretched(TimingBase::RunTime, 0.2), [70, 80]);
    }

    #[test]
    fn poisson_factors_are_whole_and_at_least_one() {
        let model = Deadlines::Stretched {
            base: TimingBase::RunTime,
            factor: Law::Poisson { mean: 3.0 },
            least: 1.0,
        };
        let times: Vec<i64> = (0..500).collect();
        let jobs = after(&[Step::Deadlines(model)], submitted_at(&times));
        let factors = jobs.iter().map(|job| {
            let allowed = job.deadline.expect("every job gets one") - job.submit;
            assert_eq!(allowed.as_micros() % 60_000_000, 0);
            allowed.as_micros() / 60_000_000
        });
        assert_eq!(factors.min(), Some(1));
    }

    #[test]
    fn slack_is_drawn_from_a_list() {
        let model = Deadlines::Slack { base: TimingBase::RunTime, slack: Law::among([5.0, 50.0]) };
        for (found, submit) in deadlines(model).into_iter().zip([10, 20]) {
            assert!([5, 50].contains(&(found - submit - 60)), "{found}");
        }
    }

    #[test]
    fn ready_times_never_lie_before_the_submission() {
        let mut jobs = jobs();
        jobs[0].deadline = Some(Time::from_secs(300));
        let lead = |seconds| {
            let lead = Law::Constant(seconds);
            Step::ReadyTimes(ReadyTimes::BeforeDeadline { lead })
        };
        let ready =
            |step| after(&[step], jobs.clone()).iter().map(|job| job.ready).collect::<Vec<_>>();
        assert_eq!(ready(lead(100.0)), [Some(Time::from_secs(200)), None]);
        assert_eq!(ready(lead(1000.0)), [Some(Time::from_secs(10)), None]);
        let delay = Law::Constant(7.0);
        let delayed = Step::ReadyTimes(ReadyTimes::AfterSubmission { delay });
        assert_eq!(ready(delayed), [Some(Time::from_secs(17)), Some(Time::from_secs(27))]);
    }

    #[test]
    fn a_law_that_is_none_is_refused() {
        let delay = Law::Exponential { mean: -1.0 };
        assert_eq!(
            refusal(Step::ReadyTimes(ReadyTimes::AfterSubmission { delay })),
            "step ready_times: exponential law: mean is -1, expected a finite number above 0"
        );
    }

    #[test]
    fn extreme_draws_stay_within_time() {
        let factor = Law::Constant(1e300);
        let base = TimingBase::RunTime;
        let model = Deadlines::Stretched { base, factor, least: 1.0 };
        let jobs = after(&[Step::Deadlines(model)], jobs());
        assert!(jobs[0].deadline.is_some_and(|deadline| deadline <= Time::FOREVER));
    }
}
