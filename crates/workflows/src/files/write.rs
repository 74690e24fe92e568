//! Writes WfFormat 1.6. The written file is read back as the same workflow.

use std::io::{self, Write};

use haggle_model::Span;
use serde::Serialize;

use crate::{Edge, Task, TaskId, Workflow};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    name: &'a str,
    description: &'a str,
    schema_version: &'static str,
    workflow: Body<'a>,
}

#[derive(Serialize)]
struct Body<'a> {
    specification: Specification<'a>,
    execution: Execution<'a>,
}

#[derive(Serialize)]
struct Specification<'a> {
    tasks: Vec<SpecifiedTask<'a>>,
    files: Vec<File>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpecifiedTask<'a> {
    name: &'a str,
    id: &'a str,
    parents: Vec<&'a str>,
    children: Vec<&'a str>,
    input_files: Vec<String>,
    output_files: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File {
    id: String,
    size_in_bytes: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Execution<'a> {
    makespan_in_seconds: f64,
    executed_at: &'static str,
    tasks: Vec<ExecutedTask<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExecutedTask<'a> {
    id: &'a str,
    runtime_in_seconds: f64,
    core_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Command<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint_in_bytes: Option<u64>,
}

#[derive(Serialize)]
struct Command<'a> {
    program: &'a str,
}

/// Writes the workflow as WfFormat 1.6, with a description of its origin.
///
/// All data become files: one for each edge with bytes, and one for the data that a task reads from
/// storage or writes there. The format requires a makespan and a date: they are the length of the
/// critical path, and the start of Unix time. Checkpoints are not in the schema, and are written to
/// `checkpointInBytes`. Run times above 285 years are rounded.
pub fn write(workflow: &Workflow, description: &str, output: impl Write) -> io::Result<()> {
    let tasks = workflow.ids().map(|id| specified(workflow, id)).collect();
    let document = Document {
        name: workflow.name(),
        description,
        schema_version: "1.6",
        workflow: Body {
            specification: Specification { tasks, files: files(workflow) },
            execution: Execution {
                makespan_in_seconds: seconds(workflow.critical_path_by_work().length),
                executed_at: "1970-01-01T00:00:00Z",
                tasks: workflow.tasks().iter().map(executed).collect(),
            },
        },
    };
    let mut output = output;
    serde_json::to_writer_pretty(&mut output, &document)?;
    output.write_all(b"\n")
}

fn seconds(span: Span) -> f64 {
    span.as_secs_f64()
}

fn between(parent: TaskId, child: TaskId) -> String {
    format!("data/{parent}/{child}")
}

fn specified(workflow: &Workflow, id: TaskId) -> SpecifiedTask<'_> {
    let Task { name, input, output, .. } = workflow.task(id);
    let named = |id: TaskId| &*workflow.task(id).name;
    let (parents, children) = (workflow.parents(id), workflow.children(id));
    let mut input_files: Vec<String> =
        (*input > 0).then(|| format!("input/{id}")).into_iter().collect();
    let mut output_files: Vec<String> =
        (*output > 0).then(|| format!("output/{id}")).into_iter().collect();
    let with_data = parents.iter().filter(|link| link.bytes > 0);
    input_files.extend(with_data.map(|link| between(link.task, id)));
    let with_data = children.iter().filter(|link| link.bytes > 0);
    output_files.extend(with_data.map(|link| between(id, link.task)));
    SpecifiedTask {
        name,
        id: name,
        parents: parents.iter().map(|link| named(link.task)).collect(),
        children: children.iter().map(|link| named(link.task)).collect(),
        input_files,
        output_files,
    }
}

fn files(workflow: &Workflow) -> Vec<File> {
    let mut files = Vec::new();
    for id in workflow.ids() {
        let Task { input, output, .. } = *workflow.task(id);
        files.push(File { id: format!("input/{id}"), size_in_bytes: input });
        files.push(File { id: format!("output/{id}"), size_in_bytes: output });
    }
    for Edge { parent, child, bytes } in workflow.edges() {
        files.push(File { id: between(parent, child), size_in_bytes: bytes });
    }
    // Tasks name only files with data.
    files.retain(|file| file.size_in_bytes > 0);
    files
}

fn executed(task: &Task) -> ExecutedTask<'_> {
    ExecutedTask {
        id: &task.name,
        runtime_in_seconds: seconds(task.work),
        core_count: task.processors,
        command: task.kind.as_deref().map(|program| Command { program }),
        checkpoint_in_bytes: Some(task.checkpoint).filter(|&bytes| bytes > 0),
    }
}
