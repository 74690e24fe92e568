//! The table `workflows`.

use super::{Integer, Real, Seconds, Workload, table};
use crate::columns::Missing;
use crate::columns::Missing::{Empty, Never};

const NOT_COMPLETE: Missing = Empty("not complete");

table! {
    Workflows, workflows, optional: "One row a workflow, by workload and number; its tasks are the jobs with its \
     `workflow` in `jobs`. Only there if a job was a task. `critical_path` divided by the speed of the fastest \
     resource or provider is a lower bound of the makespan. `schedule_length_ratio` is therefore at least 1 (SLR; H. \
     Topcuoglu, S. Hariri, M.-Y. Wu, IEEE TPDS 13(3), 2002, section 5.1: the critical path where each task takes its \
     least time, without data).";

    /// A row of `workflows`. Times in seconds since the start of the run.
    WorkflowRow, WorkflowCells;

    workload: String = Workload, "workload_name", "", "name of the workload", Never;
    workflow: i64 = Integer, "workflow", "", "its number in the workload, from 0, as in `jobs`", Never;
    tasks: i64 = Integer, "tasks", "tasks", "number of its tasks", Never, at_least_one;
    tasks_done: i64 = Integer, "tasks_done", "tasks", "number of its done tasks", Never;
    complete: bool = Integer, "complete", "", "1 if all of its tasks are done, else 0", Never;
    submit: f64 = Seconds, "submission_time", "s", "submission of its tasks", Never;
    start: Option<f64> = Seconds, "starting_time", "s", "time at which the first of its tasks was sent to a resource, or started at a provider", Empty("none was");
    end: Option<f64> = Seconds, "finish_time", "s", "arrival of the output of its last task; at providers, the end of that task", NOT_COMPLETE;
    makespan: Option<f64> = Seconds, "makespan", "s", "finish_time - starting_time", NOT_COMPLETE;
    turnaround: Option<f64> = Seconds, "turnaround_time", "s", "finish_time - submission_time", NOT_COMPLETE;
    work: f64 = Real, "work", "MI", "the length of all of its tasks: 1 MI is 1 s on the reference processor; of tasks of providers, by their processors; 0 for applications of phases", Never;
    critical_path: f64 = Seconds, "critical_path", "s", "the longest path through its tasks on the reference processor, if data take no time; 0 for applications of phases, whose time depends on their machines", Never;
    schedule_length_ratio: Option<f64> = Real, "schedule_length_ratio", "", "makespan / (critical_path / speed of the fastest resource or provider), at least 1", Empty("not complete, or its tasks have no length, such as applications of phases");
    data: i64 = Integer, "data", "bytes", "inputs, outputs and checkpoints that arrived for its tasks or from them, also of lost attempts; at providers, the inputs that arrived (`inputs`)", Never, large;
    attempts: i64 = Integer, "attempts", "", "rows of its tasks in `attempts`", Never;
    moves: i64 = Integer, "moves", "", "rows of tasks that continued on another resource with the work done", Never;
    failures: i64 = Integer, "failures", "", "rows of tasks whose resource or processors failed", Never;
}
