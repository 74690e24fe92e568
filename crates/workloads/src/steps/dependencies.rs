//! Lets jobs follow others: users then submit them when these have ended in the simulation, and not when they did in
//! the log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use haggle_model::{FollowOn, Following, Job, Span, Time};

use super::super::JobStream;
use super::super::error::WorkloadError;
use super::effect::{Effect, Unfound};
use super::step_error;
use super::whole::of_all;

haggle_model::words! {
    /// Source of the jobs that a job follows.
    pub enum DependenciesFrom {
        /// Fields 17 and 18 of the log: the preceding job, and the think time after its end. Without a think time, the job
        /// is not submitted before its time in the log.
        Log = "log",
        /// The waiting times and run times of the log. A job follows the job of its user that ended last before it, at most
        /// `gap` before. The time in between is its think time (after Zakay and Feitelson 2013).
        Sessions = "sessions",
        /// The previous job of the same user and application: only one of them is in the system at a time.
        Singleton = "singleton",
    }
}

/// Lets jobs follow others. All jobs are held in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependencies {
    /// Source of the jobs that a job follows.
    pub from: DependenciesFrom,
    /// Ends of these jobs that count.
    pub on: FollowOn,
    /// Longest think time within a session.
    pub gap: Span,
}

/// A job that another one follows.
#[derive(Clone, Copy)]
struct Link {
    /// Its place.
    to: usize,
    /// Time from its end to the submission; `None` = unknown: the submission is not earlier than it was.
    think: Option<Span>,
}

impl Dependencies {
    /// The longest think time within a session by default.
    pub const GAP: Span = Span::from_secs(20 * 60);

    pub(super) fn apply(self, jobs: JobStream, effect: Effect) -> Result<JobStream, WorkloadError> {
        if self.gap < Span::ZERO {
            return Err(step_error("dependencies", "gap is below 0"));
        }
        Ok(of_all(jobs, move |jobs| self.link(jobs, &effect)))
    }

    fn link(self, mut jobs: Vec<Job>, effect: &Effect) -> Result<Vec<Job>, WorkloadError> {
        if jobs.iter().any(|job| job.following.is_some()) {
            return Err(step_error(
                "dependencies",
                "the jobs follow others already; keep one of the two",
            ));
        }
        if jobs.iter().any(|job| job.task.is_some()) {
            let problem = "tasks of workflows follow their parents already; remove the step";
            return Err(step_error("dependencies", problem));
        }
        let mut numbers = BTreeSet::new();
        if let Some(twice) = jobs.iter().find(|it| !numbers.insert((it.workload, it.number))) {
            let problem = format!(
                "two jobs have the number {}, so a job cannot name one of them",
                twice.number
            );
            return Err(step_error("dependencies", problem));
        }
        drop(numbers);
        let links = match self.from {
            DependenciesFrom::Log => {
                let (links, unfound) = from_log(&jobs);
                effect.note_unfound(unfound);
                links
            }
            DependenciesFrom::Sessions => sessions(&jobs, self.gap)?,
            DependenciesFrom::Singleton => singletons(&jobs),
        };
        for (at, link) in links.into_iter().enumerate() {
            let Some(Link { to, think }) = link else { continue };
            let (number, came) = (jobs[to].number, jobs[to].submit);
            place(&mut jobs[to]).followers += 1;
            let job = &mut jobs[at];
            if think.is_some() {
                // The earlier end of the other job may bring it forward.
                job.move_to(came.min(job.submit));
            }
            let following = place(job);
            following.after.push(number);
            following.on = self.on;
            following.think = think.unwrap_or(Span::ZERO);
        }
        // The sort is stable, so a job stays behind the one that it follows.
        jobs.sort_by_key(|job| job.submit);
        Ok(jobs)
    }
}

/// The place of a job among those that follow each other, to change it.
fn place(job: &mut Job) -> &mut Following {
    Arc::make_mut(job.following.get_or_insert_with(|| Arc::new(Following::NONE)))
}

