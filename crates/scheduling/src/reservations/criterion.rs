//! The order in which waiting reservations are planned again for a new request.
//!
//! The criterion orders the reservations with a deadline among themselves. Jobs without a deadline come behind all
//! of them, in the order of submission: they can wait, so a reservation is never refused for their sake.

use std::cmp::Reverse;

use haggle_model::Time;

use super::Booking;

haggle_model::words! {
    /// Order in which waiting reservations are planned; of equals, the one that was submitted first.
    #[derive(Default)]
    pub enum Criterion {
        /// Drawn anew at each request for a reservation.
        Shuffle = "shuffle",
        /// The reservation that was submitted first.
        Fifo = "fifo",
        /// The biggest job, in processor-seconds.
        Bjf = "bjf",
        /// The least flexible: the one whose start can be delayed least.
        Lff = "lff",
        /// The reservation with the earliest deadline.
        #[default]
        Edf = "edf",
    }
}

impl Criterion {
    /// Sorts bookings, jobs without a deadline last, independently of their present order. `draw` returns a
    /// number below its argument.
    pub(super) fn sort(
        self,
        bookings: &mut [Booking],
        now: Time,
        draw: &mut dyn FnMut(usize) -> usize,
    ) {
        self.sort_all(bookings, now, draw);
        let behind = |it: &Booking| (it.request.submitted, it.id);
        // The sort is stable: reservations, which have no key here, stay in their order.
        bookings.sort_by_key(|it| (!it.has_deadline()).then(|| behind(it)));
    }

    fn sort_all(self, bookings: &mut [Booking], now: Time, draw: &mut dyn FnMut(usize) -> usize) {
        let first = |it: &Booking| (it.request.submitted, it.id);
        match self {
            Criterion::Fifo => bookings.sort_unstable_by_key(first),
            Criterion::Edf => {
                bookings.sort_unstable_by_key(|it| (it.request.window.deadline, first(it)));
            }
            Criterion::Lff => bookings.sort_unstable_by_key(|it| {
                (it.request.window.flexibility(it.request.span, now), first(it))
            }),
            Criterion::Bjf => bookings.sort_unstable_by_key(|it| {
                let span = it.request.span.as_micros() as u128;
                (Reverse(u128::from(it.request.processors) * span), first(it))
            }),
            Criterion::Shuffle => {
                // A fixed order first, so that the draws alone determine the result.
                bookings.sort_unstable_by_key(first);
                for last in (1..bookings.len()).rev() {
                    let place = draw(last + 1);
                    assert!(place <= last, "a draw is below its bound");
                    bookings.swap(place, last);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use haggle_model::Span;
    use haggle_model::reservation::Remedy;

    use super::*;
    use crate::reservations::{Reserve, Window};
    use crate::scheduler::Slot;

    /// Submitted, processors, span, ready time, deadline.
    type Row = (i64, u32, i64, Option<i64>, i64);

    const TABLE: [Row; 5] = [
        (10, 4, 50, Some(120), 200),
        (20, 8, 20, Some(150), 170),
        (30, 2, 200, None, 400),
        (40, 16, 10, Some(90), 300),
        (50, 1, 120, Some(110), 260),
    ];

    fn sorted(criterion: Criterion, draw: &mut dyn FnMut(usize) -> usize) -> String {
        sorted_rows(criterion, &TABLE, draw)
    }

    fn sorted_rows(
        criterion: Criterion,
        table: &[Row],
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> String {
        let booking = |(id, &(submitted, processors, span, ready, deadline)): (u64, &Row)| {
            let time = Time::from_micros;
            let window = Window { ready: Option::map(ready, time), deadline: time(deadline) };
            let request = Reserve {
                slot: Slot(id as u32),
                submitted: time(submitted),
                processors,
                span: Span::from_micros(span),
                window,
                fix_at: None,
                accepts: None,
                remedy: Remedy::Postpone,
            };
            Booking { request, id, start: Time::ZERO }
        };
        // The result must not depend on the order before.
        let mut bookings: Vec<Booking> = (0..).zip(table).map(booking).collect();
        bookings.rotate_left(2);
        criterion.sort(&mut bookings, Time::from_micros(100), draw);
        bookings.iter().map(|it| char::from(b'A' + it.id as u8)).collect()
    }

    #[test]
    fn the_orders_of_a_table() {
        let by = |criterion| sorted(criterion, &mut |_| unreachable!("only the shuffle draws"));
        assert_eq!(by(Criterion::Fifo), "ABCDE");
        assert_eq!(by(Criterion::Bjf), "CABDE");
        assert_eq!(by(Criterion::Lff), "BAECD");
        assert_eq!(by(Criterion::Edf), "BAEDC");
    }

    /// The first job of the table is the first in the orders of arrival and is large: without a deadline it is last.
    #[test]
    fn jobs_without_a_deadline_come_last_in_every_order() {
        let forever = Time::FOREVER.as_micros();
        let mut table = TABLE;
        (table[0].4, table[2].4) = (forever, forever);
        for criterion in Criterion::ALL {
            let order = sorted_rows(criterion, &table, &mut |below| below / 2);
            let last: String = order.chars().skip(3).collect();
            assert_eq!(last, "AC", "{criterion:?}: {order}");
        }
    }

    #[test]
    fn a_shuffle_asks_for_a_place_among_those_left() {
        let mut asked = Vec::new();
        let mut first = |below| {
            asked.push(below);
            0
        };
        assert_eq!(sorted(Criterion::Shuffle, &mut first), "BCDEA");
        assert_eq!(asked, [5, 4, 3, 2]);
        assert_eq!(sorted(Criterion::Shuffle, &mut |below| below - 1), "ABCDE");
    }
}
