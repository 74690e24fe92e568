//! Jobs as tasks of workflows: the facts that all actors need. Actors that need the graphs keep them themselves.

use serde::{Deserialize, Serialize};

use crate::progress::Progress;
use crate::{ActorId, JobId, Span, Time};

/// A job as a task of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkflowTask {
    /// Workflow within its workload, from 0.
    pub workflow: u32,
    /// Task within its workflow, from 0.
    pub task: u32,
    /// Its data; `None` = the same as for any job of its workload.
    pub data: Option<TaskData>,
    /// Its progress reports; `None` = none.
    pub progress: Option<Progress>,
    /// Inputs that must be at its provider before it runs, in the order of its parents. On a grid,
    /// `data` has their sum.
    pub needs: Box<[Need]>,
}

/// Data that a task needs at the place where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Need {
    /// The task that produces them; `None` = they are in the storage from the beginning.
    pub made_by: Option<u32>,
    /// Size.
    pub bytes: u64,
}

/// All inputs of a task are at the place where it runs. Observed when its provider may queue it, or
/// when the task was withdrawn or the run ended before all had arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staged {
    /// The task.
    pub job: JobId,
    /// The provider.
    pub at: ActorId,
    /// Its inputs and their origins.
    pub inputs: Vec<Input>,
}

/// An input of a task, and its transfer to the place where the task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The data needed.
    pub need: Need,
    /// Place from which the data come: a provider, or the actor beside the storage.
    pub from: ActorId,
    /// The transfer; `None` if none was necessary.
    pub moved: Option<Transfer>,
}

/// A transfer of data from one place to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Start of the transfer.
    pub sent: Time,
    /// Time at which all data had arrived; `None` if the transfer was cut off.
    pub arrived: Option<Time>,
}

impl Input {
    /// Arrival of the data, if they were transferred.
    pub fn arrived(&self) -> Option<Time> {
        self.moved?.arrived
    }
}

impl Staged {
    /// Arrival of the last input, if any was transferred.
    pub fn arrived(&self) -> Option<Time> {
        self.inputs.iter().filter_map(Input::arrived).max()
    }

    /// True if any input must be transferred.
    pub fn moves(&self) -> bool {
        self.inputs.iter().any(|it| it.moved.is_some())
    }

    /// Records the arrival of the input at `place`.
    pub fn arrive(&mut self, place: usize, at: Time) {
        if let Some(transfer) = &mut self.inputs[place].moved {
            transfer.arrived = Some(at);
        }
    }

    /// True if all transferred inputs have arrived, or their arrival times are known.
    pub fn is_there(&self) -> bool {
        self.inputs.iter().filter_map(|it| it.moved).all(|it| it.arrived.is_some())
    }

    /// Bytes that were transferred, without those that were cut off.
    pub fn bytes_moved(&self) -> u64 {
        self.inputs.iter().filter(|it| it.arrived().is_some()).map(|it| it.need.bytes).sum()
    }

    /// Cuts off all transfers that have not arrived by `now`.
    #[must_use]
    pub fn cut_off(mut self, now: Time) -> Staged {
        for transfer in self.inputs.iter_mut().filter_map(|it| it.moved.as_mut()) {
            transfer.arrived = transfer.arrived.filter(|&arrived| arrived <= now);
        }
        self
    }
}

/// Data of a task, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskData {
    /// Data that must arrive before it computes.
    pub input: u64,
    /// Data that it sends away once, for any number of readers.
    pub output: u64,
    /// Size of its checkpoint.
    pub checkpoint: u64,
}

/// A workflow whose first task has been submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowCame {
    /// Its workload.
    pub workload: u16,
    /// Its number in the workload, from 0.
    pub number: u32,
    /// Number of its tasks.
    pub tasks: u32,
    /// Length of its critical path on the reference machine if transfers take no time.
    pub critical_path: Span,
}
