//! Rules of a grid whose violation leaves its books in balance, each in the smallest grid that shows it.

use haggle_agents::Message;
use haggle_agents::grid::{BackgroundLoad, Checkpoints, Delay, JobData, StorageLimits};
use haggle_agents::protocol::{GridTimer, Timer};
use haggle_grids::{CheckpointCost, Fraction, GridPolicy, IntervalRule, LoadUnit, Replicas};
use haggle_model::grid::{AttemptRecord, GridOutcome};
use haggle_model::work::Speed;
use haggle_model::{ActorId, Span};
use haggle_scheduling::checkpoints::MeanFailure;

use crate::grid_setup::{Grid, at, secs};

fn data(input: u64, output: u64, checkpoint: u64) -> JobData {
    JobData { input, output, checkpoint, ..JobData::default() }
}

pub(crate) fn every(interval: f64, cost: f64) -> Option<Checkpoints> {
    Some(Checkpoints {
        rule: IntervalRule::Periodic { interval: secs(interval) },
        cost: CheckpointCost::Constant(secs(cost)),
        recovery: Span::ZERO,
        mean_failure: MeanFailure::Elapsed,
    })
}

/// A scheduler that learned of a recovery first, and then of its failure, would never use the resource again.
#[test]
fn late_news_of_a_resource_come_in_order() {
    for seed in 0..50 {
        let grid = Grid::new(GridPolicy::Fjbcr).resource(1, 1).job(400, 10);
        let grid = grid.fails(0, &[(10.0, 11.0)]).change(|plan| {
            (plan.seed, plan.delay) = (seed, Delay::Random(secs(300.0)));
        });
        assert_eq!(grid.run().done(0), Some(410.0), "seed {seed}");
    }
}

/// GM-M-7 as a resource counts it.
#[test]
fn gm_m7_an_outage_that_is_open_counts_until_the_end() {
    let grid = Grid::new(GridPolicy::Fjbcr).resource(1, 1).resource(1, 1).job(0, 10);
    let outages = [(100.0, 160.0), (300.0, 330.0), (950.0, f64::INFINITY)];
    let ran = grid.fails(0, &outages).until(1_000.0).run_on_both();
    let [first, second] = &ran.accounts[..] else { panic!("two resources") };
    assert_eq!((first.down, first.failures), (secs(140.0), 3));
    assert_eq!((second.down, second.failures), (Span::ZERO, 0));
}

/// It failed before the run began.
#[test]
fn to_be_down_at_first_is_no_failure() {
    let grid = Grid::new(GridPolicy::Fjbcr).resource(1, 1).job(0, 10);
    let grid = grid.fails(0, &[(0.0, 50.0), (70.0, 80.0)]).until(100.0);
    let ran = grid.change(|plan| plan.resources[0].up = false).run_on_both();
    assert_eq!((ran.done(0), ran.accounts[0].failures), (Some(60.0), 1));
    assert_eq!(ran.accounts[0].down, secs(60.0));
}

/// 90 % that change by all of it: either there is no load by others, or it takes 95 %.
#[test]
fn others_leave_a_twentieth_of_a_resource() {
    let mut ends = Vec::new();
    for seed in 0..20 {
        let mut grid = Grid::new(GridPolicy::Fjbcr).resource(1, 1).job(101, 1).until(500.0);
        grid.plan.seed = seed;
        grid.plan.resources[0].load = Some(BackgroundLoad {
            initial: Speed::from_micro_mips(900_000),
            period: Some(secs(100.0)),
            change: (1.0, 1.0),
        });
        let changes = Message::Wake(Timer::Grid(GridTimer::LoadChanges));
        grid.initial.push((at(100.0), ActorId(0), changes));
        ends.push(grid.run_on_both().done(0).expect("it has all the time"));
    }
    assert!(ends.iter().all(|&end| end == 102.0 || end == 121.0), "{ends:?}");
    assert!(ends.contains(&102.0) && ends.contains(&121.0), "{ends:?}");
}

#[test]
fn who_restarts_from_a_checkpoint_may_keep_its_input() {
    let run = |again| {
        let grid = Grid::new(GridPolicy::Migration { checkpointing: true }).job(0, 100);
        let grid = grid.resource(1, 1).resource(1, 1).fails(0, &[(75.0, f64::INFINITY)]);
        let ran = grid.change(|plan| {
            plan.period = secs(40.0);
            plan.data = vec![data(4_000_000, 0, 3_000_000)];
            plan.checkpoints = every(30.0, 2.0);
            plan.restart_needs_input = again;
        });
        let ran = ran.run_on_both();
        let second = ran.attempts_of(0)[1];
        (second.started, ran.accounts[1].data.input, ran.accounts[1].data.recovery)
    };
    assert_eq!(run(true), (Some(at(87.0)), 4_000_000, 3_000_000));
    assert_eq!(run(false), (Some(at(83.0)), 0, 3_000_000));
}

