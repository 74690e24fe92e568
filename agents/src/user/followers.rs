//! Jobs that follow others: their user submits them when these have ended.
//!
//! ```text
//!  JobDue ─▶ waits for the ends of others ─▶ think time ─▶ submitted
//!                     └─▶ rejected, if one of them ended otherwise than it must
//! ```

use std::collections::BTreeMap;

use haggle_model::{FollowOn, Following, Job, JobId, Span, Time};
use serde::{Deserialize, Serialize};

use super::Turn;

/// A job of a workload, by the number that jobs of this workload use to name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Named {
    workload: u16,
    number: i64,
}

impl Named {
    pub(super) fn of(job: &Job) -> Named {
        Named { workload: job.workload, number: job.number }
    }
}

/// The jobs that wait for the end of others, and those that others follow.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Followers {
    /// Jobs that others follow, until all of these have come and it has ended.
    followed: BTreeMap<Named, Followed>,
    waiting: BTreeMap<JobId, Waiting>,
    /// Jobs that have come and are not submitted yet, each with the number of the job whose end has decided about it.
    held: BTreeMap<JobId, Option<i64>>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Followed {
    /// Followers that have not come yet.
    to_come: u32,
    /// Followers that wait for its end.
    waiting: Vec<JobId>,
    end: Option<End>,
}

/// The end of a job.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct End {
    at: Time,
    completed: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Waiting {
    /// Jobs that have not ended.
    open: u32,
    on: FollowOn,
    think: Span,
    /// Time at which it may be submitted, by the ends up to now.
    from: Time,
    /// The job that ended last, by its number.
    last: Option<(Time, i64)>,
}

/// The turn of a job, and the job whose end decided about it, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decided {
    pub(super) job: JobId,
    pub(super) turn: Turn,
    /// `None` = it follows no job that has ended.
    pub(super) after: Option<i64>,
}

impl Waiting {
    /// Notes the end of a job. Returns false if it is one after which the job is never submitted.
    fn note(&mut self, number: i64, end: End) -> bool {
        self.from = self.from.max(end.at + self.think);
        // Of ends at one instant, the one that is noted last decides.
        if self.last.is_none_or(|(at, _)| at <= end.at) {
            self.last = Some((end.at, number));
        }
        match self.on {
            FollowOn::End => true,
            FollowOn::Completion => end.completed,
            FollowOn::Failure => !end.completed,
        }
    }
}

impl Followers {
    /// A job has come, with its place among those that follow each other.
    pub(super) fn take_in(&mut self, now: Time, job: &Job, place: &Following) -> Decided {
        if place.followers > 0 {
            let followed = Followed { to_come: place.followers, ..Followed::default() };
            self.followed.insert(Named::of(job), followed);
        }
        self.held.insert(job.id, None);
        let mut own = Waiting { open: 0, on: place.on, think: place.think, from: now, last: None };
        let mut barred = None;
        for &number in &place.after {
            let named = Named { workload: job.workload, number };
            // A job that never came here is not waited for.
            let Some(followed) = self.followed.get_mut(&named) else { continue };
            followed.to_come = followed.to_come.saturating_sub(1);
            match followed.end {
                Some(end) if own.note(number, end) => {}
                Some(_) => barred = Some(number),
                None => {
                    followed.waiting.push(job.id);
                    own.open += 1;
                }
            }
            if followed.to_come == 0 && followed.end.is_some() {
                self.followed.remove(&named);
            }
        }
        let last = own.last.map(|(_, number)| number);
        let (turn, after) = match own {
            _ if barred.is_some() => (Turn::Never, barred),
            Waiting { open: 0, from, .. } => (Turn::At(from), last),
            _ => {
                self.waiting.insert(job.id, own);
                (Turn::Later, None)
            }
        };
        Decided { job: job.id, turn, after }
    }

    /// A job has ended. Returns its followers whose turn is known now.
    pub(super) fn ended(&mut self, at: Time, named: Named, completed: bool) -> Vec<Decided> {
        let Some(followed) = self.followed.get_mut(&named) else { return Vec::new() };
        let end = End { at, completed };
        followed.end = Some(end);
        let followers = std::mem::take(&mut followed.waiting);
        if followed.to_come == 0 {
            self.followed.remove(&named);
        }
        let mut turns = Vec::new();
        for job in followers {
            // A job that is barred already does not wait any more.
            let Some(waiting) = self.waiting.get_mut(&job) else { continue };
            let may_come = waiting.note(named.number, end);
            waiting.open -= 1;
            let turn = match *waiting {
                _ if !may_come => Turn::Never,
                Waiting { open: 0, from, .. } => Turn::At(from),
                _ => continue,
            };
            self.waiting.remove(&job);
            turns.push(Decided { job, turn, after: Some(named.number) });
        }
        turns
    }

