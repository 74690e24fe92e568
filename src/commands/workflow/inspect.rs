//! `haggle workflow inspect`: the properties of a workflow, as a table, as JSON and drawn.

use std::collections::BTreeMap;
use std::path::PathBuf;

use haggle_model::Span;
use haggle_plots::{Figure, GraphTask, Size, TaskGraph};
use haggle_workflows::{Path, Task, Workflow};
use serde_json::json;

use super::kinds::{groups, kind};
use super::{Reading, named};
use crate::commands::table::{count, duration, lines, number, row};
use crate::commands::{Error, figure, print};
use crate::exit::Exit;
use crate::report::say;

/// Tasks of the critical path that the table shows; JSON has them all.
const PATH_SHOWN: usize = 20;

/// Describe a workflow: tasks, levels, critical path, work and data
///
/// Work is the time of all tasks one after the other on the machine of the recorded run times. The critical path leaves
/// out the transfer times of data.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle workflow inspect montage.json
  haggle workflow inspect --json montage.json | jq .critical_path.seconds
  haggle workflow inspect montage.json --figure montage.png --force")]
pub(crate) struct Args {
    /// Workflow; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    reading: Reading,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw the graph by levels into this file, .png, .svg or .pdf
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    /// Overwrite a figure that exists
    #[arg(long)]
    force: bool,
}

/// Prints the description.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    // Before the workflow is read, so that an existing file is told at once.
    if let Some(figure) = &args.figure {
        figure::check(figure, args.force)?;
    }
    let workflow = args.reading.read(&args.file)?;
    let path = workflow.critical_path_by_work();
    let file = named(&args.file);
    print(&match args.json {
        true => as_json(&file, &workflow, &path),
        false => as_text(&file, &workflow, &path),
    })?;
    if let Some(figure) = &args.figure {
        let graph = Figure::TaskGraph(graph(&workflow, &path));
        figure::draw(&graph, Size::default(), figure, args.force)?;
        say(&format!("drew {}\n", figure.display()));
    }
    Ok(Exit::Success)
}

/// Tasks and work of each kind, in the order of their names.
fn kinds(workflow: &Workflow) -> BTreeMap<&str, (usize, Span)> {
    let mut kinds = BTreeMap::new();
    for task in workflow.tasks() {
        let (count, work) = kinds.entry(kind(task)).or_insert((0, Span::ZERO));
        *count += 1;
        *work += task.work;
    }
    kinds
}

fn sum(workflow: &Workflow, of: impl Fn(&Task) -> u64) -> u64 {
    workflow.tasks().iter().map(of).sum()
}

fn as_text(file: &str, workflow: &Workflow, path: &Path) -> String {
    let input = sum(workflow, |task| task.input);
    let output = sum(workflow, |task| task.output);
    let facts = [
        ("file", file.to_owned()),
        ("name", workflow.name().to_owned()),
        ("tasks", workflow.tasks().len().to_string()),
        ("edges", workflow.edge_count().to_string()),
        ("levels", workflow.levels().len().to_string()),
        ("widest level", count(workflow.width(), "task")),
        ("roots", workflow.roots().count().to_string()),
        ("final tasks", workflow.finals().count().to_string()),
        ("parent sets", workflow.parent_sets().len().to_string()),
        ("work", duration(workflow.work().as_secs_f64())),
        ("critical path", duration(path.length.as_secs_f64())),
        ("average parallelism", number(workflow.average_parallelism())),
        ("data between tasks", bytes(workflow.edge_bytes())),
        ("data from storage", bytes(input)),
        ("data to storage", bytes(output)),
    ];
    let mut text: String =
        facts.iter().map(|(name, value)| format!("{name:<21}{value}\n")).collect();

    let mut rows = vec![row(["kind", "tasks", "mean work, s", "work, s"])];
    for (kind, (tasks, work)) in kinds(workflow) {
        let work = work.as_secs_f64();
        let mean = number(work / tasks as f64);
        rows.push(vec![kind.to_owned(), tasks.to_string(), mean, number(work)]);
    }
    text.push_str(&format!("\nKinds of tasks:\n{}", lines(&rows, &[0])));

    let mut rows = vec![row(["level", "task", "kind", "work, s"])];
    for &task in path.tasks.iter().take(PATH_SHOWN) {
        // Tables count levels from 1.
        let level = workflow.level(task) + 1;
        let task = workflow.task(task);
        let work = number(task.work.as_secs_f64());
        rows.push(vec![level.to_string(), task.name.to_string(), kind(task).to_owned(), work]);
    }
    text.push_str(&format!("\nCritical path:\n{}", lines(&rows, &[1, 2])));
    if path.tasks.len() > PATH_SHOWN {
        let rest = count(path.tasks.len() - PATH_SHOWN, "more task");
        text.push_str(&format!("  and {rest}; --json has them all\n"));
    }
    text
}

/// `123 B`, `4.50 GB`.
fn bytes(bytes: u64) -> String {
    let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let size = bytes as f64;
    match units.into_iter().find(|&(_, unit)| size >= unit) {
        Some((name, unit)) => format!("{:.2} {name}", size / unit),
        None => format!("{bytes} B"),
    }
}

fn as_json(file: &str, workflow: &Workflow, path: &Path) -> String {
    let kinds: Vec<_> = kinds(workflow)
        .into_iter()
        .map(|(kind, (tasks, work))| {
            json!({ "kind": kind, "tasks": tasks, "work_s": work.as_secs_f64() })
        })
        .collect();
    let tasks: Vec<&str> = path.tasks.iter().map(|&task| &*workflow.task(task).name).collect();
    let json = json!({
        "file": file,
        "name": workflow.name(),
        "tasks": workflow.tasks().len(),
        "edges": workflow.edge_count(),
        "levels": workflow.levels().map(<[_]>::len).collect::<Vec<_>>(),
        "widest_level": workflow.width(),
        "roots": workflow.roots().count(),
        "final_tasks": workflow.finals().count(),
        "parent_sets": workflow.parent_sets().len(),
        "work_s": workflow.work().as_secs_f64(),
        "critical_path": { "seconds": path.length.as_secs_f64(), "tasks": tasks },
        "average_parallelism": workflow.average_parallelism(),
        "bytes_between_tasks": workflow.edge_bytes(),
        "bytes_from_storage": sum(workflow, |task| task.input),
        "bytes_to_storage": sum(workflow, |task| task.output),
        "kinds": kinds,
    });
    format!("{json:#}\n")
}

fn graph(workflow: &Workflow, path: &Path) -> TaskGraph {
    let (groups, of_task) = groups(workflow);
    let task = |(task, &group)| GraphTask {
        label: workflow.task(task).name.to_string(),
        group,
        level: workflow.level(task) as usize,
    };
    let ends = |edge: haggle_workflows::Edge| (edge.parent.index(), edge.child.index());
    TaskGraph {
        title: format!("{}: {} by level", workflow.name(), count(of_task.len(), "task")),
        groups,
        tasks: workflow.ids().zip(&of_task).map(task).collect(),
        edges: workflow.edges().map(ends).collect(),
        critical: path.tasks.iter().map(|task| task.index()).collect(),
    }
}
