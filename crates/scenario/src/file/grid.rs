//! `[grid]`: time-shared resources that may fail, and one scheduler that sends jobs to them.

use crate::Rules;
use haggle_model::Span;
use haggle_scheduling::own::NoSuchRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Checkpoints, Disclosure, GridInitialJob, GridPolicy, LinkSharing, TimeLaw};
use crate::quantity::{Bandwidth, Bytes, Name, Share, TimeSpan};

/// A grid after Chtepen 2011: one scheduler, an information service, storage, a checkpoint
/// server and sites of resources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Grid {
    /// Name of the grid's scheduler, to which users submit.
    #[serde(default = "grid")]
    pub name: Name,
    /// Rule by which the scheduler sends jobs to resources: a word, or a table with the keys of this policy.
    pub policy: GridPolicy,
    /// Facts that the scheduler discloses to metaschedulers that may use the grid, "offers" if not given: the start and
    /// the end of a job. With "load" or more, also the time that all resources would need for all its jobs. Read where
    /// `providers` of a metascheduler names the grid only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disclosure: Option<Disclosure>,
    /// Destination of jobs that have waited too long for a resource; without it, they continue to wait. Tasks of
    /// workflows stay, and so do jobs that have already been sent to a resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflow: Option<Overflow>,
    /// Time between rounds of scheduling; zero = after every event.
    #[serde(default = "ten_minutes")]
    pub period: TimeSpan,
    /// Time that the information service takes to answer before a round; its answer has the state at the end of this
    /// time.
    #[serde(default = "no_time")]
    pub query: TimeSpan,
    /// Time from that answer until the decisions of a round are sent.
    #[serde(default = "no_time")]
    pub schedule: TimeSpan,
    /// Delay of the scheduler's information on failures, repairs and load.
    #[serde(default)]
    pub information: Information,
    /// Time for which a job holds its slot before its input is requested.
    #[serde(default = "no_time")]
    pub prepare: TimeSpan,
    /// Treatment of an output that is being transferred when its resource fails.
    #[serde(default)]
    pub output: OutputFate,
    /// True if a job that starts from a checkpoint needs its input again.
    #[serde(default = "yes")]
    pub restart_needs_input: bool,
    /// Checkpoints of jobs; without it, jobs do not save their progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<Checkpoints>,
    /// The network that carries data.
    #[serde(default)]
    pub network: DataNetwork,
    /// Limits of the storage for outputs; without it, unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// Jobs that run on resources or wait at the scheduler at time zero (docs/forecast.md).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<Vec<GridInitialJob>>,
    /// Law of the run times, on a resource of 1 MIPS, of initial jobs without `run`. A running job gets more work than it
    /// has done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_run: Option<TimeLaw>,
    /// Sites of the resources.
    #[serde(rename = "site")]
    #[schemars(length(min = 1))]
    pub sites: Vec<Site>,
}

impl Grid {
    /// Facts that the scheduler discloses to metaschedulers.
    pub fn disclosure(&self) -> Disclosure {
        self.disclosure.unwrap_or_default()
    }

    /// The policy of its scheduler, which may be one of these rules.
    ///
    /// # Errors
    /// If it names another rule.
    pub fn scheduler(&self, own: &Rules) -> Result<haggle_grids::GridPolicy, NoSuchRule> {
        self.policy.scheduler(self.checkpoints.is_some(), own)
    }

    /// The site of a resource with this name, and the place of the resource among all of them.
    pub fn resource(&self, name: &str) -> Option<(&Site, u32)> {
        let mut first = 0;
        for site in &self.sites {
            let number = name.strip_prefix(site.name.as_str()).and_then(|it| it.strip_prefix('-'));
            let number = number.and_then(|it| it.parse::<u32>().ok()).filter(|number| {
                // As it is written in tables, so that each resource has one name.
                (1..=site.resources).contains(number) && name == format!("{}-{number}", site.name)
            });
            if let Some(number) = number {
                return Some((site, first + number - 1));
            }
            first += site.resources;
        }
        None
    }

    /// True if jobs save their progress, periodically or when they move.
    pub fn saves(&self) -> bool {
        self.checkpoints.is_some() || matches!(self.policy, GridPolicy::BalancedWorkflow(_))
    }
}

/// Destination of jobs of a grid that have waited too long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Overflow {
    /// A provider, or a metascheduler with `placement` that does not use the grid. It receives the job as if a user had
    /// submitted it; if it refuses the job, the job is rejected.
    pub to: Name,
    /// Waiting time, from the arrival at the grid, after which a job is sent there; more than zero.
    pub after: TimeSpan,
}

fn grid() -> Name {
    Name::like("grid")
}

fn ten_minutes() -> TimeSpan {
    TimeSpan(Span::from_secs(600))
}

fn whole() -> Share {
    Share::ALL
}

fn no_time() -> TimeSpan {
    TimeSpan::ZERO
}

fn yes() -> bool {
    true
}

/// Prediction of the length of a running task.
pub type Prediction = haggle_grids::workflows::Prediction<Name>;

/// Delay of a grid scheduler's information on failures, repairs and load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Information {
    /// Mode of transmission.
    pub mode: InformationMode,
    /// Time between two views, or the longest delay.
    pub delay: TimeSpan,
}

