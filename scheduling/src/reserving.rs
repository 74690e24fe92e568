//! Queues that can say when each job will start at the latest.

use haggle_model::{Span, Time};

use crate::scheduler::{LocalScheduler, Request, Slot};

/// A queue that gives every waiting job a reservation, which later operations only move to an
/// earlier time, unless jobs run over their limit or processors fail.
///
/// So what it says of a job that might come is what that job may count on. First come, first
/// served does so in order of arrival only: in any other order a job that comes later may go
/// ahead. EASY backfilling has a reservation for the head of its queue, and conservative backfilling
/// that plans anew breaks what it has promised.
pub trait Reserving: LocalScheduler {
    /// When a job is planned to start; `None` if it does not wait here. [`Time::FOREVER`] behind
    /// jobs without a limit.
    fn planned_start(&mut self, now: Time, slot: Slot) -> Option<Time>;

    /// As [`LocalScheduler::estimate_start`], of a job that could not start before `ready`.
    fn estimate_after(
        &mut self,
        now: Time,
        processors: u32,
        span: Option<Span>,
        ready: Time,
    ) -> Option<Time>;

    /// As [`LocalScheduler::submit`], of a job that cannot start before `ready`. It has its
    /// reservation like any other, behind that time, and so has its place in the queue.
    fn submit_after(&mut self, now: Time, request: Request, ready: Time) -> Option<Time>;

    /// Takes waiting jobs out of the queue, and moves up those that stay when all are out.
    fn withdraw_all(&mut self, now: Time, slots: &[Slot]);
}
