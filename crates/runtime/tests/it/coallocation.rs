//! Jobs on several providers: worked cases, and invariants of random worlds.

use std::collections::BTreeMap;

use haggle_agents::{Message, OnFailure};
use haggle_model::{EventsOrder, JobClass, JobOutcome, JobRecord, ProcessorSet, Span, Time};
use haggle_runtime::Driver;
use haggle_scheduling::Overrun;
use haggle_scheduling::coallocation::{
    CoallocationPolicy, FillRule, RemapRule, RequestOrder, with_overhead,
};
use proptest::prelude::*;

use crate::draws::the_same;
use crate::setup::{Ran, Setup, job};
use crate::trouble::Trouble;

/// Cases M2 and M3: (processors of A and B, jobs there, the job of both, and its final place under each policy as
/// (start, end, parts)).
#[test]
fn a_waiting_job_shifts_or_is_remapped_to_what_an_early_end_leaves() {
    type Story = (i64, i64, Vec<(u32, u32)>);
    let both = |start, end| -> Story { (start, end, vec![(0, 4), (1, 2)]) };
    for (sizes, first, second, x, stories) in [
        (
            [4, 4],
            job(1, 0, 10, 4, 4),
            job(2, 0, 6, 6, 4),
            job(3, 0, 5, 5, 6),
            [both(10, 16), both(6, 12), both(6, 12)],
        ),
        (
            [8, 4],
            job(1, 0, 20, 5, 4),
            job(2, 0, 10, 10, 4),
            job(3, 0, 10, 10, 6),
            [both(10, 22), both(10, 22), (5, 15, vec![(0, 6)])],
        ),
    ] {
        for (moves, story) in CoallocationPolicy::ALL.into_iter().zip(stories) {
            let ran = Setup::default()
                .coallocating(sizes[0])
                .coallocating(sizes[1])
                .coallocator(moves, 20)
                .user(0, vec![first.clone()])
                .user(1, vec![second.clone()])
                .user(2, vec![x.clone()])
                .run_on_both();
            ran.assert_disclosures();
            let record = spread(&ran)[0];
            let seconds = |time: Time| time.as_micros() / 1_000_000;
            let start = record.start.expect("it runs");
            assert_eq!((seconds(start), seconds(record.end), parts(record)), story, "{moves:?}");
            let placed = record.bag.as_ref().and_then(|bag| bag.coallocated).expect("by parts");
            assert_eq!((seconds(placed.first_start), placed.first_providers), (10, 2));
            assert_eq!(placed.moves > 0, story != both(10, placed_end(record)));
        }
    }
}

/// Case M3 of a job that does not support other providers: a move is requested, and the job stays.
#[test]
fn who_is_not_remappable_only_shifts() {
    for (remappable, start) in [(1_000_000, 5), (0, 10)] {
        let ran = Setup::default()
            .coallocating(8)
            .coallocating(4)
            .coallocator(CoallocationPolicy::ShiftRemap, 20)
            .change_coallocator(|it| it.remappable = remappable)
            .user(0, vec![job(1, 0, 20, 5, 4)])
            .user(1, vec![job(2, 0, 10, 10, 4)])
            .user(2, vec![job(3, 0, 10, 10, 6)])
            .run_on_both();
        assert_eq!(spread(&ran)[0].start, Some(Time::from_secs(start)));
        ran.assert_disclosures();
    }
}

