//! Checkpoints of rigid jobs.

use proptest::prelude::*;

use haggle_model::work::Fraction;
use haggle_model::{Span, Time};
use haggle_scheduling::checkpoints::{
    Every, FailureHistory, IntervalRule, Length, MeanFailure, Nodes, Progress, RigidJob, Volume,
};
use haggle_scheduling::{CheckpointRule, Checkpoints};
use haggle_testing::secs;

fn on(processors: u32) -> RigidJob {
    RigidJob { processors, limit: None, saved: Span::ZERO }
}

/// A checkpoint costs 2 min, and a node of 8 processors fails every 20 h. On one node, √(2·120·72000) = 4156.92 s
/// pass between two checkpoints. On 4 nodes a job fails every 5 h, and the interval is half as long. Daly: 4156.92 +
/// 40 + 120·4156.92/(18·72000) - 120.
#[test]
fn wide_jobs_save_more_often() {
    let nodes = Nodes { mtbf: secs(72_000), processors: 8 };
    let interval = |every, processors| {
        let rule = CheckpointRule { every, cost: secs(120), recovery: secs(0), volume: None };
        rule.planned(on(processors)).interval().expect("steady").as_secs_f64()
    };
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 0.01, "{found}");
    for (processors, expected) in [(1, 4156.92), (8, 4156.92), (25, 2078.46), (32, 2078.46)] {
        close(interval(Every::Young(nodes), processors), expected);
    }
    close(interval(Every::Daly(nodes), 8), 4077.31);
    close(interval(Every::Interval(secs(10)), 32), 10.0);
    // If a checkpoint takes longer than twice the time to the next failure, that time is the interval.
    close(interval(Every::Daly(Nodes { mtbf: secs(480), processors: 1 }), 10), 48.0);
}

/// 2 GB of each processor at 4 Gbit/s take 4 s. So a checkpoint of 10 processors costs 40 s and 5 s, and Young's
/// interval is √(2·45·8000) = 848.53 s. For one processor it is √(2·9·80000) = 1200 s.
#[test]
fn wide_jobs_have_more_to_save() {
    let nodes = Nodes { mtbf: secs(80_000), processors: 1 };
    let (latency, rounding) = (Span::ZERO, Span::ZERO);
    let bytes = 2_000_000_000;
    let volume = Some(Volume { bytes, latency, bandwidth: 4_000_000_000, rounding });
    let rule =
        CheckpointRule { every: Every::Young(nodes), cost: secs(5), recovery: secs(1), volume };
    let of = |processors| {
        let it = rule.planned(on(processors));
        (it.cost(), it.recovery(), it.interval().expect("steady"))
    };
    assert_eq!(of(1), (secs(9), secs(5), secs(1200)));
    let (cost, recovery, interval) = of(10);
    assert_eq!((cost, recovery), (secs(45), secs(41)));
    assert!((interval.as_secs_f64() - 848.53).abs() < 0.01, "{interval:?}");
}

/// 25 s of computing from a checkpoint: 3 s of recovery, 10 + 2, 10 + 2, 5.
#[test]
fn a_checkpoint_counts_as_soon_as_it_is_written() {
    let it = Checkpoints::every(secs(10), secs(2), secs(3));
    assert_eq!(it.lasts(secs(25), true), secs(32));
    assert_eq!(it.lasts(secs(25), false), secs(29));
    let at = |elapsed| {
        let Progress { saved, overhead } = it.progress(secs(elapsed), secs(25), true);
        (saved, overhead)
    };
    assert_eq!(at(2), (secs(0), secs(2)));
    assert_eq!(at(13), (secs(0), secs(3)));
    assert_eq!(at(14), (secs(0), secs(4)));
    assert_eq!(at(15), (secs(10), secs(5)));
    assert_eq!(at(26), (secs(10), secs(6)));
    assert_eq!(at(27), (secs(20), secs(7)));
    assert_eq!(at(32), (secs(20), secs(7)));
}

