//! Iterative applications: the published measurements, examples by hand, and laws.

use haggle_model::{ProviderId, Span, Time};
use haggle_planning::iterative::case_study::{
    CLUSTERS, PROCESSES, RANDOM, REGULAR, RESOURCE_SETS, SCALE_FREE, SMALL_WORLD, application,
    cores,
};
use haggle_planning::iterative::{
    Core, IterativeApplication, MappingError, Merge, Offer, PROFILED_ITERATIONS, Process,
    earliest_machines, epsilon, is_no_later, profile,
};
use haggle_testing::secs;
use proptest::prelude::*;

/// Kinds of machines from the fastest, as the case study has them.
const PARADENT: usize = 0;
const BORDEMER: usize = 4;
const BORDEPLAGE: usize = 6;

fn emo() -> IterativeApplication {
    application([PROCESSES; 4])
}

/// In hundredths of a second, rounded.
fn hundredths(span: Span) -> i64 {
    (span.as_micros() + 5_000).div_euclid(10_000)
}

#[test]
fn one_process() {
    assert_eq!(emo().process_time(PARADENT, RANDOM).as_micros().div_euclid(1000), 60_790);
    assert_eq!(emo().process_time(BORDEMER, SCALE_FREE).as_micros().div_euclid(1000), 25_608);
}

#[test]
fn measurements_are_consistent() {
    let measured = CLUSTERS.iter().filter_map(|it| Some((it.throughputs, it.seconds?)));
    let seconds: Vec<u32> = measured.clone().flat_map(|(_, seconds)| seconds).collect();
    assert_eq!(seconds.len(), 24);
    assert_eq!(seconds.iter().sum::<u32>(), 1006);
    assert_eq!(seconds.iter().filter(|&&seconds| seconds < 60).count(), 19);
    let bounds = [(249.8, 250.1), (148.4, 159.0), (149.8, 151.4), (149.4, 151.7)];
    for (rates, seconds) in measured {
        for ((rate, seconds), (low, high)) in rates.iter().zip(seconds).zip(bounds) {
            let iterations = rate * f64::from(seconds);
            assert!(
                iterations > low - 0.05 && iterations < high + 0.05,
                "{rate} {seconds} {iterations}"
            );
        }
        assert!(rates[0].min(rates[1]) > rates[2] && rates[2] > rates[3]);
    }
}

#[test]
fn run_times_of_seven_resource_sets() {
    let synchronous = [72_948, 78_689, 78_689, 85_409, 85_409, 92_308, 100_840];
    let with_transfers = [72_948, 80_609, 80_609, 87_329, 87_329, 94_228, 100_840];
    let asynchronous = [50_002, 57_708, 57_010, 62_911, 64_927, 67_524, 78_619];
    let transfers =
        Merge { transfer: Span::from_micros(800_000), transfers: 2, ..Merge::default() };
    for (number, set) in RESOURCE_SETS.iter().enumerate() {
        let cores = cores(set);
        assert_eq!(cores.len(), 40);
        let run = |merge| emo().synchronous(&cores, merge, false).expect("cores").run_time;
        assert_eq!(hundredths(run(Merge::default())), synchronous[number], "set {}", number + 1);
        assert_eq!(hundredths(run(transfers)), with_transfers[number], "set {}", number + 1);
        let map = emo().asynchronous(&cores, Span::ZERO).expect("cores");
        assert_eq!(hundredths(map.run_time), asynchronous[number], "set {}", number + 1);
    }
}

#[test]
fn over_estimates_that_are_not_needed() {
    let run = |set: usize, merge: Merge| {
        let cores = cores(&RESOURCE_SETS[set - 1]);
        let synchronous = emo().synchronous(&cores, merge, false).expect("cores").run_time;
        let asynchronous = emo().asynchronous(&cores, Span::ZERO).expect("cores").run_time;
        [synchronous, asynchronous].map(Span::as_secs_f64)
    };
    let over = |merge: Merge| {
        let ([one, first], [seven, last]) = (run(1, merge), run(7, merge));
        [seven / one, last / first].map(|ratio| ((ratio - 1.0) * 1000.0).round() / 10.0)
    };
    assert_eq!(over(Merge::default()), [38.2, 57.2]);
    let merge = Merge { fixed: Span::from_micros(5_600_000), ..Merge::default() };
    assert_eq!(over(merge)[0], 35.0);
}

