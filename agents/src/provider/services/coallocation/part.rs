//! A part of a job that is spread over providers: its place, its run, and its record.

use haggle_model::{
    ActorId, AgreementId, JobId, JobOutcome, Observation, ProviderId, ShareRecord, TaskRun, Time,
};
use haggle_scheduling::coallocation::with_overhead;
use haggle_scheduling::{Overrun, Request, Slot};
use serde::{Deserialize, Serialize};

use super::Coallocation;
use crate::Outbox;
use crate::glimpse::{Promise, PromiseKind, Stage, Work, known};
use crate::protocol::coallocation::{Place, Program, Want};
use crate::protocol::{CoallocationMessage, Timer};
use crate::provider::core::{Attempt, Losses, Turn, limited};

/// A part at the provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::provider) struct Part {
    pub(super) job: JobId,
    pub(super) metascheduler: ActorId,
    /// The last agreement on it that was committed. Before the first commit, the agreement by which it is held.
    pub(super) agreement: AgreementId,
    /// True if its agreement may be undone, so that its record names the agreement.
    pub(super) may_be_undone: bool,
    pub(super) program: Program,
    pub(super) place: Place,
    pub(super) queued: Time,
    pub(super) promised_end: Time,
    /// Request for which it is ready. Before the first commit, this is the request to hold the part.
    pub(super) pending: Option<(AgreementId, Want)>,
    pub(super) run: Option<Attempt>,
    /// True if the queue has forgotten it, because it lost its processors or its place.
    pub(super) is_lost: bool,
}

/// Starts a part, as the scheduler has decided.
pub(in crate::provider::services) fn start_part(turn: &mut Turn<'_>, slot: Slot) {
    let Some(part) = turn.core.pieces.get_mut::<Part>(slot) else {
        unreachable!("the scheduler starts parts that are held")
    };
    let Place { span, processors: count, alone, .. } = part.place;
    let speed = turn.core.config.speed;
    let run_time = part.place.run_time.reveal_to_machine().at_speed(speed);
    let takes = if alone { run_time } else { with_overhead(run_time, part.program.overhead) };
    let (lasts, outcome) = limited(takes, Some(span), Overrun::Kill);
    let end = turn.now + lasts;
    turn.core.load.leaves(count, Some(span));
    let attempt = turn.core.machine.start(turn.now, count, turn.now + span);
    turn.out.set(end, Timer::RunEnds { slot: slot.0 });
    let (job, id) = (part.job, part.agreement);
    turn.out.send(part.metascheduler, CoallocationMessage::Started { job, id });
    // The queue may have started it earlier than it was booked.
    part.place.start = turn.now;
    part.run = Some(Attempt { end, outcome, ..attempt });
}

/// A part that runs has lost processors. It keeps its slot until the queue has forgotten it.
pub(in crate::provider::services) fn lose(turn: &mut Turn<'_>, slot: Slot, losses: &mut Losses) {
    let Turn { core, now, out } = turn;
    let Some(part) = core.pieces.get_mut::<Part>(slot) else { return };
    let Some(attempt) = part.run.take() else { return };
    part.is_lost = true;
    out.stop(Timer::RunEnds { slot: slot.0 });
    core.machine.end(&attempt);
    losses.killed.push(attempt.killed(slot));
    losses.parts.push(slot);
    let run = attempt.lost(core.config.id, *now);
    out.observe(Observation::RunLost { job: part.job, run });
}

impl Part {
    pub(in crate::provider) fn job(&self) -> JobId {
        self.job
    }

    pub(in crate::provider) fn attempt(&self) -> Option<&Attempt> {
        self.run.as_ref()
    }

    /// Its row in a glimpse of the provider.
    pub(in crate::provider) fn glimpse(&self) -> Work {
        let Place { start, span, processors, .. } = self.place;
        let stage = match &self.run {
            Some(_) => Stage::Running,
            None if self.is_lost => Stage::Lost,
            None if self.waits() => Stage::Waiting,
            None => Stage::Held,
        };
        Work {
            since: Some(self.queued),
            held: self.run.as_ref().map(|it| it.processors.clone()).unwrap_or_default(),
            start: known(start),
            end: known(start + span),
            promised_end: known(self.promised_end),
            ..Work::new(self.job, stage, processors, self.metascheduler)
        }
    }

