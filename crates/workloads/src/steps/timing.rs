//! Deadlines and earliest starts, drawn from stated laws.

use super::super::error::WorkloadError;
use super::super::{JobStream, StreamItem};
use super::draws::JobDraws;
use super::step_error;
use super::time_of::TimeOf;
use haggle_model::law::{Law, Sampler};
use haggle_model::random::splitmix;
use haggle_model::{Job, Span, Time};

/// Rules by which deadlines are set.
#[derive(Clone, Debug, PartialEq)]
pub enum Deadlines {
    /// Deadline = submission + base x max(`least`, p), p drawn from `factor`.
    /// With `least` 1 and a Poisson factor this is the deadline of the advance-reservation studies:
    /// every job has at least the time it needs.
    Stretched {
        /// The time to be multiplied.
        base: TimeOf,
        /// The factor.
        factor: Law,
        /// Smallest factor.
        least: f64,
    },
    /// Deadline = submission + base + slack, the slack in seconds, never below 0.
    Slack {
        /// The time to which the slack is added.
        base: TimeOf,
        /// The slack, seconds; [`Law::among`] draws from a list.
        slack: Law,
    },
    /// Deadline = submission + base + one of the listed slacks. The choice depends on the seed,
    /// `stream` and the index of the job at this step, but not on the workload's name. It uses integers
    /// only: h = s(s(s(seed) xor stream) xor index), s a step of SplitMix64, chooses the element
    /// floor(n h / 2^64) of n. Other programs can therefore draw the same, and lists of one length give
    /// the same choices.
    Listed {
        /// The time to which the slack is added.
        base: TimeOf,
        /// The slacks.
        slacks: Vec<Span>,
        /// Distinguishes workloads under one seed.
        stream: u64,
    },
}

/// Rules by which earliest starts are set; none is before the submission.
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

impl Deadlines {
    pub(super) fn apply(
        &self,
        jobs: JobStream,
        mut draws: JobDraws,
        seed: u64,
    ) -> Result<JobStream, WorkloadError> {
        match self.clone() {
            Deadlines::Stretched { base, factor, least } => {
                let law = sampler("deadlines", &factor)?;
                Ok(with_deadlines(jobs, move |job, _| {
                    // Both bounds count: `least` may be negative, and no deadline is before the submission.
                    base.of(job).scaled(law.sample(draws.of(job)).max(least).max(0.0))
                }))
            }
            Deadlines::Slack { base, slack } => {
                let law = sampler("deadlines", &slack)?;
                Ok(with_deadlines(jobs, move |job, _| {
                    base.of(job) + drawn_seconds(law.sample(draws.of(job)))
                }))
            }
            Deadlines::Listed { base, slacks, stream } => {
                if slacks.is_empty() {
                    return Err(step_error("deadlines", "no slack is listed"));
                }
                if let Some(slack) = slacks.iter().find(|&&slack| slack < Span::ZERO) {
                    let problem = format!("a slack is {slack} s, expected 0 s or more");
                    return Err(step_error("deadlines", problem));
                }
                Ok(with_deadlines(jobs, move |job, place| {
                    base.of(job) + slacks[listed(slacks.len(), seed, stream, place)]
                }))
            }
        }
    }
}

/// Sets the deadline of each job to its submission plus `allowed` of the job and its index.
fn with_deadlines(
    jobs: JobStream,
    mut allowed: impl FnMut(&Job, u64) -> Span + Send + 'static,
) -> JobStream {
    let mut places = 0..;
    Box::new(jobs.map(move |job: StreamItem| {
        let mut job = job?;
        let place = places.next().unwrap_or(u64::MAX);
        job.deadline = Some(after(job.submit, allowed(&job, place)));
        Ok(job)
    }))
}

/// See [`Deadlines::Listed`].
fn listed(length: usize, seed: u64, stream: u64, place: u64) -> usize {
    let hash = splitmix(splitmix(splitmix(seed) ^ stream) ^ place);
    ((length as u128 * u128::from(hash)) >> 64) as usize
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

/// Limits sums of extreme draws to the range of time.
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
        assert_eq!(stretched(TimeOf::RequestedTime, 2.0), [210, 140]);
        assert_eq!(stretched(TimeOf::RunTime, 2.0), [130, 140]);
        assert_eq!(stretched(TimeOf::RunTime, 0.2), [70, 80]);
    }

    #[test]
    fn poisson_factors_are_whole_and_at_least_one() {
        let model = Deadlines::Stretched {
            base: TimeOf::RunTime,
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
        let model = Deadlines::Slack { base: TimeOf::RunTime, slack: Law::among([5.0, 50.0]) };
        for (found, submit) in deadlines(model).into_iter().zip([10, 20]) {
            assert!([5, 50].contains(&(found - submit - 60)), "{found}");
        }
    }

    #[test]
    fn a_listed_slack_is_drawn_as_others_can_draw_it() {
        let found: Vec<usize> = (0..10).map(|place| listed(3, 1, 6, place)).collect();
        assert_eq!(found, [0, 2, 2, 2, 2, 1, 2, 1, 1, 1]);
        let model = Deadlines::Listed {
            base: TimeOf::RequestedTime,
            slacks: [1_000, 2_000, 3_000].map(Span::from_secs).to_vec(),
            stream: 6,
        };
        // The tests' seed is 1.
        assert_eq!(deadlines(model), [1_110, 3_080]);
    }

    #[test]
    fn a_list_that_is_none_is_refused() {
        let base = TimeOf::RunTime;
        let listed =
            |slacks| refusal(Step::Deadlines(Deadlines::Listed { base, slacks, stream: 0 }));
        assert_eq!(listed(vec![]), "step deadlines: no slack is listed");
        let slacks = vec![Span::from_secs(-5)];
        assert_eq!(listed(slacks), "step deadlines: a slack is -5 s, expected 0 s or more");
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
            "step ready-times: exponential law: mean is -1, expected a finite number above 0"
        );
    }

    #[test]
    fn extreme_draws_stay_within_time() {
        let factor = Law::Constant(1e300);
        let base = TimeOf::RunTime;
        let model = Deadlines::Stretched { base, factor, least: 1.0 };
        let jobs = after(&[Step::Deadlines(model)], jobs());
        assert!(jobs[0].deadline.is_some_and(|deadline| deadline <= Time::FOREVER));
    }
}
