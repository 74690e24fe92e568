//! `[[provider]]`: who owns processors, and how it schedules them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scenario::quantity::Name;

/// An owner of processors with its own local scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Provider {
    /// Name of the provider, unique among all actors.
    pub name: Name,
    /// Processors the provider owns.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub processors: u32,
    /// Speed of its processors; 1 is the reference processor, 2 halves run times.
    #[serde(default = "reference_speed")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub speed: f64,
    /// How its local scheduler decides which job starts when.
    #[serde(default)]
    pub policy: Policy,
    /// In which order waiting jobs are considered.
    #[serde(default)]
    pub order: Order,
    /// What happens to reservations when a job ends early; read by conservative backfilling only.
    #[serde(default)]
    pub compression: Compression,
    /// What happens to a job that runs past its requested time.
    #[serde(default)]
    pub overrun: Overrun,
    /// What the provider tells others about itself.
    #[serde(default)]
    pub disclosure: Disclosure,
    /// How many providers like this there are; more than one are called name-1, name-2, …
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub count: u32,
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

/// How a local scheduler decides which job starts when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// First come, first served: no job passes one that is before it in the queue.
    Fcfs,
    /// EASY backfilling: a job may pass others if it does not delay the first one in the queue.
    #[default]
    Easy,
    /// Conservative backfilling: every job has a reservation, and a job may pass others if it delays none.
    Conservative,
}

/// In which order waiting jobs are considered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// In the order of their arrival.
    #[default]
    Arrival,
    /// Shortest requested time first.
    Shortest,
    /// Most processors first.
    Largest,
    /// Smallest key first; the step "key" of a workload sets it.
    Key,
}

/// What conservative backfilling does with reservations when a job ends early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// Each reservation in order of start is moved as early as it fits, the others standing.
    #[default]
    ByStart,
    /// Each reservation in the order of the queue is moved as early as it fits, the others standing.
    JobByJob,
    /// All reservations are given up and made anew in the order of the queue.
    Replan,
    /// Reservations stay where they are.
    None,
}

/// What happens to a job that runs past its requested time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Overrun {
    /// It is stopped at its requested time.
    #[default]
    Kill,
    /// It runs to its end, and the schedule is repaired.
    Extend,
}

/// What a provider tells others about itself; each level includes those before it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Disclosure {
    /// When a job that is asked about would start and end.
    #[default]
    Offers,
    /// Its total computing power.
    Power,
    /// A rough load: remaining work per processor.
    Load,
    /// Its free time slots.
    Slots,
    /// Its whole queue.
    Queue,
}

impl Disclosure {
    /// The word in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Disclosure::Offers => "offers",
            Disclosure::Power => "power",
            Disclosure::Load => "load",
            Disclosure::Slots => "slots",
            Disclosure::Queue => "queue",
        }
    }
}
