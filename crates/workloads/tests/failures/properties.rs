//! Properties that hold for every law and every correlation.

use haggle_model::law::Law;
use haggle_model::{Span, Time};
use haggle_workloads::failures::{
    Cause, Correlation, FailureError, FailureLaw, FailureStart, Failures, MINUTE, NOMINAL_ROWS,
    Outage, OutageList, Resource,
};
use proptest::prelude::*;

const LOOKED_AT: usize = 400;

fn law() -> impl Strategy<Value = Law> {
    prop_oneof![
        (0.0..100.0).prop_map(|value| Law::Constant(value + 1e-7)),
        (0.0..10.0, 0.1..100.0).prop_map(|(low, width)| Law::Uniform { low, high: low + width }),
        (0.001..1000.0).prop_map(|mean| Law::Exponential { mean }),
        (0.3..3.0, 0.01..1000.0).prop_map(|(shape, mean)| Law::weibull_with_mean(shape, mean)),
        (0.01..100.0, 0.0..3.0).prop_map(|(mean, sigma)| Law::lognormal_with_mean(mean, sigma)),
        Just(Law::Poisson { mean: 0.5 }),
    ]
}

fn cause() -> impl Strategy<Value = Cause> {
    let start = prop::sample::select(&FailureStart::ALL[..]);
    let failure_law = (law(), law(), start, 0.1..10.0).prop_map(|(up, down, start, up_factor)| {
        Cause::Law(FailureLaw { up_factor, start, ..FailureLaw::new(up, down, MINUTE) })
    });
    let outage = (0..100_000_i64, 1..5000_i64).prop_map(|(fail, length)| Outage {
        fail: Time::from_secs(fail),
        restore: Time::from_secs(fail + length),
    });
    let list =
        prop::collection::vec(outage, 0..10).prop_map(OutageList::united).prop_map(Cause::List);
    prop_oneof![8 => failure_law, 1 => list, 1 => Just(Cause::None)]
}

fn failures() -> impl Strategy<Value = Failures> {
    let correlation = |count: usize, name: &'static str, groups: usize| {
        let members = prop::collection::vec(0..=groups, count);
        (members, 0.0..=1.0, 0..300_i64).prop_map(move |(group_of, probability, delay)| {
            let members = |group| (0..group_of.len()).filter(|&r| group_of[r] == group).collect();
            Correlation {
                name: name.to_owned(),
                groups: (0..groups).map(members).collect(),
                probability,
                mean_delay: Span::from_secs(delay),
            }
        })
    };
    (any::<u64>(), prop::collection::vec(cause(), 1..8)).prop_flat_map(move |(seed, causes)| {
        let count = causes.len();
        (correlation(count, "site", 2), correlation(count, "rack", 3)).prop_map(
            move |(site, rack)| Failures {
                seed,
                resources: (0..)
                    .zip(&causes)
                    .map(|(place, cause): (usize, _)| Resource {
                        name: format!("r{place}"),
                        cause: cause.clone(),
                    })
                    .collect(),
                correlations: vec![site, rack],
            },
        )
    })
}

fn first(failures: &Failures) -> Vec<(usize, Outage)> {
    failures.outages().expect("good laws").take(LOOKED_AT).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn every_resource_goes_up_and_down_in_turns(failures in failures()) {
        let outages = first(&failures);
        prop_assert!(outages.is_sorted_by_key(|(_, outage)| outage.fail));
        let mut restored = vec![None; failures.resources.len()];
        for (resource, Outage { fail, restore }) in outages {
            prop_assert!(fail < restore && restore > Time::ZERO && restore <= Time::FOREVER);
            prop_assert!(restored[resource].is_none_or(|restored| restored < fail));
            restored[resource] = Some(restore);
        }
    }

    #[test]
    fn a_resource_alone_fails_as_it_does_among_all(failures in failures()) {
        let outages = first(&failures);
        for place in 0..failures.resources.len() {
            let among: Vec<Outage> =
                outages.iter().filter(|&&(r, _)| r == place).map(|&(_, outage)| outage).collect();
            let alone: Vec<Outage> =
                failures.outages_of(place).expect("good laws").take(among.len()).collect();
            prop_assert_eq!(alone, among);
        }
    }

    #[test]
    fn own_failures_come_with_and_without_correlation(failures in failures()) {
        let alone = Failures { correlations: Vec::new(), ..failures.clone() };
        let together = first(&failures);
        let end = together.last().map_or(Time::ZERO, |(_, outage)| outage.fail);
        for (resource, own) in first(&alone).into_iter().filter(|(_, own)| own.fail < end) {
            // Outages before zero may differ: not all of them are in the sequence.
            let is_down = own.fail < Time::ZERO || together.iter().any(|&(other, outage)| {
                other == resource && outage.fail <= own.fail && own.fail <= outage.restore
            });
            prop_assert!(is_down, "{resource} at {own:?}");
        }
    }

    #[test]
    fn another_resource_changes_no_failures(failures in failures()) {
        let mut more = failures.clone();
        more.resources.push(Resource {
            name: "more".to_owned(),
            cause: Cause::Law(NOMINAL_ROWS[0].law(MINUTE)),
        });
        let given = first(&failures);
        let count = failures.resources.len();
        let kept: Vec<_> = more.outages().expect("good laws")
            .filter(|&(resource, _)| resource < count).take(given.len()).collect();
        prop_assert_eq!(kept, given);
    }
}

