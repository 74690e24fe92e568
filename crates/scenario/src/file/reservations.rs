//! Policy "reservations" of a provider: how it treats advance reservations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AfterAnchor, Criterion};
use crate::quantity::Share;

/// How a provider treats advance reservations: the keys of policy "reservations".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Reservations {
    /// In which order waiting reservations are planned again when one more is asked for.
    pub criterion: Criterion,
    /// Offers intervals beside a window without room, no farther than so many percent of the time that the work takes;
    /// without it, none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub threshold: Option<u32>,
    /// How many such intervals it offers at most.
    #[schemars(range(min = 1, max = 1_000))]
    pub alternatives: u32,
    /// Where such an interval begins behind a reservation that waits.
    pub after: AfterAnchor,
    /// Share of the waiting time, from the request to the planned start, after which the start moves no more; without
    /// it, starts may move until they come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix_at: Option<Share>,
    /// Whether what waits moves up when something ends early.
    pub compress: bool,
}

impl Default for Reservations {
    fn default() -> Reservations {
        Reservations {
            criterion: Criterion::default(),
            threshold: None,
            alternatives: 5,
            after: AfterAnchor::default(),
            fix_at: None,
            compress: true,
        }
    }
}
