//! Data of tasks: where they are, and how long they take to the site at which a task runs.
//!
//! A task is placed first. When its provider has accepted it, every input that is elsewhere is sent
//! there from its site. The provider queues the task when the last input has arrived. A transfer
//! takes as long as if it were alone, or a network moves all transfers over links that they share.
//! The storage is beside the metascheduler.

use std::collections::BTreeMap;

use haggle_model::network::{Flows, Node, Path};
use haggle_model::workflow::{Input, Need, Staged, Transfer};
use haggle_model::{ActorId, Job, JobId, Time};
use serde::{Deserialize, Serialize};

use crate::Outbox;
use crate::protocol::{self, DataMessage};

/// How data of tasks travel between sites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DataWays {
    /// Each transfer is independent of the others.
    Apart(DataPaths),
    /// Over links that all transfers share: this network moves them.
    Shared(ActorId),
}

impl Default for DataWays {
    /// Data are everywhere at once.
    fn default() -> DataWays {
        DataWays::Apart(DataPaths::default())
    }
}

/// Transfer times between sites if transfers are independent: latency + size / bandwidth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataPaths {
    /// Path between two sites without a path of their own.
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

    /// Arrival of `bytes` that are sent `now`.
    fn arrival(&self, now: Time, from: ActorId, to: ActorId, bytes: u64) -> Time {
        // The smaller end first, as in `join`: a path is the same both ways.
        let path = self.own.get(&(from.min(to), from.max(to))).unwrap_or(&self.usual);
        now + Flows::unshared().predicted(path, bytes)
    }
}

/// Sites of the outputs of finished tasks, by workload, workflow and task.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Outputs(BTreeMap<(u16, u32, u32), ActorId>);

impl Outputs {
    /// A job has completed at `at`.
    pub(super) fn done(&mut self, job: &Job, at: ActorId) {
        if let Some(task) = &job.task {
            self.0.insert((job.workload, task.workflow, task.task), at);
        }
    }

    /// Inputs of a task at provider `at`, if all of them are sent `now`; `None` if it needs
    /// nothing. The storage is `beside` the caller, and has every input whose origin is unknown.
    pub(super) fn staged(
        &self,
        now: Time,
        job: &Job,
        (beside, at): (ActorId, ActorId),
        ways: &DataWays,
    ) -> Option<Staged> {
        let task = job.task.as_ref().filter(|task| !task.needs.is_empty())?;
        let input = |&need: &Need| {
            let made = need.made_by.map(|number| (job.workload, task.workflow, number));
            // An input that no finished task has made is in the storage.
            let from = made.and_then(|made| self.0.get(&made)).copied().unwrap_or(beside);
            // The arrival of a shared transfer is unknown until the network reports it.
            let arrived = || match ways {
                DataWays::Apart(paths) => Some(paths.arrival(now, from, at, need.bytes)),
                DataWays::Shared(_) => None,
            };
            // Data without bytes are no transfer.
            let moves = from != at && need.bytes > 0;
            Input { need, from, moved: moves.then(|| Transfer { sent: now, arrived: arrived() }) }
        };
        Some(Staged { job: job.id, at, inputs: task.needs.iter().map(input).collect() })
    }
}

/// Transfers that a network has been asked for and has not ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Transfers {
    /// The number of the next one.
    next: u32,
    /// Each is an input of a task, by its position.
    under_way: BTreeMap<u32, (JobId, usize)>,
}

impl Transfers {
    /// Asks the network for all inputs of a task that are elsewhere.
    pub(super) fn start(&mut self, network: ActorId, staged: &Staged, out: &mut Outbox) {
        let to = Node::Site(staged.at);
        let moving = staged.inputs.iter().enumerate().filter(|(_, it)| it.moved.is_some());
        for (place, &Input { need, from, .. }) in moving {
            let (number, from, bytes) = (self.next, Node::Site(from), need.bytes);
            self.next += 1;
            self.under_way.insert(number, (staged.job, place));
            let transfer = protocol::Transfer { number, from, to, bytes };
            out.send(network, DataMessage::Transfer(Box::new(transfer)));
        }
    }

    /// A transfer has ended. Returns its task and input, if that is still wanted.
    pub(super) fn end(&mut self, number: u32) -> Option<(JobId, usize)> {
        self.under_way.remove(&number)
    }

    /// Aborts all transfers of a job.
    pub(super) fn abort(&mut self, network: ActorId, job: JobId, out: &mut Outbox) {
        self.under_way.retain(|&number, &mut (of, _)| {
            if of == job {
                out.send(network, DataMessage::AbortTransfer { number });
            }
            of != job
        });
    }
}
