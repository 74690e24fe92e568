//! Shares of bags at a provider: tasks start as planned. They end when they are done, or at their
//! limit unless they may run over it.

use haggle_model::{ActorId, JobOutcome, Observation, ProviderId, ShareRecord, Span, Time};
use haggle_scheduling::{Slot, promise};

use super::Provider;
use super::machine::{Attempt, limited};
use crate::Outbox;
use crate::protocol::{Call, ShareMessage, Timer};
use haggle_scheduling::Overrun;

/// A share at a provider.
#[derive(Debug)]
pub(super) struct Share {
    pub(super) call: Box<Call>,
    pub(super) metascheduler: ActorId,
    pub(super) tasks: u32,
    pub(super) queued: Time,
    /// Planned time of a task on this machine.
    pub(super) walltime: Span,
    /// [`Time::FOREVER`] = no promise.
    pub(super) promised_end: Time,
    /// Tasks that run together, in the order in which they started.
    pub(super) running: Vec<Option<Attempt>>,
    /// The worst outcome of the tasks that are over.
    pub(super) outcome: JobOutcome,
    /// Tasks that are not over.
    pub(super) left: u32,
    /// Number of losses of tasks with their processors.
    pub(super) lost: u64,
}

impl Provider {
    /// Starts so many tasks of a share now.
    pub(super) fn start_tasks(&mut self, now: Time, slot: Slot, tasks: u32, out: &mut Outbox) {
        let Some(share) = self.pieces.get_mut::<Share>(slot) else {
            unreachable!("the scheduler starts tasks of shares")
        };
        let run_time = share.call.program.reveal_to_machine().at_speed(self.config.speed);
        let planned_end = now + share.walltime;
        let (lasts, outcome) = limited(run_time, Some(share.walltime), self.config.overrun);
        let end = now + lasts;
        self.load.leaves(tasks, Some(share.walltime));
        let attempt = self.machine.start(now, tasks, planned_end);
        if share.running.is_empty() {
            let job = share.call.job;
            out.send(share.metascheduler, ShareMessage::Started { job });
        }
        let run = share.running.len() as u32;
        share.running.push(Some(Attempt { end, outcome, ..attempt }));
        out.set(end, Timer::TasksEnd { slot: slot.0, run });
        if end > planned_end {
            out.set(planned_end, Timer::TasksPlanEnds { slot: slot.0, run });
        }
    }

    /// Tasks that ran together go on: their plan is extended by as long as they have run.
    pub(super) fn on_tasks_plan_ended(
        &mut self,
        now: Time,
        slot: Slot,
        run: u32,
        out: &mut Outbox,
    ) {
        let Some(share) = self.pieces.get_mut::<Share>(slot) else { return };
        let is_due = |it: &&mut Attempt| it.planned_end <= now;
        let running = share.running.get_mut(run as usize).and_then(Option::as_mut);
        if running.is_none() {
            return;
        }
        // All runs that were planned to end by now get the same planned end, as in the scheduler.
        let due = share.running.iter_mut().map(Option::as_mut);
        let due = (0..).zip(due).filter_map(|(run, it)| Some((run, it.filter(is_due)?)));
        let due: Vec<(u32, &mut Attempt)> = due.collect();
        let lasts = due.iter().map(|(_, it)| now - it.start).max().unwrap_or(Span::ZERO);
        let planned_end = now + lasts;
        for (run, attempt) in due {
            self.machine.replan(attempt, planned_end);
            out.set(planned_end, Timer::TasksPlanEnds { slot: slot.0, run });
        }
        self.scheduler.overran(now, slot, planned_end);
        self.plan_changed(now, out);
    }

    /// Tasks that ran together have come to their end.
    pub(super) fn on_tasks_ended(&mut self, now: Time, slot: Slot, run: u32, out: &mut Outbox) {
        let Some(share) = self.pieces.get_mut::<Share>(slot) else { return };
        let running = share.running.get_mut(run as usize).and_then(Option::take);
        let Some(attempt) = running else { return };
        if self.config.overrun == Overrun::Extend {
            out.stop(Timer::TasksPlanEnds { slot: slot.0, run });
        }
        let (killed, planned_end) = (attempt.killed(slot), attempt.planned_end);
        self.machine.end(&attempt);
        share.outcome = worst_of(share.outcome, attempt.outcome);
        out.observe(Observation::TasksOver {
            job: share.call.job,
            provider: self.config.id,
            run: attempt.ended(now),
        });
        share.left -= killed.processors;
        let over = share.left == 0;
        self.tasks_finished(now, killed);
        if over {
            self.finish_share(now, slot, out);
        }
        if now < planned_end {
            self.plan_changed(now, out);
        }
    }

    pub(super) fn finish_share(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        let Some(share) = self.pieces.take::<Share>(slot) else {
            unreachable!("a share was finished")
        };
        let job = share.call.job;
        self.coordinated_share_over(job, now);
        let outcome = share.outcome;
        self.say(share.metascheduler, ShareMessage::Finished { job, outcome }, out);
        out.observe(share.over(self.config.id));
    }
}

impl Share {
    /// The record of a share, at its end or at the end of the run.
    pub(super) fn over(&self, provider: ProviderId) -> Observation {
        Observation::ShareOver(Box::new(ShareRecord {
            job: self.call.job,
            provider,
            tasks: self.tasks,
            queued: self.queued,
            walltime: self.walltime,
            promised_end: promise(self.promised_end),
            agreement: None,
            runs: Vec::new(),
        }))
    }

    /// The end of the run while the share waits or runs.
    pub(super) fn unfinished(mut self, provider: ProviderId, now: Time, out: &mut Outbox) {
        for attempt in std::mem::take(&mut self.running).into_iter().flatten() {
            let run = attempt.stopped(now, JobOutcome::Unfinished);
            out.observe(Observation::TasksOver { job: self.call.job, provider, run });
        }
        out.observe(self.over(provider));
    }
}

/// The outcome of the whole if its parts have these outcomes.
pub(crate) fn worst_of(one: JobOutcome, other: JobOutcome) -> JobOutcome {
    let lost = one == JobOutcome::Failed || other == JobOutcome::Completed;
    if lost { one } else { other }
}
