//! `[metascheduler.mapping]`: how iterative applications get cores of several providers.

use haggle_scheduling::coallocation::MAPPING_TRIALS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AsksFor;
use crate::quantity::Share;

/// Mapping: places iterative applications by predicted run times, and moves them while they wait.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Mapping {
    /// Facts that the metascheduler requests from providers.
    pub asks_for: AsksFor,
    /// True if a waiting application moves when a provider has become idle, if it then completes no later than
    /// promised.
    pub reschedules: bool,
    /// True if throughputs are measured before an application is placed; otherwise they are known.
    pub profiling: bool,
    /// Largest change of a measured throughput that counts as steady, "2%" if not given; read with `profiling` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Share>,
    /// Number of failed attempts to find a place, before an application is given back or stays where it is.
    #[schemars(range(min = 1, max = 1000))]
    pub trials: u32,
}

impl Default for Mapping {
    fn default() -> Mapping {
        Mapping {
            asks_for: AsksFor::default(),
            reschedules: true,
            profiling: false,
            tolerance: None,
            trials: MAPPING_TRIALS,
        }
    }
}
