//! The worked examples of the grid model and of fault tolerance, as actors play them.

use std::sync::Arc;

use haggle_agents::Routes;
use haggle_agents::grid::{Checkpoints, Delay, JobData, StorageLimits};
use haggle_grids::resources::ResourceId;
use haggle_grids::scheduler::{GridScheduler, Restart, Round};
use haggle_grids::view::{Detection, View};
use haggle_grids::workflows::prediction::{History, Predictor};
use haggle_grids::workflows::{Estimate, Outages, Prediction, WorkflowPolicy};
use haggle_grids::{
    CancelMode, CheckpointCost, Fraction, GridPolicy, IntervalRule, LoadUnit, Replicas, Share, Work,
};
use haggle_model::AttemptOutcome;
use haggle_model::grid::{
    Carried, CheckpointRecord, DataFlow, DataMoved, Place, RoundsAccount, StorageAccount,
};
use haggle_model::law::Law;
use haggle_model::network::{Capacity, Star, StarParameters};
use haggle_model::random::stream;
use haggle_model::{ProviderId, Span, Time};
use haggle_scheduling::Own;
use haggle_scheduling::checkpoints::{Length, MeanFailure};
use haggle_workflows::schedule::StaticAlgorithm;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::grid_setup::{Grid, GridRan, at, secs};
use crate::grid_static::{task, under, with_flow};

const FJBCR: GridPolicy = GridPolicy::Fjbcr;
const WITH_CHECKPOINTS: GridPolicy = GridPolicy::Migration { checkpointing: true };

fn data(input: u64, output: u64, checkpoint: u64) -> Vec<JobData> {
    vec![JobData { input, output, checkpoint, share: Share::WHOLE }]
}

fn checkpoints(rule: IntervalRule, cost: f64) -> Option<Checkpoints> {
    Some(Checkpoints {
        rule,
        cost: CheckpointCost::Constant(secs(cost)),
        recovery: Span::ZERO,
        mean_failure: MeanFailure::Elapsed,
    })
}

fn mi(mi: u64) -> Work {
    Work::from_mi(mi)
}

#[test]
fn gm_m1_jobs_share_a_resource() {
    let ran = Grid::new(FJBCR).resource(1, 3).job(0, 6).job(2, 5).job(4, 6).run_on_both();
    assert_eq!(ran.all_done(), [Some(13.0), Some(15.0), Some(17.0)]);
}

#[test]
fn gm_m2_input_holds_a_slot_and_output_does_not() {
    let grid = Grid::new(FJBCR).resource(1, 2).job(0, 4).job(0, 2).job(0, 3);
    let ran = grid.change(|plan| plan.data = data(1_000_000, 2_000_000, 0)).run_on_both();
    let course = |job| {
        let it = ran.attempts_of(job)[0];
        let seconds = [it.dispatched, it.started.expect("it ran"), it.left, it.end];
        seconds.map(Time::as_secs_f64)
    };
    assert_eq!(course(0), [0.0, 1.0, 8.0, 10.0]);
    assert_eq!(course(1), [0.0, 1.0, 5.0, 7.0]);
    assert_eq!(course(2), [5.0, 6.0, 10.0, 12.0]);
}

#[test]
fn gm_m11_the_longest_job_to_the_best_resource() {
    let grid = |policy| {
        let grid = Grid::new(policy).resource(4, 1).resource(2, 1).resource(1, 1);
        grid.job(0, 10).job(0, 30).job(0, 20).run_on_both().all_done()
    };
    assert_eq!(grid(GridPolicy::MaxMax), [Some(10.0), Some(7.5), Some(10.0)]);
    assert_eq!(grid(GridPolicy::MinMax), [Some(2.5), Some(30.0), Some(10.0)]);
}

/// A job that ends at the instant of a failure is done, and the round of that instant sees all of it.
#[test]
fn gm_m12_ends_come_before_failures_and_rounds_after_submissions() {
    let grid = Grid::new(GridPolicy::Fcfs).resource(1, 1).resource(1, 1);
    let grid = grid.job(0, 600).job(0, 600).job(600, 10).fails(0, &[(600.0, 900.0)]);
    let ran = grid.change(|plan| plan.period = secs(600.0)).run_on_both();
    assert_eq!(ran.all_done(), [Some(600.0), Some(600.0), Some(610.0)]);
    assert_eq!(ran.attempts_of(2)[0].resource.0, 1);
}

