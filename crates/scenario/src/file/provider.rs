//! `[[provider]]`: who owns processors, and how it schedules them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use haggle_model::{Nodes, Span};

use super::{
    Account, Checkpoints, Disclosure, InitialJob, InitialUse, Node, Overrun, Passes, Placing,
    Policy, Priority, Qos, Queue, ReschedulingRule, TimeLaw,
};
use crate::quantity::{Name, Share, TimeSpan};

/// An owner of processors with its own local scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Provider {
    /// Name of the provider, unique among all actors.
    pub name: Name,
    /// Processors the provider owns. Left out with `node`, which gives them.
    #[serde(default, skip_serializing_if = "is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub processors: u32,
    /// Its nodes, in groups of equal ones. Jobs are placed on nodes if some ask for more than processors. Otherwise, the
    /// provider counts processors only.
    #[serde(rename = "node", default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Node>,
    /// Choice among free nodes; "packed" if not given. Read with `node` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placing: Option<Placing>,
    /// Its queues. Without any, all jobs are in one queue without limits.
    #[serde(rename = "queue", default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<Queue>,
    /// Its qualities of service. Without any, jobs have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub qos: Vec<Qos>,
    /// Its accounts, with shares and limits.
    #[serde(rename = "account", default, skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<Account>,
    /// Priorities of its jobs, in place of the order of its policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Speed of its processors; 1 is the reference processor, 2 halves run times.
    #[serde(default = "reference_speed")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub speed: f64,
    /// Policy of the local scheduler, by which jobs start: a word, or a table with the keys of this policy.
    #[serde(default)]
    pub policy: Policy,
    /// Occasions on which the local scheduler decides. Policies "edf" and "bags", and providers that take parts of
    /// jobs, decide once an instant.
    #[serde(default)]
    pub passes: Passes,
    /// Time between the passes of the local scheduler, which then are at multiples of it; without it, at each event.
    /// Between passes the scheduler is notified of nothing, and it plans requested times up to a pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<TimeSpan>,
    /// Treatment of a job, or a task of a bag, that runs past its requested time.
    #[serde(default)]
    pub overrun: Overrun,
    /// Treatment of a job whose processors fail; "restart" if not given. Read where `[[failures]]` are; tasks of a bag
    /// always wait again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
    /// Checkpoints of jobs: their times, sizes and costs; read by on-failure "resume" only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<Checkpoints>,
    /// Most starts of a job, after which it has failed; 1000 if not given. For a bag, the mean over its tasks. It ends
    /// runs in which a job would never end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4_000_000_000_u32))]
    pub max_attempts: Option<u32>,
    /// Facts that the provider discloses to other actors.
    #[serde(default)]
    pub disclosure: Disclosure,
    /// Share of its free processors that the provider publishes to metaschedulers that spread jobs, "100%" if not
    /// given; rounded down. Read with `coallocation` or `mapping` of a metascheduler only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publishes: Option<Share>,
    /// Type of its machines, its name if not given. Read with `mapping` of a metascheduler only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Name>,
    /// Site of the provider, one of its own if not given: results of iterative applications are sent between sites.
    /// Read with `mapping` of a metascheduler only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<Name>,
    /// Jobs that run or wait at time zero (docs/forecast.md).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<Vec<InitialJob>>,
    /// A table of such jobs instead, in CSV (.csv) or Parquet (.parquet), from the scenario's folder. Its columns are the
    /// keys of `initial`, with times in seconds or with units. `$VARIABLE` stands for an environment variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_file: Option<String>,
    /// Law of the run times, on a reference processor, of initial jobs without `run`. A running job gets a time longer
    /// than the time for which it has run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_run: Option<TimeLaw>,
    /// Instead of `initial-run`: laws of the used part of the requested time, each for a range of requested times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_use: Option<Vec<InitialUse>>,
    /// Number of such providers; 1 if not given. Two or more are called name-1, name-2, …
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub count: u32,
}

impl Provider {
    /// The nodes, in the terms of the model.
    pub fn nodes_to_model(&self) -> Nodes {
        Nodes::new(&Vec::from_iter(self.nodes.iter().map(Node::to_model)))
    }

    /// True if jobs run or wait here at time zero.
    pub fn has_start_state(&self) -> bool {
        self.initial.is_some() || self.initial_file.is_some()
    }