/// The links of the log, and the jobs whose preceding job is not before them.
fn from_log(jobs: &[Job]) -> (Vec<Option<Link>>, Unfound) {
    let mut unfound = Unfound::default();
    let mut places = BTreeMap::new();
    let mut links = Vec::with_capacity(jobs.len());
    for (at, job) in jobs.iter().enumerate() {
        let logged = job.origin.logged();
        // A job that comes later, or not at all, is not waited for.
        let to = places.get(&(job.workload, logged.preceding_job)).copied();
        // Numbers of jobs begin at 1; -1 is no job.
        if to.is_none() && logged.preceding_job > 0 {
            unfound.add(job.number, logged.preceding_job);
        }
        let think = (logged.think_time >= Span::ZERO).then_some(logged.think_time);
        links.push(to.map(|to| Link { to, think }));
        places.insert((job.workload, job.number), at);
    }
    (links, unfound)
}

/// Jobs of a user, by their ends in the log.
#[derive(Default)]
struct Ends {
    /// Jobs that have not ended yet.
    coming: BTreeSet<(Time, usize)>,
    last: Option<(Time, usize)>,
}

fn sessions(jobs: &[Job], gap: Span) -> Result<Vec<Option<Link>>, WorkloadError> {
    if !jobs.is_empty() && jobs.iter().all(|job| job.origin.logged().recorded().is_none()) {
        let problem = "no job has a waiting time and a run time of its log, so it is unknown when jobs ended there; use the \
                       jobs of a log, or another `from`";
        return Err(step_error("dependencies", problem));
    }
    let mut users: BTreeMap<(u16, i32), Ends> = BTreeMap::new();
    let link = |(at, job): (usize, &Job)| {
        if job.origin.user < 0 {
            return None;
        }
        let Ends { coming, last } = users.entry((job.workload, job.origin.user)).or_default();
        while let Some(&(end, to)) = coming.first().filter(|it| it.0 <= job.submit) {
            coming.pop_first();
            *last = Some((end, to));
        }
        if let Some(recorded) = job.origin.logged().recorded() {
            let end = job.submit + recorded.wait + recorded.run_time.reveal_to_machine();
            coming.insert((end, at));
        }
        let (end, to) = (*last)?;
        let think = job.submit - end;
        (think <= gap).then_some(Link { to, think: Some(think) })
    };
    Ok(jobs.iter().enumerate().map(link).collect())
}

fn singletons(jobs: &[Job]) -> Vec<Option<Link>> {
    let mut last = BTreeMap::new();
    let link = |(at, job): (usize, &Job)| {
        // Jobs of an unknown application may be of different ones.
        if job.origin.user < 0 || job.origin.executable < 0 {
            return None;
        }
        let key = (job.workload, job.origin.user, job.origin.executable);
        let to = last.insert(key, at)?;
        Some(Link { to, think: None })
    };
    jobs.iter().enumerate().map(link).collect()
}

#[cfg(test)]
mod tests {
    use haggle_model::job::{HiddenRunTime, Logged};

    use super::super::Step;
    use super::super::testing::{after, numbers, submissions, submitted_at};
    use super::*;

    fn follow(from: DependenciesFrom, jobs: Vec<Job>) -> Vec<Job> {
        let gap = Span::from_secs(100);
        after(&[Step::Dependencies(Dependencies { from, on: FollowOn::End, gap })], jobs)
    }

    /// Numbers of the jobs that each job follows, with the think time in seconds.
    fn links(jobs: &[Job]) -> Vec<(i64, Vec<i64>, i64, u32)> {
        let link = |job: &Job| {
            let none = Following::NONE;
            let it = job.following.as_deref().unwrap_or(&none);
            (job.number, it.after.clone(), it.think.as_micros() / 1_000_000, it.followers)
        };
        jobs.iter().map(link).collect()
    }

    fn logged(change: impl Fn(&mut Logged)) -> Option<Box<Logged>> {
        let mut logged = Logged::UNKNOWN;
        change(&mut logged);
        Some(Box::new(logged))
    }

    #[test]
    fn fields_17_and_18_are_followed() {
        let mut jobs = submitted_at(&[0, 50, 200, 300, 400]);
        let mut precede = |at: usize, number, think| {
            jobs[at].origin.logged = logged(|it| {
                it.preceding_job = number;
                it.think_time = Span::from_secs(think);
            });
        };
        precede(2, 1, 30);
        precede(3, 3, -1);
        // These come later, or never.
        precede(1, 4, 5);
        precede(4, 99, 5);
        jobs[2].ready = Some(Time::from_secs(210));
        let jobs = follow(DependenciesFrom::Log, jobs);
        assert_eq!(numbers(&jobs), [1, 3, 2, 4, 5]);
        assert_eq!(submissions(&jobs), [0, 0, 50, 300, 400]);
        let (none, one) = (Vec::new, |number| vec![number]);
        assert_eq!(
            links(&jobs),
            [
                (1, none(), 0, 1),
                (3, one(1), 30, 1),
                (2, none(), 0, 0),
                (4, one(3), 0, 0),
                (5, none(), 0, 0)
            ]
        );
        assert_eq!(jobs[1].ready, Some(Time::from_secs(10)), "it moves with the submission");
    }

