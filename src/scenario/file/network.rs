//! `[network]`: how long messages travel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scenario::quantity::{Name, TimeSpan};

/// How long messages travel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Network {
    /// One-way latency between actors without a link of their own.
    pub latency: TimeSpan,
    /// Every message takes up to this much longer, at random; those from one actor to another stay in order.
    pub jitter: TimeSpan,
    /// Links that differ.
    #[serde(rename = "link", skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
}

impl Default for Network {
    fn default() -> Network {
        Network { latency: TimeSpan::ZERO, jitter: TimeSpan::ZERO, links: Vec::new() }
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
