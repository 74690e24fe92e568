//! Invariants of random grids with failures: nothing is lost silently, done twice or counted wrong.
//! [`Grid::run_on_both`] checks them; here are the grids.

use haggle_agents::grid::{BackgroundLoad, Checkpoints, Delay, JobData, StorageLimits};
use haggle_agents::protocol::GridTimer;
use haggle_agents::{Message, Routes, Timer};
use haggle_grids::{
    CancelMode, CheckpointCost, Fraction, GridPolicy, IntervalRule, LoadUnit, Preference, Replicas,
    Share,
};
use haggle_model::AttemptOutcome;
use haggle_model::grid::{AttemptRecord, GridOutcome};
use haggle_model::network::{Capacity, LinkSharing, Path, Star, StarParameters};
use haggle_model::random::{Stream, stream};
use haggle_model::work::Speed;
use haggle_model::{ActorId, Span, Time};
use haggle_scheduling::checkpoints::{Length, MeanFailure};
use haggle_scheduling::placement::Placement;
use haggle_workloads::failures::{Outage, OutageList};
use rand::RngExt;
use std::sync::Arc;

use crate::grid_setup::{Grid, GridRan, secs};

/// Number of grids of a test run; `HAGGLE_CASES` changes it.
fn cases() -> u64 {
    std::env::var("HAGGLE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

fn pick<T: Copy>(draws: &mut Stream, choices: &[T]) -> T {
    choices[draws.random_range(0..choices.len())]
}

fn policy(draws: &mut Stream) -> GridPolicy {
    let unit = pick(draws, &LoadUnit::ALL);
    let min = draws.random_range(1..3);
    let max = min + draws.random_range(0..3);
    let replicas = Replicas { min, max, room: draws.random_range(0..6), unit };
    let checkpointing = draws.random();
    let gain = Fraction::from_percent(pick(draws, &[0, 20]));
    pick(
        draws,
        &[
            GridPolicy::Fcfs,
            GridPolicy::Fjbcr,
            GridPolicy::MaxMax,
            GridPolicy::MinMax,
            GridPolicy::UnconditionalRep(min),
            GridPolicy::Wqr(max),
            GridPolicy::LoadDependentRep(replicas),
            GridPolicy::DetectionAndReplication(min),
            GridPolicy::FailureDependentRep(replicas),
            GridPolicy::CombinedFt { replicas, resume: replicas.room + 1 },
            GridPolicy::CombinedFt { replicas, resume: 0 },
            GridPolicy::Migration { checkpointing },
            GridPolicy::Rescheduling { gain, checkpointing },
            GridPolicy::Rescheduling { gain, checkpointing },
        ],
    )
}

fn rule(draws: &mut Stream) -> IntervalRule {
    let interval = secs(pick(draws, &[1.0, 5.0, 20.0]));
    let max_omit = pick(draws, &[None, Some(1)]);
    let mtbf = pick(draws, &[None, Some(secs(50.0))]);
    pick(
        draws,
        &[
            IntervalRule::Periodic { interval },
            IntervalRule::LastFailure { interval, max_omit },
            IntervalRule::MeanFailure {
                interval,
                minimum: Length::OfExecution(Fraction::from_percent(1)),
                step: Length::Fixed(interval),
                limit: Fraction::ONE,
                first: secs(3.0),
            },
            IntervalRule::Young { mtbf },
            IntervalRule::Daly { mtbf },
        ],
    )
}

/// Outages on whole seconds, so that they meet ends, transfers and rounds.
fn outages(draws: &mut Stream) -> OutageList {
    let mut list = Vec::new();
    let mut now = draws.random_range(0..60);
    while now < 300 && draws.random_range(0..6) > 0 {
        let restore = now + draws.random_range(1..40);
        list.push(Outage { fail: Time::from_secs(now), restore: Time::from_secs(restore) });
        now = restore + draws.random_range(1..60);
    }
    OutageList::new(list).expect("in order")
}

pub(crate) fn grid(seed: u64) -> Grid {
    let draws = &mut stream(seed, "grids", "random");
    let mut grid = Grid::new(policy(draws));
    let sites = draws.random_range(1..4_u32);
    let mut sizes = vec![0; sites as usize];
    for site in 0..sites {
        for _ in 0..draws.random_range(1..4) {
            let (mips, slots) = (pick(draws, &[1, 1, 2, 3]), draws.random_range(1..4));
            grid = grid.resource_at(site, mips, slots);
            sizes[site as usize] += 1;
        }
    }
    let count = grid.plan.resources.len();
    for _ in 0..draws.random_range(1..15) {
        let submit = pick(draws, &[0, 0, 10, 20, 60]) + draws.random_range(0..3);
        grid = grid.job(submit, draws.random_range(0..80));
    }
    let together = outages(draws);
    for resource in 0..count {
        let list = if draws.random_range(0..3) == 0 { together.clone() } else { outages(draws) };
        grid.plan.resources[resource].up =
            list.as_slice().first().is_none_or(|first| first.fail > Time::ZERO);
        grid.outages.insert(resource, list);
        if draws.random_range(0..4) == 0 {
            grid.plan.resources[resource].load = Some(BackgroundLoad {
                initial: Speed::from_micro_mips(draws.random_range(0..900_000)),
                period: Some(secs(15.0)),
                change: (0.01, 1.0),
            });
            let changes = Message::Wake(Timer::Grid(GridTimer::LoadChanges));
            grid.initial.push((Time::from_secs(15), ActorId(resource as u32), changes));
        }
    }
    let megabytes = |draws: &mut Stream| pick(draws, &[0, 0, 1, 7]) * 1_000_000;
    let plan = &mut grid.plan;
    plan.seed = seed;
    plan.preference = pick(draws, &Preference::ALL);
    plan.period = pick(draws, &[Span::ZERO, secs(5.0), secs(13.0)]);
    plan.delay = pick(draws, &[Delay::None, Delay::Periodic(secs(7.0)), Delay::Random(secs(9.0))]);
    let (input, output) = (megabytes(draws), megabytes(draws));
    let checkpoint = megabytes(draws);
    plan.data = vec![JobData { input, output, checkpoint, share: Share::WHOLE }];
    let rule = rule(draws);
    // If a checkpoint costs nothing, the best interval is zero.
    let least = match rule {
        IntervalRule::Young { .. } | IntervalRule::Daly { .. } => secs(0.1),
        _ => Span::ZERO,
    };
    plan.checkpoints = (draws.random_range(0..5) > 0).then(|| Checkpoints {
        rule,
        cost: pick(
            draws,
            &[
                CheckpointCost::Constant(least),
                CheckpointCost::Constant(secs(1.0)),
                CheckpointCost::BY_LENGTH,
            ],
        ),
        recovery: pick(draws, &[Span::ZERO, secs(2.0)]),
        mean_failure: pick(draws, &MeanFailure::ALL),
    });
    plan.prepare = pick(draws, &[Span::ZERO, secs(1.0)]);
    // Delays up to more than a period, and up to instants at which resources fail and jobs arrive.
    let delays = &mut stream(seed, "grids", "delays");
    plan.query = pick(delays, &[Span::ZERO, Span::ZERO, secs(0.7), secs(2.0)]);
    plan.schedule = pick(delays, &[Span::ZERO, Span::ZERO, secs(1.0), secs(3.3), secs(6.0)]);
    plan.output_survives = draws.random();
    plan.restart_needs_input = draws.random();
    plan.cancel_mode = pick(draws, &CancelMode::ALL);
    plan.storage = (draws.random_range(0..4) == 0).then(|| StorageLimits {
        capacity: 8_000_000,
        kept: pick(draws, &[None, Some(secs(9.0))]),
    });
    if draws.random() {
        let parameters = StarParameters {
            sites: sizes,
            services: 2,
            lan_capacity: Capacity::Shared(8e6),
            wan_capacity: Capacity::PerFlow(4e6),
            ..StarParameters::default()
        };
        let star = Star::new(&parameters, seed).expect("good links");
        plan.routes = Routes::Star(Arc::new(star));
        plan.link_sharing = pick(draws, &LinkSharing::ALL);
    } else if draws.random() {
        let path = Path::constant(8e6, Span::from_micros(500_000)).expect("a good rate");
        plan.routes = Routes::Constant(path);
    }
    let mut grid = grid.until(pick(draws, &[150.0, 700.0]));
    // Requests for estimates have no effect on the outcome of a job.
    let asking = [None, Some(Placement::MinimumCompletionTime), Some(Placement::NextFit)];
    grid.placement = asking[seed as usize % asking.len()];
    grid
}

/// Runs a grid, and prints its seed so that it can be examined.
fn run(seed: u64) -> (Grid, GridRan) {
    let grid = grid(seed);
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| grid.run_on_both()));
    match ran {
        Ok(ran) => (grid, ran),
        Err(panic) => {
            eprintln!("grid {seed}: {grid:#?}");
            std::panic::resume_unwind(panic)
        }
    }
}

