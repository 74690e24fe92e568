//! Checkpoints of rigid jobs.

use proptest::prelude::*;

use haggle_model::Span;
use haggle_scheduling::checkpoints::{Every, Nodes, Progress, Volume};
use haggle_scheduling::{CheckpointRule, Checkpoints};

fn secs(seconds: i64) -> Span {
    Span::from_secs(seconds)
}

/// A checkpoint costs 2 min, and a node of 8 processors fails every 20 h. On one node √(2·120·72000) = 4156.92 s pass
/// between two; on 4 nodes a job fails every 5 h, and it is half as long. Daly: 4156.92 + 40 + 120·4156.92/(18·72000) - 120.
#[test]
fn wide_jobs_save_more_often() {
    let nodes = Nodes { mtbf: secs(72_000), processors: 8 };
    let interval = |every, processors| {
        let rule = CheckpointRule { every, cost: secs(120), recovery: secs(0), volume: None };
        rule.of(processors).interval.as_secs_f64()
    };
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 0.01, "{found}");
    for (processors, expected) in [(1, 4156.92), (8, 4156.92), (25, 2078.46), (32, 2078.46)] {
        close(interval(Every::Young(nodes), processors), expected);
    }
    close(interval(Every::Daly(nodes), 8), 4077.31);
    close(interval(Every::Interval(secs(10)), 32), 10.0);
    // Where a checkpoint takes longer than twice the time to the next failure, that time is the interval.
    close(interval(Every::Daly(Nodes { mtbf: secs(480), processors: 1 }), 10), 48.0);
}

/// 2 GB of each processor at 4 Gbit/s take 4 s. So a checkpoint of 10 processors costs 40 s and 5 s, and Young's interval
/// with it is √(2·45·8000) = 848.53 s; of one processor √(2·9·80000) = 1200 s.
#[test]
fn wide_jobs_have_more_to_save() {
    let nodes = Nodes { mtbf: secs(80_000), processors: 1 };
    let volume = Some(Volume { bytes: 2_000_000_000, bandwidth: 4_000_000_000 });
    let rule =
        CheckpointRule { every: Every::Young(nodes), cost: secs(5), recovery: secs(1), volume };
    let (one, ten) = (rule.of(1), rule.of(10));
    assert_eq!((one.cost, one.recovery, one.interval), (secs(9), secs(5), secs(1200)));
    assert_eq!((ten.cost, ten.recovery), (secs(45), secs(41)));
    assert!((ten.interval.as_secs_f64() - 848.53).abs() < 0.01, "{:?}", ten.interval);
}

/// 25 s of computing from a checkpoint: 3 s of recovery, 10 + 2, 10 + 2, 5.
#[test]
fn a_checkpoint_counts_as_soon_as_it_is_written() {
    let it = Checkpoints { interval: secs(10), cost: secs(2), recovery: secs(3) };
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
    let it = Checkpoints { interval: secs(10), cost: secs(2), recovery: secs(3) };
    assert_eq!(it.lasts(secs(10), false), secs(10));
    assert_eq!(it.lasts(secs(20), false), secs(22));
    assert_eq!(it.lasts(Span::ZERO, true), secs(3));
}

#[test]
fn without_checkpoints_nothing_is_saved() {
    let never = CheckpointRule::NEVER.of(1);
    assert_eq!(never.lasts(Span::FOREVER, false), Span::FOREVER);
    let nothing = Progress { saved: Span::ZERO, overhead: Span::ZERO };
    assert_eq!(never.progress(secs(1_000_000), secs(2_000_000), false), nothing);
}

#[test]
fn what_takes_too_long_takes_forever() {
    let it = Checkpoints { interval: Span::TICK, cost: secs(1_000_000), recovery: Span::ZERO };
    assert_eq!(it.lasts(secs(1_000_000_000), false), Span::FOREVER);
}

proptest! {
    /// Against a job that is followed from microsecond to microsecond.
    #[test]
    fn as_if_followed_step_by_step(
        interval in 1_i64..12,
        cost in 0_i64..5,
        recovery in 0_i64..5,
        computing in 0_i64..60,
        resumed: bool,
    ) {
        let micros = Span::from_micros;
        let it = Checkpoints {
            interval: micros(interval), cost: micros(cost), recovery: micros(recovery)
        };
        // What each microsecond is spent on.
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
