//! Running a provider's shares of bags: tasks start when the plan says so and
//! end when they are done, or at their limit unless they may run over it.

use haggle_model::{
    ActorId, JobOutcome, Observation, ProcessorSet, ProviderId, ShareRecord, Span, TaskRun, Time,
};
use haggle_scheduling::{Killed, Slot, promise};

use super::load::work;
use super::{Held, Provider};
use crate::Outbox;
use crate::protocol::{Call, ShareMessage, Timer};
use haggle_scheduling::Overrun;

/// A share in the provider's hands.
#[derive(Debug)]
pub(super) struct Share {
    pub(super) call: Box<Call>,
    pub(super) metascheduler: ActorId,
    pub(super) tasks: u32,
    pub(super) queued: Time,
    /// Planned time of a task on this machine.
    pub(super) walltime: Span,
    /// [`Time::FOREVER`] = nothing is promised.
    pub(super) promised_end: Time,
    /// Tasks that run together, in the order in which they started.
    pub(super) running: Vec<Option<Running>>,
    /// The worst outcome of those that are over.
    pub(super) outcome: JobOutcome,
    /// Tasks that are not over.
    pub(super) left: u32,
    /// Tasks that were lost with their processors, each as often as it was.
    pub(super) lost: u64,
}

/// Tasks that run together.
#[derive(Debug)]
pub(super) struct Running {
    start: Time,
    /// When they end unless their processors fail.
    end: Time,
    planned_end: Time,
    outcome: JobOutcome,
    processors: ProcessorSet,
}

impl Running {
    /// Takes those tasks out that run on `failed` processors: when they started,
    /// when they were planned to end, and what they held.
    pub(super) fn lose(
        running: &mut Option<Running>,
        failed: &ProcessorSet,
    ) -> Option<(Time, Time, ProcessorSet)> {
        let tasks = running.as_mut()?;
        let lost = tasks.processors.intersection(failed);
        if lost.is_empty() {
            return None;
        }
        let (start, planned_end) = (tasks.start, tasks.planned_end);
        tasks.processors.remove_all(&lost);
        if tasks.processors.is_empty() {
            *running = None;
        }
        Some((start, planned_end, lost))
    }
}

impl Provider {
    /// Starts so many tasks of a share now.
    pub(super) fn start_tasks(&mut self, now: Time, slot: Slot, tasks: u32, out: &mut Outbox) {
        let processors = self
            .free
            .take_lowest(tasks)
            .expect("the scheduler starts tasks only if their processors are free");
        let Some(Held::Share(share)) = self.jobs.get_mut(slot) else {
            unreachable!("the scheduler starts tasks of shares")
        };
        let run_time = share.call.program.reveal_to_machine().at_speed(self.config.speed);
        let planned_end = now + share.walltime;
        let (lasts, outcome) = match self.config.overrun {
            Overrun::Kill if run_time > share.walltime => {
                (share.walltime, JobOutcome::WalltimeReached)
            }
            _ => (run_time, JobOutcome::Completed),
        };
        self.load.waiting -= work(tasks, Some(share.walltime));
        self.load.started(tasks, planned_end);
        if share.running.is_empty() {
            let job = share.call.job;
            out.send(share.metascheduler, ShareMessage::Started { job });
        }
        let run = share.running.len() as u32;
        let end = now + lasts;
        share.running.push(Some(Running { start: now, end, planned_end, outcome, processors }));
        out.set(end, Timer::TasksEnd { slot: slot.0, run });
        if end > planned_end {
            out.set(planned_end, Timer::TasksPlanEnds { slot: slot.0, run });
        }
    }

