//! A workflow as files describe it: tasks that read and write files.

use std::sync::Arc;

use haggle_model::Span;
use rustc_hash::FxHashMap;

use super::FileProblem;
use crate::{Builder, Task, TaskId, Workflow};

/// The line, 0 if unknown, and what is wrong there.
pub(super) type Problem = (usize, FileProblem);

/// What has been read so far.
#[derive(Default)]
pub(super) struct Draft {
    builder: Builder,
    lines: Vec<usize>,
    edges: Vec<(TaskId, TaskId, u64)>,
    files: Vec<Arc<str>>,
    file_numbers: FxHashMap<Arc<str>, usize>, // looked up only
    reads: Vec<(TaskId, usize, u64)>,
    writes: Vec<(TaskId, usize, u64)>,
}

impl Draft {
    pub(super) fn new(name: &str) -> Draft {
        Draft { builder: Builder::new(name), ..Draft::default() }
    }

    /// Adds a task without data.
    pub(super) fn task(&mut self, task: Task, line: usize) -> Result<TaskId, Problem> {
        let id = self.builder.task(task).map_err(|error| (line, error.into()))?;
        self.lines.push(line);
        Ok(id)
    }

    pub(super) fn id(&self, name: &str) -> Option<TaskId> {
        self.builder.id(name)
    }

    pub(super) fn edge(&mut self, parent: TaskId, child: TaskId) {
        self.edges.push((parent, child, 0));
    }

    pub(super) fn reads(&mut self, task: TaskId, file: &str, bytes: u64) {
        let file = self.file(file);
        self.reads.push((task, file, bytes));
    }

    pub(super) fn writes(&mut self, task: TaskId, file: &str, bytes: u64) {
        let file = self.file(file);
        self.writes.push((task, file, bytes));
    }

    fn file(&mut self, name: &str) -> usize {
        if let Some(&number) = self.file_numbers.get(name) {
            return number;
        }
        let name: Arc<str> = Arc::from(name);
        self.files.push(Arc::clone(&name));
        self.file_numbers.insert(name, self.files.len() - 1);
        self.files.len() - 1
    }

    fn name(&self, task: TaskId) -> String {
        self.builder.tasks()[task.index()].name.to_string()
    }

    /// The workflow: files become bytes over edges, from storage and to it.
    pub(super) fn build(mut self) -> Result<Workflow, Problem> {
        // A task may list a file twice; it is moved once.
        self.reads.sort_by_key(|&(task, file, _)| (task, file));
        self.reads.dedup_by_key(|&mut (task, file, _)| (task, file));
        self.writes.sort_by_key(|&(task, file, _)| (task, file));
        self.writes.dedup_by_key(|&mut (task, file, _)| (task, file));
        let mut writers = vec![None; self.files.len()];
        for &(task, file, _) in &self.writes {
            if let Some(first) = writers[file].replace(task) {
                let (first, second) = (self.name(first), self.name(task));
                let file = self.files[file].to_string();
                let line = self.lines[task.index()];
                return Err((line, FileProblem::WrittenTwice { file, first, second }));
            }
        }
        let mut is_read = vec![false; self.files.len()];
        let mut input = vec![0_u64; self.lines.len()];
        for &(task, file, bytes) in &self.reads {
            match writers[file].filter(|&writer| writer != task) {
                Some(writer) => {
                    is_read[file] = true;
                    self.edges.push((writer, task, bytes));
                }
                // Sums out of range stay so, and are refused by the builder.
                None => input[task.index()] = input[task.index()].saturating_add(bytes),
            }
        }
        let mut output = vec![0_u64; self.lines.len()];
        for &(task, file, bytes) in self.writes.iter().filter(|&&(_, file, _)| !is_read[file]) {
            debug_assert!(writers[file] == Some(task), "it is the only writer");
            output[task.index()] = output[task.index()].saturating_add(bytes);
        }
        for (number, (input, output)) in input.into_iter().zip(output).enumerate() {
            let stored = self.builder.stored(TaskId(number as u32), input, output);
            stored.map_err(|error| (self.lines[number], error.into()))?;
        }
        self.edges.sort_unstable_by_key(|&(parent, child, _)| (parent, child));
        self.edges.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 = kept.2.saturating_add(next.2);
            }
            same
        });
        for (parent, child, bytes) in self.edges {
            let added = self.builder.edge(parent, child, bytes);
            added.map_err(|error| (self.lines[child.index()], error.into()))?;
        }
        self.builder.build().map_err(|error| (0, error.into()))
    }
}

/// A run time in seconds, to the next microsecond.
pub(super) fn run_time(seconds: f64) -> Result<Span, &'static str> {
    match seconds {
        _ if !seconds.is_finite() => Err("run time is not finite; expected seconds"),
        _ if seconds < 0.0 => Err("run time is negative; expected seconds, at least 0"),
        _ if seconds > 1e12 => Err("run time is above 1e12 s; expected seconds"),
        _ => Ok(Span::from_micros((seconds * 1e6).round() as i64)),
    }
}
