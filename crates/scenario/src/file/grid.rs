//! `[grid]`: time-shared resources that may fail, and one scheduler that sends jobs to them.

use crate::Rules;
use haggle_model::Span;
use haggle_scheduling::own::NoSuchRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Checkpoints, Disclosure, GridPolicy, LinkSharing, TimeLaw};
use crate::quantity::{Bandwidth, Bytes, Name, Share, TimeSpan};

/// A grid after Chtepen 2011: one scheduler, an information service, storage, a checkpoint
/// server and sites of resources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Grid {
    /// Name of the grid's scheduler: whom users submit to.
    #[serde(default = "grid")]
    pub name: Name,
    /// How the scheduler sends jobs to resources: a word, or a table with the keys that this policy has.
    pub policy: GridPolicy,
    /// What the scheduler tells metaschedulers that may use the grid, "offers" if not given: when a job would start
    /// and end; with "load" or more also how long all resources would need for all its jobs. Read where `providers` of a
    /// metascheduler names the grid only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disclosure: Option<Disclosure>,
    /// Where jobs go that have waited too long for a resource; without it, they wait on. Tasks of workflows stay, and so
    /// do jobs that were sent to a resource before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflow: Option<Overflow>,
    /// Time between rounds of scheduling; zero = whenever something has happened.
    #[serde(default = "ten_minutes")]
    pub period: TimeSpan,
    /// How long the information service takes to answer before a round; it tells what it knows then.
    #[serde(default = "no_time")]
    pub query: TimeSpan,
    /// How long a round takes from then on until its decisions go out.
    #[serde(default = "no_time")]
    pub schedule: TimeSpan,
    /// How late the scheduler learns of failures, repairs and load.
    #[serde(default)]
    pub information: Information,
    /// How long a job holds its slot before its input is asked for.
    #[serde(default = "no_time")]
    pub prepare: TimeSpan,
    /// What becomes of an output that is under way when its resource fails.
    #[serde(default)]
    pub output: OutputFate,
    /// Whether a job that starts from a checkpoint needs its input again.
    #[serde(default = "yes")]
    pub restart_needs_input: bool,
    /// How jobs save their progress; without it, none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<Checkpoints>,
    /// The network that carries data.
    #[serde(default)]
    pub network: DataNetwork,
    /// Limits of the storage for outputs; without it, there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// Where the resources are.
    #[serde(rename = "site")]
    #[schemars(length(min = 1))]
    pub sites: Vec<Site>,
}

impl Grid {
    /// What the scheduler tells metaschedulers.
    pub fn disclosure(&self) -> Disclosure {
        self.disclosure.unwrap_or_default()
    }

    /// The policy of its scheduler, which may be one of these rules.
    ///
    /// # Errors
    /// If it names another one.
    pub fn scheduler(&self, own: &Rules) -> Result<haggle_grids::GridPolicy, NoSuchRule> {
        self.policy.scheduler(self.checkpoints.is_some(), own)
    }

    /// Whether jobs save their progress, from time to time or when they move.
    pub fn saves(&self) -> bool {
        self.checkpoints.is_some() || matches!(self.policy, GridPolicy::BalancedWorkflow(_))
    }
}

/// Where jobs of a grid go that have waited too long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Overflow {
    /// A provider, or a metascheduler with `placement` that does not use the grid: it gets the job as if a user
    /// had submitted it there. If it refuses the job, the job is rejected.
    pub to: Name,
    /// How long a job waits before, from its arrival at the grid on; more than zero.
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

/// How the length of a task that runs is predicted.
pub type Prediction = haggle_grids::workflows::Prediction<Name>;

/// How late a grid's scheduler learns of failures, repairs and load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Information {
    /// How it is passed on.
    pub mode: InformationMode,
    /// Time between two views, or the longest delay.
    pub delay: TimeSpan,
}

impl Default for Information {
    fn default() -> Information {
        Information { mode: InformationMode::default(), delay: TimeSpan(Span::from_secs(300)) }
    }
}

/// How information on resources is passed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InformationMode {
    /// At once.
    Immediate,
    /// Every `delay`; what has changed back in between is never seen.
    #[default]
    Periodic,
    /// Each change after a time drawn uniformly from nothing to `delay`.
    Delayed,
}

/// What becomes of an output that is under way when its resource fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputFate {
    /// It is lost; copies of a job go on until an output has arrived.
    #[default]
    Lost,
    /// It arrives all the same; copies of a job are cancelled when the first has been computed.
    Survives,
}

/// The network that carries input, output and checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct DataNetwork {
    /// Its shape.
    pub model: NetworkModel,
    /// Bandwidth of every transfer in a constant network, of a resource's link in stars.
    pub bandwidth: Bandwidth,
    /// Latency of every transfer in a constant network, of a resource's link in stars.
    pub latency: TimeSpan,
    /// Bandwidth of every flow between two sites.
    pub wan_bandwidth: Bandwidth,
    /// Latency between two sites, drawn once for each pair.
    pub wan_latency: TimeLaw,
    /// Bandwidth of the links of storage and checkpoint server; without it, unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_bandwidth: Option<Bandwidth>,
    /// How flows share a link.
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
    /// Each site a star, and a link between any two sites; flows share links.
    #[default]
    Stars,
    /// Every transfer has its own bandwidth and latency.
    Constant,
}

/// What a storage can hold, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Storage {
    /// How much it holds; outputs that find no room wait.
    pub capacity: Bytes,
    /// How long an output stays before its user has fetched it; without it, for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<TimeSpan>,
}

/// Resources that share a local network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Site {
    /// Name of the site, unique among all actors; its resources are NAME-1, NAME-2, ...
    pub name: Name,
    /// How many resources it has.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub resources: u32,
    /// Speed of each, million instructions a second; 1 = the reference processor.
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub mips: f64,
    /// Speed of the fastest, if they differ: each is drawn uniformly from `mips` to this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub mips_max: Option<f64>,
    /// How jobs divide a resource among them.
    #[serde(default)]
    pub sharing: Sharing,
    /// How many jobs share a resource at most; 2 if not given, and any number where shares are
    /// reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub slots: Option<u32>,
    /// Load by others outside the grid; without it, there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
}

impl Site {
    /// The names of its resources.
    pub fn resource_names(&self) -> impl Iterator<Item = String> {
        (1..=self.resources).map(|number| format!("{}-{number}", self.name))
    }

    /// How many jobs share a resource at most; `None` = any number.
    pub fn slots(&self) -> Option<u32> {
        self.slots.or((self.sharing == Sharing::Equal).then_some(2))
    }
}

/// How jobs divide a resource among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// All that compute get the same.
    #[default]
    Equal,
    /// Each gets the share of the resource that it asks for, from when it is placed until it leaves.
    Reserved,
}

fn one() -> f64 {
    1.0
}

/// Load on each resource by others, who compute outside the grid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Load {
    /// Least share of a resource that they take at first, drawn uniformly for each.
    #[serde(default = "nothing")]
    pub initial_min: Share,
    /// Largest share of a resource that they take at first.
    pub initial_max: Share,
    /// How often their load changes; without it, never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<TimeSpan>,
    /// Least change, more or less, a share of the initial load.
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

/// What each job of a workload brings along in a grid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Data {
    /// Input, which has to be at the resource before the job computes.
    pub input: Bytes,
    /// Output, which has to be at the storage before the job is done.
    pub output: Bytes,
    /// Size of a checkpoint.
    pub checkpoint: Bytes,
}

impl Default for Data {
    fn default() -> Data {
        Data { input: Bytes(0), output: Bytes(0), checkpoint: Bytes(10_000_000) }
    }
}
