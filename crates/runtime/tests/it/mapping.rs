//! Iterative applications on several providers: worked cases, and invariants of random worlds.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_agents::Message;
use haggle_agents::coallocator::mapping::MappingConfig;
use haggle_agents::protocol::CoallocationMessage;
use haggle_model::iterative::{Behaviour, Communication};
use haggle_model::{Iterative, Job, JobOutcome, JobRecord, Span, Time};
use haggle_planning::iterative::case_study::{CLUSTERS, ITERATIONS, PROCESSES};
use haggle_planning::iterative::{Core, IterativeApplication, Merge};
use haggle_scheduling::coallocation::{AsksFor, CoallocationPolicy};
use proptest::prelude::*;

use crate::setup::{Ran, Setup, job};

/// An application that is submitted at this time and needs this number of cores.
fn application(id: i64, submit: i64, cores: u32, iterative: &Arc<Iterative>) -> Job {
    let submit = Time::from_secs(submit);
    let job = Job::new(id as u32, submit, cores, Span::ZERO);
    Job { iterative: Some(Arc::clone(iterative)), requested_time: None, ..job }
}

/// Processes of these sizes, with iterations a second of each on types of machine "a", "b" and so on.
fn iterative(processes: &[u32], iterations: u32, rates: &[&[f64]]) -> Iterative {
    let types = ('a'..).map(|it| it.to_string());
    Iterative {
        processes: processes.to_vec(),
        iterations,
        communication: Communication::Asynchronous,
        merge: Span::ZERO,
        transfer: Span::ZERO,
        throughputs: types.zip(rates.iter().map(|it| it.to_vec())).collect(),
        behaviour: Behaviour::new(Span::ZERO, 1.0),
    }
}

/// A metascheduler that maps applications to all providers, which are of these types.
fn mapping(setup: Setup, asks: AsksFor, moves: CoallocationPolicy, machines: &[&str]) -> Setup {
    let machines = Vec::from_iter(machines.iter().map(|it| (*it).to_owned()));
    let mut setup = setup;
    for (provider, machine) in setup.providers.iter_mut().zip(&machines) {
        provider.machine = machine.clone();
    }
    let sites = (0..machines.len()).collect();
    setup.coallocator(moves, 0).change_coallocator(|it| {
        it.trials = 10;
        it.mapping = Some(MappingConfig { asks, machines, sites, tolerance: None });
    })
}

fn applications(ran: &Ran) -> Vec<&JobRecord> {
    let records = ran.records.iter().filter(|record| record.job.iterative.is_some());
    let mut records = Vec::from_iter(records);
    records.sort_by_key(|record| record.job.id);
    records
}

/// Start and end in microseconds, and the number of cores of each provider.
fn place(record: &JobRecord) -> (i64, i64, BTreeMap<u32, u32>) {
    let shares = record.bag.iter().flat_map(|bag| &bag.shares);
    let parts = shares.map(|share| (share.provider.0, share.tasks)).collect();
    let start = record.start.expect("it runs").as_micros();
    (start, record.end.as_micros(), parts)
}

const SECOND: i64 = 1_000_000;

/// Messages about an application until it has a place.
fn negotiation(ran: &Ran) -> Vec<&'static str> {
    let said = ran.messages.iter().filter(|(now, _, _, message)| {
        let ends = ["part_started", "part_finished"].contains(&message.kind());
        *now == Time::ZERO && matches!(message, Message::Coallocation(_)) && !ends
    });
    said.map(|(_, _, _, message)| message.kind()).collect()
}

/// Case M7. The first provider has three cores, and two more from 10 s on; the second has two from 4 s on, but
/// one job has it from 5 to 7 s.
fn two_providers() -> Setup {
    Setup::default()
        .coallocating(5)
        .coallocating(3)
        .user(0, vec![job(1, 0, 10, 10, 2)])
        .user(1, vec![job(2, 0, 4, 4, 2), job(3, 0, 5, 5, 1), job(4, 0, 2, 2, 3)])
}

#[test]
fn who_has_no_room_says_from_when_on_it_has() {
    let twelve = Arc::new(iterative(&[5], 12, &[&[1.0]]));
    let setup = two_providers().user(2, vec![application(9, 0, 5, &twelve)]);
    let ran =
        mapping(setup, AsksFor::Machines, CoallocationPolicy::Rigid, &["a", "a"]).run_on_both();
    let records = applications(&ran);
    let parts = BTreeMap::from([(0, 3), (1, 2)]);
    assert_eq!(place(records[0]), (7 * SECOND, 19 * SECOND, parts));
    // Two trials: the first place was sought in vain once.
    assert_eq!(records[0].bag.as_ref().map(|bag| bag.recompositions), Some(1));
    // 21 messages: the steps of the thesis. Each has an answer except the release, which needs none.
    let round = ["earliest_machines", "earliest_machines", "machines", "machines"];
    let said = negotiation(&ran);
    assert_eq!(said.len(), 21, "{said:?}");
    assert_eq!((&said[..4], &said[9..13]), (&round[..], &round[..]));
    let count = |kind| said.iter().filter(|it| **it == kind).count();
    let counts =
        ["reserve", "part_ready", "part_not_before", "abort_part", "commit_part", "part_committed"];
    assert_eq!(counts.map(count), [4, 3, 1, 1, 2, 2]);
    ran.assert_disclosures();
}

