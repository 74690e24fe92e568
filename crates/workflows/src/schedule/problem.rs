//! A workflow on resources: the time of each task on each of them, and the transfer of data between them.

use haggle_model::{Span, Time};
use thiserror::Error;

use super::Placement;
use crate::{TaskId, Workflow};

/// Network between any two resources. Data that stay on one resource take no time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// Time from the end of a parent to the arrival of its first byte, for each edge, with or without data.
    pub latency: Span,
    /// Bytes a second, above 0; infinite if only the latency takes time.
    pub bytes_per_second: f64,
}

impl Network {
    /// Data take no time.
    pub const INSTANT: Network = Network { latency: Span::ZERO, bytes_per_second: f64::INFINITY };

    /// Time of `bytes` from one resource to another.
    pub fn transfer(&self, bytes: u64) -> Span {
        self.latency + Span::from_secs_f64(bytes as f64 / self.bytes_per_second)
    }
}

/// Reason why a problem is invalid.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ProblemError {
    /// There are no resources.
    #[error("no resource; at least one is needed")]
    NoResource,
    /// The speed of a resource is invalid.
    #[error("resource {resource} has speed {speed}, expected above 0 (1 = the reference machine)")]
    Speed {
        /// Its number.
        resource: usize,
        /// The given speed.
        speed: f64,
    },
    /// The rows of times do not match the tasks and resources.
    #[error("row {row} of the times has {found} entries, expected {expected}; {tasks} rows")]
    Rows {
        /// The number of the row, from 0.
        row: usize,
        /// Its entries.
        found: usize,
        /// The entries of the first row.
        expected: usize,
        /// Number of rows that are expected.
        tasks: usize,
    },
    /// A time is negative.
    #[error("task {task} takes negative time on resource {resource}")]
    NegativeTime {
        /// The task.
        task: TaskId,
        /// The resource.
        resource: usize,
    },
    /// The network has a negative latency.
    #[error("latency is negative")]
    Latency,
    /// The bandwidth of the network is invalid.
    #[error("bandwidth is {0}, expected bytes a second above 0")]
    Bandwidth(f64),
    /// Schedules could exceed the range of simulated time.
    #[error("all tasks on the slowest resource, and all data, take more than 73,000 years")]
    TooLong,
}

/// A workflow on unrelated resources, each of which runs one task at a time.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    workflow: &'a Workflow,
    resources: usize,
    times: Times,
    moves: Moves,
    /// Class of each resource. Resources of one class take equal times for each task.
    class_of: Vec<u32>,
    /// Times at which resources are taken by others.
    taken: Vec<Placement>,
    /// Earliest start of each task, by number; empty = all tasks may start at once.
    released: Vec<Time>,
}

/// Transfer of data from a task to its children.
#[derive(Clone, Debug)]
enum Moves {
    /// From resource to resource.
    Direct(Network),
    /// Through a storage: time for which each task sends its output there, from each resource.
    Stored(Vec<Span>),
}

#[derive(Clone, Debug)]
enum Times {
    /// Speed of each resource, relative to the reference machine.
    Speeds(Vec<f64>),
    /// Time of each task on each resource.
    Rows(Vec<Span>),
}

/// Travel time of data from each resource.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sending<'p> {
    /// From any resource to any other one; zero on the same one.
    Direct(Span),
    /// From each resource to the storage, for any reader.
    Stored(&'p [Span]),
}

impl Sending<'_> {
    /// Time to any other resource.
    pub(super) fn away(self, from: u32) -> Span {
        match self {
            Sending::Direct(transfer) => transfer,
            Sending::Stored(times) => times[from as usize],
        }
    }

    /// Time to the same resource.
    pub(super) fn home(self, from: u32) -> Span {
        match self {
            Sending::Direct(_) => Span::ZERO,
            Sending::Stored(times) => times[from as usize],
        }
    }

    /// The sum over `resources` resources of the times to another one, microseconds.
    pub(super) fn total(self, resources: usize) -> i128 {
        match self {
            Sending::Direct(transfer) => resources as i128 * i128::from(transfer.as_micros()),
            Sending::Stored(times) => times.iter().map(|it| i128::from(it.as_micros())).sum(),
        }
    }

    fn longest(self) -> Span {
        match self {
            Sending::Direct(transfer) => transfer,
            Sending::Stored(times) => times.iter().copied().max().unwrap_or(Span::ZERO),
        }
    }
}