#[test]
fn a_stage_of_the_first_set() {
    let map = emo().synchronous(&cores(&RESOURCE_SETS[0]), Merge::default(), true).expect("cores");
    assert_eq!(map.stages.len(), 12);
    assert!(map.stages.iter().all(|stage| stage == &map.stages[0]));
    let layout: Vec<(usize, u32)> =
        map.stages[0].iter().map(|process| (process.size, process.iterations)).collect();
    let mut expected = vec![(RANDOM, 200); 10];
    expected.extend([(SMALL_WORLD, 217); 10]);
    expected.extend([(REGULAR, 660); 10]);
    expected.extend([(SCALE_FREE, 690); 2]);
    expected.extend([(SCALE_FREE, 633); 8]);
    assert_eq!(layout, expected);
}

#[test]
fn where_processes_of_the_last_set_go() {
    let last = cores(&RESOURCE_SETS[6]);
    let map = emo().asynchronous(&last, Span::ZERO).expect("cores");
    let on = |kind, size| {
        let of = |process: &&Process| last[process.core].kind == kind && process.size == size;
        map.processes.iter().filter(of).count()
    };
    let sizes = [RANDOM, SMALL_WORLD, REGULAR, SCALE_FREE];
    assert_eq!(sizes.map(|size| on(BORDEMER, size)), [105, 74, 7, 6]);
    assert_eq!(sizes.map(|size| on(BORDEPLAGE, size)), [15, 46, 113, 114]);
    // On the first set the earliest core is done long before the last.
    let map = emo().asynchronous(&cores(&RESOURCE_SETS[0]), Span::ZERO).expect("cores");
    let done = |core| {
        map.processes.iter().filter(|process| process.core == core).map(|process| process.end).max()
    };
    let earliest = (0..40).filter_map(done).min().expect("cores");
    assert_eq!(hundredths(earliest), 44_247);
}

/// Sizes H and L on two kinds; four processes of each.
fn small() -> (IterativeApplication, [Core; 2]) {
    let throughputs = vec![vec![4.0, 8.0], vec![3.0, 6.0]];
    let application = IterativeApplication::new(vec![4, 4], 24, throughputs).expect("good");
    (application, [Core { kind: 0, site: 0 }, Core { kind: 1, site: 0 }])
}

#[test]
fn two_cores_by_hand() {
    let (application, cores) = small();
    let map = application.synchronous(&cores, Merge::default(), true).expect("cores");
    assert_eq!((map.run_time, map.stages.len()), (secs(24), 4));
    assert_eq!(
        map.stages[0].iter().map(|process| process.iterations).collect::<Vec<_>>(),
        [24, 36]
    );
    let map = application.asynchronous(&cores, Span::ZERO).expect("cores");
    assert_eq!(map.run_time, secs(21));
    let placed: Vec<_> = map
        .processes
        .iter()
        .map(|process| (process.core, process.end.as_micros() / 1_000_000))
        .collect();
    let expected = [(0, 6), (1, 4), (0, 12), (1, 8), (1, 16), (0, 15), (0, 21), (1, 20)];
    assert_eq!(placed, expected);
}

#[test]
fn throughput_until_it_is_steady() {
    let start_up = |seconds: f64| move |iterations: u32| f64::from(iterations) / 10.0 + seconds;
    let slow = profile(&PROFILED_ITERATIONS, 0.02, start_up(0.5)).expect("counts");
    assert_eq!((slow.iterations, (slow.throughput * 1000.0).round()), (150, 9677.0));
    assert!((slow.seconds - 15.5).abs() < 1e-9);
    let quick = profile(&PROFILED_ITERATIONS, 0.02, start_up(0.1)).expect("counts");
    assert_eq!((quick.iterations, (quick.throughput * 1000.0).round()), (100, 9901.0));
    let never = profile(&[1, 3], 0.02, start_up(0.5)).expect("counts");
    assert_eq!(never.iterations, 3);
    assert_eq!(profile(&[], 0.02, start_up(0.5)), None);
}

