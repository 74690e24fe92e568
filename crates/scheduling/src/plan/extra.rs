//! Processors needed to move a booking to another interval while the present one is kept.

use haggle_model::Time;

use crate::{Interval, Profile};

/// Processors that an interval needs beside another one, as (start, end, processors).
#[derive(Clone, Copy, Debug)]
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

    /// Returns whether these processors are free.
    pub(crate) fn has_room(&self, profile: &Profile) -> bool {
        let has_room = |&(start, end, more)| start >= end || more <= profile.min_free(start, end);
        self.0.iter().all(has_room)
    }

    /// Books them.
    pub(crate) fn book(&self, profile: &mut Profile) {
        self.0.iter().for_each(|&(start, end, more)| profile.add(start, end, more));
    }

    /// Gives them back, from `now` on.
    pub(crate) fn release(&self, now: Time, profile: &mut Profile) {
        self.0.iter().for_each(|&(start, end, more)| profile.remove(start.max(now), end, more));
    }
}
