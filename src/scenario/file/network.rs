//! `[network]`: how long messages travel, and which of them arrive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scenario::quantity::{Name, Share, TimeSpan};

/// How long messages travel, and what goes wrong on their way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Network {
    /// One-way latency between actors without a link of their own.
    pub latency: TimeSpan,
    /// Every message takes up to this much longer, at random; those from one actor to another stay in order.
    pub jitter: TimeSpan,
    /// Messages from one actor to another may overtake each other, as each has its own jitter.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    // what is not written by default is no default to schemars
    pub reordering: bool,
    /// The share of messages that are lost, at random.
    #[serde(skip_serializing_if = "Share::is_zero")]
    #[schemars(extend("default" = "0%"))]
    pub loss: Share,
    /// The share of messages that arrive twice, at random: at once or, with `reordering`, each when it does.
    #[serde(skip_serializing_if = "Share::is_zero")]
    #[schemars(extend("default" = "0%"))]
    pub duplication: Share,
    /// Links that differ.
    #[serde(rename = "link", skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Actors that hear nothing of each other for a while.
    #[serde(rename = "partition", skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<Partition>,
}

impl Default for Network {
    fn default() -> Network {
        Network {
            latency: TimeSpan::ZERO,
            jitter: TimeSpan::ZERO,
            reordering: false,
            loss: Share::ZERO,
            duplication: Share::ZERO,
            links: Vec::new(),
            partitions: Vec::new(),
        }
    }
}

/// A link between two actors, the same both ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Link {
    /// The two actors.
    pub between: [Name; 2],
    /// One-way latency between them.
    pub latency: TimeSpan,
}

/// Groups of actors that are parted: what is under way between them meanwhile is lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Partition {
    /// The groups, two at least; whoever is in none of them hears everybody.
    pub between: Vec<Vec<Name>>,
    /// When they are parted, from the start of the run.
    pub from: TimeSpan,
    /// When they are together again; without it, never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<TimeSpan>,
}
