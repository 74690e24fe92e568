//! `[metascheduler.coallocation]`: how rigid jobs are spread over providers.

use haggle_agreements::back_off::BackOff as Model;
use haggle_model::Span;
use haggle_scheduling::coallocation::{CoallocationPolicy as Moves, TRIALS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FillRule, Law, Protocol, RemapRule, RequestOrder, words_alone};
use crate::quantity::{Share, TimeSpan};

/// Co-allocation: spreads rigid jobs over providers, and moves them while they wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Coallocation {
    /// Moves of a waiting job when a provider has become idle.
    pub policy: CoallocationPolicy,
    /// Protocol by which the metascheduler obtains the parts of a job; each provider is asked for an equal part.
    /// Without it, jobs are placed by the free times that providers publish, and a commit is never late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Time to wait for answers under a protocol before a try is abandoned, "1s" if not given; under "ordered", without
    /// end if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<TimeSpan>,
    /// Time after which a message without answer is repeated; a reliable transport repeats lost messages itself. Without
    /// it, no message is repeated. Then no message may be lost, and no actor may crash. Without a protocol, it is for
    /// policy "rigid" only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<TimeSpan>,
    /// Wait between two tries of a job under a protocol, "exponential" if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back_off: Option<BackOff>,
    /// Number of tries that fail because others have taken the room, before a job is given back.
    #[schemars(range(min = 1, max = 1000))]
    pub trials: u32,
    /// Order in which requests of idle providers for moves are served; "by-provider" only where messages between them
    /// and the metascheduler take no time.
    pub requests: RequestOrder,
    /// Provider that is filled first with parts of a job.
    pub fill: FillRule,
    /// Fewest processors of a part of a job that is spread; a job that cannot be divided into such parts runs at one
    /// provider, or is refused.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub part_min: u32,
    /// Exact number of providers over which each job is divided, also after a move; its parts are as equal as the free
    /// processors allow. A job that is too narrow for so many parts is refused. Without it, a job runs at one provider
    /// if that has room, and otherwise over as many as needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1000))]
    pub parts: Option<u32>,
    /// Percent by which a job takes longer on several providers than on one, drawn for each job and rounded to whole
    /// percents.
    pub overhead: Law,
    /// Largest value drawn for `overhead`.
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
    /// Time to wait for answers.
    pub fn patience(&self) -> TimeSpan {
        self.patience.unwrap_or(TimeSpan(Span::from_secs(1)))
    }

    /// Wait between two tries.
    pub fn back_off(&self) -> BackOff {
        self.back_off.unwrap_or_default()
    }
}

/// Moves of a waiting job on several providers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(transform = words_alone)]
pub enum CoallocationPolicy {
    /// No moves.
    Rigid {},
    /// Its start becomes earlier, and its parts stay where they are.
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
    /// Kinds of moves that a job may make.
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

    /// Remapping of jobs; without meaning where no job is remapped.
    pub fn remapping(&self) -> Remapping {
        match self {
            CoallocationPolicy::ShiftRemap(it) => *it,
            _ => Remapping::default(),
        }
    }
}

/// Jobs that are remapped, and their new places: the keys of policy "shift-remap".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Remapping {
    /// Places examined for a job that may be remapped.
    pub remap: RemapRule,
    /// Share of jobs, drawn for each, that may move to other providers; the others only start earlier.
    pub remappable: Share,
}

impl Default for Remapping {
    fn default() -> Remapping {
        Remapping { remap: RemapRule::default(), remappable: Share::ALL }
    }
}

/// Wait between two tries of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(transform = words_alone)]
pub enum BackOff {
    /// No wait.
    None {},
    /// Always the same wait.
    Fixed(FixedWait),
    /// A wait drawn from a range that doubles with each try.
    Exponential(ExponentialWait),
}

impl Default for BackOff {
    fn default() -> BackOff {
        BackOff::Exponential(ExponentialWait::default())
    }
}

impl BackOff {
    /// The model that the key stands for.
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
    /// Wait of a job.
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
    /// Upper bound of the first draw.
    pub wait: TimeSpan,
    /// Largest upper bound of a draw.
    pub wait_max: TimeSpan,
}

impl Default for ExponentialWait {
    fn default() -> ExponentialWait {
        ExponentialWait { wait: WAIT, wait_max: TimeSpan(Span::from_secs(60)) }
    }
}