impl Default for Information {
    fn default() -> Information {
        Information { mode: InformationMode::default(), delay: TimeSpan(Span::from_secs(300)) }
    }
}

/// Transmission of information on resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InformationMode {
    /// At once.
    Immediate,
    /// Every `delay`; a change that is reversed within the period is never seen.
    #[default]
    Periodic,
    /// Each change after a time drawn uniformly from zero to `delay`.
    Delayed,
}

/// Treatment of an output that is being transferred when its resource fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputFate {
    /// It is lost; copies of a job go on until an output has arrived.
    #[default]
    Lost,
    /// It arrives nevertheless; copies of a job are cancelled when the first has been computed.
    Survives,
}

/// The network that carries input, output and checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct DataNetwork {
    /// Its shape.
    pub model: NetworkModel,
    /// Bandwidth of every transfer in a constant network, or of a resource's link in stars.
    pub bandwidth: Bandwidth,
    /// Latency of every transfer in a constant network, or of a resource's link in stars.
    pub latency: TimeSpan,
    /// Bandwidth of every flow between two sites.
    pub wan_bandwidth: Bandwidth,
    /// Latency between two sites, drawn once for each pair.
    pub wan_latency: TimeLaw,
    /// Bandwidth of the links of storage and checkpoint server; without it, unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_bandwidth: Option<Bandwidth>,
    /// Rule by which flows share a link.
    pub sharing: LinkSharing,
}

impl Default for DataNetwork {
    fn default() -> DataNetwork {
        let millis = |count: i64| TimeSpan(Span::from_micros(1_000 * count));
        DataNetwork {
            model: NetworkModel::default(),
            bandwidth: Bandwidth(1e9),
            latency: millis(1),
            wan_bandwidth: Bandwidth(5e6),
            wan_latency: TimeLaw::Uniform { low: millis(3), high: millis(10) },
            service_bandwidth: None,
            sharing: LinkSharing::default(),
        }
    }
}

/// The shape of the network that carries data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkModel {
    /// Each site is a star, and any two sites have a link; flows share links.
    #[default]
    Stars,
    /// Every transfer has its own bandwidth and latency.
    Constant,
}

/// Limits of a storage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Storage {
    /// Capacity of the storage; outputs without room wait.
    pub capacity: Bytes,
    /// Longest time that an output is kept for its user to fetch it; without it, no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<TimeSpan>,
}

/// Resources that share a local network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Site {
    /// Name of the site, unique among all actors; its resources are NAME-1, NAME-2, ...
    pub name: Name,
    /// Number of its resources.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub resources: u32,
    /// Speed of each resource, million instructions a second; 1 = the reference processor.
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub mips: f64,
    /// Speed of the fastest resource, if they differ: each speed is drawn uniformly from `mips` to this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub mips_max: Option<f64>,
    /// Rule by which jobs share a resource.
    #[serde(default)]
    pub sharing: Sharing,
    /// Most jobs that share a resource; 2 if not given, and any number where shares are reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub slots: Option<u32>,
    /// Load by jobs outside the grid; without it, none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
}

impl Site {
    /// The names of its resources.
    pub fn resource_names(&self) -> impl Iterator<Item = String> {
        (1..=self.resources).map(|number| format!("{}-{number}", self.name))
    }

    /// Speed that jobs of the grid find on each resource, if no draw decides it.
    pub fn fixed_mips(&self) -> Option<f64> {
        let is_drawn = self.mips_max.is_some_and(|max| max > self.mips) || self.load.is_some();
        (!is_drawn).then_some(self.mips)
    }

    /// Most jobs that share a resource; `None` = any number.
    pub fn slots(&self) -> Option<u32> {
        self.slots.or((self.sharing == Sharing::Equal).then_some(2))
    }
}

/// Rule by which jobs share a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// All jobs that compute get the same share.
    #[default]
    Equal,
    /// Each job gets the share of the resource that it requests, from its placement until it leaves.
    Reserved,
}

fn one() -> f64 {
    1.0
}

/// Load on each resource by jobs outside the grid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Load {
    /// Least initial share of a resource taken by that load, drawn uniformly for each resource.
    #[serde(default = "nothing")]
    pub initial_min: Share,
    /// Largest initial share of a resource taken by that load.
    pub initial_max: Share,
    /// Time between changes of the load; without it, the load is constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<TimeSpan>,
    /// Least change, up or down, as a share of the initial load.
    #[serde(default = "one_part")]
    pub change_min: Share,
    /// Largest change.
    #[serde(default = "whole")]
    pub change_max: Share,
}

fn nothing() -> Share {
    "0%".parse().expect("a share")
}

fn one_part() -> Share {
    "1%".parse().expect("a share")
}

/// Data of each job of a workload in a grid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Data {
    /// Input, which must be at the resource before the job computes.
    pub input: Bytes,
    /// Output, which must be at the storage before the job is done.
    pub output: Bytes,
    /// Size of a checkpoint.
    pub checkpoint: Bytes,
}

impl Default for Data {
    fn default() -> Data {
        Data { input: Bytes(0), output: Bytes(0), checkpoint: Bytes(10_000_000) }
    }
}
