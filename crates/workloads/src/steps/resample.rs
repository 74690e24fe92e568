//! Another workload of the same users.

use std::collections::BTreeMap;

use rand::RngExt;

use super::super::JobStream;
use super::super::error::WorkloadError;
use super::draws::JobDraws;
use super::step_error;
use super::whole::of_all;
use haggle_model::random::Stream;
use haggle_model::{Job, Span, Time};

/// A week. Jobs move by whole weeks and so keep their weekday and their time of day.
const WEEK: i64 = 7 * 24 * 3600 * 1_000_000;

/// Draws users of the workload, and moves all jobs of each to other weeks. A log is one sample of its
/// users, and another log may have other users (after Zakay and Feitelson 2013).
///
/// - A user is temporary if its jobs span fewer weeks than `long_term`. Temporary users are
///   drawn as often as there is room for, each with a week to begin in. Jobs outside of the new
///   workload are left out.
/// - Other users are permanent. The new workload has as many seats as the average number of permanent users.
///   A drawn user holds a seat for the whole time. It begins with a drawn week of its own, and returns to its
///   first week after its last.
///
/// Each week therefore has on average as many jobs of either kind as the weeks of the log. A user that
/// is drawn twice becomes two users. Users are numbered anew, from 1, and so are jobs; groups stay.
/// Jobs of an unknown user count as those of one user. All jobs are held in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resample {
    /// Number of weeks of the new workload; `None` = as many as in the old one.
    pub weeks: Option<u32>,
    /// Weeks from which on a user is permanent; `None` = [`Resample::LONG_TERM`].
    pub long_term: Option<u32>,
}

/// Largest expected number of jobs. They are held in memory, as those of a synthetic month.
const MOST_EXPECTED: f64 = 1e7;

/// Jobs of a user, by week of its own.
struct Weeks {
    first: i64,
    jobs: Vec<Vec<Job>>,
}

impl Resample {
    /// Weeks from which on a user is permanent by default.
    pub const LONG_TERM: u32 = 12;

    pub(super) fn apply(
        self,
        jobs: JobStream,
        mut draws: JobDraws,
    ) -> Result<JobStream, WorkloadError> {
        if self.weeks == Some(0) {
            return Err(step_error("resample", "weeks is 0"));
        }
        Ok(of_all(jobs, move |jobs| {
            self.check_size(&jobs)?;
            Ok(self.resample(jobs, draws.of_number(0)))
        }))
    }

    /// Refuses a number of weeks whose jobs would need too much memory.
    fn check_size(self, jobs: &[Job]) -> Result<(), WorkloadError> {
        // Without a number of weeks, about as many jobs are made as were read, and these fit.
        let (Some(weeks), Some(last)) = (self.weeks, jobs.last()) else { return Ok(()) };
        let before = week_of(last) + 1;
        let expected = jobs.len() as f64 / before as f64 * f64::from(weeks);
        if expected <= MOST_EXPECTED {
            return Ok(());
        }
        let jobs = jobs.len();
        let problem = format!(
            "{weeks} weeks like those of {jobs} jobs in {before} weeks make about {expected:.0} jobs, expected \
             {MOST_EXPECTED:.0} at most; lower weeks"
        );
        Err(step_error("resample", problem))
    }

