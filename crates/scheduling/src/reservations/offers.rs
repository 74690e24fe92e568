//! Alternatives that were offered, each with the order of the plan in which it was found.
//!
//! A plan with a place for every booking follows from the present places and from the order in which
//! bookings are placed. So an offer keeps this order and no plan. While nothing changes, the same order
//! gives the same plan, and an alternative that is taken is granted. Jobs without a deadline may be
//! submitted and start in the meantime, because they are placed last.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_model::Time;
use serde::{Deserialize, Serialize};

use super::{Alternative, Booking, Reserve};
use crate::scheduler::Slot;

/// Number of offers up to which late ones are not dropped.
const FEW: usize = 64;

/// One alternative to one request.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Offer {
    request: Reserve,
    alternative: Alternative,
    order: Order,
}

/// The order in which bookings were placed, including the newcomer; by their numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) newcomer: u64,
    all: Arc<[u64]>,
}

impl Order {
    pub(super) fn new(newcomer: u64, list: &[Booking]) -> Order {
        Order { newcomer, all: list.iter().map(|booking| booking.id).collect() }
    }

    /// Sorts bookings in this order, later requests behind them.
    pub(super) fn sort(&self, list: &mut [Booking]) {
        let ranks: BTreeMap<u64, usize> = self.all.iter().copied().zip(0..).collect();
        let rank = |it: &Booking| ranks.get(&it.id).copied().unwrap_or(usize::MAX);
        list.sort_by_cached_key(|it| (rank(it), it.request.submitted, it.id));
    }
}

/// All offers since the last change.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Offers {
    all: Vec<Offer>,
    /// Number of offers left when the late ones were last dropped.
    in_time: usize,
}

impl Offers {
    /// Keeps an offer. Requests are compared by their contents, not by their slots.
    pub(super) fn keep(
        &mut self,
        now: Time,
        request: &Reserve,
        alternative: Alternative,
        order: Order,
    ) {
        if self.all.len() > FEW.max(2 * self.in_time) {
            self.all.retain(|it| it.alternative.start >= now);
            self.in_time = self.all.len();
        }
        self.all.push(Offer { request: anyone(request), alternative, order });
    }

    /// The order in which an alternative to a request was found, if it was offered.
    pub(super) fn find(&self, request: &Reserve, alternative: Alternative) -> Option<Order> {
        let request = anyone(request);
        let is_it = |it: &&Offer| it.alternative == alternative && it.request == request;
        // Of equal offers, the latest one counts.
        self.all.iter().rev().find(is_it).map(|it| it.order.clone())
    }

    /// Drops all offers, because something has changed.
    pub(super) fn forget(&mut self) {
        self.all.clear();
        self.in_time = 0;
    }
}

/// The request without its slot.
fn anyone(request: &Reserve) -> Reserve {
    Reserve { slot: Slot(0), ..*request }
}