#[test]
fn machines_to_ask_for() {
    let offer = |provider, machines, from| Offer {
        provider: ProviderId(provider),
        kind: provider as usize,
        machines,
        from: Time::from_secs(from),
    };
    let choose = |offers: &[Offer], machines| {
        let speed = |kind| [1.0, 1.0, 2.0][kind];
        let chosen = earliest_machines(offers, machines, speed)?;
        let taken: Vec<_> =
            chosen.taken.iter().map(|offer| (offer.provider.0, offer.machines)).collect();
        Some((chosen.start, taken))
    };
    let first = [offer(1, 3, 0), offer(1, 2, 10), offer(2, 2, 4)];
    assert_eq!(choose(&first, 5), Some((Time::from_secs(4), vec![(1, 3), (2, 2)])));
    // The second provider could not commit, and says from when on it can.
    let second = [offer(1, 3, 0), offer(1, 2, 10), offer(2, 2, 7)];
    assert_eq!(choose(&second, 5), Some((Time::from_secs(7), vec![(1, 3), (2, 2)])));
    assert_eq!(choose(&second, 8), None);
    // At the same time the faster machines, and then those of the lower number.
    let tie = [offer(1, 1, 0), offer(0, 1, 0), offer(2, 1, 0)];
    assert_eq!(choose(&tie, 2), Some((Time::ZERO, vec![(2, 1), (0, 1)])));
}

#[test]
fn a_move_that_takes_longer_may_end_earlier() {
    let run = |set: usize| {
        emo()
            .synchronous(&cores(&RESOURCE_SETS[set - 1]), Merge::default(), false)
            .expect("cores")
            .run_time
    };
    let promised = Time::from_secs(900) + run(1);
    assert!(is_no_later(Time::from_secs(500), run(7), promised));
    assert!(!is_no_later(Time::from_secs(650), run(7), promised));
}

#[test]
fn epsilon_of_sets_of_solutions() {
    let reference = [vec![0.0, 1.0], vec![1.0, 0.0]];
    assert_eq!(epsilon(&reference, &reference), Some(0.0));
    assert_eq!(epsilon(&[vec![0.5, 0.5]], &reference), Some(0.5));
    assert_eq!(epsilon(&[vec![0.0, 1.25], vec![1.0, 0.0]], &reference), Some(0.25));
    assert_eq!(epsilon(&[], &reference), None);
    assert_eq!(epsilon(&[vec![0.0]], &reference), None);
}

#[test]
fn what_cannot_be_mapped() {
    let good = || vec![vec![1.0, 2.0]];
    let refused = |processes, iterations, throughputs| {
        IterativeApplication::new(processes, iterations, throughputs).expect_err("refused")
    };
    assert_eq!(refused(vec![0, 0], 1, good()), MappingError::NoProcess);
    assert_eq!(refused(vec![1, 1], 0, good()), MappingError::NoProcess);
    assert_eq!(refused(vec![1], 1, good()), MappingError::Throughput);
    assert_eq!(refused(vec![1, 1], 1, vec![vec![1.0, 0.0]]), MappingError::Throughput);
    let application = IterativeApplication::new(vec![1, 1], 1, good()).expect("good");
    assert_eq!(application.asynchronous(&[], Span::ZERO), Err(MappingError::NoCore));
    let unknown = [Core { kind: 1, site: 0 }];
    let refused = application.synchronous(&unknown, Merge::default(), false);
    assert_eq!(refused, Err(MappingError::UnknownKind { kind: 1 }));
}

