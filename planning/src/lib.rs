//! When and where applications go on: plans of rescheduling for applications of many phases, and maps
//! of processes for iterative ones. All of it as functions of what is known at an instant, without
//! actors and clock.
//!
//! # Applications of many phases
//!
//! A tightly coupled application has phases that compute and communicate differently, so that other
//! machines suit it better after each; moving it costs a checkpoint, its transfer and a restart (Sanjay
//! and Vadhiyar 2011). Whoever plans asks an [`IntervalOracle`]:
//!
//! ```text
//!  performance models     loads of now            times of phases, measured
//!  Application ──┐     ┌── Cluster                         │
//!                ▼     ▼                                   ▼
//!             ClusterOracle (Search)                     Table          or one of your own
//!                    └────────────┬────────────────────────┘
//!                                 ▼ IntervalOracle: least_time, best_schedule, time_on
//!      Problem { oracle, first, rescheduling, threshold }
//!                                 ▼
//!      plan: brute_force, optimum, incremental, division, genetic  ──▶ Plan   one cluster
//!                                 ▼
//!      multi: GridView ──▶ next_interval ──▶ Placed                           several clusters
//!                                 ▼
//!      workflow: Level::decide ──▶ who gets which machines                    several applications
//! ```
//!
//! An oracle is a snapshot. After an interval there are other loads, so there is another oracle, and
//! what is left is planned again: [`multi::next_interval`] is called at the end of each interval, with
//! oracles of that instant. So a simulation needs no plan in advance, and what is not simulated calls
//! [`multi::multi_cluster_plan`].
//!
//! ```
//! use haggle_model::Span;
//! use haggle_planning::plan::{division, optimum};
//! use haggle_planning::{Problem, Table};
//!
//! // Four phases on two schedules, in seconds.
//! let rows = [[1700, 400, 1900, 1300], [1300, 1500, 600, 1600]];
//! let rows = rows.map(|row| row.map(Span::from_secs).to_vec());
//! let table = Table::new(&rows)?;
//! let (rescheduling, threshold) = (Span::from_secs(300), Span::from_secs(1200));
//! let problem = Problem { oracle: &table, first: 1, rescheduling, threshold };
//!
//! let plan = optimum(&problem);
//! // Two phases on the first schedule, and two on the second.
//! assert_eq!(plan.markers(), [2]);
//! assert_eq!(plan.cost, Span::from_secs(2100 + 300 + 2200));
//! assert!(division(&problem).cost >= plan.cost);
//! # Ok::<(), haggle_planning::TableError>(())
//! ```
//!
//! Times are whole microseconds, so that plans are compared exactly; only a fitness, a performance
//! model and a throughput are floating point. Planners draw from nothing but the generator that is
//! given to [`plan::genetic()`].
//!
//! # Iterative applications
//!
//! [`iterative`] maps processes of several sizes to machines of several kinds, by measured throughput
//! (Netto 2009, chapter 5).

mod cluster;
mod cluster_oracle;
mod interval;
pub mod iterative;
pub mod multi;
mod performance;
pub mod plan;
mod search;
pub mod synthetic;
mod table;
pub mod workflow;

pub use cluster::{Cluster, ClusterError};
pub use cluster_oracle::{ClusterOracle, Effort, Machines};
pub use interval::{Interval, IntervalOracle};
pub use performance::{Application, ApplicationError, Phase, Shares, Speedup, Term};
pub use plan::{Method, Part, Plan, Problem};
pub use search::Search;
pub use table::{Table, TableError};
