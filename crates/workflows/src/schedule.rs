//! Static schedules: resource and time of each task of a workflow, decided before it starts.
//!
//! A [`Problem`] is a workflow on resources that run one task at a time. A [`StaticAlgorithm`] makes a
//! [`Schedule`] of it, which [`Schedule::check`] verifies. By default, data go from resource to
//! resource, and data in storage are left out. Alternatively, all data go through a storage
//! ([`Problem::with_storage`]). Others may occupy resources for some time, and tasks may be released
//! later ([`Problem::amid`]). The number of a task's processors is ignored: a resource runs any task.
//! Ranks are sums of whole microseconds over all resources, not their means, so equal ranks are equal
//! on every machine.
//!
//! ```
//! use haggle_model::Span;
//! use haggle_workflows::schedule::{Network, StaticAlgorithm, Problem};
//! use haggle_workflows::{Builder, Task};
//!
//! let mut builder = Builder::new("two tasks");
//! builder.task(Task::new("long", Span::from_secs(8)))?;
//! builder.task(Task::new("short", Span::from_secs(3)))?;
//! let workflow = builder.build()?;
//! let problem = Problem::with_speeds(&workflow, vec![1.0, 2.0], Network::INSTANT)?;
//! let schedule = StaticAlgorithm::Heft.schedule(&problem, 1);
//! assert_eq!(schedule.makespan(), Span::from_secs(4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod cpop;
mod heft;
mod metrics;
mod peft;
mod plan;
mod problem;
mod random;
mod ranks;

use std::cmp::Reverse;
use std::fmt;

use haggle_model::{Span, Time};
use thiserror::Error;

use crate::TaskId;

pub use metrics::Metrics;
pub use problem::{Network, Problem, ProblemError};

/// Resource and time of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The number of the resource, from 0.
    pub resource: u32,
    /// Its start.
    pub start: Time,
    /// Its end.
    pub end: Time,
}

/// The placements of all tasks of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    placements: Vec<Placement>,
}

haggle_model::words! {
    /// Algorithm that makes the schedules of workflows (docs/workflows.md).
    #[derive(Default)]
    pub enum StaticAlgorithm {
        /// Heterogeneous Earliest Finish Time (Topcuoglu, Hariri and Wu 2002).
        #[default]
        Heft = "heft",
        /// Critical Path on a Processor (Topcuoglu, Hariri and Wu 2002).
        Cpop = "cpop",
        /// Predict Earliest Finish Time (Arabnejad and Barbosa 2014).
        Peft = "peft",
        /// Level by level; first the task whose earliest possible end is earliest (Maheswaran et al. 1999).
        MinMin = "min-min",
        /// Level by level; first the task whose earliest possible end is latest (Maheswaran et al. 1999).
        MaxMin = "max-min",
        /// Level by level; first the task that loses most without its best resource (Maheswaran et al. 1999).
        Sufferage = "sufferage",
        /// Each task on a resource drawn at random.
        Random = "random",
    }
}

impl StaticAlgorithm {
    /// A schedule; only [`StaticAlgorithm::Random`] depends on the seed.
    pub fn schedule(self, problem: &Problem<'_>, seed: u64) -> Schedule {
        match self {
            StaticAlgorithm::Heft => heft::schedule(problem),
            StaticAlgorithm::Cpop => cpop::schedule(problem),
            StaticAlgorithm::Peft => peft::schedule(problem),
            StaticAlgorithm::MinMin => batch::schedule(problem, batch::Rule::MinMin),
            StaticAlgorithm::MaxMin => batch::schedule(problem, batch::Rule::MaxMin),
            StaticAlgorithm::Sufferage => batch::schedule(problem, batch::Rule::Sufferage),
            StaticAlgorithm::Random => random::schedule(problem, seed),
        }
    }
}

impl fmt::Display for StaticAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Reason why a schedule cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScheduleError {
    /// A task runs on no resource of the problem, or not for the time it takes there.
    #[error("task {task} does not run for its time on a resource")]
    Placement {
        /// The task.
        task: TaskId,
    },
    /// A task starts before it is released.
    #[error("task {task} starts before it is released")]
    Unreleased {
        /// The task.
        task: TaskId,
    },
    /// A task runs while its resource is taken.
    #[error("task {task} runs while others have its resource")]
    Taken {
        /// The task.
        task: TaskId,
    },
    /// A task starts before its data have arrived.
    #[error("task {child} starts before the data of {parent} are there")]
    Early {
        /// The task.
        child: TaskId,
        /// The parent whose data it needs.
        parent: TaskId,
    },
    /// Two tasks run on one resource at once.
    #[error("tasks {first} and {second} run on one resource at once")]
    Overlap {
        /// The one that starts first.
        first: TaskId,
        /// The other.
        second: TaskId,
    },
}

impl Schedule {
    /// A schedule out of the placements of all tasks, by number; see [`Schedule::check`].
    pub fn new(placements: Vec<Placement>) -> Schedule {
        Schedule { placements }
    }

    /// The placements of all tasks, by number.
    pub fn placements(&self) -> &[Placement] {
        &self.placements
    }

    /// Resource and time of a task.
    pub fn placement(&self, task: TaskId) -> Placement {
        self.placements[task.index()]
    }

    /// The time from the start of the first task to the end of the last one: all schedules start at 0.
    pub fn makespan(&self) -> Span {
        self.placements
            .iter()
            .map(|placement| placement.end - Time::ZERO)
            .max()
            .unwrap_or(Span::ZERO)
    }

    /// Checks that the schedule can be carried out: every task runs for its time, after its data have
    /// arrived, and alone on its resource. Tasks that take no time may run beside others.
    pub fn check(&self, problem: &Problem<'_>) -> Result<(), ScheduleError> {
        let workflow = problem.workflow();
        if self.placements.len() != workflow.tasks().len() {
            let task = TaskId(self.placements.len().min(workflow.tasks().len()) as u32);
            return Err(ScheduleError::Placement { task });
        }
        for task in workflow.ids() {
            let Placement { resource, start, end } = self.placement(task);
            let is_there = (resource as usize) < problem.resources() && start >= Time::ZERO;
            if !is_there || end != start + problem.time(task, resource) {
                return Err(ScheduleError::Placement { task });
            }
            if start < problem.released(task) {
                return Err(ScheduleError::Unreleased { task });
            }
            // Never true for a task without duration, because its start is not before its end.
            let meets = |other: &Placement| {
                other.resource == resource && start.max(other.start) < end.min(other.end)
            };
            if problem.taken().iter().any(meets) {
                return Err(ScheduleError::Taken { task });
            }
            for link in workflow.parents(task) {
                let parent = self.placement(link.task);
                let moved = problem.transfer(link.task, link.bytes, parent.resource, resource);
                if start < parent.end + moved {
                    return Err(ScheduleError::Early { child: task, parent: link.task });
                }
            }
        }
        // Tasks without duration occupy no resource.
        let takes_time = |task: &TaskId| self.placement(*task).start < self.placement(*task).end;
        let mut tasks: Vec<TaskId> = workflow.ids().filter(takes_time).collect();
        tasks.sort_by_key(|&task| {
            let Placement { resource, start, end } = self.placement(task);
            (resource, start, Reverse(end))
        });
        // If two tasks of a resource overlap, two neighbours in this order do.
        for two in tasks.windows(2) {
            let [first, second] = [two[0], two[1]].map(|task| self.placement(task));
            if first.resource == second.resource && second.start < first.end {
                return Err(ScheduleError::Overlap { first: two[0], second: two[1] });
            }
        }
        Ok(())
    }
}