#[test]
fn nothing_is_lost_silently_done_twice_or_counted_wrong() {
    let mut ends = std::collections::BTreeMap::new();
    let (mut done, mut open) = (0, 0);
    for seed in 0..cases() {
        let (_, ran) = run(seed);
        for it in &ran.attempts {
            *ends.entry(it.outcome.name()).or_insert(0) += 1;
        }
        for record in &ran.jobs {
            match &record.outcome {
                GridOutcome::Done { .. } => done += 1,
                GridOutcome::Open { .. } => open += 1,
                other => panic!("nobody rejects or withdraws: {other:?}"),
            }
        }
    }
    // All kinds of ends have happened often.
    for end in [
        AttemptOutcome::Completed,
        AttemptOutcome::Failed,
        AttemptOutcome::Cancelled,
        AttemptOutcome::Moved,
        AttemptOutcome::Unfinished,
    ] {
        assert!(ends.get(end.name()).is_some_and(|&count| count > 10), "{end:?} of {ends:?}");
    }
    assert!(done > 1_000 && open > 100, "{done} done, {open} open");
}

/// Returns whether copies of a job were computed at the same instant. The one that is reported first wins, and no
/// rule decides which one that is.
fn has_ties(ran: &GridRan) -> bool {
    ran.jobs.iter().any(|record| {
        let GridOutcome::Done { winner, .. } = record.outcome else { return false };
        let attempts = ran.attempts_of(record.job.id.0);
        let Some(first) = attempts.iter().find(|it| it.number == winner) else { return false };
        let ties = |it: &&&AttemptRecord| it.left == first.left && it.done == first.done;
        attempts.iter().filter(ties).count() > 1
    })
}