    fn resample(self, jobs: Vec<Job>, stream: &mut Stream) -> Vec<Job> {
        let Some(last) = jobs.last() else { return jobs };
        let weeks_before = week_of(last) + 1;
        let weeks = self.weeks.map_or(weeks_before, i64::from);
        let long_term = self.long_term.unwrap_or(Resample::LONG_TERM) as usize;
        let users = by_user(jobs);
        // The map is in order of user numbers, so that equal seeds draw equal users.
        let (stay, come): (Vec<&Weeks>, Vec<&Weeks>) =
            users.values().partition(|user| user.jobs.len() >= long_term);
        let mut drawn = Drawn { weeks, users: 0, jobs: Vec::new() };
        // A temporary user has this many possible first weeks in the new workload. It is drawn this
        // often, divided by the weeks of the old workload.
        let places = Lots::new(come.iter().map(|user| weeks - 1 + user.jobs.len() as i64));
        for _ in 0..rounded(places.sum(), weeks_before, stream) {
            let user = come[places.draw(stream)];
            // Also before the first week, so that each week of the user may fall into the new workload.
            let begins = stream.random_range(1 - user.jobs.len() as i64..weeks);
            let moved = begins - user.first;
            drawn.add((begins..).zip(&user.jobs).map(|(week, jobs)| (week, moved, jobs)));
        }
        let lengths = Lots::new(stay.iter().map(|user| user.jobs.len() as i64));
        for _ in 0..rounded(lengths.sum(), weeks_before, stream) {
            let user = stay[lengths.draw(stream)];
            let own = stream.random_range(0..user.jobs.len());
            let again = (0..user.jobs.len()).cycle().skip(own);
            drawn.add(
                (0..weeks)
                    .zip(again)
                    .map(|(week, own)| (week, week - (user.first + own as i64), &user.jobs[own])),
            );
        }
        drawn.in_order()
    }
}

/// The part of the new workload that is drawn so far.
struct Drawn {
    weeks: i64,
    users: i32,
    jobs: Vec<Job>,
}

impl Drawn {
    /// Adds a user by its weeks: new number of the week, shift in weeks, and jobs.
    fn add<'a>(&mut self, weeks: impl Iterator<Item = (i64, i64, &'a Vec<Job>)>) {
        self.users += 1;
        for (week, moved, jobs) in weeks {
            if !(0..self.weeks).contains(&week) {
                continue;
            }
            for job in jobs {
                let mut job = job.clone();
                let submit = job.submit + Span::from_micros(moved * WEEK);
                job.move_to(submit);
                job.origin.user = self.users;
                self.jobs.push(job);
            }
        }
    }

    /// The jobs, numbered.
    fn in_order(self) -> Vec<Job> {
        let mut jobs = self.jobs;
        // The numbers are still those of the log, so jobs of a user at one instant keep their order.
        jobs.sort_by_key(|job| (job.submit, job.origin.user, job.number));
        for (number, job) in (1..).zip(&mut jobs) {
            job.number = number;
        }
        jobs
    }
}

fn week_of(job: &Job) -> i64 {
    (job.submit - Time::ZERO).as_micros() / WEEK
}

fn by_user(jobs: Vec<Job>) -> BTreeMap<i32, Weeks> {
    let mut users = BTreeMap::<i32, Weeks>::new();
    for job in jobs {
        let week = week_of(&job);
        let user = users.entry(job.origin.user);
        let user = user.or_insert_with(|| Weeks { first: week, jobs: Vec::new() });
        let own = (week - user.first) as usize;
        // Weeks without jobs keep their places.
        user.jobs.resize_with(user.jobs.len().max(own + 1), Vec::new);
        user.jobs[own].push(job);
    }
    users
}

/// `part / whole`, rounded up or down at random so that the mean is exact.
fn rounded(part: i64, whole: i64, stream: &mut Stream) -> i64 {
    (part + stream.random_range(0..whole)) / whole
}

/// Indices drawn by weight: the sums of all weights up to each.
struct Lots(Vec<i64>);

