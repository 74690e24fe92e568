//! The model of workflows whose tasks report their progress.
//!
//! Draws for a workflow depend on the seed, the workload, the number of the workflow, and the purpose. Workflows
//! of another width or shape, or with other estimates, therefore arrive at the same times.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use haggle_model::progress::{EstimateError, Progress, Side};
use haggle_model::random::{Stream, stream};
use haggle_model::workflow::{Need, TaskData, WorkflowTask};
use haggle_model::{Job, Span, Time};
use haggle_workflows::files::{self, Described, FileError};
use haggle_workflows::ledger::WorkflowId;
use haggle_workflows::shapes::{ShapeError, WorkflowShape};
use haggle_workflows::{Builder, GraphError, Task, TaskId, Workflow};
use rand::RngExt;

use crate::file::{self as scenario, AmplitudeOf, TaskEstimates, Underestimate};
use crate::{LogPathError, log_path};

const HOUR: f64 = 3_600.0;

/// Error in workflows of a scenario.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowsError {
    /// The path of a file is invalid.
    #[error("`{file}` cannot be found: {error}")]
    Path {
        /// Path as written.
        file: String,
        /// Reason.
        #[source]
        error: LogPathError,
    },
    /// A file cannot be read as a workflow.
    #[error(transparent)]
    File(#[from] FileError),
    /// No workflow has this shape and number of tasks.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A workflow is too long to be counted.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// All workflows together have more tasks than are held in memory.
    #[error(
        "{workflows} workflows have {tasks} tasks together; at most {TASKS_MAX} are held in memory, so lower `count`"
    )]
    TooManyTasks {
        /// Number of workflows.
        workflows: u32,
        /// Number of their tasks.
        tasks: u64,
    },
}

/// Largest number of tasks of all workflows of a workload: each takes some hundred bytes.
pub(crate) const TASKS_MAX: u64 = 10_000_000;

/// Source of the graphs of workflows.
enum Templates {
    /// A root, tasks side by side, and a final task.
    Sides,
    /// An application, and the number of its tasks.
    Shape(WorkflowShape, usize),
    /// Workflows of files, used in turn.
    Files(Vec<Arc<Workflow>>),
}

/// A workflow before a run.
struct Drawn {
    submit: Time,
    /// Dependencies of its tasks; `None` = a root, tasks side by side, and a final task.
    graph: Option<Arc<Workflow>>,
    tasks: Vec<DrawnTask>,
}

struct DrawnTask {
    run: Span,
    processors: u32,
    progress: Option<Progress>,
}

/// Machines that run the tasks of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunBy {
    /// Resources of a grid, each task in one slot; data come from the storage and go there.
    Grid,
    /// Providers, each task on as many processors as it needs; data go from parent to child.
    Providers,
}

/// Workflows of a workload, ready to be drawn.
pub struct WorkflowModel<'a> {
    parameters: &'a scenario::Workflows,
    templates: Templates,
    workload: &'a str,
    seed: u64,
    run_by: RunBy,
}