#[test]
fn none_is_written_when_the_job_ends() {
    let it = Checkpoints::every(secs(10), secs(2), secs(3));
    assert_eq!(it.lasts(secs(10), false), secs(10));
    assert_eq!(it.lasts(secs(20), false), secs(22));
    assert_eq!(it.lasts(Span::ZERO, true), secs(3));
}

#[test]
fn without_checkpoints_nothing_is_saved() {
    let never = CheckpointRule::NEVER.planned(on(1));
    assert_eq!(never.lasts(Span::FOREVER, false), Span::FOREVER);
    let nothing = Progress { saved: Span::ZERO, overhead: Span::ZERO };
    assert_eq!(never.progress(secs(1_000_000), secs(2_000_000), false), nothing);
}

#[test]
fn what_takes_too_long_takes_forever() {
    let it = Checkpoints::every(Span::TICK, secs(1_000_000), Span::ZERO);
    assert_eq!(it.lasts(secs(1_000_000_000), false), Span::FOREVER);
}

proptest! {
    /// Against a job that is followed microsecond by microsecond.
    #[test]
    fn as_if_followed_step_by_step(
        interval in 1_i64..12,
        cost in 0_i64..5,
        recovery in 0_i64..5,
        computing in 0_i64..60,
        resumed: bool,
    ) {
        let micros = Span::from_micros;
        let it = Checkpoints::every(micros(interval), micros(cost), micros(recovery));
        // The use of each microsecond: whether the job computes in it.
        let mut steps = vec![false; if resumed { recovery as usize } else { 0 }];
        let (mut computed, mut saved_at) = (0, Vec::new());
        while computed < computing {
            steps.push(true);
            computed += 1;
            if computed % interval == 0 && computed < computing {
                steps.extend((0..cost).map(|_| false));
                saved_at.push((steps.len(), computed));
            }
        }
        prop_assert_eq!(it.lasts(micros(computing), resumed), micros(steps.len() as i64));
        for elapsed in 0..=steps.len() {
            let saved = saved_at.iter().rev().find(|&&(at, _)| at <= elapsed);
            let idle = steps[..elapsed].iter().filter(|&&computes| !computes).count();
            let progress = it.progress(micros(elapsed as i64), micros(computing), resumed);
            prop_assert_eq!(progress, Progress {
                saved: micros(saved.map_or(0, |&(_, computed)| computed)),
                overhead: micros(idle as i64),
            });
        }
    }
}

fn adaptive(rule: IntervalRule, cost: i64, recovery: i64) -> CheckpointRule {
    let every = Every::Adaptive { rule, node: 1, mean_failure: MeanFailure::Elapsed };
    CheckpointRule { every, cost: secs(cost), recovery: secs(recovery), volume: None }
}

/// The history of nodes that have failed at these seconds.
fn failed(at: &[i64]) -> FailureHistory {
    let mut history = FailureHistory::new(Time::ZERO);
    at.iter().for_each(|&at| history.failed(Time::from_secs(at)));
    history
}

/// FT-M2 with pauses, and with the requested time, 50 s, in place of E. A job of 40 s starts at 100 s, and its timer
/// goes off after each 10 s of computing. A node failed at 75 s, so checkpoints are written up to 125 s: at 110 and
/// 122 s. The third would be at 134 s.
#[test]
fn last_failure_omits_what_a_job_outlasts() {
    let rule =
        |max_omit| adaptive(IntervalRule::LastFailure { interval: secs(10), max_omit }, 2, 3);
    let job = RigidJob { processors: 1, limit: Some(secs(50)), saved: Span::ZERO };
    let at = |seconds| Time::from_secs(seconds);
    let it = rule(None).attempt(job, at(100), failed(&[20, 75]));
    assert_eq!(it.lasts(secs(40), false), secs(44));
    assert_eq!(it.progress(secs(24), secs(40), false).saved, secs(20));
    assert_eq!(it.progress(secs(43), secs(40), false).saved, secs(20));
    // With 3 s of recovery the second is at 125 s, and just written; 1 s later it is omitted.
    assert_eq!(it.lasts(secs(40), true), secs(47));
    assert_eq!(rule(None).attempt(job, at(101), failed(&[75])).lasts(secs(40), true), secs(45));
    // After one omitted checkpoint the next one is written.
    assert_eq!(rule(Some(1)).attempt(job, at(200), failed(&[75])).lasts(secs(40), false), secs(42));
    // It is planned as if all were written; so it is without a requested time.
    assert_eq!(rule(None).planned(job).lasts(secs(50), false), secs(58));
    let it = rule(None).attempt(on(1), at(200), failed(&[75]));
    assert_eq!(it.lasts(secs(40), false), secs(46));
}

