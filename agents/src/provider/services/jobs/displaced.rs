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

use super::Jobs;
use super::job::{HeldJob, Run};
use crate::protocol::ReservationMessage;
use crate::provider::core::{Core, Turn};

impl Jobs {
    /// Answers the jobs that lose their places by this cause.
    pub(in crate::provider::services) fn answer_displaced(
        &mut self,
        turn: &mut Turn<'_>,
        cause: Cause,
    ) {
        let mut displaced = Vec::new();
        turn.core.scheduler.windows().displaced(&mut displaced);
        for (slot, displaced) in displaced {
            let Some(held) = turn.core.pieces.get::<HeldJob>(slot) else { continue };
            match displaced {
                // The user does not know the planned start, so a move within the window is not
                // reported. A job that was late before moves behind its window.
                Displaced::Moved(start) => {
                    let in_window =
                        held.particulars().granted.as_ref().is_none_or(|it| it.holds(start));
                    let answer = if in_window { Answer::Moved } else { Answer::Postponed };
                    self.displace(turn, slot, cause, answer, Some(start));
                }
                Displaced::Postponed(start) => {
                    let job = held.submission.job.id;
                    turn.out.send(held.submitter, ReservationMessage::Broken { job });
                    self.displace(turn, slot, cause, Answer::Postponed, Some(start));
                }
                Displaced::Out(request) => {
                    turn.core.load.leaves(request.processors, Some(request.span));
                    self.find_place(turn, &request, cause);
                }
            }
        }
    }

    /// A job that ran in a window has lost its processors, and is started again. `false` if it goes
    /// on as a job without a window.
    pub(super) fn lost_window(&mut self, turn: &mut Turn<'_>, slot: Slot) -> bool {
        let Some(held) = turn.core.pieces.get::<HeldJob>(slot) else { return false };
        let Some(window) = held.window().filter(|_| held.remedy() != Remedy::Postpone) else {
            return false;
        };
        let request = held.asks_for(turn.now, slot, window, &turn.core.config);
        self.find_place(turn, &request, Cause::Failure);
        true
    }

    /// Finds a place in its window for a job that has none; other jobs may move within their
    /// windows for it. If its user permits it, it gets fewer processors, but as many as possible.
    fn find_place(&mut self, turn: &mut Turn<'_>, request: &Reserve, cause: Cause) {
        let slot = request.slot;
        let Some(held) = turn.core.pieces.get::<HeldJob>(slot) else { return };
        let seeks = cause != Cause::Failure || request.remedy != Remedy::Revoke;
        let shrinks = request.remedy == Remedy::Shrink;
        let sizes = if shrinks { held.sizes(&turn.core.config) } else { Vec::new() };
        let fewer = sizes.into_iter().rev().filter(|it| it.processors < request.processors);
        let wishes = seeks.then(|| request.size()).into_iter().chain(fewer);
        let granting = turn.core.scheduler.windows();
        let draw = &mut |below| self.reserving.stream.random_range(0..below);
        let found = wishes.into_iter().find_map(|size| {
            let wish = Reserve { processors: size.processors, span: size.span, ..*request };
            granting.ask_again(turn.now, &wish, draw).map(|granted| (granted.start, size))
        });
        let Some((start, size)) = found else { return self.revoke(turn, slot, cause) };
        turn.core.load.waits(size.processors, Some(size.span));
        if size.processors == request.processors {
            return self.displace(turn, slot, cause, Answer::Moved, Some(start));
        }
        let Some(held) = turn.core.pieces.get_mut::<HeldJob>(slot) else { return };
        held.mold(size.processors, turn.core.config.speed);
        turn.out.send(
            held.submitter,
            ReservationMessage::Shrunk {
                job: held.submission.job.id,
                processors: size.processors,
                start,
                completion: start + size.span,
            },
        );
        self.displace(turn, slot, cause, Answer::Shrunk, Some(start));
    }

    /// A reservation that computed no longer than planned ends behind its window, because its
    /// checkpoints took longer than planned. Its plan was extended meanwhile, and by how much was
    /// unknown until it was over.
    pub(super) fn end_late(&self, turn: &mut Turn<'_>, held: &mut HeldJob, run: &Run) {
        let planned = held.to_compute();
        let start = run.attempt.start;
        let (processors, span) = (held.processors, turn.now - start);
        let Some(granted) = held.granted_mut() else { return };
        let computes_as_planned = planned.is_none_or(|planned| run.computing <= planned);
        if granted.deadline < turn.now && computes_as_planned && !granted.is_broken() {
            let (cause, answer) = (Cause::Checkpoint, Answer::Late);
            let start = Some(start);
            granted.displaced.push(Displacement {
                at: turn.now,
                cause,
                answer,
                processors,
                span,
                start,
            });
        }
    }

    /// Gives back a job that has lost its place.
    fn revoke(&mut self, turn: &mut Turn<'_>, slot: Slot, cause: Cause) {
        self.displace(turn, slot, cause, Answer::Revoked, None);
        let Some(held) = turn.core.pieces.take::<HeldJob>(slot) else { return };
        let job = held.submission.job.id;
        turn.out.send(held.submitter, ReservationMessage::Revoked { job, cause });
        let over = held.over(&turn.core.config, JobOutcome::Failed, turn.now);
        turn.out.observe(Observation::JobOver(Box::new(over)));
    }

    /// Records that a reservation has lost its place.
    pub(super) fn displace(
        &mut self,
        turn: &mut Turn<'_>,
        slot: Slot,
        cause: Cause,
        answer: Answer,
        start: Option<Time>,
    ) {
        let Some(held) = turn.core.pieces.get_mut::<HeldJob>(slot) else { return };
        let span = held.planned(&turn.core.config).unwrap_or(Span::FOREVER).max(Span::TICK);
        let start = start.filter(|&start| start < Time::FOREVER);
        let processors = held.processors;
        let displacement = Displacement { at: turn.now, cause, answer, processors, span, start };
        if let Some(granted) = held.granted_mut() {
            granted.displaced.push(displacement);
        }
    }
}

/// True if the job in a slot must run in its window or not at all.
pub(in crate::provider::services) fn keeps_window(core: &Core, slot: Slot) -> bool {
    let Some(held) = core.pieces.get::<HeldJob>(slot) else { return false };
    held.remedy() != Remedy::Postpone && held.window().is_some()
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
