//! Fast schedulers against obvious ones, and the promises of each.

use haggle_model::{Span, Time};
use haggle_scheduling::{
    Compression, Conservative, LocalScheduler, Order, Policy, Request, SchedulerConfig, Slot,
};
use proptest::prelude::*;

use crate::obvious::Obvious;
use crate::replay::{TestJob, replay};

fn jobs() -> impl Strategy<Value = Vec<TestJob>> {
    jobs_that_request((1..=60_i64).boxed())
}

/// Some jobs have no limit.
fn jobs_with_and_without_a_limit() -> impl Strategy<Value = Vec<TestJob>> {
    jobs_that_request(prop_oneof![12 => 1..=60_i64, 1 => Just(0)].boxed())
}

fn jobs_that_request(requested: BoxedStrategy<i64>) -> impl Strategy<Value = Vec<TestJob>> {
    let job = (0..6_i64, requested, 0..=100_i64, 1..=8_u32, 0..4_i64);
    prop::collection::vec(job, 1..120).prop_map(|drawn| {
        let mut submit = 0;
        drawn
            .into_iter()
            .map(|(gap, requested, percent, processors, key)| {
                submit += gap;
                let run = if requested == 0 { percent } else { requested * percent / 100 };
                TestJob { submit, requested, run, processors, key }
            })
            .collect()
    })
}