impl<'a> WorkflowModel<'a> {
    /// Model of workflows of a scenario in `folder`; reads the files that it names.
    ///
    /// # Errors
    /// If a file cannot be read, or there are too many tasks.
    pub fn new(
        parameters: &'a scenario::Workflows,
        folder: &Path,
        workload: &'a str,
        seed: u64,
        run_by: RunBy,
    ) -> Result<WorkflowModel<'a>, WorkflowsError> {
        let templates = match (&parameters.files, parameters.shape) {
            (Some(files), _) => {
                let rules = parameters.file_rules();
                let read = |file: &String| Ok(Arc::new(read_file(file, folder, rules)?.workflow));
                Templates::Files(files.iter().map(read).collect::<Result<_, WorkflowsError>>()?)
            }
            (None, Some(shape)) => {
                let tasks = parameters.tasks.map_or(shape.tasks_min(), |tasks| tasks as usize);
                Templates::Shape(shape, tasks)
            }
            (None, None) => Templates::Sides,
        };
        let model = WorkflowModel { parameters, templates, workload, seed, run_by };
        match model.tasks_most() {
            tasks if tasks > TASKS_MAX => {
                Err(WorkflowsError::TooManyTasks { workflows: parameters.count, tasks })
            }
            _ => Ok(model),
        }
    }

    /// Largest number of tasks of all workflows together.
    fn tasks_most(&self) -> u64 {
        match &self.templates {
            Templates::Files(all) => {
                let turns = (0..self.parameters.count as usize).map(|number| number % all.len());
                turns.map(|file| all[file].tasks().len() as u64).sum()
            }
            Templates::Shape(..) | Templates::Sides => self.parameters.tasks_most(),
        }
    }

    /// Tasks of all workflows as jobs, in the order of submission. A task with data but without a size of its
    /// checkpoint gets `checkpoint` bytes.
    ///
    /// # Errors
    /// If a workflow cannot be drawn.
    pub fn jobs(&self, checkpoint: u64) -> Result<Vec<Job>, WorkflowsError> {
        let numbers = 0..self.parameters.count;
        let drawn = numbers.map(|number| Ok((number, self.draw(number)?)));
        let mut drawn = drawn.collect::<Result<Vec<(u32, Drawn)>, WorkflowsError>>()?;
        // The sort is stable: workflows that arrive together stay in the order of their numbers.
        drawn.sort_by_key(|(_, workflow)| workflow.submit);
        let mut jobs = Vec::new();
        for (workflow, Drawn { submit, graph, tasks }) in drawn {
            let needed = match self.run_by {
                // On a grid, data come from the storage and go there.
                RunBy::Grid => None,
                RunBy::Providers => Some(self.graph(workflow, graph.as_deref(), &tasks)?),
            };
            for (task, DrawnTask { run, processors, progress }) in (0..).zip(tasks) {
                // Without an estimate before the start, the task has no requested time.
                let told = self.parameters.progress.is_none_or(|it| it.a_priori);
                let length = progress.map_or(run, |it| Span::from_secs_f64(it.a_priori()));
                let data = graph.as_deref().map(|graph| data(graph, TaskId(task), checkpoint));
                let needs = needed.as_ref().map(|graph| needs(graph, TaskId(task)));
                let needs = needs.unwrap_or_default();
                jobs.push(Job {
                    requested_time: told.then_some(length),
                    task: Some(Arc::new(WorkflowTask { workflow, task, data, progress, needs })),
                    ..Job::new(jobs.len() as u32, submit, processors, run)
                });
            }
        }
        Ok(jobs)
    }

    /// Graphs of all workflows of the workload, which has this place in the scenario.
    ///
    /// # Errors
    /// If a workflow cannot be drawn, or is too long to be counted.
    pub fn graphs(
        &self,
        place: u16,
    ) -> Result<BTreeMap<WorkflowId, Arc<Workflow>>, WorkflowsError> {
        let graph = |number| {
            // Drawn again as for `jobs`: the streams give the same workflow each time.
            let Drawn { graph, tasks, .. } = self.draw(number)?;
            let graph = self.graph(number, graph.as_deref(), &tasks)?;
            Ok((WorkflowId { workload: place, number }, Arc::new(graph)))
        };
        (0..self.parameters.count).map(graph).collect()
    }

    /// Dependencies of tasks with these lengths.
    fn graph(
        &self,
        number: u32,
        drawn: Option<&Workflow>,
        tasks: &[DrawnTask],
    ) -> Result<Workflow, GraphError> {
        let name = format!("{} {number}", self.workload);
        match drawn {
            Some(graph) => with_lengths(&name, graph, tasks),
            None => sides(&name, tasks),
        }
    }

    fn draw(&self, number: u32) -> Result<Drawn, WorkflowsError> {
        let name = format!("workflow {number} of {}", self.workload);
        let draws = |purpose: &str| stream(self.seed, &name, purpose);
        // Each purpose has a stream of its own, so another shape changes no arrival.
        let graph = match &self.templates {
            Templates::Sides => None,
            Templates::Shape(shape, tasks) => {
                Some(Arc::new(shape.generate(*tasks, draws("shape").random())?))
            }
            Templates::Files(all) => Some(Arc::clone(&all[number as usize % all.len()])),
        };
        let lengths = match &graph {
            None => self.parameters.lengths(&mut draws("width"), &mut draws("lengths")),
            Some(graph) => {
                let speed = self.parameters.recorded_mips.unwrap_or(1.0);
                graph.tasks().iter().map(|task| task.work.as_secs_f64() * speed).collect()
            }
        };
        let (mut estimates, mut widths) = (draws("estimates"), draws("processors"));
        let task = |(task, length): (usize, f64)| {
            let (run, progress) = match &self.parameters.progress {
                None => (span(length), None),
                Some(progress) => progress.draw(length, &mut estimates),
            };
            let processors = match (self.run_by, &self.templates, &graph) {
                // A resource of a grid runs each task in one slot.
                (RunBy::Grid, ..) => 1,
                // A file has the processors of each task.
                (_, Templates::Files(_), Some(graph)) => graph.tasks()[task].processors,
                _ => self.parameters.processors(&mut widths),
            };
            DrawnTask { run, processors, progress }
        };
        let tasks = lengths.into_iter().enumerate().map(task).collect();
        let submit = self.parameters.arrival(&mut draws("arrival"));
        Ok(Drawn { submit, graph, tasks })
    }
}

