//! Submission and withdrawal of rigid jobs.

use haggle_model::{
    ActorId, Demand, Initial, Job, JobId, JobOutcome, JobShape, Observation, Refusal,
};
use haggle_scheduling::Slot;

use super::Jobs;
use super::job::HeldJob;
use crate::protocol::{Submission, SubmissionMessage, Timer};
use crate::provider::core::{Core, Piece, Turn};

impl Jobs {
    pub(in crate::provider::services) fn on_submission(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        message: SubmissionMessage,
    ) -> bool {
        match message {
            SubmissionMessage::Submit(submission) => self.on_submitted(turn, from, submission),
            SubmissionMessage::SubmitAhead(submission) => {
                self.on_submitted_ahead(turn, from, submission)
            }
            SubmissionMessage::DataArrived { job } => self.on_data_arrived(turn, from, job),
            SubmissionMessage::Withdraw { job } => {
                self.on_withdrawn(turn, from, job);
                true
            }
            _ => false,
        }
    }

    pub(super) fn on_submitted(
        &mut self,
        turn: &mut Turn<'_>,
        submitter: ActorId,
        submission: Submission,
    ) -> bool {
        let id = submission.job.id;
        if turn.core.pieces.has(id) {
            return false;
        }
        if let Some(reason) = never_runs(turn.core, &submission.job) {
            turn.out.send(submitter, SubmissionMessage::Refused { job: id, reason });
            return true;
        }
        let held = HeldJob::new(submission, submitter, turn.now, &turn.core.config);
        if let Some(reason) = not_permitted(turn, &held) {
            turn.out.send(submitter, SubmissionMessage::Refused { job: id, reason });
            return true;
        }
        self.accept(turn, held);
        true
    }

    /// Queues a job, and notifies its submitter.
    pub(super) fn accept(&mut self, turn: &mut Turn<'_>, held: HeldJob) {
        let job = held.submission.job.id;
        turn.out.send(held.submitter, SubmissionMessage::Accepted { job });
        self.queue(turn, held);
    }

    /// Queues a job that has been accepted.
    pub(super) fn queue(&mut self, turn: &mut Turn<'_>, held: HeldJob) {
        let request = held.request(turn.core.pieces.next(), false, &turn.core.config);
        let initial = held.submission.job.initial;
        turn.core.load.waits(request.processors, request.span);
        turn.core.pieces.insert(Piece::Job(held));
        if let Some(due) = initial.map(Initial::due).filter(|&due| due > turn.now) {
            turn.core.deciding.arrive_initial(due, request);
            turn.out.wake(due, Timer::PlanDue);
            return;
        }
        self.arrive(turn, request);
        turn.plan_changed();
    }

    pub(super) fn on_withdrawn(&mut self, turn: &mut Turn<'_>, from: ActorId, job: JobId) {
        if self.withdraw_expected(turn, from, job) {
            return;
        }
        let is_theirs = |slot: &Slot| {
            turn.core.pieces.get::<HeldJob>(*slot).is_some_and(|held| held.submitter == from)
        };
        let slot = turn.core.pieces.slot(job).filter(is_theirs);
        let pass = turn.pass();
        let priority = slot.and_then(|slot| turn.core.scheduler.nodes().priority(slot));
        let waits = |&slot: &Slot| match turn.core.deciding.leave_early(slot) {
            true => {
                turn.core.scheduler.nodes().gone_before(slot);
                true
            }
            false => turn.core.scheduler.withdraw(pass, slot),
        };
        let Some(slot) = slot.filter(waits) else {
            turn.out.send(from, SubmissionMessage::NotWithdrawn { job });
            return;
        };
        let Some(mut held) = turn.core.pieces.take::<HeldJob>(slot) else { return };
        held.note_priority(priority);
        turn.core.load.leaves(held.processors, held.planned(&turn.core.config));
        let outcome = JobOutcome::Cancelled;
        turn.out.send(held.submitter, SubmissionMessage::Finished { job, outcome });
        let over = held.over(&turn.core.config, outcome, turn.now);
        turn.out.observe(Observation::JobOver(Box::new(over)));
        turn.plan_changed();
    }
}

/// The reason for which a rigid job could never run here, if there is one.
pub(super) fn never_runs(core: &Core, job: &Job) -> Option<Refusal> {
    if job.shape == JobShape::Bag || job.processors == 0 {
        return Some(Refusal::WrongShape);
    }
    never_fits(core, job.processors, job.demand.as_deref())
}

/// Asks the queues and limits of the provider to accept a job that gets the next slot. Returns the reason for which they
/// refuse it.
pub(super) fn not_permitted(turn: &mut Turn<'_>, held: &HeldJob) -> Option<Refusal> {
    let request = held.request(turn.core.pieces.next(), false, &turn.core.config);
    if request.ran_before {
        return None;
    }
    let refused = turn.core.scheduler.nodes().accept(turn.now, &request).err();
    refused.map(|_| Refusal::NotPermitted)
}

/// The reason for which the machine could never hold a job, if there is one.
pub(super) fn never_fits(core: &Core, processors: u32, demand: Option<&Demand>) -> Option<Refusal> {
    if demand.is_some_and(|it| !it.is_of(processors)) {
        return Some(Refusal::WrongShape);
    }
    let on_nodes = core.config.scheduler.nodes().zip(demand);
    if processors > core.config.processors {
        return Some(Refusal::TooWide);
    }
    let lacks = on_nodes.and_then(|(nodes, demand)| nodes.lacks(demand));
    lacks.map(|_| Refusal::TooDemanding)
}