    /// A provider with this number of processors; all other keys have their defaults.
    pub fn named(name: Name, processors: u32) -> Provider {
        Provider {
            name,
            processors,
            nodes: Vec::new(),
            placing: None,
            queues: Vec::new(),
            qos: Vec::new(),
            accounts: Vec::new(),
            priority: None,
            speed: reference_speed(),
            policy: Policy::default(),
            passes: Passes::default(),
            interval: None,
            overrun: Overrun::default(),
            on_failure: None,
            checkpoints: None,
            max_attempts: None,
            disclosure: Disclosure::default(),
            publishes: None,
            machine: None,
            site: None,
            initial: None,
            initial_file: None,
            initial_run: None,
            initial_use: None,
            count: one(),
        }
    }
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

fn reference_speed() -> f64 {
    1.0
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

/// Offers of a provider for bags of tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Offers {
    /// Sizes for which offers are made, as shares of the bag; the whole bag always is one.
    pub fractions: Vec<Share>,
    /// Time for which an offer can be accepted, and is held; without it, four times the longest latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validity: Option<TimeSpan>,
    /// Offers that the provider discloses, of those that it has planned.
    #[serde(skip_serializing_if = "is_padded")]
    pub told: Told,
    /// Completions are offered up to this share later than planned, at random.
    pub padding: Share,
    /// Time that the provider takes to answer a call; its offers may be stale by then.
    pub delay: TimeSpan,
}

impl Default for Offers {
    fn default() -> Offers {
        let share = |text: &str| text.parse().expect("a percentage");
        Offers {
            fractions: ["10%", "25%", "50%", "75%", "100%"].map(share).to_vec(),
            validity: None,
            told: Told::default(),
            padding: share("0%"),
            delay: TimeSpan::ZERO,
        }
    }
}

fn is_padded(told: &Told) -> bool {
    *told == Told::Padded
}

/// Offers that a provider discloses, of those that it has planned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Told {
    /// All offers, later by the `padding`.
    #[default]
    Padded,
    /// A rule of one's own, by its name; a program of one's own supplies it (docs/own-rules.md).
    Own(Name),
}

/// Moves of waiting tasks when a job or task ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Rescheduling {
    /// Task that moves first.
    pub rule: ReschedulingRule,
    /// True if a second pass fills the room that the first pass has freed.
    pub second_pass: bool,
    /// True if the plan is made anew in that order, instead of moving one task after the other.
    pub rebuild: bool,
    /// True if a share that is no longer the last of its bag is reported when this becomes known.
    pub catch_up: bool,
}

impl Default for Rescheduling {
    fn default() -> Rescheduling {
        let rule = ReschedulingRule::default();
        Rescheduling { rule, second_pass: true, rebuild: false, catch_up: true }
    }
}

/// Source of a provider's estimated run times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Estimates {
    /// Source of the estimates.
    pub from: EstimatesFrom,
    /// Error of a profile as a share of the user's error.
    pub error: Share,
    /// Shortest time profiling takes.
    pub time_min: TimeSpan,
    /// Longest time profiling takes.
    pub time_max: TimeSpan,
}

impl Default for Estimates {
    fn default() -> Estimates {
        Estimates {
            from: EstimatesFrom::default(),
            error: "50%".parse().expect("a percentage"),
            time_min: TimeSpan(Span::from_secs(300)),
            time_max: TimeSpan(Span::from_secs(1_800)),
        }
    }
}

/// Source of estimated run times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EstimatesFrom {
    /// The users, with their requested times.
    #[default]
    Users,
    /// The provider, which profiles the program; profiling takes time.
    Profiled,
    /// The real run times: all estimates are exact.
    Perfect,
}

/// Order in which waiting jobs are considered.
pub type Order = haggle_scheduling::Order<Name>;

/// Treatment of a job whose processors fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// It starts again from the beginning, ahead of all waiting jobs.
    #[default]
    Restart,
    /// It starts again from the beginning, behind all waiting jobs.
    Requeue,
    /// It continues from its last checkpoint, ahead of all waiting jobs.
    Resume,
    /// It ends as failed.
    Fail,
    /// It continues to its end, and its failed processors go down then. So a record of outages whose effects are in the run
    /// times of a log already counts once.
    Drain,
}
