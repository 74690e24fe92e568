//! Reservations: a provider grants windows for jobs in advance, or offers what is beside them.
//!
//! ```text
//!            Reserve                              Take
//!   idle ──────────────▶ granted          idle ──────────▶ granted
//!             │                                     │
//!             ▼ no room                             ▼ no room any more
//!     Alternatives, or Refused                   Expired
//! ```
//!
//! Whom it has told of alternatives it forgets at once: who takes one sends the job again.

use haggle_model::observation::GrantedWindow;
use haggle_model::random::Stream;
use haggle_model::{ActorId, Job, JobId, Refusal, Span, Time};
use haggle_scheduling::Slot;
use haggle_scheduling::reservations::{Granted, News, Percent, Reserve, Window};
use rand::RngExt;

use super::load::work;
use super::{Held, HeldJob, Provider};
use crate::Outbox;
use crate::protocol::{ReservationMessage, SubmissionMessage};

/// How a provider treats reservations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservingConfig {
    /// How many alternatives it offers at most.
    pub alternatives: u32,
    /// Share of the waiting time, from the request to the planned start, after which the start
    /// is fixed; `None` = never.
    pub fix_at: Option<Percent>,
}

/// Five alternatives, and no start is fixed.
impl Default for ReservingConfig {
    fn default() -> ReservingConfig {
        ReservingConfig { alternatives: 5, fix_at: None }
    }
}

/// What a provider keeps for reservations.
#[derive(Debug)]
pub(super) struct Reserving {
    /// For orders that are drawn.
    stream: Stream,
    news: Vec<(Slot, News)>,
}

impl Reserving {
    pub(super) fn new(stream: Stream) -> Reserving {
        Reserving { stream, news: Vec::new() }
    }
}

impl Provider {
    pub(super) fn on_reservation(
        &mut self,
        now: Time,
        from: ActorId,
        message: ReservationMessage,
        out: &mut Outbox,
    ) -> bool {
        let (submission, start) = match message {
            ReservationMessage::Reserve(submission) => (submission, None),
            ReservationMessage::Take { submission, start } => (submission, Some(start)),
            _ => return false,
        };
        let id = submission.job.id;
        if self.scheduler.granting().is_none() || self.slots.contains_key(&id) {
            return false;
        }
        let no_limit = submission.job.requested_time.is_none().then_some(Refusal::NoLimit);
        if let Some(reason) = self.never_runs(&submission.job).or(no_limit) {
            out.send(from, SubmissionMessage::Refused { job: id, reason });
            return true;
        }
        // What is due has started before anybody else is considered.
        self.start_due(now, out);
        let held = HeldJob::new(submission, from, now, &self.config);
        let request = self.asks_for(now, &held);
        match start {
            None => self.reserve(now, held, &request, out),
            Some(start) => self.reserve_beside(now, held, &request, start, out),
        }
        true
    }

    /// What a job in the provider's hands asks its scheduler for.
    fn asks_for(&self, now: Time, held: &HeldJob) -> Reserve {
        let Job { submit, processors, ready, deadline, .. } = *held.submission.job;
        Reserve {
            slot: self.jobs.next(),
            // A request may have been under way, but nobody has asked later than now.
            submitted: submit.min(now),
            processors,
            span: held.planned(&self.config).unwrap_or(Span::FOREVER).max(Span::TICK),
            window: Window { ready, deadline: deadline.unwrap_or(Time::FOREVER) },
            fix_at: self.config.reserving.fix_at,
            // The user chooses.
            accepts: None,
        }
    }

    fn reserve(&mut self, now: Time, held: HeldJob, request: &Reserve, out: &mut Outbox) {
        let most = self.config.reserving.alternatives as usize;
        let granting = self.scheduler.granting().expect("it grants reservations");
        let draw = &mut |below| self.reserving.stream.random_range(0..below);
        if let Some(granted) = granting.ask(now, request, draw) {
            self.grant(now, held, request, granted, out);
            return;
        }
        let (to, job) = (held.submitter, held.submission.job.id);
        let others = granting.alternatives(now, request, most, draw);
        if others.is_empty() {
            out.send(to, SubmissionMessage::Refused { job, reason: Refusal::NoWindow });
        } else {
            out.send(to, ReservationMessage::Alternatives { job, others: others.into() });
        }
    }

    /// Reserves the interval from `start` on.
    fn reserve_beside(
        &mut self,
        now: Time,
        held: HeldJob,
        request: &Reserve,
        start: Time,
        out: &mut Outbox,
    ) {
        let granting = self.scheduler.granting().expect("it grants reservations");
        let draw = &mut |below| self.reserving.stream.random_range(0..below);
        match granting.take(now, request, request.beside(start), draw) {
            Some(granted) => self.grant(now, held, request, granted, out),
            None => {
                let job = held.submission.job.id;
                out.send(held.submitter, ReservationMessage::Expired { job });
            }
        }
    }

    fn grant(
        &mut self,
        now: Time,
        mut held: HeldJob,
        request: &Reserve,
        granted: Granted,
        out: &mut Outbox,
    ) {
        let Granted { start, alternative } = granted;
        let span = request.span;
        let window = alternative.map_or(request.window, |it| Window::from((request, it)));
        held.promised_end = Some(window.deadline).filter(|&deadline| deadline < Time::FOREVER);
        held.granted = Some(Box::new(GrantedWindow {
            at: now,
            ready: window.ready,
            deadline: window.deadline,
            span,
            planned: start,
            distance: alternative.map(|it| it.distance),
            fixed: None,
            broken: false,
        }));
        let (to, job): (ActorId, JobId) = (held.submitter, held.submission.job.id);
        self.load.waiting += work(request.processors, Some(span));
        self.slots.insert(job, self.jobs.insert(Held::Job(held)));
        out.send(to, ReservationMessage::Granted { job, start, completion: start + span });
        self.plan_changed(now, out);
    }

    /// Tells users whose start is fixed, or whose window is broken.
    pub(super) fn tell_news(&mut self, now: Time, out: &mut Outbox) {
        let Some(granting) = self.scheduler.granting() else { return };
        granting.news(&mut self.reserving.news);
        for (slot, news) in self.reserving.news.drain(..) {
            let Some(Held::Job(held)) = self.jobs.get_mut(slot) else { continue };
            let (to, job) = (held.submitter, held.submission.job.id);
            let Some(granted) = &mut held.granted else { continue };
            match news {
                News::Fixed(start) => {
                    granted.fixed = Some((now, start));
                    out.send(to, ReservationMessage::Fixed { job, start });
                }
                News::Broken => {
                    granted.broken = true;
                    out.send(to, ReservationMessage::Broken { job });
                }
            }
        }
    }
}
