//! Independent jobs: arrivals, batch sizes, run times and processors are each drawn from a law of their own.
//!
//! ```text
//! instants ──> batches ──(in order of arrival)──> jobs
//! ```
//!
//! Jobs are numbered in the order in which they are drawn. Arrivals and batches have one stream each.
//! Every job has streams of its own for its run time, its processors and its user. More jobs or another
//! law of arrivals therefore change no job's length.
//!
//! The model makes no user estimates, so jobs request exactly their run time;
//! [`Estimates`](super::steps::Estimates) changes that.

mod arrivals;

pub use arrivals::{Arrivals, HOURS};

use std::ops::RangeInclusive;

use rand::RngExt;

use super::JobStream;
use super::error::WorkloadError;
use super::steps::{Draws, JobDraws};
use arrivals::Instants;
use haggle_model::job::{HiddenRunTime, JobOrigin, Lot};
use haggle_model::law::{Law, Sampler};
use haggle_model::random::{Stream, stream};
use haggle_model::{Job, JobId, JobShape, Span, Time};

/// Largest number of processors of a job, as everywhere in scenarios.
const MOST_PROCESSORS: u32 = 100_000_000;

/// Largest number of users, so that their numbers fit into the field of a job.
const MOST_USERS: u32 = i32::MAX as u32;

/// Largest number of jobs that may arrive at one instant if their total is not limited. Laws without an
/// upper end can draw batches that would take too long to generate.
const MOST_AT_ONCE: i64 = 1_000_000;

/// Largest expected number of jobs if it is not limited; equal to the largest limit.
const MOST_EXPECTED: f64 = 1e8;

/// Number of draws of a run time before the shortest one is taken.
const REDRAWS: usize = 1_000;

/// Parameters of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct IndependentJobs {
    /// Arrivals of jobs.
    pub arrivals: Arrivals,
    /// Largest number of jobs; `None` = all that arrive.
    pub jobs: Option<u64>,
    /// Jobs that arrive at one instant: rounded to a whole number, at least 1.
    pub batch: Law,
    /// Processors of a job: rounded to a whole number, at least 1.
    pub processors: Law,
    /// Run time on the reference processor, seconds.
    pub run: Law,
    /// Shortest run time. Shorter draws are repeated, a thousand times at most, so the law is cut off there.
    pub run_min: Span,
    /// Users, numbered from 1 and equally likely to send a job; 0 = jobs have no user.
    pub users: u32,
}

impl IndependentJobs {
    /// Jobs on one processor that arrive one by one.
    pub fn new(arrivals: Arrivals, run: Law) -> IndependentJobs {
        IndependentJobs {
            arrivals,
            jobs: None,
            batch: Law::Constant(1.0),
            processors: Law::Constant(1.0),
            run,
            run_min: Span::TICK,
            users: 0,
        }
    }

    /// Expected number of jobs, or slightly fewer; at most `jobs`.
    pub fn expected(&self) -> f64 {
        let most = self.jobs.map_or(f64::INFINITY, |jobs| jobs as f64);
        most.min(self.arrivals.expected() * self.batch.mean().max(1.0))
    }
}

/// The jobs of the model, in order of arrival. They are generated one by one, except for
/// [`Arrivals::Hourly`], which must sort its batches first.
pub fn generate(
    parameters: &IndependentJobs,
    seed: u64,
    workload: &str,
) -> Result<JobStream, WorkloadError> {
    let expected = parameters.expected();
    if parameters.jobs.is_none() && expected > MOST_EXPECTED {
        let key = parameters.arrivals.key();
        let problem = format!(
            "makes about {expected:.0} jobs, expected {MOST_EXPECTED:.0} at most: let fewer arrive, or limit them by jobs"
        );
        return Err(wrong(key, problem));
    }
    let instants = parameters
        .arrivals
        .instants(parameters.jobs.is_some(), stream(seed, workload, "independent arrivals"))?;
    let batches = Batches {
        instants,
        sizes: counts("batch", &parameters.batch)?,
        stream: stream(seed, workload, "independent batches"),
        made: 0,
        wanted: parameters.jobs.map_or(i64::MAX, |jobs| i64::try_from(jobs).unwrap_or(i64::MAX)),
    };
    let batches: Box<dyn Iterator<Item = Batch> + Send> = match parameters.arrivals {
        // Batches are drawn and sorted when the first job is read, not when the workload is opened.
        Arrivals::Hourly { .. } => Box::new(std::iter::once_with(|| by_time(batches)).flatten()),
        Arrivals::Renewal { .. } | Arrivals::Daily { .. } => Box::new(batches),
    };
    let mut jobs = Jobs::new(parameters, &Draws::new(seed, workload))?;
    let unlimited = parameters.jobs.is_none();
    let numbers = batches.flat_map(move |Batch { at, numbers }| {
        // A limit on all jobs also bounds each batch.
        let too_many = unlimited && numbers.end() - numbers.start() >= MOST_AT_ONCE;
        let (numbers, refused) = match too_many {
            true => (None, Some(Err(too_many_at_once(at)))),
            false => (Some(numbers), None),
        };
        numbers.into_iter().flatten().map(move |number| Ok((at, number))).chain(refused)
    });
    Ok(Box::new(numbers.map(move |it| it.map(|(at, number)| jobs.job(at, number)))))
}

