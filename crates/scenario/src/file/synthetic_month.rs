//! `[workload.synthetic-month]`: parameters of the model of synthetic months.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of a synthetic month: the jobs of one site of a grid of clusters whose logs are not at hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SyntheticMonth {
    /// Its length from time zero, a Monday's midnight.
    #[schemars(range(min = 1, max = 36_500))]
    pub days: u32,
    /// Run time x processors of the jobs of all sites over all processors x length.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000))]
    pub load: f64,
    /// The sites that share the load.
    #[schemars(length(min = 1))]
    pub sites: Vec<MonthSite>,
    /// Which of the sites the jobs are of, from 0.
    #[serde(default)]
    pub site: u32,
    /// Number of the month: months with other numbers have other draws.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub number: u64,
    /// What draws depend on instead of the scenario's seed: a month stands for a log, which is the same in every run.
    #[serde(default = "usual")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub seed: u64,
}

/// A site as far as its log is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MonthSite {
    /// Jobs that are submitted in the month.
    #[schemars(range(min = 0, max = 10_000_000))]
    pub jobs: u32,
    /// Processors: no job asks for more.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub processors: u32,
}

fn usual() -> u64 {
    42
}
