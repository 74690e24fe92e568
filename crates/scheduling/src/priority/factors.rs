//! The factors of a job's priority, their weights, and their sum.
//!
//! priority = site + Σ weight × factor - nice, and each factor lies between 0 and 1. Slurm adds double
//! precision numbers in a fixed order and cuts off the fraction. The order here is the same.

use haggle_model::Span;
use serde::{Deserialize, Serialize};

use super::resources::{PerResource, Totals};

/// The lowest priority. Slurm reserves 0 for jobs on hold.
const LOWEST: f64 = 1.0;

/// Microseconds of a minute, the unit of time limits in Slurm.
const MICROS_PER_MINUTE: i64 = 60_000_000;

/// The weight of each factor, 0 by default: the factor has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// `PriorityWeightAge`.
    pub age: u32,
    /// `PriorityWeightAssoc`.
    pub association: u32,
    /// `PriorityWeightFairshare`.
    pub fair_share: u32,
    /// `PriorityWeightJobSize`.
    pub job_size: u32,
    /// `PriorityWeightPartition`.
    pub partition: u32,
    /// `PriorityWeightQOS`.
    pub qos: u32,
    /// `PriorityWeightTRES`.
    pub resources: PerResource<f64>,
}

/// How the size of a job becomes a factor (`PriorityFavorSmall` and the flag `SMALL_RELATIVE_TO_TIME`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SizeRule {
    /// The mean of the job's part of the nodes and its part of the processors.
    #[default]
    Large,
    /// 1 less [`SizeRule::Large`]. By the manual, a job of one node has a factor of 1; in Slurm it is
    /// smaller by the job's part of the machine, and so it is here.
    Small,
    /// The job's part of the processors, divided by its time limit in minutes.
    LargeRelativeToTime,
    /// 1 less [`SizeRule::LargeRelativeToTime`].
    SmallRelativeToTime,
}

/// Size of the machine that jobs are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its processors, at least 1.
    pub processors: u32,
    /// Its nodes, at least 1.
    pub nodes: u32,
}

impl SizeRule {
    /// The factor of a job that asks for `processors` on `nodes` for the time of `limit`. Without a limit, it is
    /// that of the partition; `None` if the partition has none either.
    pub fn factor(self, machine: Machine, processors: u32, nodes: u32, limit: Option<Span>) -> f64 {
        let (all_processors, all_nodes) = (f64::from(machine.processors), f64::from(machine.nodes));
        let (processors, nodes) = (f64::from(processors), f64::from(nodes));
        let relative = || {
            // A job holds whole nodes at least as far as the mean number of processors of a node.
            let held = processors.max(nodes * all_processors / all_nodes);
            held / minutes(limit) / all_processors
        };
        let factor = match self {
            SizeRule::Large => (nodes / all_nodes + processors / all_processors) / 2.0,
            SizeRule::Small => {
                let nodes = (all_nodes - nodes).max(0.0) / all_nodes;
                (nodes + (all_processors - processors) / all_processors) / 2.0
            }
            SizeRule::LargeRelativeToTime => relative(),
            SizeRule::SmallRelativeToTime => 1.0 - relative(),
        };
        factor.clamp(0.0, 1.0)
    }
}

/// A time limit in minutes, rounded up, at least 1.
fn minutes(limit: Option<Span>) -> f64 {
    let micros = limit.unwrap_or(Span::FOREVER).as_micros().max(1);
    ((micros + MICROS_PER_MINUTE - 1) / MICROS_PER_MINUTE) as f64
}

/// The age factor: the time since a job could have started, as a part of `max_age` (`PriorityMaxAge`).
pub fn age_factor(age: Span, max_age: Span) -> f64 {
    if age >= max_age { 1.0 } else { age.max(Span::ZERO).as_secs_f64() / max_age.as_secs_f64() }
}

/// A priority of a partition, QOS or association as a part of the highest of them; 0 if all are 0.
pub fn normalized(priority: u32, highest: u32) -> f64 {
    if highest == 0 { 0.0 } else { f64::from(priority) / f64::from(highest) }
}

/// The part of the partition's amounts that a job asks for; 0 of a resource that the partition has not.
pub fn resource_factors(asked: Totals, partition: Totals) -> PerResource<f64> {
    asked.zip(partition, |asked, all| if all == 0 { 0.0 } else { asked as f64 / all as f64 })
}

/// The factors of one job, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Factors {
    /// Time since it could have started.
    pub age: f64,
    /// Priority of its association.
    pub association: f64,
    /// Fair share of its user.
    pub fair_share: f64,
    /// Its size.
    pub job_size: f64,
    /// Priority of its partition.
    pub partition: f64,
    /// Priority of its QOS.
    pub qos: f64,
    /// Its part of each resource of the partition.
    pub resources: PerResource<f64>,
}

/// The priority of one job with the contribution of each factor, as `sprio` lists it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Breakdown {
    /// Weight × factor of the age.
    pub age: f64,
    /// Weight × factor of the association.
    pub association: f64,
    /// Weight × factor of the fair share.
    pub fair_share: f64,
    /// Weight × factor of the size.
    pub job_size: f64,
    /// Weight × factor of the partition.
    pub partition: f64,
    /// Weight × factor of the QOS.
    pub qos: f64,
    /// Weight × factor of each resource.
    pub resources: PerResource<f64>,
    /// Added as it is.
    pub site: i64,
    /// Subtracted as it is.
    pub nice: i64,
}