/// Jobs that arrive together, by their numbers.
struct Batch {
    at: Time,
    numbers: RangeInclusive<i64>,
}

/// The batches in the order in which they are drawn, up to the jobs wanted.
struct Batches {
    instants: Instants,
    sizes: Sampler,
    stream: Stream,
    made: i64,
    wanted: i64,
}

impl Iterator for Batches {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        if self.made == self.wanted {
            return None;
        }
        let at = self.instants.next()?;
        let size = (self.sizes.sample(&mut self.stream).round() as i64).max(1);
        let first = self.made + 1;
        // Written as a difference, because the sum of made jobs and a large batch may overflow.
        self.made += size.min(self.wanted - self.made);
        Some(Batch { at, numbers: first..=self.made })
    }
}

fn by_time(batches: Batches) -> Vec<Batch> {
    let mut batches: Vec<Batch> = batches.collect();
    // Batches of one instant keep the order of their numbers.
    batches.sort_by_key(|batch| batch.at);
    batches
}

/// The attributes of a job that do not depend on its arrival.
struct Jobs {
    processors: Sampler,
    processor_draws: JobDraws,
    run: Sampler,
    run_draws: JobDraws,
    run_min: Span,
    users: u32,
    user_draws: JobDraws,
}

impl Jobs {
    fn new(parameters: &IndependentJobs, draws: &Draws) -> Result<Jobs, WorkloadError> {
        let IndependentJobs { run_min, users, .. } = *parameters;
        if run_min < Span::TICK {
            return Err(wrong("run_min", format!("is {run_min} s, expected more than 0 s")));
        }
        let run = sampler("run", &parameters.run)?;
        let longest = Span::from_secs_f64(parameters.run.highest());
        // Every draw would be repeated up to the limit and replaced.
        if longest < run_min {
            let problem =
                format!("is never longer than {longest} s, expected {run_min} s (run_min) or more");
            return Err(wrong("run", problem));
        }
        Ok(Jobs {
            processors: counts("processors", &parameters.processors)?,
            processor_draws: draws.for_jobs("independent processors"),
            run,
            run_draws: draws.for_jobs("independent run times"),
            run_min,
            users,
            user_draws: draws.for_jobs("independent users"),
        })
    }

    fn job(&mut self, submit: Time, number: i64) -> Job {
        let processors = self.processors.sample(self.processor_draws.of_number(number));
        let run_time = self.run_time(number);
        Job {
            id: JobId(0),
            workload: 0,
            number,
            lot: Lot::default(),
            submit,
            shape: JobShape::Rigid,
            // The conversion saturates, so that a heavy tail ends at the largest size.
            processors: (processors.round() as u32).clamp(1, MOST_PROCESSORS),
            requested_time: Some(run_time),
            run_time: HiddenRunTime::new(run_time),
            ready: None,
            deadline: None,
            reservation: None,
            phases: None,
            iterative: None,
            task: None,
            following: None,
            demand: None,
            initial: None,
            key: 0,
            origin: JobOrigin { user: self.user(number), ..JobOrigin::UNKNOWN },
        }
    }

    fn user(&mut self, number: i64) -> i32 {
        match self.users.min(MOST_USERS) {
            0 => JobOrigin::UNKNOWN.user,
            users => self.user_draws.of_number(number).random_range(1..=users as i32),
        }
    }

