//! Admission of one more reservation, and the moves of others for it.
//!
//! The newcomer takes its place in the order of the criterion. Reservations before it keep their places. It
//! and all reservations behind it are placed one after the other, each at its first fit. If one behind it
//! finds no place, the two are swapped in the order and the search starts again, so the newcomer only ever
//! moves back. If the newcomer itself finds no place, its alternatives are tried.

use haggle_model::Time;

use super::offers::Order;
use super::options::{self, Alternative, Anchor};
use super::request::{Percent, Reserve, Size};
use super::{AfterAnchor, Booking, Granted, Reservations};
use crate::Profile;
use crate::dominated::Dominated;

/// Number of bookings to be placed from which on remembering searches pays off.
const DEEP: usize = 64;

/// A plan in which every booking has a place.
struct Placed {
    /// All bookings, in the order in which they were placed.
    list: Vec<Booking>,
    /// The place of the newcomer in it.
    newcomer: usize,
    profile: Profile,
    alternative: Option<Alternative>,
}

impl Reservations {
    /// Grants the first possible one: the reservation as requested, then alternatives no farther than
    /// `threshold`.
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
        Some(self.commit(now, first?))
    }

    /// Grants an alternative that was offered, by the order in which it was found. Returns `None` if it was
    /// not offered since the last change, or if it is too late for that plan.
    pub(super) fn admit_offered(
        &mut self,
        now: Time,
        request: &Reserve,
        alternative: Alternative,
    ) -> Option<Granted> {
        self.catch_up(now);
        let order = self.offers.find(request, alternative)?;
        let request = request.at(alternative);
        let mut list = self.waiting.clone();
        list.push(Booking { request, id: order.newcomer, start: now });
        order.sort(&mut list);
        let newcomer = list.iter().position(|booking| booking.id == order.newcomer)?;
        let mut profile = self.beside(now, &list[newcomer + 1..]);
        place_again(&mut profile, &mut list[newcomer..], now).ok()?;
        let alternative = Some(alternative);
        Some(self.commit(now, Placed { list, newcomer, profile, alternative }))
    }

    /// Makes `placed` the plan of the machine.
    fn commit(&mut self, now: Time, placed: Placed) -> Granted {
        let Placed { list, newcomer, profile, alternative } = placed;
        let start = list[newcomer].start;
        self.waiting = list;
        *self.plan.profile_mut() = profile;
        self.offers.forget();
        self.fix_due(now);
        Granted { start, alternative }
    }

    /// Up to `most` possible alternatives, nearest first, which are kept as offers.
    pub(super) fn possible(
        &mut self,
        now: Time,
        request: &Reserve,
        sizes: &[Size],
        threshold: Percent,
        most: usize,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Vec<Alternative> {
        let mut found: Vec<(Alternative, Order)> = Vec::new();
        let mut last: Option<(usize, Order)> = None;
        self.search(now, request, sizes, Some(threshold), draw, |placed| {
            let Placed { list, newcomer, alternative, .. } = placed;
            // The same alternative may be possible behind another booking, too.
            let is_new = |it: &Alternative| found.iter().all(|(other, _)| other != it);
            if let Some(alternative) = alternative.filter(is_new) {
                // The order depends on the newcomer's place only.
                let same = last.take().filter(|&(place, _)| place == newcomer);
                let (_, order) =
                    same.unwrap_or_else(|| (newcomer, Order::new(list[newcomer].id, &list)));
                last = Some((newcomer, order.clone()));
                found.push((alternative, order));
            }
            found.len() >= most
        });
        found.sort_unstable_by_key(|&(alternative, _)| alternative);
        for (alternative, order) in &found {
            self.offers.keep(now, request, *alternative, order.clone());
        }
        found.into_iter().map(|(alternative, _)| alternative).collect()
    }

    /// Calls `enough` with one possible plan after the other, until it returns `true`.
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
            // The request as it is comes first; alternatives are computed when it has failed.
            let asked = std::iter::once(None);
            let others = std::iter::once_with(alternatives).flatten().flatten().map(Some);
            let mut displaced = None;
            for alternative in asked.chain(others) {
                // Most alternatives have no room, which shows before bookings are placed again.
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
                    // The newcomer itself has no place: the next alternative may have one.
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

    /// Availability beside all bookings except these.
    fn beside(&self, now: Time, bookings: &[Booking]) -> Profile {
        let mut profile = self.plan.profile().clone();
        for booking in bookings {
            profile.remove(booking.start.max(now), booking.end(), booking.request.processors);
        }
        profile
    }

    /// Running reservations and the waiting ones in `before`, as anchors of alternatives.
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

/// Books one after the other at its first fit, the newcomer first; fails with the index of one without a
/// place. A waiting job without a deadline always has a place, if need be behind jobs without a limit.
fn place_again(profile: &mut Profile, list: &mut [Booking], now: Time) -> Result<(), usize> {
    let mut known = (list.len() >= DEEP).then(|| Dominated::new(profile.capacity()));
    for (index, booking) in list.iter_mut().enumerate() {
        let Reserve { processors, span, window, .. } = booking.request;
        let (from, latest) = (window.earliest(now), window.latest_start(span));
        // Most searches begin where an earlier search for a smaller job has ended, not at the front of the
        // plan.
        let bound = known.as_ref().map_or(from, |known| known.earliest(processors, span));
        let start = profile.earliest_fit_by(processors, span, from.max(bound), latest);
        // A search from a later time does not show that there is no earlier place.
        if let Some((known, start)) = known.as_mut().zip(start).filter(|_| from == now) {
            known.note(processors, span, start);
        }
        // A waiting job without a deadline is never refused, but the newcomer may be.
        let never = (index > 0 && !booking.has_deadline()).then_some(Time::FOREVER);
        let start = start.or(never).ok_or(index)?;
        profile.add(start, start + span, processors);
        booking.start = start;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use haggle_model::Span;
    use haggle_model::random::splitmix;
    use haggle_model::reservation::Remedy;

    use super::super::{Granting, ReservationConfig, Window};
    use super::*;
    use crate::scheduler::Slot;

    /// Blocks of the profile that the searches examine for this many requests in a row, all of which wait.
    fn looks(requests: u32) -> u64 {
        let mut queue = Reservations::new(256, ReservationConfig::default());
        let mut state = 1;
        let mut draw = |low: u64, high: u64| {
            state = splitmix(state);
            low + state % (high - low)
        };
        for slot in 0..requests {
            let now = Time::from_secs(i64::from(slot));
            let span = Span::from_secs(draw(3_600, 50_000) as i64);
            let deadline = now + span + Span::from_secs(86_400 * draw(1, 1_000) as i64);
            let request = Reserve {
                slot: Slot(slot),
                submitted: now,
                processors: draw(1, 65) as u32,
                span,
                window: Window { ready: None, deadline },
                fix_at: None,
                accepts: None,
                remedy: Remedy::Postpone,
            };
            assert!(queue.ask(now, &request, &[], &mut |_| 0).is_some());
        }
        queue.plan.profile().looks()
    }

    /// A request among n waiting ones places n / 2 of them again. A search from the front of the plan would
    /// examine as many blocks as there are. So all requests together would cost n³: 56 times as much for
    /// four times as many requests.
    #[test]
    fn searches_in_a_deep_queue_do_not_begin_at_its_front() {
        let (few, many) = (looks(250), looks(1_000));
        assert!(many < 32 * few, "{few} and {many}");
    }
}
