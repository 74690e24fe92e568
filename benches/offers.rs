//! Deadlines and offers on five busy providers: the queue, and its obvious version. A checksum of all promises and
//! starts is printed beside each time.
//!
//! The load is modelled on the experiments of Netto 2009, section 6.5: local jobs take about half of the capacity,
//! and bags take a little more than the rest.

#![expect(clippy::print_stdout, reason = "a checksum stands beside each time")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use haggle_benches::Numbers;
use haggle_model::{Span, Time};
use haggle_scheduling::composition::{AnyView, Facts, FreeTime, QueueEntry};
use haggle_scheduling::{
    BagCall, BagRequest, Bargainer, CompositionOptions, CompositionPolicy, Edf, EdfConfig,
    LocalScheduler, Offer, Request, Slot,
};

#[path = "../crates/scheduling/tests/it/obvious_edf.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod obvious_edf;

use obvious_edf::ObviousEdf;

const DAY: i64 = 86_400;

/// (processors, jobs in 60 days, load in percent, widest, shortest and longest time in hours)
const CLUSTERS: [(u32, u32, i64, u64, i64, i64); 5] = [
    (430, 3_478, 49, 306, 1, 18),
    (240, 959, 56, 128, 1, 120),
    (240, 4_913, 48, 128, 1, 120),
    (128, 1_088, 54, 115, 1, 18),
    (140, 6_574, 52, 1, 2, 72),
];

/// (deadline schema, seconds beyond submission and run time)
const SLACKS: [(u32, [i64; 3]); 2] =
    [(1, [18 * 3_600, 36 * 3_600, 10 * DAY]), (2, [12 * 3_600, DAY, 7 * DAY])];

/// A job or bag; times in seconds.
#[derive(Clone, Copy, Debug)]
struct Work {
    submitted: i64,
    /// `None` = a bag.
    cluster: Option<usize>,
    width: u32,
    span: i64,
    slack: i64,
    run: i64,
}

/// Jobs with times spread over orders of magnitude, stretched to `load` percent
/// of `processors` in 60 days.
fn trace(
    numbers: &mut Numbers,
    cluster: Option<usize>,
    (processors, jobs, load, widest, shortest, longest): (u32, u32, i64, u64, i64, i64),
    slacks: [i64; 3],
) -> Vec<Work> {
    let narrowest = if cluster.is_none() { 64 } else { 1 };
    let mut works: Vec<Work> = (0..jobs)
        .map(|_| {
            let octaves = u64::from((widest / narrowest).ilog2()) + 1;
            let width = narrowest << numbers.below(octaves);
            let odd = numbers.below(10) >= 6;
            let width = if odd { width + numbers.below(width) } else { width };
            let octaves = u64::from((longest / shortest).ilog2()) + 1;
            let span = (shortest * 3_600) << numbers.below(octaves);
            Work {
                submitted: numbers.below(60 * DAY as u64) as i64,
                cluster,
                width: width.min(widest) as u32,
                span: span + numbers.below(span as u64) as i64,
                slack: slacks[numbers.below(3) as usize],
                run: 1 + numbers.below(100) as i64,
            }
        })
        .collect();
    let wanted = i64::from(processors) * 60 * DAY / 100 * load;
    for _ in 0..20 {
        let work: i64 = works.iter().map(|work| i64::from(work.width) * work.span).sum();
        for job in &mut works {
            let stretched = i128::from(job.span) * i128::from(wanted) / i128::from(work);
            job.span = (stretched as i64).clamp(shortest * 3_600, longest * 3_600);
        }
    }
    works
}

/// The first `days` of the load.
fn load(schema: usize, days: i64) -> Vec<Work> {
    let mut numbers = Numbers(5);
    let slacks = SLACKS[schema].1;
    let mut works = trace(&mut numbers, None, (1_178, 969, 54, 632, 1, 36), slacks);
    for (index, cluster) in CLUSTERS.into_iter().enumerate() {
        works.extend(trace(&mut numbers, Some(index), cluster, slacks));
    }
    works.retain(|work| work.submitted < days * DAY);
    works.sort_by_key(|work| (work.submitted, work.cluster));
    works
}

/// Facts that a provider discloses: its offers.
struct Told(Vec<Offer>);

impl Facts for Told {
    fn offers(&mut self) -> Vec<Offer> {
        std::mem::take(&mut self.0)
    }

    fn power(&mut self) -> u64 {
        unreachable!("no policy here asks for it")
    }

    fn load(&mut self) -> u128 {
        unreachable!("no policy here asks for it")
    }

    fn free_time(&mut self) -> FreeTime {
        unreachable!("no policy here asks for it")
    }

    fn queue(&mut self) -> Vec<QueueEntry> {
        unreachable!("no policy here asks for it")
    }
}

/// An end of a job or of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    time: Time,
    provider: usize,
    slot: Slot,
    /// Tasks of a share and their planned end.
    tasks: Option<(u32, Time)>,
}