/// A job of 100 s, from 100 s on, on a node that has failed twice by then: M is 50 s at first and grows by half a
/// second with each. The first checkpoint is at 10 s. RE = 90 s is more than M = 56 s then, so the interval shrinks
/// from 20 s to 15 s. The next one is at 25 s: 75 > 64.5, and the interval is 10 s. At 35 s of computing, 65 > 70.5
/// does not hold, so the interval grows to 15, 20 and 25 s: the next ones are at 50, 70 and 95 s.
#[test]
fn mean_failure_goes_by_the_nodes_of_a_job() {
    let rule = IntervalRule::MeanFailure {
        interval: secs(20),
        minimum: Length::Fixed(secs(5)),
        step: Length::Fixed(secs(5)),
        limit: Fraction::ONE,
        first: secs(10),
    };
    let job = RigidJob { processors: 1, limit: Some(secs(100)), saved: Span::ZERO };
    let it = adaptive(rule, 2, 0).attempt(job, Time::from_secs(100), failed(&[30, 60]));
    let saved = |elapsed| it.progress(secs(elapsed), secs(100), false).saved;
    for (written, computed) in [(12, 10), (29, 25), (41, 35), (58, 50), (80, 70)] {
        assert!(saved(written - 1) < secs(computed));
        assert_eq!(saved(written), secs(computed), "{written}");
    }
    assert_eq!(it.lasts(secs(100), false), secs(112));
    assert_eq!(it.lasts(secs(95), false), secs(105));
    // The plan uses intervals of 20, 15, 10, 5, 5 ... s less the first: 10, 25, 35, 40, 45 ... 95 s.
    assert_eq!(adaptive(rule, 2, 0).planned(job).lasts(secs(100), false), secs(100 + 2 * 15));
}

/// The same node: M is 50 s at first, and Young's interval √(2·2·50) = 14.14 s. The first checkpoint is there 16.14 s
/// later, when M is 58.07 s and the interval 15.24 s. If the node fails each second, the interval would be 2 s, no
/// longer than a checkpoint takes. A job needs more than that for progress, so the interval is at least 2.002 s, also
/// in the plan: 49 times in 100 s.
#[test]
fn the_optimum_goes_by_the_nodes_of_a_job_where_no_mean_is_given() {
    let rule = adaptive(IntervalRule::Young { mtbf: None }, 2, 0);
    let job = RigidJob { processors: 1, limit: Some(secs(100)), saved: Span::ZERO };
    let saved = |history: &[i64], elapsed: i64| {
        let it = rule.attempt(job, Time::from_secs(100), failed(history));
        it.progress(secs(elapsed), secs(100), false).saved.as_secs_f64()
    };
    assert_eq!(saved(&[30, 60], 16), 0.0);
    assert!((saved(&[30, 60], 17) - 14.142_135).abs() < 1e-6);
    assert!((saved(&[30, 60], 34) - (14.142_135 + 15.240_98)).abs() < 1e-3);
    let often = Vec::from_iter(1..=100);
    assert!((saved(&often, 5) - 2.002).abs() < 1e-9);
    assert_eq!(rule.planned(job).lasts(secs(100), false), secs(100 + 2 * 49));
}

