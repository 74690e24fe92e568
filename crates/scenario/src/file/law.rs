//! Probability laws: of numbers, and of lengths of time, which carry their unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::TimeSpan;

/// A law of a random number, such as `{ law = "uniform", low = 1, high = 5 }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "law",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    deny_unknown_fields
)]
pub enum Law {
    /// Always the same value.
    Constant {
        /// The value.
        value: f64,
    },
    /// Every value between two bounds is equally likely.
    Uniform {
        /// Lowest value.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// One of a list.
    Choice {
        /// The values.
        #[schemars(length(min = 1))]
        values: Vec<f64>,
        /// Relative probability of each value; without it, all are equal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weights: Option<Vec<f64>>,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        #[schemars(extend("exclusiveMinimum" = 0))]
        mean: f64,
    },
    /// Normal.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        #[schemars(range(min = 0))]
        standard_deviation: f64,
    },
    /// Lognormal: e to the power of a normal variable.
    Lognormal {
        /// Mean of the natural logarithm.
        mu: f64,
        /// Standard deviation of the natural logarithm.
        #[schemars(range(min = 0))]
        sigma: f64,
    },
    /// Poisson: whole numbers.
    Poisson {
        /// Mean.
        #[schemars(extend("exclusiveMinimum" = 0))]
        mean: f64,
    },
    /// Weibull.
    Weibull {
        /// Shape.
        #[schemars(extend("exclusiveMinimum" = 0))]
        shape: f64,
        /// Scale.
        #[schemars(extend("exclusiveMinimum" = 0))]
        scale: f64,
    },
    /// Gamma; its mean is shape x scale.
    Gamma {
        /// Shape.
        #[schemars(extend("exclusiveMinimum" = 0))]
        shape: f64,
        /// Scale.
        #[schemars(extend("exclusiveMinimum" = 0))]
        scale: f64,
    },
    /// Histogram: a bin is drawn by its weight, and every value in it is equally likely.
    Histogram {
        /// Edges of the bins, rising; one more than weights.
        #[schemars(length(min = 2))]
        edges: Vec<f64>,
        /// Relative probability of each bin.
        #[schemars(length(min = 1))]
        weights: Vec<f64>,
    },
}

/// A law of a length of time, such as `{ law = "exponential", mean = "2h" }`; a draw below zero
/// counts as zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "law",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    deny_unknown_fields
)]
pub enum TimeLaw {
    /// Always the same length.
    Constant {
        /// The length.
        value: TimeSpan,
    },
    /// Every length between two bounds is equally likely.
    Uniform {
        /// Shortest length.
        low: TimeSpan,
        /// Upper end.
        high: TimeSpan,
    },
    /// One of a list.
    Choice {
        /// The lengths.
        #[schemars(length(min = 1))]
        values: Vec<TimeSpan>,
        /// Relative probability of each length; without it, all are equal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weights: Option<Vec<f64>>,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: TimeSpan,
    },
    /// Normal.
    Normal {
        /// Mean.
        mean: TimeSpan,
        /// Standard deviation.
        standard_deviation: TimeSpan,
    },
    /// Lognormal: e to the power of a normal variable.
    Lognormal {
        /// Median: half of the draws are shorter.
        median: TimeSpan,
        /// Standard deviation of the natural logarithm.
        #[schemars(range(min = 0))]
        sigma: f64,
    },
    /// Poisson: a whole number of seconds.
    Poisson {
        /// Mean.
        mean: TimeSpan,
    },
    /// Weibull.
    Weibull {
        /// Shape.
        #[schemars(extend("exclusiveMinimum" = 0))]
        shape: f64,
        /// Scale.
        scale: TimeSpan,
    },
    /// Gamma; its mean is shape x scale.
    Gamma {
        /// Shape.
        #[schemars(extend("exclusiveMinimum" = 0))]
        shape: f64,
        /// Scale.
        scale: TimeSpan,
    },
    /// Histogram: a bin is drawn by its weight, and every length in it is equally likely.
    Histogram {
        /// Edges of the bins, rising; one more than weights.
        #[schemars(length(min = 2))]
        edges: Vec<TimeSpan>,
        /// Relative probability of each bin.
        #[schemars(length(min = 1))]
        weights: Vec<f64>,
    },
}
