//! The search for machines: against all subsets of them, and against one another.

use std::sync::Arc;

use haggle_model::Span;
use haggle_planning::synthetic::{ApplicationKind, Draws};
use haggle_planning::{
    Application, Cluster, ClusterOracle, Interval, IntervalOracle, Machines, Phase, PlanSearch,
    Speedup, Term,
};
use proptest::prelude::*;

fn term(coefficient: f64, speedup: Speedup) -> Term {
    Term { coefficient, size: 1.0, load: 1.0, speedup }
}

fn application(phases: &[Phase]) -> Arc<Application> {
    Arc::new(Application::new(phases, 1.0).expect("good phases"))
}

/// 1800 / (a n) + c n / b, the communication for two processors or more.
fn example(communication: f64) -> (Arc<Application>, Arc<Cluster>) {
    let phase = Phase {
        computation: term(1800.0, Speedup::Power(1.0)),
        communication: term(communication, Speedup::Power(-1.0)),
    };
    let cpu = vec![0.9, 0.6, 0.6, 0.3];
    let uplinks = vec![0.5, 0.8, 0.4, 0.8];
    let cluster = Cluster::with_uplinks(1.0, cpu, uplinks).expect("a good cluster");
    (application(&[phase]), Arc::new(cluster))
}

const ONE: Interval = Interval::new(1, 1);

#[test]
fn four_machines_by_hand() {
    for search in PlanSearch::ALL {
        let (application, cluster) = example(40.0);
        let oracle = ClusterOracle::new(&application, &cluster, search).expect("machines");
        assert_eq!(oracle.least_time(ONE), Span::from_secs(1300), "{search:?}");
        assert_eq!(oracle.best_schedule(ONE).numbers(), [0, 1, 2]);
        let (application, cluster) = example(200.0);
        let oracle = ClusterOracle::new(&application, &cluster, search).expect("machines");
        assert_eq!(oracle.least_time(ONE), Span::from_secs(2000), "{search:?}");
        assert_eq!(oracle.best_schedule(ONE).numbers(), [0]);
    }
    // By number of machines: 2000, 1660, 1300, 1900 s, and 2000, 2300, 2500, 3500 s. Of the 16
    // points (CPU, number) that the scan could look at, two levels of CPU are the same.
    for (communication, times) in
        [(40.0, [2000, 1660, 1300, 1900]), (200.0, [2000, 2300, 2500, 3500])]
    {
        let (application, cluster) = example(communication);
        let oracle =
            ClusterOracle::new(&application, &cluster, PlanSearch::Scan).expect("machines");
        for (number, seconds) in (1..).zip(times) {
            let first = Machines::new((0..number).collect());
            assert_eq!(oracle.time_on(&first, ONE), Span::from_secs(seconds), "{number}");
        }
        oracle.least_time(ONE);
        assert_eq!((oracle.effort().searches, oracle.effort().priced), (1, 8));
    }
}

#[test]
fn machines_that_may_not_be_used_are_not() {
    let (application, cluster) = example(40.0);
    let oracle = |may_use: fn(u32) -> bool| {
        ClusterOracle::among(&application, &cluster, PlanSearch::Boxes, may_use)
    };
    assert!(oracle(|_| false).is_none());
    let oracle = oracle(|machine| machine != 1).expect("machines");
    // {0, 2}: 1800/(0.6·2) + 80/0.4 s.
    assert_eq!(oracle.best_schedule(ONE).numbers(), [0, 2]);
    assert_eq!(oracle.least_time(ONE), Span::from_secs(1700));
}

/// Shares of tenths, so that many are the same.
fn share() -> impl Strategy<Value = f64> {
    (1_u32..=10).prop_map(|tenths| f64::from(tenths) / 10.0)
}

