//! `[[provider]]`: who owns processors, and how it schedules them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use haggle_model::Span;

use super::{Checkpoints, Disclosure, Overrun, Passes, Policy, ReschedulingRule};
use crate::quantity::{Name, Share, TimeSpan};

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
    /// How its local scheduler decides which job starts when: a word, or a table with the keys that this policy has.
    #[serde(default)]
    pub policy: Policy,
    /// How often its local scheduler decides. Policies "edf" and "bags", and providers that take parts of jobs, decide once an
    /// instant.
    #[serde(default)]
    pub passes: Passes,
    /// What happens to a job, or a task of a bag, that runs past its requested time.
    #[serde(default)]
    pub overrun: Overrun,
    /// What happens to a job whose processors fail; "restart" if not given. Read where `[[failures]]`
    /// are; tasks of a bag always wait again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
    /// When jobs write checkpoints, and what that takes; read by on-failure "resume" only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<Checkpoints>,
    /// How often a job is started before it is given up, 1000 if not given; of a bag, how often a
    /// task is in the mean. It ends runs in which a job would never end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4_000_000_000_u32))]
    pub max_attempts: Option<u32>,
    /// What the provider tells others about itself.
    #[serde(default)]
    pub disclosure: Disclosure,
    /// The share of its free processors that it tells those who spread jobs over providers, "100%" if not
    /// given; rounded down. Read with `coallocation` or `mapping` of a metascheduler only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publishes: Option<Share>,
    /// Of which type its machines are, its name if not given. Read with `mapping` of a metascheduler only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Name>,
    /// At which site it is, one of its own if not given: results of iterative applications are sent between
    /// sites. Read with `mapping` of a metascheduler only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<Name>,
    /// How many providers like this there are; 1 if not given. More than one are called name-1, name-2, …
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub count: u32,
}

impl Provider {
    /// A provider of so many processors, everything else as if the file did not say it.
    pub fn named(name: Name, processors: u32) -> Provider {
        Provider {
            name,
            processors,
            speed: reference_speed(),
            policy: Policy::default(),
            passes: Passes::default(),
            overrun: Overrun::default(),
            on_failure: None,
            checkpoints: None,
            max_attempts: None,
            disclosure: Disclosure::default(),
            publishes: None,
            machine: None,
            site: None,
            count: one(),
        }
    }
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

/// How a provider makes offers for bags of tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Offers {
    /// Sizes for which offers are made, as shares of the bag; the whole bag always is one.
    pub fractions: Vec<Share>,
    /// How long an offer can be taken up, and is held then; without it, four times the longest latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validity: Option<TimeSpan>,
    /// What the provider tells of the offers that it has planned.
    #[serde(skip_serializing_if = "is_padded")]
    pub told: Told,
    /// Completions are offered up to this much later than planned, at random.
    pub padding: Share,
    /// How long the provider takes to answer a call; its offers may be stale by then.
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

/// What a provider tells of the offers that it has planned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Told {
    /// All of them, later by its `padding`.
    #[default]
    Padded,
    /// A rule of one's own, by its name; a program of one's own brings it (docs/own-rules.md).
    Own(Name),
}

/// What happens to waiting tasks when something ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Rescheduling {
    /// Who moves up first.
    pub rule: ReschedulingRule,
    /// Whether a second pass fills what became free in the first.
    pub second_pass: bool,
    /// Whether the plan is made anew in that order instead of moving one after the other.
    pub rebuild: bool,
    /// Whether a share that is no longer the last of its bag is reported when it turns out to be.
    pub catch_up: bool,
}

impl Default for Rescheduling {
    fn default() -> Rescheduling {
        let rule = ReschedulingRule::default();
        Rescheduling { rule, second_pass: true, rebuild: false, catch_up: true }
    }
}

/// Where a provider's estimates of run times come from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Estimates {
    /// Who estimates.
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

/// Who estimates run times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EstimatesFrom {
    /// The users, with their requested times.
    #[default]
    Users,
    /// The provider profiles the program, which takes time.
    Profiled,
    /// Nobody errs.
    Perfect,
}

/// In which order waiting jobs are considered.
pub type Order = haggle_scheduling::Order<Name>;

/// What happens to a job whose processors fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// It starts again from the beginning, ahead of all that waits.
    #[default]
    Restart,
    /// It starts again from the beginning, after waiting behind all others.
    Requeue,
    /// It goes on from its last checkpoint, ahead of all that waits.
    Resume,
    /// It is over: failed.
    Fail,
}
