//! Reservations that lose their places: processors fail under them, jobs run on past their plan, or a window
//! of maintenance is in the way.
//!
//! ```text
//!   place lost ──▶ another one in the window ──▶ behind it    (postpone)
//!       │                   │
//!       │                   ├──▶ on fewer processors ──▶ revoked    (shrink)
//!       │                   └──▶ revoked    (substitute)
//!       └──▶ revoked    (revoke, if processors have failed)
//! ```
//!
//! A job whose checkpoints go over a network that others use may also start in its window and end behind it
//! ([`Answer::Late`]).
//!
//! The request names the way ([`Remedy`]). The record of a window contains whether it was kept, and
//! why not. The user is notified of every change but another place in the window, because no place
//! was promised.

use haggle_model::reservation::{Answer, Cause, Displacement, GrantedWindow, Remedy};
use haggle_model::{JobOutcome, Observation, Span, Time};
use haggle_scheduling::Slot;
use haggle_scheduling::reservations::{Displaced, Reserve, Window};
use rand::RngExt;

use super::Provider;
use super::job::{HeldJob, Run};
use crate::Outbox;
use crate::protocol::ReservationMessage;

impl Provider {
    /// Answers the jobs that lose their places by this cause.
    pub(super) fn answer_displaced(&mut self, now: Time, cause: Cause, out: &mut Outbox) {
        let Some(granting) = self.scheduler.granting() else { return };
        let mut displaced = Vec::new();
        granting.displaced(&mut displaced);
        for (slot, displaced) in displaced {
            let Some(held) = self.pieces.get::<HeldJob>(slot) else { continue };
            match displaced {
                // The user does not know the planned start, so a move within the window is not
                // reported. A job that was late before moves behind its window.
                Displaced::Moved(start) => {
                    let in_window =
                        held.particulars().granted.as_ref().is_none_or(|it| it.holds(start));
                    let answer = if in_window { Answer::Moved } else { Answer::Postponed };
                    self.displace(now, slot, cause, answer, Some(start));
                }
                Displaced::Postponed(start) => {
                    let job = held.submission.job.id;
                    out.send(held.submitter, ReservationMessage::Broken { job });
                    self.displace(now, slot, cause, Answer::Postponed, Some(start));
                }
                Displaced::Out(request) => {
                    self.load.leaves(request.processors, Some(request.span));
                    self.find_place(now, &request, cause, out);
                }
            }
        }
    }

    /// True if the job in a slot must run in its window or not at all.
    pub(super) fn keeps_window(&self, slot: Slot) -> bool {
        let Some(held) = self.pieces.get::<HeldJob>(slot) else { return false };
        held.remedy() != Remedy::Postpone && held.window().is_some()
    }

    /// A job that ran in a window has lost its processors, and is started again. `false` if it goes
    /// on as a job without a window.
    pub(super) fn lost_window(&mut self, now: Time, slot: Slot, out: &mut Outbox) -> bool {
        let Some(held) = self.pieces.get::<HeldJob>(slot) else { return false };
        let Some(window) = held.window().filter(|_| held.remedy() != Remedy::Postpone) else {
            return false;
        };
        let request = held.asks_for(now, slot, window, &self.config);
        self.find_place(now, &request, Cause::Failure, out);
        true
    }