/// The same with published free times: one round suffices, because the gap before 7 s is seen.
#[test]
fn free_times_need_fewer_rounds() {
    let twelve = Arc::new(iterative(&[5], 12, &[&[1.0]]));
    let setup = two_providers().user(2, vec![application(9, 0, 5, &twelve)]);
    let ran = mapping(setup, AsksFor::Slots, CoallocationPolicy::Rigid, &["a", "a"]).run_on_both();
    let (start, end, _) = place(applications(&ran)[0]);
    assert_eq!((start, end), (7 * SECOND, 19 * SECOND));
    assert_eq!(negotiation(&ran).len(), 12);
    ran.assert_disclosures();
}

/// The case study's application.
fn emo(communication: Communication) -> Arc<Iterative> {
    let rates = CLUSTERS.map(|it| (it.name.to_owned(), it.throughputs.to_vec()));
    Arc::new(Iterative {
        processes: vec![PROCESSES; 4],
        iterations: ITERATIONS,
        communication,
        throughputs: BTreeMap::from(rates),
        ..iterative(&[1], 1, &[])
    })
}

/// Case M8: booked on set 1 from 900 s on, and promised for 1629.48 s. Other cores are free at `free`, and one core
/// of paradent, whose provider then requests a move.
fn booked_until_900(free: i64) -> Ran {
    let names = ["paradent", "paramount", "paraquad", "bordemer", "bordeplage"];
    let setup = Setup::default()
        .coallocating(33)
        .coallocating(4)
        .coallocating(4)
        .coallocating(20)
        .coallocating(20)
        .user(0, vec![job(1, 0, 900, 900, 32), job(2, 0, 5000, free, 1)])
        .user(1, vec![job(3, 0, 900, 900, 4)])
        .user(2, vec![job(4, 0, 900, 900, 4)])
        .user(3, vec![job(5, 0, 5000, free, 20)])
        .user(4, vec![job(6, 0, 5000, free, 20)])
        .user(5, vec![application(9, 0, 40, &emo(Communication::Synchronous))]);
    mapping(setup, AsksFor::Machines, CoallocationPolicy::ShiftRemap, &names).run_on_both()
}

#[test]
fn it_moves_to_slower_cores_if_it_is_done_no_later() {
    let promised = Some(Time::from_micros(900 * SECOND + 729_483_288));
    let ran = booked_until_900(500);
    let record = applications(&ran)[0];
    assert_eq!(record.promised_end, promised);
    // One core of paradent changes nothing: a stage takes as long as Random on bordemer.
    let parts = BTreeMap::from([(0, 1), (3, 20), (4, 19)]);
    assert_eq!(place(record), (500 * SECOND, 500 * SECOND + 1_008_403_368, parts));
    assert_eq!(record.outcome, JobOutcome::Completed);
    let ran = booked_until_900(650);
    let record = applications(&ran)[0];
    let parts = BTreeMap::from([(0, 32), (1, 4), (2, 4)]);
    assert_eq!(place(record), (900 * SECOND, 900 * SECOND + 729_483_288, parts));
    assert_eq!(record.promised_end, promised);
    let asked = |ran: &Ran| {
        let requests = ran.messages.iter().filter(|it| it.3.kind() == "reschedule_request");
        requests.count()
    };
    assert!(asked(&ran) > 0, "it was refused, and not forgotten");
}

/// An application that is faster than predicted ends early; a slower one is stopped.
#[test]
fn the_machine_knows_better_than_predictions() {
    for (slowness, lasts, outcome) in
        [(0.5, 6, JobOutcome::Completed), (2.0, 12, JobOutcome::WalltimeReached)]
    {
        let behaviour = Behaviour::new(Span::ZERO, slowness);
        let twelve = Arc::new(Iterative { behaviour, ..iterative(&[5], 12, &[&[1.0]]) });
        let setup = Setup::default().coallocating(5).user(1, vec![application(9, 0, 5, &twelve)]);
        let ran =
            mapping(setup, AsksFor::Machines, CoallocationPolicy::Rigid, &["a"]).run_on_both();
        let record = applications(&ran)[0];
        assert_eq!((record.end, record.outcome), (Time::from_secs(lasts), outcome));
        assert_eq!(record.walltime, Some(Span::from_secs(12)));
    }
}