fn ft_m1(failure: f64) -> Grid {
    let rule = IntervalRule::Periodic { interval: secs(30.0) };
    let grid = Grid::new(WITH_CHECKPOINTS).resource(1, 1).resource(1, 1).job(0, 100);
    grid.fails(0, &[(failure, f64::INFINITY)]).change(|plan| {
        plan.period = secs(40.0);
        plan.data = data(0, 0, 3_000_000);
        plan.checkpoints =
            checkpoints(rule, 2.0).map(|it| Checkpoints { recovery: secs(2.0), ..it });
    })
}

#[test]
fn ft_m1_a_job_goes_on_from_its_newest_checkpoint() {
    let ran = ft_m1(75.0).run_on_both();
    let [first, second] = ran.attempts_of(0)[..] else { panic!("two attempts") };
    let times = |index: usize| {
        let it = first.checkpoints[index];
        (it.requested, it.written.expect("written"), it.available.expect("available"))
    };
    assert_eq!(times(0), (at(30.0), at(32.0), at(35.0)));
    assert_eq!(times(1), (at(62.0), at(64.0), at(67.0)));
    assert_eq!((first.outcome, first.left, first.done), (AttemptOutcome::Failed, at(75.0), mi(71)));
    assert_eq!((second.dispatched, second.started), (at(80.0), Some(at(85.0))));
    assert_eq!((second.from, second.parent), (mi(60), Some(1)));
    assert_eq!(second.checkpoints[0].requested, at(115.0));
    assert_eq!(second.checkpoints[0].available, Some(at(120.0)));
    assert_eq!(ran.done(0), Some(127.0));
}

#[test]
fn resources_take_down_what_data_they_moved() {
    let moved =
        |ran: &GridRan, index: usize| (ran.accounts[index].attempts, ran.accounts[index].data);
    let ran = ft_m1(65.5).change(|plan| plan.data = data(1, 2, 3_000_000)).run_on_both();
    // The first checkpoint arrives, the second is cut off; the output of the first attempt never goes.
    let first = DataMoved { input: 1, checkpoints: 3_000_000, ..DataMoved::default() };
    let second = DataMoved { input: 1, output: 2, checkpoints: 6_000_000, recovery: 3_000_000 };
    assert_eq!([moved(&ran, 0), moved(&ran, 1)], [(1, first), (1, second)]);
    assert_eq!(ran.storage, None);
    let [one, other] = [0, 1].map(|id| Place::Resource(ProviderId(id)));
    assert_eq!(
        *ran.accounts[0].flows,
        [flow(Place::Storage, one, 1, 1), flow(one, Place::Checkpoints, 1, 3_000_000)]
    );
    assert_eq!(
        *ran.accounts[1].flows,
        [
            flow(Place::Storage, other, 1, 1),
            flow(other, Place::Storage, 1, 2),
            flow(other, Place::Checkpoints, 2, 6_000_000),
            flow(Place::Checkpoints, other, 1, 3_000_000),
        ]
    );
}

fn flow(from: Place, to: Place, transfers: u64, bytes: u64) -> DataFlow {
    DataFlow { from, to, carried: Carried { transfers, bytes } }
}

#[test]
fn a_storage_takes_down_what_it_held_and_who_waited() {
    let limits = StorageLimits { capacity: 1_000_000, kept: Some(secs(5.0)) };
    let grid = Grid::new(FJBCR).resource(1, 2).job(0, 5).job(0, 5).change(|plan| {
        (plan.data, plan.storage) = (data(0, 1_000_000, 0), Some(limits));
    });
    let ran = grid.run_on_both();
    // Both are computed at 10 s; the second output has room from 15 s on.
    assert_eq!(ran.all_done(), [Some(11.0), Some(16.0)]);
    let occupied = 1_000_000 * 10 * 1_000_000;
    let account = StorageAccount { occupied, waits: 1, waited: secs(5.0), stuck: 0 };
    assert_eq!(ran.storage, Some(account));
}

