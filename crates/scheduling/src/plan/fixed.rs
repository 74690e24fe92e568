//! Parts of jobs and advance reservations on the plan: each keeps its place until it starts, moves, or is
//! taken out.
//!
//! An unforeseen event (processors fail, a job runs on) may take the processors of those that wait. Then all
//! are lifted, and laid again as far as there is room. A part without room is *displaced*. A reservation
//! without room gets another place in its window, or the fate that its request names.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::Time;
use haggle_model::reservation::Remedy;
use serde::{Deserialize, Serialize};

use super::extra::Extra;
use crate::reservations::{Displaced, Reserve};
use crate::scheduler::{BEYOND_ALL_LIMITS, Slot};
use crate::{Interval, Profile};

/// The parts and reservations that wait.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct FixedParts {
    waiting: BTreeMap<Slot, Part>,
    /// Planned starts; of equal starts the part held first comes first.
    starts: BTreeSet<(Time, u32, Slot)>,
    /// New places of parts that are about to move, and the processors kept for them.
    moves: BTreeMap<Slot, (Interval, Extra)>,
    /// Parts that have lost their places.
    displaced: Vec<Slot>,
    /// The requests of those that are reservations.
    requests: BTreeMap<Slot, Reserve>,
    /// Reservations that have lost their places.
    fates: Vec<(Slot, Displaced)>,
}

/// An unforeseen event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Processors fail.
    Failure,
    /// A job runs on.
    Overrun,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Part {
    place: Interval,
    /// Its place in the order in which parts were held.
    number: u32,
}

