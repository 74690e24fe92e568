//! Multifactor priorities of deep queues, and fair share of large trees, with a checksum of the keys beside
//! each time.

#![expect(clippy::print_stdout, reason = "a checksum stands beside each time")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use haggle_benches::Numbers;
use haggle_model::{Span, Time};
use haggle_scheduling::priority::{
    Association, Billing, Machine, Multifactor, PriorityConfig, PriorityJob, Shares, Totals, Tree,
    Weights,
};

const MACHINE: Machine = Machine { processors: 16_384, nodes: 256 };
const PERIOD: i64 = 300;

/// Users in accounts of ten, which are in groups of ten, each user with a running job.
fn priorities(users: u32) -> (Multifactor, Vec<Association>) {
    let mut tree = Tree::new();
    let mut numbers = Numbers(5);
    let (mut group, mut account) = (Association::ROOT, Association::ROOT);
    let mut all = Vec::new();
    for user in 0..users {
        let mut shares = || Shares::Of(1 + numbers.below(9) as u32);
        if user % 100 == 0 {
            group = tree.account(Association::ROOT, shares()).expect("the root is an account");
        }
        if user % 10 == 0 {
            account = tree.account(group, shares()).expect("the group is an account");
        }
        all.push(tree.user(account, shares()).expect("the account is one"));
    }
    let mut config = PriorityConfig::new(MACHINE);
    config.weights =
        Weights { age: 10_000, fair_share: 100_000, job_size: 1_000, ..Weights::default() };
    let mut priorities = Multifactor::new(config, tree).expect("the settings can be used");
    for (second, &user) in all.iter().enumerate() {
        let billing = Billing::of(f64::from(numbers.width()));
        priorities.start(user, billing, Time::from_secs(second as i64 % PERIOD));
    }
    (priorities, all)
}

/// Jobs that wait.
fn queue(jobs: u64, users: &[Association]) -> Vec<PriorityJob> {
    let mut numbers = Numbers(9);
    let job = |_| {
        let asked = Totals {
            processors: u64::from(numbers.width()),
            nodes: 1 + numbers.below(16),
            ..Totals::default()
        };
        PriorityJob {
            user: users[numbers.below(users.len() as u64) as usize],
            eligible: Time::from_secs(numbers.below(PERIOD as u64) as i64),
            asked,
            limit: Some(Span::from_secs(1 + numbers.below(86_400) as i64)),
            partition: None,
            qos: None,
            site: 0,
            nice: numbers.below(100) as i64,
        }
    };
    (0..jobs).map(job).collect()
}

/// The order of the queue, as a pass makes it.
fn order(priorities: &Multifactor, jobs: &[PriorityJob], now: Time) -> Vec<(i64, u32)> {
    let key = |(number, job)| (priorities.key(job, now), number);
    let mut keys: Vec<(i64, u32)> = (0..).zip(jobs).map(key).collect();
    keys.sort_unstable();
    keys
}

fn keys(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("priority");
    group.sample_size(20);
    let (mut priorities, users) = priorities(1_000);
    let now = Time::from_secs(PERIOD * 12);
    priorities.calculate(now);
    for count in [1_000, 10_000] {
        let jobs = queue(count, &users);
        let sum = order(&priorities, &jobs, now).into_iter().fold(0_i64, |sum, (key, number)| {
            sum.wrapping_mul(31).wrapping_add(key ^ i64::from(number))
        });
        println!("order of {count} jobs: checksum {sum:016x}");
        group.bench_function(BenchmarkId::new("keys", count), |bencher| {
            bencher.iter(|| jobs.iter().map(|job| priorities.key(job, now)).sum::<i64>());
        });
        group.bench_function(BenchmarkId::new("order", count), |bencher| {
            bencher.iter(|| black_box(order(&priorities, &jobs, now)));
        });
    }
    group.finish();
}

fn fair_share(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fair share");
    group.sample_size(20);
    for count in [100, 1_000, 10_000] {
        let (priorities, _) = priorities(count);
        group.bench_function(BenchmarkId::new("calculation, users", count), |bencher| {
            let (mut priorities, mut at) = (priorities.clone(), 0);
            bencher.iter(|| {
                at += PERIOD;
                black_box(priorities.calculate(Time::from_secs(at)))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, keys, fair_share);
criterion_main!(benches);
