//! Checkpoint intervals on one resource, in published and worked examples.

use haggle_grids::{Expiry, Fraction, IntervalRule};
use haggle_model::{Span, Time};
use haggle_scheduling::checkpoints::{Length, Situation};
use haggle_testing::secs;
use proptest::prelude::*;

/// Course of a job that computes alone at 1 MIPS, in seconds.
#[derive(Debug, PartialEq)]
struct Course {
    /// Progress at each checkpoint.
    written: Vec<i64>,
    omitted: usize,
    end: i64,
}

fn course(rule: IntervalRule, start: i64, length: i64, cost: i64, mean_failure: Span) -> Course {
    let (mut now, mut done) = (start, 0);
    let situation = |now, done| Situation {
        now: Time::from_secs(now),
        execution: secs(length),
        remaining: secs(length - done),
        last_failure: Time::ZERO,
        mean_failure,
        cost: secs(cost),
    };
    let (mut state, first) = rule.start(&situation(now, done));
    let mut wait = first.as_micros() / 1_000_000;
    let mut course = Course { written: Vec::new(), omitted: 0, end: 0 };
    while done + wait < length {
        (now, done) = (now + wait, done + wait);
        let next = match rule.expire(&mut state, &situation(now, done)) {
            Expiry::Write => {
                course.written.push(done);
                now += cost;
                rule.written(&mut state, &situation(now, done))
            }
            Expiry::Omit(next) => {
                course.omitted += 1;
                next
            }
        };
        wait = next.as_micros() / 1_000_000;
    }
    course.end = now + length - done;
    course
}

#[test]
fn ft_m1_periodic_checkpoints_are_counted_from_the_end_of_the_last() {
    let rule = IntervalRule::Periodic { interval: secs(30) };
    let course = course(rule, 0, 100, 2, Span::FOREVER);
    assert_eq!(course, Course { written: vec![30, 60, 90], omitted: 0, end: 106 });
}

#[test]
fn ft_m3_last_failure_omits_what_the_job_outlasts() {
    let rule = |max_omit| IntervalRule::LastFailure { interval: secs(600), max_omit };
    let run = |max_omit| course(rule(max_omit), 2_000, 3_000, 10, Span::FOREVER);
    assert_eq!(run(None), Course { written: vec![600], omitted: 3, end: 5_010 });
    assert_eq!(run(Some(2)), Course { written: vec![600, 2_400], omitted: 2, end: 5_020 });
}

/// A checkpoint is omitted if the resource has not failed for longer than the job takes. Checkpoints that are skipped
/// by arithmetic use the same instant.
#[test]
fn last_failure_writes_up_to_the_last_instant_in_which_the_job_outlasts() {
    let rule = IntervalRule::LastFailure { interval: secs(600), max_omit: None };
    let execution = secs(3_000);
    let writes = |now: Time| {
        let situation = Situation {
            now,
            execution,
            remaining: secs(1_000),
            last_failure: Time::ZERO,
            mean_failure: Span::FOREVER,
            cost: secs(10),
        };
        let (mut state, _) = rule.start(&situation);
        rule.expire(&mut state, &situation) == Expiry::Write
    };
    let last = Time::from_secs(3_000);
    for (now, expected) in [(last, true), (last + Span::TICK, false)] {
        assert_eq!(writes(now), expected);
        let routine = rule.routine(now, Time::ZERO, execution).expect("it does the same each time");
        assert_eq!((routine.writes, routine.until == last), (expected, expected));
    }
}

fn mean_failure(limit: Fraction) -> IntervalRule {
    IntervalRule::MeanFailure {
        interval: secs(1_000),
        minimum: Length::Fixed(secs(100)),
        step: Length::Fixed(secs(1_000)),
        limit,
        first: secs(200),
    }
}

#[test]
fn ft_m4_mean_failure_shortens_until_the_rest_is_short_enough() {
    let course = course(mean_failure(Fraction::ONE), 0, 10_000, 10, secs(6_000));
    let mut expected: Vec<i64> = (2..=41).map(|hundreds| hundreds * 100).collect();
    expected.extend([5_200, 7_300]);
    assert_eq!(course, Course { written: expected, omitted: 0, end: 10_420 });
}

/// The interval grows while it is shorter than the limit; an interval as long as the limit does not grow.
#[test]
fn mean_failure_does_not_grow_beyond_its_limit() {
    let course = |percent| {
        let rule = mean_failure(Fraction::from_percent(percent));
        course(rule, 0, 10_000, 10, Span::FOREVER).written
    };
    // After 2,000 s comes 3,000 s if the limit, 20 or 21 % of 10,000 s, is more.
    assert_eq!(course(20)[..3], [200, 2_200, 3_200]);
    assert_eq!(course(21)[..3], [200, 2_200, 5_200]);
}

#[test]
fn ft_m4_mean_failure_lengthens_on_a_resource_that_does_not_fail() {
    let run = |limit| course(mean_failure(limit), 0, 10_000, 10, Span::FOREVER);
    let free = Course { written: vec![200, 2_200, 5_200, 9_200], omitted: 0, end: 10_040 };
    assert_eq!(run(Fraction::ONE), free);
    let limited = Course { written: vec![200, 2_200, 5_200, 7_200], omitted: 0, end: 10_040 };
    assert_eq!(run(Fraction::from_percent(25)), limited);
}

proptest! {
    /// C < I_min ≤ I_J < α·E + I, and a step changes it by no more than I.
    #[test]
    fn mean_failure_intervals_stay_between_their_bounds(
        interval in 1..5_000_i64,
        minimum in 1..500_i64,
        limit in 1..=100_u32,
        courses in prop::collection::vec((1..20_000_i64, 0..20_000_i64, 1..40_i64), 1..60),
    ) {
        let rule = IntervalRule::MeanFailure {
            interval: secs(interval),
            minimum: Length::Fixed(secs(minimum)),
            step: Length::Fixed(secs(interval)),
            limit: Fraction::from_percent(limit),
            first: secs(120),
        };
        let situation = |(execution, mean_failure, cost)| Situation {
            now: Time::from_secs(1),
            execution: secs(execution),
            remaining: secs(execution / 2),
            last_failure: Time::ZERO,
            mean_failure: secs(mean_failure),
            cost: secs(cost),
        };
        let (mut state, _) = rule.start(&situation(courses[0]));
        let mut before = secs(interval);
        for course in courses {
            let now = situation(course);
            let next = rule.written(&mut state, &now);
            let grown = Fraction::from_percent(limit).of(now.execution) + secs(interval);
            let least = secs(minimum).max(now.cost.scaled(1.001));
            prop_assert!(next <= before || next <= grown || next == least);
            prop_assert!(next >= before || (next > now.cost && next >= least));
            before = next;
        }
    }
}
