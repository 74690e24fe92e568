//! Moldable jobs: the provider that starts one chooses its number of processors.
//!
//! A log gives the limit and the run time of a job on the processors it had. Amdahl's law gives the
//! limit and the run time on any other number of processors (Caniou, Charrier and Desprez 2010, section
//! 4.2). A moldable job is therefore a rigid one with a [`Speedup`]. A provider that does not mold runs
//! it as its user described it.
//!
//! Times are rounded up to microseconds, as those of rigid jobs are. On the number of processors that
//! it requests, a moldable job takes as long as a rigid one. Batch systems use whole seconds
//! ([`Rounding::Seconds`]).

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Job, JobShape, Span, Time};

/// Millionths of a whole.
const WHOLE: u32 = 1_000_000;

crate::words! {
    /// Unit to which the times of a moldable job are rounded up.
    #[derive(Default)]
    pub enum Rounding {
        /// Microseconds, as the times of rigid jobs.
        #[default]
        Microseconds = "microseconds",
        /// Whole seconds, as in batch systems.
        Seconds = "seconds",
    }
}

/// Speedup of a job by more processors, and the limit up to which they help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Speedup {
    /// Parallel fraction, in millionths.
    parallel: u32,
    /// Largest number of processors that helps.
    limit: u32,
    rounding: Rounding,
}

/// Reason why a speedup is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum SpeedupError {
    /// The fraction is not within 0 to 1.
    #[error("the parallel fraction is {0}; it must be a number from 0 to 1")]
    Fraction(f64),
    /// The limit is zero processors.
    #[error("a job runs on at least one processor")]
    Limit,
}

impl Speedup {
    /// The speedup of a job of which `fraction` (0 to 1, to the nearest millionth) runs in parallel,
    /// on up to `limit` processors.
    pub fn new(fraction: f64, limit: u32) -> Result<Speedup, SpeedupError> {
        if !(0.0..=1.0).contains(&fraction) {
            return Err(SpeedupError::Fraction(fraction));
        }
        if limit == 0 {
            return Err(SpeedupError::Limit);
        }
        let parallel = (fraction * f64::from(WHOLE)).round() as u32;
        Ok(Speedup { parallel, limit, rounding: Rounding::default() })
    }

    /// The same speedup with another rounding of times.
    pub const fn rounded(self, rounding: Rounding) -> Speedup {
        Speedup { rounding, ..self }
    }

    /// Largest number of processors that helps.
    pub const fn limit(self) -> u32 {
        self.limit
    }

    /// Speedup on `processors` over one processor (Amdahl 1967). It also holds beyond the limit,
    /// because a log may have given a job more processors than help.
    pub fn on(self, processors: u32) -> f64 {
        amdahl(self.fraction(), processors)
    }

    /// Parallel fraction, from 0 to 1.
    fn fraction(self) -> f64 {
        f64::from(self.parallel) / f64::from(WHOLE)
    }
}

/// Speedup on `processors` over one processor, for a job of which `fraction` runs in parallel.
fn amdahl(fraction: f64, processors: u32) -> f64 {
    1.0 / ((1.0 - fraction) + fraction / f64::from(processors.max(1)))
}

/// The four kinds of jobs of Caniou, Charrier and Desprez 2010, table 2: parallel fraction, limit,
/// and share of all jobs in percent.
pub const KINDS: [(f64, u32, u32); 4] =
    [(0.8, 32, 50), (0.9, 96, 30), (0.99, 256, 15), (0.999, 650, 5)];

/// The facts by which a scheduler sizes a moldable job. The true run time is not among them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moldable {
    /// Parallel fraction, from 0 to 1; 0 for a sequential job.
    fraction: f64,
    /// Largest number of processors that helps; 1 for a sequential job.
    limit: u32,
    /// Requested time on one reference processor, in seconds.
    alone: f64,
    /// Processors and time as its user requested them.
    asked: (u32, Span),
    rounding: Rounding,
}

impl Moldable {
    /// A job as its user describes it: `requested` time on `processors`. A job on a single processor is sequential.
    pub fn new(speedup: Speedup, processors: u32, requested: Span) -> Moldable {
        let seconds = requested.as_secs_f64();
        let (asked, rounding) = ((processors, requested), speedup.rounding);
        if processors <= 1 {
            return Moldable { fraction: 0.0, limit: 1, alone: seconds, asked, rounding };
        }
        Moldable {
            fraction: speedup.fraction(),
            limit: speedup.limit,
            alone: seconds * speedup.on(processors),
            asked,
            rounding,
        }
    }

    /// The job, if it is moldable and its user gave a limit. Other limits are computed from this one.
    pub fn of(job: &Job) -> Option<Moldable> {
        Moldable::described(job.shape, job.processors, job.requested_time)
    }

