//! Whole runs of drawn worlds, with the real queues and events and with the obvious ones.

use haggle_model::job::HiddenRunTime;
use haggle_model::moldable::Rounding;
use haggle_model::{Job, JobShape, Span, Speedup};
use haggle_scheduling::reallocation::{Algorithm, ReallocationHeuristic, Rule, Tuning};
use haggle_scheduling::{Fcfs, LocalQueue, Order, Slot};
use haggle_testing::at;
use proptest::prelude::*;

use super::queues::Bookings;
use super::world::{How, Queue, Sent, World, conservative};

#[derive(Clone, Debug)]
struct Drawn {
    sites: Vec<(u32, f64)>,
    jobs: Vec<Sent>,
    fcfs: bool,
    tuning: Tuning,
    period: i64,
    threshold: i64,
    window: usize,
    cost: (i64, i64),
}

fn worlds() -> impl Strategy<Value = Drawn> {
    let sites = prop::collection::vec((1..=8_u32, prop::sample::select(vec![1.0, 1.2, 1.4])), 1..4);
    let job = (0..30_i64, 1..=8_u32, 1..=120_i64, 0..=110_i64, 0..6_usize, 0..9_usize);
    let how = (any::<bool>(), any::<bool>(), 20..200_i64, 0..30_i64, 1..8_usize);
    let cost = (prop_oneof![Just(0), 1..90_i64], prop_oneof![Just(0), 1..20_i64]);
    (sites, prop::collection::vec(job, 1..40), how, cost).prop_map(|(sites, drawn, how, cost)| {
        let (fcfs, exhaustive, period, threshold, window) = how;
        let mut submit = 0;
        let jobs = drawn.into_iter().map(|(gap, processors, requested, percent, kind, site)| {
            submit += gap;
            let run = HiddenRunTime::new(Span::from_secs(requested * percent / 100));
            let site = Some(site).filter(|&site| site < sites.len());
            let rigid = processors.min(site.map_or(u32::MAX, |site| sites[site].0));
            let job = Job::new(0, at(submit), rigid, Span::from_secs(requested));
            let speedup = [(0.5, 3), (0.8, 4), (0.9, 6), (0.99, 8), (1.0, 20), (0.0, 2)][kind];
            let shape = match site {
                Some(_) => JobShape::Rigid,
                None => {
                    let speedup = Speedup::new(speedup.0, speedup.1).expect("a speedup");
                    JobShape::Moldable(speedup.rounded(Rounding::Seconds))
                }
            };
            Sent { job: Job { run_time: run, shape, ..job }, site }
        });
        let jobs = jobs.collect();
        let tuning = if exhaustive { Tuning::Exhaustive } else { Tuning::Binary };
        Drawn { sites, jobs, fcfs, tuning, period, threshold, window, cost }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_job_is_done_when_it_is_in_the_obvious_version(drawn in worlds()) {
        let Drawn { sites, jobs, fcfs, tuning, period, threshold, window, cost } = drawn;
        let fast = |processors| -> Box<LocalQueue> {
            if fcfs { Box::new(LocalQueue::Fcfs(Fcfs::new(processors, Order::Arrival))) } else { conservative(processors) }
        };
        for algorithm in Algorithm::ALL {
            let all = ReallocationHeuristic::ALL.into_iter();
            for (heuristic, resizes) in all.flat_map(|it| [(it, false), (it, true)]) {
                let threshold = Span::from_secs(threshold);
                let every = Some((period, Rule { algorithm, heuristic, threshold, window, resizes }));
                let queues = sites.iter().map(|&(processors, speed)| (fast(processors), processors, speed));
                let mut world = World::new(queues.collect(), tuning);
                world.cost = cost;
                world.run(&jobs, every, How::Fast);
                prop_assert_eq!(world.completions.len(), jobs.len());
                let queues = sites.iter().map(|&(processors, speed)| {
                    (Bookings::new(processors, fcfs), processors, speed)
                });
                let mut obvious = World::new(queues.collect(), tuning);
                obvious.cost = cost;
                obvious.run(&jobs, every, How::Obvious);
                prop_assert_eq!(&world.completions, &obvious.completions, "{:?} {:?}", algorithm, heuristic);
                prop_assert!(world.estimates <= obvious.estimates);
            }
        }
    }
}

/// (processors, seconds, seconds until it may start).
type Asked = (u32, i64, i64);

fn asked(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Asked>> {
    let ready = prop_oneof![3 => Just(0), 1 => 1..400_i64];
    prop::collection::vec((1..=8_u32, 1..=60_i64, ready), count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    /// For long queues, results for one job are remembered for the next.
    #[test]
    fn estimates_of_a_long_queue_are_those_of_the_obvious_version(
        jobs in asked(70..100),
        questions in asked(30..31),
        gone in prop::collection::vec(0..70_u32, 0..4),
    ) {
        let (mut fast, mut obvious) = (conservative(8), Bookings::new(8, false));
        let ask = |fast: &mut Box<LocalQueue>, obvious: &mut Bookings| {
            for &(processors, seconds, ready) in &questions {
                let span = Span::from_secs(seconds);
                let start = fast.earliest(at(0), processors, span, at(ready));
                prop_assert_eq!(start, obvious.earliest(at(0), processors, span, at(ready)));
            }
            Ok(())
        };
        for (slot, &(processors, seconds, ready)) in (0..).zip(&jobs) {
            let span = Span::from_secs(seconds);
            Queue::submit(&mut fast, at(0), Slot(slot), processors, span, at(ready));
            obvious.submit(at(0), Slot(slot), processors, span, at(ready));
        }
        ask(&mut fast, &mut obvious)?;
        let mut gone = Vec::from_iter(gone.into_iter().map(Slot));
        gone.sort_unstable();
        gone.dedup();
        fast.cancel(at(0), &gone);
        obvious.cancel(at(0), &gone);
        ask(&mut fast, &mut obvious)?;
    }
}
