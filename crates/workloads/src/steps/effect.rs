//! The effect of a step: it compares the jobs before and after, and keeps the findings of the step.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::{JobStream, StreamItem};
use haggle_model::Job;

/// The effect of a step on the jobs so far.
#[derive(Clone, Debug, Default)]
pub struct Effect(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    /// Jobs that entered and have not left yet; used until the first change.
    inside: VecDeque<Job>,
    jobs: u64,
    changed: bool,
    /// True when no further job enters.
    ended: bool,
    unfound: Unfound,
}

/// Jobs that name a preceding job which is not before them in the workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfound {
    /// Number of such jobs.
    pub jobs: u64,
    /// Numbers of the first of them, each with the number that it names.
    pub first: Vec<(i64, i64)>,
}

/// Most jobs that a finding lists.
const LISTED: usize = 5;

impl Unfound {
    /// Adds a job and the number that it names.
    pub(super) fn add(&mut self, job: i64, preceding: i64) {
        self.jobs += 1;
        if self.first.len() < LISTED {
            self.first.push((job, preceding));
        }
    }
}

impl Effect {
    /// True if all jobs that entered left unchanged, and no other job left; `false` if none entered.
    pub fn is_nothing(&self) -> bool {
        let seen = self.seen();
        seen.jobs > 0 && !seen.changed && seen.inside.is_empty()
    }

    /// Jobs of the step that follow none, although they name one.
    pub fn unfound(&self) -> Unfound {
        self.seen().unfound.clone()
    }

    pub(super) fn note_unfound(&self, unfound: Unfound) {
        self.seen().unfound = unfound;
    }

    /// Observes the jobs that enter a step.
    pub(super) fn before(&self, mut jobs: JobStream) -> JobStream {
        let effect = self.clone();
        Box::new(std::iter::from_fn(move || {
            let next = jobs.next();
            effect.goes_in(next.as_ref());
            next
        }))
    }

    /// Observes the jobs that leave it.
    pub(super) fn after(&self, mut jobs: JobStream) -> JobStream {
        let effect = self.clone();
        Box::new(std::iter::from_fn(move || {
            let next = jobs.next();
            effect.comes_out(next.as_ref());
            next
        }))
    }

    fn goes_in(&self, next: Option<&StreamItem>) {
        let mut seen = self.seen();
        match next {
            Some(Ok(job)) => {
                seen.jobs += 1;
                // One change is enough, so no more copies are kept after it.
                if !seen.changed {
                    seen.inside.push_back(job.clone());
                }
            }
            Some(Err(_)) | None => seen.ended = true,
        }
    }

    fn comes_out(&self, next: Option<&StreamItem>) {
        let mut seen = self.seen();
        let same = match next {
            Some(Ok(job)) => seen.inside.pop_front().as_ref() == Some(job),
            // Errors pass through every step.
            Some(Err(_)) => true,
            // If the step ends the stream early, the remaining jobs are dropped.
            None => seen.ended && seen.inside.is_empty(),
        };
        if !same {
            seen.changed = true;
            seen.inside = VecDeque::new();
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::submitted_at;
    use super::super::{Draws, ScaleGaps, Step};
    use super::*;

    /// For each of `steps`: true if it does nothing to three jobs, of which `taken` are read.
    fn nothing(steps: &[Step], taken: usize) -> Vec<bool> {
        let jobs: JobStream = Box::new(submitted_at(&[0, 1, 2]).into_iter().map(Ok));
        let (jobs, effects) =
            Step::apply_all(steps, jobs, &Draws::new(1, "test")).expect("good steps");
        assert!(jobs.take(taken).all(|job| job.is_ok()));
        effects.iter().map(Effect::is_nothing).collect()
    }

    #[test]
    fn a_step_that_changes_no_job_is_told_from_one_that_does() {
        let scale = |factor| Step::ScaleGaps(ScaleGaps { factor });
        assert_eq!(nothing(&[scale(1.0), scale(2.0), scale(1.0)], 9), [true, false, true]);
        assert_eq!(nothing(&[Step::First(3)], 9), [false], "the fourth was never asked for");
        assert_eq!(nothing(&[Step::First(2)], 9), [false]);
        assert_eq!(nothing(&[Step::First(4)], 9), [true]);
        assert_eq!(nothing(&[scale(1.0)], 1), [true], "nobody asked for more");
        assert_eq!(nothing(&[scale(1.0)], 0), [false], "nothing is known");
    }
}
