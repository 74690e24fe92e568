//! A provider that chooses the sizes of moldable jobs, and gives back what waits.
//!
//! Only a queue that reserves can do this: its estimate for a job that might come is one on which
//! the job can rely. Any other queue answers that it has no size.

use haggle_model::{
    ActorId, JobId, JobShape, Moldable, Observation, Refusal, Sizing, Span, StageIn, Time,
};
use haggle_scheduling::Slot;

use super::Provider;
use super::job::HeldJob;
use super::pieces::Kind;
use crate::Outbox;
use crate::protocol::reallocation::SizeRequest;
use crate::protocol::{ReallocationMessage, Submission, SubmissionMessage};

impl Provider {
    pub(super) fn on_reallocation(
        &mut self,
        now: Time,
        from: ActorId,
        message: ReallocationMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            ReallocationMessage::SizeRequest(request) => {
                let job = request.job;
                out.send(
                    from,
                    match self.size(now, &request) {
                        Ok(sizing) => ReallocationMessage::Size { job, sizing },
                        Err(reason) => ReallocationMessage::NoSize { job, reason },
                    },
                );
            }
            ReallocationMessage::Submit { submission, sizes, stage_in } => {
                let request = SizeRequest::of(&submission.job, sizes, stage_in);
                return self.on_moldable_submitted(now, from, submission, &request, out);
            }
            ReallocationMessage::WaitingRequest => {
                // A job that is due does not wait.
                self.decide(now, out);
                let jobs = self.waiting_of(now, from);
                out.send(from, ReallocationMessage::Waiting { jobs });
            }
            ReallocationMessage::CompletionRequest { job } => {
                let completion = self.waits(from, job);
                let completion = completion.and_then(|slot| self.planned_completion(now, slot));
                out.send(from, ReallocationMessage::Completion { job, completion });
            }
            ReallocationMessage::TakeBack { jobs } => self.on_taken_back(now, from, jobs, out),
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
    fn size(&mut self, now: Time, job: &SizeRequest) -> Result<Sizing, Refusal> {
        let (capacity, speed) = (self.config.processors, self.config.speed);
        let on_failure = self.config.on_failure;
        if job.shape == JobShape::Bag || job.processors == 0 {
            return Err(Refusal::WrongShape);
        }
        let StageIn { ready, start_up } = job.stage_in;
        let queue = self.scheduler.reserving().ok_or(Refusal::WrongShape)?;
        let mut evaluate = |processors, walltime: Option<Span>| {
            let planned = walltime.map(|it| start_up + on_failure.planned(processors, it));
            let start = queue.estimate_after(now, processors, planned, ready)?;
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
        now: Time,
        submitter: ActorId,
        submission: Submission,
        request: &SizeRequest,
        out: &mut Outbox,
    ) -> bool {
        let (id, speed) = (submission.job.id, self.config.speed);
        if self.pieces.has(id) {
            return false;
        }
        let sizing = match self.size(now, request) {
            Ok(sizing) => sizing,
            Err(reason) => {
                out.send(submitter, SubmissionMessage::Refused { job: id, reason });
                return true;
            }
        };
        let mut held = HeldJob::new(submission, submitter, now, &self.config);
        held.mold(sizing.processors, speed);
        if request.stage_in != StageIn::NOTHING {
            held.particulars_mut().stage_in = request.stage_in;
        }
        out.observe(Observation::JobSized { job: id, sizing, stage_in: request.stage_in });
        self.accept(now, held, out);
        true
    }

    /// The slot of a job of this submitter that was never started.
    fn waits(&self, submitter: ActorId, job: JobId) -> Option<Slot> {
        let slot = self.pieces.slot(job)?;
        let held = self.pieces.get::<HeldJob>(slot)?;
        (held.submitter == submitter && held.run.is_none() && held.particulars().lost == 0)
            .then_some(slot)
    }

    /// Planned completion of a job that waits.
    fn planned_completion(&mut self, now: Time, slot: Slot) -> Option<Time> {
        let start = self.scheduler.reserving()?.planned_start(now, slot)?;
        let held = self.pieces.get::<HeldJob>(slot)?;
        Some(start + held.planned(&self.config).unwrap_or(Span::FOREVER))
    }

    /// The jobs of this submitter that were never started, with their planned completions.
    fn waiting_of(&mut self, now: Time, submitter: ActorId) -> Vec<(JobId, Time)> {
        let jobs = self.pieces.iter().filter_map(|(_, piece)| {
            let held = HeldJob::of(piece).filter(|held| held.submitter == submitter)?;
            Some(held.submission.job.id)
        });
        let jobs = Vec::from_iter(jobs);
        let planned = |job| {
            let slot = self.waits(submitter, job)?;
            Some((job, self.planned_completion(now, slot)?))
        };
        jobs.into_iter().filter_map(planned).collect()
    }

    fn on_taken_back(&mut self, now: Time, from: ActorId, mut jobs: Vec<JobId>, out: &mut Outbox) {
        jobs.sort_unstable();
        jobs.dedup();
        let slots = jobs.iter().filter_map(|&job| self.waits(from, job));
        let slots = Vec::from_iter(slots);
        let mut back = Vec::new();
        if let Some(queue) = self.scheduler.reserving() {
            queue.withdraw_all(now, &slots);
            for slot in slots {
                let Some(held) = self.pieces.take::<HeldJob>(slot) else { continue };
                self.load.leaves(held.processors, held.planned(&self.config));
                back.push(held.submission.job.id);
            }
        }
        out.send(from, ReallocationMessage::Back { jobs: back });
        self.plan_changed(now, out);
    }
}
