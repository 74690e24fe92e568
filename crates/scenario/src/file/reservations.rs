//! Policy "reservations" of a provider: how it treats advance reservations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AfterAnchor, Criterion};
use crate::quantity::Share;

/// Treatment of advance reservations by a provider: the keys of policy "reservations".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Reservations {
    /// Order in which waiting reservations are planned again when another one is requested.
    pub criterion: Criterion,
    /// Largest distance, in percent of the time that the work takes, of an interval that is offered beside a window
    /// without room; without it, none is offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub threshold: Option<u32>,
    /// Most such intervals that the provider offers.
    #[schemars(range(min = 1, max = 1_000))]
    pub alternatives: u32,
    /// Beginning of such an interval behind a waiting reservation.
    pub after: AfterAnchor,
    /// Share of the waiting time, from the request to the planned start, after which the start is fixed; without it,
    /// starts may move until they come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix_at: Option<Share>,
    /// True if waiting jobs move to earlier starts when a job ends early.
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
