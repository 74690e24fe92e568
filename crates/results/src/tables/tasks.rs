//! The table `tasks`.

use super::{Integer, Word, Workload, table};
use crate::columns::Missing::Never;

table! {
    Tasks, tasks, optional: "One row a task of a workflow that is read from a file, with its name in the file, by \
     workload, workflow and number. Also tasks that were never submitted. Only there if the files of a workload's \
     workflows name tasks.";

    /// A row of `tasks`.
    TaskRow, TaskCells;

    workload: String = Workload, "workload_name", "", "name of the workload", Never;
    workflow: i64 = Integer, "workflow", "", "the number of its workflow in the workload, from 0, as in `jobs`", Never;
    task: i64 = Integer, "task", "", "number of the task in that workflow, from 0, as in `jobs`", Never;
    name: String = Word, "task_name", "", "its name in the file", Never;
}