/// Reads a workflow from a file that a scenario in `folder` names.
pub(crate) fn read_file(
    file: &str,
    folder: &Path,
    rules: files::Rules,
) -> Result<Described, WorkflowsError> {
    let path = log_path(file, folder)
        .map_err(|error| WorkflowsError::Path { file: file.to_owned(), error })?;
    Ok(rules.read(&path)?)
}

/// Data of a task on a grid. Results of its parents come from the storage, and results for its children go there.
fn data(graph: &Workflow, id: TaskId, checkpoint: u64) -> TaskData {
    let Task { input, output, checkpoint: own, .. } = *graph.task(id);
    // Sizes in a file are not bounded.
    let with = |own: u64, links: &[haggle_workflows::Link]| {
        links.iter().fold(own, |sum, link| sum.saturating_add(link.bytes))
    };
    TaskData {
        input: with(input, graph.parents(id)),
        output: with(output, graph.children(id)),
        // The size in the file counts, if it has one.
        checkpoint: if own > 0 { own } else { checkpoint },
    }
}

/// Inputs of a task at its provider: results of its parents, and data from the storage.
fn needs(graph: &Workflow, id: TaskId) -> Box<[Need]> {
    let made =
        |link: &haggle_workflows::Link| Need { made_by: Some(link.task.0), bytes: link.bytes };
    let input = graph.task(id).input;
    let stored = (input > 0).then_some(Need { made_by: None, bytes: input });
    graph.parents(id).iter().map(made).chain(stored).collect()
}

/// The same graph with other lengths.
fn with_lengths(name: &str, graph: &Workflow, tasks: &[DrawnTask]) -> Result<Workflow, GraphError> {
    let mut builder = Builder::new(name);
    for (task, DrawnTask { run, .. }) in graph.tasks().iter().zip(tasks) {
        builder.task(Task { work: *run, ..task.clone() })?;
    }
    for edge in graph.edges() {
        builder.edge(edge.parent, edge.child, edge.bytes)?;
    }
    builder.build()
}

impl scenario::Workflows {
    /// Rules by which its files are read.
    pub(crate) fn file_rules(&self) -> files::Rules {
        files::Rules { negative_values: self.negative_values.unwrap_or_default() }
    }

    /// Largest number of tasks of all workflows together, unless they are read from files.
    pub(crate) fn tasks_most(&self) -> u64 {
        let least = self.width.unwrap_or(1);
        let of_one = match self.shape {
            Some(shape) => self.tasks.map_or(shape.tasks_min() as u64, u64::from),
            // The root and the final task come on top.
            None => u64::from(self.width_max.unwrap_or(least).max(least)) + 2,
        };
        of_one.saturating_mul(u64::from(self.count))
    }

    /// Lengths of the root, tasks side by side and the final task, s.
    fn lengths(&self, width: &mut Stream, lengths: &mut Stream) -> Vec<f64> {
        let least = self.width.unwrap_or(1);
        // A maximum below the minimum would be an empty range, for which the draw panics.
        let width = width.random_range(least..=self.width_max.unwrap_or(least).max(least));
        let mean = self.work.map_or(0.0, |work| work.0.as_secs_f64());
        let spread = self.spread.map_or(0.0, |spread| spread.fraction());
        let ends = mean * self.ends.map_or(0.5, |ends| ends.fraction());
        let middle = (0..width).map(|_| mean * lengths.random_range(1.0 - spread..=1.0 + spread));
        [ends].into_iter().chain(middle).chain([ends]).collect()
    }

    /// Processors that a task needs at once.
    fn processors(&self, draws: &mut Stream) -> u32 {
        let least = self.processors.unwrap_or(1);
        draws.random_range(least..=self.processors_max.unwrap_or(least).max(least))
    }

    fn arrival(&self, draws: &mut Stream) -> Time {
        let day = f64::from(draws.random_range(0..self.days));
        let even = vec![1.0; 24];
        let hours = self.hours.as_ref().unwrap_or(&even);
        // The weights of the hours are taken from this number until one is larger than the rest.
        let mut left = draws.random_range(0.0..1.0) * hours.iter().sum::<f64>();
        let mut hour = 0;
        // Rounding may leave a rest after the last hour, hence the bound.
        while hour < 23 && left >= hours[hour] {
            left -= hours[hour];
            hour += 1;
        }
        let within: f64 = draws.random_range(0.0..1.0);
        Time::ZERO + Span::from_secs_f64((day * 24.0 + hour as f64 + within) * HOUR)
    }
}

