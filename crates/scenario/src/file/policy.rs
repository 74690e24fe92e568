//! `policy` of a `[[provider]]`: which job starts when, with the keys that each policy has of its own, and
//! the scheduler that it makes of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Rules;
use haggle_model::Span;
use haggle_scheduling::own::NoSuchRule;
use haggle_scheduling::reservations::ReservationConfig;
use haggle_scheduling::{
    EdfConfig, Fractions, Policy as Backfilling, ReschedulingConfig, SchedulerConfig, Scheduling,
    Shares,
};

use super::{Compression, Estimates, Late, Offers, Order, Rescheduling, Reservations, words_alone};
use crate::quantity::TimeSpan;

/// Policy of a local scheduler: the rule by which jobs start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(transform = words_alone)]
pub enum Policy {
    /// First come, first served: no job passes one that is before it in the queue.
    Fcfs {
        /// Order in which waiting jobs are considered.
        #[serde(default)]
        order: Order,
    },
    /// EASY backfilling: a job may pass others if it does not delay the first one in the queue.
    Easy {
        /// Order in which waiting jobs are considered.
        #[serde(default)]
        order: Order,
        /// Number of waiting jobs behind the first one that a pass examines, in this order; without it, all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 100_000_000))]
        depth: Option<u32>,
    },
    /// Conservative backfilling: every job has a reservation, and a job may pass others if it delays none.
    Conservative {
        /// Order in which waiting jobs are considered.
        #[serde(default)]
        order: Order,
        /// Treatment of reservations when a job ends.
        #[serde(default)]
        compression: Compression,
        /// Number of waiting jobs behind the first one that get reservations, in this order; without it, all. Only with
        /// `compression = "replan"`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 100_000_000))]
        depth: Option<u32>,
        /// Time ahead up to which starts are reserved; without it, there is no limit. Only with `compression = "replan"`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<TimeSpan>,
    },
    /// Earliest deadline first with promises that are kept; makes offers for bags of tasks.
    Edf(EdfPolicy),
    /// Conservative backfilling of bags of tasks, moved up when something ends early; makes offers.
    Bags(BagsPolicy),
    /// Advance reservations with windows, in which waiting reservations may move; jobs without a reservation are moved
    /// aside for them.
    Reservations(Reservations),
    /// As recorded: each job starts at the time that its log has recorded, or later if its processors are not free then.
    // With braces, as only tables refuse the keys of other policies.
    Recorded {},
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::easy()
    }
}

impl Policy {
    /// First come, first served.
    pub fn fcfs() -> Policy {
        Policy::Fcfs { order: Order::default() }
    }

    /// EASY backfilling in the order of arrival.
    pub fn easy() -> Policy {
        Policy::Easy { order: Order::default(), depth: None }
    }

    /// Conservative backfilling in the order of arrival, with compression by start.
    pub fn conservative() -> Policy {
        Policy::Conservative {
            order: Order::default(),
            compression: Compression::default(),
            depth: None,
            window: None,
        }
    }

    /// Earliest deadline first, all its keys at their defaults.
    pub fn edf() -> Policy {
        Policy::Edf(EdfPolicy::default())
    }

    /// Backfilling of bags, all its keys at their defaults.
    pub fn bags() -> Policy {
        Policy::Bags(BagsPolicy::default())
    }

    /// Advance reservations, all its keys at their defaults.
    pub fn reservations() -> Policy {
        Policy::Reservations(Reservations::default())
    }

    /// As recorded in logs.
    pub fn recorded() -> Policy {
        Policy::Recorded {}
    }

