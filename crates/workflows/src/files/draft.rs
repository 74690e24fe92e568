//! A workflow as files describe it: tasks that read and write files.

use std::ops::Range;
use std::sync::Arc;

use haggle_model::Span;
use rustc_hash::FxHashMap;

use super::error::{quoted, shown};
use super::feeders::{Feeders, TooMany};
use super::size::Size;
use super::{Described, FileProblem, NegativeValues, Rules};
use crate::{Builder, Task, TaskId, Workflow};

/// The line, 0 if unknown, and the problem there.
pub(super) type Problem = (usize, FileProblem);

/// A parent, its child, and the bytes between them.
type Bytes = (TaskId, TaskId, u64);

/// The part of the workflow that has been read so far.
#[derive(Default)]
pub(super) struct Draft {
    rules: Rules,
    builder: Builder,
    lines: Vec<usize>,
    edges: Vec<Bytes>,
    files: Vec<Arc<str>>,
    file_numbers: FxHashMap<Arc<str>, usize>, // looked up only
    reads: Vec<Use>,
    writes: Vec<Use>,
    /// Number of values below 0, and description of the first.
    negative: Option<(usize, String)>,
}

/// A task reads or writes a file of `bytes`.
#[derive(Clone, Copy)]
struct Use {
    task: TaskId,
    file: usize,
    bytes: u64,
}

impl Draft {
    pub(super) fn new(name: &str, rules: Rules) -> Draft {
        Draft { builder: Builder::new(name), rules, ..Draft::default() }
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
        // A listed edge has no data of its own; files add them.
        self.edges.push((parent, child, 0));
    }

    /// The bytes of a file of this size, which the task of this name reads or writes.
    pub(super) fn bytes(
        &mut self,
        task: &str,
        file: &str,
        size: &Size,
    ) -> Result<u64, FileProblem> {
        let wrong = |found: &str, negative| {
            let (task, file, found) = (task.to_owned(), file.to_owned(), found.to_owned());
            Err(FileProblem::Size { task, file, found, negative })
        };
        match size {
            Size::Bytes(bytes) => Ok(*bytes),
            Size::Wrong(found) => wrong(found, false),
            Size::Negative(found) => match self.rules.negative_values {
                NegativeValues::Refuse => wrong(found, true),
                NegativeValues::Zero => {
                    self.count_negative(|| {
                        format!("the size of file {} ({})", quoted(file), shown(found))
                    });
                    Ok(0)
                }
            },
        }
    }

    /// The run time of the task of this name, rounded to the nearest microsecond.
    pub(super) fn work(&mut self, task: &str, seconds: f64) -> Result<Span, FileProblem> {
        let wrong = |what| Err(FileProblem::Task { name: task.to_owned(), what });
        match seconds {
            // First, because no comparison holds for NaN.
            _ if !seconds.is_finite() => wrong("run time is not finite; expected seconds"),
            _ if seconds > 1e12 => wrong("run time is above 1e12 s; expected seconds"),
            _ if seconds >= 0.0 => Ok(Span::from_micros((seconds * 1e6).round() as i64)),
            _ => match self.rules.negative_values {
                NegativeValues::Refuse => {
                    Err(FileProblem::NegativeRunTime { task: task.to_owned(), seconds })
                }
                NegativeValues::Zero => {
                    self.count_negative(|| {
                        format!("the run time of task {} ({seconds} s)", quoted(task))
                    });
                    Ok(Span::ZERO)
                }
            },
        }
    }

    fn count_negative(&mut self, first: impl FnOnce() -> String) {
        self.negative.get_or_insert_with(|| (0, first())).0 += 1;
    }

    pub(super) fn reads(&mut self, task: TaskId, file: &str, bytes: u64) {
        let file = self.file(file);
        self.reads.push(Use { task, file, bytes });
    }

