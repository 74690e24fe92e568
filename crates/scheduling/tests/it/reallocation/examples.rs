//! Worked examples. Unless stated otherwise, jobs are of the first kind of the paper: four fifths of the work run in
//! parallel, on up to 32 processors.

use haggle_model::job::HiddenRunTime;
use haggle_model::moldable::Rounding;
use haggle_model::{Job, JobId, JobShape, Moldable, Sizing, Span, Speedup, Time};
use haggle_scheduling::reallocation::{
    Algorithm, Reallocated, ReallocationHeuristic, Rule, Tuning,
};
use haggle_scheduling::{Fcfs, LocalQueue, LocalScheduler, Order, Profile, Request, Slot};
use haggle_testing::at;

use super::world::{How, Sent, World, conservative, seconds};

fn rule(algorithm: Algorithm, heuristic: ReallocationHeuristic) -> Rule {
    Rule { algorithm, heuristic, ..Rule::default() }
}

const MCT_REGULAR: Rule = Rule {
    algorithm: Algorithm::Regular,
    heuristic: ReallocationHeuristic::Mct,
    threshold: Span::from_secs(60),
    window: 20,
    resizes: false,
};

/// A moldable job on its user's `processors`.
fn moldable(submit: i64, processors: u32, requested: i64, run: i64) -> Sent {
    let shape =
        JobShape::Moldable(Speedup::new(0.8, 32).expect("a speedup").rounded(Rounding::Seconds));
    let requested_time = Some(Span::from_secs(requested));
    let run_time = HiddenRunTime::new(Span::from_secs(run));
    let job = Job::new(0, at(submit), processors, Span::ZERO);
    Sent { job: Job { shape, requested_time, run_time, ..job }, site: None }
}

/// A moldable job that takes `seconds` on one processor.
fn alone(seconds: i64) -> Sent {
    // 2.5 times as fast on four.
    moldable(0, 4, seconds * 2 / 5, seconds * 2 / 5)
}

/// A rigid job of a local user.
fn local(site: usize, processors: u32, requested: i64) -> Sent {
    Sent { job: Job::new(0, Time::ZERO, processors, Span::from_secs(requested)), site: Some(site) }
}

/// Clusters with these processors at the speed of reference.
fn clusters(processors: &[u32], now: i64) -> World<Box<LocalQueue>> {
    let site = |&processors: &u32| (conservative(processors), processors, 1.0);
    let mut world = World::new(processors.iter().map(site).collect(), Tuning::Binary);
    world.now = at(now);
    world
}

/// Planned completions of waiting jobs.
fn planned(world: &mut World<Box<LocalQueue>>, jobs: &[JobId]) -> Vec<i64> {
    let planned = world.planned();
    jobs.iter().map(|job| planned[job]).collect()
}

/// M-1, figure 1: a plan with holes. Bisection looks at 1, 5, 3 and 2 and finds 390 s; on four
/// processors the job would be done after 105 s.
#[test]
fn bisection_may_miss_the_best_size() {
    let mut profile = Profile::new(5);
    for (start, end) in [(0, 360), (120, 180), (120, 300), (120, 360)] {
        profile.add(at(start), at(end), 1);
    }
    let job = Moldable::new(Speedup::new(1.0, 5).expect("all"), 5, Span::from_secs(84));
    let mut seen = Vec::new();
    let mut evaluate = |processors| {
        let planned = job.requested(processors, 1.0);
        let start = profile.earliest_fit(processors, planned, Time::ZERO)?;
        let sizing = Sizing { processors, start, planned };
        seen.push((processors, seconds(start), seconds(sizing.completion())));
        Some(sizing)
    };
    let best = Tuning::Binary.best(job.widest(5), &mut evaluate).map(|it| it.processors);
    let exhaustive = Tuning::Exhaustive.best(job.widest(5), &mut evaluate).map(|it| it.processors);
    assert_eq!((best, exhaustive), (Some(2), Some(4)));
    assert_eq!(seen[..4], [(1, 0, 420), (5, 360, 444), (3, 300, 440), (2, 180, 390)]);
    assert_eq!(seen[4..], [(1, 0, 420), (2, 180, 390), (3, 300, 440), (4, 0, 105), (5, 360, 444)]);
}

