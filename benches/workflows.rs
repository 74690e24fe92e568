//! Cost of graphs and schedules by their size, with a checksum of all results.

#![expect(clippy::print_stdout, reason = "a checksum stands beside each time")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use haggle_benches::Numbers;
use haggle_model::Span;
use haggle_workflows::Workflow;
use haggle_workflows::files::{parse_bytes, write};
use haggle_workflows::schedule::{Network, Problem, Schedule, StaticAlgorithm};
use haggle_workflows::shapes::WorkflowShape;

/// The full size in a measurement, a small size in a test run.
fn size(measured: usize, tried: usize) -> usize {
    // `cargo bench -- --test` runs each once.
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    if given("--bench") && !given("--test") { measured } else { tried }
}

fn layered(tasks: usize) -> Workflow {
    WorkflowShape::Layered.generate(tasks, 1).expect("a good size")
}

fn checksum(schedule: &Schedule) -> i64 {
    schedule.placements().iter().fold(0_i64, |sum, placement| {
        let mixed = sum.wrapping_mul(31).wrapping_add(i64::from(placement.resource));
        mixed.wrapping_mul(31).wrapping_add(placement.end.as_micros())
    })
}

fn schedules(criterion: &mut Criterion) {
    let network = Network { latency: Span::from_micros(100), bytes_per_second: 1e8 };
    let (tasks, resources) = (size(10_000, 100), size(1_000, 8));
    let workflow = layered(tasks);
    let mut numbers = Numbers(1);
    let mixed = (0..resources).map(|_| 0.5 + numbers.below(1_000) as f64 / 1_000.0).collect();
    let mut group = criterion.benchmark_group("schedules");
    group.sample_size(10);
    for (name, speeds) in [("equal", vec![1.0; resources]), ("mixed", mixed)] {
        let problem = Problem::with_speeds(&workflow, speeds, network).expect("a problem");
        for policy in StaticAlgorithm::ALL {
            let schedule = policy.schedule(&problem, 1);
            schedule.check(&problem).expect("a good schedule");
            let sum = checksum(&schedule);
            println!("{policy}, {name}: {sum:016x}, {} s", schedule.makespan());
            group.bench_function(BenchmarkId::new(policy.name(), name), |bencher| {
                bencher.iter(|| black_box(policy).schedule(&problem, 1));
            });
        }
    }
}

fn graphs(criterion: &mut Criterion) {
    let tasks = size(1_000_000, 1_000);
    let mut group = criterion.benchmark_group("graphs");
    group.sample_size(10);
    group.bench_function("generate", |bencher| bencher.iter(|| layered(black_box(tasks))));
    let workflow = layered(tasks);
    let path = workflow.critical_path_by_work();
    println!("{} levels, {} s", workflow.levels().len(), path.length);
    group.bench_function("critical path", |bencher| {
        bencher.iter(|| black_box(&workflow).critical_path_by_work());
    });
    group.bench_function("parent sets", |bencher| {
        bencher.iter(|| black_box(&workflow).parent_sets());
    });
    let workflow = layered(tasks / 10);
    let mut text = Vec::new();
    write(&workflow, "a benchmark", &mut text).expect("memory takes it");
    println!("{} bytes of WfFormat", text.len());
    group.bench_function("read", |bencher| bencher.iter(|| parse_bytes(black_box(&text))));
}

criterion_group!(benches, schedules, graphs);
criterion_main!(benches);