/// Nearly all arrive at once and end early, so that long ends of the queue move as one.
fn a_burst() -> impl Strategy<Value = Vec<TestJob>> {
    let gap = prop_oneof![30 => Just(0_i64), 1 => 0..200_i64];
    let requested = prop_oneof![20 => 1..=20_i64, 1 => 20..=60_i64];
    let processors = prop_oneof![3 => 1..=8_u32, 1 => Just(8_u32)];
    let job = (gap, requested, 20..=100_i64, processors);
    prop::collection::vec(job, 80..140).prop_map(|drawn| {
        let mut submit = 0;
        let job = |(gap, requested, percent, processors)| {
            submit += gap;
            TestJob { submit, requested, run: requested * percent / 100, processors, key: 0 }
        };
        drawn.into_iter().map(job).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_job_starts_when_it_does_in_the_obvious_version(
        jobs in prop_oneof![jobs(), jobs_with_and_without_a_limit()],
    ) {
        for policy in Policy::ALL {
            for order in Order::ALL {
                for compression in Compression::ALL {
                    if policy != Policy::Conservative && compression != Compression::None {
                        continue;
                    }
                    let config = SchedulerConfig { policy, order, compression, depth: None, window: None };
                    let fast = replay(&mut **config.build(8), 8, &jobs);
                    let mut obvious = Obvious::new(8, policy, order, compression);
                    let expected = replay(&mut obvious, 8, &jobs);
                    prop_assert_eq!(fast, expected, "{}", config);
                }
            }
        }
    }

    #[test]
    fn a_pass_of_easy_examines_as_many_jobs_as_the_obvious_version(
        jobs in prop_oneof![jobs(), jobs_with_and_without_a_limit(), a_burst()],
        depth in 1..6_u32,
    ) {
        let (policy, compression) = (Policy::Easy, Compression::None);
        for order in Order::ALL {
            let config = SchedulerConfig { policy, order, compression, depth: Some(depth), window: None };
            let fast = replay(&mut **config.build(8), 8, &jobs);
            let obvious = Obvious::new(8, policy, order, compression);
            let expected = replay(&mut obvious.with_depth(depth as usize), 8, &jobs);
            prop_assert_eq!(fast, expected, "{}", config);
        }
    }

    #[test]
    fn a_long_queue_that_moves_as_one_starts_as_in_the_obvious_version(jobs in a_burst()) {
        for compression in [Compression::ByStart, Compression::JobByJob] {
            let (policy, order) = (Policy::Conservative, Order::Arrival);
            let fast = replay(&mut Conservative::new(8, order, compression), 8, &jobs);
            let mut obvious = Obvious::new(8, policy, order, compression);
            let expected = replay(&mut obvious, 8, &jobs);
            prop_assert_eq!(fast, expected, "{}", compression.name());
        }
    }

    #[test]
    fn no_promised_completion_is_broken(jobs in jobs()) {
        for order in Order::ALL {
            for compression in [Compression::ByStart, Compression::JobByJob, Compression::None] {
                let outcome = replay(&mut Conservative::new(8, order, compression), 8, &jobs);
                for (i, job) in jobs.iter().enumerate() {
                    let end = outcome.starts[i] + job.actual();
                    prop_assert!(Some(end) <= outcome.promises[i], "job {} ends at {}", i, end);
                }
            }
        }
    }

    #[test]
    fn withdrawn_jobs_leave_no_trace(jobs in jobs(), withdrawn in prop::collection::vec(any::<bool>(), 120)) {
        for policy in Policy::ALL {
            for compression in Compression::ALL {
                let config = SchedulerConfig { policy, order: Order::Arrival, compression, depth: None, window: None };
                let mut fast = config.build(8);
                let mut obvious = Obvious::new(8, policy, Order::Arrival, compression);
                let now = Time::from_secs(0);
                let mut starts = (Vec::new(), Vec::new());
                for (i, job) in jobs.iter().enumerate() {
                    let request = Request::new(Slot(i as u32), job.processors, Some(Span::from_secs(job.requested)));
                    fast.submit(now, request);
                    obvious.submit(now, request);
                }
                fast.start_due(now, &mut starts.0);
                obvious.start_due(now, &mut starts.1);
                for (i, _) in jobs.iter().enumerate().filter(|&(i, _)| withdrawn[i]) {
                    let slot = Slot(i as u32);
                    let waits = !starts.0.contains(&slot);
                    prop_assert_eq!(fast.withdraw(now, slot), waits);
                    if waits {
                        obvious.withdraw(now, slot);
                    }
                    fast.start_due(now, &mut starts.0);
                    obvious.start_due(now, &mut starts.1);
                }
                prop_assert_eq!(&starts.0, &starts.1, "{}", config);
                prop_assert_eq!(fast.queue_length(), obvious.queue_length());
            }
        }
    }
}

/// specs: flexible reservations, M1.
#[test]
fn m1_conservative_backfilling_compresses_after_an_early_end() {
    let jobs = [
        TestJob::new(0, 10, 6, 3),
        TestJob::new(1, 5, 5, 2),
        TestJob::new(2, 8, 8, 1),
        TestJob::new(3, 2, 2, 4),
    ];
    let responses = |compression| {
        let (policy, order) = (Policy::Conservative, Order::Arrival);
        let mut queue =
            SchedulerConfig { policy, order, compression, depth: None, window: None }.build(4);
        let outcome = replay(&mut **queue, 4, &jobs);
        let responses = outcome.starts.iter().zip(&jobs).map(|(s, j)| s + j.actual() - j.submit);
        (responses.collect::<Vec<i64>>(), outcome.promises)
    };
    let promises = vec![Some(10), Some(15), Some(10), Some(17)];
    for compression in [Compression::ByStart, Compression::JobByJob, Compression::Replan] {
        assert_eq!(responses(compression), (vec![6, 10, 8, 10], promises.clone()));
    }
    assert_eq!(responses(Compression::None), (vec![6, 14, 8, 14], promises));
}

#[test]
fn an_overrunning_job_pushes_reservations_back_and_nobody_shares_processors() {
    let mut scheduler = Conservative::new(4, Order::Arrival, Compression::ByStart);
    let request =
        |slot, processors| Request::new(Slot(slot), processors, Some(Span::from_secs(10)));
    let mut started = Vec::new();
    scheduler.submit(Time::ZERO, request(0, 3));
    scheduler.start_due(Time::ZERO, &mut started);
    assert_eq!(scheduler.submit(Time::ZERO, request(1, 2)), Some(Time::from_secs(20)));
    scheduler.overran(Time::from_secs(10), Slot(0), Time::from_secs(30));
    scheduler.start_due(Time::from_secs(10), &mut started);
    assert_eq!(started, [Slot(0)]);
    assert_eq!(scheduler.next_start(), Some(Time::from_secs(30)));
    scheduler.finished(Time::from_secs(12), Slot(0));
    scheduler.start_due(Time::from_secs(12), &mut started);
    assert_eq!(started, [Slot(0), Slot(1)]);
}

#[test]
fn jobs_without_a_limit_hold_their_processors_for_ever_in_the_plan() {
    for policy in Policy::ALL {
        let config = SchedulerConfig {
            policy,
            order: Order::Arrival,
            compression: Compression::ByStart,
            depth: None,
            window: None,
        };
        let mut scheduler = config.build(4);
        let mut started = Vec::new();
        for slot in 0..4 {
            let request = Request::new(Slot(slot), 3, None);
            assert_eq!(scheduler.submit(Time::ZERO, request), None);
            scheduler.start_due(Time::ZERO, &mut started);
        }
        assert_eq!(started, [Slot(0)], "{config}");
        let never = scheduler.estimate_start(Time::ZERO, 2, Some(Span::from_secs(1)));
        assert!(never.expect("the machine is large enough") > Time::from_secs(1_000_000_000));
        assert_eq!(scheduler.estimate_start(Time::ZERO, 5, None), None);
        for slot in 0..4 {
            scheduler.finished(Time::from_secs(i64::from(slot) + 1), Slot(slot));
            scheduler.start_due(Time::from_secs(i64::from(slot) + 1), &mut started);
        }
        assert_eq!(started, [Slot(0), Slot(1), Slot(2), Slot(3)], "{config}");
    }
}
