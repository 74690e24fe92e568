//! WfFormat of WfCommons (Coleman et al. 2022). Up to 1.4, a task holds all of its data. 1.5 separates
//! the description of a task (`specification`) from its run (`execution`). 1.6 adds sums (`metrics`),
//! which are not read.
//!
//! The schema of 1.3 gives file sizes in KB, but published instances have bytes, and WfCommons' own
//! converter keeps the numbers. They are therefore read as bytes.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::draft::{Draft, Problem};
use super::size::Size;
use super::{FileProblem, Rules};
use crate::{Task, TaskId};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    name: Option<String>,
    schema_version: Option<String>,
    workflow: Body,
}

#[derive(Deserialize)]
struct Body {
    /// Up to 1.4.
    tasks: Option<Vec<OldTask>>,
    /// From 1.5.
    specification: Option<Specification>,
    execution: Option<Execution>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OldTask {
    name: String,
    id: Option<String>,
    category: Option<String>,
    command: Option<Command>,
    #[serde(default)]
    parents: Vec<String>,
    #[serde(default)]
    children: Vec<String>,
    #[serde(default)]
    files: Vec<OldFile>,
    #[serde(alias = "runtime")]
    runtime_in_seconds: Option<f64>,
    cores: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OldFile {
    name: String,
    path: Option<String>,
    #[serde(alias = "size")]
    size_in_bytes: Option<Size>,
    link: Direction,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Input,
    Output,
}

#[derive(Deserialize)]
struct Command {
    program: Option<String>,
}

#[derive(Deserialize)]
struct Specification {
    tasks: Vec<SpecifiedTask>,
    #[serde(default)]
    files: Vec<SpecifiedFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecifiedTask {
    name: String,
    id: String,
    #[serde(default)]
    parents: Vec<String>,
    #[serde(default)]
    children: Vec<String>,
    #[serde(default)]
    input_files: Vec<String>,
    #[serde(default)]
    output_files: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecifiedFile {
    id: String,
    size_in_bytes: Size,
}

#[derive(Deserialize)]
struct Execution {
    tasks: Vec<ExecutedTask>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecutedTask {
    id: String,
    runtime_in_seconds: f64,
    command: Option<Command>,
    core_count: Option<f64>,
    /// Not in the schema: the field in which [`super::write()`] stores checkpoints.
    checkpoint_in_bytes: Option<u64>,
}

/// The tasks and files of a text of WfFormat.
pub(super) fn parse(text: &str, rules: Rules) -> Result<Draft, Problem> {
    let document: Document = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        // The message ends with its place, which errors of files show in front.
        let place = format!(" at line {} column {}", error.line(), error.column());
        let what = message.strip_suffix(&place).unwrap_or(&message);
        (error.line(), FileProblem::Json(what.to_owned()))
    })?;
    let Document { name, schema_version, workflow } = document;
    let version = schema_version.unwrap_or_default();
    let mut draft = Draft::new(name.as_deref().unwrap_or("workflow"), rules);
    match (version.as_str(), workflow) {
        ("1.3" | "1.4", Body { tasks: Some(tasks), .. }) => old(&mut draft, &tasks)?,
        ("1.5" | "1.6", Body { specification: Some(specification), execution, .. }) => {
            let ran = execution.map(|execution| execution.tasks).unwrap_or_default();
            specified(&mut draft, &specification, &ran)?;
        }
        ("1.3" | "1.4", _) => return Err(missing("workflow.tasks")),
        ("1.5" | "1.6", _) => return Err(missing("workflow.specification")),
        _ => return Err((0, FileProblem::Version(version))),
    }
    Ok(draft)
}

fn missing(part: &str) -> Problem {
    (0, FileProblem::Json(format!("there is no {part}")))
}

fn of_task(name: &str, what: &'static str) -> Problem {
    (0, FileProblem::Task { name: name.to_owned(), what })
}

/// Strings that many tasks have in common are stored once.
#[derive(Default)]
struct Kinds(FxHashMap<String, Arc<str>>); // looked up only

impl Kinds {
    fn of(&mut self, kind: Option<&str>) -> Option<Arc<str>> {
        let kind = kind?;
        // `entry` would copy the name for every task.
        if !self.0.contains_key(kind) {
            self.0.insert(kind.to_owned(), Arc::from(kind));
        }
        self.0.get(kind).cloned()
    }
}

/// Whole processors of a number of cores.
fn processors(name: &str, cores: Option<f64>) -> Result<u32, Problem> {
    match cores.unwrap_or(1.0) {
        // A core that is used in part is occupied.
        cores if (1.0..=f64::from(u32::MAX)).contains(&cores) => Ok(cores.ceil() as u32),
        _ => Err(of_task(name, "number of cores is out of range; expected at least 1")),
    }
}

fn old(draft: &mut Draft, tasks: &[OldTask]) -> Result<(), Problem> {
    let mut kinds = Kinds::default();
    for task in tasks {
        let name = task.id.as_deref().unwrap_or(&task.name);
        let program = task.command.as_ref().and_then(|command| command.program.as_deref());
        let seconds = task.runtime_in_seconds;
        let seconds = seconds.ok_or_else(|| of_task(name, "no run time; add runtimeInSeconds"))?;
        let work = draft.work(name, seconds).map_err(|problem| (0, problem))?;
        let kind = kinds.of(task.category.as_deref().or(program));
        let processors = processors(name, task.cores)?;
        draft.task(Task { kind, processors, ..Task::new(name, work) }, 0)?;
    }
    // Parents are given by id in some files, and by name in others.
    let mut by_name: FxHashMap<&str, Option<TaskId>> = FxHashMap::default(); // looked up only
    for (number, task) in tasks.iter().enumerate() {
        let id = TaskId(number as u32);
        // A name of several tasks identifies none of them.
        by_name.entry(&task.name).and_modify(|task| *task = None).or_insert(Some(id));
    }
    for (number, task) in tasks.iter().enumerate() {
        let id = TaskId(number as u32);
        let found = |draft: &Draft, other: &str| {
            // A task of this id comes before a task that merely has this name.
            let found = draft.id(other).or_else(|| by_name.get(other).copied().flatten());
            found.ok_or_else(|| unknown(&task.name, other))
        };
        for parent in &task.parents {
            let parent = found(draft, parent)?;
            draft.edge(parent, id);
        }
        // Most files list an edge at both ends; equal edges become one later.
        for child in &task.children {
            let child = found(draft, child)?;
            draft.edge(id, child);
        }
        for OldFile { name, path, size_in_bytes, link } in &task.files {
            let size = size_in_bytes.as_ref().ok_or_else(|| no_size(&task.name, name))?;
            let bytes = draft.bytes(&task.name, name, size).map_err(|problem| (0, problem))?;
            // Files of the same name in different folders are different files.
            let whole = path.as_ref().map(|path| format!("{path}/{name}"));
            let name = whole.as_deref().unwrap_or(name);
            match link {
                Direction::Input => draft.reads(id, name, bytes),
                Direction::Output => draft.writes(id, name, bytes),
            }
        }
    }
    Ok(())
}

fn specified(
    draft: &mut Draft,
    specification: &Specification,
    executed: &[ExecutedTask],
) -> Result<(), Problem> {
    let mut ran: FxHashMap<&str, &ExecutedTask> = FxHashMap::default(); // looked up only
    for task in executed {
        if ran.insert(&task.id, task).is_some() {
            return Err(of_task(&task.id, "there are two executions; give one"));
        }
    }
    let mut kinds = Kinds::default();
    for task in &specification.tasks {
        let id = task.id.as_str();
        let no_run = || of_task(id, "no run time; add it to workflow.execution.tasks");
        // Removed, so that executions of unknown tasks are left over.
        let ran = ran.remove(id).ok_or_else(no_run)?;
        let work = draft.work(id, ran.runtime_in_seconds).map_err(|problem| (0, problem))?;
        let program = ran.command.as_ref().and_then(|command| command.program.as_deref());
        // A name that differs from the id is that of a kind.
        let kind =
            kinds.of(program.or_else(|| Some(task.name.as_str()).filter(|&name| name != id)));
        let processors = processors(id, ran.core_count)?;
        let checkpoint = ran.checkpoint_in_bytes.unwrap_or(0);
        draft.task(Task { kind, processors, checkpoint, ..Task::new(id, work) }, 0)?;
    }
    // The first one in the file, because the map has no order.
    if let Some(task) = executed.iter().find(|task| ran.contains_key(task.id.as_str())) {
        return Err(of_task(&task.id, "it is executed, but not in workflow.specification.tasks"));
    }
    let sizes = sizes(&specification.files)?;
    for (number, task) in specification.tasks.iter().enumerate() {
        let id = TaskId(number as u32);
        for parent in &task.parents {
            let parent = draft.id(parent).ok_or_else(|| unknown(&task.id, parent))?;
            draft.edge(parent, id);
        }
        for child in &task.children {
            let child = draft.id(child).ok_or_else(|| unknown(&task.id, child))?;
            draft.edge(id, child);
        }
        let uses = |draft: &mut Draft, file: &str| {
            let size = sizes.get(file).ok_or_else(|| no_size(&task.id, file))?;
            draft.bytes(&task.id, file, size).map_err(|problem| (0, problem))
        };
        for file in &task.input_files {
            let bytes = uses(draft, file)?;
            draft.reads(id, file, bytes);
        }
        for file in &task.output_files {
            let bytes = uses(draft, file)?;
            draft.writes(id, file, bytes);
        }
    }
    Ok(())
}

/// The size of each file.
fn sizes(files: &[SpecifiedFile]) -> Result<FxHashMap<&str, &Size>, Problem> {
    let mut sizes: FxHashMap<&str, &Size> = FxHashMap::default(); // looked up only
    for SpecifiedFile { id, size_in_bytes } in files {
        // A file that is listed twice with one size does no harm.
        if let Some(first) = sizes.insert(id, size_in_bytes).filter(|&first| first != size_in_bytes)
        {
            let (first, second) = (first.to_string(), size_in_bytes.to_string());
            return Err((0, FileProblem::TwoSizes { file: id.clone(), first, second }));
        }
    }
    Ok(sizes)
}

fn unknown(name: &str, other: &str) -> Problem {
    (0, FileProblem::UnknownTask { name: name.to_owned(), other: other.to_owned() })
}

fn no_size(name: &str, file: &str) -> Problem {
    (0, FileProblem::NoSize { name: name.to_owned(), file: file.to_owned() })
}
