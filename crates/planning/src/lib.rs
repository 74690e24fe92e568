//! Rescheduling plans for parallel applications of many phases, and process maps for iterative
//! applications: pure functions of the facts known at an instant, without actors and clock.
//!
//! # Applications of many phases
//!
//! The phases of a tightly coupled application compute and communicate differently. After each phase,
//! other machines may therefore suit it better. Rescheduling costs a checkpoint, its transfer and a
//! restart (Sanjay and Vadhiyar 2011). A planner gets its predictions from an [`IntervalOracle`]:
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
//!      workflow: Grants ──▶ the next application that is granted machines     several applications
//! ```
//!
//! An oracle is a snapshot of an instant. Loads change, so at the end of each interval a simulation
//! makes new oracles and calls [`multi::next_interval`], which plans the remaining phases again.
//! [`multi::multi_cluster_plan`] does this for a whole application without any other simulation.
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
//! Times are whole microseconds, so plans are compared exactly; only fitness, performance models and
//! throughput are floating point. Only [`plan::genetic()`] draws random numbers, from the generator
//! that it is given.
//!
//! [`fit`] makes performance models from measured times.
//!
//! # Iterative applications
//!
//! [`iterative`] maps processes of several sizes to machines of several kinds, by measured throughput
//! (Netto 2009, chapter 5).

mod cluster;
mod cluster_oracle;
pub mod fit;
mod interval;
pub mod iterative;
pub mod multi;
mod performance;
pub mod plan;
mod program;
mod search;
pub mod synthetic;
mod table;
pub mod workflow;

pub use cluster::{Cluster, ClusterError, Machines, PlanLinks};
pub use cluster_oracle::{ClusterOracle, Effort};
pub use haggle_model::phased::{Phase, Shares, Speedup, Term};
pub use interval::{Interval, IntervalOracle};
pub use performance::{Application, ApplicationError};
pub use plan::{Method, Part, Plan, Problem};
pub use program::{Program, ProgramError, ProgramOracle};
pub use search::PlanSearch;
pub use table::{Table, TableError};
