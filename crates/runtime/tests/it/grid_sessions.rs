//! Sessions on a grid: placed at once on resources that reserve shares, or rejected for ever.

use std::collections::BTreeMap;

use haggle_agents::grid::Delay;
use haggle_grids::{
    DynamicLimit, Fraction, GridPolicy, LightLoad, ResourceId, Session, SessionPolicy, Sessions,
    Share, User,
};
use haggle_model::AttemptOutcome;
use haggle_model::grid::GridOutcome;
use haggle_model::random::{Stream, stream};
use haggle_model::{JobOutcome, Refusal, Span, Time};
use haggle_workloads::failures::{Outage, OutageList};
use rand::RngExt;

use crate::grid_setup::{Grid, GridRan, at, secs};

fn grid(policy: SessionPolicy) -> Grid {
    Grid::new(GridPolicy::Sessions(policy))
}

/// Resources of sessions, numbered from 1; 0 = rejected.
fn placed(ran: &GridRan) -> Vec<u32> {
    let count = (ran.jobs.len() + ran.rejected.len()) as u32;
    let place = |job| ran.attempts_of(job).first().map_or(0, |it| it.resource.0 + 1);
    (0..count).map(place).collect()
}

#[test]
fn gm_m4_shares_are_reserved_while_a_session_lasts() {
    let grid = grid(SessionPolicy::FullFill).reserving(10, None);
    let grid = grid.session(0, 1, 40, 40).session(0, 1, 35, 35).session(0, 1, 30, 30);
    let ran = grid.session(10, 1, 30, 30).run_on_both();
    assert_eq!([0, 1, 3].map(|job| ran.done(job)), [Some(10.0), Some(10.0), Some(20.0)]);
    let [refused] = &ran.rejected[..] else { panic!("one is rejected: {ran:#?}") };
    assert_eq!((refused.job.id.0, refused.end), (2, Time::ZERO));
    assert_eq!(refused.outcome, JobOutcome::Rejected(Refusal::NoRoom));
    let reserved: u128 = ran.accounts.iter().filter_map(|it| it.reserved).sum();
    assert_eq!(reserved, 10_000_000 * (750_000 + 300_000));
}

#[test]
fn gm_m9_placement_of_sessions() {
    let placed = |policy| {
        let arrivals = [('A', 60), ('B', 50), ('B', 30), ('A', 40), ('C', 90)];
        let mut grid = (0..3).fold(grid(policy), |grid, _| grid.reserving(1, None));
        for (user, percent) in arrivals {
            grid = grid.session(0, user as i32, percent, 100);
        }
        placed(&grid.run_on_both())
    };
    assert_eq!(placed(SessionPolicy::UserClustering), [1, 2, 2, 1, 3]);
    assert_eq!(placed(SessionPolicy::FullFill), [1, 2, 1, 2, 3]);
    assert_eq!(placed(SessionPolicy::RoundRobin), [1, 2, 3, 1, 0]);
    assert_eq!(placed(SessionPolicy::Limit(Share::from_percent(50))), [0, 1, 2, 3, 0]);
}

#[test]
fn what_is_down_is_not_offered_and_what_fails_is_lost() {
    let grid = grid(SessionPolicy::FullFill).reserving(1, None).reserving(1, None);
    let grid = grid.session(0, 1, 80, 80).session(5, 1, 80, 40).session(6, 1, 80, 8);
    let grid = grid.session(20, 1, 80, 8).fails(0, &[(4.0, 10.0)]);
    let ran = grid.run_on_both();
    assert_eq!(placed(&ran), [1, 2, 0, 1]);
    let lost = &ran.jobs[0];
    assert_eq!((lost.job.id.0, &lost.outcome), (0, &GridOutcome::Lost(at(4.0))));
    assert_eq!([1, 3].map(|job| ran.done(job)), [Some(55.0), Some(30.0)]);
}

/// The scheduler learns too late that the first resource is down. The session that it sends there is refused, and is
/// not sent elsewhere.
#[test]
fn who_is_sent_to_a_resource_that_is_down_is_rejected() {
    let grid = grid(SessionPolicy::FullFill).reserving(1, None).reserving(1, None);
    let grid = grid.session(5, 1, 80, 8).session(7, 1, 80, 8).fails(0, &[(4.0, 10.0)]);
    let ran = grid.change(|plan| plan.delay = Delay::Periodic(secs(6.0))).run_on_both();
    assert_eq!(placed(&ran), [0, 2]);
    assert_eq!(ran.rejected[0].end, at(5.0));
}

#[test]
fn slots_bound_sessions_where_there_are_any() {
    let grid = grid(SessionPolicy::FullFill).reserving(1, Some(2)).reserving(1, None);
    let ran = (0..4).fold(grid, |grid, _| grid.session(0, 1, 10, 10)).run_on_both();
    assert_eq!(placed(&ran), [1, 1, 2, 2]);
}

fn policy(draws: &mut Stream) -> SessionPolicy {
    let initial = LightLoad {
        inter_arrival: secs(draws.random_range(1.0..20.0)),
        holding: secs(draws.random_range(1.0..60.0)),
        share: Share::from_percent(draws.random_range(1..20)),
    };
    let light = Share::from_percent(draws.random_range(5..30));
    match draws.random_range(0..6) {
        0 => SessionPolicy::UserClustering,
        1 => SessionPolicy::FullFill,
        2 => SessionPolicy::RoundRobin,
        3 => SessionPolicy::Limit(Share::from_percent(draws.random_range(10..100))),
        _ => SessionPolicy::DynamicLimit(DynamicLimit {
            light,
            blocking: Fraction::from_percent(draws.random_range(1..40)),
            initial,
        }),
    }
}

