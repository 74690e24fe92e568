//! `[[failures]]`: what fails when, and when it comes back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FailureStart, Malformed, RecordFormat, TimeLaw};
use crate::quantity::{Name, Share, TimeSpan};

/// Failures of providers for exactly one reason: a law, a row of a table, a record or a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Failures {
    /// Providers whose processors fail; without it, those of all.
    pub of: Vec<Name>,
    /// Actors that crash and restart instead, while their machines go on: providers, metaschedulers
    /// and users.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub actors: Option<Vec<Name>>,
    /// Times up and times down follow laws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<FailureLaw>,
    /// Row of Table 3.1 of Chtepen 2011, an availability in percent: 100, 95, 80, 70, 60, 50, 30, 20, 15, 10 or 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nominal: Option<u32>,
    /// Nodes fail as those of a recorded machine did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// When nodes are down, each from a failure to a restoration; without the second, for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(length(min = 1, max = 2)))]
    pub outages: Option<Vec<Vec<TimeSpan>>>,
    /// Processors of a node, which fail together; the last node of a provider may have fewer; 1 if not given.
    #[serde(skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub processors_per_node: u32,
    /// Nodes of each provider that fail, the first ones; without it, all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub nodes: Option<u32>,
    /// How failures of a law spread to other nodes of the same provider; without it, they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation: Option<Correlation>,
}

impl Default for Failures {
    fn default() -> Failures {
        Failures {
            of: Vec::new(),
            actors: None,
            law: None,
            nominal: None,
            recorded: None,
            outages: None,
            processors_per_node: 1,
            nodes: None,
            correlation: None,
        }
    }
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

/// Times up and times down, in turn, each drawn for itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FailureLaw {
    /// Time to failure.
    pub up: TimeLaw,
    /// Time to repair.
    pub down: TimeLaw,
    /// How it begins.
    #[serde(default)]
    pub start: FailureStart,
    /// Multiplies every time to failure: calibrates the availability.
    #[serde(default = "no_factor")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub factor: f64,
}

fn no_factor() -> f64 {
    1.0
}

/// Recorded failures of a real machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Recorded {
    /// Path of the record (plain, .gz, .zst), from the scenario's folder; `$VARIABLE` stands for
    /// an environment variable.
    pub log: String,
    /// Format of the record.
    pub format: RecordFormat,
    /// Sites or clusters whose nodes are taken; without it, the first nodes of the record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<String>,
    /// What becomes time zero: so long after the record begins.
    #[serde(default = "no_time")]
    pub from: TimeSpan,
    /// How long failures are taken from there; without it, to the end of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<TimeSpan>,
    /// What becomes of lines that are not records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<Malformed>,
}

fn no_time() -> TimeSpan {
    TimeSpan::ZERO
}

/// How a failure spreads to the other nodes of its provider.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Correlation {
    /// How likely each other node fails too.
    pub probability: Share,
    /// Mean time until it does, exponential; zero = at the same instant.
    #[serde(default = "one_minute")]
    pub delay: TimeSpan,
}

fn one_minute() -> TimeSpan {
    TimeSpan(haggle_model::Span::from_secs(60))
}
