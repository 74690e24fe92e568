//! Shares of bags at a provider: tasks start as planned. They end when they are done, or at their
//! limit unless they may run over it.

use haggle_model::{
    ActorId, JobOutcome, Observation, ProcessorSet, ProviderId, ShareRecord, Span, Time,
};
use haggle_scheduling::{BagRequest, Overrun, Slot, promise};
use serde::{Deserialize, Serialize};

use super::Bargains;
use crate::Outbox;
use crate::glimpse::{Stage, Work, known};
use crate::protocol::{Call, ShareMessage, Timer};
use crate::provider::core::{Attempt, Losses, Turn, limited};

/// A share at a provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::provider) struct Share {
    pub(in crate::provider) call: Box<Call>,
    pub(super) metascheduler: ActorId,
    pub(super) tasks: u32,
    pub(super) queued: Time,
    /// Planned time of a task on this machine.
    pub(super) walltime: Span,
    /// [`Time::FOREVER`] = no promise.
    pub(super) promised_end: Time,
    /// Tasks that run together, in the order in which they started.
    pub(in crate::provider) running: Vec<Option<Attempt>>,
    /// The worst outcome of the tasks that are over.
    pub(super) outcome: JobOutcome,
    /// Tasks that are not over.
    pub(super) left: u32,
    /// Number of losses of tasks with their processors.
    pub(super) lost: u64,
}

impl Share {
    /// Its rows in a glimpse of the provider: tasks that run together, then tasks that wait.
    pub(in crate::provider) fn glimpse(&self) -> Vec<Work> {
        let row = |stage, tasks| Work {
            since: Some(self.queued),
            promised_end: known(self.promised_end),
            ..Work::new(self.call.job, stage, tasks, self.metascheduler)
        };
        let running = self.running.iter().flatten().map(|attempt| Work {
            held: attempt.processors.clone(),
            start: Some(attempt.start),
            end: known(attempt.planned_end),
            ..row(Stage::Running, attempt.count())
        });
        let mut rows = Vec::from_iter(running);
        let run: u32 = rows.iter().map(|it| it.processors).sum();
        rows.extend((run < self.left).then(|| row(Stage::Waiting, self.left - run)));
        rows
    }
}

impl Bargains {
    /// Starts so many tasks of a share now.
    pub(super) fn start_tasks(&mut self, turn: &mut Turn<'_>, slot: Slot, tasks: u32) {
        let Some(share) = turn.core.pieces.get_mut::<Share>(slot) else {
            unreachable!("the scheduler starts tasks of shares")
        };
        let run_time = share.call.program.reveal_to_machine().at_speed(turn.core.config.speed);
        let planned_end = turn.now + share.walltime;
        let (lasts, outcome) = limited(run_time, Some(share.walltime), turn.core.config.overrun);
        let end = turn.now + lasts;
        turn.core.load.leaves(tasks, Some(share.walltime));
        let attempt = turn.core.machine.start(turn.now, tasks, planned_end);
        if share.running.is_empty() {
            let job = share.call.job;
            turn.out.send(share.metascheduler, ShareMessage::Started { job });
        }
        let run = share.running.len() as u32;
        share.running.push(Some(Attempt { end, outcome, ..attempt }));
        turn.out.set(end, Timer::TasksEnd { slot: slot.0, run });
        if end > planned_end {
            turn.out.set(planned_end, Timer::TasksPlanEnds { slot: slot.0, run });
        }
    }

    /// Tasks that ran together go on: their plan is extended by as long as they have run.
    pub(in crate::provider::services) fn on_tasks_plan_ended(
        &mut self,
        turn: &mut Turn<'_>,
        slot: Slot,
        run: u32,
    ) {
        let Some(share) = turn.core.pieces.get_mut::<Share>(slot) else { return };
        let is_due = |it: &&mut Attempt| it.planned_end <= turn.now;
        let running = share.running.get_mut(run as usize).and_then(Option::as_mut);
        if running.is_none() {
            return;
        }
        // All runs that were planned to end by now get the same planned end, as in the scheduler.
        let due = share.running.iter_mut().map(Option::as_mut);
        let due = (0..).zip(due).filter_map(|(run, it)| Some((run, it.filter(is_due)?)));
        let due: Vec<(u32, &mut Attempt)> = due.collect();
        let lasts = due.iter().map(|(_, it)| turn.now - it.start).max().unwrap_or(Span::ZERO);
        let planned_end = turn.now + lasts;
        for (run, attempt) in due {
            turn.core.machine.replan(attempt, planned_end);
            turn.out.set(planned_end, Timer::TasksPlanEnds { slot: slot.0, run });
        }
        turn.core.scheduler.overran(turn.now, slot, planned_end);
        turn.plan_changed();
    }