    /// The turn of a job is known, by the end of the job with the number `after`.
    pub(super) fn decide(&mut self, job: JobId, after: Option<i64>) {
        if let Some(decided) = self.held.get_mut(&job) {
            *decided = after;
        }
    }

    /// A job is submitted now, or never. Returns the number of the job whose end decided; `None` if the job did not wait
    /// here.
    pub(super) fn release(&mut self, job: JobId) -> Option<Option<i64>> {
        self.held.remove(&job)
    }

    /// For each job that waits, the first one that it waits for and that has not ended, by its number.
    pub(super) fn awaited(&self) -> BTreeMap<JobId, i64> {
        let mut awaited = BTreeMap::new();
        for (named, it) in self.followed.iter().filter(|it| it.1.end.is_none()) {
            for job in it.waiting.iter().filter(|it| self.waiting.contains_key(it)) {
                awaited.entry(*job).or_insert(named.number);
            }
        }
        awaited
    }

    /// True if a job waits for the end of others, or for the end of the think time after it.
    pub(super) fn holds(&self, job: JobId) -> bool {
        self.held.contains_key(&job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: u32) -> Job {
        Job::new(id, Time::ZERO, 1, Span::from_secs(1))
    }

    fn place(after: &[i64], on: FollowOn, followers: u32) -> Following {
        Following { after: after.to_vec(), on, think: Span::from_secs(10), followers }
    }

    const fn at(seconds: i64) -> Time {
        Time::from_secs(seconds)
    }

    #[test]
    fn a_job_comes_after_the_last_end_and_the_think_time() {
        let mut all = Followers::default();
        let mut come = |now, id, place: &Following| all.take_in(at(now), &job(id), place).turn;
        assert_eq!(come(0, 0, &place(&[], FollowOn::End, 2)), Turn::At(at(0)));
        assert_eq!(come(0, 1, &place(&[], FollowOn::End, 1)), Turn::At(at(0)));
        assert_eq!(come(1, 2, &place(&[1, 2], FollowOn::End, 0)), Turn::Later);
        assert_eq!(all.awaited(), BTreeMap::from([(JobId(2), 1)]));
        assert!(all.holds(JobId(2)) && all.release(JobId(2)).is_some());
        assert_eq!(all.ended(at(5), Named::of(&job(1)), false), []);
        let turns = all.ended(at(7), Named::of(&job(0)), true);
        let (job_2, turn) = (JobId(2), Turn::At(at(17)));
        assert_eq!(turns, [Decided { job: job_2, turn, after: Some(1) }]);
        assert_eq!(all.awaited(), BTreeMap::new());
        // Its last follower comes after its end: the rest of the think time is left, or none.
        let later = all.take_in(at(12), &job(3), &place(&[1], FollowOn::End, 0));
        assert_eq!((later.turn, later.after), (Turn::At(at(17)), Some(1)));
        assert!(all.followed.is_empty() && all.waiting.is_empty());
    }

    #[test]
    fn an_end_that_does_not_count_bars_a_job() {
        for (on, completed, may_come) in [
            (FollowOn::End, false, true),
            (FollowOn::Completion, true, true),
            (FollowOn::Completion, false, false),
            (FollowOn::Failure, true, false),
            (FollowOn::Failure, false, true),
        ] {
            let mut all = Followers::default();
            all.take_in(at(0), &job(0), &place(&[], FollowOn::End, 2));
            assert_eq!(all.take_in(at(0), &job(1), &place(&[1], on, 0)).turn, Turn::Later);
            let turn = if may_come { Turn::At(at(13)) } else { Turn::Never };
            let decided = |number| Decided { job: JobId(number), turn, after: Some(1) };
            assert_eq!(all.ended(at(3), Named::of(&job(0)), completed), [decided(1)]);
            assert_eq!(all.take_in(at(4), &job(2), &place(&[1], on, 0)), decided(2));
            assert!(all.followed.is_empty() && all.waiting.is_empty());
        }
    }

    #[test]
    fn an_unknown_job_is_not_waited_for() {
        let mut all = Followers::default();
        let decided = all.take_in(at(3), &job(0), &place(&[77], FollowOn::Completion, 0));
        assert_eq!((decided.turn, decided.after), (Turn::At(at(3)), None));
    }
}