/// Section 3.2.1 counts ten steps for 650 processors; with both ends there are twelve at most.
#[test]
fn bisection_looks_at_few_sizes() {
    for (widest, fewest, most) in
        [(1, 1, 1), (5, 4, 4), (32, 6, 7), (96, 8, 9), (256, 9, 10), (640, 11, 12), (650, 11, 12)]
    {
        // In either direction.
        for best in 1..=widest {
            let mut seen = 0;
            let found = Tuning::Binary.best(widest, |processors| {
                seen += 1;
                let start = at(i64::from(processors.abs_diff(best)));
                Some(Sizing { processors, start, planned: Span::from_secs(1) })
            });
            assert!((fewest..=most).contains(&seen), "{widest}: {seen}");
            assert!(found.is_some());
        }
    }
}

fn reservations(queue: &mut dyn LocalScheduler) -> (Vec<i64>, Vec<i64>) {
    let jobs = [(3, 100), (2, 50), (1, 80), (4, 30)];
    for (slot, (processors, span)) in (0..).zip(jobs) {
        let span = Some(Span::from_secs(span));
        let (key, deadline, ahead) = (0, None, false);
        let slot = Slot(slot);
        queue.submit(
            at(0),
            Request { key, deadline, ahead, ..Request::new(slot, processors, span) },
        );
    }
    let mut starts =
        |now| Vec::from_iter((0..4).map(|slot| queue.starts().planned_start(at(now), Slot(slot))));
    let before = starts(0).into_iter().map(|it| seconds(it.expect("it waits"))).collect();
    let mut started = Vec::new();
    queue.start_due(at(0), &mut started);
    queue.finished(at(40), Slot(0));
    let mut starts =
        Vec::from_iter((1..4).map(|slot| queue.starts().planned_start(at(40), Slot(slot))));
    starts.retain(Option::is_some);
    let after = starts.into_iter().flatten().map(seconds).collect();
    (before, after)
}

/// M-3.
#[test]
fn each_job_of_a_queue_has_a_reservation() {
    let (before, after) = reservations(&mut **conservative(4));
    // The third has started at once.
    assert_eq!((before, after), (vec![0, 100, 0, 150], vec![40, 90]));
    let (before, after) = reservations(&mut Fcfs::new(4, Order::Arrival));
    assert_eq!((before, after), (vec![0, 100, 100, 180], vec![40, 40, 120]));
}

/// M-4: 729 s on six processors of the faster cluster are more than 622 s on all of them.
#[test]
fn a_job_goes_where_it_is_done_first() {
    let sites = vec![(conservative(4), 4, 1.0), (conservative(8), 8, 1.4)];
    let mut world = World::new(sites, Tuning::Binary);
    world.add(local(0, 2, 500));
    world.add(local(1, 8, 300));
    let job = world.add(alone(1_500));
    assert_eq!(world.place(job), (1, 8));
    assert_eq!(planned(&mut world, &[job]), [622]);
    let there = world.size(0, job);
    assert_eq!((there.processors, seconds(there.start), seconds(there.completion())), (2, 0, 900));
}

/// M-5, an instance of figure 2: a cluster that is full and one that is half empty.
fn a_full_cluster_and_a_half_empty_one() -> (World<Box<LocalQueue>>, [JobId; 3]) {
    let mut world = clusters(&[4, 4], 3_600);
    world.add(local(0, 4, 1_800));
    let jobs = [1_500, 3_000, 1_500].map(|work| world.put(0, alone(work)));
    world.add(local(1, 2, 600));
    assert_eq!(planned(&mut world, &jobs), [6_000, 7_200, 7_800]);
    (world, jobs)
}

/// M-5.
#[test]
fn jobs_move_to_where_they_are_done_earlier() {
    for (algorithm, heuristic, completions, moves) in [
        (Algorithm::Regular, ReallocationHeuristic::Mct, [5_700, 6_000], vec![0, 1]),
        (Algorithm::AllCancellation, ReallocationHeuristic::Mct, [5_700, 6_000], vec![0, 1]),
        (Algorithm::Regular, ReallocationHeuristic::MinMin, [6_300, 5_100], vec![0, 2, 1]),
        (Algorithm::AllCancellation, ReallocationHeuristic::MinMin, [6_300, 5_100], vec![0, 2, 1]),
    ] {
        let (mut world, jobs) = a_full_cluster_and_a_half_empty_one();
        let done = world.reallocate(rule(algorithm, heuristic), How::Fast);
        let moved = done.iter().filter(|it| it.from != it.to);
        let moved = Vec::from_iter(moved.map(|it| jobs.iter().position(|&job| job == it.job)));
        assert_eq!(
            moved,
            Vec::from_iter(moves.into_iter().map(Some)),
            "{algorithm:?} {heuristic:?}"
        );
        // The first starts at once, on two processors.
        assert!(world.runs(jobs[0]));
        assert_eq!(world.place(jobs[0]), (1, 2));
        assert_eq!(planned(&mut world, &jobs[1..]), completions, "{algorithm:?} {heuristic:?}");
    }
}