/// Three providers A, B and C with 2, 2 and 1 processors. At 10 s, local jobs of A and B end that were planned until
/// 200 s and 130 s. At that time the following jobs are booked, each where earlier ones leave room:
///
/// | job | processors | time | planned | on |
/// |---|--:|--:|---|---|
/// | Y | 3 | 20 | 130 to 150 | B 2, C 1 |
/// | X | 5 | 20 | 200 to 220 | A 2, B 2, C 1 |
/// | L, local | 2 | 150 | 220 to 370 | B 2: there are 50 s between Y and X, and at 10 s there are 120 s before Y |
/// | Z | 3 | 90 | 220 to 310 | A 2, C 1: before, B and C have no 90 s, and behind X L has B |
///
/// A requests moves of X and Z, B of Y and X, in the order of their starts.
///
/// In turns: for A, X moves to 10. For B, Y moves to 30, behind X. L follows: B is free from 50 on. For A, Z moves to
/// 50, behind Y on C.
///
/// By provider: for A, X moves to 10. B has no 150 s before Y, so L moves behind Y, to 150. For A, Z moves to 30,
/// behind X: C is free from 30 to 130. A has no idle processor left and makes no more requests. For B, Y moves to
/// 120, behind Z on C. L follows, to 140.
#[test]
fn requests_for_moves_are_served_in_turns_or_by_provider() {
    for (requests, starts) in [
        (RequestOrder::InTurns, [("Y", 30), ("X", 10), ("L", 50), ("Z", 50)]),
        (RequestOrder::ByProvider, [("Y", 120), ("X", 10), ("L", 140), ("Z", 30)]),
    ] {
        let ran = Setup::default()
            .coallocating(2)
            .coallocating(2)
            .coallocating(1)
            .coallocator(CoallocationPolicy::Shift, 0)
            .change_coallocator(|it| it.requests = requests)
            .user(0, vec![job(1, 0, 200, 10, 2)])
            .user(1, vec![job(2, 0, 130, 10, 2), job(5, 3, 150, 150, 2)])
            .user(3, vec![job(3, 1, 20, 20, 3), job(4, 2, 20, 20, 5), job(6, 4, 90, 90, 3)])
            .run_on_both();
        ran.assert_disclosures();
        for ((name, start), number) in starts.into_iter().zip(3..) {
            let record = ran.records.iter().find(|it| it.job.number == number);
            let started = record.and_then(|it| it.start);
            assert_eq!(started, Some(Time::from_secs(start)), "{name}, {requests:?}");
        }
    }
}

fn placed_end(record: &JobRecord) -> i64 {
    record.promised_end.map_or(0, |time| time.as_micros() / 1_000_000)
}

/// Case M10: messages of the first place, of a shift and of a remap. A provider that gives up a part in a remap must
/// agree to that, which makes two more.
#[test]
fn messages_are_as_many_as_was_counted() {
    let count = |ran: &Ran, from: i64, to: i64| {
        let during = Time::from_secs(from)..Time::from_secs(to);
        let said = ran.messages.iter().filter(|(now, _, _, message)| {
            let waits = !["part_started", "part_finished"].contains(&message.kind());
            during.contains(now) && matches!(message, Message::Coallocation(_)) && waits
        });
        said.count()
    };
    let first = Setup::default()
        .coallocating(2)
        .coallocating(2)
        .coallocating(2)
        .coallocator(CoallocationPolicy::ShiftRemap, 20)
        .user(3, vec![job(1, 0, 5, 5, 6)])
        .run_on_both();
    assert_eq!(count(&first, 0, 1), 18);
    let shift = Setup::default()
        .coallocating(4)
        .coallocating(4)
        .coallocating(1)
        .coallocator(CoallocationPolicy::Shift, 20)
        .user(0, vec![job(1, 0, 10, 4, 4)])
        .user(1, vec![job(2, 0, 6, 6, 4)])
        .user(2, vec![job(4, 0, 99, 99, 1)])
        .user(3, vec![job(3, 0, 5, 5, 6)])
        .run_on_both();
    // And a second round, in which no job moves: the request, four messages, and the answer.
    assert_eq!(count(&shift, 4, 5), 14 + 6);
    let remap = Setup::default()
        .coallocating(8)
        .coallocating(4)
        .coallocating(1)
        .coallocator(CoallocationPolicy::ShiftRemap, 20)
        .user(0, vec![job(1, 0, 20, 5, 4)])
        .user(1, vec![job(2, 0, 10, 10, 4)])
        .user(2, vec![job(4, 0, 99, 99, 1)])
        .user(3, vec![job(3, 0, 10, 10, 6)])
        .run_on_both();
    assert_eq!(count(&remap, 5, 6), 14 + 2);
}

