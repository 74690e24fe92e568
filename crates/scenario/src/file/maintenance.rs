//! `[[maintenance]]`: when providers close processors, which is known before.

use haggle_model::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Overlap;
use crate::quantity::{Name, TimeSpan};

/// Announced windows in which providers close processors, and around which schedulers plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Maintenance {
    /// Providers that close processors; without it, all.
    #[serde(default)]
    pub of: Vec<Name>,
    /// When the first window begins, from the start of the run.
    pub from: TimeSpan,
    /// When the first window is over.
    pub until: TimeSpan,
    /// Processors that are closed, those that are free when a window begins; without it, all of the
    /// provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub processors: Option<u32>,
    /// How long after the beginning of a window the next one begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<TimeSpan>,
    /// How many windows there are; 1 if not given.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub times: u32,
    /// How long before it begins each window is announced to the provider's scheduler; without it, all are
    /// known from the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<TimeSpan>,
    /// What becomes of a window if its time is promised to others when it is announced.
    #[serde(default)]
    pub overlap: Overlap,
}

impl Maintenance {
    /// When windows begin and end, from the start of the run, in order.
    pub fn windows(&self) -> impl Iterator<Item = (Span, Span)> {
        let every = self.every.map_or(Span::ZERO, |every| every.0);
        let after =
            move |number: u32| Span::from_micros(every.as_micros().saturating_mul(number.into()));
        let &Maintenance { from, until, times, .. } = self;
        (0..times).map(move |number| (from.0 + after(number), until.0 + after(number)))
    }
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}
