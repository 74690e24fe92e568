//! Source of the values in expressions.

use std::collections::BTreeMap;

use crate::quantity::Sample;

/// A point, or a part of one: values on some axes.
pub type Point = BTreeMap<String, String>;

/// Runs at points of some axes, for expressions.
pub trait Source {
    /// Its name in expressions.
    fn name(&self) -> &str;

    /// The values of an axis, in order.
    ///
    /// # Errors
    /// If there is no such axis.
    fn axis(&self, name: &str) -> Result<&[String], Absent>;

    /// A value over the replications of a point, of all jobs or of a group of them.
    ///
    /// # Errors
    /// If there is no such point, the point is ambiguous, or a run has no such value.
    fn sample(&self, metric: &str, group: Option<&str>, at: &Point) -> Result<Sample, Absent>;

    /// A value relative to the runs of another point.
    ///
    /// # Errors
    /// If one of the points does not exist or is ambiguous, or there is nothing to compare.
    fn sample_by(
        &self,
        metric: &str,
        group: &str,
        at: &Point,
        base: &Point,
    ) -> Result<Sample, Absent>;

    /// True if there are fewer replications than the study defines.
    fn lacks_replications(&self) -> bool;

    /// True if values of this axis were left out.
    fn lacks_values(&self, axis: &str) -> bool;
}

/// Reason why there is no such value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Absent {
    /// A quick reproduction left it out.
    #[error("it needs {axis} = {value}, which --quick leaves out")]
    Cut {
        /// The axis.
        axis: String,
        /// The value.
        value: String,
    },
    /// There is no such value.
    #[error("{0}")]
    Unknown(String),
}