/// Jobs that could be spread, in the order of their numbers.
fn spread(ran: &Ran) -> Vec<&JobRecord> {
    let mut records: Vec<&JobRecord> = ran.records.iter().filter(|it| it.bag.is_some()).collect();
    records.sort_by_key(|record| record.job.number);
    records
}

/// Providers of a job, with their processors for it.
fn parts(record: &JobRecord) -> Vec<(u32, u32)> {
    let shares = record.bag.iter().flat_map(|bag| &bag.shares);
    let mut parts: Vec<(u32, u32)> = shares.map(|share| (share.provider.0, share.tasks)).collect();
    parts.sort_unstable();
    parts
}

/// A job: (gap, requested, run in percent of it, processors).
type Work = (i64, i64, i64, u32);

#[derive(Clone, Debug)]
struct Drawn {
    /// (processors, percentage of the free processors that is published).
    providers: Vec<(u32, u32)>,
    moves: Vec<CoallocationPolicy>,
    fill: FillRule,
    choice: RemapRule,
    requests: RequestOrder,
    overhead: u32,
    trials: u32,
    patience: Option<i64>,
    local: Vec<Vec<Work>>,
    external: Vec<Vec<Work>>,
    latency: i64,
    jitter: i64,
    reordering: bool,
    completions_first: bool,
    horizon: Option<i64>,
    /// Time between repetitions of messages without answer, in seconds.
    retry: Option<i64>,
    trouble: Option<Trouble>,
    breaks: Option<Breaks>,
}

/// (provider, processor that fails, its outages in seconds), as drawn.
type Failing = (u32, u32, Vec<(i64, i64)>);

/// Reasons for which providers break agreements.
#[derive(Clone, Debug)]
struct Breaks {
    /// Processors that fail, each with its outages.
    failing: Vec<Failing>,
    /// True if local jobs may run longer than they request.
    overruns: bool,
    on_failure: OnFailure,
    max_attempts: u32,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let work = |widest: u32| (0_i64..12, 1_i64..20, 1_i64..=110, 1_u32..=widest);
    let works = move |widest| prop::collection::vec(work(widest), 0..12);
    let publishes = prop_oneof![3 => Just(100_u32), 1 => 1_u32..100];
    (
        prop::collection::vec((1_u32..=6, publishes), 1..=4),
        prop::collection::vec(prop::sample::select(CoallocationPolicy::ALL.to_vec()), 1..=2),
        prop::sample::select(FillRule::ALL.to_vec()),
        prop::sample::select(RemapRule::ALL.to_vec()),
        prop::sample::select(RequestOrder::ALL.to_vec()),
        (0_u32..30, 1_u32..6, prop_oneof![3 => Just(None), 1 => (0_i64..30).prop_map(Some)]),
        prop::collection::vec(works(6), 4),
        prop::collection::vec(works(14), 2),
        prop_oneof![2 => Just((0_i64, 0_i64)), 1 => (0_i64..4, 0_i64..4)],
        (any::<bool>(), any::<bool>()),
        prop_oneof![4 => Just(None), 1 => (0_i64..150).prop_map(Some)],
    )
        .prop_map(
            |(
                providers,
                moves,
                fill,
                choice,
                requests,
                (overhead, trials, patience),
                local,
                external,
                (latency, jitter),
                (reordering, completions_first),
                horizon,
            )| Drawn {
                providers,
                moves,
                fill,
                choice,
                requests,
                overhead,
                trials,
                patience,
                local,
                external,
                latency,
                jitter,
                reordering,
                completions_first,
                horizon,
                retry: None,
                trouble: None,
                breaks: None,
            },
        )
}

