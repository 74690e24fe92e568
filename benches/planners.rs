//! Cost of planning by numbers of machines and phases, with a checksum of all results.

#![expect(clippy::print_stdout, reason = "a checksum stands beside each time")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use haggle_model::Span;
use haggle_model::random::stream;
use haggle_planning::iterative::{Core, IterativeApplication};
use haggle_planning::plan::{GeneticOptions, IncrementalOptions};
use haggle_planning::synthetic::{ApplicationKind, Draws, loaded};
use haggle_planning::{
    Application, Cluster, ClusterOracle, Interval, IntervalOracle, Method, PlanSearch, Problem,
};

/// All sizes in a measurement, one small size in a test run.
fn sizes<const N: usize>(measured: [usize; N], tried: usize) -> Vec<usize> {
    // `cargo bench -- --test` runs each once.
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    if given("--bench") && !given("--test") { measured.to_vec() } else { vec![tried] }
}

fn application(phases: usize) -> Arc<Application> {
    let phases = ApplicationKind::Changa.draw_phases(1, phases);
    Arc::new(Application::new(&phases, 1.0).expect("good phases"))
}

fn cluster(machines: usize) -> Arc<Cluster> {
    Arc::new(loaded(&mut Draws::new(1), machines))
}

fn mixed(checksum: i64, span: Span) -> i64 {
    checksum.wrapping_mul(31).wrapping_add(span.as_micros())
}

/// Searches all intervals that end with the last of 30 phases, with a new oracle.
fn searched(
    application: &Arc<Application>,
    cluster: &Arc<Cluster>,
    search: PlanSearch,
) -> (i64, u64) {
    let oracle = ClusterOracle::new(application, cluster, search).expect("machines");
    let times = (1..=30).map(|first| oracle.least_time(Interval::new(first, 30)));
    (times.fold(0, mixed), oracle.effort().priced / oracle.effort().searches)
}

fn searches(criterion: &mut Criterion) {
    let application = application(30);
    let mut group = criterion.benchmark_group("30 searches");
    group.sample_size(10);
    for machines in sizes([64, 128, 256, 512, 1024], 16) {
        let cluster = cluster(machines);
        for search in
            [PlanSearch::Hulls, PlanSearch::Boxes, PlanSearch::BoxesWithinBudget, PlanSearch::Scan]
        {
            let (checksum, priced) = searched(&application, &cluster, search);
            println!("{machines} machines, {search:?}: {checksum:016x}, {priced} sets a search");
            let id = BenchmarkId::new(format!("{search:?}"), machines);
            group.bench_function(id, |bencher| {
                bencher.iter(|| searched(&application, &cluster, black_box(search)));
            });
        }
    }
}

/// Links for each pair, put together greedily.
fn pairs(criterion: &mut Criterion) {
    let application = application(30);
    let mut group = criterion.benchmark_group("30 searches, links of pairs");
    group.sample_size(10);
    for machines in sizes([16, 64, 256], 16) {
        let mut draws = Draws::new(1);
        let cpu = (0..machines).map(|_| draws.between(0.1, 1.0)).collect();
        let row = |_| (0..machines).map(|_| draws.between(0.2, 0.8)).collect();
        let links = (0..machines).map(row).collect();
        let cluster = Arc::new(Cluster::with_links(1.0, cpu, links).expect("good shares"));
        let (checksum, priced) = searched(&application, &cluster, PlanSearch::Boxes);
        println!("{machines} machines, links of pairs: {checksum:016x}, {priced} sets a search");
        group.bench_function(BenchmarkId::from_parameter(machines), |bencher| {
            bencher.iter(|| searched(&application, &cluster, PlanSearch::Boxes));
        });
    }
}

/// Makes a plan with a new oracle.
fn planned(application: &Arc<Application>, cluster: &Arc<Cluster>, method: &Method) -> (Span, u64) {
    let oracle = ClusterOracle::new(application, cluster, PlanSearch::Hulls).expect("machines");
    let (rescheduling, threshold) = (Span::from_secs(120), Span::from_secs(1200));
    let problem = Problem { oracle: &oracle, first: 1, rescheduling, threshold };
    let plan = method.plan(&problem, &mut stream(1, "planner", "plans"));
    (plan.cost, oracle.effort().searches)
}

fn planners(criterion: &mut Criterion) {
    let cluster = cluster(sizes([512], 16)[0]);
    let mut group = criterion.benchmark_group("plans");
    group.sample_size(10);
    for phases in sizes([15, 18, 22, 30, 60, 120, 240, 1_000], 8) {
        let application = application(phases);
        let methods = [
            ("incremental", Method::Incremental(IncrementalOptions::default())),
            ("division", Method::Division),
            ("genetic", Method::Genetic(GeneticOptions::default())),
            ("optimum", Method::Optimum),
            ("optimum by number", Method::OptimumByNumber),
            ("brute force", Method::BruteForce),
        ];
        let ends = |name: &str| match name {
            // Examines twice as many plans for each further phase.
            "brute force" => phases <= 22,
            "optimum" => true,
            _ => phases <= 240,
        };
        for (name, method) in methods.iter().filter(|(name, _)| ends(name)) {
            let (cost, searches) = planned(&application, &cluster, method);
            println!("{phases} phases, {name}: {} us, {searches} searches", cost.as_micros());
            group.bench_function(BenchmarkId::new(*name, phases), |bencher| {
                bencher.iter(|| planned(&application, &cluster, black_box(method)));
            });
        }
    }
}

fn maps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("asynchronous maps");
    group.sample_size(10);
    let throughputs = vec![vec![10.9, 11.4, 3.6, 3.3], vec![7.8, 7.8, 2.6, 2.4]];
    for cores in sizes([40, 400, 4_000], 8) {
        let processes = vec![3 * cores as u32; 4];
        let application = IterativeApplication::new(processes, 200, throughputs.clone());
        let application = application.expect("a good application");
        let cores: Vec<Core> =
            (0..cores).map(|core| Core { kind: core % 2, site: core % 3 }).collect();
        let run = || application.asynchronous(&cores, Span::ZERO).expect("cores").run_time;
        println!("{} cores: {} us", cores.len(), run().as_micros());
        group.bench_function(BenchmarkId::from_parameter(cores.len()), |bencher| bencher.iter(run));
    }
}

criterion_group!(benches, searches, pairs, planners, maps);
criterion_main!(benches);
