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

use super::{Booking, Transactions};
use crate::protocol::transaction::Ask;
use crate::provider::core::{Core, Turn};
use crate::transaction::{Acts, Transaction};

impl Transactions {
    /// Takes back claims for an urgent one. Returns `false` and changes nothing if all of them are
    /// not enough.
    pub(super) fn make_room(&mut self, turn: &mut Turn<'_>, ask: &Ask) -> bool {
        if !ask.urgent {
            return false;
        }
        // Claims are held without a known end, so only room without an end counts.
        let mut room = super::queue(turn.core).free_for_ever(turn.now);
        let mut taken = Vec::new();
        for (processors, id) in self.preemptible(turn.core) {
            if room >= ask.processors {
                break;
            }
            room += processors;
            taken.push(id);
        }
        let enough = room >= ask.processors && !taken.is_empty();
        for id in taken.into_iter().filter(|_| enough) {
            self.preempt(turn, id);
        }
        enough
    }

    /// Claims that may be taken back: the largest first, of equal ones the latest.
    fn preemptible(&self, core: &Core) -> Vec<(u32, AgreementId)> {
        let claims = |id: AgreementId| {
            let party = self.party(id).map(|it| &self.parties[it]);
            party.is_some_and(|it| matches!(it.transacting.transaction, Transaction::Claiming(_)))
        };
        let may_go = |(&id, &slot)| {
            let it = core.pieces.get::<Booking>(slot)?;
            let may_go = !it.ask.urgent && !it.may_begin && it.held.is_some() && claims(id);
            may_go.then_some((it.ask.processors, id))
        };
        let mut found: Vec<_> = self.bookings.iter().filter_map(may_go).collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        found
    }

    fn preempt(&mut self, turn: &mut Turn<'_>, id: AgreementId) {
        let Some(party) = self.party(id) else { return };
        let mut acts = Acts::new();
        if self.parties[party].seat.preempt(turn.now, id, &mut acts) {
            self.give_up_booking(turn, id);
        }
        self.act(turn, party, acts);
    }
}