    #[test]
    fn preceding_jobs_that_are_not_found_are_counted() {
        let mut jobs = submitted_at(&[0, 1, 2, 3, 4, 5, 6, 7]);
        for (job, preceding) in jobs.iter_mut().zip([-1, 1, 99, 5, 0, 6, 70, 71]) {
            job.origin.logged = logged(|it| it.preceding_job = preceding);
        }
        let gap = Span::ZERO;
        let from = DependenciesFrom::Log;
        let step = Step::Dependencies(Dependencies { from, on: FollowOn::End, gap });
        let stream: JobStream = Box::new(jobs.into_iter().map(Ok));
        let draws = super::super::Draws::new(1, "test");
        let (jobs, effects) = Step::apply_all(&[step], stream, &draws).expect("a good step");
        assert_eq!(jobs.count(), 8);
        let unfound = effects[0].unfound();
        // Job 4 names a later job, job 6 itself.
        assert_eq!(unfound.first, [(3, 99), (4, 5), (6, 6), (7, 70), (8, 71)]);
        assert_eq!(unfound.jobs, 5);
    }

    #[test]
    fn a_session_has_short_think_times() {
        let mut jobs = submitted_at(&[0, 10, 100, 150, 400, 401]);
        for (job, (user, wait, run)) in jobs.iter_mut().zip([
            (1, 5, 25),
            (1, 0, 60),
            (1, 0, 20),
            (1, 0, 1),
            (1, 0, 1),
            (2, 0, 1),
        ]) {
            job.origin.user = user;
            job.origin.logged = logged(|it| {
                it.wait = Span::from_secs(wait);
                it.run_time = HiddenRunTime::new(Span::from_secs(run));
            });
        }
        // Ends: 30, 70, 120, 151, 401, 402. Job 2 comes while job 1 is there; job 5 comes 249 s after job 4.
        let jobs = follow(DependenciesFrom::Sessions, jobs);
        let (none, one) = (Vec::new, |number| vec![number]);
        assert_eq!(
            links(&jobs),
            [
                (1, none(), 0, 0),
                (2, none(), 0, 1),
                (3, one(2), 30, 1),
                (4, one(3), 30, 0),
                (5, none(), 0, 0),
                (6, none(), 0, 0)
            ]
        );
        assert_eq!(submissions(&jobs), [0, 10, 10, 10, 400, 401]);
    }

    #[test]
    fn a_singleton_follows_the_previous_job_of_its_user_and_application() {
        let mut jobs = submitted_at(&[0, 1, 2, 3, 4, 5, 6]);
        for (job, (user, executable)) in
            jobs.iter_mut().zip([(1, 7), (1, 8), (1, 7), (-1, 7), (1, 7), (1, -1), (1, -1)])
        {
            (job.origin.user, job.origin.executable) = (user, executable);
        }
        let jobs = follow(DependenciesFrom::Singleton, jobs);
        let after = Vec::from_iter(links(&jobs).into_iter().map(|it| it.1));
        assert_eq!(after, [vec![], vec![], vec![1], vec![], vec![3], vec![], vec![]]);
        assert_eq!(submissions(&jobs), [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn it_is_said_what_cannot_be_followed() {
        let error = |from, jobs: Vec<Job>| {
            let step =
                Step::Dependencies(Dependencies { from, on: FollowOn::End, gap: Span::ZERO });
            let stream: JobStream = Box::new(jobs.into_iter().map(Ok));
            let (mut jobs, _) =
                Step::apply_all(&[step], stream, &super::super::Draws::new(1, "test"))
                    .expect("a good step");
            jobs.find_map(Result::err).expect("it is refused").to_string()
        };
        let unknown = error(DependenciesFrom::Sessions, submitted_at(&[0, 1]));
        assert!(unknown.contains("unknown when jobs ended"), "{unknown}");
        let mut twice = submitted_at(&[0, 1]);
        twice[1].number = 1;
        let twice = error(DependenciesFrom::Singleton, twice);
        assert!(twice.contains("two jobs have the number 1"), "{twice}");
    }
}
