//! `[plans]`: clusters that are shared with others, and a metascheduler that reschedules applications of
//! many phases over them.

use haggle_model::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PlanLinks, PlanSearch};
use crate::quantity::{Bandwidth, Bytes, Name, Share, TimeSpan};

/// Clusters after Sanjay and Vadhiyar 2011, with a planner in front of each and a metascheduler over them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Plans {
    /// Name of the metascheduler, to which users submit.
    #[serde(default = "plans")]
    pub name: Name,
    /// Method by which each cluster plans the remaining phases.
    pub method: PlanMethod,
    /// Sizes and probabilities of `method = "genetic"`.
    #[serde(default)]
    pub genetic: PlanGenetic,
    /// Search of a cluster for the machines that run an interval fastest.
    #[serde(default)]
    pub search: PlanSearch,
    /// Links between the machines of a cluster.
    #[serde(default)]
    pub links: PlanLinks,
    /// Lower bound of the time of a valid interval; it keeps an application from moving all the time.
    #[serde(default = "twenty_minutes")]
    pub threshold: TimeSpan,
    /// Time between changes of loads; without it and `loads`, they change when an interval is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<TimeSpan>,
    /// A record of the available parts of machines over time; without it, they are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loads: Option<String>,
    /// Delay of the loads that monitors report; plans use the reported loads.
    #[serde(default = "no_time")]
    pub monitor_delay: TimeSpan,
    /// Error of the predicted times of phases: standard deviation of the logarithm of a factor.
    #[serde(default = "nothing")]
    pub prediction_error: Share,
    /// Time to stop and start an application that moves within a cluster.
    #[serde(default = "a_minute")]
    pub within: TimeSpan,
    /// Time to stop and start an application that moves to another cluster.
    #[serde(default = "a_minute")]
    pub between: TimeSpan,
    /// Size of a checkpoint, which moves with the application.
    #[serde(default = "checkpoint")]
    pub checkpoint: Bytes,
    /// Bandwidth of the link between two clusters.
    #[serde(default = "slow")]
    pub bandwidth: Bandwidth,
    /// Least available part of that link; the available part is drawn.
    #[serde(default = "a_fifth")]
    pub available_min: Share,
    /// Largest available part of that link.
    #[serde(default = "four_fifths")]
    pub available_max: Share,
    /// The clusters.
    #[serde(rename = "cluster")]
    #[schemars(length(min = 1))]
    pub clusters: Vec<PlanCluster>,
}

fn plans() -> Name {
    Name::like("plans")
}

fn twenty_minutes() -> TimeSpan {
    TimeSpan(Span::from_secs(1200))
}

fn a_minute() -> TimeSpan {
    TimeSpan(Span::from_secs(60))
}

fn no_time() -> TimeSpan {
    TimeSpan::ZERO
}

fn nothing() -> Share {
    Share::ZERO
}

fn checkpoint() -> Bytes {
    Bytes(25_000_000)
}

fn slow() -> Bandwidth {
    Bandwidth(5e6)
}

fn fast() -> Bandwidth {
    Bandwidth(1e9)
}

fn percent(percent: &str) -> Share {
    percent.parse().expect("a share")
}

fn a_tenth() -> Share {
    percent("10%")
}

fn a_fifth() -> Share {
    percent("20%")
}

fn four_fifths() -> Share {
    percent("80%")
}

fn all() -> Share {
    Share::ALL
}

fn one() -> f64 {
    1.0
}

/// Method by which a cluster plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlanMethod {
    /// No rescheduling: an application stays on the machines that are best for the whole application at its beginning.
    None,
    /// From the first phase to the last: an interval ends where other machines become better.
    Incremental,
    /// From one interval to more and more: each step adds the marker that helps most.
    Division,
    /// A population of plans, with crossover and mutation.
    Genetic,
    /// The optimal plan for the current loads, by dynamic programming.
    Optimum,
}

/// Sizes and probabilities of genetic plans; the first three are the published ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlanGenetic {
    /// Number of generations after the first population.
    #[serde(default = "fifty")]
    #[schemars(range(max = 10_000))]
    pub generations: u32,
    /// Number of plans in a generation.
    #[serde(default = "two_hundred")]
    #[schemars(range(min = 1, max = 10_000))]
    pub population: u32,
    /// Largest distance from the fittest plan, as a share of its fitness, at which a plan enters the next generation.
    #[serde(default = "a_tenth")]
    pub elite: Share,
    /// Probability that two plans are crossed; otherwise their children are copies.
    #[serde(default = "four_fifths")]
    pub crossover: Share,
    /// Probability that a child changes.
    #[serde(default = "a_fifth")]
    pub mutation: Share,
}

impl Default for PlanGenetic {
    fn default() -> PlanGenetic {
        PlanGenetic {
            generations: fifty(),
            population: two_hundred(),
            elite: a_tenth(),
            crossover: four_fifths(),
            mutation: a_fifth(),
        }
    }
}

fn fifty() -> u32 {
    50
}

fn two_hundred() -> u32 {
    200
}

/// A cluster whose machines are shared with others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlanCluster {
    /// Name of the cluster, unique among all actors; the draws of the cluster depend on it.
    pub name: Name,
    /// Machines, of one processor each.
    #[schemars(range(min = 1, max = 10_000))]
    pub machines: u32,
    /// Speed of its processors; 1 = the reference processor.
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e3))]
    pub speed: f64,
    /// Bandwidth between two of its machines, of which half is available to a checkpoint.
    #[serde(default = "fast")]
    pub bandwidth: Bandwidth,
    /// Least available part of a processor; the available part is drawn for each processor.
    #[serde(default = "a_tenth")]
    pub cpu_min: Share,
    /// Largest available part of a processor.
    #[serde(default = "all")]
    pub cpu_max: Share,
    /// Least available part of the link of a machine; the available part is drawn for each link.
    #[serde(default = "a_fifth")]
    pub link_min: Share,
    /// Largest available part of the link of a machine.
    #[serde(default = "four_fifths")]
    pub link_max: Share,
}
