//! `[network]`: how long messages travel, and which of them arrive.

use haggle_model::Span;
use haggle_model::network::LinkSharing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{Bandwidth, Name, Share, TimeSpan};

/// How long messages travel, and what goes wrong on their way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Network {
    /// One-way latency between actors without a link of their own.
    pub latency: TimeSpan,
    /// How fast data of tasks of workflows, and checkpoints with a `store`, move between two sites without a link of their
    /// own; each transfer has that for itself, after the latency, unless there is `sharing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1 Gbit/s"))]
    pub bandwidth: Option<Bandwidth>,
    /// How data share links: all that a provider, a metascheduler or a storage sends or receives goes over its access link of
    /// this `bandwidth`, and what two sites with a link of their own send each other over that one. Without it,
    /// no transfer slows another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<LinkSharing>,
    /// Names of storages beside the actors, each a site of its own: `store` of `checkpoints` of a provider may name one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<Name>,
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
    /// What becomes of messages that are lost or doubled.
    #[serde(skip_serializing_if = "Transport::is_datagram")]
    #[schemars(extend("default" = "datagram"))]
    pub transport: Transport,
    /// With `transport = "reliable"`: after how long a message is sent again at first; that doubles up to
    /// 60 s, or stays as it is if it is longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1s"))]
    pub retransmission_timeout: Option<TimeSpan>,
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
            bandwidth: None,
            sharing: None,
            stores: Vec::new(),
            jitter: TimeSpan::ZERO,
            reordering: false,
            loss: Share::ZERO,
            duplication: Share::ZERO,
            transport: Transport::Datagram,
            retransmission_timeout: None,
            links: Vec::new(),
            partitions: Vec::new(),
        }
    }
}

/// What becomes of messages that are lost or doubled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// What is lost is lost, and what is doubled arrives twice.
    #[default]
    Datagram,
    /// What is lost is sent again until it arrives, and copies are dropped.
    Reliable,
}

impl Transport {
    fn is_datagram(&self) -> bool {
        *self == Transport::Datagram
    }
}

impl Network {
    /// How fast data move between two actors without a link of their own.
    pub fn bandwidth(&self) -> Bandwidth {
        self.bandwidth.unwrap_or(Bandwidth(1e9))
    }

    /// After how long a message is sent again at first: RFC 6298, section 2.1, unless it is said.
    pub fn timeout(&self) -> TimeSpan {
        self.retransmission_timeout.unwrap_or(TimeSpan(Span::from_secs(1)))
    }
}

/// A link between two actors, or an actor and a storage, the same both ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Link {
    /// The two actors, or an actor and a storage.
    pub between: [Name; 2],
    /// One-way latency between them.
    pub latency: TimeSpan,
    /// How fast data move between them; without it, as between any others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
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
