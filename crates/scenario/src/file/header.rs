//! `[scenario]`: what a scenario is called, its seed and its clock.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EventsOrder;
use crate::quantity::{Name, TimeSpan};

/// The largest seed. Below 2^53, so that JSON readers of any language get the same number.
pub const SEED_MAX: u64 = 9_000_000_000_000_000;

/// The seed `steps` after `first`. The largest seed is followed by 0, so that a scenario may have each of them.
pub fn seed_after(first: u64, steps: u64) -> u64 {
    let seed = (u128::from(first) + u128::from(steps)) % (u128::from(SEED_MAX) + 1);
    u64::try_from(seed).unwrap_or(SEED_MAX)
}

/// Name of the scenario, its seed, and the end of arrivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Header {
    /// Name of the scenario; without one, the name of its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Purpose of the scenario.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Another scenario in the same folder; this one changes a part of it.
    #[serde(skip_serializing)]
    pub extends: Option<String>,
    /// Master seed of all randomness; replication n uses seed + n.
    #[schemars(range(min = 0, max = SEED_MAX))]
    pub seed: u64,
    /// Jobs submitted at this time or later never arrive; without it, all do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<TimeSpan>,
    /// End of the run, even if jobs still wait, run or have not been submitted; without it, the run ends when every job
    /// has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub horizon: Option<TimeSpan>,
    /// Order of an arrival and a completion at the same instant.
    pub events_order: EventsOrder,
}

impl Default for Header {
    fn default() -> Header {
        // The seed is fixed, not drawn: what was run yesterday must come out today.
        Header {
            name: None,
            description: None,
            extends: None,
            seed: 1,
            until: None,
            horizon: None,
            events_order: EventsOrder::default(),
        }
    }
}