    /// The place that is agreed on, and the place that is held.
    pub(in crate::provider) fn promises(&self) -> Vec<Promise> {
        let row = |kind, agreement, place: &Place| Promise {
            job: Some(self.job),
            with: Some(self.metascheduler),
            agreement: Some(agreement),
            start: known(place.start),
            end: known(place.start + place.span),
            ..Promise::new(kind, place.processors)
        };
        let agreed = self.waits().then(|| row(PromiseKind::Booking, self.agreement, &self.place));
        let held = match &self.pending {
            Some((id, Want::Reserve(place, _) | Want::Reconfigure(place))) => {
                let until = known(self.due());
                Some(Promise { until, ..row(PromiseKind::Hold, *id, place) })
            }
            Some((_, Want::Leave)) | None => None,
        };
        agreed.into_iter().chain(held).collect()
    }

    /// Returns whether it is agreed and waits at its booked place.
    pub(super) fn waits(&self) -> bool {
        let is_held = matches!(self.pending, Some((_, Want::Reserve(..))));
        self.run.is_none() && !is_held && !self.is_lost
    }

    /// Latest time at which it starts, or at which its pending request is dropped.
    pub(super) fn due(&self) -> Time {
        match self.pending {
            Some((_, Want::Reconfigure(to))) => to.start.min(self.place.start),
            _ => self.place.start,
        }
    }

    pub(super) fn request(&self, slot: Slot) -> Request {
        let key = self.program.key;
        Request { key, ..Request::new(slot, self.place.processors, Some(self.place.span)) }
    }

    /// Its record. If its agreement may be undone, the record names the agreement and has the run; a part that was
    /// given up belongs to no job.
    pub(super) fn over(&self, provider: ProviderId, run: Option<&TaskRun>) -> Observation {
        let run = run.filter(|_| self.may_be_undone);
        let given_up = run.is_some_and(|run| run.outcome == JobOutcome::Cancelled);
        Observation::ShareOver(Box::new(ShareRecord {
            job: self.job,
            provider,
            tasks: self.place.processors,
            queued: self.queued,
            walltime: self.place.span,
            promised_end: Some(self.promised_end),
            agreement: (self.may_be_undone && !given_up).then_some(self.agreement),
            runs: run.cloned().into_iter().collect(),
        }))
    }

    /// Records the part when the simulation stops while it waits or runs.
    pub(in crate::provider) fn unfinished(
        mut self,
        provider: ProviderId,
        now: Time,
        out: &mut Outbox,
    ) {
        let run = self.run.take().map(|attempt| attempt.stopped(now, JobOutcome::Unfinished));
        if let Some(run) = run.clone() {
            out.observe(Observation::TasksOver { job: self.job, provider, run });
        }
        if run.is_some() || self.waits() {
            out.observe(self.over(provider, run.as_ref()));
        }
    }
}

impl Coallocation {
    /// Handles the end of a part.
    pub(in crate::provider::services) fn on_part_ended(&mut self, turn: &mut Turn<'_>, slot: Slot) {
        let Some(mut part) = self.release_part(turn.core, slot) else { return };
        let Some(attempt) = part.run.take() else { return };
        turn.job_finished(attempt.killed(slot));
        turn.core.machine.end(&attempt);
        let Attempt { planned_end, outcome, .. } = attempt;
        let (job, provider, id) = (part.job, turn.core.config.id, part.agreement);
        turn.out.send(part.metascheduler, CoallocationMessage::Finished { job, id, outcome });
        let run = attempt.ended(turn.now);
        let over = part.over(provider, Some(&run));
        turn.out.observe(Observation::TasksOver { job, provider, run });
        turn.out.observe(over);
        turn.ended_early(planned_end);
        turn.plan_changed();
    }
}
