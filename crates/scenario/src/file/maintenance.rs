//! `[[maintenance]]`: when providers close processors, which is known before.

use haggle_model::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Overlap;
use crate::quantity::{Name, TimeSpan};

/// Announced windows in which providers close processors; schedulers plan around them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Maintenance {
    /// Providers that close processors; without it, all.
    #[serde(default)]
    pub of: Vec<Name>,
    /// Beginning of the first window, from the start of the run.
    pub from: TimeSpan,
    /// End of the first window.
    pub until: TimeSpan,
    /// Number of processors that are closed, those that are free at the beginning of a window; without it, all of the
    /// provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub processors: Option<u32>,
    /// Time from the beginning of a window to the beginning of the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<TimeSpan>,
    /// Number of windows; 1 if not given.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub times: u32,
    /// Time from the announcement of a window to the provider's scheduler until its beginning; without it, all windows
    /// are known from the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<TimeSpan>,
    /// Treatment of a window whose time is promised to other jobs when it is announced.
    #[serde(default)]
    pub overlap: Overlap,
}

impl Maintenance {
    /// Announcement of the first window, from the start of the run.
    pub fn first_announced(&self) -> Span {
        self.notice.map_or(Span::ZERO, |notice| (self.from.0 - notice.0).max(Span::ZERO))
    }

    /// Beginnings and ends of the windows, from the start of the run, in order.
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