impl Lots {
    fn new(weights: impl Iterator<Item = i64>) -> Lots {
        let up_to = weights.scan(0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Lots(up_to.collect())
    }

    fn sum(&self) -> i64 {
        self.0.last().copied().unwrap_or(0)
    }

    fn draw(&self, stream: &mut Stream) -> usize {
        let lot = stream.random_range(0..self.sum());
        self.0.partition_point(|&up_to| up_to <= lot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{refusal, submitted_at};
    use super::super::{Draws, Step};
    use super::*;

    const HOURS_PER_WEEK: i64 = 168;

    /// 40 weeks: 20 users of three weeks with a job a week, at a time of their own, and two users of 20
    /// weeks with two jobs a week.
    fn log() -> Vec<Job> {
        let come = (0..20).flat_map(|user| (0..3).map(move |week| (user, 2 * user + week, user)));
        let stay = (0..2).flat_map(|user| {
            let weeks = 20 * user..20 * user + 20;
            weeks.flat_map(move |week| [100, 130].map(|hour| (30 + user, week, hour)))
        });
        let mut all = Vec::from_iter(come.chain(stay).filter(|&(_, week, _)| week < 40));
        all.sort_by_key(|&(_, week, hour)| (week, hour));
        let times = Vec::from_iter(
            all.iter().map(|&(_, week, hour)| 3600 * (HOURS_PER_WEEK * week + hour)),
        );
        let mut jobs = submitted_at(&times);
        for (job, (user, ..)) in jobs.iter_mut().zip(all) {
            job.origin.user = user as i32;
        }
        jobs
    }

    fn resampled(seed: u64, resample: Resample) -> Vec<Job> {
        let stream: JobStream = Box::new(log().into_iter().map(Ok));
        let jobs = Step::Resample(resample).apply(stream, &Draws::new(seed, "log"), 0);
        jobs.expect("a good step").map(|job| job.expect("no errors here")).collect()
    }

    fn hour_of_week(job: &Job) -> i64 {
        (job.submit - Time::ZERO).as_micros() / 3_600_000_000 % HOURS_PER_WEEK
    }

    #[test]
    fn jobs_keep_their_time_of_week_and_are_in_order_and_numbered() {
        let jobs = resampled(1, Resample::default());
        assert!(jobs.is_sorted_by_key(|job| job.submit));
        assert!((1..).zip(&jobs).all(|(number, job)| job.number == number));
        assert!(jobs.iter().all(|job| Time::ZERO <= job.submit && week_of(job) < 40));
        let of_user = |user: i32| jobs.iter().filter(move |job| job.origin.user == user);
        let users = jobs.iter().map(|job| job.origin.user).max().expect("there are some");
        for user in 1..=users {
            let hours = Vec::from_iter(of_user(user).map(hour_of_week));
            let stays = hours.iter().all(|&hour| hour >= 100);
            assert!(stays || hours.iter().all(|&hour| hour == hours[0] && hour < 20), "{hours:?}");
            let count = if stays { 80 } else { 3 };
            assert!(hours.len() <= count, "user {user} has {} jobs", hours.len());
        }
        assert_ne!(jobs, resampled(2, Resample::default()));
        assert_eq!(jobs, resampled(1, Resample::default()));
    }

    #[test]
    fn weeks_have_as_many_jobs_as_before_on_average() {
        let share = |jobs: &[Job]| {
            let stay = jobs.iter().filter(|job| hour_of_week(job) >= 100).count();
            (stay as f64, (jobs.len() - stay) as f64)
        };
        let (stay, come) = share(&log());
        for weeks in [40, 17] {
            let resample = Resample { weeks: Some(weeks), long_term: None };
            let of_seed = |seed| share(&resampled(seed, resample));
            let sum = (0..400).map(of_seed).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
            let part = f64::from(weeks) / 40.0 * 400.0;
            assert!((sum.0 / (stay * part) - 1.0).abs() < 0.02, "{sum:?} of {stay} {part}");
            // 400 draws of some 20 users: a standard error of one percent.
            assert!((sum.1 / (come * part) - 1.0).abs() < 0.04, "{sum:?} of {come} {part}");
        }
    }

    #[test]
    fn who_stays_is_there_in_every_week() {
        let jobs = resampled(3, Resample { weeks: Some(50), long_term: Some(20) });
        let weeks = (0..50).map(|week| {
            jobs.iter().filter(|job| week_of(job) == week && hour_of_week(job) >= 100).count()
        });
        assert!(weeks.into_iter().all(|jobs| jobs == 2), "one seat of two jobs a week");
    }

    #[test]
    fn no_weeks_are_refused() {
        let none = Resample { weeks: Some(0), long_term: None };
        assert_eq!(refusal(Step::Resample(none)), "step resample: weeks is 0");
    }
}
