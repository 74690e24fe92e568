//! Jobs as tasks of workflows, as far as everybody has to know: the graphs are kept by those who need them.

use serde::{Deserialize, Serialize};

use crate::progress::Progress;
use crate::{ActorId, JobId, Span, Time};

/// A job as a task of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkflowTask {
    /// Which workflow of its workload, counted from 0.
    pub workflow: u32,
    /// Which task of that, counted from 0.
    pub task: u32,
    /// What it brings along; `None` = as much as any job of its workload.
    pub data: Option<TaskData>,
    /// What it says of its progress; `None` = nothing.
    pub progress: Option<Progress>,
    /// Where it is to run on a provider: what has to be there, in the order of its parents. On a
    /// grid, `data` has their sum.
    pub needs: Box<[Need]>,
}

/// Data that a task needs where it is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Need {
    /// The task that makes them; `None` = they are in the storage from the beginning.
    pub made_by: Option<u32>,
    /// How much.
    pub bytes: u64,
}

/// All that a task needs is where it is to run: observed when its provider may queue it, or when the task was withdrawn
/// or the run ended before all had arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// The task.
    pub job: JobId,
    /// The provider.
    pub at: ActorId,
    /// What it needs, and where that was.
    pub inputs: Vec<Input>,
}

/// What a task needs, and how it came to where the task is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// What.
    pub need: Need,
    /// Where it was: a provider, or who is beside the storage.
    pub from: ActorId,
    /// How it was sent; `None` if nothing had to be transferred.
    pub moved: Option<Transfer>,
}

/// A way of data from one place to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// When it began.
    pub sent: Time,
    /// When all had arrived; `None` if it was cut off before.
    pub arrived: Option<Time>,
}

impl Input {
    /// When it had arrived, if it was transferred.
    pub fn arrived(&self) -> Option<Time> {
        self.moved?.arrived
    }
}

impl Staged {
    /// When the last of its inputs arrived, if any was transferred.
    pub fn arrived(&self) -> Option<Time> {
        self.inputs.iter().filter_map(Input::arrived).max()
    }

    /// Whether anything has to be transferred.
    pub fn moves(&self) -> bool {
        self.inputs.iter().any(|it| it.moved.is_some())
    }

    /// The input at this place has arrived.
    pub fn arrive(&mut self, place: usize, at: Time) {
        if let Some(transfer) = &mut self.inputs[place].moved {
            transfer.arrived = Some(at);
        }
    }

    /// Whether all that is transferred has arrived, or is known to do so.
    pub fn is_there(&self) -> bool {
        self.inputs.iter().filter_map(|it| it.moved).all(|it| it.arrived.is_some())
    }

    /// Bytes that were transferred, without those that were cut off.
    pub fn bytes_moved(&self) -> u64 {
        self.inputs.iter().filter(|it| it.arrived().is_some()).map(|it| it.need.bytes).sum()
    }

    /// What has not arrived by `now` never will.
    #[must_use]
    pub fn cut_off(mut self, now: Time) -> Staged {
        for transfer in self.inputs.iter_mut().filter_map(|it| it.moved.as_mut()) {
            transfer.arrived = transfer.arrived.filter(|&arrived| arrived <= now);
        }
        self
    }
}

/// What a task brings along, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskData {
    /// Data that have to be there before it computes.
    pub input: u64,
    /// Data that it sends away, once, whoever reads them.
    pub output: u64,
    /// Its checkpoint.
    pub checkpoint: u64,
}

/// A workflow whose first task has been submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkflowCame {
    /// The workload it comes from.
    pub workload: u16,
    /// Its number there, counted from 0.
    pub number: u32,
    /// Its tasks.
    pub tasks: u32,
    /// How long its critical path takes on the reference machine if data take no time.
    pub critical_path: Span,
}
