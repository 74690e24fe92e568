//! What happens on a provider's machine before its scheduler hears of it.
//!
//! Processors fail and come back one after the other, also at one instant. The scheduler hears of
//! all of them together when that part of the instant is over.
//!
//! A scheduler can be down while its machine goes on. What runs ends when it ends, processors fail
//! and come back, and all that is taken down. The scheduler hears of it when it restarts; before, it
//! starts nothing and tells nobody anything.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::reservation::Cause;
use haggle_model::{ActorId, ProcessorSet, Time};
use haggle_scheduling::{Killed, Slot};

use super::Provider;
use crate::Outbox;
use crate::protocol::{Message, Timer};

/// What has happened on a machine and its scheduler has not heard.
#[derive(Debug, Default)]
pub(super) struct Unheard {
    /// Whether the scheduler is down, and hears of it when it restarts.
    is_down: bool,
    /// Rigid jobs that have ended.
    jobs: Vec<Killed>,
    /// Tasks that have ended.
    tasks: Vec<Killed>,
    /// What has gone with its processors.
    lost: Vec<Killed>,
    /// Those of it that may start again: in an order that does not say which processors failed first.
    lost_jobs: BTreeSet<Slot>,
    lost_tasks: BTreeMap<Slot, u32>,
    /// Processors that are down, and were not.
    failed: ProcessorSet,
    /// Processors that were down, and are not.
    restored: ProcessorSet,
    /// Windows of maintenance that have begun and go on, with how many processors.
    begun: Vec<(u32, u32)>,
    /// Windows of maintenance that are over.
    over: Vec<u32>,
    /// What others will be told.
    news: Vec<(ActorId, Message)>,
}

impl Unheard {
    /// Takes down that processors have failed, with all that was lost.
    pub(super) fn fail(
        &mut self,
        processors: &ProcessorSet,
        lost: Vec<Killed>,
        jobs: Vec<Slot>,
        tasks: Vec<(Slot, u32)>,
    ) {
        self.lost.extend(lost);
        self.lost_jobs.extend(jobs);
        for (slot, tasks) in tasks {
            *self.lost_tasks.entry(slot).or_default() += tasks;
        }
        swap(processors, &mut self.restored, &mut self.failed);
    }

    /// Takes down that processors are back.
    pub(super) fn restore(&mut self, processors: &ProcessorSet) {
        swap(processors, &mut self.failed, &mut self.restored);
    }

    /// Takes down that a window of maintenance has begun with so many processors.
    pub(super) fn begin(&mut self, number: u32, processors: u32) {
        self.begun.push((number, processors));
    }

    /// Takes down that a window of maintenance is over, and which of its processors are down.
    pub(super) fn end(&mut self, number: u32, down: &ProcessorSet) {
        self.begun.retain(|&(begun, _)| begun != number);
        self.over.push(number);
        self.failed.insert_all(down);
    }
}

/// Takes `processors` out of one set, as far as they are in it, and puts the others into another.
fn swap(processors: &ProcessorSet, from: &mut ProcessorSet, to: &mut ProcessorSet) {
    let (mut others, back) = (processors.clone(), from.intersection(processors));
    from.remove_all(&back);
    others.remove_all(&back);
    to.insert_all(&others);
}

impl Provider {
    /// The scheduler is down from now on.
    pub(super) fn on_crashed(&mut self) {
        self.unheard.get_or_insert_default().is_down = true;
        self.crash_transactions();
    }

    /// The scheduler is back, knows what it knew, and hears of all that has happened.
    pub(super) fn on_restarted(&mut self, now: Time, out: &mut Outbox) {
        if let Some(unheard) = self.unheard.take_if(|unheard| unheard.is_down) {
            self.hear(now, *unheard, out);
        }
    }

    /// Takes down what fails or comes back; the scheduler hears of it when all else has that does so
    /// now, or when it restarts.
    pub(super) fn tell_later(&mut self, now: Time, out: &mut Outbox) -> &mut Unheard {
        self.unheard.get_or_insert_with(|| {
            out.set(now, Timer::Settle);
            Box::default()
        })
    }

    /// All that fails or comes back at this instant has.
    pub(super) fn on_settled(&mut self, now: Time, out: &mut Outbox) {
        if let Some(unheard) = self.unheard.take_if(|unheard| !unheard.is_down) {
            self.hear(now, *unheard, out);
        }
    }

