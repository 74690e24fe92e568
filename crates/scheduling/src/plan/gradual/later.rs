//! Jobs that start later than any query needs so far, and are not planned yet.
//!
//! For each such job an instant is known before which it does not start. A later job in the order that ends
//! by that instant takes nothing from it. So a job is booked at its first fit if no unplanned job before it
//! can start before its end. Otherwise these unplanned jobs are planned first: up to that end and as far
//! again, so that few such detours are made.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::Gradual;
use crate::plan::waiting::Entry;
use crate::scheduler::BEYOND_ALL_LIMITS;

/// A job that is not planned yet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Later {
    /// Its place in the list of waiting jobs.
    pub(super) place: usize,
    /// It does not start before this.
    pub(super) not_before: Time,
}

/// How far to plan.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// Until all jobs that start by then are planned.
    Instant(Time),
    /// Until the job that starts next is planned.
    NextStart,
}

impl Gradual {
    /// Plans up to `until`.
    pub(crate) fn plan_until(&mut self, until: Until, now: Time) {
        let mut later = std::mem::take(&mut self.later);
        let left = self.plan_some(&mut later, until, now);
        later.truncate(left);
        self.later = later;
    }

    /// Plans `jobs`, the first unplanned ones in order, up to `until`. Returns the number of those that
    /// start later, and moves these to the front.
    fn plan_some(&mut self, jobs: &mut [Later], until: Until, now: Time) -> usize {
        let (mut left, mut bound) = (0, Time::FOREVER);
        for at in 0..jobs.len() {
            let mut job = jobs[at];
            let Entry { span, slot, .. } = self.waiting.list()[job.place];
            loop {
                let start = match self.place_by(self.latest(until, now), job, now) {
                    Ok(start) => start,
                    Err(not_before) => {
                        jobs[left] = Later { not_before, ..job };
                        left += 1;
                        bound = bound.min(not_before);
                        break;
                    }
                };
                let end = start + span;
                // A job that ends after `bound` may overlap the start of an unplanned job before it, which
                // has priority.
                if end <= bound {
                    self.book(start, slot);
                    break;
                }
                let further = Until::Instant(end + (end - now));
                left = self.plan_some(&mut jobs[..left], further, now);
                let later = jobs[..left].iter().map(|job| job.not_before);
                bound = later.min().unwrap_or(Time::FOREVER);
                job.not_before = start;
            }
        }
        left
    }

    /// The first fit of a job beside the planned jobs. If it is after `latest`: an instant before which the
    /// job does not start.
    fn place_by(&mut self, latest: Time, job: Later, now: Time) -> Result<Time, Time> {
        if job.not_before > latest {
            return Err(job.not_before);
        }
        let Entry { span, processors, .. } = self.waiting.list()[job.place];
        let from = self.hints.earliest_by(&self.profile, processors, span, now, latest);
        let from = from.max(job.not_before);
        let start = self.profile.earliest_fit_by(processors, span, from, latest);
        // Jobs without a limit hold their processors for ever.
        let never = (latest >= Time::FOREVER).then_some(Time::FOREVER);
        start.or(never).ok_or(from.max(latest + Span::TICK))
    }

    fn latest(&self, until: Until, now: Time) -> Time {
        match until {
            Until::Instant(latest) => latest,
            Until::NextStart => {
                let next = self.next_start().unwrap_or(BEYOND_ALL_LIMITS);
                now.max(next - Span::TICK)
            }
        }
    }
}
