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
use serde::{Deserialize, Serialize};

use super::Jobs;
use super::job::HeldJob;
use super::submission::never_runs;
use crate::protocol::{ReservationMessage, Submission, SubmissionMessage};
use crate::provider::ProviderConfig;
use crate::provider::core::{Core, Piece, Turn};

/// A provider's treatment of reservations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Serialize, Deserialize)]
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

impl Jobs {
    /// True if a message about a reservation is expected here.
    pub(in crate::provider::services) fn expects_reservation(
        &self,
        core: &Core,
        message: &ReservationMessage,
    ) -> bool {
        match message {
            ReservationMessage::Reserve(submission)
            | ReservationMessage::Take { submission, .. } => {
                core.able.windows && !core.pieces.has(submission.job.id)
            }
            // These messages are for users.
            _ => false,
        }
    }

    /// Handles a message about a reservation that is expected here.
    pub(in crate::provider::services) fn on_reservation(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        message: ReservationMessage,
    ) {
        match message {
            ReservationMessage::Reserve(submission) => {
                turn.core.deciding.ask(from, submission);
                turn.plan_changed();
            }
            ReservationMessage::Take { submission, start, processors } => {
                self.consider_window(turn, from, submission, Some((start, processors)));
            }
            _ => {}
        }
    }

    /// Answers a request for a window, unless the job has arrived here meanwhile.
    pub(in crate::provider::services) fn on_window_asked(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        submission: Submission,
    ) {
        if turn.core.pieces.has(submission.job.id) {
            return turn.out.refuse(from);
        }
        self.consider_window(turn, from, submission, None);
    }

    fn consider_window(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        submission: Submission,
        taken: Option<(Time, u32)>,
    ) {
        let id = submission.job.id;
        let no_limit = submission.job.requested_time.is_none().then_some(Refusal::NoLimit);
        if let Some(reason) = never_runs(turn.core, &submission.job).or(no_limit) {
            return turn.out.send(from, SubmissionMessage::Refused { job: id, reason });
        }
        let held = HeldJob::new(submission, from, turn.now, &turn.core.config);
        let Job { ready, deadline, .. } = *held.submission.job;
        let window = Window { ready, deadline: deadline.unwrap_or(Time::FOREVER) };
        let request = held.asks_for(turn.now, turn.core.pieces.next(), window, &turn.core.config);
        match taken {
            None => self.reserve(turn, held, &request),
            Some((start, processors)) => {
                self.reserve_beside(turn, held, &request, (start, processors));
            }
        }
    }

    fn reserve(&mut self, turn: &mut Turn<'_>, held: HeldJob, request: &Reserve) {
        let most = turn.core.config.reserving.alternatives as usize;
        let granting = turn.core.scheduler.windows();
        let draw = &mut |below| self.reserving.stream.random_range(0..below);
        if let Some(granted) = granting.ask(turn.now, request, &[], draw) {
            self.grant(turn, held, request, granted);
            return;
        }
        let (to, job) = (held.submitter, held.submission.job.id);
        let sizes = held.sizes(&turn.core.config);
        let others = granting.alternatives(turn.now, request, &sizes, most, draw);
        if others.is_empty() {
            turn.out.send(to, SubmissionMessage::Refused { job, reason: Refusal::NoWindow });
        } else {
            turn.out.send(to, ReservationMessage::Alternatives { job, others: others.into() });
        }
    }

    /// Reserves the interval that begins at `start`, on so many processors.
    fn reserve_beside(
        &mut self,
        turn: &mut Turn<'_>,
        held: HeldJob,
        request: &Reserve,
        (start, processors): (Time, u32),
    ) {
        let mut sizes = std::iter::once(request.size()).chain(held.sizes(&turn.core.config));
        let size = sizes.find(|size| size.processors == processors);
        let granting = turn.core.scheduler.windows();
        let draw = &mut |below| self.reserving.stream.random_range(0..below);
        let taken = size.map(|size| request.beside(size, start));
        match taken.and_then(|taken| granting.take(turn.now, request, taken, draw)) {
            Some(granted) => self.grant(turn, held, request, granted),
            None => {
                let job = held.submission.job.id;
                turn.out.send(held.submitter, ReservationMessage::Expired { job });
            }
        }
    }

    fn grant(
        &mut self,
        turn: &mut Turn<'_>,
        mut held: HeldJob,
        request: &Reserve,
        granted: Granted,
    ) {
        let Granted { start, alternative } = granted;
        let Reserve { processors, span, window, .. } =
            alternative.map_or(*request, |it| request.at(it));
        if processors != request.processors {
            held.mold(processors, turn.core.config.speed);
        }
        held.promised_end = Some(window.deadline).filter(|&deadline| deadline < Time::FOREVER);
        held.particulars_mut().granted = Some(Box::new(GrantedWindow {
            at: turn.now,
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
        turn.core.load.waits(processors, Some(span));
        turn.core.pieces.insert(Piece::Job(held));
        turn.out.send(to, ReservationMessage::Granted { job, start, completion: start + span });
        turn.plan_changed();
    }

    /// Notifies the users of jobs whose starts have become fixed.
    pub(in crate::provider::services) fn tell_fixed(&mut self, turn: &mut Turn<'_>) {
        turn.core.scheduler.windows().fixed(&mut self.reserving.fixed);
        for (slot, start) in self.reserving.fixed.drain(..) {
            let Some(held) = turn.core.pieces.get_mut::<HeldJob>(slot) else { continue };
            let Some(granted) = held.granted_mut() else { continue };
            granted.fixed = Some((turn.now, start));
            let job = held.submission.job.id;
            turn.out.send(held.submitter, ReservationMessage::Fixed { job, start });
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