/// Two resources that fail after 100 s, and two that hardly ever do.
fn pairs(probability: f64, delay: i64) -> Failures {
    let constant = |up: f64, down: f64| {
        let law = FailureLaw::new(Law::Constant(up), Law::Constant(down), Span::from_secs(1));
        Cause::Law(law)
    };
    let resource = |name: &str, cause| Resource { name: name.to_owned(), cause };
    Failures {
        seed: 1,
        resources: vec![
            resource("a", constant(100.0, 10.0)),
            resource("b", constant(1e9, 5.0)),
            resource("c", constant(1e9, 7.0)),
            resource("d", Cause::None),
        ],
        correlations: vec![Correlation {
            name: "site".to_owned(),
            groups: vec![vec![0, 1, 3], vec![2]],
            probability,
            mean_delay: Span::from_secs(delay),
        }],
    }
}

#[test]
fn a_failure_spreads_inside_its_group_to_what_can_fail() {
    let found: Vec<_> = pairs(1.0, 0).outages().expect("good laws").take(4).collect();
    let outage = |place, fail, restore| {
        (place, Outage { fail: Time::from_secs(fail), restore: Time::from_secs(restore) })
    };
    assert_eq!(
        found,
        [outage(0, 100, 110), outage(1, 100, 105), outage(0, 210, 220), outage(1, 210, 215)]
    );
}

#[test]
fn failures_spread_as_often_and_as_fast_as_asked() {
    const TRIGGERS: usize = 4000;
    let horizon = Time::from_secs(110 * TRIGGERS as i64);
    let hits: Vec<Outage> = pairs(0.25, 20)
        .outages_of(1)
        .expect("good laws")
        .take_while(|outage| outage.fail < horizon)
        .collect();
    let share = hits.len() as f64 / TRIGGERS as f64;
    assert!((share - 0.25).abs() < 0.03, "{share}");
    let delay = |hit: &Outage| (hit.fail.as_secs_f64() - 100.0).rem_euclid(110.0);
    let mean = hits.iter().map(delay).sum::<f64>() / hits.len() as f64;
    assert!((mean - 20.0).abs() < 3.0, "{mean}");
}

#[test]
fn a_failure_of_what_is_down_changes_nothing() {
    let mut failures = pairs(1.0, 0);
    // `b` takes 150 s to repair, so every second failure of `a` finds it down.
    failures.resources[1].cause =
        Cause::Law(FailureLaw::new(Law::Constant(1e9), Law::Constant(150.0), Span::from_secs(1)));
    let fails: Vec<i64> = failures
        .outages_of(1)
        .expect("good laws")
        .take(3)
        .map(|outage| outage.fail.as_micros() / 1_000_000)
        .collect();
    assert_eq!(fails, [100, 320, 540]);
}

#[test]
fn what_fails_once_and_for_all_ends() {
    let mut failures = pairs(0.0, 0);
    failures.resources[1].cause = Cause::List(
        OutageList::new(vec![Outage { fail: Time::from_secs(3), restore: Time::FOREVER }])
            .expect("a good list"),
    );
    assert_eq!(failures.outages_of(1).expect("good laws").count(), 1);
    assert_eq!(failures.outages_of(3).expect("good laws").count(), 0);
    assert_eq!(failures.outages_of(9).expect("good laws").count(), 0);
}

#[test]
fn what_cannot_be_drawn_is_refused_by_name() {
    let message = |change: fn(&mut Failures)| {
        let mut failures = pairs(0.5, 1);
        change(&mut failures);
        failures.outages().map(|_| ()).expect_err("wrong").to_string()
    };
    let with_up = |up: Law| Cause::Law(FailureLaw::new(up, Law::Constant(1.0), MINUTE));
    let refused = |up: Law| {
        let mut failures = pairs(0.5, 1);
        failures.resources[0].cause = with_up(up);
        failures.outages().map(|_| ()).expect_err("wrong")
    };
    assert!(matches!(
        refused(Law::Normal { mean: 5.0, standard_deviation: 1.0 }),
        FailureError::NotATime { .. }
    ));
    assert!(matches!(refused(Law::Constant(0.0)), FailureError::NotATime { .. }));
    assert_eq!(
        refused(Law::Weibull { shape: -1.0, scale: 1.0 }).to_string(),
        "resource \"a\": time up: weibull law: shape is -1, expected a finite number above 0"
    );
    assert_eq!(
        message(|failures| failures.correlations[0].probability = 1.5),
        "correlation \"site\": probability is 1.5, expected 0 to 1"
    );
    assert_eq!(
        message(|failures| failures.correlations[0].groups[1].push(4)),
        "correlation \"site\": there is no resource 4, only 0 to 3"
    );
    assert_eq!(
        message(|failures| failures.correlations[0].groups[1].push(3)),
        "correlation \"site\": resource 3 is listed twice; a resource is in one group at most"
    );
}
