//! Data of tasks: where they are, and how long they take to where a task is to run.
//!
//! A task is placed first. When its provider has accepted it, all that it needs, and that is elsewhere, is sent there,
//! each from where it is; the provider queues the task when the last of it has arrived. Either each takes as long as
//! if nothing else were on the way, or a network moves all of them, which share its links. The storage is beside
//! the metascheduler.

use std::collections::BTreeMap;

use haggle_model::network::{Flows, Node, Path};
use haggle_model::workflow::{Input, Need, Staged, Transfer};
use haggle_model::{ActorId, Job, JobId, Time};

use crate::Outbox;
use crate::protocol::{self, DataMessage};

/// How data of tasks travel between sites.
#[derive(Clone, Debug, PartialEq)]
pub enum DataWays {
    /// Each transfer by itself.
    Apart(DataPaths),
    /// Over links that all share: a network moves them.
    Shared(ActorId),
}

impl Default for DataWays {
    /// Data are everywhere at once.
    fn default() -> DataWays {
        DataWays::Apart(DataPaths::default())
    }
}

/// How long data take between sites where each transfer goes by itself: latency + size / bandwidth.
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

    /// When `bytes` that are sent `now` arrive.
    fn arrival(&self, now: Time, from: ActorId, to: ActorId, bytes: u64) -> Time {
        let path = self.own.get(&(from.min(to), from.max(to))).unwrap_or(&self.usual);
        now + Flows::unshared().predicted(path, bytes)
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
        ways: &DataWays,
    ) -> Option<Staged> {
        let task = job.task.as_ref().filter(|task| !task.needs.is_empty())?;
        let input = |&need: &Need| {
            let made = need.made_by.map(|number| (job.workload, task.workflow, number));
            let from = made.and_then(|made| self.0.get(&made)).copied().unwrap_or(beside);
            // Of one that is shared nobody knows beforehand.
            let arrived = || match ways {
                DataWays::Apart(paths) => Some(paths.arrival(now, from, at, need.bytes)),
                DataWays::Shared(_) => None,
            };
            let moves = from != at && need.bytes > 0;
            Input { need, from, moved: moves.then(|| Transfer { sent: now, arrived: arrived() }) }
        };
        Some(Staged { job: job.id, at, inputs: task.needs.iter().map(input).collect() })
    }
}

/// What a network has been asked to move, and has not said to be there.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    /// The number of the next one.
    next: u32,
    /// Each is an input of a task, by its place.
    under_way: BTreeMap<u32, (JobId, usize)>,
}

impl Transfers {
    /// Asks for all that a task needs and is elsewhere.
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

    /// One of them has ended: which input of which task it is, if that is still wanted.
    pub(super) fn end(&mut self, number: u32) -> Option<(JobId, usize)> {
        self.under_way.remove(&number)
    }

    /// What a task needs is not needed any more.
    pub(super) fn abort(&mut self, network: ActorId, job: JobId, out: &mut Outbox) {
        self.under_way.retain(|&number, &mut (of, _)| {
            if of == job {
                out.send(network, DataMessage::AbortTransfer { number });
            }
            of != job
        });
    }
}
