//! Invariants of all runs, on random small worlds.

use std::collections::BTreeMap;

use haggle_model::{Disclosure, EventsOrder, JobOutcome, JobRecord, Span, Time};
use haggle_runtime::Driver;
use haggle_scheduling::placement::Placement;
use haggle_scheduling::{Compression, Order, Overrun, Policy, SchedulerConfig, Scheduling};
use proptest::prelude::*;

use crate::setup::{Setup, job};
use crate::trouble::trouble;

#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    providers: Vec<(u32, usize, usize, usize, bool, u8)>,
    placement: usize,
    local: Vec<Vec<(i64, i64, i64, u32)>>,
    external: Vec<(i64, i64, i64, u32)>,
    patience: Option<i64>,
    latency: i64,
    jitter: i64,
    reordering: bool,
    completions_first: bool,
}

pub(crate) fn drawn() -> impl Strategy<Value = Drawn> {
    // Now and then a job without a limit.
    let requested = || prop_oneof![8 => 1..40_i64, 1 => Just(0)];
    let jobs = move || prop::collection::vec((0..8_i64, requested(), 0..60_i64, 1..=9_u32), 0..25);
    let (policy, order) = (0..Policy::ALL.len(), 0..Order::ALL.len());
    let compression = 0..Compression::ALL.len();
    let provider = (1..=8_u32, policy, order, compression, any::<bool>(), 1..=4_u8);
    (
        prop::collection::vec(provider, 1..4),
        0..Placement::ALL.len(),
        prop::collection::vec(jobs(), 3),
        jobs(),
        prop::option::of(0..30_i64),
        (0..3_i64, prop_oneof![Just(0), 1..20_i64], any::<bool>()),
        any::<bool>(),
    )
        .prop_map(
            |(providers, placement, local, external, patience, network, completions_first)| {
                let (latency, jitter, reordering) = network;
                Drawn {
                    providers,
                    placement,
                    local,
                    external,
                    patience,
                    latency,
                    jitter,
                    reordering,
                    completions_first,
                }
            },
        )
}

pub(crate) fn setup(drawn: &Drawn) -> Setup {
    let mut setup = Setup::default();
    for &(processors, policy, order, compression, extend, speed) in &drawn.providers {
        setup = setup.provider(processors, Policy::ALL[policy]).change(|provider| {
            let order = Order::ALL[order];
            let compression = Compression::ALL[compression];
            let policy = Policy::ALL[policy];
            provider.scheduler =
                SchedulerConfig { policy, order, compression, depth: None, window: None }.into();
            provider.overrun = if extend { Overrun::Extend } else { Overrun::Kill };
            provider.disclosure = Disclosure::Load;
            provider.speed = f64::from(speed) / 2.0;
        });
    }
    let providers = drawn.providers.len();
    setup = setup.metascheduler(Placement::ALL[drawn.placement]);
    let patience = drawn.patience.map(Span::from_secs);
    let mut number = 0;
    let mut list = |drawn: &[(i64, i64, i64, u32)]| {
        let mut submit = 0;
        let jobs = drawn.iter().map(|&(gap, requested, run, processors)| {
            submit += gap;
            number += 1;
            job(number, submit, requested, run, processors)
        });
        jobs.collect::<Vec<_>>()
    };
    for (provider, jobs) in drawn.local.iter().enumerate().take(providers) {
        setup = setup.user_with_patience(provider, patience, list(jobs));
    }
    setup = setup.user_with_patience(providers, patience, list(&drawn.external));
    setup.latency = Span::from_secs(drawn.latency);
    setup.jitter = Span::from_secs(drawn.jitter);
    setup.reordering = drawn.reordering;
    if drawn.completions_first {
        setup.order = EventsOrder::CompletionsFirst;
    }
    setup
}

/// Checks that no processor of a provider holds two jobs at one time.
pub(crate) fn assert_processors_are_held_once(records: &[JobRecord]) {
    let mut held: BTreeMap<(u32, u32), Vec<(i64, i64)>> = BTreeMap::new();
    for record in records {
        let (Some(start), Some(provider)) = (record.start, record.provider) else { continue };
        let granted = record.granted.as_ref();
        let granted =
            granted.map(|it| it.displaced.last().map_or(it.processors, |last| last.processors));
        assert_eq!(record.processors.count(), granted.unwrap_or(record.job.processors));
        for &(first, last) in record.processors.intervals() {
            for processor in first..=last {
                let times = (start.as_micros(), record.end.as_micros());
                held.entry((provider.0, processor)).or_default().push(times);
            }
        }
    }
    for (processor, mut times) in held {
        times.sort_unstable();
        for pair in times.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "{processor:?} holds two jobs: {pair:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn jobs_are_conserved_promises_kept_and_drivers_agree(drawn in drawn(), trouble in trouble()) {
        let mut setup = setup(&drawn);
        setup.trouble = trouble;
        let ran = setup.run(Driver::Sequential);
        let actix = setup.run(Driver::Actix);
        prop_assert_eq!(&ran.log, &actix.log);
        setup.assert_recovery(&ran.log);
        let stats = *ran.result.as_ref().expect("the run ends");
        prop_assert_eq!(stats.jobs as usize, ran.records.len());
        let mut numbers: Vec<i64> = ran.records.iter().map(|record| record.job.number).collect();
        numbers.sort_unstable();
        let all: Vec<i64> = (1..=stats.jobs as i64).collect();
        prop_assert_eq!(numbers, all);
        assert_processors_are_held_once(&ran.records);
        ran.assert_disclosures();
        for record in &ran.records {
            let provider = record.provider.map(|id| &setup.providers[id.index()]);
            match record.outcome {
                JobOutcome::Completed | JobOutcome::WalltimeReached => {
                    let provider = provider.expect("ran somewhere");
                    let start = record.start.expect("started");
                    prop_assert!(start >= record.job.submit);
                    let lasted = record.end - start;
                    let full = record.job.run_time.reveal_to_machine().at_speed(provider.speed);
                    let limit = record.walltime.filter(|_| provider.overrun == Overrun::Kill);
                    let limit = limit.filter(|&limit| full > limit);
                    let killed = record.outcome == JobOutcome::WalltimeReached;
                    prop_assert_eq!(killed, limit.is_some());
                    prop_assert_eq!(lasted, limit.unwrap_or(full));
                    // All jobs one after the other, at half of the speed; and repeated messages arrive within an
                    // hour.
                    let late = i64::from(setup.trouble.is_some()) * 3_600;
                    prop_assert!(record.end < Time::from_secs(4 * 25 * (8 + 2 * 80) + late));
                    let keeps_promises = provider.overrun == Overrun::Kill
                        && !setup.provider_crashes()
                        && !matches!(
                            provider.scheduler,
                            Scheduling::Queue(SchedulerConfig {
                                compression: Compression::Replan,
                                ..
                            })
                        );
                    if let Some(promised) = record.promised_end && keeps_promises {
                        prop_assert!(record.end <= promised);
                    }
                }
                JobOutcome::Cancelled
                | JobOutcome::Rejected(_)
                | JobOutcome::Failed
                | JobOutcome::Unfinished => {
                    prop_assert_eq!(record.start, None);
                }
            }
        }
    }
}
