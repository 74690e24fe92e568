//! Checkpoints of rigid jobs that share links on their way to a storage.

use haggle_agents::OnFailure;
use haggle_model::network::LinkSharing;
use haggle_model::{JobOutcome, JobRecord, ProcessorSet, Span, Time};
use haggle_scheduling::checkpoints::{CheckpointRule, Every, Volume};
use haggle_scheduling::{Overrun, Policy};
use proptest::prelude::*;

use crate::flows::{assert_links_are_shared, moved, sites};
use crate::setup::{Setup, job};

/// A checkpoint of 10 MB a processor at each interval. It takes 1 s more than its transfer; alone, the transfer takes
/// another second, and one more for each processor. Recovery takes the same.
fn every(interval: i64) -> OnFailure {
    let second = Span::from_secs(1);
    let volume =
        Volume { bytes: 10_000_000, latency: second, bandwidth: 80_000_000, rounding: Span::ZERO };
    OnFailure::Resume(CheckpointRule {
        every: Every::Interval(Span::from_secs(interval)),
        cost: second,
        recovery: second,
        volume: Some(volume),
    })
}

/// Providers of eight processors that keep checkpoints in one storage.
fn providers(count: u32, interval: i64) -> Setup {
    let add = |setup: Setup, _| {
        setup.provider(8, Policy::Conservative).change(|it| it.on_failure = every(interval))
    };
    let mut setup = (0..count).fold(Setup::default(), add);
    setup.stored = Vec::from_iter(0..count as usize);
    setup.sites = Some((sites(count), LinkSharing::MaxMin));
    setup
}

fn end(record: &JobRecord) -> (i64, i64) {
    assert_eq!(record.outcome, JobOutcome::Completed);
    (record.end.as_micros() / 1_000, record.checkpointing.as_micros() / 1_000)
}

/// Alone, a job of 25 s on two processors writes for 4 s at 10 s and at 24 s, as the queue has planned.
#[test]
fn a_transfer_takes_latency_and_size_by_bandwidth() {
    let setup = providers(1, 10).user(0, vec![job(1, 0, 25, 25, 2)]);
    let record = setup.run_on_both().records.remove(0);
    assert_eq!(end(&record), (33_000, 8_000));
    assert_eq!(record.promised_end, Some(Time::from_secs(33)));
}

/// Two jobs of two and six processors stop at 10 s, and their data flow from 12 s on with 5 MB a second each. The 20
/// MB are there at 16 s; of the 60 MB, 40 MB are left for 4 s more. The next transfers begin at 28 s and 32 s, and
/// the first is there at 30 s.
#[test]
fn jobs_that_write_at_one_time_slow_each_other() {
    let jobs = vec![job(1, 0, 25, 25, 2), job(2, 0, 25, 25, 6)];
    let ran = providers(1, 10).user(0, jobs.clone()).run_on_both();
    assert_eq!(Vec::from_iter(ran.records.iter().map(end)), [(35_000, 10_000), (43_000, 18_000)]);
    // From two providers it is the same: they share the access link of the storage.
    let apart = providers(2, 10).user(0, jobs[..1].to_vec()).user(1, jobs[1..].to_vec());
    let ran = apart.run_on_both();
    assert_eq!(Vec::from_iter(ran.records.iter().map(end)), [(35_000, 10_000), (43_000, 18_000)]);
}

/// The first of these was planned to end at 33 s, the second at 41 s. A third job that needs all processors was
/// promised that start. It starts when the second one is done, whether or not jobs may overrun.
#[test]
fn what_waits_starts_later_where_checkpoints_are_late() {
    for overrun in [Overrun::Kill, Overrun::Extend] {
        let jobs = vec![job(1, 0, 25, 25, 2), job(2, 0, 25, 25, 6), job(3, 0, 5, 5, 8)];
        let setup = providers(1, 10).change(|it| it.overrun = overrun);
        let ran = setup.user(0, jobs).run_on_both();
        let third = ran.records.last().expect("three jobs");
        assert_eq!(third.promised_end, Some(Time::from_secs(46)));
        assert_eq!(third.start, Some(Time::from_secs(43)), "{}", ran.log);
        assert_eq!(end(third), (48_000, 0));
    }
}

/// A processor fails at 17 s, when the checkpoint of the first job is there and 30 MB of that of the second are not;
/// it is back at 18 s. If it fails under the first job, that job recovers until 19 s. Its data flow from 20 s on,
/// when the second one has written. It stops at 32 s; its data flow from 34 s on beside 40 MB that are left of the
/// second one's, which stopped at 30 s. If it fails under the second one, the data written so far are lost, and that
/// job begins anew. The first one has written again at 30 s, before they flow.
#[test]
fn a_checkpoint_counts_when_its_data_are_there() {
    let ran = |failed: u32| {
        let jobs = vec![job(1, 0, 25, 25, 2), job(2, 0, 25, 25, 6)];
        let mut setup = providers(1, 10).user(0, jobs);
        setup.failing = vec![(0, ProcessorSet::range(failed, 1), vec![(17, 18)])];
        let ran = setup.run_on_both();
        let lost = ran.records.iter().flat_map(|it| &it.lost);
        let lost = Vec::from_iter(lost.map(|it| (it.saved, it.checkpointing, it.undone())));
        (Vec::from_iter(ran.records.iter().map(end)), lost)
    };
    let secs = Span::from_secs;
    let (ends, lost) = ran(0);
    assert_eq!(lost, [(secs(10), secs(6), secs(1))]);
    assert_eq!(ends, [(43_000, 10_000), (45_000, 20_000)]);
    let (ends, lost) = ran(7);
    assert_eq!(lost, [(secs(0), secs(7), secs(10))]);
    assert_eq!(ends, [(35_000, 10_000), (59_000, 16_000)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// If only one job runs at a time, its checkpoints take as long as with a storage of its own.
    #[test]
    fn one_at_a_time_is_as_with_a_storage_of_its_own(
        works in prop::collection::vec((0_i64..40, 1_i64..60, 0_i64..130, 1_u32..9), 1..8),
        interval in 1_i64..20,
        outages in prop::collection::vec((0_i64..300, 1_i64..40), 0..6),
        extends in any::<bool>(),
    ) {
        let mut submit = 0;
        let jobs = (1..).zip(&works).map(|(number, &(gap, requested, share, _))| {
            submit += gap;
            // All of them need the whole machine.
            job(number, submit, requested, (requested * share / 100).max(1), 8)
        });
        let jobs = Vec::from_iter(jobs);
        let mut setup = providers(1, interval).user(0, jobs);
        setup.providers[0].overrun = if extends { Overrun::Extend } else { Overrun::Kill };
        let outages = outages.iter().map(|&(fail, after)| (fail, fail + after)).collect();
        setup.failing = vec![(0, ProcessorSet::range(0, 8), outages)];
        let ran = setup.run_on_both();
        assert_links_are_shared(&ran)?;
        prop_assert!(moved(&ran).iter().all(|it| it.end.is_some()), "{}", ran.log);
        let mut records = ran.records;
        for record in &mut records {
            for run in &mut record.lost {
                let written = run.checkpoints.iter().rfind(|it| it.written.is_some());
                let saved = written.map_or(Span::ZERO, |it| it.computing);
                prop_assert_eq!(run.saved, saved);
                run.checkpoints.clear();
            }
            record.checkpoints.clear();
        }
        // Checkpoints whose times are known beforehand have no record of their own.
        setup.stored.clear();
        prop_assert_eq!(records, setup.run_on_both().records);
    }
}