#[test]
fn ft_m2_a_checkpoint_in_transit_is_lost() {
    let ran = ft_m1(65.5).run_on_both();
    let [first, second] = ran.attempts_of(0)[..] else { panic!("two attempts") };
    assert_eq!(first.done.as_mi_f64(), 61.5);
    assert_eq!((first.checkpoints[1].available, second.from), (None, mi(30)));
    let requests: Vec<_> = second.checkpoints.iter().map(|it| (it.requested, it.done)).collect();
    assert_eq!(requests, [(at(115.0), mi(60)), (at(147.0), mi(90))]);
    assert_eq!(ran.done(0), Some(159.0));
    let ran = ft_m1(67.0).run_on_both();
    assert_eq!(ran.attempts_of(0)[1].from, mi(60));
}

#[test]
fn ft_m3_a_checkpoint_is_omitted_where_nothing_fails() {
    let run = |max_omit| {
        let rule = IntervalRule::LastFailure { interval: secs(600.0), max_omit };
        let grid = Grid::new(WITH_CHECKPOINTS).resource(1, 1).job(2_000, 3_000);
        grid.change(|plan| plan.checkpoints = checkpoints(rule, 10.0)).run_on_both()
    };
    let ran = run(None);
    let it = ran.attempts_of(0)[0];
    assert_eq!((it.checkpoints.len(), it.omitted, ran.done(0)), (1, 3, Some(5_010.0)));
    let ran = run(Some(2));
    let it = ran.attempts_of(0)[0];
    assert_eq!((it.checkpoints.len(), it.omitted, ran.done(0)), (2, 2, Some(5_020.0)));
}

/// The last example of the three: the resource has not failed for long, and α limits the interval.
#[test]
fn ft_m4_the_interval_grows_while_the_job_should_end_before_the_next_failure() {
    let run = |limit| {
        let rule = IntervalRule::MeanFailure {
            interval: secs(1_000.0),
            minimum: Length::Fixed(secs(100.0)),
            step: Length::Fixed(secs(1_000.0)),
            limit,
            first: secs(200.0),
        };
        let grid = Grid::new(WITH_CHECKPOINTS).resource(1, 1).job(0, 10_000);
        let ran = grid
            .change(|plan| {
                plan.checkpoints = checkpoints(rule, 10.0)
                    .map(|it| Checkpoints { mean_failure: MeanFailure::Closed, ..it });
            })
            .run_on_both();
        let progress = |it: &haggle_model::grid::CheckpointRecord| it.done.as_mi_f64();
        let saved: Vec<f64> = ran.attempts_of(0)[0].checkpoints.iter().map(progress).collect();
        (saved, ran.done(0))
    };
    let whole = run(Fraction::ONE);
    assert_eq!(whole, (vec![200.0, 2_200.0, 5_200.0, 9_200.0], Some(10_040.0)));
    let quarter = run(Fraction::from_percent(25));
    assert_eq!(quarter, (vec![200.0, 2_200.0, 5_200.0, 7_200.0], Some(10_040.0)));
}

fn replicas(min: u32, max: u32, room: u64) -> Replicas {
    Replicas { min, max, room, unit: LoadUnit::Slots }
}

#[test]
fn ft_m5_copies_wait_while_there_is_no_room() {
    let policy = GridPolicy::LoadDependentRep(replicas(1, 2, 2));
    let grid = Grid::new(policy).resource_at(0, 1, 2).resource_at(1, 1, 2);
    let grid = grid.job(0, 10).job(0, 100).job(0, 100).job(0, 100);
    let ran = grid.change(|plan| plan.period = secs(50.0)).run_on_both();
    let places =
        |job| ran.attempts_of(job).iter().map(|it| (it.resource.0, it.dispatched)).collect();
    let expected: [Vec<(u32, Time)>; 4] = [
        vec![(0, at(0.0)), (1, at(0.0))],
        vec![(0, at(0.0)), (1, at(50.0))],
        vec![(1, at(0.0))],
        vec![(0, at(50.0))],
    ];
    let found: [Vec<(u32, Time)>; 4] = [0, 1, 2, 3].map(places);
    for (found, expected) in found.iter().zip(&expected) {
        assert!(found.starts_with(expected), "{found:?} instead of {expected:?}");
    }
}