    /// Finds a place in its window for a job that has none; other jobs may move within their
    /// windows for it. If its user permits it, it gets fewer processors, but as many as possible.
    fn find_place(&mut self, now: Time, request: &Reserve, cause: Cause, out: &mut Outbox) {
        let slot = request.slot;
        let Some(held) = self.pieces.get::<HeldJob>(slot) else { return };
        let seeks = cause != Cause::Failure || request.remedy != Remedy::Revoke;
        let shrinks = request.remedy == Remedy::Shrink;
        let sizes = if shrinks { held.sizes(&self.config) } else { Vec::new() };
        let fewer = sizes.into_iter().rev().filter(|it| it.processors < request.processors);
        let wishes = seeks.then(|| request.size()).into_iter().chain(fewer);
        let granting = self.scheduler.granting().expect("it has granted this one");
        let draw = &mut |below| self.reserving.stream.random_range(0..below);
        let found = wishes.into_iter().find_map(|size| {
            let wish = Reserve { processors: size.processors, span: size.span, ..*request };
            granting.ask(now, &wish, &[], draw).map(|granted| (granted.start, size))
        });
        let Some((start, size)) = found else { return self.revoke(now, slot, cause, out) };
        self.load.waits(size.processors, Some(size.span));
        if size.processors == request.processors {
            return self.displace(now, slot, cause, Answer::Moved, Some(start));
        }
        let Some(held) = self.pieces.get_mut::<HeldJob>(slot) else { return };
        held.mold(size.processors, self.config.speed);
        out.send(
            held.submitter,
            ReservationMessage::Shrunk {
                job: held.submission.job.id,
                processors: size.processors,
                start,
                completion: start + size.span,
            },
        );
        self.displace(now, slot, cause, Answer::Shrunk, Some(start));
    }

    /// A reservation that computed no longer than planned ends behind its window, because its
    /// checkpoints took longer than planned. Its plan was extended meanwhile, and by how much was
    /// unknown until it was over.
    pub(super) fn end_late(&self, now: Time, held: &mut HeldJob, run: &Run) {
        let planned = held.to_compute();
        let start = run.attempt.start;
        let (processors, span) = (held.processors, now - start);
        let Some(granted) = held.granted_mut() else { return };
        let computes_as_planned = planned.is_none_or(|planned| run.computing <= planned);
        if granted.deadline < now && computes_as_planned && !granted.is_broken() {
            let (cause, answer) = (Cause::Checkpoint, Answer::Late);
            let start = Some(start);
            granted.displaced.push(Displacement {
                at: now,
                cause,
                answer,
                processors,
                span,
                start,
            });
        }
    }

    /// Gives back a job that has lost its place.
    fn revoke(&mut self, now: Time, slot: Slot, cause: Cause, out: &mut Outbox) {
        self.displace(now, slot, cause, Answer::Revoked, None);
        let Some(held) = self.pieces.take::<HeldJob>(slot) else { return };
        let job = held.submission.job.id;
        out.send(held.submitter, ReservationMessage::Revoked { job, cause });
        let over = held.over(self.config.id, JobOutcome::Failed, now);
        out.observe(Observation::JobOver(Box::new(over)));
    }

    /// Records that a reservation has lost its place.
    pub(super) fn displace(
        &mut self,
        now: Time,
        slot: Slot,
        cause: Cause,
        answer: Answer,
        start: Option<Time>,
    ) {
        let Some(held) = self.pieces.get_mut::<HeldJob>(slot) else { return };
        let span = held.planned(&self.config).unwrap_or(Span::FOREVER).max(Span::TICK);
        let start = start.filter(|&start| start < Time::FOREVER);
        let processors = held.processors;
        let displacement = Displacement { at: now, cause, answer, processors, span, start };
        if let Some(granted) = held.granted_mut() {
            granted.displaced.push(displacement);
        }
    }
}

impl HeldJob {
    /// The window granted to it, if any.
    pub(super) fn granted_mut(&mut self) -> Option<&mut GrantedWindow> {
        self.particulars.as_mut()?.granted.as_deref_mut()
    }

    /// The remedy that its user wants when it loses its place.
    pub(super) fn remedy(&self) -> Remedy {
        self.submission.job.reservation.unwrap_or_default().remedy
    }

    /// The window in which it must run, if it still has one: the granted window, or the interval at
    /// its fixed start.
    fn window(&self) -> Option<Window> {
        let granted = self.particulars().granted.as_ref().filter(|granted| !granted.is_broken())?;
        Some(match granted.fixed {
            Some((_, start)) => Window::strict(start, granted.span),
            None => Window { ready: granted.ready, deadline: granted.deadline },
        })
    }
}