/// The first rounds of example M-6 with checkpoints every 6 s: the job with two copies again
/// writes no more of them.
#[test]
fn a_job_with_all_its_copies_writes_no_checkpoints() {
    let replicas = Replicas { min: 1, max: 2, room: 2, unit: LoadUnit::Slots };
    let grid = Grid::new(GridPolicy::CombinedFt { replicas, resume: 2 });
    let grid = grid.resource(1, 2).resource(1, 2);
    let grid = grid.job(0, 100).job(0, 18).job(10, 16).job(20, 100).job(30, 50);
    let ran = grid.change(|plan| {
        (plan.period, plan.checkpoints) = (secs(10.0), every(6.0, 0.0));
    });
    let ran = ran.until(49.0).run_on_both();
    let requests = |it: &AttemptRecord| {
        it.checkpoints.iter().map(|it| it.requested.as_secs_f64()).collect::<Vec<f64>>()
    };
    let [first, kept, again] = ran.attempts_of(0)[..] else { panic!("three attempts") };
    assert_eq!((first.left, again.dispatched), (at(10.0), at(40.0)));
    // Events of the instant of the round come before it.
    assert_eq!(requests(kept), [16.0, 22.0, 28.0, 34.0, 40.0]);
    assert_eq!((requests(first), requests(again)), (Vec::new(), Vec::new()));
}

#[test]
fn an_output_that_is_lost_gives_its_room_back() {
    let limits = StorageLimits { capacity: 1_000_000, kept: None };
    let grid = Grid::new(GridPolicy::Fjbcr).resource(1, 1).resource(1, 1).job(0, 5).job(0, 10);
    let ran = grid.fails(0, &[(5.5, 20.0)]).until(30.0).change(|plan| {
        (plan.data, plan.storage) = (vec![data(0, 1_000_000, 0)], Some(limits));
    });
    let ran = ran.run_on_both();
    assert_eq!((ran.done(0), ran.done(1)), (None, Some(11.0)));
    let held = 1_000_000 * (500_000 + 20_000_000);
    assert_eq!(ran.storage.expect("it has limits").occupied, held);
}

#[test]
fn an_output_without_hope_lets_others_pass() {
    let limits = StorageLimits { capacity: 1_500_000, kept: None };
    let mut grid = Grid::new(GridPolicy::Fjbcr).resource(1, 2).job(0, 5).job(0, 5).until(60.0);
    grid.jobs[0].workload = 1;
    grid.plan.data = vec![data(0, 1_000_000, 0), data(0, 2_000_000, 0)];
    grid.plan.storage = Some(limits);
    let ran = grid.run_on_both();
    assert_eq!((ran.done(0), ran.done(1)), (None, Some(11.0)));
    // It waits from its computation until the run is over, and this counts.
    let storage = ran.storage.expect("it has limits");
    assert_eq!((storage.waits, storage.waited), (1, secs(50.0)));
    let open = ran.jobs.iter().find(|it| it.job.id.0 == 0).expect("it is told of");
    assert!(matches!(open.outcome, GridOutcome::Open { .. }), "{open:?}");
}

/// Its resource fails at 10 s and is back at 20 s, when that is noticed; rounds are at 0 s, 40 s and 80 s. A copy
/// that failed before is not started again beside its replacement.
#[test]
fn a_scheduler_says_what_it_would_start_again() {
    let replaced = |policy, until| {
        let grid = Grid::new(policy).resource(1, 1).job(0, 100).fails(0, &[(10.0, 20.0)]);
        let ran = grid.until(until).change(|plan| plan.period = secs(40.0)).run_on_both();
        match &ran.jobs[0].outcome {
            GridOutcome::Open { replaced, .. } => replaced.clone(),
            other => panic!("it is not over: {other:?}"),
        }
    };
    let restarts = || GridPolicy::Migration { checkpointing: true };
    assert_eq!(replaced(restarts(), 5.0), [1]);
    assert_eq!(replaced(restarts(), 15.0), [1]);
    assert_eq!(replaced(restarts(), 30.0), [1]);
    assert_eq!(replaced(restarts(), 50.0), [2]);
    assert_eq!(replaced(GridPolicy::Fjbcr, 15.0), [0; 0]);
}

/// At 600 s 900 MI are left. To move takes 2 s, 500 s for the input, and 225 s on 4 MIPS.
#[test]
fn to_move_takes_the_input_along() {
    let run = |percent| {
        let gain = Fraction::from_percent(percent);
        let policy = GridPolicy::Rescheduling { gain, checkpointing: true };
        let grid = Grid::new(policy).resource(1, 1).resource(4, 1).job(0, 1_000);
        let grid = grid.fails(1, &[(0.0, 590.0)]).change(|plan| {
            plan.period = secs(100.0);
            plan.data = vec![data(500_000_000, 0, 0)];
            plan.checkpoints = every(100_000.0, 2.0);
        });
        grid.run_on_both().done(0)
    };
    assert_eq!(run(19), Some(600.0 + 727.0));
    assert_eq!(run(20), Some(1_500.0));
}