#[test]
fn ft_m6_copies_under_light_load_and_checkpoints_under_heavy_load() {
    let policy = GridPolicy::CombinedFt { replicas: replicas(1, 2, 2), resume: 2 };
    let rule = IntervalRule::Periodic { interval: secs(10_000.0) };
    let grid = Grid::new(policy).resource(1, 2).resource(1, 2);
    let grid = grid.job(0, 100).job(0, 18).job(10, 16).job(20, 100).job(30, 50);
    let ran = grid
        .change(|plan| {
            plan.period = secs(10.0);
            plan.checkpoints = checkpoints(rule, 0.0);
        })
        .until(40.0)
        .run_on_both();
    assert_eq!((ran.done(1), ran.done(2)), (Some(36.0), Some(39.0)));
    let attempts = |job| {
        let course = |it: &&haggle_model::grid::AttemptRecord| {
            let seconds = [it.dispatched, it.left].map(Time::as_secs_f64);
            (it.resource.0, seconds, it.done.as_mi_f64())
        };
        ran.attempts_of(job).iter().map(course).collect::<Vec<_>>()
    };
    // It keeps the copy that is further; at 40 there is room for another one.
    let first = attempts(0);
    assert_eq!(first[0], (0, [0.0, 10.0], 5.0));
    assert_eq!(first[1], (1, [0.0, 40.0], 30.0));
    assert_eq!((first[2].0, first[2].1), (0, [40.0, 40.0]));
    assert_eq!(attempts(2), [(0, [10.0, 39.0], 16.0)]);
    assert_eq!(attempts(3), [(1, [20.0, 40.0], 10.0)]);
    assert_eq!((attempts(4)[0].0, attempts(4)[0].1), (0, [40.0, 40.0]));
}

#[test]
fn ft_m7_an_outage_between_two_views_is_not_seen() {
    let noticed = |outage| {
        let policy = GridPolicy::DetectionAndReplication(1);
        let grid = Grid::new(policy).resource(1, 1).job(0, 5_000).fails(0, &[outage]);
        let ran = grid
            .change(|plan| {
                (plan.period, plan.delay) = (secs(600.0), Delay::Periodic(secs(300.0)));
            })
            .until(9_000.0)
            .run_on_both();
        ran.attempts_of(0).get(1).map(|it| it.dispatched.as_secs_f64())
    };
    assert_eq!(noticed((610.0, 1_190.0)), None);
    assert_eq!(noticed((1_150.0, 1_210.0)), Some(1_800.0));
    assert_eq!(noticed((610.0, 1_510.0)), Some(1_800.0));
}

/// Claims FT-4.4.2-a and b: an outage longer than both periods together is seen; a shorter one may not be.
#[test]
fn outages_longer_than_both_periods_are_detected() {
    let mut draws = stream(1, "outages", "detection");
    let mut missed = 0;
    for case in 0..10_000 {
        let is_long = case % 2 == 0;
        let from: f64 = draws.random_range(10.0..3_000.0);
        let length = if is_long {
            draws.random_range(900.1..2_000.0)
        } else {
            draws.random_range(1.0..900.0)
        };
        let grid = Grid::new(GridPolicy::DetectionAndReplication(1)).resource(1, 1).job(0, 4_000);
        let grid = grid.fails(0, &[(from, from + length)]).until(7_000.0).change(|plan| {
            (plan.seed, plan.period) = (case, secs(600.0));
            plan.delay = Delay::Random(secs(300.0));
        });
        let is_seen = grid.run().attempts_of(0).len() > 1;
        assert!(is_seen || !is_long, "from {from} for {length}");
        missed += u32::from(!is_seen);
    }
    assert!(missed > 100, "{missed} of the short ones are missed");
}

#[test]
fn ft_m9_a_job_survives_with_one_of_its_copies() {
    let grid = Grid::new(GridPolicy::UnconditionalRep(2)).resource(1, 1).resource(1, 1).job(0, 100);
    let one = grid.clone().fails(0, &[(50.0, 60.0)]).run_on_both();
    assert_eq!(one.done(0), Some(100.0));
    let both = grid.fails(0, &[(50.0, 60.0)]).fails(1, &[(70.0, 80.0)]).until(500.0).run_on_both();
    assert_eq!((both.done(0), both.attempts.len()), (None, 2));
}

