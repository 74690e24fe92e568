//! Whether one more reservation can be granted, and what has to move for it.
//!
//! The newcomer takes its place in the order of the criterion. Who is before it stays where it is;
//! it and all behind it are placed one after the other, each at its first fit. If somebody behind
//! finds no place, the two change places in the order and all begins again, so that the newcomer
//! only ever moves back. If the newcomer itself finds none, its alternatives are tried.

use haggle_model::Time;

use super::options::{self, Alternative, Anchor};
use super::request::{Percent, Reserve, Size};
use super::{AfterAnchor, Booking, Granted, Reservations};
use crate::Profile;

/// A plan in which everybody has a place.
struct Placed {
    /// Everybody, in the order in which they were placed.
    list: Vec<Booking>,
    /// The place of the newcomer in it.
    newcomer: usize,
    profile: Profile,
    alternative: Option<Alternative>,
}

impl Reservations {
    /// Grants the first that is possible: the reservation as it is asked for, then alternatives no
    /// farther than `threshold`.
    pub(super) fn admit(
        &mut self,
        now: Time,
        request: &Reserve,
        sizes: &[Size],
        threshold: Option<Percent>,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted> {
        let mut first = None;
        self.search(now, request, sizes, threshold, draw, |placed| {
            first = Some(placed);
            true
        });
        let Placed { list, newcomer, profile, alternative } = first?;
        let start = list[newcomer].start;
        self.waiting = list;
        *self.plan.profile_mut() = profile;
        self.fix_due(now);
        Some(Granted { start, alternative })
    }

    /// Up to `most` alternatives that are possible, nearest first.
    pub(super) fn possible(
        &mut self,
        now: Time,
        request: &Reserve,
        sizes: &[Size],
        threshold: Percent,
        most: usize,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Vec<Alternative> {
        let mut found: Vec<Alternative> = Vec::new();
        self.search(now, request, sizes, Some(threshold), draw, |placed| {
            // The same may be possible behind somebody else, too.
            found.extend(placed.alternative.filter(|it| !found.contains(it)));
            found.len() >= most
        });
        found.sort_unstable();
        found
    }

    /// Calls `enough` with one possible plan after the other, until it has.
    fn search(
        &mut self,
        now: Time,
        request: &Reserve,
        sizes: &[Size],
        threshold: Option<Percent>,
        draw: &mut dyn FnMut(usize) -> usize,
        mut enough: impl FnMut(Placed) -> bool,
    ) {
        self.catch_up(now);
        let newcomer = Booking { request: *request, id: self.asked, start: now };
        self.asked += 1;
        let mut list = self.waiting.clone();
        list.push(newcomer);
        self.config.criterion.sort(&mut list, now, draw);
        let place = list.iter().position(|booking| booking.id == newcomer.id);
        let mut place = place.expect("it is in the list");
        loop {
            let base = self.beside(now, &list[place + 1..]);
            let alternatives = || {
                let anchors = self.anchors(&list[..place]);
                threshold
                    .map(|most| options::alternatives(request, sizes, now, &base, &anchors, most))
            };
            // As it was asked for first; alternatives are worked out when that has failed.
            let asked = std::iter::once(None);
            let others = std::iter::once_with(alternatives).flatten().flatten().map(Some);
            let mut displaced = None;
            for alternative in asked.chain(others) {
                // Most have no room, and nobody needs to be placed again to see that.
                let has_room =
                    |it: Alternative| it.processors <= base.min_free(it.start, it.completion);
                if !alternative.is_none_or(has_room) {
                    continue;
                }
                let mut list = list.clone();
                list[place].request = alternative.map_or(*request, |it| request.at(it));
                let mut profile = base.clone();
                match place_again(&mut profile, &mut list[place..], now) {
                    Ok(()) => {
                        if enough(Placed { list, newcomer: place, profile, alternative }) {
                            return;
                        }
                    }
                    Err(0) => {}
                    Err(behind) => {
                        displaced = Some(place + behind);
                        break;
                    }
                }
            }
            let Some(displaced) = displaced else { return };
            list.swap(place, displaced);
            place = displaced;
        }
    }

    /// Availability beside all that is booked but these, where they are booked now.
    fn beside(&self, now: Time, bookings: &[Booking]) -> Profile {
        let mut profile = self.plan.profile().clone();
        for booking in bookings {
            profile.remove(booking.start.max(now), booking.end(), booking.request.processors);
        }
        profile
    }

    /// What runs and what waits of `before`, as what alternatives may touch.
    fn anchors(&self, before: &[Booking]) -> Vec<Anchor> {
        let waiting = before.iter().map(|booking| Anchor {
            start: booking.start,
            completion: booking.end(),
            after: match self.config.after {
                AfterAnchor::Deadline => booking.request.window.deadline,
                AfterAnchor::Completion => booking.end(),
            },
        });
        self.firm_anchors().chain(waiting).collect()
    }
}

/// Books one after the other at its first fit, or says which one has none.
fn place_again(profile: &mut Profile, list: &mut [Booking], now: Time) -> Result<(), usize> {
    for (index, booking) in list.iter_mut().enumerate() {
        let Reserve { processors, span, window, .. } = booking.request;
        let (from, latest) = (window.earliest(now), window.latest_start(span));
        let start = profile.earliest_fit_by(processors, span, from, latest).ok_or(index)?;
        profile.add(start, start + span, processors);
        booking.start = start;
    }
    Ok(())
}
