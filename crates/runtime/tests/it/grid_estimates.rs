//! Estimates of starts and ends by the scheduler of a grid, compared with the true times.

use haggle_grids::GridPolicy;
use haggle_model::grid::GridOutcome;
use haggle_model::random::stream;
use haggle_model::{Span, Time};
use haggle_scheduling::placement::Placement;
use rand::RngExt;

use crate::grid_setup::{Grid, GridRan, at, secs};

fn asked(policy: GridPolicy) -> Grid {
    Grid { placement: Some(Placement::MinimumCompletionTime), ..Grid::new(policy) }
}

/// Estimated start and end of each job, in seconds.
fn told(ran: &GridRan) -> Vec<(f64, f64)> {
    let seconds = |time: Time| time.as_secs_f64();
    ran.estimates.iter().map(|&(_, _, [start, end])| (seconds(start), seconds(end))).collect()
}

/// Two machines, of which the second is twice as fast, take one job each. Job 0 has 60 MI on the second until 30 s,
/// and job 1 has 40 MI on the first until 41 s. At 10 s job 0 has 40 MI left, so job 2 follows it at 30 s. By the
/// known progress of job 1, job 3 follows that at 41 s.
#[test]
fn where_nothing_else_happens_it_is_as_told() {
    let grid = asked(GridPolicy::Fjbcr).resource(1, 1).resource(2, 1);
    let ran = grid.job(0, 60).job(1, 40).job(10, 30).job(12, 5).run_on_both();
    assert_eq!(told(&ran), [(0.0, 30.0), (1.0, 41.0), (30.0, 45.0), (41.0, 46.0)]);
    assert_eq!(ran.all_done(), [Some(30.0), Some(41.0), Some(45.0), Some(46.0)]);
}

/// One machine with two slots: job 0 has 18 of its 20 MI left at 2 s and shares with job 1 until 38 s. At 4 s its
/// share is a half, and the estimate assumes that it was so from the beginning: 18 MI left, not 17. So the estimate
/// of job 2 is that it follows at 40 s and computes its 10 MI at half speed by 60 s. It is there two seconds earlier.
#[test]
fn jobs_share_what_they_run_on() {
    let grid = asked(GridPolicy::Fjbcr).resource(1, 2);
    let ran = grid.job(0, 20).job(2, 40).job(4, 10).run_on_both();
    assert_eq!(told(&ran), [(0.0, 20.0), (2.0, 60.0), (40.0, 60.0)]);
    assert_eq!(ran.all_done(), [Some(38.0), Some(70.0), Some(58.0)]);
}

/// Rounds every 10 s that decide 3 s later: job 0 is sent at 3 s, job 1 at the first such instant after its end at 23
/// s. By its length the third would precede the second, and its estimate shows that.
#[test]
fn it_is_sent_in_a_round_and_in_the_order_of_the_policy() {
    let grid = asked(GridPolicy::MinMax).resource(1, 1).change(|plan| {
        (plan.period, plan.query, plan.schedule) = (secs(10.0), secs(1.0), secs(2.0));
    });
    let ran = grid.job(0, 20).job(1, 20).job(4, 5).run_on_both();
    assert_eq!(told(&ran), [(3.0, 23.0), (23.0, 43.0), (23.0, 28.0)]);
    assert_eq!(ran.all_done(), [Some(23.0), Some(53.0), Some(28.0)]);
}

/// Job 0 runs on both machines until the faster one has computed it, at 30 s. The slower one is given back then, too,
/// and the estimate of job 1 is that of the faster one.
#[test]
fn with_the_first_replica_that_ends_the_others_do() {
    let grid = asked(GridPolicy::UnconditionalRep(2)).resource(1, 1).resource(2, 1);
    let ran = grid.job(0, 60).job(1, 40).run_on_both();
    assert_eq!(told(&ran), [(0.0, 30.0), (30.0, 50.0)]);
    assert_eq!(ran.all_done(), [Some(30.0), Some(50.0)]);
}

/// A job without a requested time starts at once, and may never end, as at a provider.
#[test]
fn a_job_without_a_requested_time_has_a_start_and_no_end() {
    let mut grid = asked(GridPolicy::Fjbcr).resource(1, 1).job(0, 20);
    grid.jobs[0].requested_time = None;
    let ran = grid.run_on_both();
    assert_eq!(ran.estimates[0].2, [Time::ZERO, Time::FOREVER]);
    assert_eq!(ran.all_done(), [Some(20.0)]);
}

/// The only resource is down from 5 s to 50 s, and the length of the outage is unknown. By the estimate job 1 never
/// starts, and it is submitted there all the same. Job 0 was lost with the resource.
#[test]
fn a_resource_that_is_down_is_taken_to_stay_so() {
    let grid = asked(GridPolicy::Migration { checkpointing: false }).resource(1, 1);
    let ran = grid.job(0, 20).job(10, 20).fails(0, &[(5.0, 50.0)]).run_on_both();
    assert_eq!(ran.estimates[1].2, [Time::FOREVER; 2]);
    assert_eq!(ran.all_done(), [Some(70.0), Some(90.0)]);
}

/// An estimate draws no number from the scheduler's stream and does not change its view, so it has no effect on jobs.
/// If each job holds a resource alone and takes its requested time, the estimates are exact.
#[test]
fn in_random_grids_without_failures_all_comes_as_told() {
    let mut waited = 0;
    for seed in 0..200 {
        let draws = &mut stream(seed, "estimates", "grids");
        let mut grid = asked(GridPolicy::Fjbcr);
        for _ in 0..draws.random_range(1..5) {
            grid = grid.resource(draws.random_range(1..4), 1);
        }
        let mut submit = 0;
        for _ in 0..draws.random_range(1..20) {
            submit += draws.random_range(0..20);
            grid = grid.job(submit, draws.random_range(1..90));
        }
        grid.plan.period = [Span::ZERO, secs(7.0)][draws.random_range(0..2)];
        let ran = grid.run();
        for &(when, job, [start, end]) in &ran.estimates {
            let attempt = ran.attempts_of(job.0)[0];
            assert_eq!(start, attempt.dispatched, "{job} of grid {seed}");
            assert_eq!(end, attempt.left, "{job} of grid {seed}");
            waited += u32::from(start > when + secs(7.0));
        }
        assert_eq!(ran.estimates.len(), grid.jobs.len());
        let mut unasked = Grid { placement: None, ..grid }.run();
        unasked.jobs.sort_by_key(|it| it.job.id);
        for record in &ran.jobs {
            let GridOutcome::Done { end, .. } = record.outcome else { panic!("{record:?}") };
            assert_eq!(unasked.done(record.job.id.0).map(at), Some(end), "grid {seed}");
        }
    }
    assert!(waited > 500, "only {waited} jobs waited for others");
}
