//! Measured availability against the availability of the laws.

use haggle_model::{Span, Time};
use haggle_workloads::failures::{
    Cause, DEFAULT_SITES, FailureLaw, Failures, MINUTE, NOMINAL_ROWS, Resource, availability,
    mean_availability,
};

const DAY: i64 = 86_400;

/// Availability of `count` resources of one law over `days`.
fn measured(law: &FailureLaw, seed: u64, count: usize, days: i64) -> f64 {
    let resource = |place| Resource { name: format!("r{place}"), cause: Cause::Law(law.clone()) };
    let resources = (0..count).map(resource).collect();
    let failures = Failures { seed, resources, correlations: Vec::new() };
    let of_each = |place| {
        let outages = failures.outages_of(place).expect("good laws");
        availability(outages, Time::from_secs(days * DAY))
    };
    mean_availability(&(0..count).map(of_each).collect::<Vec<_>>())
}

#[test]
fn gm_e5_the_rows_have_their_renewal_availability() {
    for row in NOMINAL_ROWS {
        let law = row.law(MINUTE);
        let found = measured(&law, 0, 10, 35);
        assert!((found - law.availability()).abs() < 0.02, "{row:?}: {found}");
    }
}

#[test]
fn in_seconds_the_rows_have_the_same_availability_but_shorter_outages() {
    let law = NOMINAL_ROWS[4].law(Span::from_secs(1));
    let found = measured(&law, 0, 10, 2);
    assert!((found - 0.6).abs() < 0.02, "{found}");
    assert!((law.mean_up_secs() - 150.5).abs() < 1e-9);
}

#[test]
fn the_default_sites_are_up_for_nine_tenths_of_the_time() {
    // Stationary from the start: also a short time shows the availability, in the mean.
    for (days, allowed) in [(2, 0.03), (90, 0.01)] {
        let seeds = 0..20;
        let of_sites: Vec<f64> = seeds
            .flat_map(|seed| DEFAULT_SITES.map(|site| measured(&site.law(), seed, 20, days)))
            .collect();
        let found = mean_availability(&of_sites);
        assert!((found - 0.9).abs() < allowed, "{days} days: {found}");
    }
}

#[test]
fn the_factor_makes_failures_rarer_and_changes_nothing_else() {
    let law = DEFAULT_SITES[0].law();
    let rarer = FailureLaw { up_factor: 2.0, ..law.clone() };
    assert!((rarer.availability() - 6.0 / 6.4).abs() < 1e-12);
    let found = measured(&rarer, 1, 40, 60);
    assert!((found - rarer.availability()).abs() < 0.01, "{found}");
}