fn phases() -> impl Strategy<Value = Vec<Phase>> {
    let works = prop_oneof![Just(0.0), 1.0..2000.0];
    let load = prop_oneof![Just(1.0), 0.0..2.0];
    let computing = prop_oneof![Just(1.0), 0.0..1.2];
    let communicating = prop_oneof![
        Just(Speedup::Power(0.0)),
        Just(Speedup::InverseLog),
        Just(Speedup::InverseOthers),
        (-1.0..1.0).prop_map(Speedup::Power)
    ];
    // Most applications depend on loads in one way; some phases have a way of their own.
    let own_load = prop::option::weighted(0.1, 0.0..2.0);
    let phase = (works.clone(), works, own_load, computing, communicating);
    (load, prop::collection::vec(phase, 1..=4)).prop_map(|(load, phases)| {
        let phase = |(computing, communicating, own, exponent, speedup): (
            f64,
            f64,
            Option<f64>,
            f64,
            Speedup,
        )| {
            let load = own.unwrap_or(load);
            Phase {
                computation: Term { load, ..term(computing, Speedup::Power(exponent)) },
                communication: Term { load, ..term(communicating / 10.0, speedup) },
            }
        };
        phases.into_iter().map(phase).collect()
    })
}

fn uplinked(machines: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Arc<Cluster>> {
    prop::collection::vec((share(), share()), machines).prop_map(|shares| {
        let (cpu, uplinks) = shares.into_iter().unzip();
        Arc::new(Cluster::with_uplinks(1.2, cpu, uplinks).expect("good shares"))
    })
}

fn linked(machines: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Arc<Cluster>> {
    machines.prop_flat_map(|machines| {
        let links = prop::collection::vec(prop::collection::vec(share(), machines), machines);
        (prop::collection::vec(share(), machines), links).prop_map(|(cpu, links)| {
            Arc::new(Cluster::with_links(0.8, cpu, links).expect("good shares"))
        })
    })
}

/// The least time on any set of machines at all.
fn least_of_all_sets(oracle: &ClusterOracle, machines: usize, interval: Interval) -> Span {
    let sets = 1_u32..1 << machines;
    let members = |set: u32| (0..machines as u32).filter(move |machine| set >> machine & 1 == 1);
    sets.map(|set| oracle.time_on(&Machines::new(members(set).collect()), interval))
        .min()
        .expect("there is a set")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_set_of_machines_is_better(phases in phases(), cluster in uplinked(1..=8)) {
        let application = application(&phases);
        let whole = Interval::new(1, phases.len());
        for search in [PlanSearch::Scan, PlanSearch::Hulls, PlanSearch::Boxes] {
            let oracle = ClusterOracle::new(&application, &cluster, search).expect("machines");
            let least = least_of_all_sets(&oracle, cluster.machines(), whole);
            prop_assert_eq!(oracle.least_time(whole), least, "{:?}", search);
            prop_assert_eq!(oracle.time_on(&oracle.best_schedule(whole), whole), least);
        }
    }

    #[test]
    fn fast_searches_find_what_the_scan_finds(phases in phases(), cluster in uplinked(1..=60)) {
        let application = application(&phases);
        let whole = Interval::new(1, phases.len());
        let oracle = |search| ClusterOracle::new(&application, &cluster, search).expect("machines");
        let (scan, budget) = (oracle(PlanSearch::Scan), oracle(PlanSearch::BoxesWithinBudget));
        for fast in [oracle(PlanSearch::Boxes), oracle(PlanSearch::Hulls)] {
            prop_assert_eq!(fast.least_time(whole), scan.least_time(whole));
            prop_assert_eq!(fast.best_schedule(whole), scan.best_schedule(whole));
        }
        prop_assert!(budget.least_time(whole) >= scan.least_time(whole));
        let schedule = budget.best_schedule(whole);
        prop_assert_eq!(budget.time_on(&schedule, whole), budget.least_time(whole));
    }

    #[test]
    fn links_of_pairs_give_real_sets(phases in phases(), cluster in linked(1..=7)) {
        let application = application(&phases);
        let whole = Interval::new(1, phases.len());
        let mut times = Vec::new();
        for search in [PlanSearch::Scan, PlanSearch::Boxes, PlanSearch::BoxesWithinBudget] {
            let oracle = ClusterOracle::new(&application, &cluster, search).expect("machines");
            let time = oracle.least_time(whole);
            prop_assert_eq!(oracle.time_on(&oracle.best_schedule(whole), whole), time);
            prop_assert!(time >= least_of_all_sets(&oracle, cluster.machines(), whole));
            times.push(time);
        }
        // The scan maps every point.
        prop_assert!(times[0] <= times[1] && times[1] <= times[2]);
    }

    #[test]
    fn links_as_of_a_switch_are_uplinks(phases in phases(), cluster in uplinked(1..=7), uplinks in prop::collection::vec(share(), 7)) {
        let machines = cluster.machines();
        let links = |one: usize| (0..machines).map(|two| uplinks[one].min(uplinks[two])).collect();
        let cpu: Vec<f64> = (0..machines).map(|one| uplinks[6 - one]).collect();
        let pairs = Cluster::with_links(1.0, cpu.clone(), (0..machines).map(links).collect());
        let switch = Cluster::with_uplinks(1.0, cpu, uplinks[..machines].to_vec());
        let (pairs, switch) = (pairs.map(Arc::new).expect("good shares"), switch.map(Arc::new).expect("good shares"));
        let application = application(&phases);
        let whole = Interval::new(1, phases.len());
        let times = [&pairs, &switch].map(|cluster| {
            ClusterOracle::new(&application, cluster, PlanSearch::Scan).expect("machines").least_time(whole)
        });
        prop_assert_eq!(times[0], times[1]);
    }

    #[test]
    fn to_split_an_interval_saves_time(phases in phases(), cluster in uplinked(1..=40)) {
        let application = application(&phases);
        let oracle = ClusterOracle::new(&application, &cluster, PlanSearch::Boxes).expect("machines");
        let last = phases.len();
        let whole = Interval::new(1, last);
        for marker in 1..last {
            let (left, right) = whole.split_after(marker);
            let apart = oracle.least_time(left) + oracle.least_time(right);
            // Each time is rounded up.
            prop_assert!(apart <= oracle.least_time(whole) + Span::TICK * 2);
        }
    }
}

/// Loads in steps, 19 of CPU and 31 of bandwidth: with 512 machines 301,568 points.
fn stepped_cluster(draws: &mut Draws) -> Arc<Cluster> {
    let cpu = (0..512).map(|_| f64::from(draws.whole(2, 20)) / 20.0).collect();
    let uplinks = (0..512).map(|_| f64::from(draws.whole(20, 50)) / 64.0).collect();
    Arc::new(Cluster::with_uplinks(1.0, cpu, uplinks).expect("good shares"))
}

#[test]
fn boxes_look_at_few_points() {
    let mut draws = Draws::new(7);
    for kind in [ApplicationKind::Md, ApplicationKind::Changa, ApplicationKind::Lammps] {
        let application = application(&kind.draw(1));
        let cluster = stepped_cluster(&mut draws);
        let oracle = |search| ClusterOracle::new(&application, &cluster, search).expect("machines");
        let (scan, boxes, budget) = (
            oracle(PlanSearch::Scan),
            oracle(PlanSearch::Boxes),
            oracle(PlanSearch::BoxesWithinBudget),
        );
        for first in 1..=application.phases() {
            let interval = Interval::new(first, application.phases());
            let least = scan.least_time(interval);
            assert_eq!(boxes.least_time(interval), least);
            let before = budget.effort().priced;
            assert!(budget.least_time(interval) >= least);
            // 8 times the logarithm of 301,568 to the base 4/3, rounded up.
            assert!(budget.effort().priced - before <= 352);
        }
        assert!(boxes.effort().priced * 10 < scan.effort().priced, "{kind:?}");
    }
}
