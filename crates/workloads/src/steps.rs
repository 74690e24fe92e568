//! Steps that change jobs between their source and the run, one after another.
//!
//! A step turns one stream into another. Only steps that need a workload as a whole read ahead. Every
//! step keeps jobs in order of submission. A step that moves a submission moves ready time and deadline
//! with it.

mod bags;
mod demand;
mod dependencies;
mod draws;
mod effect;
mod estimates;
mod filter;
mod fit_load;
mod key;
mod load;
mod merge;
mod molding;
mod random_window;
mod resample;
mod reservations;
mod run_times;
mod scale_times;
mod shake;
mod slice;
mod split;
mod spread;
mod time_of;
mod timing;
mod whole;
mod window;

pub use demand::{Demands, LoggedMemory, MemoryRule};
pub use dependencies::{Dependencies, DependenciesFrom};
pub use draws::{Draws, JobDraws};
pub use effect::{Effect, Unfound};
pub use estimates::Estimates;
pub use filter::{Bounds, Filter};
pub use fit_load::{FitLoad, Overshoot};
pub use key::{Key, KeyField, KeyOrder};
pub use load::{FillWindow, ScaleGaps};
pub use merge::{merge, number_jobs};
pub use molding::{Molding, Speedups};
pub use random_window::RandomWindow;
pub use resample::Resample;
pub use reservations::Reservations;
pub use run_times::RunTimes;
pub use scale_times::ScaleTimes;
pub use shake::Shake;
pub use slice::Slice;
pub use split::{Split, SplitBy};
pub use spread::Spread;
pub use time_of::TimeOf;
pub use timing::{Deadlines, ReadyTimes};
pub use window::{Window, WindowStart};

use super::JobStream;
use super::error::WorkloadError;
use haggle_model::{Span, Time};

/// One transformation of a workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Keeps the submissions of a period.
    Window(Window),
    /// Keeps the submissions of a drawn period.
    RandomWindow(RandomWindow),
    /// Keeps the jobs within bounds.
    Filter(Filter),
    /// Keeps the first jobs up to a number.
    First(u64),
    /// Keeps consecutive jobs.
    Slice(Slice),
    /// Changes the load by stretching or shrinking all gaps.
    ScaleGaps(ScaleGaps),
    /// Changes the load of a fixed window by the length of the part of the log that it takes.
    FillWindow(FillWindow),
    /// Changes the length of the workload.
    Spread(Spread),
    /// Takes as many jobs into a period as a given load needs.
    FitLoad(FitLoad),
    /// Moves submissions a little.
    Shake(Shake),
    /// Draws users, and weeks of theirs to replay.
    Resample(Resample),
    /// Changes true run times.
    RunTimes(RunTimes),
    /// Changes run times and requested times by one factor.
    ScaleTimes(ScaleTimes),
    /// Changes requested times.
    Estimates(Estimates),
    /// Gives jobs a deadline.
    Deadlines(Deadlines),
    /// Gives jobs an earliest start.
    ReadyTimes(ReadyTimes),
    /// Makes jobs request advance reservations.
    Reservations(Reservations),
    /// Gives jobs a priority key.
    Key(Key),
    /// Keeps one of several parts.
    Split(Split),
    /// Makes each job a bag of one-processor tasks.
    Bags,
    /// Makes each job moldable.
    Molding(Molding),
    /// Lets jobs follow others.
    Dependencies(Dependencies),
    /// Gives jobs a demand for resources of nodes.
    Demand(Demands),
}

