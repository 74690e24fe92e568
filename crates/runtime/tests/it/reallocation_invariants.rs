//! Invariants of all runs in which jobs move, on random small worlds.

use std::collections::BTreeMap;

use haggle_agents::OnFailure;
use haggle_model::{
    EventsOrder, JobClass, JobOutcome, JobRecord, JobShape, Moldable, ProcessorSet, Span, Speedup,
    StageIn, Time,
};
use haggle_runtime::Driver;
use haggle_scheduling::reallocation::{Algorithm, MoveCost, ReallocationHeuristic, Rule, Tuning};
use haggle_scheduling::{Compression, Order, Overrun, Policy, SchedulerConfig};
use proptest::prelude::*;

use crate::setup::{Setup, job};
use crate::trouble::trouble;

/// Seconds since the job before, requested time, run time, processors.
type Described = (i64, i64, i64, u32);

#[derive(Clone, Debug)]
struct Drawn {
    /// Processors, queue, whether jobs are killed at their limits, speed.
    providers: Vec<(u32, usize, bool, u8)>,
    local: Vec<Vec<Described>>,
    /// The same of jobs that may move, with their speed-up.
    moldable: Vec<(Described, usize)>,
    rule: (usize, usize, i64, usize),
    period: Option<i64>,
    /// Time for which data are under way, and time of a start-up.
    cost: (i64, i64),
    /// The last value: bisection, and sizes are kept.
    tuning: usize,
    patience: Option<i64>,
    latency: i64,
    jitter: i64,
    reordering: bool,
    completions_first: bool,
    failing: Vec<(u32, i64, i64)>,
    horizon: Option<i64>,
}

impl Drawn {
    fn keeps_sizes(&self) -> bool {
        self.tuning == Tuning::ALL.len() && self.period.is_some()
    }
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let requested = || prop_oneof![12 => 1..40_i64, 1 => Just(0)];
    let job = move || (0..8_i64, requested(), 0..45_i64, 1..=6_u32);
    let local = prop::collection::vec(prop::collection::vec(job(), 0..8), 3);
    let moldable = prop::collection::vec((job(), 0..6_usize), 1..25);
    let provider = (1..=6_u32, 0..4_usize, any::<bool>(), 1..=4_u8);
    let rule = (0..2_usize, 0..6_usize, 0..10_i64, 1..6_usize);
    let cost = (prop_oneof![Just(0), 1..40_i64], prop_oneof![Just(0), 1..9_i64]);
    let how =
        (prop::option::weighted(0.9, 3..60_i64), 0..3_usize, prop::option::of(5..60_i64), cost);
    let network = (0..3_i64, prop_oneof![Just(0), 1..9_i64], any::<bool>(), any::<bool>());
    let failing = prop::collection::vec((any::<u32>(), 0..90_i64, 1..40_i64), 0..3);
    let providers = prop::collection::vec(provider, 1..4);
    let horizon = prop::option::weighted(0.2, 20..200_i64);
    (providers, local, moldable, rule, how, network, failing, horizon).prop_map(
        |(providers, local, moldable, rule, how, network, failing, horizon)| {
            let (period, tuning, patience, cost) = how;
            let (latency, jitter, reordering, completions_first) = network;
            Drawn {
                providers,
                local,
                moldable,
                rule,
                period,
                cost,
                tuning,
                patience,
                latency,
                jitter,
                reordering,
                completions_first,
                failing,
                horizon,
            }
        },
    )
}

fn setup(drawn: &Drawn) -> Setup {
    let mut setup = Setup::default();
    for &(processors, queue, extend, speed) in &drawn.providers {
        let order = Order::Arrival;
        // Some providers reserve nothing.
        let (policy, compression) = [
            (Policy::Conservative, Compression::JobByJob),
            (Policy::Conservative, Compression::ByStart),
            (Policy::Fcfs, Compression::None),
            (Policy::Easy, Compression::None),
        ][queue];
        setup = setup.provider(processors, policy).change(|provider| {
            provider.scheduler =
                SchedulerConfig { policy, order, compression, depth: None, window: None }.into();
            provider.overrun = if extend { Overrun::Extend } else { Overrun::Kill };
            provider.speed = f64::from(speed) / 2.0;
            provider.on_failure = [OnFailure::Restart, OnFailure::Requeue][queue % 2];
        });
    }
    let (algorithm, heuristic, threshold, window) = drawn.rule;
    let rule = Rule {
        algorithm: Algorithm::ALL[algorithm],
        heuristic: ReallocationHeuristic::ALL[heuristic],
        threshold: Span::from_secs(threshold),
        window,
        resizes: window % 2 == 0,
    };
    let reallocation = drawn.period.map(|period| (Span::from_secs(period), rule));
    let (transfer, start_up) = drawn.cost;
    let cost =
        MoveCost { transfer: Span::from_secs(transfer), start_up: Span::from_secs(start_up) };
    let tuning = Tuning::ALL.get(drawn.tuning).copied().unwrap_or_default();
    setup = setup.reallocator(tuning, reallocation).moving_costs(cost);
    if drawn.keeps_sizes() {
        setup = setup.keeping_sizes();
    }
    let providers = drawn.providers.len();
    let patience = drawn.patience.map(Span::from_secs);
    let mut number = 0;
    let mut list = |drawn: &mut dyn Iterator<Item = Described>| {
        let mut submit = 0;
        let jobs = drawn.map(|(gap, requested, run, processors)| {
            submit += gap;
            number += 1;
            job(number, submit, requested, run, processors)
        });
        Vec::from_iter(jobs)
    };
    for (provider, jobs) in drawn.local.iter().enumerate().take(providers) {
        let jobs = list(&mut jobs.iter().copied());
        setup = setup.user_with_patience(provider, patience, jobs);
    }
    let mut jobs = list(&mut drawn.moldable.iter().map(|it| it.0));
    for (job, &(_, kind)) in jobs.iter_mut().zip(&drawn.moldable) {
        let kinds = [(0.5, 3), (0.8, 4), (0.99, 6), (1.0, 20), (0.0, 2)];
        let speedup = |&(fraction, limit): &(f64, u32)| Speedup::new(fraction, limit);
        let shape = kinds.get(kind).map(|kind| speedup(kind).expect("a speedup"));
        job.shape = shape.map_or(JobShape::Rigid, JobShape::Moldable);
    }
    setup = setup.user_with_patience(providers, patience, jobs);
    setup.no_progress_max = Some(20_000);
    setup.latency = Span::from_secs(drawn.latency);
    setup.jitter = Span::from_secs(drawn.jitter);
    setup.reordering = drawn.reordering;
    setup.horizon = drawn.horizon.map(Time::from_secs);
    if drawn.completions_first {
        setup.order = EventsOrder::CompletionsFirst;
    }
    for &(provider, from, lasts) in &drawn.failing {
        let provider = provider % providers as u32;
        let processors = ProcessorSet::range(0, 1);
        setup.failing.push((provider, processors, vec![(from, from + lasts)]));
    }
    setup
}