    /// Tells the scheduler. As long as no planned start has passed, and nothing was lost, its plan
    /// holds; otherwise it is made anew.
    fn hear(&mut self, now: Time, unheard: Unheard, out: &mut Outbox) {
        let Unheard { is_down, begun, over, news, .. } = unheard;
        let Unheard { jobs, tasks, lost, lost_jobs, lost_tasks, failed, restored, .. } = unheard;
        // Nothing is to start before all is told.
        self.unheard = Some(Box::new(Unheard { is_down, ..Unheard::default() }));
        over.into_iter().for_each(|number| self.tell_maintenance_over(now, number));
        let missed = is_down && self.scheduler.next_start().is_some_and(|start| start < now);
        let fails = !failed.is_empty() || !lost.is_empty();
        if missed || fails {
            let gone = [jobs, tasks, lost].concat();
            self.scheduler.failed(now, failed.count(), &gone);
        } else {
            jobs.iter().for_each(|job| self.scheduler.finished(now, job.slot));
            tasks.iter().for_each(|tasks| self.tell_tasks_finished(now, tasks));
        }
        if !restored.is_empty() {
            self.scheduler.restored(now, restored.count());
        }
        for (number, processors) in begun {
            let scheduler = self.scheduler.maintaining().expect("it was announced to it");
            scheduler.begin(now, number, processors);
        }
        // Those who ran in a window and are to have another place in it; then those who wait.
        let (in_windows, others): (Vec<Slot>, Vec<Slot>) =
            lost_jobs.into_iter().partition(|&slot| self.keeps_window(slot));
        in_windows.into_iter().for_each(|slot| self.lost_job(now, slot, out));
        self.answer_displaced(now, if fails { Cause::Failure } else { Cause::Crash }, out);
        others.into_iter().for_each(|slot| self.lost_job(now, slot, out));
        for (slot, tasks) in lost_tasks {
            self.lost_tasks(now, slot, tasks, out);
        }
        if is_down {
            self.catch_up_with_plans(now, out);
        }
        let since = self.unheard.take().map(|since| since.news).unwrap_or_default();
        for (to, message) in news.into_iter().chain(since) {
            out.send(to, message);
        }
        self.restart_transactions(now, out);
        self.plan_changed(now, out);
    }

    /// What still runs, and was planned to end while the scheduler was down, goes on.
    fn catch_up_with_plans(&mut self, now: Time, out: &mut Outbox) {
        let late = self.pieces.iter().filter_map(|(slot, piece)| {
            // One late run of a share is enough: all of them are planned anew.
            let (run, _) = piece.attempts().find(|(_, attempt)| attempt.is_late(now))?;
            Some((slot, run))
        });
        let over = Vec::from_iter(late);
        for (slot, run) in over {
            match run {
                None => self.on_plan_ended(now, slot, out),
                Some(run) => self.on_tasks_plan_ended(now, slot, run, out),
            }
        }
    }

    /// A rigid job has ended: its scheduler hears of it, now or when it is back.
    pub(super) fn job_finished(&mut self, now: Time, job: Killed) {
        match &mut self.unheard {
            Some(unheard) => unheard.jobs.push(job),
            None => self.scheduler.finished(now, job.slot),
        }
    }

    /// Tasks of a share have ended, in the same way.
    pub(super) fn tasks_finished(&mut self, now: Time, tasks: Killed) {
        match &mut self.unheard {
            Some(unheard) => unheard.tasks.push(tasks),
            None => self.tell_tasks_finished(now, &tasks),
        }
    }

    fn tell_tasks_finished(&mut self, now: Time, tasks: &Killed) {
        let &Killed { slot, processors, planned_end } = tasks;
        let bargainer = self.scheduler.bargainer().expect("only bargainers take shares");
        bargainer.tasks_finished(now, slot, processors, planned_end);
    }

    /// Says something that happened on the machine, now or when its scheduler is back.
    pub(super) fn say(&mut self, to: ActorId, message: impl Into<Message>, out: &mut Outbox) {
        match &mut self.unheard {
            Some(unheard) if unheard.is_down => unheard.news.push((to, message.into())),
            _ => out.send(to, message),
        }
    }
}