/// Resources, and sessions that are short enough for many to end.
fn random(seed: u64) -> (SessionPolicy, Grid) {
    let draws = &mut stream(seed, "sessions", "random");
    let policy = policy(draws);
    let mut grid = grid(policy);
    for _ in 0..draws.random_range(1..5) {
        grid = grid.reserving(draws.random_range(1..4), None);
    }
    let mut now = 0;
    for _ in 0..draws.random_range(20..150) {
        now += draws.random_range(0..4);
        let percent = [5, 5, 5, 10, 40, 70, 100][draws.random_range(0..7)];
        let mi = 1 + i64::from(percent) * draws.random_range(0..40) / 50;
        grid = grid.session(now, draws.random_range(0..4), percent, mi);
    }
    (policy, grid)
}

/// End of a session of this length that starts at `now`, by its share of `mips`.
fn end(now: Time, share: Share, mips: u128, length: Span) -> Time {
    let scaled = length.as_micros() as u128 * u128::from(Share::WHOLE.0);
    now + Span::from_micros(scaled.div_ceil(u128::from(share.0) * mips) as i64)
}

/// The actors accept the same sessions as the rule alone, at the same places.
#[test]
fn actors_accept_what_the_rule_accepts() {
    let (mut accepted, mut rejected) = (0, 0);
    for seed in 0..200 {
        let (policy, grid) = random(seed);
        let resources = grid.plan.resources.len() as u32;
        let mut sessions = Sessions::new(policy, resources);
        // By end, in order of arrival.
        let mut running: BTreeMap<(Time, usize), (Time, Session, ResourceId)> = BTreeMap::new();
        let mut expected = Vec::new();
        for (number, job) in grid.jobs.iter().enumerate() {
            let now = job.submit;
            while let Some(entry) = running.first_entry().filter(|it| it.key().0 <= now) {
                let ended = entry.key().0;
                let (start, session, resource) = entry.remove();
                sessions.depart(start, ended, session, resource);
            }
            let share = grid.share_of(job.id);
            let session = Session { user: User(job.origin.user), share };
            let place = sessions.arrive(now, session, |_| true);
            expected.push(place.map_or(0, |resource| resource.0 + 1));
            if let Some(resource) = place {
                let speed = grid.plan.resources[resource.index()].capacity.as_micro_mips();
                let mips = u128::from(speed / 1_000_000);
                let ends = end(now, share, mips, job.run_time.reveal_to_machine());
                running.insert((ends, number), (now, session, resource));
            }
        }
        let ran = grid.run_on_both();
        assert_eq!(placed(&ran), expected, "grid {seed} of {policy:?}");
        accepted += ran.jobs.len();
        rejected += ran.rejected.len();
    }
    assert!(accepted > 1_000 && rejected > 1_000, "{accepted} accepted, {rejected} rejected");
}

/// With failures, late reports, data and slots: nothing is lost silently, no resource gives more than it has, and a
/// rejected user is notified at once. [`Grid::run_on_both`] checks most of it.
#[test]
fn sessions_are_placed_at_once_or_rejected_for_ever() {
    let (mut lost, mut refused) = (0, 0);
    for seed in 0..200 {
        let (_, mut grid) = random(seed);
        let draws = &mut stream(seed, "sessions", "failures");
        for resource in 0..grid.plan.resources.len() {
            let mut outages = Vec::new();
            let mut now = 0;
            while draws.random_range(0..4) > 0 {
                let fail = now + draws.random_range(1..60);
                now = fail + draws.random_range(1..30);
                let (fail, restore) = (Time::from_secs(fail), Time::from_secs(now));
                outages.push(Outage { fail, restore });
                now += 1;
            }
            grid.outages.insert(resource, OutageList::new(outages).expect("in order"));
        }
        let longest = secs(draws.random_range(0.0..9.0));
        let delays = [Delay::None, Delay::Periodic(longest), Delay::Random(longest)];
        grid.plan.delay = delays[draws.random_range(0..3)];
        for data in &mut grid.plan.data {
            data.input = [0, 0, 500_000][draws.random_range(0..3)];
            data.output = [0, 0, 1_500_000][draws.random_range(0..3)];
        }
        let ran = grid.until(draws.random_range(50.0..400.0)).run_on_both();
        for record in &ran.rejected {
            assert_eq!(record.end, record.job.submit, "grid {seed}");
        }
        for record in &ran.jobs {
            let [it] = ran.attempts_of(record.job.id.0)[..] else {
                panic!("one attempt: {record:?}")
            };
            assert_eq!(it.dispatched, record.job.submit, "grid {seed}");
            match record.outcome {
                GridOutcome::Lost(seen) => {
                    assert!(it.outcome == AttemptOutcome::Failed && it.end <= seen);
                    lost += 1;
                }
                GridOutcome::Done { .. } | GridOutcome::Open { .. } => {}
                _ => panic!("what is taken is not rejected: {record:?}"),
            }
        }
        refused += ran.log.iter().filter(|line| line.contains("dispatch_refused")).count();
    }
    assert!(lost > 100 && refused > 20, "{lost} lost, {refused} refused");
}
