//! Processors needed to move a booking to another interval while the present one is kept.

use haggle_model::Time;
use serde::{Deserialize, Serialize};

use crate::{Interval, Profile};

/// Processors that an interval needs beside another one, as (start, end, processors).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Extra([(Time, Time, u32); 3]);

impl Extra {
    /// To move from the booked interval `from` to `to`.
    pub(crate) fn new(from: Interval, to: Interval) -> Extra {
        Extra([
            // Before the present interval, while both overlap, and after it.
            (to.start, to.end().min(from.start), to.processors),
            (
                to.start.max(from.start),
                to.end().min(from.end()),
                to.processors.saturating_sub(from.processors),
            ),
            (to.start.max(from.end()), to.end(), to.processors),
        ])
    }

    /// Returns whether these processors are free from `now` on.
    pub(crate) fn fits(&self, now: Time, profile: &Profile) -> bool {
        self.0.iter().all(|&(start, end, more)| {
            let start = start.max(now);
            start >= end || more <= profile.min_free(start, end)
        })
    }

    /// Books these processors, which must be free from `now` on.
    pub(crate) fn book(&self, now: Time, profile: &mut Profile) {
        self.0.iter().for_each(|&(start, end, more)| profile.add(start.max(now), end, more));
    }

    /// Gives them back, from `now` on.
    pub(crate) fn release(&self, now: Time, profile: &mut Profile) {
        self.0.iter().for_each(|&(start, end, more)| profile.remove(start.max(now), end, more));
    }
}
