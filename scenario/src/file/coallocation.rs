//! `[metascheduler.coallocation]`: how rigid jobs are spread over providers.

use haggle_scheduling::coallocation::TRIALS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CoallocationPolicy, FillRule, Law, Protocol, RemapRule};
use crate::quantity::Share;

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
    /// Which provider gives as many processors as it can first.
    pub fill: FillRule,
    /// Fewest processors of a part of a job that is spread; a job that cannot be divided so runs at one provider, or
    /// is refused.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub part_min: u32,
    /// Which places are looked at for a job that may be remapped.
    pub remap: RemapRule,
    /// The share of jobs, drawn for each, that bear other providers than those they were placed at first;
    /// the others only start earlier.
    pub remappable: Share,
    /// By how many percent a job takes longer on several providers than on one, drawn for each job
    /// and rounded to whole percents.
    pub overhead: Law,
    /// The most that is drawn for `overhead`.
    #[schemars(range(min = 0, max = 1000))]
    pub overhead_max: u32,
    /// How often a job is tried in vain, since others have taken the room, before it is given back.
    #[schemars(range(min = 1, max = 1000))]
    pub trials: u32,
}

impl Default for Coallocation {
    fn default() -> Coallocation {
        Coallocation {
            policy: CoallocationPolicy::default(),
            protocol: None,
            fill: FillRule::default(),
            part_min: 1,
            remap: RemapRule::default(),
            remappable: Share::ALL,
            overhead: Law::Poisson { mean: 20.0 },
            overhead_max: 25,
            trials: TRIALS,
        }
    }
}
