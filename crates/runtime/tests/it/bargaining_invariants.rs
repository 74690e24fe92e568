//! Invariants of random worlds of bargaining providers, jobs and bags.

use std::collections::BTreeMap;

use haggle_agents::Estimates;
use haggle_model::{Disclosure, Job, JobOutcome, JobShape, Span, Time};
use haggle_scheduling::composition::CompositionPolicy;
use haggle_scheduling::{
    EdfConfig, Fractions, Late, Policy, ReschedulingConfig, ReschedulingRule, Scheduling, Shares,
};
use proptest::prelude::*;

use crate::setup::{Ran, Setup, job};
use crate::trouble::{Trouble, trouble};

/// A job or a bag: (gap, requested, run in percent of it, processors or tasks, deadline after).
type Work = (i64, i64, i64, u32, Option<i64>);

#[derive(Clone, Debug)]
struct Drawn {
    /// (processors, kind of scheduler, speed x 2, profiling time, padding in percent, delay).
    providers: Vec<(u32, usize, u8, Option<i64>, u8, i64)>,
    policy: usize,
    /// Times a bag is composed before it goes to one provider unheld.
    rounds: u32,
    /// Validity of offers, as a multiple of the slowest message's time.
    validity: i64,
    patience: Option<i64>,
    /// Time for which the metascheduler waits for offers.
    wait: Option<i64>,
    /// True if shares may take as long as the latest one of their bag.
    relaxed: bool,
    /// Local jobs, by provider.
    local: Vec<Vec<Work>>,
    bags: Vec<Work>,
    latency: i64,
    jitter: i64,
    completions_first: bool,
    /// Time between repetitions of messages without answer, in seconds.
    retry: Option<i64>,
    reordering: bool,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let deadline = || prop_oneof![1 => Just(None), 3 => (0_i64..80).prop_map(Some)];
    let work = move |widest: u32| (0_i64..12, 1_i64..20, 1_i64..=130, 1_u32..=widest, deadline());
    // Now and then a job without a limit.
    let requested = || prop_oneof![8 => 1_i64..20, 1 => Just(0)];
    let local = move || (0_i64..12, requested(), 1_i64..=130, 1_u32..=7, deadline());
    let provider = (
        1_u32..=6,
        0_usize..11,
        1_u8..=4,
        prop_oneof![3 => Just(None), 1 => (1_i64..20).prop_map(Some)],
        prop_oneof![3 => Just(0_u8), 1 => 1_u8..50],
        prop_oneof![3 => Just(0_i64), 1 => 1_i64..10],
    );
    (
        prop::collection::vec(provider, 1..=4),
        (
            0_usize..5,
            prop_oneof![2 => Just(5_u32), 1 => 0_u32..3],
            prop_oneof![2 => Just(4_i64), 1 => 0_i64..4],
            prop_oneof![3 => Just(None), 1 => (0_i64..60).prop_map(Some)],
        ),
        prop_oneof![3 => Just(None), 1 => (0_i64..15).prop_map(Some)],
        prop::bool::weighted(0.25),
        prop::collection::vec(prop::collection::vec(local(), 0..8), 4),
        prop::collection::vec(work(16), 0..14),
        prop_oneof![2 => Just((0_i64, 0_i64)), 1 => (0_i64..4, 0_i64..4)],
        any::<bool>(),
    )
        .prop_map(
            |(
                providers,
                (policy, rounds, validity, patience),
                wait,
                relaxed,
                local,
                bags,
                (latency, jitter),
                completions_first,
            )| Drawn {
                providers,
                policy,
                rounds,
                validity,
                patience,
                wait,
                relaxed,
                local,
                bags,
                latency,
                jitter,
                completions_first,
                retry: None,
                reordering: false,
            },
        )
}

/// The same with messages that are repeated.
fn repeating() -> impl Strategy<Value = Drawn> {
    (drawn(), 1_i64..8, any::<bool>()).prop_map(|(drawn, retry, reordering)| Drawn {
        retry: Some(retry),
        reordering,
        ..drawn
    })
}

/// A network that loses 20 % to 40 % of the messages, doubles some, parts actors, and lets them crash.
fn lossy() -> impl Strategy<Value = Option<Trouble>> {
    (trouble(), 0.2..0.4, 0.0..0.3).prop_map(|(trouble, loss, duplication)| {
        let trouble = trouble.unwrap_or(Trouble {
            timeout: 1,
            loss,
            duplication,
            partitions: Vec::new(),
            crashes: Vec::new(),
            datagram: true,
            recovers: false,
            seed: 1,
        });
        Some(Trouble { datagram: true, loss, duplication, ..trouble })
    })
}