    /// Tasks that ran together go on: they are planned for as long again as they have run.
    pub(super) fn on_tasks_plan_ended(
        &mut self,
        now: Time,
        slot: Slot,
        run: u32,
        out: &mut Outbox,
    ) {
        let Some(Held::Share(share)) = self.jobs.get_mut(slot) else { return };
        let is_due = |it: &&mut Running| it.planned_end <= now;
        let running = share.running.get_mut(run as usize).and_then(Option::as_mut);
        if running.is_none() {
            return;
        }
        // What was to end by now goes on together, as it does for the scheduler.
        let due = share.running.iter_mut().map(Option::as_mut);
        let due = (0..).zip(due).filter_map(|(run, it)| Some((run, it.filter(is_due)?)));
        let due: Vec<(u32, &mut Running)> = due.collect();
        let lasts = due.iter().map(|(_, it)| now - it.start).max().unwrap_or(Span::ZERO);
        let planned_end = now + lasts;
        for (run, running) in due {
            self.load.extended(running.processors.count(), planned_end - running.planned_end);
            running.planned_end = planned_end;
            out.set(planned_end, Timer::TasksPlanEnds { slot: slot.0, run });
        }
        self.scheduler.overran(now, slot, planned_end);
        self.plan_changed(now, out);
    }

    /// Tasks that ran together have come to their end.
    pub(super) fn on_tasks_ended(&mut self, now: Time, slot: Slot, run: u32, out: &mut Outbox) {
        let Some(Held::Share(share)) = self.jobs.get_mut(slot) else { return };
        let running = share.running.get_mut(run as usize).and_then(Option::take);
        let Some(Running { start, planned_end, outcome, processors, .. }) = running else { return };
        if self.config.overrun == Overrun::Extend {
            out.stop(Timer::TasksPlanEnds { slot: slot.0, run });
        }
        let tasks = processors.count();
        self.free.insert_all(&processors);
        self.load.ended(tasks, planned_end);
        share.outcome = worse(share.outcome, outcome);
        out.observe(Observation::TasksOver {
            job: share.call.job,
            provider: self.config.id,
            run: TaskRun { start, end: now, outcome, processors },
        });
        share.left -= tasks;
        let over = share.left == 0;
        self.tasks_finished(now, Killed { slot, processors: tasks, planned_end });
        if over {
            self.finish_share(now, slot, out);
        }
        if now < planned_end {
            self.plan_changed(now, out);
        }
    }

    pub(super) fn finish_share(&mut self, now: Time, slot: Slot, out: &mut Outbox) {
        let Some(Held::Share(share)) = self.release(slot) else {
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
    /// The runs that end by now and have one of these processors.
    pub(super) fn ending(&self, now: Time, processors: &ProcessorSet) -> impl Iterator<Item = u32> {
        let ends = move |run: &Running| run.end <= now && run.processors.intersects(processors);
        let running = (0..).zip(&self.running);
        running.filter_map(move |(number, run)| run.as_ref().filter(|it| ends(it)).map(|_| number))
    }

    /// A run that goes on though it was planned to end by now.
    pub(super) fn late(&self, now: Time) -> Option<u32> {
        let is_late = |it: &Running| it.planned_end <= now && it.end > now;
        let late = self.running.iter().position(|run| run.as_ref().is_some_and(is_late));
        late.map(|run| run as u32)
    }

    /// The share is over, or the run is.
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

    /// The run stops while the share waits or runs.
    pub(super) fn unfinished(mut self, provider: ProviderId, now: Time, out: &mut Outbox) {
        for run in std::mem::take(&mut self.running).into_iter().flatten() {
            let Running { start, processors, .. } = run;
            let run = TaskRun { start, end: now, outcome: JobOutcome::Unfinished, processors };
            out.observe(Observation::TasksOver { job: self.call.job, provider, run });
        }
        out.observe(self.over(provider));
    }
}

/// How something ended of which one part ended like this and another like that.
pub(crate) fn worse(one: JobOutcome, other: JobOutcome) -> JobOutcome {
    let lost = one == JobOutcome::Failed || other == JobOutcome::Completed;
    if lost { one } else { other }
}
