//! Where expressions take values from.

use std::collections::BTreeMap;

use crate::quantity::Sample;

/// A point, or part of one: the value on each axis that is named.
pub type Point = BTreeMap<String, String>;

/// Runs with their places on some axes, as expressions ask for them.
pub trait Source {
    /// What it is called in expressions.
    fn name(&self) -> &str;

    /// The values of an axis, in order.
    ///
    /// # Errors
    /// If there is no such axis.
    fn axis(&self, name: &str) -> Result<&[String], Absent>;

    /// A value over the replications of a point, of all jobs or of a group of them.
    ///
    /// # Errors
    /// If the point is none, or is not one point, or a run has no such value.
    fn sample(&self, metric: &str, group: Option<&str>, at: &Point) -> Result<Sample, Absent>;

    /// The same relative to the runs of another point.
    ///
    /// # Errors
    /// If one of the points is none, or is not one point, or there is nothing to compare.
    fn sample_by(
        &self,
        metric: &str,
        group: &str,
        at: &Point,
        base: &Point,
    ) -> Result<Sample, Absent>;

    /// True if there are fewer replications than were asked for.
    fn lacks_replications(&self) -> bool;

    /// True if values of this axis were left out.
    fn lacks_values(&self, axis: &str) -> bool;
}

/// Why there is no such value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Absent {
    /// It was left out to be quick.
    #[error("it needs {axis} = {value}, which --quick leaves out")]
    Cut {
        /// The axis.
        axis: String,
        /// The value.
        value: String,
    },
    /// Nothing has it.
    #[error("{0}")]
    Unknown(String),
}