    /// The same from the description of a job.
    pub fn described(
        shape: JobShape,
        processors: u32,
        requested_time: Option<Span>,
    ) -> Option<Moldable> {
        match shape {
            JobShape::Moldable(speedup) => {
                Some(Moldable::new(speedup, processors, requested_time?))
            }
            JobShape::Rigid | JobShape::Bag => None,
        }
    }

    /// Largest number of processors that helps on a machine of `processors`.
    pub fn widest(&self, processors: u32) -> u32 {
        self.limit.min(processors)
    }

    fn seconds(&self, processors: u32, speed: f64) -> f64 {
        self.alone / (amdahl(self.fraction, processors) * speed)
    }

    /// Its limit on `processors` of this speed (1 = the reference processor).
    pub fn requested(&self, processors: u32, speed: f64) -> Span {
        // Computed as for a rigid job, so that both have the same time.
        if self.takes_what_is_asked(processors) {
            return self.asked.1.at_speed(speed).max(Span::TICK);
        }
        self.rounded(self.seconds(processors, speed))
    }

    /// Run time on `processors` of this speed, for the machine alone. Its ratio to the limit there is
    /// the ratio of `job`'s run time to its requested time.
    pub fn run_time(&self, job: &Job, processors: u32, speed: f64) -> Span {
        let run_time = job.run_time.reveal_to_machine();
        if self.takes_what_is_asked(processors) {
            return run_time.at_speed(speed).max(Span::TICK);
        }
        let run_time = run_time.as_secs_f64();
        let requested = job.requested_time.unwrap_or(Span::FOREVER).as_secs_f64();
        // A request of no time has no ratio.
        let part = if requested > 0.0 { run_time / requested } else { 1.0 };
        self.rounded(part * self.seconds(processors, speed))
    }

    /// True if its times are those of a rigid job.
    fn takes_what_is_asked(&self, processors: u32) -> bool {
        self.rounding == Rounding::Microseconds && processors == self.asked.0
    }

    fn rounded(&self, seconds: f64) -> Span {
        match self.rounding {
            Rounding::Microseconds => Span::from_secs_f64(seconds).max(Span::TICK),
            Rounding::Seconds => whole_seconds(seconds),
        }
    }
}

/// Whole seconds, at least one, rounded up; an excess of up to a millionth is rounding error.
fn whole_seconds(seconds: f64) -> Span {
    let least = seconds - 1e-6;
    // In integers, because sizing a job takes dozens of these. Without a dedicated instruction,
    // floating-point rounding is a function call.
    let below = least as i64;
    let whole = below.saturating_add(i64::from((below as f64) < least));
    Span::from_secs(whole.max(1)).min(Span::FOREVER)
}

/// A size for a moldable job, with its planned times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sizing {
    /// Processors.
    pub processors: u32,
    /// Planned start.
    pub start: Time,
    /// Planned duration.
    pub planned: Span,
}

