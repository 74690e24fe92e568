//! A process may end in every operation, with or without the power of the machine. Every synced record is there
//! afterwards, the others up to some number, and no record besides.

use haggle_journal::testing::Loss;
use proptest::prelude::*;

use crate::world::{Step, World};

/// Steps that roll segments, keep snapshots and remove both.
fn life() -> Vec<Step> {
    let mut steps = Vec::new();
    for round in 0..4 {
        for size in [0, 40, 700, 90, 1500] {
            steps.push(Step::Append(size));
            steps.push(Step::Append(size + round));
            steps.push(Step::Sync);
        }
        steps.push(Step::Append(60));
        steps.push(Step::Snapshot(1));
    }
    steps
}

#[test]
fn the_process_ends_in_each_operation_of_its_life() {
    let operations = World::new(0, 2000).run(&life()).disk.operations();
    assert!(operations > 100, "{operations}");
    for loss in [Loss::Process, Loss::Power] {
        for (seed, end) in (0..operations).enumerate() {
            let mut steps = vec![Step::EndAfter(end, loss)];
            steps.extend(life());
            World::new(seed as u64, 2000).run(&steps);
        }
    }
}

#[test]
fn the_process_ends_in_each_operation_of_a_recovery() {
    for loss in [Loss::Process, Loss::Power] {
        for seed in 0..60 {
            for end in 0..10 {
                let mut steps = life();
                // Records that are not synced, and the end of the process: a torn end to cut.
                steps.extend([
                    Step::Append(900),
                    Step::Append(2000),
                    Step::EndAfter(seed % 7, Loss::Power),
                ]);
                steps.extend([Step::Append(900), Step::Sync, Step::Snapshot(0), Step::Snapshot(0)]);
                steps.extend([Step::End(Loss::Power), Step::EndAfter(end, loss)]);
                steps.extend([Step::Append(100), Step::Sync]);
                World::new(seed, 2000).run(&steps);
            }
        }
    }
}

fn loss() -> impl Strategy<Value = Loss> {
    prop_oneof![Just(Loss::Process), Just(Loss::Power)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (0..300_usize).prop_map(Step::Append),
        4 => (0..4000_usize).prop_map(Step::Append),
        8 => Just(Step::Sync),
        3 => (0..10_u64).prop_map(Step::Snapshot),
        2 => loss().prop_map(Step::End),
        2 => (0..30_u64, loss()).prop_map(|(operations, loss)| Step::EndAfter(operations, loss)),
        1 => (0..10_u64).prop_map(Step::FailSync),
        1 => (0..6000_usize).prop_map(Step::Room),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_lives_lose_no_synced_record(
        seed in any::<u64>(),
        segment_bytes in 1..5000_u64,
        steps in proptest::collection::vec(step(), 1..80),
    ) {
        World::new(seed, segment_bytes).run(&steps);
    }
}
