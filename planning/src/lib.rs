//! Plans.
mod interval;
pub mod plan;
mod table;

pub use interval::{Interval, IntervalOracle};
pub use plan::{Method, Part, Plan, Problem};
pub use table::{Table, TableError};