/// Two jobs for one slot; the other resource fails and comes back around a round that takes 3 s.
#[test]
fn a_round_decides_on_what_was_known_when_it_was_answered() {
    let grid = Grid::new(GridPolicy::Migration { checkpointing: false }).resource(1, 1);
    let grid = grid.job(0, 5).change(|plan| {
        (plan.period, plan.query, plan.schedule) = (secs(10.0), secs(1.0), secs(2.0));
    });
    let dispatched = |ran: &GridRan, job: u32| -> Vec<Time> {
        ran.attempts_of(job).iter().map(|it| it.dispatched).collect()
    };
    // Begun at 0, answered at 1, decided at 3.
    let ran = grid.clone().run_on_both();
    assert_eq!((dispatched(&ran, 0), ran.done(0)), (vec![at(3.0)], Some(8.0)));
    // A failure before the answer is seen, and the next round sees that the resource is back.
    let ran = grid.clone().fails(0, &[(1.0, 2.0)]).run_on_both();
    assert_eq!(dispatched(&ran, 0), [at(13.0)]);
    // A failure after it is not seen, whether the resource is back by the decision or not.
    let ran = grid.clone().fails(0, &[(1.000_001, 3.0)]).run_on_both();
    assert_eq!(dispatched(&ran, 0), [at(3.0)]);
    let ran = grid.fails(0, &[(1.000_001, 3.000_001)]).run_on_both();
    let [it] = ran.attempts_of(0)[..] else { panic!("the first one was refused") };
    assert_eq!((it.number, it.dispatched), (2, at(13.0)));
}

#[test]
fn a_round_decides_on_the_jobs_that_are_there_when_it_does() {
    let grid = Grid::new(FJBCR).resource(1, 1).resource(1, 1).job(0, 8).job(0, 30).job(10, 4);
    let grid = grid.job(12, 4).change(|plan| {
        (plan.period, plan.query, plan.schedule) = (secs(10.0), secs(0.25), secs(1.75));
    });
    let ran = grid.run_on_both();
    // Rounds decide at 2, 12 and 22. The first job ends at 10, within the second round. The last one arrives at the
    // instant of its decision and finds no slot.
    let sent = [0, 1, 2, 3].map(|job| ran.attempts_of(job)[0].dispatched);
    assert_eq!(sent, [at(2.0), at(2.0), at(12.0), at(22.0)]);
    assert_eq!(ran.all_done(), [Some(10.0), Some(32.0), Some(16.0), Some(26.0)]);
}

/// A copy of a job that is computed during a round does not exist any more when the round decides.
#[test]
fn who_is_done_during_a_round_is_sent_nowhere() {
    let grid = Grid::new(GridPolicy::UnconditionalRep(2)).resource(1, 1).resource(1, 1);
    let grid = grid.fails(1, &[(0.0, 4.0)]).job(0, 9).change(|plan| {
        (plan.period, plan.schedule) = (secs(5.0), secs(4.999_999));
    });
    // Sent at 4.999999, and done within the round of 10; that of 5 sent its copy.
    let ran = grid.run_on_both();
    assert_eq!(ran.done(0), Some(13.999_999));
    let copies: Vec<_> = ran.attempts_of(0).iter().map(|it| (it.dispatched, it.outcome)).collect();
    let of_5 = (at(9.999_999), AttemptOutcome::Cancelled);
    assert_eq!(copies, [(at(4.999_999), AttemptOutcome::Completed), of_5]);
    let late = grid.fails(1, &[(0.0, 5.000_001)]).run_on_both();
    assert_eq!((late.done(0), late.attempts.len()), (Some(13.999_999), 1));
}

#[test]
fn a_round_that_takes_longer_than_the_period_ends_before_the_next_one_begins() {
    let run = |period: f64, schedule: f64| {
        let grid = Grid::new(FJBCR).resource(1, 1);
        let grid = (0..3).fold(grid, |grid, _| grid.job(0, 1)).job(1, 1);
        let ran = grid
            .change(|plan| (plan.period, plan.schedule) = (secs(period), secs(schedule)))
            .run_on_both();
        [0, 1, 2, 3].map(|job| ran.attempts_of(job)[0].dispatched.as_secs_f64())
    };
    assert_eq!(run(2.0, 2.0), [2.0, 4.0, 6.0, 8.0]);
    assert_eq!(run(2.0, 2.000_001), [2.000_001, 6.000_001, 10.000_001, 14.000_001]);
    // If rounds follow events, the next one begins at once if there was an event.
    assert_eq!(run(0.0, 2.0), [2.0, 4.0, 6.0, 8.0]);
    // The arrival of the last job at 1 begins a round, which sees the slot that is free since 1.5.
    assert_eq!(run(0.0, 0.5), [0.5, 1.5, 3.0, 4.5]);
}