impl Step {
    /// The word used in scenarios and messages.
    pub const fn name(&self) -> &'static str {
        match self {
            Step::Window(_) => "window",
            Step::RandomWindow(_) => "random_window",
            Step::Filter(_) => "filter",
            Step::First(_) => "first",
            Step::Slice(_) => "slice",
            Step::ScaleGaps(_) => "scale_gaps",
            Step::FillWindow(_) => "fill_window",
            Step::Spread(_) => "spread",
            Step::FitLoad(_) => "fit_load",
            Step::Shake(_) => "shake",
            Step::Resample(_) => "resample",
            Step::RunTimes(_) => "run_times",
            Step::ScaleTimes(_) => "scale_times",
            Step::Estimates(_) => "estimates",
            Step::Deadlines(_) => "deadlines",
            Step::ReadyTimes(_) => "ready_times",
            Step::Reservations(_) => "reservations",
            Step::Key(_) => "key",
            Step::Split(_) => "split",
            Step::Bags => "bags",
            Step::Molding(_) => "moldable",
            Step::Dependencies(_) => "dependencies",
            Step::Demand(_) => "demand",
        }
    }

    /// Shift of time zero by this step. `None` if submissions no longer correspond to instants of their
    /// log, or if the shift is known only from the jobs.
    pub fn moves(&self) -> Option<Span> {
        match self {
            Step::Window(Window { from, start, .. }) => match start {
                WindowStart::WindowIsZero => Some(*from - Time::ZERO),
                WindowStart::Keep => Some(Span::ZERO),
                WindowStart::FirstJobIsZero => None,
            },
            Step::RandomWindow(_)
            | Step::ScaleGaps(_)
            | Step::FillWindow(_)
            | Step::Spread(_)
            | Step::FitLoad(_)
            | Step::Resample(_) => None,
            // Time zero stays. `shake` and `dependencies` move single jobs, but not the clock.
            Step::Filter(_)
            | Step::First(_)
            | Step::Slice(_)
            | Step::Shake(_)
            | Step::RunTimes(_)
            | Step::ScaleTimes(_)
            | Step::Estimates(_)
            | Step::Deadlines(_)
            | Step::ReadyTimes(_)
            | Step::Reservations(_)
            | Step::Key(_)
            | Step::Split(_)
            | Step::Bags
            | Step::Molding(_)
            | Step::Dependencies(_)
            | Step::Demand(_) => Some(Span::ZERO),
        }
    }

    /// Applies the step to `jobs`. `occurrence` is the number of earlier steps of the same name in the
    /// workload, so that each has its own draws.
    pub fn apply(
        &self,
        jobs: JobStream,
        draws: &Draws,
        occurrence: usize,
    ) -> Result<JobStream, WorkloadError> {
        self.apply_and_note(jobs, draws, occurrence, &Effect::default())
    }

    /// The same, with the findings of the step in `effect`.
    fn apply_and_note(
        &self,
        jobs: JobStream,
        draws: &Draws,
        occurrence: usize,
        effect: &Effect,
    ) -> Result<JobStream, WorkloadError> {
        let job_draws = || draws.for_jobs(&format!("{} {occurrence}", self.name()));
        match self {
            Step::Window(window) => window.apply(jobs),
            Step::RandomWindow(window) => window.apply(jobs, job_draws()),
            Step::Filter(filter) => filter.apply(jobs),
            Step::First(count) => Ok(Box::new(first(jobs, *count))),
            Step::Slice(slice) => Ok(Box::new(slice.apply(jobs))),
            Step::ScaleGaps(scale) => scale.apply(jobs),
            Step::FillWindow(fill) => fill.apply(jobs),
            Step::Spread(spread) => spread.apply(jobs),
            Step::FitLoad(fit) => fit.apply(jobs),
            Step::Shake(shake) => shake.apply(jobs, job_draws()),
            Step::Resample(resample) => resample.apply(jobs, job_draws()),
            Step::RunTimes(run_times) => run_times.apply(jobs, job_draws()),
            Step::ScaleTimes(scale) => scale.apply(jobs),
            Step::Estimates(estimates) => estimates.apply(jobs, job_draws()),
            Step::Deadlines(deadlines) => deadlines.apply(jobs, job_draws(), draws.seed()),
            Step::ReadyTimes(ready) => ready.apply(jobs, job_draws()),
            Step::Reservations(windows) => windows.apply(jobs, draws, occurrence),
            Step::Key(key) => Ok(key.apply(jobs)),
            Step::Split(split) => split.apply(jobs, draws),
            Step::Bags => Ok(bags::bags(jobs)),
            Step::Molding(molding) => molding.apply(jobs, job_draws()),
            Step::Dependencies(dependencies) => dependencies.apply(jobs, effect.clone()),
            Step::Demand(demands) => Ok(demands.apply(jobs)),
        }
    }

    /// Applies all `steps` to `jobs`, in order, and returns their effects.
    pub fn apply_all(
        steps: &[Step],
        mut jobs: JobStream,
        draws: &Draws,
    ) -> Result<(JobStream, Vec<Effect>), WorkloadError> {
        let mut effects = Vec::with_capacity(steps.len());
        for (at, step) in steps.iter().enumerate() {
            let earlier = &steps[..at];
            // Only steps of the same name count, so that inserting another step leaves the draws as they are.
            let occurrence = earlier.iter().filter(|other| other.name() == step.name()).count();
            let effect = Effect::default();
            jobs = effect.after(step.apply_and_note(
                effect.before(jobs),
                draws,
                occurrence,
                &effect,
            )?);
            effects.push(effect);
        }
        Ok((jobs, effects))
    }
}