/// Jobs that stay where they are placed, on processors that fail and come back, beside local jobs that may run over.
fn breaking() -> impl Strategy<Value = Drawn> {
    let outages = prop::collection::vec((0_i64..60, 1_i64..30), 1..4).prop_map(|gaps| {
        let mut at = 0;
        let outage = |(gap, lasts): (i64, i64)| {
            let from = at + gap;
            at = from + lasts;
            (from, at)
        };
        Vec::from_iter(gaps.into_iter().map(outage))
    });
    let failing = prop::collection::vec((any::<u32>(), any::<u32>(), outages), 0..6);
    let on_failure =
        prop::sample::select(vec![OnFailure::Restart, OnFailure::Requeue, OnFailure::Fail]);
    (drawn(), failing, any::<bool>(), on_failure, 1_u32..6).prop_map(
        |(drawn, failing, overruns, on_failure, max_attempts)| {
            let moves = vec![CoallocationPolicy::Rigid; drawn.moves.len()];
            let breaks = Some(Breaks { failing, overruns, on_failure, max_attempts });
            Drawn { moves, breaks, ..drawn }
        },
    )
}

/// The same with messages that are lost, and with crashes of providers and metaschedulers.
fn breaking_and_lossy() -> impl Strategy<Value = Drawn> {
    let crash = (any::<u32>(), 0_i64..120, 1_i64..60)
        .prop_map(|(actor, from, lasts)| (actor, from, from + lasts));
    let crashes = prop::collection::vec(crash, 0..4);
    (lossy(), breaking(), crashes).prop_map(|(lossy, breaking, crashes)| {
        let actors = (lossy.providers.len() + lossy.moves.len()) as u32;
        let crash = |(who, from, until): (u32, i64, i64)| (who % actors, from, until);
        let crashes = Vec::from_iter(crashes.into_iter().map(crash));
        let trouble = lossy.trouble.map(|trouble| Trouble { crashes, ..trouble });
        Drawn { trouble, breaks: breaking.breaks, ..lossy }
    })
}

/// Jobs that stay where they are placed, and messages that are repeated. A network loses 20 % to 40 % of the messages,
/// doubles some, and parts actors; or it is reliable, so messages are late. Metaschedulers crash and restart.
fn lossy() -> impl Strategy<Value = Drawn> {
    let partition = (any::<u32>(), 0_i64..60, 1_i64..40)
        .prop_map(|(alone, from, lasts)| (alone, from, from + lasts));
    let partitions = prop::collection::vec(partition, 0..3);
    let crash = (any::<u32>(), 0_i64..120, 1_i64..60)
        .prop_map(|(actor, from, lasts)| (actor, from, from + lasts));
    let crashes = prop::collection::vec(crash, 0..4);
    let faults = (0.2..0.4, 0.0..0.3, any::<bool>(), any::<bool>(), any::<u64>());
    (drawn(), 1_i64..8, partitions, crashes, faults).prop_map(
        |(drawn, retry, partitions, crashes, (loss, duplication, datagram, recovers, seed))| {
            let (providers, brokers) = (drawn.providers.len() as u32, drawn.moves.len() as u32);
            let crashes = crashes
                .into_iter()
                .map(|(who, from, until)| (providers + who % brokers, from, until))
                .collect();
            let trouble = Trouble {
                timeout: retry,
                loss,
                duplication,
                partitions,
                crashes,
                datagram,
                recovers,
                seed,
            };
            let moves = vec![CoallocationPolicy::Rigid; drawn.moves.len()];
            // A run without end must fail.
            let horizon = Some(20_000);
            Drawn { moves, retry: Some(retry), trouble: Some(trouble), horizon, ..drawn }
        },
    )
}

