//! Random tasks of a shape. Run times, sizes and edges have one stream each, so an additional draw of
//! one kind does not shift the others.

use std::sync::Arc;

use haggle_model::Span;
use haggle_model::random::{Stream, stream};
use rand::RngExt;
use rand_distr::{Distribution, Normal};

use super::WorkflowShape;
use crate::{Builder, GraphError, Task, TaskId, Workflow};

/// Mean and variance of a normal distribution.
pub(super) type MeanAndVariance = (f64, f64);

/// A workflow that is being drawn.
pub(super) struct Draw {
    builder: Builder,
    kinds: Vec<Arc<str>>,
    run_times: Stream,
    sizes: Stream,
    edges: Stream,
}

/// Data that a task reads from and writes to storage, bytes.
#[derive(Clone, Copy, Default)]
pub(super) struct Stored {
    pub(super) input: f64,
    pub(super) output: f64,
    pub(super) checkpoint: f64,
}

impl Stored {
    pub(super) const NOTHING: Stored = Stored { input: 0.0, output: 0.0, checkpoint: 0.0 };

    pub(super) fn input(input: f64) -> Stored {
        Stored { input, ..Stored::NOTHING }
    }

    pub(super) fn output(output: f64) -> Stored {
        Stored { output, ..Stored::NOTHING }
    }
}

impl Draw {
    pub(super) fn new(shape: WorkflowShape, seed: u64) -> Draw {
        let stream = |purpose| stream(seed, &format!("workflow {shape}"), purpose);
        Draw {
            builder: Builder::new(shape.name()),
            kinds: Vec::new(),
            run_times: stream("run times"),
            sizes: stream("sizes"),
            edges: stream("edges"),
        }
    }

    /// Adds a task that runs for `seconds`.
    pub(super) fn task(
        &mut self,
        kind: &str,
        seconds: f64,
        stored: Stored,
    ) -> Result<TaskId, GraphError> {
        let number = self.builder.tasks().len();
        // A shape has few kinds and up to millions of tasks, so tasks of a kind share one text.
        let known = self.kinds.iter().find(|known| &***known == kind).cloned();
        let kind = known.unwrap_or_else(|| {
            self.kinds.push(Arc::from(kind));
            Arc::from(kind)
        });
        let name: Arc<str> = Arc::from(format!("{kind}_{number}"));
        let Stored { input, output, checkpoint } = stored;
        self.builder.task(Task {
            kind: Some(kind),
            input: input as u64,
            output: output as u64,
            checkpoint: checkpoint as u64,
            ..Task::new(name, Span::from_secs_f64(seconds))
        })
    }

    /// Adds a task with a drawn run time.
    pub(super) fn drawn(
        &mut self,
        kind: &str,
        seconds: MeanAndVariance,
        stored: Stored,
    ) -> Result<TaskId, GraphError> {
        let seconds = normal(&mut self.run_times, seconds);
        self.task(kind, seconds, stored)
    }

    pub(super) fn edge(&mut self, from: TaskId, to: TaskId, bytes: f64) -> Result<(), GraphError> {
        self.builder.edge(from, to, bytes as u64)
    }

    /// Draws a run time or a computing rate.
    pub(super) fn rate(&mut self, law: MeanAndVariance) -> f64 {
        normal(&mut self.run_times, law)
    }

    /// Draws seconds uniformly from a range.
    pub(super) fn seconds(&mut self, from: f64, to: f64) -> f64 {
        self.run_times.random_range(from..to)
    }

    /// Draws a size of data.
    pub(super) fn size(&mut self, law: MeanAndVariance) -> f64 {
        normal(&mut self.sizes, law)
    }

    /// Draws a size uniformly from a range.
    pub(super) fn size_between(&mut self, from: f64, to: f64) -> f64 {
        self.sizes.random_range(from..to)
    }

    /// Draws a number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        // In 64 bits, because draws of `usize` differ between machines.
        self.edges.random_range(0..bound as u64) as usize
    }

    pub(super) fn build(self) -> Result<Workflow, GraphError> {
        self.builder.build()
    }
}

/// Draws until the value is at least zero. All laws of shapes have positive means, so at least half of the draws are.
fn normal(random: &mut Stream, (mean, variance): MeanAndVariance) -> f64 {
    let law = Normal::new(mean, variance.sqrt()).expect("variances are at least zero");
    loop {
        let drawn = law.sample(random);
        if drawn >= 0.0 {
            return drawn;
        }
    }
}

/// Divides `things` into `parts` parts, which differ by at most one.
pub(super) fn parts(things: usize, parts: usize) -> impl Iterator<Item = usize> {
    (0..parts).map(move |part| things / parts + usize::from(part < things % parts))
}
