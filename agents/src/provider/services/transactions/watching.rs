//! Watches of room, and the waits of jobs for each other.

use haggle_agreements::AgreementId;
use haggle_model::agreement::Waits;
use haggle_model::{Observation, Span, Time};
use haggle_scheduling::Slot;

use super::{Booking, Transactions, queue};
use crate::protocol::transaction::Ask;
use crate::provider::core::Turn;
use crate::transaction::Acts;

/// First start, processors, time.
type Size = (Time, u32, Span);

/// Knowledge of the room at one instant: the last size that fits, and the last that does not.
#[derive(Default)]
struct RoomSeen {
    fits: Option<Size>,
    lacks: Option<Size>,
}

impl RoomSeen {
    /// True or false if the answer follows from sizes seen before.
    pub(super) fn tells(&self, (from, processors, span): Size) -> Option<bool> {
        let less = |it: Size| it.0 == from && processors <= it.1 && span <= it.2;
        let more = |it: Size| it.0 == from && processors >= it.1 && span >= it.2;
        match (self.fits.is_some_and(less), self.lacks.is_some_and(more)) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }

    pub(super) fn saw(&mut self, size: Size, fits: bool) {
        *(if fits { &mut self.fits } else { &mut self.lacks }) = Some(size);
    }
}

impl Transactions {
    /// At the end of an instant with changes: waiting requests are considered again, and watchers
    /// are notified.
    pub(in crate::provider::services) fn room_may_have_changed(&mut self, turn: &mut Turn<'_>) {
        if !self.started || turn.core.mailbox.is_some() {
            return;
        }
        let waits = |slot: &Slot| {
            turn.core.pieces.get::<Booking>(*slot).is_some_and(|booking| !booking.is_lost)
        };
        let parts: Vec<Slot> = self.bookings.values().copied().filter(waits).collect();
        queue(turn.core).catch_up(turn.now, &parts);
        for party in 0..self.parties.len() {
            let mut acts = Acts::new();
            self.parties[party].seat.room_changed(turn.now, &mut acts);
            self.act(turn, party, acts);
        }
        self.look_around(turn);
    }

    /// Notifies watchers, records which jobs wait, and sets the next timer.
    pub(super) fn look_around(&mut self, turn: &mut Turn<'_>) {
        for (id, ask, fits) in self.news_for_watches(turn) {
            let Some(party) = self.party(id) else { continue };
            self.watches.insert(id, (ask, fits));
            let mut acts = Acts::new();
            self.parties[party].seat.available(turn.now, id, fits, &mut acts);
            self.act(turn, party, acts);
        }
        let jobs = &self.jobs;
        let edge =
            |(who, whom): (AgreementId, AgreementId)| Some((*jobs.get(&who)?, *jobs.get(&whom)?));
        let waits = self.parties.iter().flat_map(|party| party.seat.waits());
        let waits: Waits = waits.filter_map(edge).collect();
        if waits != self.waits {
            turn.out.observe(Observation::Waiting(waits.clone()));
            self.waits = waits;
        }
        self.set_agreement_timer(turn);
    }

    /// Watches whose last answer is not true any more.
    pub(super) fn news_for_watches(
        &mut self,
        turn: &mut Turn<'_>,
    ) -> Vec<(AgreementId, Ask, bool)> {
        let mut news = Vec::new();
        // Many watches ask for the same room, or for more or less of it, so one answer often
        // implies others.
        let mut room = RoomSeen::default();
        let watches = std::mem::take(&mut self.watches);
        for (&id, &(ask, before)) in &watches {
            let size = (ask.from.max(turn.now), ask.processors, ask.span);
            let fits = room.tells(size).unwrap_or_else(|| {
                let fits = self.has_room(turn, &ask);
                room.saw(size, fits);
                fits
            });
            if fits != before {
                news.push((id, ask, fits));
            }
        }
        self.watches = watches;
        news
    }
}