impl Factors {
    /// Each factor times its weight.
    pub fn weighted(&self, weights: &Weights, site: i64, nice: i64) -> Breakdown {
        Breakdown {
            age: self.age * f64::from(weights.age),
            association: self.association * f64::from(weights.association),
            fair_share: self.fair_share * f64::from(weights.fair_share),
            job_size: self.job_size * f64::from(weights.job_size),
            partition: self.partition * f64::from(weights.partition),
            qos: self.qos * f64::from(weights.qos),
            resources: self.resources.zip(weights.resources, |factor, weight| factor * weight),
            site,
            nice,
        }
    }
}

impl Breakdown {
    /// The sum without its fraction, at least 1, at most 2^32 - 1. A larger priority goes first.
    pub fn priority(&self) -> u32 {
        let resources: f64 = self.resources.values().iter().sum();
        let sum = self.age
            + self.association
            + self.fair_share
            + self.job_size
            + self.partition
            + self.qos
            + resources
            + self.site as f64
            - self.nice as f64;
        // The conversion cuts off the fraction and saturates.
        sum.max(LOWEST) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Machine = Machine { processors: 64, nodes: 4 };

    fn size(rule: SizeRule, processors: u32, nodes: u32, minutes: i64) -> f64 {
        rule.factor(MACHINE, processors, nodes, Some(Span::from_secs(60 * minutes)))
    }

    #[test]
    fn the_largest_or_the_smallest_job_is_favoured() {
        assert_eq!(size(SizeRule::Large, 64, 4, 10), 1.0);
        assert_eq!(size(SizeRule::Large, 16, 1, 10), 0.25);
        assert_eq!(size(SizeRule::Large, 16, 3, 10), 0.5);
        assert_eq!(size(SizeRule::Small, 64, 4, 10), 0.0);
        assert_eq!(size(SizeRule::Small, 16, 1, 10), 0.75);
        assert_eq!(size(SizeRule::Small, 16, 3, 10), 0.5);
    }

    /// A job of the whole machine with a limit of a minute has a factor of 1, by the manual.
    #[test]
    fn size_relative_to_time() {
        let rule = SizeRule::LargeRelativeToTime;
        assert_eq!(size(rule, 64, 4, 1), 1.0);
        assert_eq!(size(rule, 64, 4, 8), 0.125);
        assert_eq!(size(rule, 1, 1, 1), 0.25, "it holds a node");
        assert_eq!(size(rule, 1, 1, 1000), 0.25 / 1000.0);
        assert_eq!(size(SizeRule::SmallRelativeToTime, 64, 4, 8), 0.875);
        let half_a_minute = Some(Span::from_secs(30));
        assert_eq!(rule.factor(MACHINE, 64, 4, half_a_minute), 1.0);
        assert!(rule.factor(MACHINE, 64, 4, None) < 1e-6, "without a limit");
    }

    /// Contributions of four jobs with a weight of 1000, as `sprio` of Slurm 22.05.8 listed them for two nodes with four
    /// processors each.
    #[test]
    fn sizes_of_a_real_slurm() {
        let machine = Machine { processors: 8, nodes: 2 };
        let jobs = [(3, 1, 300), (4, 2, 420), (8, 2, 60), (3, 1, 150)];
        let listed = [
            (SizeRule::LargeRelativeToTime, [100, 143, 1000, 167]),
            (SizeRule::SmallRelativeToTime, [900, 857, 0, 833]),
            (SizeRule::Small, [562, 250, 0, 562]),
        ];
        for (rule, by_sprio) in listed {
            let contributions = jobs.map(|(processors, nodes, seconds)| {
                let limit = Some(Span::from_secs(seconds));
                // `sprio` rounds halves to even.
                (1000.0 * rule.factor(machine, processors, nodes, limit)).round_ties_even() as u32
            });
            assert_eq!(contributions, by_sprio, "{rule:?}");
        }
    }

    #[test]
    fn age_counts_up_to_a_limit() {
        let day = Span::from_secs(86_400);
        let factors = [-1, 0, 7, 14, 15].map(|days| age_factor(day * days, day * 14));
        assert_eq!(factors, [0.0, 0.0, 0.5, 1.0, 1.0]);
        assert_eq!(age_factor(Span::ZERO, Span::ZERO), 1.0);
    }

    /// Partition A has a priority of 20, B of 10, and the weight is 5000.
    #[test]
    fn the_published_example_of_partitions() {
        let factors = [20, 10].map(|priority| normalized(priority, 20) * 5000.0);
        assert_eq!(factors, [5000.0, 2500.0]);
        assert_eq!(normalized(0, 0), 0.0);
    }

    #[test]
    fn the_sum_is_cut_off_and_bounded() {
        let weights = Weights {
            age: 1000,
            fair_share: 10,
            qos: 100,
            resources: PerResource { gpus: 200.0, ..PerResource::default() },
            ..Weights::default()
        };
        let asked = Totals { gpus: 2, processors: 3, ..Totals::default() };
        let partition = Totals { gpus: 16, ..Totals::default() };
        let resources = resource_factors(asked, partition);
        let factors =
            Factors { age: 0.25, fair_share: 0.59534, qos: 1.0, resources, ..Factors::default() };
        let breakdown = factors.weighted(&weights, 7, 3);
        assert_eq!(breakdown.resources.gpus, 25.0);
        // 250 + 5.9534 + 100 + 25 + 7 - 3
        assert_eq!(breakdown.priority(), 384);
        assert_eq!(factors.weighted(&weights, 0, 1_000_000).priority(), 1);
        assert_eq!(factors.weighted(&weights, i64::MAX, 0).priority(), u32::MAX);
    }
}
