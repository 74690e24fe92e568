//! Splits one log among several providers.

use rand::RngExt;

use super::super::JobStream;
use super::super::error::WorkloadError;
use super::draws::Draws;
use super::step_error;

/// Keeps part `part` of `parts`, or several consecutive parts from there on.
///
/// All workloads that name the same `pool` under one seed have the same draws. Their parts therefore do
/// not overlap, and together are the whole log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Name of the common draws; each log that is split needs a name of its own.
    pub pool: String,
    /// Number of parts.
    pub parts: u32,
    /// First part to keep, from 0.
    pub part: u32,
    /// Number of parts to keep.
    pub count: u32,
    /// Jobs that stay together.
    pub by: SplitBy,
}

haggle_model::words! {
    /// Unit that stays together when jobs are divided into parts.
    #[derive(Default)]
    pub enum SplitBy {
        /// All jobs of a user of the log.
        #[default]
        User = "user",
        /// A single job: each job goes to any part.
        Job = "job",
    }
}

impl Default for Split {
    fn default() -> Split {
        Split { pool: "split".to_owned(), parts: 2, part: 0, count: 1, by: SplitBy::User }
    }
}

impl Split {
    pub(super) fn apply(&self, jobs: JobStream, draws: &Draws) -> Result<JobStream, WorkloadError> {
        let Split { parts, part, count, by, .. } = *self;
        if part >= parts {
            let problem = format!("part is {part}, but there are {parts} parts, counted from 0");
            return Err(step_error("split", problem));
        }
        if count == 0 || count > parts - part {
            let most = parts - part;
            let problem = format!("count is {count}, but from part {part} on there are {most}");
            return Err(step_error("split", problem));
        }
        let kept = part..part + count;
        let mut lots = draws.for_pool(&self.pool);
        Ok(Box::new(jobs.filter(move |job| {
            // Errors must pass; otherwise a broken log would look like a short one.
            let Ok(job) = job else {
                return true;
            };
            let number = match by {
                SplitBy::User => job.origin.user.into(),
                SplitBy::Job => job.number,
            };
            kept.contains(&lots.of_number(number).random_range(0..parts))
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, numbers, refusal, submitted_at};
    use super::*;

    fn parts(by: SplitBy) -> Vec<Vec<i64>> {
        let times: Vec<i64> = (0..300).collect();
        let mut jobs = submitted_at(&times);
        for (job, user) in jobs.iter_mut().zip((0..30).cycle()) {
            job.origin.user = user;
        }
        let part = |part| {
            let split = Split { parts: 3, part, by, ..Split::default() };
            numbers(&after(&[Step::Split(split)], jobs.clone()))
        };
        (0..3).map(part).collect()
    }

    #[test]
    fn the_parts_are_the_whole_and_do_not_overlap() {
        for by in [SplitBy::User, SplitBy::Job] {
            let parts = parts(by);
            let mut all = parts.concat();
            all.sort_unstable();
            assert_eq!(all, (1..=300).collect::<Vec<i64>>());
            assert!(parts.iter().all(|part| part.len() > 20), "{parts:?}");
        }
    }

    #[test]
    fn several_parts_are_kept_together() {
        let jobs = submitted_at(&Vec::from_iter(0..300));
        let kept = |part, count| {
            let split = Split { parts: 3, part, count, by: SplitBy::Job, ..Split::default() };
            numbers(&after(&[Step::Split(split)], jobs.clone()))
        };
        let mut others = [kept(1, 1), kept(2, 1)].concat();
        others.sort_unstable();
        assert_eq!(kept(1, 2), others);
        assert_eq!(kept(0, 3).len(), 300);
    }

    #[test]
    fn users_stay_together() {
        let parts = parts(SplitBy::User);
        let user_of_first = (parts[0][0] - 1) % 30;
        let theirs = parts[0].iter().filter(|&&number| (number - 1) % 30 == user_of_first);
        assert_eq!(theirs.count(), 10);
    }

    #[test]
    fn a_part_that_does_not_exist_is_refused() {
        let split = Split { part: 2, ..Split::default() };
        assert_eq!(
            refusal(Step::Split(split)),
            "step split: part is 2, but there are 2 parts, counted from 0"
        );
        let split = Split { part: 1, count: 2, ..Split::default() };
        assert_eq!(
            refusal(Step::Split(split)),
            "step split: count is 2, but from part 1 on there are 1"
        );
    }
}
