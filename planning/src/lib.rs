//! Plans.
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