impl FixedParts {
    /// Returns whether no part waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn place(&self, slot: Slot) -> Option<Interval> {
        self.waiting.get(&slot).map(|part| part.place)
    }

    /// Start of the next part that has one.
    pub(super) fn next_start(&self) -> Option<Time> {
        self.starts.first().map(|&(start, ..)| start).filter(|&start| start < BEYOND_ALL_LIMITS)
    }

    /// The parts planned to start by this time, in order.
    pub(super) fn due(&self, by: Time) -> Vec<(Slot, Interval)> {
        let due = self.starts.iter().take_while(|&&(start, ..)| start <= by);
        due.map(|&(.., slot)| (slot, self.waiting[&slot].place)).collect()
    }

    /// Adds a part, which has been booked.
    pub(super) fn insert(&mut self, slot: Slot, place: Interval, number: u32) {
        self.starts.insert((place.start, number, slot));
        self.waiting.insert(slot, Part { place, number });
    }

    /// The part in a slot is a reservation.
    pub(super) fn reserve(&mut self, request: Reserve) {
        self.requests.insert(request.slot, request);
    }

    /// The request of a reservation.
    pub(super) fn request(&self, slot: Slot) -> Option<&Reserve> {
        self.requests.get(&slot)
    }

    /// A reservation has started or is taken out.
    pub(super) fn forget_request(&mut self, slot: Slot) {
        self.requests.remove(&slot);
    }

    /// Removes a part, whose booking stays; returns its place and its number.
    pub(super) fn remove(&mut self, slot: Slot) -> Option<(Interval, u32)> {
        let Part { place, number } = self.waiting.remove(&slot)?;
        self.starts.remove(&(place.start, number, slot));
        Some((place, number))
    }

    /// Returns whether a part is about to move.
    pub(super) fn moves(&self, slot: Slot) -> bool {
        self.moves.contains_key(&slot)
    }

    /// The parts about to move that are planned to start by now.
    pub(super) fn moves_due(&self, now: Time) -> Vec<Slot> {
        let is_due = |slot: &Slot| self.place(*slot).is_some_and(|place| place.start <= now);
        self.moves.keys().copied().filter(is_due).collect()
    }

    /// A part is about to move; the processors for that have been booked.
    pub(super) fn begin_move(&mut self, slot: Slot, to: Interval, extra: Extra) {
        self.moves.insert(slot, (to, extra));
    }

    /// A part does not move any more; returns its new place and the booked processors.
    pub(super) fn end_move(&mut self, slot: Slot) -> Option<(Interval, Extra)> {
        self.moves.remove(&slot)
    }

    /// Releases all parts; [`FixedParts::lay`] books them again after a change.
    pub(super) fn lift(&self, profile: &mut Profile, now: Time) {
        for (slot, Part { place, .. }) in &self.waiting {
            profile.remove(place.start.max(now), place.end(), place.processors);
            if let Some((_, extra)) = self.moves.get(slot) {
                extra.release(now, profile);
            }
        }
    }

    /// Books the parts again, in the order of their planned starts. A part has room if all its processors
    /// are free, and those for its move as well. A part without room is displaced. When all others have
    /// their places, a reservation without room gets another one.
    pub(super) fn lay(&mut self, profile: &mut Profile, now: Time, event: Event) {
        let lost = self.starts.iter().map(|&(.., slot)| slot);
        let lost = Vec::from_iter(lost.filter(|&slot| !self.keeps_place(profile, now, slot)));
        let mut hit = Vec::new();
        for slot in lost {
            let removed = self.remove(slot);
            self.moves.remove(&slot);
            match (removed, self.requests.remove(&slot)) {
                (Some((_, number)), Some(request)) => hit.push((request, number)),
                _ => self.displaced.push(slot),
            }
        }
        self.place_in_windows(profile, now, hit, event);
    }

    /// Places reservations again, within their windows while there is room. When all these have places,
    /// those that can wait behind their windows get the earliest free places.
    fn place_in_windows(
        &mut self,
        profile: &mut Profile,
        now: Time,
        hit: Vec<(Reserve, u32)>,
        event: Event,
    ) {
        let told = self.fates.len();
        let mut late = Vec::new();
        for (request, number) in hit {
            let seeks = event != Event::Failure || request.remedy != Remedy::Revoke;
            match request.first_fit(profile, now).filter(|_| seeks) {
                Some(start) => {
                    self.fates.push((request.slot, Displaced::Moved(start)));
                    self.book(profile, request, start, number);
                }
                None if seeks && request.waits_behind() => late.push((request, number)),
                None => self.fates.push((request.slot, Displaced::Out(request))),
            }
        }
        for (mut request, number) in late {
            if let Some(start) = request.postpone(profile, now) {
                self.fates.push((request.slot, Displaced::Postponed(start)));
                self.book(profile, request, start, number);
            }
        }
        // A request that is made again may take the time of jobs, so it is answered last.
        self.fates[told..].sort_by_key(|(_, it)| matches!(it, Displaced::Out(_)));
    }

    fn book(&mut self, profile: &mut Profile, request: Reserve, start: Time, number: u32) {
        let place = request.interval(start);
        profile.add(place.start, place.end(), place.processors);
        self.insert(request.slot, place, number);
        self.reserve(request);
    }

    /// Books a part again where it was if there is room; otherwise returns `false`.
    fn keeps_place(&self, profile: &mut Profile, now: Time, slot: Slot) -> bool {
        let Interval { start, processors, .. } = self.waiting[&slot].place;
        // A scheduler that was down may have missed the start of a reservation.
        if start < now && self.requests.contains_key(&slot) {
            return false;
        }
        // A part that should have started before now keeps the rest of its time.
        let (start, end) = (start.max(now), self.waiting[&slot].place.end());
        if !profile.add_if_free(start, end, processors) {
            return false;
        }
        let extra = self.moves.get(&slot).map(|(_, extra)| extra);
        let keeps = extra.is_none_or(|extra| extra.fits(now, profile));
        match extra.filter(|_| keeps) {
            Some(extra) => extra.book(now, profile),
            None if !keeps => profile.remove(start, end, processors),
            None => {}
        }
        keeps
    }

    /// Appends the parts that have lost their places since the last call.
    pub(super) fn take_displaced(&mut self, displaced: &mut Vec<Slot>) {
        displaced.append(&mut self.displaced);
    }

    /// Appends the reservations that have lost their places since the last call, in order.
    pub(super) fn take_fates(&mut self, fates: &mut Vec<(Slot, Displaced)>) {
        fates.append(&mut self.fates);
    }
}