    /// Tasks that ran together have come to their end.
    pub(in crate::provider::services) fn on_tasks_ended(
        &mut self,
        turn: &mut Turn<'_>,
        slot: Slot,
        run: u32,
    ) {
        let Some(share) = turn.core.pieces.get_mut::<Share>(slot) else { return };
        let running = share.running.get_mut(run as usize).and_then(Option::take);
        let Some(attempt) = running else { return };
        if turn.core.config.overrun == Overrun::Extend {
            turn.out.stop(Timer::TasksPlanEnds { slot: slot.0, run });
        }
        let (killed, planned_end) = (attempt.killed(slot), attempt.planned_end);
        turn.core.machine.end(&attempt);
        share.outcome = worst_of(share.outcome, attempt.outcome);
        turn.out.observe(Observation::TasksOver {
            job: share.call.job,
            provider: turn.core.config.id,
            run: attempt.ended(turn.now),
        });
        share.left -= killed.processors;
        let over = share.left == 0;
        turn.tasks_finished(killed);
        if over {
            self.finish_share(turn, slot);
        }
        if turn.now < planned_end {
            turn.plan_changed();
        }
    }

    pub(super) fn finish_share(&mut self, turn: &mut Turn<'_>, slot: Slot) {
        let Some(share) = turn.core.pieces.take::<Share>(slot) else {
            unreachable!("a share was finished")
        };
        let job = share.call.job;
        self.coordinated_share_over(job, turn.now);
        let outcome = share.outcome;
        turn.say(share.metascheduler, ShareMessage::Finished { job, outcome });
        turn.out.observe(share.over(turn.core.config.id));
    }

    /// Tasks of a share have lost their processors. Tasks have no names, so their starts are
    /// counted over the whole share.
    pub(in crate::provider::services) fn lost_tasks(
        &mut self,
        turn: &mut Turn<'_>,
        slot: Slot,
        tasks: u32,
    ) {
        let Some(share) = turn.core.pieces.get_mut::<Share>(slot) else {
            unreachable!("a share is held until its last task is over")
        };
        share.lost += u64::from(tasks);
        if share.lost >= u64::from(turn.core.config.max_attempts) * u64::from(share.tasks) {
            share.outcome = worst_of(JobOutcome::Failed, share.outcome);
            share.left -= tasks;
            if share.left == 0 {
                self.finish_share(turn, slot);
            }
            return;
        }
        turn.core.load.waits(tasks, Some(share.walltime));
        let lost = BagRequest {
            tasks,
            span: share.walltime,
            deadline: Some(share.promised_end),
            earliest: turn.now,
        };
        let bargainer = turn.core.scheduler.bags();
        bargainer.wait_again(turn.now, slot, &lost);
    }
}

/// Tasks on failed processors are lost; the other tasks of the share go on.
pub(in crate::provider::services) fn lose(
    turn: &mut Turn<'_>,
    slot: Slot,
    failed: &ProcessorSet,
    losses: &mut Losses,
) {
    let Turn { core, now, out } = turn;
    let Some(share) = core.pieces.get_mut::<Share>(slot) else { return };
    let mut tasks = 0;
    for (number, run) in (0..).zip(&mut share.running) {
        let Some(lost) = core.machine.lose(run, failed) else { continue };
        if run.is_none() {
            out.stop(Timer::TasksEnd { slot: slot.0, run: number });
            out.stop(Timer::TasksPlanEnds { slot: slot.0, run: number });
        }
        tasks += lost.count();
        losses.killed.push(lost.killed(slot));
        let run = lost.lost(core.config.id, *now);
        out.observe(Observation::RunLost { job: share.call.job, run });
    }
    if tasks > 0 {
        losses.tasks.push((slot, tasks));
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
    pub(in crate::provider) fn unfinished(
        mut self,
        provider: ProviderId,
        now: Time,
        out: &mut Outbox,
    ) {
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