/// M-5: a job that would be done at 4,500 s moves if its completion at its present place is 61 s later.
#[test]
fn a_job_moves_if_it_gains_more_than_the_threshold() {
    for (completion, moves) in [(4_560, false), (4_561, true)] {
        let mut world = clusters(&[4, 4], 3_600);
        world.add(local(0, 4, completion - 600 - 3_600));
        let job = world.put(0, alone(1_500));
        world.add(local(1, 2, 600));
        assert_eq!(planned(&mut world, &[job]), [completion]);
        let done = world.reallocate(MCT_REGULAR, How::Fast);
        assert_eq!(!done.is_empty(), moves);
    }
}

/// M-5 with data that take 300 s, and start-ups of 100 s or 500 s. The first job could have two processors at 3,900 s
/// or four at 4,200 s, and fewer are better. The second gets the two that are free at 4,200 s. The third gets those
/// that the first leaves, unless that takes too long.
#[test]
fn a_job_moves_if_it_gains_more_than_that_costs() {
    for (start_up, completions, moved) in
        [(100, [4_900, 6_100, 5_900], 3), (500, [5_300, 6_500, 6_000], 2)]
    {
        let (mut world, jobs) = a_full_cluster_and_a_half_empty_one();
        world.cost = (300, start_up);
        let done = world.reallocate(MCT_REGULAR, How::Fast);
        assert_eq!(Vec::from_iter(done.iter().map(|it| it.job)), jobs[..moved]);
        assert_eq!(world.place(jobs[0]), (1, 2));
        assert!(!world.runs(jobs[0]), "its data are on their way");
        assert_eq!(planned(&mut world, &jobs), completions);
    }
}

/// A job that has moved is not examined again before its data have arrived, even if all jobs are cancelled earlier.
#[test]
fn data_on_their_way_have_to_come_first() {
    let mut world = clusters(&[4, 4, 4], 0);
    world.cost = (1_000, 0);
    world.add(local(0, 4, 9_000));
    world.add(local(1, 4, 2_000));
    world.add(local(2, 4, 2_500));
    let job = world.put(0, alone(1_500));
    assert_eq!(world.reallocate(MCT_REGULAR, How::Fast).len(), 1);
    assert_eq!((world.place(job), planned(&mut world, &[job])), ((1, 4), vec![2_600]));
    let all = rule(Algorithm::AllCancellation, ReallocationHeuristic::Mct);
    for (now, done) in [(999, vec![]), (1_000, vec![Reallocated { job, from: 1, to: 1 }])] {
        world.now = at(now);
        assert_eq!(world.reallocate(all, How::Fast), done);
        assert_eq!(planned(&mut world, &[job]), [2_600]);
    }
}

/// M-6 and M-7: a job of 1,500 s waits at a cluster that is full until 7,200 s. One of 6,000 s waits at one that is
/// full until 4,200 s. Which one is older?
fn one_job_each(short_is_older: bool) -> (World<Box<LocalQueue>>, [JobId; 2]) {
    let mut world = clusters(&[4, 4], 3_600);
    world.add(local(0, 4, 3_600));
    world.add(local(1, 4, 600));
    let mut short = None;
    if short_is_older {
        short = Some(world.put(0, alone(1_500)));
    }
    let long = world.put(1, alone(6_000));
    let short = short.unwrap_or_else(|| world.put(0, alone(1_500)));
    assert_eq!(planned(&mut world, &[short, long]), [7_800, 6_600]);
    (world, [short, long])
}

/// M-6 and M-7.
#[test]
fn what_is_cancelled_may_go_ahead_of_what_stays() {
    let both = |algorithm, heuristic, short_is_older| {
        let (mut world, jobs) = one_job_each(short_is_older);
        let done = world.reallocate(rule(algorithm, heuristic), How::Fast);
        assert_eq!(done.iter().filter(|it| it.from != it.to).count(), 1);
        planned(&mut world, &jobs)
    };
    use Algorithm::{AllCancellation, Regular};
    use ReallocationHeuristic::{Mct, MinMin};
    assert_eq!(both(Regular, Mct, true), [7_200, 6_600]);
    assert_eq!(both(AllCancellation, Mct, true), [4_800, 7_200]);
    assert_eq!(both(AllCancellation, Mct, false), [7_200, 6_600]);
    assert_eq!(both(AllCancellation, MinMin, false), [4_800, 7_200]);
    assert_eq!(both(Regular, Mct, false), [7_200, 6_600]);
    assert_eq!(both(Regular, MinMin, false), [7_200, 6_600]);
}

