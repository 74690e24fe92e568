//! The availability profile against a plain list of bookings.

use std::collections::BTreeMap;

use haggle_model::{Span, Time};
use haggle_scheduling::Profile;
use haggle_testing::{at_micros, micros};
use proptest::prelude::*;

use crate::obvious::{Booked, ObviousProfile};

#[derive(Clone, Debug)]
enum Step {
    /// Book at the earliest fit.
    Book { processors: u32, span: i64, from: i64 },
    /// Give back one of the bookings, from a share of its length on.
    GiveBack { which: usize, percent: i64 },
    /// The same for every n-th booking at once.
    GiveBackMany { every: usize, percent: i64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let book = (1..=16_u32, 1..=40_i64, 0..=200_i64)
        .prop_map(|(processors, span, from)| Step::Book { processors, span, from });
    let give_back =
        (any::<usize>(), 0..100_i64).prop_map(|(which, percent)| Step::GiveBack { which, percent });
    let give_back_many =
        (1..9_usize, 0..100_i64).prop_map(|(every, percent)| Step::GiveBackMany { every, percent });
    prop::collection::vec(prop_oneof![30 => book, 10 => give_back, 1 => give_back_many], 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_answer_is_that_of_a_list_of_bookings(steps in steps(), queries in prop::collection::vec((1..=17_u32, 1..=60_i64, 0..=300_i64), 20)) {
        let mut fast = Profile::new(16);
        let mut obvious = ObviousProfile { capacity: 16, booked: Vec::new() };
        for step in steps {
            match step {
                Step::Book { processors, span, from } => {
                    let start = obvious.earliest_fit(processors, span, from).expect("fits");
                    let fit = fast.earliest_fit(processors, micros(span), at_micros(from));
                    prop_assert_eq!(fit, Some(at_micros(start)));
                    fast.add(at_micros(start), at_micros(start + span), processors);
                    obvious.booked.push(Booked { start, end: start + span, processors });
                }
                Step::GiveBack { which, percent } if !obvious.booked.is_empty() => {
                    let index = which % obvious.booked.len();
                    let booked = &mut obvious.booked[index];
                    let cut = booked.start + (booked.end - booked.start) * percent / 100;
                    fast.remove(at_micros(cut), at_micros(booked.end), booked.processors);
                    booked.end = cut;
                    if booked.start == cut {
                        obvious.booked.swap_remove(index);
                    }
                }
                Step::GiveBack { .. } => {}
                Step::GiveBackMany { every, percent } => {
                    let mut bends: BTreeMap<Time, i32> = BTreeMap::new();
                    for booked in obvious.booked.iter_mut().step_by(every) {
                        let cut = booked.start + (booked.end - booked.start) * percent / 100;
                        *bends.entry(at_micros(cut)).or_default() += booked.processors as i32;
                        *bends.entry(at_micros(booked.end)).or_default() -= booked.processors as i32;
                        booked.end = cut;
                    }
                    fast.change_course(bends.into_iter().filter(|&(_, by)| by != 0));
                    obvious.booked.retain(|booked| booked.start < booked.end);
                }
            }
        }
        for &(processors, span, from) in &queries {
            let length = micros(span);
            let fit = obvious.earliest_fit(processors, span, from).map(at_micros);
            prop_assert_eq!(fast.earliest_fit(processors, length, at_micros(from)), fit);
            prop_assert_eq!(fast.min_free(at_micros(from), at_micros(from + span)), obvious.min_free(from, from + span));
            prop_assert_eq!(fast.free_at(at_micros(from)), obvious.free_at(from));
            // The reach holds exactly the touching stretches that are free enough.
            let free = |time: i64| obvious.free_at(time) >= processors;
            let touching: Vec<i64> = (from..from + span).filter(|&t| free(t)).collect();
            let hull = touching.first().zip(touching.last()).map(|(&first, &last)| {
                let left = (0..=first).rev().take_while(|&t| free(t)).last().expect("first is free");
                let right = (last..2_000_000).find(|&t| !free(t) || t > 100_000).expect("ends");
                (at_micros(left), if right > 100_000 { Time::FOREVER } else { at_micros(right) })
            });
            prop_assert_eq!(fast.reach(processors, at_micros(from), at_micros(from + span), at_micros(0)), hull);
        }
        // The steps from any time on cover that time and all later times.
        for from in (0..300).step_by(7) {
            let steps: Vec<(Time, u32)> = fast.steps_from(at_micros(from)).collect();
            let ends = steps[1..].iter().map(|&(end, _)| end).chain([at_micros(300)]);
            for (&(start, free), end) in steps.iter().zip(ends) {
                let covered = start.max(at_micros(from)).as_micros()..end.min(at_micros(300)).as_micros();
                prop_assert!(covered.clone().all(|time| obvious.free_at(time) == free), "{:?}", covered);
            }
            prop_assert!(steps[0].0 <= at_micros(from) && steps[1..].iter().all(|&(start, _)| start > at_micros(from)));
        }
        // A booking tries to start earlier: as if it were lifted out first.
        for index in 0..obvious.booked.len().min(10) {
            let booked = obvious.booked[index];
            let mut lifted = obvious.clone();
            lifted.booked.swap_remove(index);
            let span = booked.end - booked.start;
            let earlier = lifted.earliest_fit(booked.processors, span, 0).filter(|&t| t < booked.start);
            let before = at_micros(booked.start);
            let fit = fast.earlier_fit(booked.processors, micros(span), at_micros(0), before);
            prop_assert_eq!(fit.map(|fit| fit.start), earlier.map(at_micros));
            if let Some(fit) = fit {
                let until = (fit.start + micros(span)).min(at_micros(booked.start));
                prop_assert_eq!(fit.free, fast.min_free(fit.start, until));
            }
        }
        // A stretch that is cut out is gone, and everything behind it comes earlier.
        for (_, span, from) in queries {
            let mut shorter = fast.clone();
            shorter.cut(at_micros(from), at_micros(from + span));
            let mut times = (0..from).map(|time| (time, time)).chain((from..500).map(|time| (time, time + span)));
            prop_assert!(times.all(|(time, was)| shorter.free_at(at_micros(time)) == fast.free_at(at_micros(was))));
            let least = (0..900).map(|time| shorter.free_at(at_micros(time))).min();
            prop_assert_eq!(shorter.min_free(at_micros(0), at_micros(900)), least.unwrap_or(0));
            let steps: Vec<u32> = shorter.steps().map(|(_, free)| free).collect();
            prop_assert!(steps.windows(2).all(|pair| pair[0] != pair[1]), "{:?}", steps);
        }
        // Breakpoints are forgotten without a change of later times.
        let mut later = fast.clone();
        later.forget_before(at_micros(60));
        for time in 60..400 {
            prop_assert_eq!(later.free_at(at_micros(time)), fast.free_at(at_micros(time)));
        }
    }
}

#[test]
fn a_profile_that_is_given_back_whole_has_one_step() {
    let mut profile = Profile::new(1000);
    let spans: Vec<(i64, i64)> = (0..500).map(|i| (i * 7, i * 7 + 300)).collect();
    for &(start, end) in &spans {
        profile.add(at_micros(start), at_micros(end), 2);
    }
    assert!(profile.len() > 500);
    for &(start, end) in spans.iter().rev() {
        profile.remove(at_micros(start), at_micros(end), 2);
    }
    assert_eq!((profile.len(), profile.is_empty()), (1, true));
}

#[test]
fn a_machine_booked_for_ever_has_no_fit() {
    let mut profile = Profile::new(4);
    profile.add(at_micros(0), Time::FOREVER + Span::FOREVER, 3);
    assert_eq!(profile.earliest_fit(2, Span::TICK, at_micros(0)), None);
    assert_eq!(profile.earliest_or_never(2, Span::TICK, at_micros(0)), Some(Time::FOREVER));
    assert_eq!(profile.earliest_or_never(5, Span::TICK, at_micros(0)), None);
    assert_eq!(profile.earliest_fit(1, Span::FOREVER, at_micros(9)), Some(at_micros(9)));
}