fn scheduling(kind: usize) -> Scheduling {
    let fractions = Fractions::default();
    let shares = if IN_BLOCKS.contains(&kind) { Shares::Blocks } else { Shares::Tasks };
    let bags = |rescheduling| Scheduling::Bags { rescheduling, fractions, shares };
    let rebuild = REBUILT.contains(&kind);
    match kind {
        0 => Scheduling::Edf(EdfConfig::default()),
        1 => Scheduling::Edf(EdfConfig { mode: Late::Strict, ..EdfConfig::default() }),
        2 => Scheduling::Edf(EdfConfig { pinned: true, ..EdfConfig::default() }),
        4 | 8 => bags(ReschedulingRule::Uncoordinated.into()),
        5 => bags(ReschedulingRule::Compress.into()),
        6 => bags(ReschedulingRule::None.into()),
        3 | 7 | 9 | 10 => {
            bags(ReschedulingConfig { rebuild, ..ReschedulingRule::Coordinated.into() })
        }
        other => unreachable!("no kind {other}"),
    }
}

const COORDINATED: [usize; 4] = [3, 7, 9, 10];
/// Providers that may use the time up to the end of the whole bag.
const REBUILT: [usize; 2] = [7, 10];
/// Providers that start all tasks of a share together.
const IN_BLOCKS: [usize; 3] = [8, 9, 10];

fn setup(drawn: &Drawn) -> Setup {
    let mut setup = Setup::default();
    for &(processors, kind, speed, profiling, padding, delay) in &drawn.providers {
        setup = setup.provider(processors, Policy::Fcfs).change(|provider| {
            provider.scheduler = scheduling(kind);
            provider.speed = f64::from(speed) / 2.0;
            provider.disclosure = Disclosure::Queue;
            provider.bargaining.validity =
                Span::from_secs(drawn.validity * (drawn.latency + drawn.jitter));
            provider.bargaining.padding = f64::from(padding) / 100.0;
            provider.bargaining.delay = Span::from_secs(delay);
            if let Some(time) = profiling {
                let time = (Span::from_secs(time), Span::from_secs(2 * time));
                // Half the error, never less than the truth: see `bags` for the run times.
                provider.bargaining.estimates = Estimates::Profiled { error: (1, 2), time };
            }
        });
    }
    let coordinated = drawn.providers.iter().any(|provider| COORDINATED.contains(&provider.1));
    setup = setup.negotiator(CompositionPolicy::ALL[drawn.policy]).change_negotiator(|it| {
        it.coordinated = coordinated;
        it.rounds = drawn.rounds;
        it.options.relax_to_composite = drawn.relaxed;
        it.offers_wait = drawn.wait.map(Span::from_secs);
        it.retry = drawn.retry.map(Span::from_secs);
    });
    let mut number = 0;
    let mut list = |drawn: &[Work], shape| {
        let mut submit = 0;
        let jobs = drawn.iter().map(|&(gap, requested, run, processors, deadline)| {
            submit += gap;
            number += 1;
            // A job without a limit runs for a while.
            let planned = if requested > 0 { requested } else { 10 };
            let run = (planned * run / 100).max(1);
            let mut job: Job = job(number, submit, requested, run, processors);
            job.shape = shape;
            job.deadline = deadline.map(|after| Time::from_secs(submit + requested + after));
            job
        });
        jobs.collect::<Vec<_>>()
    };
    let providers = drawn.providers.len();
    let patience = drawn.patience.map(Span::from_secs);
    for (provider, jobs) in drawn.local.iter().enumerate().take(providers) {
        setup = setup.user_with_patience(provider, patience, list(jobs, JobShape::Rigid));
    }
    setup = setup.user_with_patience(providers, patience, list(&drawn.bags, JobShape::Bag));
    setup.latency = Span::from_secs(drawn.latency);
    setup.jitter = Span::from_secs(drawn.jitter);
    setup.reordering = drawn.reordering;
    // A run without end must fail.
    setup.horizon = drawn.retry.map(|_| Time::from_secs(20_000));
    if drawn.completions_first {
        setup.order = haggle_model::EventsOrder::CompletionsFirst;
    }
    setup
}

