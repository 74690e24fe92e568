//! Bargaining: a metascheduler calls for offers for a bag of tasks (Netto 2009, chapter 6).
//!
//! ```text
//!   metascheduler                 provider
//!       │ ── Call ────────────────────▶ │
//!       │ ◀─── Offers (or NoAnswer) ─── │
//!       │ ◀── Probe ─────────────────── │  its plan has changed: the offers are stale
//!       │ ── Refresh ─────────────────▶ │
//!       │ ◀─────────────────── Offers ─ │
//! ```

use haggle_model::job::{HiddenRunTime, Lot};
use haggle_model::observation::DisclosedItem;
use haggle_model::{Disclosure, JobId, Span, Time};
use haggle_scheduling::composition::AnyView;
use serde::{Deserialize, Serialize};

use super::Tell;
use super::said::{Tells, protocol, said};

protocol! {
    /// Messages before a bag is agreed on.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum BargainMessage {
        /// Metascheduler to provider: what do you offer for this bag? Discloses the bag as its user
        /// describes it.
        Call(call: Box<Call>) => said("call").of(&call.job).tells(DisclosedItem::Bag),
        /// Provider to metascheduler: its offers, and the facts that the requested level adds.
        Offers(answer: Box<Answer>) => said("offers").of(&answer.job).tells(Tells::Offers(answer)),
        /// Provider to metascheduler: its plan has changed since it made offers for
        /// this bag. Discloses that it did.
        Probe {
            /// The bag.
            job: JobId,
            /// The answer with these offers; all before it are stale, too.
            answer: u32,
        } => said("probe").of(job).tells(DisclosedItem::Change),
        /// Metascheduler to provider: make your offers for this bag anew.
        Refresh {
            /// The bag.
            job: JobId,
        } => said("refresh").of(job),
    }
}

/// A metascheduler's call for offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The bag.
    pub job: JobId,
    /// Its tasks, each on one processor.
    pub tasks: u32,
    /// The user's estimate for one task on the reference processor.
    pub task_time: Span,
    /// The program itself: a provider that profiles runs it, and its machine will.
    pub program: HiddenRunTime,
    /// Determines the random numbers for the program, at any provider.
    pub lot: Lot,
    /// Deadline of the user; `None` = as early as possible.
    pub deadline: Option<Time>,
    /// Level up to which the provider is asked to disclose information.
    pub asks: Disclosure,
    /// True if offers are requested: a policy that places tasks in free time slots needs none.
    pub wants_offers: bool,
}

/// A provider's answer to a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Answer {
    /// The bag.
    pub job: JobId,
    /// Number of this answer to the call, from 1. It does not disclose how often the plan has
    /// changed.
    pub answer: u32,
    /// Time at which the offers were made, and time until which they can be taken up.
    pub valid: (Time, Time),
    /// Offers, and the other facts that the level includes.
    pub view: AnyView,
}

impl Answer {
    /// Reports the facts about its sender that its receiver learns.
    pub(super) fn disclose(&self, tell: &mut Tell<'_>) {
        let (view, level) = (&self.view, self.view.disclosure());
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let told = [
            (DisclosedItem::Offer, count(view.offers().len())),
            (DisclosedItem::Power, u32::from(level >= Disclosure::Power)),
            (DisclosedItem::Load, u32::from(level >= Disclosure::Load)),
            (DisclosedItem::FreeSlots, count(view.free_time().map_or(0, |it| it.slots.len()))),
            (DisclosedItem::Queue, count(view.queue().len())),
        ];
        for (item, count) in told.into_iter().filter(|&(_, count)| count > 0) {
            tell(item, count);
        }
    }
}
