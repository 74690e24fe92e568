//! Workflows: directed acyclic graphs of tasks. An edge joins a task to one that needs its data.
//!
//! [`graph`] holds a [`Workflow`] and answers questions about its shape. A [`Builder`] makes one, and
//! refuses an invalid workflow. [`files`] reads and writes workflows, [`shapes`] draws them at random,
//! and [`schedule`] decides where and when their tasks run.
//!
//! ```
//! use haggle_model::Span;
//! use haggle_workflows::{Builder, Task, TaskId};
//!
//! let mut builder = Builder::new("diamond");
//! let [a, b, c, d] = [("a", 3), ("b", 5), ("c", 2), ("d", 1)]
//!     .map(|(name, seconds)| builder.task(Task::new(name, Span::from_secs(seconds))));
//! let (a, b, c, d) = (a?, b?, c?, d?);
//! for (parent, child, bytes) in [(a, b, 10), (a, c, 20), (b, d, 0), (c, d, 0)] {
//!     builder.edge(parent, child, bytes)?;
//! }
//! let workflow = builder.build()?;
//! assert_eq!(workflow.levels().collect::<Vec<_>>(), [&[a][..], &[b, c], &[d]]);
//! assert_eq!(workflow.critical_path_by_work().tasks, [a, b, d]);
//! # Ok::<(), haggle_workflows::GraphError>(())
//! ```

pub mod files;
pub mod graph;
pub mod ledger;
pub mod schedule;
pub mod shapes;

pub use graph::{Builder, Edge, GraphError, Link, ParentSets, Path, Task, TaskId, Workflow};