/// Stretches of time in which each (provider, processor) was held.
fn holdings(ran: &Ran) -> BTreeMap<(u32, u32), Vec<(Time, Time)>> {
    let mut held: BTreeMap<(u32, u32), Vec<(Time, Time)>> = BTreeMap::new();
    let mut hold = |provider: u32, processors: &haggle_model::ProcessorSet, start, end| {
        for &(first, last) in processors.intervals() {
            for processor in first..=last {
                held.entry((provider, processor)).or_default().push((start, end));
            }
        }
    };
    for record in &ran.records {
        match (&record.bag, record.provider, record.start) {
            (Some(bag), ..) => {
                for share in &bag.shares {
                    for run in &share.runs {
                        hold(share.provider.0, &run.processors, run.start, run.end);
                    }
                }
            }
            (None, Some(provider), Some(start)) => {
                hold(provider.0, &record.processors, start, record.end);
            }
            _ => {}
        }
    }
    held
}

/// Bags are conserved, promises are kept, and the drivers agree.
fn check(drawn: &Drawn, trouble: Option<Trouble>) -> Result<(), TestCaseError> {
    let mut setup = setup(drawn);
    setup.trouble = trouble;
    let ran = setup.run_on_both();
    setup.assert_recovery(&ran.log);
    let stats = ran.result.as_ref().expect("the run reaches its end");
    prop_assert_eq!(ran.records.len() as u64, stats.jobs);
    ran.assert_disclosures();
    let crashes = setup.provider_crashes();
    for record in &ran.records {
        let (job, deadline) = (&record.job, record.job.deadline);
        prop_assert!(record.end < Time::from_secs(100_000), "job {} waited", job.number);
        let begin = || Vec::from_iter(ran.log.lines().take(150)).join("\n");
        let unfinished = record.outcome == JobOutcome::Unfinished;
        prop_assert!(!unfinished, "job {} waits:\n{}", job.number, begin());
        if let JobOutcome::Rejected(_) | JobOutcome::Cancelled = record.outcome {
            prop_assert_eq!(record.start, None);
            continue;
        }
        let Some(bag) = &record.bag else {
            if let Some(promised) = record.promised_end {
                prop_assert!(crashes || record.end <= promised, "job {} is late", job.number);
            }
            continue;
        };
        let tasks: u32 =
            bag.shares.iter().flat_map(|it| &it.runs).map(|it| it.processors.count()).sum();
        prop_assert_eq!(tasks, job.processors, "a task is lost or done twice");
        for share in &bag.shares {
            let latest = share.runs.iter().map(|run| run.end).max().expect("it has tasks");
            let (processors, kind, ..) = drawn.providers[share.provider.index()];
            let keeps = !crashes && !REBUILT.contains(&kind);
            let late = keeps && share.promised_end.is_some_and(|promised| latest > promised);
            prop_assert!(!late, "a share of {} is late", job.number);
            prop_assert!(share.runs.iter().all(|run| run.start >= job.submit));
            let slots = CompositionPolicy::ALL[drawn.policy] == CompositionPolicy::FreeTimeSlots;
            if IN_BLOCKS.contains(&kind) && !slots {
                let blocks = share.tasks.div_ceil(processors) as usize;
                prop_assert_eq!(share.runs.len(), blocks, "a block has come apart");
            }
        }
        // Behind a job without a limit there is no promise.
        let Some(promised) = record.promised_end else { continue };
        prop_assert!(deadline.is_none_or(|deadline| promised >= deadline));
        prop_assert!(crashes || record.end <= promised, "bag {} is late", job.number);
    }
    for ((provider, processor), mut stretches) in holdings(&ran) {
        stretches.sort_unstable();
        for pair in stretches.windows(2) {
            prop_assert!(
                pair[0].1 <= pair[1].0,
                "processor {processor} of provider {provider} was held twice"
            );
        }
    }
    Ok(())
}

fn cases(
    count: u32,
    drawn: impl Strategy<Value = Drawn>,
    trouble: impl Strategy<Value = Option<Trouble>>,
) {
    let config = ProptestConfig { cases: count, failure_persistence: None, ..Default::default() };
    proptest!(config, |(drawn in drawn, trouble in trouble)| check(&drawn, trouble)?);
}

#[test]
fn bags_are_conserved_promises_kept_and_drivers_agree() {
    cases(200, drawn(), trouble());
}

#[test]
fn bags_survive_what_a_network_does_to_messages_and_actors() {
    cases(100, repeating(), lossy());
}

#[test]
fn bags_survive_with_repeated_messages_on_a_reliable_transport() {
    cases(50, repeating(), trouble());
}

#[test]
#[ignore = "takes minutes"]
fn bags_survive_what_a_network_does_to_messages_and_actors_at_length() {
    cases(10_000, repeating(), lossy());
}