    fn run_time(&mut self, number: i64) -> Span {
        let stream = self.run_draws.of_number(number);
        let mut draws = (0..REDRAWS).map(|_| Span::from_secs_f64(self.run.sample(stream)));
        // If a thousand draws are too short, almost the whole law lies below the shortest run time.
        draws.find(|&drawn| drawn >= self.run_min).unwrap_or(self.run_min)
    }
}

fn too_many_at_once(at: Time) -> WorkloadError {
    let problem = format!(
        "draws more than {MOST_AT_ONCE} jobs that arrive at once, at {at} s: set jobs to limit \
         them all, or take a law of smaller batches"
    );
    wrong("batch", problem)
}

/// A law of whole numbers that can give 1 or more.
fn counts(parameter: &'static str, law: &Law) -> Result<Sampler, WorkloadError> {
    let sampler = sampler(parameter, law)?;
    if law.highest() < 1.0 {
        return Err(wrong(
            parameter,
            format!("is never more than {}, expected 1 or more", law.highest()),
        ));
    }
    Ok(sampler)
}

fn sampler(parameter: &'static str, law: &Law) -> Result<Sampler, WorkloadError> {
    law.sampler().map_err(|problem| wrong(parameter, format!("is no law: {problem}")))
}

fn wrong(parameter: &'static str, problem: String) -> WorkloadError {
    WorkloadError::IndependentJobs { parameter, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(seconds: f64) -> Arrivals {
        Arrivals::Renewal { between: Law::Constant(seconds), length: None }
    }

    fn one_minute() -> IndependentJobs {
        IndependentJobs { jobs: Some(10), ..IndependentJobs::new(every(5.0), Law::Constant(60.0)) }
    }

    fn jobs(parameters: &IndependentJobs, seed: u64) -> Vec<Job> {
        let jobs = generate(parameters, seed, "test").expect("good parameters");
        jobs.map(|job| job.expect("the model has no errors")).collect()
    }

    fn submissions(parameters: &IndependentJobs) -> Vec<i64> {
        jobs(parameters, 1).iter().map(|job| job.submit.as_micros() / 1_000_000).collect()
    }

    fn run_times(parameters: &IndependentJobs) -> Vec<Span> {
        jobs(parameters, 1).iter().map(|job| job.run_time.reveal_to_machine()).collect()
    }

    #[test]
    fn a_job_is_as_its_laws_say() {
        let mut parameters = one_minute();
        parameters.processors = Law::Constant(2.6);
        let jobs = jobs(&parameters, 1);
        let expected = |number: u32| Job {
            id: JobId(0),
            number: i64::from(number),
            ..Job::new(0, Time::from_secs(5 * i64::from(number)), 3, Span::from_secs(60))
        };
        assert_eq!(jobs, (1..=10).map(expected).collect::<Vec<_>>());
    }

    #[test]
    fn the_last_batch_is_cut_where_the_jobs_end() {
        let parameters = IndependentJobs { batch: Law::Constant(4.0), ..one_minute() };
        assert_eq!(submissions(&parameters), [5, 5, 5, 5, 10, 10, 10, 10, 15, 15]);
        assert!(submissions(&IndependentJobs { jobs: Some(0), ..parameters }).is_empty());
    }

    #[test]
    fn a_batch_that_nobody_limits_is_refused_when_it_is_too_large() {
        let unlimited = |batch: f64| IndependentJobs {
            batch: Law::Constant(batch),
            arrivals: Arrivals::Renewal {
                between: Law::Constant(5.0),
                length: Some(Span::from_secs(6)),
            },
            jobs: None,
            ..one_minute()
        };
        let drawn = |batch: f64| {
            let jobs = generate(&unlimited(batch), 1, "test").expect("good parameters");
            jobs.collect::<Result<Vec<Job>, _>>()
        };
        assert_eq!(drawn(1e6).expect("as many as may be").len(), 1_000_000);
        assert_eq!(
            drawn(1e6 + 1.0).expect_err("too many").to_string(),
            "independent-jobs: batch draws more than 1000000 jobs that arrive at once, at 5 s: \
             set jobs to limit them all, or take a law of smaller batches"
        );
        // Such a number is refused by its mean, before the first draw.
        let Err(refused) = generate(&unlimited(1e300), 1, "test") else {
            panic!("more jobs than any memory holds")
        };
        assert!(refused.to_string().contains("expected 100000000 at most"), "{refused}");
    }

    #[test]
    fn short_draws_are_drawn_again_and_in_the_end_cut() {
        let law = Law::Normal { mean: 600.0, standard_deviation: 400.0 };
        let drawn = IndependentJobs { run: law, jobs: Some(2_000), ..one_minute() };
        let cut = IndependentJobs { run_min: Span::from_secs(60), ..drawn.clone() };
        let (drawn, cut) = (run_times(&drawn), run_times(&cut));
        assert!(drawn.iter().all(|&time| time >= Span::TICK));
        assert!(cut.iter().all(|&time| time > Span::from_secs(60)), "none is clamped");
        // A job whose first draw is long enough is not affected by the cut.
        let same = drawn.iter().zip(&cut).filter(|(a, b)| a == b).count();
        assert_eq!(same, drawn.iter().filter(|&&time| time >= Span::from_secs(60)).count());
        assert!(same < 2_000);
        let hopeless = IndependentJobs {
            run: Law::Normal { mean: -1e9, standard_deviation: 1.0 },
            run_min: Span::from_secs(7),
            ..one_minute()
        };
        assert_eq!(run_times(&hopeless), [Span::from_secs(7); 10]);
    }

    #[test]
    fn users_are_as_likely_as_each_other() {
        let one = one_minute();
        assert!(jobs(&one, 1).iter().all(|job| job.origin == JobOrigin::UNKNOWN));
        let parameters = IndependentJobs { users: 3, jobs: Some(3_000), ..one };
        let jobs = jobs(&parameters, 1);
        for user in 1..=3 {
            let count = jobs.iter().filter(|job| job.origin.user == user).count();
            assert!((900..1_100).contains(&count), "{count} jobs of user {user}");
        }
    }

    #[test]
    fn purposes_do_not_share_draws() {
        let law = Law::Uniform { low: 1.0, high: 9.0 };
        let parameters = IndependentJobs { jobs: Some(40), run: law.clone(), ..one_minute() };
        let reference = run_times(&parameters);
        let more = IndependentJobs { jobs: Some(80), ..parameters.clone() };
        assert_eq!(run_times(&more)[..40], reference);
        let hourly = Arrivals::Hourly { weights: [1.0; HOURS], days: 3 };
        let changed = IndependentJobs {
            arrivals: hourly.clone(),
            processors: law.clone(),
            batch: law.clone(),
            ..parameters.clone()
        };
        let mut other = jobs(&changed, 1);
        other.sort_by_key(|job| job.number);
        let other: Vec<Span> = other.iter().map(|job| job.run_time.reveal_to_machine()).collect();
        assert_eq!(other, reference);
        let single = IndependentJobs { arrivals: hourly, ..parameters };
        let longer = IndependentJobs { run: Law::Constant(99.0), ..single.clone() };
        assert_eq!(submissions(&longer), submissions(&single));
    }

    #[test]
    fn extreme_draws_stay_within_what_can_be_counted() {
        let huge = Law::Constant(1e300);
        let parameters = IndependentJobs {
            arrivals: every(1e300),
            processors: huge.clone(),
            batch: huge.clone(),
            run: huge,
            ..one_minute()
        };
        let jobs = jobs(&parameters, 1);
        assert_eq!(jobs.len(), 10);
        assert!(
            jobs.iter().all(|job| job.submit <= Time::FOREVER && job.processors == 100_000_000)
        );
        assert!(jobs.iter().all(|job| job.requested_time == Some(Span::FOREVER)));
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let refusal = |change: &dyn Fn(&mut IndependentJobs)| {
            let mut parameters = one_minute();
            change(&mut parameters);
            generate(&parameters, 1, "test").map(|_| ()).expect_err("out of range").to_string()
        };
        assert_eq!(
            refusal(&|it| it.run = Law::Exponential { mean: -1.0 }),
            "independent-jobs: run is no law: exponential law: mean is -1, expected a finite number \
             above 0"
        );
        assert_eq!(
            refusal(&|it| it.run = Law::Constant(0.0)),
            "independent-jobs: run is never longer than 0 s, expected 0.000001 s (run_min) or more"
        );
        assert_eq!(
            refusal(&|it| it.run_min = Span::ZERO),
            "independent-jobs: run_min is 0 s, expected more than 0 s"
        );
        assert_eq!(
            refusal(&|it| it.processors = Law::Constant(0.5)),
            "independent-jobs: processors is never more than 0.5, expected 1 or more"
        );
        assert!(refusal(&|it| it.batch = Law::among([])).contains("batch is no law"));
    }
}
