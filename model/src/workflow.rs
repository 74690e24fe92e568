//! Jobs as tasks of workflows, as far as everybody has to know: the graphs are kept by those who need them.

use serde::{Deserialize, Serialize};

use crate::Span;
use crate::progress::Progress;

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
