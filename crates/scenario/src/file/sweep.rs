//! `[sweep]`: what is varied, and how often each variant is run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{Name, Title};

/// Varies a scenario: every combination of the axes' values, each run several times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sweep {
    /// Runs of each variant, with consecutive seeds.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub replications: u32,
    /// Largest number of runs; larger sweeps are refused, because they are easily made by mistake.
    #[serde(default = "thousand")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_runs: u32,
    /// The runs with which others are compared, job by job: one value of an axis, or of several, such as `{ policy =
    /// "fcfs" }`. Each run is compared with the reference run that has its seed and its other values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    pub reference: Option<BTreeMap<String, toml::Value>>,
    /// Quantities that vary.
    #[serde(rename = "axis", default)]
    pub axes: Vec<Axis>,
}

impl Default for Sweep {
    fn default() -> Sweep {
        Sweep { replications: one(), max_runs: thousand(), reference: None, axes: Vec::new() }
    }
}

fn one() -> u32 {
    1
}

fn thousand() -> u32 {
    1_000
}

/// A quantity that varies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Axis {
    /// Name of the axis, a column of the results; without it, the last key of its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Quantity that varies: keys and names from the root with dots, `*` for all, such as "provider.*.policy".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Values of the axis.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    #[schemars(with = "Vec<serde_json::Value>")]
    pub values: Vec<toml::Value>,
    /// Instead of a path with values: named variants that set several things at once.
    #[serde(rename = "variant", default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<AxisVariant>,
}

/// A variant of an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AxisVariant {
    /// Name of the variant, in the results and legends.
    pub name: Title,
    /// Values of the variant: paths as in `path`, each with its value.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub set: toml::Table,
}
