//! The table `tasks`.

use super::{Integer, Word, Workload, table};
use crate::columns::Missing::Never;

table! {
    Tasks, tasks, optional: "One row a task of a workflow that is read from a file, by workload, workflow and number: what the file calls it. Also \
     tasks that were never submitted. Only there if the files of a workload's workflows name tasks.";

    /// A row of `tasks`.
    TaskRow, TaskCells;

    workload: String = Workload, "workload_name", "", "name of the workload", Never;
    workflow: i64 = Integer, "workflow", "", "the number of its workflow in the workload, from 0, as in `jobs`", Never;
    task: i64 = Integer, "task", "", "which task of that, from 0, as in `jobs`", Never;
    name: String = Word, "task_name", "", "what the file calls it", Never;
}