/// Stops without reading the job after the last one, for which standard input could block.
fn first(mut jobs: JobStream, count: u64) -> impl Iterator<Item = super::StreamItem> + Send {
    let mut left = count;
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        jobs.next()
    })
}

fn step_error(step: &'static str, problem: impl Into<String>) -> WorkloadError {
    WorkloadError::Step { step, problem: problem.into() }
}

/// Checks that a factor is finite and above zero.
fn check_factor(step: &'static str, name: &str, factor: f64) -> Result<(), WorkloadError> {
    if factor > 0.0 && factor.is_finite() {
        return Ok(());
    }
    let problem = format!("{name} is {factor}, expected a finite number above 0");
    Err(step_error(step, problem))
}

/// `percent` of a time, rounded up to whole seconds.
fn percent_of(time: Span, percent: f64) -> Span {
    // One division, so that whole percents of whole seconds are exact.
    let seconds = (time.as_micros() as f64 * percent / 1e8).ceil();
    Span::from_secs_f64(seconds).min(Span::FOREVER)
}

#[cfg(test)]
mod testing {
    //! Tiny workloads for the tests of the steps.

    use super::*;
    use haggle_model::{Job, Span, Time};

    /// Jobs submitted at these seconds, 60 s long on one processor, numbered from 1.
    pub(super) fn submitted_at(seconds: &[i64]) -> Vec<Job> {
        let job = |(id, &at): (usize, &i64)| {
            Job::new(id as u32, Time::from_secs(at), 1, Span::from_secs(60))
        };
        seconds.iter().enumerate().map(job).collect()
    }

    /// The result of `steps` on `jobs`.
    pub(super) fn after(steps: &[Step], jobs: Vec<Job>) -> Vec<Job> {
        let stream: JobStream = Box::new(jobs.into_iter().map(Ok));
        let draws = Draws::new(1, "test");
        let (jobs, _) = Step::apply_all(steps, stream, &draws).expect("good steps");
        jobs.map(|job| job.expect("no errors here")).collect()
    }

    /// The error of an invalid step.
    pub(super) fn refusal(step: Step) -> String {
        let stream: JobStream = Box::new(std::iter::empty());
        let error = step.apply(stream, &Draws::new(1, "test"), 0).map(|_| ());
        error.expect_err("a bad step").to_string()
    }

    pub(super) fn submissions(jobs: &[Job]) -> Vec<i64> {
        jobs.iter().map(|job| job.submit.as_micros() / 1_000_000).collect()
    }

    pub(super) fn numbers(jobs: &[Job]) -> Vec<i64> {
        jobs.iter().map(|job| job.number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{after, numbers, submitted_at};
    use super::*;

    #[test]
    fn first_keeps_so_many_jobs() {
        let jobs = submitted_at(&[0, 1, 2]);
        assert_eq!(numbers(&after(&[Step::First(2)], jobs.clone())), [1, 2]);
        assert_eq!(after(&[Step::First(0)], jobs.clone()).len(), 0);
        assert_eq!(after(&[Step::First(9)], jobs).len(), 3);
    }

    #[test]
    fn an_error_passes_through_every_step() {
        let steps = [
            Step::Window(Window::default()),
            Step::Filter(Filter::default()),
            Step::First(9),
            Step::Slice(Slice { skip: 1, jobs: 1 }),
            Step::ScaleGaps(ScaleGaps { factor: 2.0 }),
            Step::Spread(Spread { length: haggle_model::Span::from_secs(9) }),
            Step::Shake(Shake { most: Span::from_secs(9), by: SplitBy::Job }),
            Step::RunTimes(RunTimes::Requested),
            Step::ScaleTimes(ScaleTimes { factor: 2.0 }),
            Step::Estimates(Estimates::Exact),
            Step::Key(Key { field: KeyField::Queue, order: KeyOrder::SmallFirst }),
            Step::Split(Split { parts: 1, ..Split::default() }),
        ];
        let broken: JobStream = Box::new(std::iter::once(Err(WorkloadError::TooManyJobs)));
        let draws = Draws::new(1, "test");
        let (jobs, _) = Step::apply_all(&steps, broken, &draws).expect("good steps");
        assert_eq!(jobs.filter(Result::is_err).count(), 1);
    }
}
