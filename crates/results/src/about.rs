//! Facts about a run that its tables do not have and that their readers need: which users submit to
//! which actors, and by which rules (`about` in `provenance.json`).

mod site;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use site::{AccountInfo, NodeGroupInfo, QueueInfo, SiteInfo};

/// Facts about a run for its readers. Places where jobs run are in the table `resources`.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct About {
    /// The name of its scenario. Titles of figures begin with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its workloads.
    pub workloads: Vec<WorkloadInfo>,
    /// Horizon at which the run stops, s. Without it, the run ends when all jobs are settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<f64>,
    /// Instants at which settings, jobs or failures change, s.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<f64>,
    /// True if messages take no time and all of them arrive.
    pub instant_messages: bool,
    /// True if tasks run on a grid by static schedules, one at a time on each resource. Otherwise, the
    /// scheduler sends jobs in rounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub static_schedules: bool,
    /// True if these schedules are recomputed when resources fail or are repaired.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub schedules_anew: bool,
    /// With static schedules: the delay after which the scheduler learns of failures and repairs;
    /// `None` = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub information: Option<LearnsOf>,
    /// Largest allowed difference between the starts of a job's parts, s, by metascheduler that
    /// negotiates about them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tolerances: BTreeMap<String, f64>,
    /// The network for data of tasks and checkpoints between providers, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_network: Option<DataNetworkInfo>,
    /// Queues, accounts and priorities of the providers that have some. Only the code that explains jobs interprets
    /// them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<String, serde_json::Value>,
    /// Names of nodes, queues and accounts of the providers that have some, and the shares of accounts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sites: BTreeMap<String, SiteInfo>,
    /// The figures that the run declares, as `[[figure]]` in scenarios. Only the code that draws
    /// interprets them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<serde_json::Value>,
}

/// The network for data of tasks and checkpoints between providers, metaschedulers and storages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataNetworkInfo {
    /// True if transfers share links: the own link of two sites, or otherwise the access links of both.
    /// If false, each transfer has the whole bandwidth for itself.
    pub shared: bool,
    /// Link between two sites without a link of their own, and access link.
    pub usual: DataLinkInfo,
    /// Links between two sites with a link of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<([String; 2], DataLinkInfo)>,
    /// Stores of providers that keep checkpoints of rigid jobs and get them over this network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<StoreInfo>,
}

/// Store in which a provider keeps checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoreInfo {
    /// Provider whose jobs write checkpoints.
    pub provider: String,
    /// Store in which they are kept.
    pub store: String,
    /// Time for which a job stops before its data are sent, s.
    pub cost: f64,
    /// Data of each processor in a checkpoint, bytes.
    pub size: u64,
}

/// Latency and bandwidth of a link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataLinkInfo {
    /// Time until the first bit arrives, s.
    pub latency: f64,
    /// Bandwidth, bit/s.
    pub bandwidth: f64,
}

/// Delay after which the scheduler of a grid learns of changes, s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LearnsOf {
    /// At the next multiple of this.
    Periodic(f64),
    /// After a random time of at most this.
    Within(f64),
}

/// A workload and its users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadInfo {
    /// Its name.
    pub name: String,
    /// Its users. A workload that is merged into others may have none.
    pub users: Vec<UserInfo>,
    /// Jobs of this workload that run on a grid: none, some or all.
    #[serde(default, skip_serializing_if = "RunsOnGrid::is_never")]
    pub on_grid: RunsOnGrid,
    /// Share of a resource that each of its jobs requests, 0 to 1; `None` = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserInfo {
    /// Its name.
    pub name: String,
    /// Actor to which it submits: a provider, a metascheduler or a grid.
    pub submits_to: String,
}

/// Jobs of a workload that run on a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunsOnGrid {
    /// On providers and clusters alone.
    #[default]
    Never,
    /// On a grid or on providers.
    Sometimes,
    /// On a grid alone.
    Always,
}

impl RunsOnGrid {
    fn is_never(&self) -> bool {
        *self == RunsOnGrid::Never
    }
}

impl About {
    /// The workload of this name.
    pub fn workload(&self, name: &str) -> Option<&WorkloadInfo> {
        self.workloads.iter().find(|it| it.name == name)
    }

    /// The users of the workload of this name.
    pub fn users_of(&self, workload: &str) -> &[UserInfo] {
        self.workload(workload).map_or(&[], |it| it.users.as_slice())
    }
}