impl Sizing {
    /// Latest completion.
    pub fn completion(&self) -> Time {
        self.start + self.planned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::HiddenRunTime;

    fn kind(place: usize) -> Speedup {
        let (fraction, limit, _) = KINDS[place];
        let kind = Speedup::new(fraction, limit).expect("a kind of the paper");
        kind.rounded(Rounding::Seconds)
    }

    fn job(kind: Speedup, processors: u32, requested: i64, run: i64) -> Job {
        Job {
            shape: JobShape::Moldable(kind),
            requested_time: Some(Span::from_secs(requested)),
            run_time: HiddenRunTime::new(Span::from_secs(run)),
            ..Job::new(0, Time::ZERO, processors, Span::ZERO)
        }
    }

    /// Limit and run time in seconds.
    fn on(job: &Job, processors: u32, speed: f64) -> (i64, i64) {
        let moldable = Moldable::of(job).expect("it is moldable");
        let seconds = |span: Span| span.as_micros() / 1_000_000;
        (
            seconds(moldable.requested(processors, speed)),
            seconds(moldable.run_time(job, processors, speed)),
        )
    }

    /// M-2.
    #[test]
    fn limits_and_run_times_follow_from_one_size() {
        let first = job(kind(0), 16, 3_600, 1_800);
        assert_eq!(on(&first, 32, 1.0), (3_240, 1_620));
        assert_eq!(on(&first, 32, 1.2), (2_700, 1_350));
        assert_eq!(on(&first, 32, 1.4), (2_315, 1_158));
        assert_eq!(on(&first, 4, 1.0), (5_760, 2_880));
        assert_eq!(on(&first, 1, 1.0), (14_400, 7_200));
        let second = job(kind(1), 9, 6_000, 600);
        assert_eq!(on(&second, 36, 1.0), (3_750, 375));
        assert_eq!(on(&second, 96, 1.0), (3_282, 329));
        let third = job(kind(2), 11, 7_200, 1_200);
        assert_eq!(on(&third, 100, 1.0), (1_433, 239));
        assert_eq!(on(&third, 100, 1.2), (1_194, 199));
    }

    /// A job that requests four processors and 100 s takes as long on four as a rigid job, at any
    /// speed. On other numbers its time follows Amdahl's law, to the microsecond.
    #[test]
    fn one_rounding_holds_for_rigid_and_moldable_jobs() {
        let job = job(kind(0).rounded(Rounding::Microseconds), 4, 100, 50);
        let moldable = Moldable::of(&job).expect("it is moldable");
        for speed in [1.0, 1.2, 1.4, 0.7] {
            let rigid = [job.requested_time.expect("a limit"), job.run_time.reveal_to_machine()];
            let [requested, run_time] = rigid.map(|time| time.at_speed(speed));
            assert_eq!(moldable.requested(4, speed), requested);
            assert_eq!(moldable.run_time(&job, 4, speed), run_time);
        }
        assert_eq!(moldable.requested(4, 1.2), Span::from_micros(83_333_334));
        assert_eq!(moldable.requested(1, 1.0), Span::from_secs(250));
        assert_eq!(moldable.requested(3, 1.2), Span::from_micros(97_222_223));
        assert_eq!(moldable.run_time(&job, 3, 1.2), Span::from_micros(48_611_112));
    }

    /// M-2: a log gave it more processors than help.
    #[test]
    fn a_size_beyond_the_limit_counts_as_it_is() {
        let job = job(kind(0), 128, 3_600, 3_600);
        assert_eq!(on(&job, 32, 1.0), (3_928, 3_928));
        assert_eq!(Moldable::of(&job).map(|it| it.widest(640)), Some(32));
    }

    /// M-2.
    #[test]
    fn more_processors_are_of_no_use_to_a_sequential_job() {
        let job = job(kind(3), 1, 3_600, 1_800);
        assert_eq!(on(&job, 1, 1.4), (2_572, 1_286));
        assert_eq!(Moldable::of(&job).map(|it| it.widest(640)), Some(1));
    }

    #[test]
    fn a_job_that_would_run_over_its_limit_does_so_at_any_size() {
        let job = job(kind(0), 4, 1_000, 5_000);
        assert_eq!(on(&job, 4, 1.0), (1_000, 5_000));
        assert_eq!(on(&job, 1, 1.0), (2_500, 12_500));
        assert_eq!(on(&Job { requested_time: Some(Span::ZERO), ..job }, 1, 1.0), (1, 1));
    }

    #[test]
    fn seconds_are_rounded_up_and_limited() {
        let seconds = |seconds| whole_seconds(seconds).as_micros() / 1_000_000;
        assert_eq!([0.0, -5.0, 1.0, 1.000_000_5, 1.01, 2.0].map(seconds), [1, 1, 1, 1, 2, 2]);
        assert_eq!(seconds(f64::NAN), 1);
        assert_eq!(whole_seconds(f64::INFINITY), Span::FOREVER);
        for tenths in 10..100_000 {
            let real = f64::from(tenths) / 10.0;
            assert_eq!(seconds(real), real.ceil() as i64, "{real}");
        }
    }

    /// Figure 3: speedups grow more and more slowly, and have nearly reached their maxima at the limits.
    #[test]
    fn speedups_level_off() {
        for place in 0..KINDS.len() {
            let speedups = Vec::from_iter((1..=650).map(|n| kind(place).on(n)));
            let gains = Vec::from_iter(speedups.windows(2).map(|pair| pair[1] - pair[0]));
            assert!(gains.iter().all(|&gain| gain > 0.0));
            assert!(gains.windows(2).all(|pair| pair[1] < pair[0]));
        }
        let at_limits = [4.444, 9.143, 72.113, 394.179];
        for (place, expected) in at_limits.into_iter().enumerate() {
            let speedup = kind(place).on(kind(place).limit());
            assert!((speedup - expected).abs() < 1e-3, "{speedup}");
        }
    }

    #[test]
    fn what_is_no_speedup_is_refused() {
        assert_eq!(Speedup::new(1.5, 4), Err(SpeedupError::Fraction(1.5)));
        assert!(Speedup::new(f64::NAN, 4).is_err());
        assert_eq!(Speedup::new(0.5, 0), Err(SpeedupError::Limit));
        assert_eq!(Speedup::new(1.0, 5).map(|all| all.on(4)), Ok(4.0));
    }
}
