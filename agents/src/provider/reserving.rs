//! Reservations: a provider grants windows for jobs in advance, or offers alternatives.
//!
//! ```text
//!            Reserve                              Take
//!   idle ──────────────▶ granted          idle ──────────▶ granted
//!             │                                     │
//!             ▼ no room                             ▼ no room any more
//!     Alternatives, or Refused                   Expired
//! ```
//!
//! A user that takes an alternative sends the job again. It is granted as long as nothing has
//! changed, because the scheduler records how each alternative was found. Windows whose processors
//! fail are handled in `displaced.rs`.

use haggle_model::random::Stream;
use haggle_model::reservation::GrantedWindow;
use haggle_model::{ActorId, Job, JobId, Moldable, Refusal, Span, Time};
use haggle_scheduling::Slot;
use haggle_scheduling::reservations::{Granted, Percent, Reserve, Size, Window};
use rand::RngExt;

use super::job::HeldJob;
use super::pieces::Piece;
use super::{Provider, ProviderConfig};
use crate::Outbox;
use crate::protocol::{ReservationMessage, Submission, SubmissionMessage};

/// A provider's treatment of reservations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservingConfig {
    /// Most alternatives that it offers.
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

/// State of a provider for reservations.
#[derive(Debug)]
pub(super) struct Reserving {
    /// For orders that are drawn.
    pub(super) stream: Stream,
    fixed: Vec<(Slot, Time)>,
}

impl Reserving {
    pub(super) fn new(stream: Stream) -> Reserving {
        Reserving { stream, fixed: Vec::new() }
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
        let (ReservationMessage::Reserve(submission) | ReservationMessage::Take { submission, .. }) =
            &message
        else {
            return false;
        };
        if self.scheduler.granting().is_none() || self.pieces.has(submission.job.id) {
            return false;
        }
        match message {
            ReservationMessage::Reserve(submission) => {
                self.ask_for_window(now, from, submission, out);
            }
            ReservationMessage::Take { submission, start, processors } => {
                // Jobs that are due must start before a request is considered.
                self.start_due(now, out);
                self.consider_window(now, from, submission, Some((start, processors)), out);
            }
            _ => return false,
        }
        true
    }

    /// Answers a request for a window, unless the job has arrived here meanwhile.
    pub(super) fn on_window_asked(
        &mut self,
        now: Time,
        from: ActorId,
        submission: Submission,
        out: &mut Outbox,
    ) {
        if self.pieces.has(submission.job.id) {
            return out.refuse(from);
        }
        self.consider_window(now, from, submission, None, out);
    }

    fn consider_window(
        &mut self,
        now: Time,
        from: ActorId,
        submission: Submission,
        taken: Option<(Time, u32)>,
        out: &mut Outbox,
    ) {
        let id = submission.job.id;
        let no_limit = submission.job.requested_time.is_none().then_some(Refusal::NoLimit);
        if let Some(reason) = self.never_runs(&submission.job).or(no_limit) {
            return out.send(from, SubmissionMessage::Refused { job: id, reason });
        }
        let held = HeldJob::new(submission, from, now, &self.config);
        let Job { ready, deadline, .. } = *held.submission.job;
        let window = Window { ready, deadline: deadline.unwrap_or(Time::FOREVER) };
        let request = held.asks_for(now, self.pieces.next(), window, &self.config);
        match taken {
            None => self.reserve(now, held, &request, out),
            Some((start, processors)) => {
                self.reserve_beside(now, held, &request, (start, processors), out);
            }
        }
    }

    fn reserve(&mut self, now: Time, held: HeldJob, request: &Reserve, out: &mut Outbox) {
        let most = self.config.reserving.alternatives as usize;
        let granting = self.scheduler.granting().expect("it grants reservations");
        let draw = &mut |below| self.reserving.stream.random_range(0..below);
        if let Some(granted) = granting.ask(now, request, &[], draw) {
            self.grant(now, held, request, granted, out);
            return;
        }
        let (to, job) = (held.submitter, held.submission.job.id);
        let sizes = held.sizes(&self.config);
        let others = granting.alternatives(now, request, &sizes, most, draw);
        if others.is_empty() {
            out.send(to, SubmissionMessage::Refused { job, reason: Refusal::NoWindow });
        } else {
            out.send(to, ReservationMessage::Alternatives { job, others: others.into() });
        }
    }