#[test]
fn copies_that_stop_in_the_next_round_stop_when_that_decides() {
    let grid = Grid::new(GridPolicy::UnconditionalRep(2)).resource(2, 1).resource(1, 1);
    let grid = grid.job(0, 100).change(|plan| {
        (plan.period, plan.query, plan.schedule) = (secs(40.0), secs(1.0), secs(9.0));
        plan.cancel_mode = CancelMode::NextRound;
    });
    // Sent at 10, and computed at 60, between rounds.
    let ran = grid.clone().run_on_both();
    assert_eq!(ran.attempts_of(0)[1].left, at(90.0));
    // Computed at 85, within the round begun at 80, which decides at 90.
    let ran = Grid { jobs: Vec::new(), ..grid }.job(0, 150).run_on_both();
    assert_eq!((ran.done(0), ran.attempts_of(0)[1].left), (Some(85.0), at(90.0)));
}

/// Of the rounds at 0, 10, 20, 30 and 40, those at 0 and 10 leave a job in the queue; that at 30 finds none.
#[test]
fn a_scheduler_counts_its_rounds_and_those_that_leave_a_queue() {
    let grid = Grid::new(FJBCR).resource(1, 1).job(0, 9).job(0, 9).job(5, 8).job(31, 9);
    let ran = grid.change(|plan| plan.period = secs(10.0)).run_on_both();
    assert_eq!(ran.all_done(), [Some(9.0), Some(19.0), Some(28.0), Some(49.0)]);
    assert_eq!(ran.rounds, RoundsAccount { rounds: 5, with_queue: 2, evaluations: 0 });
}

/// With random choices, the wasted work is the same as in the example without random choices.
#[test]
fn copies_of_a_job_that_is_done_stop_at_once_or_in_the_next_round() {
    let run = |cancel_mode| {
        // The second copy is slower, and job 1 waits for its slot.
        let grid = Grid::new(GridPolicy::UnconditionalRep(2)).resource(2, 1).resource(1, 1);
        let grid = grid.job(0, 100).job(0, 30).job(0, 30);
        let change = |plan: &mut haggle_agents::grid::GridPlan| {
            (plan.period, plan.cancel_mode) = (secs(40.0), cancel_mode);
        };
        let ran = grid.change(change).run_on_both();
        let copy = ran.attempts_of(0)[1].clone();
        (
            copy.outcome,
            copy.left,
            copy.done.as_mi_f64(),
            ran.done(0),
            ran.attempts_of(1)[0].dispatched,
        )
    };
    let (outcome, next) = (AttemptOutcome::Cancelled, at(80.0));
    assert_eq!(run(CancelMode::Immediate), (outcome, at(50.0), 50.0, Some(50.0), next));
    assert_eq!(run(CancelMode::NextRound), (outcome, next, 80.0, Some(50.0), next));
}

#[test]
fn ft_m10_copies_of_running_jobs_fill_what_is_free() {
    let grid = Grid::new(GridPolicy::Wqr(2)).resource(1, 1).resource(1, 1).resource(1, 1);
    let ran = grid.job(0, 10).job(0, 20).run_on_both();
    assert_eq!(ran.all_done(), [Some(10.0), Some(20.0)]);
    // One copy ends with its original, because it was unknown which would be first.
    let computed: Work = ran.attempts.iter().map(|it| it.computed()).sum();
    assert_eq!(computed - mi(10) - mi(20), mi(20));
}

/// A job of 1,000 MI has 600 left on 1 MIPS when a faster resource comes back.
#[test]
fn ft_m11_a_job_moves_to_where_it_ends_earlier() {
    let gain = Fraction::from_ppm(0);
    let policy = GridPolicy::Rescheduling { gain, checkpointing: true };
    let run = |megabytes: u64| {
        let rule = IntervalRule::Periodic { interval: secs(100_000.0) };
        let path = haggle_model::network::Path::constant(100e6, Span::from_micros(5_000));
        let grid = Grid::new(policy).resource(1, 1).resource(4, 2).job(0, 1_000).job(0, 10_000);
        // Both begin on the slow resource's side: the fast one is down until 400.
        grid.fails(1, &[(0.0, 390.0)])
            .change(|plan| {
                plan.period = secs(100.0);
                plan.routes = Routes::Constant(path.expect("a good rate"));
                plan.data = data(0, 0, megabytes * 1_000_000);
                plan.checkpoints = checkpoints(rule, 2.0);
            })
            .run_on_both()
    };
    // At 400 the first job has 600 left here and, alone there, 150 s.
    let ran = run(20);
    let [first, second] = ran.attempts_of(0)[..] else { panic!("two attempts") };
    assert_eq!(
        (first.outcome, first.left, first.done),
        (AttemptOutcome::Moved, at(402.0), mi(400))
    );
    assert_eq!(second.from, mi(400));
    assert_eq!(second.started, Some(at(402.0) + secs(1.605)));
    let [here, there] = [0, 1].map(|id| Place::Resource(ProviderId(id)));
    assert!(ran.accounts[1].flows.contains(&flow(here, there, 1, 20_000_000)));
    let ran = run(11_000);
    assert_eq!(ran.attempts_of(0).len(), 1, "moving would take longer than staying");
}

