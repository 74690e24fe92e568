//! Backfilling of bags beside parts: all waiting work is booked, so only the rest is offered.

use std::borrow::Cow;

use haggle_model::Time;

use super::ConservativeBags;
use crate::Profile;
use crate::bags::Bargainer;
use crate::coallocation::KeepsParts;
use crate::plan::Plan;

impl KeepsParts for ConservativeBags {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn next_number(&mut self) -> u32 {
        self.accepted += 1;
        self.accepted as u32 - 1
    }

    fn offered(&mut self, now: Time) -> Cow<'_, Profile> {
        Cow::Borrowed(self.plan.profile_from(now))
    }

    fn jobs_move_up(&mut self, now: Time) {
        self.reschedule(now);
    }

    fn jobs_move_up_if_due(&mut self, now: Time) {
        self.reschedule(now);
    }
}