    /// The word in scenarios.
    pub const fn name(&self) -> &'static str {
        match self {
            Policy::Fcfs { .. } => "fcfs",
            Policy::Easy { .. } => "easy",
            Policy::Conservative { .. } => "conservative",
            Policy::Edf(_) => "edf",
            Policy::Bags(_) => "bags",
            Policy::Reservations(_) => "reservations",
            Policy::Recorded {} => "recorded",
        }
    }

    /// The scheduler that it describes, whose order may be one of these rules.
    ///
    /// # Errors
    /// If it names another one.
    pub fn scheduling(&self, own: &Rules) -> Result<Scheduling, NoSuchRule> {
        let queue = |policy, order: &Order, compression| {
            let order = order.among(&own.orders)?;
            Ok(SchedulerConfig { policy, order, compression, depth: None, window: None })
        };
        match self {
            Policy::Fcfs { order } => {
                queue(Backfilling::Fcfs, order, Compression::default()).map(Scheduling::Queue)
            }
            Policy::Easy { order, depth } => {
                let config = queue(Backfilling::Easy, order, Compression::default())?;
                Ok(Scheduling::Queue(SchedulerConfig { depth: *depth, ..config }))
            }
            Policy::Conservative { order, compression, depth, window } => {
                let config = queue(Backfilling::Conservative, order, *compression)?;
                let (depth, window) = (*depth, window.map(|it| it.0));
                Ok(Scheduling::Queue(SchedulerConfig { depth, window, ..config }))
            }
            Policy::Edf(it) => Ok(Scheduling::Edf(EdfConfig {
                mode: it.late,
                resolution: it.resolution.0,
                fractions: fractions(&it.offers),
                pinned: it.pinned,
            })),
            Policy::Bags(it) => Ok(Scheduling::Bags {
                rescheduling: ReschedulingConfig {
                    rule: it.rescheduling.rule,
                    second_pass: it.rescheduling.second_pass,
                    rebuild: it.rescheduling.rebuild,
                },
                fractions: fractions(&it.offers),
                shares: if it.blocks { Shares::Blocks } else { Shares::Tasks },
            }),
            Policy::Reservations(it) => Ok(Scheduling::Reservations(ReservationConfig {
                criterion: it.criterion,
                threshold: it.threshold,
                after: it.after,
                compresses: it.compress,
            })),
            Policy::Recorded {} => Ok(Scheduling::Recorded),
        }
    }

    /// True if some waiting jobs have no reservation although conservative backfilling plans them.
    pub const fn plans_partly(&self) -> bool {
        match self {
            Policy::Conservative { depth, window, .. } => depth.is_some() || window.is_some(),
            _ => false,
        }
    }

    /// True if it is a queue of rigid jobs that plans by requested times.
    pub const fn is_plain(&self) -> bool {
        matches!(self, Policy::Fcfs { .. } | Policy::Easy { .. } | Policy::Conservative { .. })
    }

    /// The order of its queue, if the policy has one to choose.
    pub const fn order(&self) -> Option<&Order> {
        match self {
            Policy::Fcfs { order }
            | Policy::Easy { order, .. }
            | Policy::Conservative { order, .. } => Some(order),
            Policy::Edf(_) | Policy::Bags(_) | Policy::Reservations(_) | Policy::Recorded {} => {
                None
            }
        }
    }

    /// Offers for bags of tasks, if the policy makes any.
    pub const fn offers(&self) -> Option<&Offers> {
        match self {
            Policy::Edf(it) => Some(&it.offers),
            Policy::Bags(it) => Some(&it.offers),
            _ => None,
        }
    }

    /// Source of the estimated run times of bags, if the policy makes offers.
    pub const fn estimates(&self) -> Option<&Estimates> {
        match self {
            Policy::Edf(it) => Some(&it.estimates),
            Policy::Bags(it) => Some(&it.estimates),
            _ => None,
        }
    }

    /// Moves of waiting tasks to earlier starts, if the policy backfills bags.
    pub const fn rescheduling(&self) -> Option<Rescheduling> {
        match self {
            Policy::Bags(it) => Some(it.rescheduling),
            _ => None,
        }
    }

    /// Treatment of advance reservations, if the policy moves all work for them. The other policies grant windows beside
    /// their own work.
    pub const fn reserving(&self) -> Option<&Reservations> {
        match self {
            Policy::Reservations(it) => Some(it),
            _ => None,
        }
    }

    /// True if providers with this policy make offers for bags of tasks.
    pub const fn bargains(&self) -> bool {
        self.offers().is_some()
    }

    /// True if its queue keeps parts of jobs that have other parts at other providers, and windows, at fixed places.
    pub const fn takes_parts(&self) -> bool {
        self.reserving().is_none() && !self.starts_as_recorded()
    }

    /// True if jobs start when their logs say.
    pub const fn starts_as_recorded(&self) -> bool {
        matches!(self, Policy::Recorded {})
    }

    /// True if the queue reserves a start for each job, and keeps it.
    pub fn reserves(&self) -> bool {
        match self {
            Policy::Fcfs { order } => *order == Order::Arrival,
            Policy::Conservative { compression, .. } => *compression != Compression::Replan,
            Policy::Easy { .. }
            | Policy::Edf(_)
            | Policy::Bags(_)
            | Policy::Reservations(_)
            | Policy::Recorded {} => false,
        }
    }
}

fn fractions(offers: &Offers) -> Fractions {
    let fractions = offers.fractions.iter().map(|share| share.parts());
    Fractions::new(fractions.filter(|&(part, _)| part > 0).collect())
}

/// Earliest deadline first: the keys of policy "edf".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct EdfPolicy {
    /// Treatment of new work that would make a promise late.
    pub late: Late,
    /// Accuracy of the earliest completion that the provider promises.
    pub resolution: TimeSpan,
    /// True if tasks placed in published free time slots stay exactly there.
    pub pinned: bool,
    /// Offers for bags of tasks.
    pub offers: Offers,
    /// Source of the estimated run times of bags.
    pub estimates: Estimates,
}

impl Default for EdfPolicy {
    fn default() -> EdfPolicy {
        EdfPolicy {
            late: Late::default(),
            resolution: TimeSpan(Span::from_secs(1)),
            pinned: false,
            offers: Offers::default(),
            estimates: Estimates::default(),
        }
    }
}

/// Backfilling of bags of tasks: the keys of policy "bags".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct BagsPolicy {
    /// True if all tasks of a bag at this provider start together, as a rigid job does; otherwise each starts where it
    /// fits. Tasks placed in free time slots start together with the tasks of the same start. If there are more tasks
    /// than processors, they fill the machine one group after the other.
    pub blocks: bool,
    /// Order in which waiting tasks move to earlier starts when a job or task ends early.
    pub rescheduling: Rescheduling,
    /// Offers for bags of tasks.
    pub offers: Offers,
    /// Source of the estimated run times of bags.
    pub estimates: Estimates,
}