    /// Reserves the interval that begins at `start`, on so many processors.
    fn reserve_beside(
        &mut self,
        now: Time,
        held: HeldJob,
        request: &Reserve,
        (start, processors): (Time, u32),
        out: &mut Outbox,
    ) {
        let mut sizes = std::iter::once(request.size()).chain(held.sizes(&self.config));
        let size = sizes.find(|size| size.processors == processors);
        let granting = self.scheduler.granting().expect("it grants reservations");
        let draw = &mut |below| self.reserving.stream.random_range(0..below);
        let taken = size.map(|size| request.beside(size, start));
        match taken.and_then(|taken| granting.take(now, request, taken, draw)) {
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
        let Reserve { processors, span, window, .. } =
            alternative.map_or(*request, |it| request.at(it));
        if processors != request.processors {
            held.mold(processors, self.config.speed);
        }
        held.promised_end = Some(window.deadline).filter(|&deadline| deadline < Time::FOREVER);
        held.particulars_mut().granted = Some(Box::new(GrantedWindow {
            at: now,
            ready: window.ready,
            deadline: window.deadline,
            asked: request.processors,
            processors,
            span,
            planned: start,
            distance: alternative.map(|it| it.distance).filter(|&it| it > Span::ZERO),
            fixed: None,
            displaced: Vec::new(),
        }));
        let (to, job): (ActorId, JobId) = (held.submitter, held.submission.job.id);
        self.load.waits(processors, Some(span));
        self.pieces.insert(Piece::Job(held));
        out.send(to, ReservationMessage::Granted { job, start, completion: start + span });
        self.plan_changed(now, out);
    }

    /// Notifies the users of jobs whose starts have become fixed.
    pub(super) fn tell_fixed(&mut self, now: Time, out: &mut Outbox) {
        let Some(granting) = self.scheduler.granting() else { return };
        granting.fixed(&mut self.reserving.fixed);
        for (slot, start) in self.reserving.fixed.drain(..) {
            let Some(held) = self.pieces.get_mut::<HeldJob>(slot) else { continue };
            let Some(granted) = held.granted_mut() else { continue };
            granted.fixed = Some((now, start));
            let job = held.submission.job.id;
            out.send(held.submitter, ReservationMessage::Fixed { job, start });
        }
    }
}

impl HeldJob {
    /// Its request to the scheduler for a start in this window.
    pub(super) fn asks_for(
        &self,
        now: Time,
        slot: Slot,
        window: Window,
        config: &ProviderConfig,
    ) -> Reserve {
        Reserve {
            slot,
            // The request may have been under way, but it was not sent later than now.
            submitted: self.submission.job.submit.min(now),
            processors: self.processors,
            span: self.planned(config).unwrap_or(Span::FOREVER).max(Span::TICK),
            window,
            fix_at: config.reserving.fix_at,
            // The user chooses.
            accepts: None,
            remedy: self.remedy(),
        }
    }

    /// The other numbers of processors that its user permits, the fewest first, with the planned
    /// time on each. There are none once it goes on from a checkpoint, because a checkpoint fits
    /// its number of processes only.
    pub(super) fn sizes(&self, config: &ProviderConfig) -> Vec<Size> {
        let job = &self.submission.job;
        let (Some(moldable), Some(reservation)) = (Moldable::of(job), job.reservation) else {
            return Vec::new();
        };
        let (fewest, most) = reservation.range(job.processors);
        let most = most.min(moldable.widest(config.processors));
        let others = (fewest..=most).filter(|&it| it != self.processors && !self.resumes());
        others
            .map(|processors| {
                let planned = moldable.requested(processors, config.speed);
                let span = config.on_failure.planned(processors, planned);
                Size { processors, span: span.max(Span::TICK) }
            })
            .collect()
    }
}
