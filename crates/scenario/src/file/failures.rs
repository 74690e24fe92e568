//! `[[failures]]`: what fails when, and when it comes back.

use std::iter::repeat_n;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FailureStart, Malformed, Node, RecordFormat, TimeLaw};
use crate::quantity::{Name, Share, TimeSpan};

/// Failures of providers from exactly one source: a law, a row of a table, a record or a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Failures {
    /// Providers whose processors fail; without it, all.
    pub of: Vec<Name>,
    /// Actors that crash and restart instead, while their machines continue: providers, metaschedulers and users.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub actors: Option<Vec<Name>>,
    /// Laws of the times up and the times down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<FailureLaw>,
    /// Row of Table 3.1 of Chtepen 2011, an availability in percent: 100, 95, 80, 70, 60, 50, 30, 20, 15, 10 or 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nominal: Option<u32>,
    /// Recorded failures of a real machine, repeated by the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// Intervals `[failure, repair]` in which nodes are down, as in `[["1h", "2h"], ["5h"]]`; without a repair, for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(length(min = 1, max = 2)))]
    pub outages: Option<Vec<Vec<TimeSpan>>>,
    /// Processors of a node, which fail together; the last node of a provider may have fewer. If not given, the nodes that
    /// the provider states (`node`), or single processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub processors_per_node: Option<u32>,
    /// Number of nodes of each provider that fail, from `first-node` on; without it, all of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub nodes: Option<u32>,
    /// Number of the first node that fails, from 1, in the order of the nodes; 1 if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub first_node: Option<u32>,
    /// Spread of failures of a law to other nodes of the same provider; without it, failures do not spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation: Option<Correlation>,
}

impl Failures {
    /// True if an owner fails by the nodes that it states, if any.
    fn goes_by_own(&self, own: &[Node]) -> bool {
        self.processors_per_node.is_none() && !own.is_empty()
    }

    /// Number of nodes that fail of an owner with so many members; `own` are the nodes that it states.
    pub fn count_nodes(&self, members: u32, own: &[Node]) -> u32 {
        let all = match self.goes_by_own(own) {
            true => own.iter().map(|it| it.count).sum(),
            false => members.div_ceil(self.processors_per_node.unwrap_or(1).max(1)),
        };
        all.saturating_sub(self.nodes_before()).min(self.nodes.unwrap_or(u32::MAX))
    }

    /// Number of nodes before the first one that fails.
    fn nodes_before(&self) -> u32 {
        self.first_node.map_or(0, |first| first.saturating_sub(1))
    }

    /// The members of each of these nodes.
    pub fn nodes_among(&self, members: u32, own: &[Node]) -> impl Iterator<Item = Range<u32>> {
        let equal = [Node::new(u32::MAX, self.processors_per_node.unwrap_or(1).max(1))];
        let groups = if self.goes_by_own(own) { own.to_vec() } else { equal.to_vec() };
        let sizes = groups.into_iter().flat_map(|it| repeat_n(it.cores, it.count as usize));
        let nodes = sizes.scan(0_u32, move |first, size| {
            let begin = *first;
            // The last node may be smaller.
            *first = begin.saturating_add(size).min(members);
            Some(begin..*first)
        });
        nodes.skip(self.nodes_before() as usize).take(self.count_nodes(members, own) as usize)
    }
}

/// Times up and times down in turn, each drawn independently.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FailureLaw {
    /// Time to failure.
    pub up: TimeLaw,
    /// Time to repair.
    pub down: TimeLaw,
    /// State of the nodes at time zero.
    #[serde(default)]
    pub start: FailureStart,
    /// Factor of every time to failure: calibrates the availability.
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
    /// Sites or clusters of the record whose nodes are used; without it, the first nodes of the record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<String>,
    /// Time of the record, from its beginning, that becomes time zero.
    #[serde(default = "no_time")]
    pub from: TimeSpan,
    /// Length of the part of the record that is used from there; without it, to the end of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<TimeSpan>,
    /// Treatment of lines that are not records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<Malformed>,
}

fn no_time() -> TimeSpan {
    TimeSpan::ZERO
}

/// Spread of a failure to the other nodes of its provider.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Correlation {
    /// Probability that each other node fails too.
    pub probability: Share,
    /// Mean delay until the other node fails, exponential; zero = at the same instant.
    #[serde(default = "one_minute")]
    pub delay: TimeSpan,
}

fn one_minute() -> TimeSpan {
    TimeSpan(haggle_model::Span::from_secs(60))
}