#[test]
fn messages_without_end_are_an_error() {
    let grid = Grid::new(FJBCR).resource(1, 1).job(0, 1_000_000);
    let mut grid = grid.change(|plan| plan.period = secs(1.0));
    grid.no_progress_max = 1_000;
    assert_eq!(
        grid.fail().to_string(),
        "stuck at 997 s with jobs left (1): none has come, ended or been lost during 1000 messages, \
         the last one a `wake` to actor#1; longer periods, intervals and latencies make fewer \
         messages, and an earlier `horizon` ends them"
    );
}

/// A link of 1 Mbit/s to the checkpoint server, over which a checkpoint takes 8 s.
fn slow_link() -> Routes {
    let parameters = StarParameters {
        sites: vec![1],
        services: 2,
        lan_capacity: Capacity::Shared(1e6),
        service_capacity: Capacity::Unlimited,
        lan_latency: Span::ZERO,
        wan_capacity: Capacity::Unlimited,
        wan_latency: Law::Constant(0.0),
    };
    Routes::Star(Arc::new(Star::new(&parameters, 1).expect("good parameters")))
}

#[test]
fn checkpoints_that_come_faster_than_a_link_carries_them_are_given_up_for_newer_ones() {
    let rule = IntervalRule::Periodic { interval: secs(3.0) };
    let grid = Grid::new(WITH_CHECKPOINTS).resource(1, 1).job(0, 30).change(|plan| {
        plan.routes = slow_link();
        plan.period = secs(10.0);
        plan.data = data(0, 0, 1_000_000);
        plan.checkpoints = checkpoints(rule, 0.0);
    });
    for alone in [true, false] {
        let ran = grid.clone().change(|plan| plan.alone = alone).run_on_both();
        let taken = &ran.attempts_of(0)[0].checkpoints;
        let written = |it: &CheckpointRecord| it.written.map(Time::as_secs_f64);
        let all: Vec<_> = taken.iter().filter_map(written).collect();
        assert_eq!(all, [3.0, 6.0, 9.0, 12.0, 15.0, 18.0, 21.0, 24.0, 27.0]);
        // While one checkpoint is under way, the newest one waits for it.
        let arrived =
            taken.iter().filter_map(|it| Some((written(it)?, it.available?.as_secs_f64())));
        let arrived: Vec<_> = arrived.collect();
        assert_eq!(arrived, [(3.0, 11.0), (9.0, 19.0), (18.0, 27.0)]);
    }
}

#[test]
fn a_resource_that_saves_all_the_time_can_be_stopped_between() {
    // 1 ms from one checkpoint to the next, and no event to report for 700 s.
    let grid = Grid::new(WITH_CHECKPOINTS).resource(1, 1).job(0, 700).change(|plan| {
        plan.alone = true;
        plan.period = secs(1e5);
        plan.checkpoints = checkpoints(IntervalRule::Young { mtbf: None }, 0.0);
    });
    let ran = grid.run();
    let woken: Vec<&str> =
        ran.log.iter().filter_map(|it| it.strip_suffix(" 0>0 wake None")).collect();
    assert_eq!(woken, ["250", "500", "700"]);
    assert_eq!(ran.attempts_of(0)[0].written, 700_000 - 1);
}

#[test]
fn a_storage_that_is_full_for_good_ends_the_run() {
    let limits = StorageLimits { capacity: 1_000_000, kept: None };
    let grid = Grid::new(FJBCR).resource(1, 2).job(0, 5).job(0, 5).change(|plan| {
        (plan.data, plan.storage) = (data(0, 1_000_000, 0), Some(limits));
        plan.period = secs(100.0);
    });
    let ran = grid.run_on_both();
    assert_eq!(ran.all_done().iter().flatten().count(), 1);
    assert_eq!(ran.storage.map(|it| (it.waits, it.stuck)), Some((1, 1)));
}

