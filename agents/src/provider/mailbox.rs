//! Events on a provider's machine of which its scheduler has not been notified yet.
//!
//! Processors fail and come back one after the other, also at one instant. The scheduler is
//! notified of all of them together, when that part of the instant is over.
//!
//! A scheduler can be down while its machine goes on. Running work still ends, processors still
//! fail and come back, and all of that is recorded. The scheduler is notified when it restarts.
//! Until then it starts nothing and sends nothing.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::reservation::Cause;
use haggle_model::{ActorId, ProcessorSet, Time};
use haggle_scheduling::{Killed, Slot};

use super::Provider;
use crate::Outbox;
use crate::protocol::{Message, Timer};

/// Events on a machine of which its scheduler has not been notified.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    /// True if the scheduler is down; it is notified when it restarts.
    is_down: bool,
    /// Rigid jobs that have ended.
    jobs: Vec<Killed>,
    /// Tasks that have ended.
    tasks: Vec<Killed>,
    /// Work that was lost with its processors.
    lost: Vec<Killed>,
    /// Lost jobs that may start again. Their order does not depend on the order in which processors
    /// failed.
    lost_jobs: BTreeSet<Slot>,
    lost_tasks: BTreeMap<Slot, u32>,
    /// Processors that are down, and are up for the scheduler.
    failed: ProcessorSet,
    /// Processors that are up, and are down for the scheduler.
    restored: ProcessorSet,
    /// Maintenance windows that have begun and go on, with the number of their processors.
    begun: Vec<(u32, u32)>,
    /// Maintenance windows that are over.
    over: Vec<u32>,
    /// Messages that others will receive after the restart.
    news: Vec<(ActorId, Message)>,
}

impl Mailbox {
    /// Records that processors have failed, with all that was lost.
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

    /// Records that processors are up again.
    pub(super) fn restore(&mut self, processors: &ProcessorSet) {
        swap(processors, &mut self.failed, &mut self.restored);
    }

    /// Records that a maintenance window has begun with so many processors.
    pub(super) fn begin(&mut self, number: u32, processors: u32) {
        self.begun.push((number, processors));
    }

    /// Records that a maintenance window is over, and which of its processors are down.
    pub(super) fn end(&mut self, number: u32, down: &ProcessorSet) {
        self.begun.retain(|&(begun, _)| begun != number);
        self.over.push(number);
        self.failed.insert_all(down);
    }
}

/// Takes `processors` out of one set, as far as they are in it, and puts the others into the other
/// set.
fn swap(processors: &ProcessorSet, from: &mut ProcessorSet, to: &mut ProcessorSet) {
    let (mut others, back) = (processors.clone(), from.intersection(processors));
    from.remove_all(&back);
    others.remove_all(&back);
    to.insert_all(&others);
}

impl Provider {
    /// The scheduler is down from now on.
    pub(super) fn on_crashed(&mut self) {
        self.mailbox.get_or_insert_default().is_down = true;
        self.crash_agreements();
        self.crash_transactions();
    }

    /// The scheduler is up again with its old state, and is notified of all that has happened.
    pub(super) fn on_restarted(&mut self, now: Time, out: &mut Outbox) {
        self.restart_agreements(now, out);
        if let Some(mailbox) = self.mailbox.take_if(|mailbox| mailbox.is_down) {
            self.hear(now, *mailbox, out);
        }
    }

    /// The record of failures and repairs. The scheduler is notified when all of this instant have
    /// happened, or when it restarts.
    pub(super) fn tell_later(&mut self, now: Time, out: &mut Outbox) -> &mut Mailbox {
        self.mailbox.get_or_insert_with(|| {
            out.set(now, Timer::Settle);
            Box::default()
        })
    }

    /// All failures and repairs of this instant have happened.
    pub(super) fn on_settled(&mut self, now: Time, out: &mut Outbox) {
        if let Some(mailbox) = self.mailbox.take_if(|mailbox| !mailbox.is_down) {
            self.hear(now, *mailbox, out);
        }
    }

    /// Notifies the scheduler. Its plan stays valid if no planned start has passed and nothing was
    /// lost or failed; otherwise the plan is made anew.
    fn hear(&mut self, now: Time, mailbox: Mailbox, out: &mut Outbox) {
        let Mailbox { is_down, begun, over, news, .. } = mailbox;
        let Mailbox { jobs, tasks, lost, lost_jobs, lost_tasks, failed, restored, .. } = mailbox;
        // Nothing may start before the scheduler knows everything.
        self.mailbox = Some(Box::new(Mailbox { is_down, ..Mailbox::default() }));
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
        // Order: jobs that need another place in their window, then reservations that lost theirs,
        // then all other jobs.
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
        let since = self.mailbox.take().map(|since| since.news).unwrap_or_default();
        for (to, message) in news.into_iter().chain(since) {
            out.send(to, message);
        }
        self.restart_transactions(now, out);
        self.plan_changed(now, out);
    }

    /// Extends the plans of work that still runs and was planned to end while the scheduler was
    /// down.
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

    /// A rigid job has ended: notifies the scheduler, now or when it is up again.
    pub(super) fn job_finished(&mut self, now: Time, job: Killed) {
        match &mut self.mailbox {
            Some(mailbox) => mailbox.jobs.push(job),
            None => self.scheduler.finished(now, job.slot),
        }
    }

    /// Tasks of a share have ended: notifies the scheduler in the same way.
    pub(super) fn tasks_finished(&mut self, now: Time, tasks: Killed) {
        match &mut self.mailbox {
            Some(mailbox) => mailbox.tasks.push(tasks),
            None => self.tell_tasks_finished(now, &tasks),
        }
    }

    fn tell_tasks_finished(&mut self, now: Time, tasks: &Killed) {
        let &Killed { slot, processors, planned_end } = tasks;
        let bargainer = self.scheduler.bargainer().expect("only bargainers take shares");
        bargainer.tasks_finished(now, slot, processors, planned_end);
    }

    /// Sends a message about an event on the machine, now or when its scheduler is up again.
    pub(super) fn say(&mut self, to: ActorId, message: impl Into<Message>, out: &mut Outbox) {
        match &mut self.mailbox {
            Some(mailbox) if mailbox.is_down => mailbox.news.push((to, message.into())),
            _ => out.send(to, message),
        }
    }
}
