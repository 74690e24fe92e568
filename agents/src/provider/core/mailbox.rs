//! Events on a provider's machine of which its scheduler has not been notified yet.
//!
//! Processors fail and come back one after the other, also at one instant. The scheduler is
//! notified of all of them together, when that part of the instant is over.
//!
//! A scheduler with an interval is notified of ends, failures and repairs at its next pass.
//!
//! A scheduler can be down while its machine goes on. Running work still ends, processors still
//! fail and come back, and all of that is recorded. The scheduler is notified when it restarts.
//! Until then it starts nothing and sends nothing.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::{ActorId, ProcessorSet};
use haggle_scheduling::site::OnPreemption;
use haggle_scheduling::{Killed, Slot};
use serde::{Deserialize, Serialize};

use super::Turn;
use crate::protocol::Message;

/// Events on a machine of which its scheduler has not been notified.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::provider) struct Mailbox {
    /// True if the scheduler is down; it is notified when it restarts.
    pub(in crate::provider) is_down: bool,
    /// Rigid jobs that have ended.
    pub(in crate::provider) jobs: Vec<Killed>,
    /// Tasks that have ended.
    pub(in crate::provider) tasks: Vec<Killed>,
    /// Work that was lost with its processors.
    pub(in crate::provider) lost: Vec<Killed>,
    /// Lost jobs that may start again. Their order does not depend on the order in which processors
    /// failed.
    pub(in crate::provider) lost_jobs: BTreeSet<Slot>,
    /// Jobs that were stopped for others, with their treatment.
    pub(in crate::provider) stopped_jobs: BTreeMap<Slot, OnPreemption>,
    pub(in crate::provider) lost_tasks: BTreeMap<Slot, u32>,
    /// Lost parts of jobs that are spread over providers.
    pub(in crate::provider) lost_parts: BTreeSet<Slot>,
    /// Processors that are down, and are up for the scheduler.
    pub(in crate::provider) failed: ProcessorSet,
    /// Processors that are up, and are down for the scheduler.
    pub(in crate::provider) restored: ProcessorSet,
    /// Maintenance windows that have begun and go on, with the number of their processors.
    pub(in crate::provider) begun: Vec<(u32, u32)>,
    /// Maintenance windows that are over.
    pub(in crate::provider) over: Vec<u32>,
    /// Messages that others will receive after the restart.
    pub(in crate::provider) news: Vec<(ActorId, Message)>,
}

impl Mailbox {
    /// Records that processors have failed, with all that was lost.
    pub(in crate::provider) fn fail(&mut self, processors: &ProcessorSet, losses: Losses) {
        self.lost.extend(losses.killed);
        self.lost_jobs.extend(losses.jobs);
        self.lost_parts.extend(losses.parts);
        for (slot, tasks) in losses.tasks {
            *self.lost_tasks.entry(slot).or_default() += tasks;
        }
        swap(processors, &mut self.restored, &mut self.failed);
    }

    /// Records that a job was stopped for another one.
    pub(in crate::provider) fn stop(&mut self, slot: Slot, then: OnPreemption, losses: Losses) {
        self.lost.extend(losses.killed);
        self.stopped_jobs.insert(slot, then);
    }

    /// True if the scheduler must forget work or processors.
    pub(in crate::provider) fn fails(&self) -> bool {
        !self.failed.is_empty() || !self.lost.is_empty()
    }

    /// Records that processors are up again.
    pub(in crate::provider) fn restore(&mut self, processors: &ProcessorSet) {
        swap(processors, &mut self.failed, &mut self.restored);
    }

    /// Records that a maintenance window has begun with so many processors.
    pub(in crate::provider) fn begin(&mut self, number: u32, processors: u32) {
        self.begun.push((number, processors));
    }

    /// Records that a maintenance window is over, and which of its processors are down.
    pub(in crate::provider) fn end(&mut self, number: u32, down: &ProcessorSet) {
        self.begun.retain(|&(begun, _)| begun != number);
        self.over.push(number);
        self.failed.insert_all(down);
    }
}

/// Work that was lost by one failure.
#[derive(Debug, Default)]
pub(in crate::provider) struct Losses {
    /// The data by which the scheduler forgets it.
    pub(in crate::provider) killed: Vec<Killed>,
    /// Rigid jobs.
    pub(in crate::provider) jobs: Vec<Slot>,
    /// Parts of jobs that are spread over providers.
    pub(in crate::provider) parts: Vec<Slot>,
    /// Shares, each with the number of its lost tasks.
    pub(in crate::provider) tasks: Vec<(Slot, u32)>,
}

impl Turn<'_> {
    /// Notifies the scheduler. Its plan stays valid if no planned start has passed and nothing was
    /// lost or failed; otherwise the plan is made anew. Returns the messages that were kept.
    pub(in crate::provider) fn notify(&mut self, mailbox: Mailbox) -> Vec<(ActorId, Message)> {
        let fails = mailbox.fails();
        let Mailbox { is_down, begun, over, news, jobs, tasks, lost, failed, restored, .. } =
            mailbox;
        let now = self.now;
        // Windows that are over come first: their processors are up for all that follows.
        over.into_iter().for_each(|number| self.tell_maintenance_over(number));
        let scheduler = &mut self.core.scheduler;
        let missed = is_down && scheduler.next_start().is_some_and(|start| start < now);
        if missed || fails {
            let gone = [jobs, tasks, lost].concat();
            match self.core.config.scheduler.nodes() {
                Some(nodes) => scheduler.nodes().failed_on(now, &nodes.of(&failed), &gone),
                None => scheduler.failed(now, failed.count(), &gone),
            }
        } else {
            jobs.iter().for_each(|job| scheduler.finished(now, job.slot));
            tasks.iter().for_each(|tasks| self.tell_tasks_finished(tasks));
        }
        let scheduler = &mut self.core.scheduler;
        match self.core.config.scheduler.nodes() {
            _ if restored.is_empty() => {}
            Some(nodes) => scheduler.nodes().restored_on(now, &nodes.of(&restored)),
            None => scheduler.restored(now, restored.count()),
        }
        for (number, processors) in begun {
            let scheduler = scheduler.maintenance();
            scheduler.begin(now, number, processors);
        }
        news
    }

    /// Notifies the scheduler that a window of maintenance is over.
    pub(in crate::provider) fn tell_maintenance_over(&mut self, number: u32) {
        let scheduler = self.core.scheduler.maintenance();
        scheduler.end(self.now, number);
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