    pub(super) fn writes(&mut self, task: TaskId, file: &str, bytes: u64) {
        let file = self.file(file);
        self.writes.push(Use { task, file, bytes });
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

    /// The workflow: files become bytes over edges, or bytes from and to storage.
    pub(super) fn build(mut self) -> Result<Described, Problem> {
        // A task may list a file twice; the file is transferred once.
        self.reads.sort_by_key(|it| (it.task, it.file));
        self.reads.dedup_by_key(|it| (it.task, it.file));
        // By file first, so that the writers of a file are adjacent.
        self.writes.sort_by_key(|it| (it.file, it.task));
        self.writes.dedup_by_key(|it| (it.file, it.task));
        let mut moved = Moved::new(self.lines.len(), self.writes.len());
        // First, because the edges found here determine the ancestors that match the other files.
        let unclear = self.feed_from_one(&mut moved);
        let unclear_from_storage = self.feed_from_several(&unclear, &mut moved)?;
        let notes = self.notes(&unclear_from_storage);
        let negative_values = self.negative.as_ref().map_or(0, |(count, _)| *count);

        for (written, fed) in self.writes.iter().zip(&moved.fed) {
            if !fed {
                let output = &mut moved.output[written.task.index()];
                // Sums out of range stay at the maximum, which the builder refuses.
                *output = output.saturating_add(written.bytes);
            }
        }
        for (number, (input, output)) in moved.input.into_iter().zip(moved.output).enumerate() {
            let stored = self.builder.stored(TaskId(number as u32), input, output);
            stored.map_err(|error| (self.lines[number], error.into()))?;
        }
        let workflow = connected(self.builder, self.edges, &self.lines)?;
        Ok(Described { workflow, notes, negative_values })
    }

    /// Indices in `writes` of the writers of a file.
    fn writers(&self, file: usize) -> Range<usize> {
        let start = self.writes.partition_point(|it| it.file < file);
        let length = self.writes[start..].partition_point(|it| it.file == file);
        start..start + length
    }

    /// Assigns files with one writer or none. Returns the reads of files with several writers.
    fn feed_from_one(&mut self, moved: &mut Moved) -> Vec<Use> {
        let mut unclear = Vec::new();
        for read in &self.reads {
            let places = self.writers(read.file);
            match self.writes[places.clone()] {
                [] => moved.read_from_storage(read),
                // A task that changes a file in place cannot wait for itself.
                [Use { task, .. }] if task == read.task => moved.read_from_storage(read),
                [Use { task, .. }] => {
                    moved.fed[places.start] = true;
                    self.edges.push((task, read.task, read.bytes));
                }
                _ => unclear.push(*read),
            }
        }
        unclear
    }

    /// Assigns files with several writers. Returns the reads that no writer feeds.
    fn feed_from_several(
        &mut self,
        unclear: &[Use],
        moved: &mut Moved,
    ) -> Result<Vec<Use>, Problem> {
        let mut from_storage = Vec::new();
        // The usual case: no graph is built only to search it.
        if unclear.is_empty() {
            return Ok(from_storage);
        }
        // Copies, because the final graph also has the edges that are found below.
        let clear = connected(self.builder.clone(), self.edges.clone(), &self.lines)?;
        let mut feeders = Feeders::new(&clear);
        for read in unclear {
            let places = self.writers(read.file);
            let writers: Vec<TaskId> =
                self.writes[places.clone()].iter().map(|it| it.task).collect();
            let found = feeders.of(read.task, &writers).map_err(|TooMany| {
                let file = self.files[read.file].to_string();
                (self.lines[read.task.index()], FileProblem::TooManyWriters { file })
            })?;
            if found.is_empty() {
                moved.read_from_storage(read);
                from_storage.push(*read);
            }
            for place in places {
                let Use { task, bytes, .. } = self.writes[place];
                if found.binary_search(&task).is_ok() {
                    moved.fed[place] = true;
                    self.edges.push((task, read.task, bytes));
                }
            }
        }
        Ok(from_storage)
    }

    fn notes(&self, unclear_from_storage: &[Use]) -> Vec<String> {
        let mut notes = Vec::new();
        let files = self.writes.chunk_by(|one, next| one.file == next.file);
        let mut several = files.filter(|writers| writers.len() > 1);
        if let Some(first) = several.next() {
            let (count, writers) = (1 + several.count(), first.len());
            let name = quoted(&self.files[first[0].file]);
            let has =
                if count == 1 { "1 file has".to_owned() } else { format!("{count} files have") };
            notes.push(format!(
                "{has} several writers, such as {name} with {writers}: a task reads the version of its ancestors"
            ));
        }
        if let Some(first) = unclear_from_storage.first() {
            let (count, file) = (unclear_from_storage.len(), quoted(&self.files[first.file]));
            let task = quoted(&self.builder.tasks()[first.task.index()].name);
            let (reads, come) = if count == 1 { ("read", "comes") } else { ("reads", "come") };
            notes.push(format!(
                "{count} {reads} of such files {come} from storage, because no ancestor writes them, such as that of {file} by {task}"
            ));
        }
        if let Some((count, first)) = &self.negative {
            let values = if *count == 1 { "value counts" } else { "values count" };
            notes.push(format!("{count} negative {values} as 0, such as {first}"));
        }
        notes
    }
}

/// Data by task, and the writes that feed a reader.
struct Moved {
    input: Vec<u64>,
    output: Vec<u64>,
    fed: Vec<bool>,
}

impl Moved {
    fn new(tasks: usize, writes: usize) -> Moved {
        Moved { input: vec![0; tasks], output: vec![0; tasks], fed: vec![false; writes] }
    }

    fn read_from_storage(&mut self, read: &Use) {
        let input = &mut self.input[read.task.index()];
        *input = input.saturating_add(read.bytes);
    }
}

/// The workflow with these edges; bytes of edges between the same two tasks are added.
fn connected(
    mut builder: Builder,
    mut edges: Vec<Bytes>,
    lines: &[usize],
) -> Result<Workflow, Problem> {
    // Bytes of equal edges are added, so their order does not matter.
    edges.sort_unstable_by_key(|&(parent, child, _)| (parent, child));
    edges.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 = kept.2.saturating_add(next.2);
        }
        same
    });
    for (parent, child, bytes) in edges {
        let added = builder.edge(parent, child, bytes);
        added.map_err(|error| (lines[child.index()], error.into()))?;
    }
    builder.build().map_err(|error| (0, error.into()))
}