/// The first of three tasks in a row is stored. The second waits for room that never becomes free, and the third
/// waits for the second.
#[test]
fn a_storage_that_is_full_for_good_ends_the_run_of_a_workflow() {
    let limits = StorageLimits { capacity: 1_000_000, kept: None };
    let tasks = [task(5, (0, 1), &[]), task(5, (0, 1), &[0]), task(5, (0, 1), &[1])];
    let rounds = WorkflowPolicy {
        balance: None,
        prediction: Prediction::Extrapolation,
        bound: Fraction::ONE,
        estimate: Estimate::Integrated,
        checkpointing: false,
    };
    let made_before = under(StaticAlgorithm::Heft, Outages::Wait).plan.policy;
    for policy in [GridPolicy::Workflow(rounds), made_before] {
        let grid = with_flow(Grid::new(policy).resource(1, 2), 0, &tasks).change(|plan| {
            (plan.storage, plan.period) = (Some(limits), secs(100.0));
        });
        let ran = grid.run_on_both();
        assert_eq!(ran.all_done().iter().flatten().count(), 1, "{policy:?}");
        assert_eq!(ran.storage.map(|it| (it.waits, it.stuck)), Some((0, 1)), "{policy:?}");
    }
}

/// Of two tasks side by side, the longer one goes first, and so to the faster resource. A custom rule that predicts a
/// longer time for the shorter one sends that one there.
#[test]
fn lengths_may_be_predicted_by_a_rule_of_ones_own() {
    #[derive(Debug, Clone, Serialize, Deserialize)]
    struct Inverse;
    #[typetag::serde]
    impl Predictor for Inverse {
        fn predict(&self, history: &History<'_>) -> Option<f64> {
            history.a_priori.map(|length| 1000.0 / length)
        }
    }
    let own = Own {
        name: "inverse",
        version: 1,
        rule: (|| Box::new(Inverse)) as fn() -> Box<dyn Predictor>,
    };
    let none = (0, 0);
    let beside = [task(10, none, &[0]), task(20, none, &[0])];
    let tasks = [&[task(5, none, &[])], &beside[..], &[task(5, none, &[1, 2])]].concat();
    let ended = |prediction| {
        let rules = WorkflowPolicy {
            balance: None,
            prediction,
            bound: Fraction::ONE,
            estimate: Estimate::Integrated,
            checkpointing: false,
        };
        let grid = Grid::new(GridPolicy::Workflow(rules)).resource(1, 1).resource(4, 1);
        with_flow(grid, 0, &tasks).run_on_both().all_done()
    };
    let (usual, inverse) = (ended(Prediction::Extrapolation), ended(Prediction::Own(own)));
    assert_eq!(usual[1..3].to_vec(), [Some(11.25), Some(6.25)]);
    assert_eq!(inverse[1..3].to_vec(), [Some(3.75), Some(21.25)]);
}

/// A policy that sends the last job first, and to the resource with the greatest number.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct LastToLast;

#[typetag::serde]
impl GridScheduler for LastToLast {
    fn detection(&self) -> Detection {
        Detection::None
    }

    fn round(&mut self, view: &mut View, round: &mut Round<'_>) {
        let free = |view: &View| {
            let ids = (0..view.resources().len() as u32).rev().map(ResourceId);
            ids.into_iter().find(|&id| view.resources().get(id).is_available())
        };
        while let (Some((_, job)), Some(to)) = (view.jobs().shelf(0).last(), free(view)) {
            round.dispatch(view, job, to, Restart::FromBeginning);
        }
    }
}

#[test]
fn a_grid_may_have_a_scheduler_of_ones_own() {
    let build: fn(u32) -> Box<dyn GridScheduler> = |_| Box::new(LastToLast);
    let policy = GridPolicy::Own(Own { name: "last-to-last", version: 1, rule: build });
    let grid = Grid::new(policy).resource(1, 1).resource(2, 1).job(0, 4).job(0, 6).job(0, 8);
    // All arrive at once: the third goes to the faster one, the second to the other, and the first follows when that
    // is free.
    assert_eq!(grid.run_on_both().all_done(), [Some(6.0), Some(6.0), Some(4.0)]);
}
