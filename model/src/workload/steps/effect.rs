//! Whether a step does anything: what goes in is compared with what comes out.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::{JobStream, StreamItem};
use crate::Job;

/// What a step has done to the jobs so far.
#[derive(Clone, Debug, Default)]
pub struct Effect(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    /// Jobs that went in and have not come out yet, as long as nothing has changed.
    inside: VecDeque<Job>,
    jobs: u64,
    changed: bool,
    /// Nothing more goes in.
    ended: bool,
}

impl Effect {
    /// Whether every job that went in came out as it was, and no other; `false` if none went in.
    pub fn is_nothing(&self) -> bool {
        let seen = self.seen();
        seen.jobs > 0 && !seen.changed && seen.inside.is_empty()
    }

    /// Watches what goes into a step.
    pub(super) fn before(&self, mut jobs: JobStream) -> JobStream {
        let effect = self.clone();
        Box::new(std::iter::from_fn(move || {
            let next = jobs.next();
            effect.goes_in(next.as_ref());
            next
        }))
    }

    /// Watches what comes out of it.
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
            Some(Err(_)) => true,
            // A stream that the step ends early has lost the jobs that would have come.
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

    /// Whether each of `steps` does nothing to three jobs, of which `taken` are looked at.
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
