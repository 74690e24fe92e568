//! A provider that chooses the sizes of moldable jobs, and gives back what waits.
//!
//! Only a queue that reserves can do this: its estimate for a job that might come is one on which
//! the job can rely. Any other queue answers that it has no size.

use haggle_model::{
    ActorId, JobId, JobShape, Moldable, Observation, Refusal, Sizing, Span, StageIn, Time,
};
use haggle_scheduling::Slot;

use super::Jobs;
use super::job::HeldJob;
use crate::protocol::reallocation::SizeRequest;
use crate::protocol::{ReallocationMessage, Submission, SubmissionMessage};
use crate::provider::core::{Core, Kind, Turn};

impl Jobs {
    pub(in crate::provider::services) fn on_reallocation(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        message: ReallocationMessage,
    ) -> bool {
        match message {
            ReallocationMessage::SizeRequest(request) => {
                let job = request.job;
                let answer = match self.size(turn, &request) {
                    Ok(sizing) => ReallocationMessage::Size { job, sizing },
                    Err(reason) => ReallocationMessage::NoSize { job, reason },
                };
                turn.out.send(from, answer);
            }
            ReallocationMessage::Submit { submission, sizes, stage_in } => {
                let request = SizeRequest::of(&submission.job, sizes, stage_in);
                return self.on_moldable_submitted(turn, from, submission, &request);
            }
            ReallocationMessage::WaitingRequest => {
                let jobs = self.waiting_of(turn, from);
                turn.out.send(from, ReallocationMessage::Waiting { jobs });
            }
            ReallocationMessage::CompletionRequest { job } => {
                let completion = waits(turn.core, from, job);
                let completion = completion.and_then(|slot| self.planned_completion(turn, slot));
                turn.out.send(from, ReallocationMessage::Completion { job, completion });
            }
            ReallocationMessage::TakeBack { jobs } => self.on_taken_back(turn, from, jobs),
            ReallocationMessage::Size { .. }
            | ReallocationMessage::NoSize { .. }
            | ReallocationMessage::Waiting { .. }
            | ReallocationMessage::Completion { .. }
            | ReallocationMessage::Back { .. } => return false,
        }
        true
    }

    /// The size that a job would get now, with its planned start and time. A rigid job has one
    /// size.
    fn size(&mut self, turn: &mut Turn<'_>, job: &SizeRequest) -> Result<Sizing, Refusal> {
        let (capacity, speed) = (turn.core.config.processors, turn.core.config.speed);
        let on_failure = turn.core.config.on_failure;
        if job.shape == JobShape::Bag || job.processors == 0 {
            return Err(Refusal::WrongShape);
        }
        let StageIn { ready, start_up } = job.stage_in;
        if !turn.core.able.starts {
            return Err(Refusal::WrongShape);
        }
        let pass = turn.pass();
        let queue = turn.core.scheduler.starts();
        let mut evaluate = |processors, walltime: Option<Span>| {
            let planned = walltime.map(|it| start_up + on_failure.planned(processors, it));
            let start = queue.estimate_after(pass, processors, planned, ready)?;
            Some(Sizing { processors, start, planned: planned.unwrap_or(Span::FOREVER) })
        };
        let sizing = match Moldable::described(job.shape, job.processors, job.requested_time) {
            Some(moldable) => job.sizes.best(moldable.widest(capacity), |processors| {
                evaluate(processors, Some(moldable.requested(processors, speed)))
            }),
            None => evaluate(job.processors, job.requested_time.map(|time| time.at_speed(speed))),
        };
        sizing.ok_or(Refusal::TooWide)
    }

    fn on_moldable_submitted(
        &mut self,
        turn: &mut Turn<'_>,
        submitter: ActorId,
        submission: Submission,
        request: &SizeRequest,
    ) -> bool {
        let (id, speed) = (submission.job.id, turn.core.config.speed);
        if turn.core.pieces.has(id) {
            return false;
        }
        let sizing = match self.size(turn, request) {
            Ok(sizing) => sizing,
            Err(reason) => {
                turn.out.send(submitter, SubmissionMessage::Refused { job: id, reason });
                return true;
            }
        };
        let mut held = HeldJob::new(submission, submitter, turn.now, &turn.core.config);
        held.mold(sizing.processors, speed);
        if request.stage_in != StageIn::NOTHING {
            held.particulars_mut().stage_in = request.stage_in;
        }
        turn.out.observe(Observation::JobSized { job: id, sizing, stage_in: request.stage_in });
        self.accept(turn, held);
        true
    }

    /// Planned completion of a job that waits.
    fn planned_completion(&mut self, turn: &mut Turn<'_>, slot: Slot) -> Option<Time> {
        let pass = turn.pass();
        let start = turn.core.scheduler.starts().planned_start(pass, slot)?;
        let held = turn.core.pieces.get::<HeldJob>(slot)?;
        Some(start + held.planned(&turn.core.config).unwrap_or(Span::FOREVER))
    }

    /// The jobs of this submitter that were never started, with their planned completions.
    fn waiting_of(&mut self, turn: &mut Turn<'_>, submitter: ActorId) -> Vec<(JobId, Time)> {
        let jobs = turn.core.pieces.iter().filter_map(|(_, piece)| {
            let held = HeldJob::of(piece).filter(|held| held.submitter == submitter)?;
            Some(held.submission.job.id)
        });
        let jobs = Vec::from_iter(jobs);
        let planned = |job| {
            let slot = waits(turn.core, submitter, job)?;
            Some((job, self.planned_completion(turn, slot)?))
        };
        jobs.into_iter().filter_map(planned).collect()
    }

    fn on_taken_back(&mut self, turn: &mut Turn<'_>, from: ActorId, mut jobs: Vec<JobId>) {
        jobs.sort_unstable();
        jobs.dedup();
        let slots = jobs.iter().filter_map(|&job| waits(turn.core, from, job));
        let slots = Vec::from_iter(slots);
        let mut back = Vec::new();
        if turn.core.able.starts {
            let pass = turn.pass();
            turn.core.scheduler.starts().withdraw_all(pass, &slots);
            for slot in slots {
                let Some(held) = turn.core.pieces.take::<HeldJob>(slot) else { continue };
                turn.core.load.leaves(held.processors, held.planned(&turn.core.config));
                back.push(held.submission.job.id);
            }
        }
        turn.out.send(from, ReallocationMessage::Back { jobs: back });
        turn.plan_changed();
    }
}

/// The slot of a job of this submitter that was never started.
fn waits(core: &Core, submitter: ActorId, job: JobId) -> Option<Slot> {
    let slot = core.pieces.slot(job)?;
    let held = core.pieces.get::<HeldJob>(slot)?;
    (held.submitter == submitter && held.run.is_none() && held.particulars().lost == 0)
        .then_some(slot)
}
