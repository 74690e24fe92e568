//! Tasks with the same successor are balanced: worked cases.

use std::sync::Arc;

use haggle_grids::workflows::{BalanceRules, Estimate, Prediction, WorkflowPolicy};
use haggle_grids::{Fraction, GridPolicy};
use haggle_model::progress::{EstimateError, Progress, Side};

use crate::grid_rules::every;
use crate::grid_setup::{Grid, secs};
use crate::grid_static::{task, with_flow};

/// A resource of 1 MIPS, and one of 4 MIPS and one slot that fails at once and works again later. Rounds are every
/// 100 s, and a checkpoint takes 20 s. Tasks that need no longer than the floor stay.
fn grid(floor: f64, works_again: f64) -> Grid {
    let balance = BalanceRules {
        floor: secs(floor),
        gain: Fraction::ZERO,
        group: 1,
        evicts: true,
        counts_checkpoint: true,
    };
    let policy = WorkflowPolicy {
        balance: Some(balance),
        prediction: Prediction::Extrapolation,
        bound: Fraction::ONE,
        estimate: Estimate::Integrated,
        checkpointing: false,
    };
    let grid = Grid::new(GridPolicy::Workflow(policy)).resource(1, 2).resource(4, 1);
    grid.fails(1, &[(0.0, works_again)])
        .change(|plan| (plan.period, plan.checkpoints) = (secs(100.0), every(1e6, 20.0)))
}

/// Both tasks have done 50 MI at 200 s, when the longer one moves. It writes for 20 s, in which the other one still
/// has half of the resource: 150 MI take 20 s for 10 MI and 140 s for the rest.
#[test]
fn a_task_that_writes_before_it_moves_keeps_its_share() {
    let none = (0, 0);
    let beside = [task(1000, none, &[0]), task(200, none, &[0])];
    let tasks = [&[task(50, none, &[])], &beside[..], &[task(10, none, &[1, 2])]].concat();
    let ran = with_flow(grid(0.0, 150.0), 0, &tasks).run_on_both();
    assert_eq!(ran.all_done(), [50.0, 220.0 + 950.0 / 4.0, 360.0, 502.5].map(Some));
    // Its slot was free at once.
    assert_eq!(ran.attempts_of(1)[0].left, haggle_model::Time::from_secs(200));
}

/// At 600 s the task has done 500 of 1000 MI, and its last report was 400. By that report the rest takes 600 s, which
/// is more than the floor of 550 s.
#[test]
fn what_is_left_of_a_task_is_what_was_left_at_its_last_report() {
    let none = (0, 0);
    let tasks = [task(50, none, &[]), task(1000, none, &[0]), task(10, none, &[1])];
    let mut grid = with_flow(grid(550.0, 550.0), 0, &tasks);
    let (side, amplitude, decay) = (Side::Over, 0.0, 0.0);
    let error = EstimateError { side, amplitude, decay, noise: 0.0, floor: 0.0 };
    let longest = grid.jobs[1].task.as_mut().expect("it is a task");
    Arc::make_mut(longest).progress = Some(Progress::new(error, 1000.0, 400.0, 1));
    assert_eq!(grid.run_on_both().all_done(), [50.0, 620.0 + 125.0, 802.5].map(Some));
}
