//! `[network]`: how long messages travel, and which of them arrive.

use haggle_model::Span;
use haggle_model::network::LinkSharing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{Bandwidth, Name, Share, TimeSpan};

/// Latency and faults of the messages between actors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Network {
    /// One-way latency between actors without a link of their own.
    pub latency: TimeSpan,
    /// Bandwidth of data of tasks of workflows, and of checkpoints with a `store`, between two sites without a link of
    /// their own. Each transfer has the whole bandwidth, after the latency, unless there is `sharing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1 Gbit/s"))]
    pub bandwidth: Option<Bandwidth>,
    /// Sharing of links by data. A provider, a metascheduler or a storage sends and receives all data over its access
    /// link of this `bandwidth`. Two sites with a link of their own use that one. Without it, transfers do not slow
    /// each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<LinkSharing>,
    /// Names of storages beside the actors, each a site of its own: `store` of `checkpoints` of a provider may name one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<Name>,
    /// Largest additional delay of a message, at random; messages from one actor to another stay in order.
    pub jitter: TimeSpan,
    /// Messages from one actor to another may overtake each other, as each has its own jitter.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    // schemars omits the default of a value that is not written.
    pub reordering: bool,
    /// The share of messages that are lost, at random.
    #[serde(skip_serializing_if = "Share::is_zero")]
    #[schemars(extend("default" = "0%"))]
    pub loss: Share,
    /// The share of messages that arrive twice, at random: both at once or, with `reordering`, each with its own
    /// jitter.
    #[serde(skip_serializing_if = "Share::is_zero")]
    #[schemars(extend("default" = "0%"))]
    pub duplication: Share,
    /// Treatment of messages that are lost or duplicated.
    #[serde(skip_serializing_if = "Transport::is_datagram")]
    #[schemars(extend("default" = "datagram"))]
    pub transport: Transport,
    /// With `transport = "reliable"`: first time after which a message is sent again. It doubles up to 60 s, or stays
    /// constant if it is longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1s"))]
    pub retransmission_timeout: Option<TimeSpan>,
    /// Links with properties of their own.
    #[serde(rename = "link", skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Times in which groups of actors receive no messages from each other.
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

/// Treatment of messages that are lost or duplicated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// A lost message stays lost, and a duplicated one arrives twice.
    #[default]
    Datagram,
    /// A lost message is sent again until it arrives, and copies are dropped.
    Reliable,
}

impl Transport {
    fn is_datagram(&self) -> bool {
        *self == Transport::Datagram
    }
}

impl Network {
    /// Bandwidth of data between two actors without a link of their own.
    pub fn bandwidth(&self) -> Bandwidth {
        self.bandwidth.unwrap_or(Bandwidth(1e9))
    }

    /// First time after which a message is sent again: RFC 6298, section 2.1, unless the key is given.
    pub fn timeout(&self) -> TimeSpan {
        self.retransmission_timeout.unwrap_or(TimeSpan(Span::from_secs(1)))
    }
}

/// A link between two actors, or an actor and a storage, with the same properties in both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Link {
    /// The two actors, or an actor and a storage.
    pub between: [Name; 2],
    /// One-way latency between them.
    pub latency: TimeSpan,
    /// Bandwidth of data between them; without it, as between any others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
}

/// A partition of the network: messages in transit between the groups are lost while it lasts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Partition {
    /// The groups, two at least; an actor in none of them can reach every other actor.
    pub between: Vec<Vec<Name>>,
    /// Beginning of the partition, from the start of the run.
    pub from: TimeSpan,
    /// End of the partition; without it, never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<TimeSpan>,
}