/// The first interval is shorter than a checkpoint takes, and it grows by nothing: 69 s of computing have 68 checkpoints
/// of 2 s.
#[test]
fn a_first_interval_below_the_minimum_counts_in_the_plan() {
    let rule = IntervalRule::MeanFailure {
        interval: secs(1),
        minimum: Length::Fixed(secs(1)),
        step: Length::Fixed(Span::ZERO),
        limit: Fraction::from_percent(1),
        first: secs(1),
    };
    let rule = adaptive(rule, 2, 0);
    let job = RigidJob { processors: 3, limit: Some(secs(101)), saved: Span::ZERO };
    let lasts = rule.attempt(job, Time::from_secs(500), failed(&[])).lasts(secs(69), false);
    assert_eq!(lasts, secs(69 + 68 * 2));
    assert!(rule.planned(job).lasts(secs(101), false) >= lasts);
}

proptest! {
    /// An attempt takes no longer than planned, its progress never falls, and it ends when all is computed.
    #[test]
    fn adaptive_attempts_keep_to_their_plans(
        kind in 0..4,
        max_omit in prop::option::of(0_u32..4),
        (interval, least, step, first) in (1_i64..30, 1_i64..30, 0_i64..30, 1_i64..40),
        limit in 1_u32..=100,
        (cost, recovery) in (0_i64..4, 0_i64..4),
        (requested, percent, saved) in (1_i64..300, 1_i64..=100, 0_i64..300),
        failures in prop::collection::vec(1_i64..500, 0..5),
        start in 500_i64..2_000,
        closed: bool,
        known: bool,
    ) {
        let cost = if kind < 2 { cost.max(1) } else { cost };
        let rule = match kind {
            0 => IntervalRule::Young { mtbf: None },
            1 => IntervalRule::Daly { mtbf: None },
            2 => IntervalRule::LastFailure { interval: secs(interval), max_omit },
            _ => IntervalRule::MeanFailure {
                interval: secs(interval),
                minimum: Length::Fixed(secs(least)),
                step: Length::Fixed(secs(step)),
                limit: Fraction::from_percent(limit),
                first: secs(first),
            },
        };
        let mean_failure = if closed { MeanFailure::Closed } else { MeanFailure::Elapsed };
        let every = Every::Adaptive { rule, node: 1, mean_failure };
        let rule = CheckpointRule { every, cost: secs(cost), recovery: secs(recovery), volume: None };
        let saved = secs(saved.min(requested - 1));
        let job = RigidJob { processors: 3, limit: known.then_some(secs(requested)), saved };
        let (rest, resumed) = (secs(requested) - saved, saved > Span::ZERO);
        let computing = secs((rest.as_micros() / 1_000_000 * percent / 100).max(1));
        let mut failures = failures;
        failures.sort_unstable();
        let planned = rule.planned(job).lasts(rest, resumed);
        let it = rule.attempt(job, Time::from_secs(start), failed(&failures));
        let lasts = it.lasts(computing, resumed);
        prop_assert!(lasts <= planned, "{lasts} {planned}");
        let mut before = it.progress(Span::ZERO, computing, resumed);
        prop_assert_eq!(before, Progress { saved: Span::ZERO, overhead: Span::ZERO });
        let seconds = lasts.as_micros() / 1_000_000;
        for elapsed in 1..=seconds {
            let after = it.progress(secs(elapsed), computing, resumed);
            let computed = secs(elapsed) - after.overhead;
            prop_assert!(after.saved >= before.saved && after.saved <= computed);
            prop_assert!(after.overhead >= before.overhead);
            before = after;
        }
        let last = it.progress(lasts, computing, resumed);
        prop_assert!(last.saved >= before.saved && last.overhead >= before.overhead);
        prop_assert_eq!(lasts - last.overhead, computing);
        prop_assert!(last.saved < computing);
    }
}