impl<'a> Problem<'a> {
    /// Related resources: a task takes its work divided by the speed.
    pub fn with_speeds(
        workflow: &'a Workflow,
        speeds: Vec<f64>,
        network: Network,
    ) -> Result<Problem<'a>, ProblemError> {
        let bad = speeds.iter().position(|speed| !(speed.is_finite() && *speed > 0.0));
        if let Some(resource) = bad {
            return Err(ProblemError::Speed { resource, speed: speeds[resource] });
        }
        let mut order: Vec<usize> = (0..speeds.len()).collect();
        order.sort_by(|&one, &other| speeds[one].total_cmp(&speeds[other]));
        let mut class_of = vec![0; speeds.len()];
        // Equal speeds are neighbours here, so each distinct speed is one class.
        for two in order.windows(2) {
            let next = speeds[two[0]] != speeds[two[1]];
            class_of[two[1]] = class_of[two[0]] + u32::from(next);
        }
        let resources = speeds.len();
        let times = Times::Speeds(speeds);
        Problem::new(workflow, resources, times, Moves::Direct(network), class_of).checked()
    }

    /// Unrelated resources: the time of each task on each of them, one row for each task.
    pub fn with_times(
        workflow: &'a Workflow,
        rows: &[Vec<Span>],
        network: Network,
    ) -> Result<Problem<'a>, ProblemError> {
        let resources = rows.first().map_or(0, Vec::len);
        // Times are unrelated, so each resource is a class of its own.
        let class_of = (0..resources as u32).collect();
        let times = Times::Rows(joined(workflow, rows, resources)?);
        Problem::new(workflow, resources, times, Moves::Direct(network), class_of).checked()
    }

    /// Unrelated resources, and a storage through which all data go, also data for a later task on the
    /// same resource. `times` has one row for each task: the time for which it occupies each resource,
    /// including the fetching of its input. `sending` has rows of the same form: the time that its
    /// output then takes.
    pub fn with_storage(
        workflow: &'a Workflow,
        times: &[Vec<Span>],
        sending: &[Vec<Span>],
    ) -> Result<Problem<'a>, ProblemError> {
        let resources = times.first().map_or(0, Vec::len);
        let class_of = (0..resources as u32).collect();
        let times = Times::Rows(joined(workflow, times, resources)?);
        let moves = Moves::Stored(joined(workflow, sending, resources)?);
        Problem::new(workflow, resources, times, moves, class_of).checked()
    }

    fn new(
        workflow: &'a Workflow,
        resources: usize,
        times: Times,
        moves: Moves,
        class_of: Vec<u32>,
    ) -> Problem<'a> {
        let (taken, released) = (Vec::new(), Vec::new());
        Problem { workflow, resources, times, moves, class_of, taken, released }
    }

    /// The same problem beside others: resources are `taken` at times that do not overlap, and tasks
    /// are `released` at times, by number.
    ///
    /// # Panics
    /// If `released` does not have one time for each task, or a resource of `taken` does not exist.
    pub fn amid(self, taken: Vec<Placement>, released: Vec<Time>) -> Problem<'a> {
        assert_eq!(released.len(), self.workflow.tasks().len(), "each task has a time");
        let is_there = |one: &Placement| (one.resource as usize) < self.resources;
        assert!(taken.iter().all(is_there), "what is taken is a resource");
        Problem { taken, released, ..self }
    }

    fn checked(self) -> Result<Problem<'a>, ProblemError> {
        if self.resources == 0 {
            return Err(ProblemError::NoResource);
        }
        if let Moves::Direct(Network { latency, bytes_per_second }) = self.moves {
            if latency < Span::ZERO {
                return Err(ProblemError::Latency);
            }
            // An infinite bandwidth is allowed: only the latency then takes time.
            if bytes_per_second.is_nan() || bytes_per_second <= 0.0 {
                return Err(ProblemError::Bandwidth(bytes_per_second));
            }
        }
        let slowest = |task| self.all().map(|resource| self.time(task, resource)).max();
        let tasks = self.workflow.ids().filter_map(slowest);
        let data =
            self.workflow.edges().map(|edge| self.sending(edge.parent, edge.bytes).longest());
        // Sums saturate beyond the allowed range.
        let longest: Span = tasks.chain(data).sum();
        if longest.is_forever() { Err(ProblemError::TooLong) } else { Ok(self) }
    }

    /// The workflow.
    pub fn workflow(&self) -> &'a Workflow {
        self.workflow
    }

    /// Number of resources.
    pub fn resources(&self) -> usize {
        self.resources
    }

    /// The numbers of all resources.
    pub fn all(&self) -> impl ExactSizeIterator<Item = u32> + Clone + use<> {
        0..self.resources as u32
    }

    /// Time of a task on a resource.
    pub fn time(&self, task: TaskId, resource: u32) -> Span {
        match &self.times {
            Times::Speeds(speeds) => {
                self.workflow.task(task).work.at_speed(speeds[resource as usize])
            }
            Times::Rows(times) => times[task.index() * self.resources + resource as usize],
        }
    }

    /// Transfer time of the data of a task for another one, from its resource to that of the other.
    pub fn transfer(&self, parent: TaskId, bytes: u64, from: u32, to: u32) -> Span {
        let sending = self.sending(parent, bytes);
        if from == to { sending.home(from) } else { sending.away(from) }
    }

    /// Transfer times of the data of a task for another one. Computed once for all resources, of which
    /// there may be a thousand.
    pub(super) fn sending(&self, parent: TaskId, bytes: u64) -> Sending<'_> {
        match &self.moves {
            Moves::Direct(network) => Sending::Direct(network.transfer(bytes)),
            Moves::Stored(times) => {
                Sending::Stored(&times[parent.index() * self.resources..][..self.resources])
            }
        }
    }

    /// Times at which resources are taken by others.
    pub fn taken(&self) -> &[Placement] {
        &self.taken
    }

    /// Earliest start of a task.
    pub fn released(&self, task: TaskId) -> Time {
        self.released.get(task.index()).copied().unwrap_or(Time::ZERO)
    }

    /// The class of a resource. Resources of one class take equal times for each task.
    pub(super) fn class_of(&self, resource: u32) -> usize {
        self.class_of[resource as usize] as usize
    }
}

/// The entries of all rows; there is one row for each task.
fn joined(
    workflow: &Workflow,
    rows: &[Vec<Span>],
    resources: usize,
) -> Result<Vec<Span>, ProblemError> {
    let tasks = workflow.tasks().len();
    let uneven = rows.iter().position(|row| row.len() != resources);
    if uneven.is_some() || rows.len() != tasks {
        // If only their number is wrong, the first missing or superfluous row is named.
        let row = uneven.unwrap_or(rows.len().min(tasks));
        let found = rows.get(row).map_or(0, Vec::len);
        return Err(ProblemError::Rows { row, found, expected: resources, tasks });
    }
    for (task, row) in workflow.ids().zip(rows) {
        if let Some(resource) = row.iter().position(|&time| time < Span::ZERO) {
            return Err(ProblemError::NegativeTime { task, resource });
        }
    }
    Ok(rows.concat())
}
