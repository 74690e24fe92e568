//! `[workload.iterative]`: parameters of the model of iterative applications.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Communication;
use crate::quantity::{Name, TimeSpan};

/// Iterative applications, all alike: their processes iterate on one core each, at speeds known for some types of
/// machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct IterativeApplications {
    /// Number of applications submitted.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub jobs: u32,
    /// Time between two submissions; the first one is at time zero.
    #[serde(default = "no_time")]
    pub between: TimeSpan,
    /// Cores of each application.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub cores: u32,
    /// Number of processes of each size.
    #[schemars(length(min = 1, max = 100), inner(range(min = 0, max = 1_000_000)))]
    pub processes: Vec<u32>,
    /// Number of iterations of each process.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub iterations: u32,
    /// Synchronisation of the processes.
    #[serde(default)]
    pub communication: Communication,
    /// Time to merge the results of a stage, or of a process.
    #[serde(default = "no_time")]
    pub merge: TimeSpan,
    /// Time to send results from one site to another; read by communication "synchronous" only, which does so twice a
    /// stage.
    #[serde(default = "no_time")]
    pub transfer: TimeSpan,
    /// Time of a process before its first iteration, which throughputs do not include.
    #[serde(default = "no_time")]
    pub start_up: TimeSpan,
    /// Ratio of the real run time of processes to the one given by their throughput: 1 = equal.
    #[serde(default = "as_long")]
    #[schemars(range(min = 0.001, max = 1000.0))]
    pub slowness: f64,
    /// Types of machine on which the application runs.
    #[serde(rename = "machine", default)]
    #[schemars(length(max = 1_000))]
    pub machines: Vec<IterativeMachine>,
}

fn one() -> u32 {
    1
}

fn no_time() -> TimeSpan {
    TimeSpan::ZERO
}

fn as_long() -> f64 {
    1.0
}

/// Speeds of processes on a type of machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct IterativeMachine {
    /// The type, as in `machine` of providers.
    pub name: Name,
    /// Iterations a second of a process of each size.
    #[schemars(length(min = 1, max = 100), inner(range(min = 0.000_001, max = 1e9)))]
    pub throughputs: Vec<f64>,
}