/// Runs the load and returns (checksum of promises and starts, longest queue).
fn run<B: Bargainer + LocalScheduler>(
    works: &[Work],
    early: bool,
    mut provider: impl FnMut(u32) -> B,
) -> (i64, usize) {
    let mut providers: Vec<B> = CLUSTERS.iter().map(|cluster| provider(cluster.0)).collect();
    let mut starts: Vec<Option<Time>> = vec![None; providers.len()];
    let mut slots: Vec<Vec<Work>> = vec![Vec::new(); providers.len()];
    let mut ends: BinaryHeap<Reverse<End>> = BinaryHeap::new();
    let mut arrivals = works.iter().peekable();
    let (mut sum, mut longest, mut turn) = (0_i64, 0, 0);
    let mut note = |time: Time| sum = sum.wrapping_mul(31).wrapping_add(time.as_micros());
    let (mut jobs, mut tasks) = (Vec::new(), Vec::new());
    loop {
        let arrival = arrivals.peek().map(|work| Time::from_secs(work.submitted));
        let end = ends.peek().map(|Reverse(end)| end.time);
        let start = starts.iter().flatten().min().copied();
        let Some(now) = [arrival, end, start].into_iter().flatten().min() else { break };
        let mut touched: Vec<bool> = starts.iter().map(|&start| start == Some(now)).collect();
        while let Some(&Reverse(end)) = ends.peek()
            && end.time == now
        {
            ends.pop();
            touched[end.provider] = true;
            match end.tasks {
                None => providers[end.provider].finished(now, end.slot),
                Some((tasks, planned)) => {
                    providers[end.provider].tasks_finished(now, end.slot, tasks, planned);
                }
            }
        }
        while let Some(&work) = arrivals.next_if(|work| Time::from_secs(work.submitted) == now) {
            let span = Span::from_secs(work.span);
            let deadline = Some(now + span + Span::from_secs(work.slack));
            if let Some(cluster) = work.cluster {
                let slot = Slot(slots[cluster].len() as u32);
                let processors = work.width;
                let request = Request { deadline, ..Request::new(slot, processors, Some(span)) };
                note(providers[cluster].submit(now, request).expect("a deadline is promised"));
                slots[cluster].push(work);
                touched[cluster] = true;
                continue;
            }
            let request = BagRequest { tasks: work.width, span, deadline, earliest: Time::ZERO };
            let offer = |provider: &mut B| {
                let mut told = Told(provider.offers(now, &request));
                AnyView::disclose(CompositionPolicy::OffersPlb.needs(), &mut told)
            };
            let views: Vec<AnyView> = providers.iter_mut().map(offer).collect();
            let call = BagCall { tasks: work.width, span, deadline, now };
            let options = CompositionOptions::default();
            let composition = CompositionPolicy::OffersPlb
                .compose(&call, &views, options, turn)
                .expect("every provider offers the whole bag");
            turn += 1;
            note(composition.completion);
            for part in composition.parts {
                let slot = Slot(slots[part.provider].len() as u32);
                let provider = &mut providers[part.provider];
                let planned = provider.award(now, slot, &request, &part.award);
                note(planned.expect("an award does not fail"));
                slots[part.provider].push(work);
                touched[part.provider] = true;
            }
        }
        for provider in (0..providers.len()).filter(|&provider| touched[provider]) {
            providers[provider].start_due(now, &mut jobs);
            providers[provider].tasks_due(now, &mut tasks);
            let run = |slot: Slot| {
                let Work { span, run, .. } = slots[provider][slot.index()];
                let run = if early { (span * run / 100).max(1) } else { span };
                (now + Span::from_secs(span), now + Span::from_secs(run))
            };
            for slot in jobs.drain(..) {
                note(now + Span::from_micros(i64::from(slot.0)));
                ends.push(Reverse(End { time: run(slot).1, provider, slot, tasks: None }));
            }
            for (slot, count) in tasks.drain(..) {
                note(now + Span::from_micros(i64::from(slot.0) + (i64::from(count) << 20)));
                let (planned, time) = run(slot);
                let tasks = Some((count, planned));
                ends.push(Reverse(End { time, provider, slot, tasks }));
            }
            starts[provider] = providers[provider].next_start();
            longest = longest.max(providers[provider].queue_length());
        }
    }
    (sum, longest)
}

fn fast(processors: u32) -> Edf {
    Edf::new(processors, EdfConfig::default())
}

fn obvious(processors: u32) -> ObviousEdf {
    ObviousEdf::new(processors, EdfConfig::default())
}

fn offers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("offers");
    group.sample_size(10);
    for early in [false, true] {
        let ends = if early { "early ends" } else { "ends as planned" };
        let works = load(1, 1);
        let (sum, longest) = run(&works, early, fast);
        assert_eq!((sum, longest), run(&works, early, obvious));
        println!("a day, {ends}: checksum {sum:016x}, longest queue {longest}");
        group.bench_function(BenchmarkId::new("a day, fast", ends), |bencher| {
            bencher.iter(|| black_box(run(&works, early, fast)));
        });
        group.bench_function(BenchmarkId::new("a day, obvious", ends), |bencher| {
            bencher.iter(|| black_box(run(&works, early, obvious)));
        });
    }
}

/// The period for which queues stay manageable; too long for the obvious version.
fn experiment(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("experiment");
    group.sample_size(10);
    for (index, (schema, _)) in SLACKS.into_iter().enumerate() {
        for (days, early) in [(10, false), (60, true)] {
            let works = load(index, days);
            let ends = if early { "early ends" } else { "ends as planned" };
            let (sum, longest) = run(&works, early, fast);
            let name = format!("schema {schema}, {days} days, {ends}");
            println!(
                "{name}: {} jobs and bags, checksum {sum:016x}, longest queue {longest}",
                works.len()
            );
            group.bench_function(name, |bencher| {
                bencher.iter(|| black_box(run(&works, early, fast)));
            });
        }
    }
}

criterion_group!(benches, offers, experiment);
criterion_main!(benches);
