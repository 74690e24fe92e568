//! Urgent claims. A provider without room for an urgent claim takes processors back from claims
//! that are not urgent and have not started. The largest claims go first, until there is room
//! (KOALA, as described in Netto 2009, section 2.2.2).
//!
//! ```text
//!  urgent claim ──▶ no room ──▶ others hold enough ──▶ Preempted, to each whose claim is taken back
//!                      │                                   │
//!                      ▼ they do not                       ▼
//!                  Not-enough                           Claimed
//! ```

use haggle_agreements::AgreementId;
use haggle_model::Time;

use super::Provider;
use super::transactions::Booking;
use crate::Outbox;
use crate::protocol::transaction::Ask;
use crate::transaction::{Acts, Transaction};

impl Provider {
    /// Takes back claims for an urgent one. Returns `false` and changes nothing if all of them are
    /// not enough.
    pub(super) fn make_room(&mut self, now: Time, ask: &Ask, out: &mut Outbox) -> bool {
        if !ask.urgent {
            return false;
        }
        // Claims are held without a known end, so only room without an end counts.
        let mut room = self.parts_queue().free_for_ever(now);
        let mut taken = Vec::new();
        for (processors, id) in self.preemptible() {
            if room >= ask.processors {
                break;
            }
            room += processors;
            taken.push(id);
        }
        let enough = room >= ask.processors && !taken.is_empty();
        for id in taken.into_iter().filter(|_| enough) {
            self.preempt(now, id, out);
        }
        enough
    }

    /// Claims that may be taken back: the largest first, of equal ones the latest.
    fn preemptible(&self) -> Vec<(u32, AgreementId)> {
        let claims = |id: AgreementId| {
            let party = self.transactions.party(id).map(|it| &self.transactions.parties[it]);
            party.is_some_and(|it| matches!(it.transacting.transaction, Transaction::Claiming(_)))
        };
        let may_go = |(&id, &slot)| {
            let it = self.pieces.get::<Booking>(slot)?;
            let may_go = !it.ask.urgent && !it.may_begin && it.held.is_some() && claims(id);
            may_go.then_some((it.ask.processors, id))
        };
        let mut found: Vec<_> = self.transactions.bookings.iter().filter_map(may_go).collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        found
    }

    fn preempt(&mut self, now: Time, id: AgreementId, out: &mut Outbox) {
        let Some(party) = self.transactions.party(id) else { return };
        let mut acts = Acts::new();
        if self.transactions.parties[party].seat.preempt(now, id, &mut acts) {
            self.give_up_booking(now, id, out);
        }
        self.act(now, party, acts, out);
    }
}
