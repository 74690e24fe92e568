//! The placement policies, checked by the providers at which jobs run.

use haggle_model::{Disclosure, JobOutcome};
use haggle_scheduling::Policy;
use haggle_scheduling::placement::Placement;

use crate::setup::{Setup, job};

fn three_providers(placement: Placement) -> Setup {
    let disclose = |provider: &mut haggle_agents::ProviderConfig| {
        provider.disclosure = Disclosure::Load;
    };
    Setup::default()
        .provider(4, Policy::Conservative)
        .change(disclose)
        .provider(4, Policy::Conservative)
        .change(disclose)
        .provider(2, Policy::Conservative)
        .change(disclose)
        .metascheduler(placement)
}

#[test]
fn round_robin_takes_turns_and_passes_over_those_that_refuse() {
    let jobs = (1..=5).map(|n| job(n, n, 10, 10, 3)).collect();
    let ran = three_providers(Placement::RoundRobin).user(3, jobs).run_on_both();
    // The third provider is too narrow: its turns fall to the first.
    assert_eq!(ran.providers(), [Some(0), Some(1), Some(0), Some(0), Some(1)]);
}

#[test]
fn minimum_completion_time_prefers_the_faster_machine() {
    let jobs = vec![job(1, 0, 30, 30, 4), job(2, 0, 30, 30, 4), job(3, 0, 30, 30, 4)];
    let ran = three_providers(Placement::MinimumCompletionTime)
        .provider(4, Policy::Conservative)
        .change(|provider| provider.speed = 2.0)
        .user(4, jobs)
        .run_on_both();
    // The fast one would end the first two at 15 and 30; by then the others are equally good.
    assert_eq!(ran.providers(), [Some(3), Some(0), Some(1)]);
    assert_eq!(ran.records[0].end.as_micros(), 15_000_000);
}

#[test]
fn least_loaded_goes_by_the_time_to_drain() {
    let busy = vec![job(1, 0, 100, 100, 1)];
    let jobs = vec![job(1, 1, 10, 10, 2), job(2, 1, 10, 10, 2), job(3, 1, 10, 10, 2)];
    let ran = three_providers(Placement::LeastLoaded).user(0, busy).user(3, jobs).run_on_both();
    let external =
        ran.records.iter().filter(|record| record.class == haggle_model::JobClass::External);
    let mut external = Vec::from_iter(
        external.map(|record| (record.job.number, record.provider.expect("placed").0)),
    );
    external.sort_unstable();
    assert_eq!(external, [(1, 1), (2, 2), (3, 1)]);
}

#[test]
fn next_fit_asks_one_after_the_other_until_one_can_start_at_once() {
    let jobs = (1..=4).map(|n| job(n, 0, 10, 10, 4)).collect();
    let ran = three_providers(Placement::NextFit).user(3, jobs).run_on_both();
    // Turns: 0; 1; 2 (too narrow, 0 and 1 are busy until 10: the first of them); 0.
    assert_eq!(ran.providers(), [Some(0), Some(1), Some(0), Some(1)]);
    assert_eq!(ran.starts(), [Some(0), Some(0), Some(10), Some(10)]);
    assert_eq!(ran.log.matches("estimate_request 0").count(), 1);
    assert_eq!(ran.log.matches("estimate_request 2").count(), 3);
}

#[test]
fn random_placement_depends_on_the_stream_alone() {
    let jobs: Vec<_> = (1..=40).map(|n| job(n, n, 1, 1, 1)).collect();
    let setup = three_providers(Placement::Random).user(3, jobs);
    let first = setup.run_on_both().providers();
    assert_eq!(first, setup.run_on_both().providers());
    for provider in 0..3 {
        assert!(first.contains(&Some(provider)));
    }
}

#[test]
fn a_job_wider_than_every_provider_is_rejected_once_all_have_refused() {
    for placement in Placement::ALL {
        let ran = three_providers(placement).user(3, vec![job(1, 0, 10, 10, 5)]).run_on_both();
        assert!(matches!(ran.outcomes()[..], [JobOutcome::Rejected(_)]), "{placement:?}");
    }
}

/// Each job is taken up after all messages about the one before, so each message causes the next one from the first
/// to the last.
#[test]
fn as_many_jobs_as_one_likes_are_placed_at_one_instant() {
    let jobs = (1..=5_000).map(|n| job(n, 0, 10, 10, 1)).collect();
    let ran = three_providers(Placement::MinimumCompletionTime).user(3, jobs).run_on_both();
    assert_eq!(ran.starts().iter().flatten().count(), 5_000);
}