/// Checks that no processor of a provider holds two jobs at one time.
fn assert_processors_are_held_once(records: &[JobRecord]) {
    let mut held: BTreeMap<(u32, u32), Vec<(i64, i64)>> = BTreeMap::new();
    for record in records {
        let lost = record.lost.iter().map(|it| (it.provider, it.start, it.end, &it.processors));
        let last = record.provider.zip(record.start);
        let last = last.map(|(provider, start)| (provider, start, record.end, &record.processors));
        for (provider, start, end, processors) in lost.chain(last) {
            for &(first, last) in processors.intervals() {
                for processor in first..=last {
                    let times = (start.as_micros(), end.as_micros());
                    held.entry((provider.0, processor)).or_default().push(times);
                }
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

/// Checks that jobs that keep their size have it everywhere, or all processors of a narrower provider.
fn assert_sizes_are_kept(setup: &Setup, log: &str) {
    let mut sizes: BTreeMap<&str, Vec<(usize, u32)>> = BTreeMap::new();
    for line in log.lines() {
        let Some((head, size)) = line.split_once(" sized (") else { continue };
        let (at, job) = head.split_once(" | ").expect("who saw it, and of what job");
        let provider = at.rsplit(' ').next().and_then(|it| it.parse().ok());
        let size = size.split(',').next().and_then(|it| it.parse().ok());
        let both = provider.zip(size).expect("a provider and a size");
        sizes.entry(job).or_default().push(both);
    }
    for (job, sizes) in sizes {
        let kept = sizes[0].1;
        for (provider, size) in sizes {
            assert_eq!(size, kept.min(setup.providers[provider].processors), "job {job}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn jobs_that_move_are_conserved(drawn in drawn(), trouble in trouble()) {
        let mut setup = setup(&drawn);
        setup.trouble = trouble;
        let ran = setup.run(Driver::Sequential);
        let actix = setup.run(Driver::Actix);
        prop_assert_eq!(&ran.log, &actix.log);
        setup.assert_recovery(&ran.log);
        let stats = *ran.result.as_ref().expect("the run ends");
        let mut numbers: Vec<i64> = ran.records.iter().map(|record| record.job.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        prop_assert_eq!(numbers.len(), ran.records.len());
        prop_assert_eq!(stats.jobs as usize, ran.records.len());
        assert_processors_are_held_once(&ran.records);
        if drawn.keeps_sizes() {
            assert_sizes_are_kept(&setup, &ran.log);
        }
        ran.assert_disclosures();
        for record in &ran.records {
            let provider = record.provider.map(|id| &setup.providers[id.index()]);
            let is_over = matches!(
                record.outcome,
                JobOutcome::Completed | JobOutcome::WalltimeReached
            );
            let Some((provider, start)) = provider.zip(record.start).filter(|_| is_over) else {
                continue;
            };
            let (job, processors) = (&record.job, record.processors.count());
            prop_assert!(start >= job.submit);
            let staged = ran.staged.get(&job.id).copied();
            let StageIn { ready, start_up } = staged.unwrap_or(StageIn::NOTHING);
            prop_assert!(start >= ready);
            prop_assert!(record.lost.iter().all(|run| run.start >= ready));
            prop_assert_eq!(record.checkpointing, start_up);
            let moldable = Moldable::of(job).filter(|_| record.class == JobClass::External);
            let full = match moldable {
                Some(moldable) => {
                    prop_assert!((1..=moldable.widest(provider.processors)).contains(&processors));
                    moldable.run_time(job, processors, provider.speed)
                }
                None => {
                    prop_assert_eq!(processors, job.processors);
                    job.run_time.reveal_to_machine().at_speed(provider.speed)
                }
            };
            let limit = record.walltime.filter(|_| provider.overrun == Overrun::Kill);
            let computing = limit.map_or(full, |limit| full.min(limit));
            prop_assert_eq!(record.end - start, start_up + computing);
        }
    }
}
