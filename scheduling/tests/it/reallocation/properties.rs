//! Whole runs of drawn worlds, by the queues and events as they are and as they are defined.

use haggle_model::job::HiddenRunTime;
use haggle_model::{Job, JobShape, Span, Speedup};
use haggle_scheduling::reallocation::{Algorithm, Heuristic, Rule, Tuning};
use haggle_scheduling::{Fcfs, Order, Reserving};
use proptest::prelude::*;

use super::queues::Bookings;
use super::world::{How, Sent, World, at, conservative};

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
                None => JobShape::Moldable(Speedup::new(speedup.0, speedup.1).expect("a speedup")),
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
        let fast = |processors| -> Box<dyn Reserving> {
            if fcfs { Box::new(Fcfs::new(processors, Order::Arrival)) } else { conservative(processors) }
        };
        for algorithm in Algorithm::ALL {
            let all = Heuristic::ALL.into_iter();
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