/// M-8: a job of a local user takes the place of the one that was cancelled.
#[test]
fn local_jobs_may_pass_what_is_cancelled() {
    let build = || {
        let mut world = clusters(&[4, 4], 3_600);
        world.add(local(0, 4, 600));
        let job = world.put(0, alone(1_500));
        let rigid = world.add(local(0, 4, 1_000));
        world.add(local(1, 4, 6_400));
        assert_eq!(planned(&mut world, &[job, rigid]), [4_800, 5_800]);
        (world, [job, rigid])
    };
    let (mut world, jobs) = build();
    assert_eq!(world.reallocate(MCT_REGULAR, How::Fast), []);
    assert_eq!(planned(&mut world, &jobs), [4_800, 5_800]);
    let (mut world, jobs) = build();
    let all = rule(Algorithm::AllCancellation, ReallocationHeuristic::Mct);
    let same = Reallocated { job: jobs[0], from: 0, to: 0 };
    assert_eq!(world.reallocate(all, How::Fast), [same]);
    assert_eq!(planned(&mut world, &jobs), [5_800, 5_200]);
}

/// M-9, figure 4: a backfilled migrant makes another job later than it would have been without it, but not later than
/// promised.
#[test]
fn a_migrant_may_delay_others_within_their_promises() {
    for (migrant, end) in [(false, 500), (true, 800)] {
        let mut world = clusters(&[4], 0);
        let mut early = local(0, 2, 600);
        early.job.run_time = HiddenRunTime::new(Span::from_secs(200));
        world.add(early);
        let resident = world.add(local(0, 4, 300));
        assert_eq!(planned(&mut world, &[resident]), [900]);
        if migrant {
            let migrant = world.add(local(0, 2, 500));
            assert!(world.runs(migrant));
        }
        world.run(&[], None, How::Fast);
        assert_eq!(world.completions[&resident], end);
    }
}

/// M-10: whole runs.
#[test]
fn jobs_are_done_earlier_or_later_than_without_reallocation() {
    let jobs = [
        moldable(0, 4, 7_200, 7_200),
        moldable(0, 4, 9_000, 3_000),
        moldable(60, 4, 1_200, 1_200),
        moldable(120, 4, 600, 300),
        moldable(3_300, 4, 2_400, 2_400),
        moldable(3_700, 4, 600, 600),
    ];
    let run = |every| {
        let mut world = clusters(&[4, 4], 0);
        world.run(&jobs, every, How::Fast);
        Vec::from_iter(world.completions.values().copied())
    };
    let reference = run(None);
    assert_eq!(reference, [7_200, 3_000, 8_400, 8_700, 5_700, 6_300]);
    for (heuristic, early, expected, responses, mean_of_ratios) in [
        (
            ReallocationHeuristic::Mct,
            2,
            [7_200, 3_000, 6_900, 7_200, 5_700, 7_800],
            18_020,
            1.074_081,
        ),
        (
            ReallocationHeuristic::MinMin,
            2,
            [7_200, 3_000, 7_200, 6_000, 5_700, 7_800],
            17_120,
            1.039_451,
        ),
    ] {
        for algorithm in Algorithm::ALL {
            let completions = run(Some((3_600, rule(algorithm, heuristic))));
            assert_eq!(completions, expected);
            let both = reference.iter().zip(&completions).zip(&jobs);
            let impacted = Vec::from_iter(both.filter(|((before, after), _)| before != after));
            assert_eq!(impacted.len(), 3);
            assert_eq!(
                impacted.iter().filter(|((before, after), _)| after < before).count(),
                early
            );
            let response = |completion: &i64, sent: &Sent| completion - seconds(sent.job.submit);
            let both = impacted
                .iter()
                .map(|((before, after), sent)| (response(before, sent), response(after, sent)));
            let both = Vec::from_iter(both);
            assert_eq!(both.iter().map(|it| it.0).sum::<i64>(), 19_520);
            assert_eq!(both.iter().map(|it| it.1).sum::<i64>(), responses);
            let ratios = both.iter().map(|&(before, after)| after as f64 / before as f64);
            let mean = ratios.sum::<f64>() / 3.0;
            assert!((mean - mean_of_ratios).abs() < 1e-6, "{mean}");
        }
    }
}
