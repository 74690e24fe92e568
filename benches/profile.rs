//! The availability profile and the local schedulers, with a checksum of the
//! starts beside each time.

#![expect(clippy::print_stdout, reason = "a checksum stands beside each time")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use haggle_benches::Numbers;
use haggle_model::{Span, Time};
use haggle_scheduling::{Compression, Order, Policy, Profile, Request, SchedulerConfig, Slot};

const PROCESSORS: u32 = 1024;

/// Books `jobs` at their earliest fits, all requested at time zero.
fn book(jobs: u64) -> (Profile, i64) {
    let mut profile = Profile::new(PROCESSORS);
    let mut numbers = Numbers(7);
    let mut sum = 0_i64;
    for _ in 0..jobs {
        let (width, span) = (numbers.width(), Span::from_secs(1 + numbers.below(36_000) as i64));
        let start = profile.earliest_fit(width, span, Time::ZERO).expect("fits the machine");
        profile.add(start, start + span, width);
        sum = sum.wrapping_mul(31).wrapping_add(start.as_micros());
    }
    (profile, sum)
}

fn profile(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("profile");
    group.sample_size(10);
    for jobs in [1_000, 10_000] {
        println!("earliest fit of {jobs} jobs: checksum {:016x}", book(jobs).1);
        group.bench_function(BenchmarkId::new("book at earliest fit", jobs), |bencher| {
            bencher.iter(|| black_box(book(jobs).1));
        });
        let (full, _) = book(jobs);
        group.bench_function(BenchmarkId::new("one earliest fit in", jobs), |bencher| {
            let mut numbers = Numbers(11);
            bencher.iter(|| {
                let span = Span::from_secs(1 + numbers.below(36_000) as i64);
                black_box(full.earliest_fit(numbers.width(), span, Time::ZERO))
            });
        });
    }
}

/// Schedules jobs that arrive every `gap` seconds and request up to eight times their run time. Returns a checksum of
/// the starts.
fn schedule(config: SchedulerConfig, jobs: u32, gap: i64) -> i64 {
    let mut scheduler = config.build(PROCESSORS);
    let mut numbers = Numbers(3);
    let mut ends: std::collections::BinaryHeap<std::cmp::Reverse<(Time, u32)>> = Default::default();
    let mut runs = Vec::new();
    let mut started = Vec::new();
    let mut sum = 0_i64;
    let mut next = 0;
    loop {
        let submit = (next < jobs).then(|| Time::from_secs(i64::from(next) * gap));
        let end = ends.peek().map(|&std::cmp::Reverse((time, _))| time);
        let planned = scheduler.next_start();
        let Some(now) = [submit, end, planned].into_iter().flatten().min() else { return sum };
        if submit == Some(now) {
            let run = 60 + numbers.below(7_200) as i64;
            runs.push(Span::from_secs(run));
            scheduler.submit(
                now,
                Request::new(
                    Slot(next),
                    numbers.width(),
                    Some(Span::from_secs(run * (1 + numbers.below(8) as i64))),
                ),
            );
            next += 1;
        } else if end == Some(now) {
            let std::cmp::Reverse((_, slot)) = ends.pop().expect("one ends now");
            scheduler.finished(now, Slot(slot));
        }
        scheduler.start_due(now, &mut started);
        for slot in started.drain(..) {
            ends.push(std::cmp::Reverse((now + runs[slot.index()], slot.0)));
            sum = sum.wrapping_mul(31).wrapping_add(now.as_micros() ^ i64::from(slot.0));
        }
    }
}

fn schedulers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scheduler");
    group.sample_size(10);
    for policy in Policy::ALL {
        for compression in Compression::ALL {
            let relevant = policy == Policy::Conservative || compression == Compression::ByStart;
            if !relevant {
                continue;
            }
            let config = SchedulerConfig {
                policy,
                order: Order::Arrival,
                compression,
                depth: None,
                window: None,
            };
            println!("{config}: checksum {:016x}", schedule(config, 2_000, 330));
            group.bench_function(config.to_string(), |bencher| {
                bencher.iter(|| black_box(schedule(config, 2_000, 330)));
            });
        }
    }
}

criterion_group!(benches, profile, schedulers);
criterion_main!(benches);
