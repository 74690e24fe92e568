//! Checkpoints of rigid jobs.

use proptest::prelude::*;

use haggle_model::Span;
use haggle_scheduling::Checkpoints;
use haggle_scheduling::checkpoints::Progress;

fn secs(seconds: i64) -> Span {
    Span::from_secs(seconds)
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
    let never = Checkpoints::NEVER;
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