/// A measurement takes time, once for all applications of a workload and each type of machine. Types on which an
/// application does not run are not used.
#[test]
fn throughputs_are_measured_once() {
    let behaviour = Behaviour::new(Span::from_micros(500_000), 1.0);
    let slow = iterative(&[4], 200, &[&[10.0]]);
    let slow = Arc::new(Iterative { behaviour, ..slow });
    let jobs = vec![application(8, 0, 4, &slow), application(9, 1, 4, &slow)];
    let setup = Setup::default().coallocating(4).coallocating(4).coallocating(4).user(3, jobs);
    let ran = mapping(setup, AsksFor::Machines, CoallocationPolicy::Rigid, &["a", "z", "a"])
        .change_coallocator(|it| {
            if let Some(mapping) = &mut it.mapping {
                mapping.tolerance = Some(0.02);
            }
        })
        .run_on_both();
    let said = |kind: &str| ran.messages.iter().filter(|it| it.3.kind() == kind).count();
    assert_eq!((said("profile"), said("throughput")), (2, 2));
    let records = applications(&ran);
    // Case M6: steady at 150 iterations, after 15.5 s, at 9.677 a second.
    let (start, end, parts) = place(records[0]);
    assert_eq!((start, parts), (15_500_000, BTreeMap::from([(0, 4)])));
    // It takes 0.5 s and 20 s, and was predicted to take 200 / 9.677 s.
    assert_eq!(end - start, 20_500_000);
    assert_eq!(records[0].walltime, Some(Span::from_micros(20_666_667)));
    let (start, _, parts) = place(records[1]);
    assert_eq!((start, parts), (15_500_000, BTreeMap::from([(2, 4)])));
    ran.assert_disclosures();
}

#[test]
fn what_cannot_be_mapped_is_refused() {
    let elsewhere = Arc::new(iterative(&[2], 10, &[]));
    let wide = Arc::new(iterative(&[2], 10, &[&[1.0]]));
    let jobs =
        vec![application(7, 0, 2, &elsewhere), application(8, 0, 6, &wide), job(9, 0, 5, 5, 1)];
    for asks in [AsksFor::Machines, AsksFor::Slots] {
        let setup = Setup::default().coallocating(5).user(1, jobs.clone());
        let ran = mapping(setup, asks, CoallocationPolicy::Rigid, &["a"]).run_on_both();
        let refused = |it: &JobRecord| matches!(it.outcome, JobOutcome::Rejected(_));
        assert!(ran.records.len() == 3 && ran.records.iter().all(refused));
    }
}