impl scenario::TaskProgress {
    /// Run time of a task of this drawn length, s, and its estimates.
    fn draw(&self, length: f64, draws: &mut Stream) -> (Span, Option<Progress>) {
        let estimates = match self.estimates {
            // Drawn for each task, with equal probabilities.
            TaskEstimates::Mixed => match draws.random_range(0..3) {
                0 => TaskEstimates::Over,
                1 => TaskEstimates::Under,
                _ => TaskEstimates::Fluctuating,
            },
            one => one,
        };
        let amplitude = draws.random_range(self.amplitude..=self.amplitude_max.max(self.amplitude));
        // Run time, and largest error of the estimate. A task as long as its largest estimate finally estimates
        // its run time correctly.
        let (run, largest) = match (estimates, self.under) {
            (TaskEstimates::Under, Underestimate::Longer) => {
                (length * amplitude, length * amplitude)
            }
            // At most nine tenths, so that the estimate stays above zero.
            (TaskEstimates::Under, Underestimate::Less) => (length, 0.9 * length),
            _ => match self.amplitude_of {
                AmplitudeOf::Estimate => (length, length * (amplitude - 1.0)),
                AmplitudeOf::Error => (length, length * amplitude),
            },
        };
        let run = span(run);
        let actual = run.as_secs_f64();
        let part = |draws: &mut Stream| draws.random_range(0.0..1.0);
        let (first, decay) = (part(draws), self.decay * part(draws));
        let (up, period) = (draws.random_bool(0.5), draws.random_range(0.05..=0.1) * actual);
        let shift = draws.random_range(0.01..=0.02) * actual * part(draws);
        let side = match estimates {
            TaskEstimates::Under => Side::Under,
            TaskEstimates::Fluctuating => Side::Fluctuating { up, period, shift },
            TaskEstimates::Over | TaskEstimates::Mixed => Side::Over,
        };
        let noise = self.noise.fraction() * largest;
        let floor = self.floor.fraction();
        let error = EstimateError { side, amplitude: first * largest, decay, noise, floor };
        let step = self.step.fraction() * actual;
        let progress = Progress::new(error, actual, step, draws.random());
        (run, Some(progress))
    }
}

/// Length of a task, at least one tick.
fn span(seconds: f64) -> Span {
    Span::from_secs_f64(seconds).max(Span::TICK)
}

/// Graph of a first task, tasks side by side, and a last task.
fn sides(name: &str, tasks: &[DrawnTask]) -> Result<Workflow, GraphError> {
    let mut builder = Builder::new(name);
    let mut ids = Vec::with_capacity(tasks.len());
    for (number, task) in tasks.iter().enumerate() {
        ids.push(builder.task(Task::new(number.to_string(), task.run))?);
    }
    if let [root, middle @ .., last] = &ids[..] {
        for &task in middle {
            builder.edge(*root, task, 0)?;
            builder.edge(task, *last, 0)?;
        }
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks of 1000 s with an amplitude of 1.5 to 2 lengths. Returns the smallest and the largest estimate before
    /// a task begins, in lengths, and the run time of the longest task, s.
    fn estimates(keys: &str) -> (f64, f64, f64) {
        let progress: scenario::TaskProgress = toml::from_str(keys).expect("good keys");
        let mut draws = stream(1, "tasks", "progress");
        let mut found = (f64::INFINITY, 0.0_f64, 0.0_f64);
        for _ in 0..4000 {
            let (_, task) = progress.draw(1000.0, &mut draws);
            let task = task.expect("it reports");
            let first = task.a_priori() / task.actual();
            found = (found.0.min(first), found.1.max(first), found.2.max(task.actual()));
        }
        found
    }

    #[test]
    fn the_largest_estimate_is_the_amplitude_or_that_more_than_the_length() {
        let between = |found: f64, low: f64, high: f64| {
            assert!(found >= low && found <= high, "{found} is not from {low} to {high}");
        };
        let literal = "amplitude-of = \"error\"\nfloor = \"2%\"";
        for (way, more, (low, high), (high_low, high_high)) in [
            ("over", "", (1.0, 1.01), (1.9, 2.0)),
            ("over", literal, (1.0, 1.01), (2.8, 3.0)),
            ("fluctuating", "", (0.1, 0.1), (1.7, 2.0)),
            ("fluctuating", literal, (0.02, 0.02), (2.4, 3.0)),
        ] {
            let (least, most, longest) = estimates(&format!("estimates = \"{way}\"\n{more}"));
            between(least, low, high);
            between(most, high_low, high_high);
            assert_eq!(longest, 1000.0);
        }
        // An estimate that is too small reaches the amplitude in the end, and begins at the floor or above.
        let (least, most, longest) = estimates("estimates = \"under\"");
        between(least, 0.1 - 1e-9, 0.1 + 1e-9);
        between(most, 0.99, 1.0);
        between(longest, 1990.0, 2000.0);
    }
}
