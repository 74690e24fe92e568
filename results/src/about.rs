//! What a reader of a run's tables has to know of the run, and is in none of them: who submitted what to whom, and by
//! which rules (`about` in `provenance.json`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A run as its readers know it. Places where jobs run are in the table `resources`.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct About {
    /// The name of its scenario, with which titles of figures begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where its jobs came from.
    pub workloads: Vec<WorkloadInfo>,
    /// When it was to end whatever was left, s; without it, it ends when all is settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<f64>,
    /// Whether messages take no time, and all of them arrive.
    pub instant_messages: bool,
    /// Whether tasks run on a grid as schedules say that were made before, one at a time on each resource; else jobs are
    /// sent in rounds of its scheduler.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub static_schedules: bool,
    /// Whether these schedules are made anew when resources fail or work again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub schedules_anew: bool,
    /// Where tasks run as such schedules say: how late their scheduler learns of failures and repairs; `None` = at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub information: Option<LearnsOf>,
    /// By how much starts of the parts of a job may differ, s, of each metascheduler that negotiates about them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tolerances: BTreeMap<String, f64>,
    /// How data of tasks and checkpoints move between providers, if they may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_network: Option<DataNetworkInfo>,
    /// The figures that it declares, as `[[figure]]` in scenarios: whoever draws knows what they mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<serde_json::Value>,
}

/// How data of tasks and checkpoints move between providers, metaschedulers and storages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataNetworkInfo {
    /// Whether transfers share links: a link of their own of two sites, or else the access links of both. Otherwise each
    /// has its bandwidth for itself.
    pub shared: bool,
    /// Between two sites without a link of their own, and of access links.
    pub usual: DataLinkInfo,
    /// Between two sites with a link of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<([String; 2], DataLinkInfo)>,
    /// Where providers keep checkpoints of rigid jobs that go there over this network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<StoreInfo>,
}

/// Where a provider keeps checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoreInfo {
    /// Whose jobs write them.
    pub provider: String,
    /// Where they are kept.
    pub store: String,
    /// For how long a job stops before its data are on their way, s.
    pub cost: f64,
    /// What each processor has in a checkpoint, bytes.
    pub size: u64,
}

/// How far and how fast a link is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataLinkInfo {
    /// How long the first bit is under way, s.
    pub latency: f64,
    /// bit/s.
    pub bandwidth: f64,
}

/// How late the scheduler of a grid learns of what has changed, s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LearnsOf {
    /// At the next multiple of this.
    Periodic(f64),
    /// After a time that is drawn, at most this.
    Within(f64),
}

/// A workload and those who submit it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadInfo {
    /// Its name.
    pub name: String,
    /// Its users; one that others are merged from may have none.
    pub users: Vec<UserInfo>,
    /// Whether its jobs run on a grid.
    #[serde(default, skip_serializing_if = "RunsOnGrid::is_never")]
    pub on_grid: RunsOnGrid,
    /// The share of a resource that each of its jobs asks for, 0 to 1; without it, they ask for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserInfo {
    /// Its name.
    pub name: String,
    /// To whom it submits: a provider, a metascheduler or a grid.
    pub submits_to: String,
}

/// Whether the jobs of a workload run on a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunsOnGrid {
    /// On providers and clusters alone.
    #[default]
    Never,
    /// There or on providers.
    Sometimes,
    /// There and nowhere else.
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

    /// Those who submit the workload of this name.
    pub fn users_of(&self, workload: &str) -> &[UserInfo] {
        self.workload(workload).map_or(&[], |it| it.users.as_slice())
    }
}