/// A resource on which a few long jobs save their progress again and again over one link, and another one for the
/// time after its failure.
fn routine_grid(seed: u64) -> Grid {
    let draws = &mut stream(seed, "grids", "routine");
    let slots = draws.random_range(1..4);
    let mut grid = Grid::new(GridPolicy::Migration { checkpointing: true })
        .resource_at(0, 2, slots)
        .resource_at(0, 1, slots);
    for _ in 0..2 * slots {
        grid = grid.job(draws.random_range(0..30), draws.random_range(0..500));
    }
    let fail = draws.random_range(1.0..400.0);
    grid = grid.fails(0, &[(fail, fail + 100.0)]);
    let plan = &mut grid.plan;
    plan.seed = seed;
    plan.period = secs(150.0);
    plan.data[0].checkpoint = pick(draws, &[0, 300_000, 1_000_000]);
    let interval = secs(pick(draws, &[1.0, 2.0, 5.0]));
    plan.checkpoints = Some(Checkpoints {
        rule: match draws.random() {
            true => IntervalRule::Periodic { interval },
            false => IntervalRule::LastFailure { interval, max_omit: None },
        },
        cost: match draws.random_range(0..4) {
            0 => CheckpointCost::Constant(secs(30.0)),
            1 => CheckpointCost::Constant(Span::ZERO),
            _ => CheckpointCost::BY_LENGTH,
        },
        recovery: Span::ZERO,
        mean_failure: MeanFailure::Elapsed,
    });
    let parameters = StarParameters {
        sites: vec![2],
        services: 2,
        lan_capacity: Capacity::Shared(8e6),
        wan_capacity: Capacity::PerFlow(pick(draws, &[4e6, 100e6])),
        ..StarParameters::default()
    };
    plan.routes = Routes::Star(Arc::new(Star::new(&parameters, seed).expect("good links")));
    plan.link_sharing = pick(draws, &LinkSharing::ALL);
    grid.until(500.0)
}

/// A resource that handles its events by itself does the same as over the common clock.
#[test]
fn alone_or_over_the_clock_of_all_grids_do_the_same() {
    alone_or_not(grid, cases());
    alone_or_not(routine_grid, cases() / 3);
}

fn alone_or_not(grid: fn(u64) -> Grid, cases: u64) {
    let mut fewer = 0;
    for seed in 0..cases {
        let ran = |alone, records_all| {
            let mut grid = grid(seed);
            (grid.plan.alone, grid.plan.records_all) = (alone, records_all);
            let mut ran = grid.run_on_both();
            ran.attempts.sort_by_key(|it| (it.job, it.number));
            ran.jobs.sort_by_key(|it| it.job.id);
            ran
        };
        let (one, other, mut short) = (ran(true, true), ran(false, true), ran(true, false));
        if has_ties(&other) {
            continue;
        }
        assert_eq!(one.attempts, other.attempts, "grid {seed}");
        for ran in [&other, &short] {
            let found = (&ran.jobs, &ran.accounts, &ran.storage);
            assert_eq!((&one.jobs, &one.accounts, &one.storage), found, "grid {seed}");
        }
        fewer += u64::from(one.log.len() < other.log.len());
        // A checkpoint that is not on record is not the start of another attempt; `run_on_both` has checked that.
        for (it, whole) in short.attempts.iter_mut().zip(&one.attempts) {
            assert!(it.checkpoints.iter().all(|kept| whole.checkpoints.contains(kept)));
            it.checkpoints.clone_from(&whole.checkpoints);
        }
        assert_eq!((one.attempts, one.log), (short.attempts, short.log), "grid {seed}");
    }
    assert!(fewer > cases / 6, "only {fewer} grids had resources by themselves");
}

/// A scheduler that looks for restarts notices every failure, so with enough time no job is left.
#[test]
fn who_restarts_what_fails_finishes_everything_in_the_end() {
    for seed in 0..cases() {
        let mut grid = grid(seed);
        let restarts = matches!(
            grid.plan.policy,
            GridPolicy::CombinedFt { .. }
                | GridPolicy::Migration { .. }
                | GridPolicy::Rescheduling { .. }
        );
        if !restarts || grid.plan.storage.is_some() {
            continue;
        }
        // Loads by others go on for ever, and so would jobs under almost full loads.
        grid.plan.resources.iter_mut().for_each(|resource| resource.load = None);
        grid.initial.clear();
        grid.horizon = Some(Time::from_secs(20_000));
        let ran = grid.run_on_both();
        assert!(ran.all_done().iter().all(Option::is_some), "grid {seed}: {grid:#?}\n{ran:#?}");
    }
}
