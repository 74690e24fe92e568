//! Data of tasks: where they are, and how long they take to where a task is to run.
//!
//! A task is placed first. Then all that it needs, and that is elsewhere, is sent to its provider, each
//! from where it is, as if nothing else were on the way; the task is submitted there when the last of it has
//! arrived. The storage is beside the metascheduler.

use std::collections::BTreeMap;

use haggle_model::network::{Flows, Path};
use haggle_model::workflow::{Input, Need, Staged, Transfer};
use haggle_model::{ActorId, Job, Time};

/// How data travel between sites: each transfer by itself, latency + size / bandwidth.
#[derive(Clone, Debug, PartialEq)]
pub struct DataPaths {
    /// Between sites without a path of their own.
    usual: Path,
    /// By the two ends, the smaller one first.
    own: BTreeMap<(ActorId, ActorId), Path>,
}

impl Default for DataPaths {
    /// Data are everywhere at once.
    fn default() -> DataPaths {
        DataPaths { usual: Path::local(), own: BTreeMap::new() }
    }
}

impl DataPaths {
    /// The same path between any two sites.
    pub fn new(usual: Path) -> DataPaths {
        DataPaths { usual, own: BTreeMap::new() }
    }

    /// Another path between two sites, the same both ways.
    pub fn join(&mut self, a: ActorId, b: ActorId, path: Path) {
        self.own.insert((a.min(b), a.max(b)), path);
    }

    /// When `bytes` that are sent `now` arrive; `None` if nothing has to be sent.
    fn transfer(&self, now: Time, from: ActorId, to: ActorId, bytes: u64) -> Option<Transfer> {
        if from == to || bytes == 0 {
            return None;
        }
        let path = self.own.get(&(from.min(to), from.max(to))).unwrap_or(&self.usual);
        let arrived = now + Flows::unshared().predicted(path, bytes);
        Some(Transfer { sent: now, arrived: Some(arrived) })
    }
}

/// Where the outputs of tasks are that are done.
#[derive(Debug, Default)]
pub(super) struct Outputs(BTreeMap<(u16, u32, u32), ActorId>);

impl Outputs {
    /// A job was done there.
    pub(super) fn done(&mut self, job: &Job, at: ActorId) {
        if let Some(task) = &job.task {
            self.0.insert((job.workload, task.workflow, task.task), at);
        }
    }

    /// What a task needs at the provider, if all of it is sent `now`; `None` if it needs nothing. Who
    /// asks is `beside` the storage; what it has not heard of is there, too.
    pub(super) fn staged(
        &self,
        now: Time,
        job: &Job,
        (beside, at): (ActorId, ActorId),
        paths: &DataPaths,
    ) -> Option<Staged> {
        let task = job.task.as_ref().filter(|task| !task.needs.is_empty())?;
        let input = |&need: &Need| {
            let made = need.made_by.map(|number| (job.workload, task.workflow, number));
            let from = made.and_then(|made| self.0.get(&made)).copied().unwrap_or(beside);
            Input { need, from, moved: paths.transfer(now, from, at, need.bytes) }
        };
        Some(Staged { job: job.id, at, inputs: task.needs.iter().map(input).collect() })
    }
}