fn setup(drawn: &Drawn) -> Setup {
    let mut setup = Setup::default();
    for &(processors, publishes) in &drawn.providers {
        setup = setup.coallocating(processors).change(|it| {
            it.publishes = 10_000 * publishes;
            if let Some(breaks) = &drawn.breaks {
                it.overrun = if breaks.overruns { Overrun::Extend } else { Overrun::Kill };
                (it.on_failure, it.max_attempts) = (breaks.on_failure, breaks.max_attempts);
            }
        });
    }
    for &moves in &drawn.moves {
        setup = setup.coallocator(moves, drawn.overhead).change_coallocator(|it| {
            (it.fill, it.choice, it.trials) = (drawn.fill, drawn.choice, drawn.trials);
            it.requests =
                if drawn.retry.is_some() { RequestOrder::InTurns } else { drawn.requests };
            it.retry = drawn.retry.map(Span::from_secs);
            if let Some(breaks) = &drawn.breaks {
                (it.may_break, it.max_attempts) = (true, breaks.max_attempts);
            }
        });
    }
    let failing = drawn.breaks.iter().flat_map(|breaks| &breaks.failing);
    setup.failing = Vec::from_iter(failing.map(|(provider, processor, outages)| {
        let provider = provider % drawn.providers.len() as u32;
        let processor = processor % drawn.providers[provider as usize].0;
        (provider, ProcessorSet::range(processor, 1), outages.clone())
    }));
    setup.trouble = drawn.trouble.clone();
    let providers = drawn.providers.len();
    let mut number = 0;
    let mut list = |drawn: &[Work]| {
        let mut submit = 0;
        let jobs = drawn.iter().map(|&(gap, requested, run, processors)| {
            submit += gap;
            number += 1;
            job(number, submit, requested, (requested * run / 100).max(1), processors)
        });
        jobs.collect::<Vec<_>>()
    };
    let patience = drawn.patience.map(Span::from_secs);
    for (provider, jobs) in drawn.local.iter().enumerate().take(providers) {
        setup = setup.user_with_patience(provider, patience, list(jobs));
    }
    for (place, jobs) in drawn.external.iter().enumerate().take(drawn.moves.len()) {
        setup = setup.user_with_patience(providers + place, patience, list(jobs));
    }
    (setup.latency, setup.jitter) = (Span::from_secs(drawn.latency), Span::from_secs(drawn.jitter));
    setup.reordering = drawn.reordering;
    setup.horizon = drawn.horizon.map(Time::from_secs);
    if drawn.completions_first {
        setup.order = EventsOrder::CompletionsFirst;
    }
    setup
}

/// Checks that the parts of a job start and end together, make up the whole, and take the right time.
fn is_whole(record: &JobRecord, reorders: bool, breaks: bool) -> Result<(), TestCaseError> {
    let number = record.job.number;
    let bag = record.bag.as_ref().expect("by parts");
    let placed = bag.coallocated.expect("a rigid job");
    let runs = Vec::from_iter(bag.shares.iter().flat_map(|share| &share.runs));
    let Some(first) = runs.first() else {
        prop_assert_eq!(record.outcome, JobOutcome::Unfinished, "{} never started", number);
        return Ok(());
    };
    let together = runs.iter().all(|run| (run.start, run.end) == (first.start, first.end));
    prop_assert!(together, "job {} is torn apart: {:?}", number, runs);
    prop_assert_eq!(runs.len(), bag.shares.len(), "a part of {} has not run", number);
    let processors: u32 = runs.iter().map(|run| run.processors.count()).sum();
    prop_assert_eq!(processors, record.job.processors, "job {} is not whole", number);
    let overhead = if runs.len() > 1 { placed.overhead } else { 0 };
    let long = |time| with_overhead(time, overhead);
    let takes = match record.outcome {
        JobOutcome::Completed => long(record.job.run_time.reveal_to_machine()),
        JobOutcome::WalltimeReached => long(record.job.requested_time.expect("a limit")),
        JobOutcome::Unfinished => return Ok(()),
        other => return Err(TestCaseError::fail(format!("job {number}: {other:?}"))),
    };
    prop_assert_eq!(first.end - first.start, takes, "job {}", number);
    // A short job may end before all messages about its place have arrived, because these are out of order.
    let promised = breaks || record.promised_end.map_or(reorders, |it| first.end <= it);
    prop_assert!(promised, "{} is late, or was promised nothing", number);
    Ok(())
}