/// Few different times, so that there are ties.
fn applications() -> impl Strategy<Value = (IterativeApplication, Vec<Core>)> {
    (1_usize..=4, 1_usize..=4).prop_flat_map(|(kinds, sizes)| {
        let rate = (1_u32..=6).prop_map(f64::from);
        let rows = prop::collection::vec(prop::collection::vec(rate, sizes), kinds);
        let processes = prop::collection::vec(0_u32..=12, sizes)
            .prop_filter("somebody runs", |processes| processes.iter().any(|&number| number > 0));
        let core = (0..kinds, 0_usize..=2).prop_map(|(kind, site)| Core { kind, site });
        (processes, rows, prop::collection::vec(core, 1..=9)).prop_map(
            |(processes, rows, cores)| {
                (IterativeApplication::new(processes, 60, rows).expect("good"), cores)
            },
        )
    })
}

/// How many processes of each size a map has.
fn numbers(processes: &[Process]) -> Vec<usize> {
    (0..4).map(|size| processes.iter().filter(|process| process.size == size).count()).collect()
}

proptest! {
    #[test]
    fn processes_go_where_they_are_done_earliest((application, cores) in applications(), merge in 0_i64..=3) {
        let map = application.asynchronous(&cores, secs(merge)).expect("cores");
        // All cores in turn, from the most powerful: the first core with the earliest end.
        let mut ready = vec![Span::ZERO; cores.len()];
        for process in &map.processes {
            let end = |core: usize| ready[core] + application.process_time(cores[core].kind, process.size);
            let earliest = (0..cores.len()).map(end).min().expect("cores");
            prop_assert_eq!(process.end, earliest);
            prop_assert_eq!(process.start, ready[process.core]);
            ready[process.core] = process.end + secs(merge);
        }
        prop_assert_eq!(map.run_time, ready.into_iter().max().expect("cores"));
        let both = application.synchronous(&cores, Merge::default(), false).expect("cores");
        prop_assert_eq!(numbers(&map.processes), numbers(&both.stages.concat()));
    }

    #[test]
    fn stages_use_every_core_once((application, cores) in applications(), fixed in 0_i64..=5) {
        let merge = Merge { fixed: secs(fixed), ..Merge::default() };
        let plain = application.synchronous(&cores, merge, false).expect("cores");
        let filled = application.synchronous(&cores, merge, true).expect("cores");
        prop_assert_eq!(plain.run_time, filled.run_time);
        let mut total = Span::ZERO;
        for (number, (stage, filled)) in plain.stages.iter().zip(&filled.stages).enumerate() {
            let mut used: Vec<usize> = stage.iter().map(|process| process.core).collect();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(used.len(), stage.len());
            prop_assert!(stage.len() == cores.len() || number + 1 == plain.stages.len());
            total += stage.iter().map(|process| process.end).max().expect("a stage runs") + secs(fixed);
            for (process, filled) in stage.iter().zip(filled) {
                prop_assert!(filled.iterations >= process.iterations && filled.end >= process.end);
            }
        }
        prop_assert_eq!(total, plain.run_time);
    }

    #[test]
    fn as_predicted_where_nothing_differs((application, cores) in applications(), merge in 0_i64..=3) {
        let merge = secs(merge);
        let each = Merge { fixed: merge, ..Merge::default() };
        let synchronous = application.synchronous(&cores, each, false).expect("cores");
        prop_assert_eq!(synchronous.executed(|_| 1.0, merge), synchronous.run_time);
        let asynchronous = application.asynchronous(&cores, merge).expect("cores");
        prop_assert_eq!(asynchronous.executed(|_| 1.0, merge), asynchronous.run_time);
        // Twice as long each, twice as long together.
        let twice = application.synchronous(&cores, Merge::default(), false).expect("cores");
        prop_assert_eq!(twice.executed(|_| 2.0, Span::ZERO), twice.run_time * 2);
        let twice = application.asynchronous(&cores, Span::ZERO).expect("cores");
        prop_assert_eq!(twice.executed(|_| 2.0, Span::ZERO), twice.run_time * 2);
    }
}
