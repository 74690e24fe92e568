//! `[metascheduler.coallocation]`: how rigid jobs are spread over providers.

use haggle_agreements::back_off::BackOff as Model;
use haggle_model::Span;
use haggle_scheduling::coallocation::{CoallocationPolicy as Moves, TRIALS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FillRule, Law, Protocol, RemapRule, RequestOrder, words_alone};
use crate::quantity::{Share, TimeSpan};

/// How a metascheduler spreads rigid jobs over providers, and moves them while they wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Coallocation {
    /// How a job that waits may move when a provider has become idle.
    pub policy: CoallocationPolicy,
    /// By what protocol its parts are got, each provider being asked for an equal one; without it, jobs
    /// are placed by the free times that providers publish, and a commit is never late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// For how long answers are awaited under a protocol before a try is given up, "1s" if not given; under
    /// "ordered", for ever if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<TimeSpan>,
    /// Time after which what is not answered is said again under a protocol; without it, nothing is: then no
    /// message may be lost, and nobody may crash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<TimeSpan>,
    /// What lies between two tries of a job under a protocol, "exponential" if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back_off: Option<BackOff>,
    /// How often a job is tried in vain, since others have taken the room, before it is given back.
    #[schemars(range(min = 1, max = 1000))]
    pub trials: u32,
    /// In which order requests of idle providers for moves are served; "by-provider" only where messages between them and
    /// the metascheduler take no time.
    pub requests: RequestOrder,
    /// Which provider gives as many processors as it can first.
    pub fill: FillRule,
    /// Fewest processors of a part of a job that is spread; a job that cannot be divided so runs at one provider, or
    /// is refused.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub part_min: u32,
    /// Over exactly how many providers each job is divided, also where it moves: as evenly as their free processors
    /// allow. A job that is too narrow for so many parts is refused. Without it, a job runs at one provider if that has
    /// room, and else over as many as it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1000))]
    pub parts: Option<u32>,
    /// By how many percent a job takes longer on several providers than on one, drawn for each job
    /// and rounded to whole percents.
    pub overhead: Law,
    /// The most that is drawn for `overhead`.
    #[schemars(range(min = 0, max = 1000))]
    pub overhead_max: u32,
}

impl Default for Coallocation {
    fn default() -> Coallocation {
        Coallocation {
            policy: CoallocationPolicy::default(),
            protocol: None,
            patience: None,
            retry: None,
            back_off: None,
            trials: TRIALS,
            requests: RequestOrder::default(),
            fill: FillRule::default(),
            part_min: 1,
            parts: None,
            overhead: Law::Poisson { mean: 20.0 },
            overhead_max: 25,
        }
    }
}

impl Coallocation {
    /// For how long answers are awaited.
    pub fn patience(&self) -> TimeSpan {
        self.patience.unwrap_or(TimeSpan(Span::from_secs(1)))
    }

    /// What lies between two tries.
    pub fn back_off(&self) -> BackOff {
        self.back_off.unwrap_or_default()
    }
}

/// How a job on several providers may move while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(transform = words_alone)]
pub enum CoallocationPolicy {
    /// Not at all.
    Rigid {},
    /// Its start becomes earlier, its parts stay where they are.
    Shift {},
    /// Its start becomes earlier, or other providers take its parts.
    ShiftRemap(Remapping),
}

impl Default for CoallocationPolicy {
    fn default() -> CoallocationPolicy {
        CoallocationPolicy::ShiftRemap(Remapping::default())
    }
}

impl CoallocationPolicy {
    /// How far a job may move.
    pub const fn moves(&self) -> Moves {
        match self {
            CoallocationPolicy::Rigid {} => Moves::Rigid,
            CoallocationPolicy::Shift {} => Moves::Shift,
            CoallocationPolicy::ShiftRemap(_) => Moves::ShiftRemap,
        }
    }

    /// The word in scenarios.
    pub const fn name(&self) -> &'static str {
        self.moves().name()
    }

    /// Which jobs are remapped to where; where none is, that does not matter.
    pub fn remapping(&self) -> Remapping {
        match self {
            CoallocationPolicy::ShiftRemap(it) => *it,
            _ => Remapping::default(),
        }
    }
}

/// Which jobs are remapped, and to where: the keys of policy "shift-remap".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Remapping {
    /// Which places are looked at for a job that may be remapped.
    pub remap: RemapRule,
    /// The share of jobs, drawn for each, that bear other providers than those they were placed at first;
    /// the others only start earlier.
    pub remappable: Share,
}

impl Default for Remapping {
    fn default() -> Remapping {
        Remapping { remap: RemapRule::default(), remappable: Share::ALL }
    }
}

/// What lies between two tries of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(transform = words_alone)]
pub enum BackOff {
    /// Nothing.
    None {},
    /// Always the same wait.
    Fixed(FixedWait),
    /// A wait that is drawn from a range which doubles with each try.
    Exponential(ExponentialWait),
}

impl Default for BackOff {
    fn default() -> BackOff {
        BackOff::Exponential(ExponentialWait::default())
    }
}

impl BackOff {
    /// What it stands for.
    pub const fn model(self) -> Model {
        match self {
            BackOff::None {} => Model::None,
            BackOff::Fixed(it) => Model::Fixed(it.wait.0),
            BackOff::Exponential(it) => Model::Exponential { first: it.wait.0, cap: it.wait_max.0 },
        }
    }
}

const WAIT: TimeSpan = TimeSpan(Span::from_micros(100_000));

/// The key of back-off "fixed".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct FixedWait {
    /// How long a job waits.
    pub wait: TimeSpan,
}

impl Default for FixedWait {
    fn default() -> FixedWait {
        FixedWait { wait: WAIT }
    }
}

/// The keys of back-off "exponential".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ExponentialWait {
    /// What the first wait is drawn below.
    pub wait: TimeSpan,
    /// The most that a wait is drawn below.
    pub wait_max: TimeSpan,
}

impl Default for ExponentialWait {
    fn default() -> ExponentialWait {
        ExponentialWait { wait: WAIT, wait_max: TimeSpan(Span::from_secs(60)) }
    }
}