/// Jobs run whole or not at all, and the drivers agree.
fn check(drawn: &Drawn) -> Result<(), TestCaseError> {
    let setup = setup(drawn);
    let ran = setup.run_on_both();
    let stats = ran.result.as_ref().expect("the run reaches its end");
    prop_assert_eq!(ran.records.len() as u64, stats.jobs);
    ran.assert_disclosures();
    let widest: u32 = drawn.providers.iter().map(|it| it.0).sum();
    let hides = drawn.providers.iter().any(|it| it.1 < 100);
    let mut held: BTreeMap<(u32, u32), Vec<(Time, Time)>> = BTreeMap::new();
    let mut hold = |provider, processors: &haggle_model::ProcessorSet, start, end| {
        for &(first, last) in processors.intervals() {
            for processor in first..=last {
                held.entry((provider, processor)).or_default().push((start, end));
            }
        }
    };
    for record in &ran.records {
        let unfinished = drawn.retry.is_some() && record.outcome == JobOutcome::Unfinished;
        let breaks = drawn.breaks.is_some();
        // All events about the job, and all failures.
        let its = format!(" {}", record.job.id.0);
        let about = |line: &&str| line.ends_with(&its) || line.ends_with("ed -");
        let story = || Vec::from_iter(ran.log.lines().filter(about)).join("\n");
        prop_assert!(!unfinished, "job {} waits:\n{}", record.job.number, story());
        if record.bag.is_some() {
            // A job that was broken may have parts that ran in vain.
            let broken = matches!(record.outcome, JobOutcome::Failed | JobOutcome::Unfinished);
            if !(breaks && broken) {
                is_whole(record, drawn.reordering || drawn.retry.is_some(), breaks)?;
            }
            for share in record.bag.iter().flat_map(|bag| &bag.shares) {
                for run in &share.runs {
                    hold(share.provider.0, &run.processors, run.start, run.end);
                }
            }
            continue;
        }
        match (record.provider, record.start) {
            (Some(provider), Some(start)) => {
                hold(provider.0, &record.processors, start, record.end);
                let kept = breaks || record.promised_end.is_some_and(|it| record.end <= it);
                prop_assert!(kept, "local job {} is late", record.job.number);
            }
            _ => {
                // A metascheduler that sees all free times refuses only jobs that are too wide.
                let rejected = matches!(record.outcome, JobOutcome::Rejected(_));
                let sees_all = drawn.moves.len() == 1 && !hides && setup.latency == Span::ZERO;
                let sees_all = sees_all && setup.jitter == Span::ZERO && drawn.retry.is_none();
                let sees_all = sees_all && !breaks;
                if rejected && sees_all && record.class == JobClass::External {
                    prop_assert!(record.job.processors > widest, "{}", record.job.number);
                }
            }
        }
    }
    for ((provider, processor), mut stretches) in held {
        stretches.sort_unstable();
        for pair in stretches.windows(2) {
            let apart = pair[0].1 <= pair[1].0;
            prop_assert!(apart, "processor {} of provider {}", processor, provider);
        }
    }
    Ok(())
}

fn cases(count: u32, drawn: impl Strategy<Value = Drawn>) {
    // More cases than a gate runs are drawn anew.
    let config = match count {
        ..=1_000 => the_same(count),
        _ => ProptestConfig { cases: count, failure_persistence: None, ..Default::default() },
    };
    proptest!(config, |(drawn in drawn)| check(&drawn)?);
}

