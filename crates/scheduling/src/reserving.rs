//! Queues that know the latest start of each job.

use haggle_model::{Span, Time};

use crate::scheduler::Slot;

/// A queue that gives every waiting job a reservation, which later operations only move to an
/// earlier time, unless jobs run over their limit or processors fail.
///
/// So an estimate for a job that may come is reliable. First come, first served satisfies this in order of
/// arrival only: in any other order a later job may go ahead. EASY backfilling has a reservation for the
/// head of its queue only. Conservative backfilling that plans anew breaks earlier plans. Parts of jobs on
/// several providers take free time only, so jobs beside them keep their reservations.
pub trait Reserving {
    /// Planned start of a job; `None` if it does not wait here. [`Time::FOREVER`] behind jobs without a
    /// limit.
    fn planned_start(&mut self, now: Time, slot: Slot) -> Option<Time>;

    /// As [`LocalScheduler::estimate_start`](crate::LocalScheduler::estimate_start), of a job that could not start before `ready`.
    fn estimate_after(
        &mut self,
        now: Time,
        processors: u32,
        span: Option<Span>,
        ready: Time,
    ) -> Option<Time>;

    /// Takes waiting jobs out of the queue; the remaining jobs move up when all are out.
    fn withdraw_all(&mut self, now: Time, slots: &[Slot]);
}
