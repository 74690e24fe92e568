//! Earliest deadline first beside parts: the plan in force keeps every promise, so only the rest is offered.

use std::borrow::Cow;

use haggle_model::Time;

use super::Edf;
use crate::Profile;
use crate::coallocation::KeepsParts;
use crate::plan::Plan;

/// Work that comes later is placed beside the parts. If work cannot be placed again around them within its
/// promises, it keeps its places.
impl KeepsParts for Edf {
    fn plan(&self) -> &Plan {
        self.queue.plan()
    }

    fn next_number(&mut self) -> u32 {
        self.numbered += 1;
        self.numbered - 1
    }

    fn offered(&mut self, now: Time) -> Cow<'_, Profile> {
        self.queue.forget_before(now);
        let mut offered = self.queue.beside_all();
        offered.forget_before(now);
        Cow::Owned(offered)
    }

    fn jobs_move_up(&mut self, now: Time) {
        self.catch_up(now);
    }

    fn jobs_move_up_if_due(&mut self, now: Time) {
        self.catch_up(now);
    }

    fn take_offered(&mut self, _take: impl Fn(&mut Profile)) {
        // Waiting work keeps its places, and saved availabilities lack the part.
        self.queue.outdate();
    }
}