#[test]
fn a_job_runs_whole_or_not_at_all_and_drivers_agree() {
    cases(300, drawn());
}

#[test]
fn a_job_runs_whole_or_not_at_all_whatever_is_lost_or_late() {
    cases(100, lossy());
}

#[test]
fn a_job_runs_whole_or_fails_on_providers_that_break_their_parts() {
    cases(200, breaking());
}

#[test]
fn a_job_runs_whole_or_fails_whatever_breaks_and_is_lost() {
    cases(100, breaking_and_lossy());
}

#[test]
#[ignore = "takes minutes"]
fn a_job_runs_whole_or_fails_whatever_breaks_and_is_lost_at_length() {
    cases(10_000, breaking_and_lossy());
}

#[test]
#[ignore = "takes minutes"]
fn a_job_runs_whole_or_not_at_all_whatever_is_lost_or_late_at_length() {
    cases(10_000, lossy());
}

/// A part that is held without an agreement is given back at its planned start. If one provider has no room any more,
/// the others take other jobs.
#[test]
fn what_is_not_agreed_on_is_given_back() {
    // Both metaschedulers see the same room at the same time, and messages take a second.
    let mut setup = Setup::default().coallocating(2).coallocating(2);
    setup.latency = Span::from_secs(1);
    let ran = setup
        .coallocator(CoallocationPolicy::ShiftRemap, 0)
        .coallocator(CoallocationPolicy::ShiftRemap, 0)
        .user(2, vec![job(1, 0, 10, 10, 4)])
        .user(3, vec![job(2, 0, 10, 10, 4)])
        .user(0, vec![job(3, 60, 10, 10, 2)])
        .user(1, vec![job(4, 60, 10, 10, 2)])
        .run(Driver::Sequential);
    assert!(ran.log.contains("part_not_ready"), "one comes too late:\n{}", ran.log);
    let mut starts: Vec<i64> =
        ran.records.iter().filter_map(|it| Some(it.start?.as_micros() / 1_000_000)).collect();
    starts.sort_unstable();
    assert_eq!(starts.len(), 4, "{}", ran.log);
    assert!(starts[1] >= starts[0] + 10, "{starts:?}");
    assert!(starts[2..].iter().all(|&start| start < 80), "{starts:?}");
}

/// The question of another job overtakes the notice that a job awaits room, and takes the news of the room away.
#[test]
fn a_job_that_awaits_room_learns_of_it_from_the_answer_to_another_job() {
    let drawn = Drawn {
        providers: vec![(3, 100)],
        moves: vec![CoallocationPolicy::Rigid, CoallocationPolicy::Rigid],
        fill: FillRule::InTurn,
        choice: RemapRule::EarliestStart,
        requests: RequestOrder::InTurns,
        overhead: 0,
        trials: 2,
        patience: None,
        local: vec![vec![], vec![], vec![], vec![]],
        external: vec![
            vec![
                (0, 1, 1, 4),
                (0, 1, 1, 4),
                (0, 1, 1, 4),
                (0, 11, 64, 1),
                (0, 1, 1, 1),
                (0, 1, 1, 4),
                (0, 1, 1, 4),
            ],
            vec![(7, 1, 1, 4), (9, 1, 1, 3), (0, 1, 1, 2), (0, 8, 75, 2), (0, 1, 1, 3)],
        ],
        latency: 3,
        jitter: 3,
        reordering: true,
        completions_first: false,
        horizon: None,
        retry: None,
        trouble: None,
        breaks: Some(Breaks {
            failing: vec![
                (0, 95937714, vec![(33, 42), (43, 59)]),
                (0, 1039373664, vec![(11, 28), (65, 86)]),
                (0, 0, vec![(44, 57)]),
                (0, 0, vec![(13, 42), (62, 65)]),
            ],
            overruns: false,
            on_failure: OnFailure::Restart,
            max_attempts: 1,
        }),
    };
    check(&drawn).expect("all jobs are recorded");
}
