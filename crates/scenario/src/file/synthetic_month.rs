//! `[workload.synthetic-month]`: parameters of the model of synthetic months.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of a synthetic month: the jobs of one site of a grid of clusters whose logs are not available.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SyntheticMonth {
    /// Length from time zero, midnight of a Monday.
    #[schemars(range(min = 1, max = 36_500))]
    pub days: u32,
    /// Run time x processors of the jobs of all sites over all processors x length.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000))]
    pub load: f64,
    /// Sites that share the load.
    #[schemars(length(min = 1))]
    pub sites: Vec<MonthSite>,
    /// Site of the jobs, from 0.
    #[serde(default)]
    pub site: u32,
    /// Number of the month: months with different numbers have different draws.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub number: u64,
    /// Seed of the draws instead of the scenario's seed: a month stands for a log, which is the same in every run.
    #[serde(default = "usual")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub seed: u64,
}

/// The known properties of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MonthSite {
    /// Jobs that are submitted in the month.
    #[schemars(range(min = 0, max = 10_000_000))]
    pub jobs: u32,
    /// Processors of the site, the largest size of a job.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub processors: u32,
}

fn usual() -> u64 {
    42
}