/// Rivals of applications at their providers, and applications: each (submit, cores or width, length).
#[derive(Clone, Debug)]
struct Drawn {
    sizes: Vec<u32>,
    kinds: Vec<usize>,
    rates: Vec<Vec<f64>>,
    processes: Vec<u32>,
    synchronous: bool,
    asks: AsksFor,
    moves: CoallocationPolicy,
    rivals: Vec<(usize, i64, u32, i64, i64)>,
    applications: Vec<(i64, u32)>,
    latency: i64,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let rate = prop::collection::vec((1_u32..=5).prop_map(f64::from), 2);
    let setting = (
        prop::collection::vec(1_u32..=5, 1..=3),
        prop::collection::vec(0_usize..2, 3),
        prop::collection::vec(rate, 2),
        prop::collection::vec(0_u32..=6, 2)
            .prop_filter("somebody runs", |it| it.iter().any(|&number| number > 0)),
        (any::<bool>(), any::<bool>(), any::<bool>(), 0_i64..=2),
    );
    let rivals =
        prop::collection::vec((0_usize..3, 0_i64..60, 1_u32..=5, 1_i64..60, 1_i64..60), 0..12);
    let applications = prop::collection::vec((0_i64..80, 1_u32..=8), 1..8);
    (setting, rivals, applications).prop_map(|(setting, mut rivals, mut applications)| {
        // Jobs must be submitted in the order of their times.
        rivals.sort_by_key(|it| it.1);
        applications.sort_by_key(|it| it.0);
        let (sizes, kinds, rates, processes, (synchronous, slots, moves, latency)) = setting;
        let asks = if slots { AsksFor::Slots } else { AsksFor::Machines };
        let moves = if moves { CoallocationPolicy::ShiftRemap } else { CoallocationPolicy::Rigid };
        Drawn {
            sizes,
            kinds,
            rates,
            processes,
            synchronous,
            asks,
            moves,
            rivals,
            applications,
            latency,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// An application takes the time that the algorithms state for its cores, whatever others do and wherever it
    /// moves. It ends no later than promised.
    #[test]
    fn it_takes_what_the_algorithms_say(drawn in drawn()) {
        let Drawn { sizes, kinds, rates, processes, synchronous, asks, moves, rivals, applications: wanted, latency } = drawn;
        let communication =
            if synchronous { Communication::Synchronous } else { Communication::Asynchronous };
        let known = Arc::new(Iterative {
            communication,
            merge: Span::from_secs(1),
            transfer: Span::from_secs(2),
            ..iterative(&processes, 60, &[&rates[0], &rates[1]])
        });
        let mut setup = Setup::default();
        setup.latency = Span::from_secs(latency);
        for &size in &sizes {
            setup = setup.coallocating(size);
        }
        for (place, &size) in sizes.iter().enumerate() {
            let of = rivals.iter().enumerate().filter(|(_, it)| it.0 == place && it.2 <= size);
            let jobs = of.map(|(id, it)| job(id as i64, it.1, it.3.max(it.4), it.3.min(it.4), it.2));
            setup = setup.user(place, jobs.collect());
        }
        let jobs = wanted.iter().zip(100..).map(|(it, id)| application(id, it.0, it.1, &known));
        setup = setup.user(sizes.len(), jobs.collect());
        let machines = Vec::from_iter(kinds.iter().take(sizes.len()).map(|&kind| ["a", "b"][kind]));
        let ran = mapping(setup, asks, moves, &machines).run_on_both();
        ran.assert_disclosures();
        let algorithms = IterativeApplication::new(processes, 60, rates.clone()).expect("good");
        let records = applications(&ran);
        prop_assert_eq!(records.len(), wanted.len());
        for record in records {
            if matches!(record.outcome, JobOutcome::Rejected(_)) {
                prop_assert!(record.job.processors > sizes.iter().sum() || latency > 0 || asks == AsksFor::Machines);
                continue;
            }
            prop_assert_eq!(record.outcome, JobOutcome::Completed);
            let (start, end, parts) = place(record);
            let cores = parts.iter().flat_map(|(&place, &number)| {
                let core = Core { kind: kinds[place as usize], site: place as usize };
                std::iter::repeat_n(core, number as usize)
            });
            let cores = Vec::from_iter(cores);
            prop_assert_eq!(cores.len(), record.job.processors as usize);
            let merge = Merge { fixed: known.merge, transfer: known.transfer, transfers: 2 };
            let predicted = match communication {
                Communication::Synchronous => algorithms.synchronous(&cores, merge, false).expect("cores").run_time,
                Communication::Asynchronous => algorithms.asynchronous(&cores, known.merge).expect("cores").run_time,
            };
            prop_assert_eq!(end - start, predicted.as_micros());
            prop_assert!(record.promised_end.is_some_and(|promised| record.end <= promised));
        }
    }
}

/// A world of applications that are measured, moved and withdrawn.
pub(crate) fn world(asks: AsksFor) -> Setup {
    let behaviour = Behaviour::new(Span::from_secs(1), 0.8);
    let known = iterative(&[3, 4], 200, &[&[40.0, 20.0], &[50.0, 10.0]]);
    let known = Arc::new(Iterative { behaviour, ..known });
    let applications = (0..8).map(|it| application(it, 4 * it, 2 + it as u32 % 6, &known));
    let mut setup = Setup::default()
        .coallocating(4)
        .coallocating(3)
        .coallocating(2)
        .user_with_patience(3, Some(Span::from_secs(60)), applications.collect())
        .user(0, (0..8).map(|it| job(20 + it, 5 * it, 12, 3, 2)).collect())
        .user(1, (0..8).map(|it| job(30 + it, 6 * it, 15, 4, 3)).collect());
    setup.latency = Span::from_secs(1);
    setup = mapping(setup, asks, CoallocationPolicy::ShiftRemap, &["a", "b", "a"]);
    setup.change_coallocator(|it| {
        if let Some(mapping) = &mut it.mapping {
            mapping.tolerance = Some(0.02);
        }
    })
}

#[test]
fn asking_tells_nothing_of_what_is_planned_later() {
    let ran = world(AsksFor::Machines).run_on_both();
    let machines = ran.messages.iter().filter_map(|(_, _, _, message)| match message {
        Message::Coallocation(CoallocationMessage::Machines { available, .. }) => Some(available),
        _ => None,
    });
    let mut answers = 0;
    for available in machines {
        answers += 1;
        assert!(available.steps().is_sorted_by(|one, next| one.1 < next.1), "ever more");
    }
    assert!(answers > 20);
}
