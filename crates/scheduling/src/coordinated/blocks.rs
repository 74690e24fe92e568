//! Shares whose tasks start together, like a rigid job.
//!
//! A block is a batch of its entry: it is planned, moved and started as a whole. A share with more tasks
//! than the machine has processors consists of blocks as wide as the machine, and one block for the rest.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::ConservativeBags;
use super::entry::{Entry, Kind};
use crate::bags::{BagRequest, Batch, Offer, merge};
use crate::placing::place;
use crate::profile::Profile;
use crate::scheduler::{Slot, promise};

/// How shares of bags are planned.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub enum Shares {
    /// Every task at its own earliest fit.
    #[default]
    Tasks,
    /// All tasks at one start. Tasks that were lost with their processors form a block of their own, as do
    /// tasks placed in free time slots with the same start.
    Blocks,
}

impl Shares {
    /// Books `tasks` of a share from `from` on and returns the batches, in order of start.
    pub(super) fn place(
        self,
        profile: &mut Profile,
        span: Span,
        tasks: u32,
        from: Time,
    ) -> Vec<Batch> {
        match self {
            Shares::Tasks => place(profile, 1, span, tasks, from),
            Shares::Blocks => place_blocks(profile, span, tasks, from),
        }
    }
}

/// Places every block at its earliest fit, the full ones first.
fn place_blocks(profile: &mut Profile, span: Span, tasks: u32, from: Time) -> Vec<Batch> {
    let (mut blocks, mut left) = (Vec::new(), tasks);
    while left > 0 {
        let tasks = left.min(profile.capacity());
        let placed = place(profile, tasks, span, 1, from);
        blocks.extend(placed.into_iter().map(|Batch { start, .. }| Batch { start, tasks }));
        left -= tasks;
    }
    blocks.sort_unstable();
    blocks
}

impl ConservativeBags {
    /// Offers for blocks: each size on its own, because a wider block may not fit where a smaller one does.
    pub(super) fn offer_blocks(&self, now: Time, bag: &BagRequest) -> Vec<Offer> {
        let mut offers = Vec::new();
        for tasks in self.fractions.sizes(bag.tasks) {
            let mut profile = self.plan.profile().clone();
            let blocks = place_blocks(&mut profile, bag.span, tasks, now.max(bag.earliest));
            let completion = blocks.last().map_or(now, |last| last.start + bag.span);
            let completion = promise(completion).unwrap_or(Time::FOREVER);
            merge(&mut offers, Offer { tasks, completion });
        }
        offers
    }

    /// Returns whether the batches of an entry are blocks.
    pub(super) fn is_in_blocks(&self, slot: Slot) -> bool {
        self.shares == Shares::Blocks && self.entries.in_use(slot).kind == Kind::Share
    }

    /// Moves blocks of one entry, in order of start, to their earliest fits one after the other. No
    /// processor is free before `open`. The openings do not note the time that the blocks leave.
    pub(super) fn move_blocks_up(&mut self, open: Time, slot: Slot, blocks: &[Batch]) {
        let &Entry { span, earliest, .. } = self.entries.in_use(slot);
        let from = open.max(earliest);
        for &Batch { start, tasks } in blocks {
            let mut left = tasks;
            while left > 0 {
                // Blocks without a planned start are in one batch, and may not fit together.
                let block = left.min(self.plan.profile().capacity());
                self.effort.searches += 1;
                let profile = self.plan.profile_mut();
                let Some(fit) = profile.earlier_fit(block, span, from, start) else { break };
                profile.remove(start, start + span, block);
                profile.add(fit.start, fit.start + span, block);
                self.entries.change(slot, |entry| entry.move_up(start, fit.start, block));
                self.effort.moves += 1;
                self.effort.moved += u64::from(block);
                left -= block;
            }
        }
    }
}
