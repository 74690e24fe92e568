//! Six phases on two schedules, by hand: schedule w is better for long phases in the beginning,
//! schedule n for others. The threshold is 1200 s, rescheduling costs 300 s.

use haggle_model::Span;
use haggle_model::random::stream;
use haggle_planning::plan::{
    GeneticOptions, IncrementalOptions, Tail, brute_force, crossover, division, genetic,
    incremental, merge, optimum, optimum_by_number, split,
};
use haggle_planning::{Interval, IntervalOracle, Plan, Problem, Table};
use haggle_testing::secs;

use crate::obvious;

const W: usize = 0;
const N: usize = 1;

fn table() -> Table {
    let row = |times: [i64; 6]| times.map(secs).to_vec();
    let w = row([1700, 400, 1900, 1300, 1000, 900]);
    let n = row([1300, 1500, 600, 1600, 1900, 900]);
    Table::new(&[w, n]).expect("a good table")
}

fn problem(table: &Table) -> Problem<'_, Table> {
    Problem { oracle: table, first: 1, rescheduling: secs(300), threshold: secs(1200) }
}

fn summary(plan: &Plan<usize>) -> (Vec<usize>, Vec<usize>, i64) {
    let schedules = plan.parts.iter().map(|part| part.schedule).collect();
    (plan.markers(), schedules, plan.cost.as_micros() / 1_000_000)
}

#[test]
fn best_times_of_all_intervals() {
    let table = table();
    let expected: [&[(i64, usize)]; 6] = [
        &[(1300, N), (2100, W), (3400, N), (5000, N), (6300, W), (7200, W)],
        &[(400, W), (2100, N), (3600, W), (4600, W), (5500, W)],
        &[(600, N), (2200, N), (4100, N), (5000, N)],
        &[(1300, W), (2300, W), (3200, W)],
        &[(1000, W), (1900, W)],
        &[(900, W)],
    ];
    for (first, row) in (1..).zip(expected) {
        for (last, &(time, schedule)) in (first..).zip(row) {
            let interval = Interval::new(first, last);
            assert_eq!(table.least_time(interval), secs(time), "{interval:?}");
            assert_eq!(table.best_schedule(interval), schedule, "{interval:?}");
        }
    }
}

#[test]
fn ten_plans_of_32_are_valid() {
    let table = table();
    let problem = problem(&table);
    let mut valid = obvious::valid_plans(&problem);
    valid.sort();
    let expected: [(i64, &[usize]); 10] = [
        (6800, &[2, 4]),
        (6900, &[3]),
        (7100, &[1]),
        (7200, &[]),
        (7200, &[1, 3]),
        (7200, &[3, 4]),
        (7200, &[4]),
        (7400, &[1, 4]),
        (7400, &[2]),
        (7500, &[1, 3, 4]),
    ];
    let expected: Vec<_> =
        expected.iter().map(|&(cost, markers)| (secs(cost), markers.to_vec())).collect();
    assert_eq!(valid, expected);
}

#[test]
fn three_ways_to_the_optimum() {
    let table = table();
    let problem = problem(&table);
    let expected = (vec![2, 4], vec![W, N, W], 6800);
    let plans = [brute_force(&problem), optimum_by_number(&problem), optimum(&problem)];
    for plan in &plans {
        assert_eq!(summary(plan), expected);
        assert!(plan.valid);
    }
    // Valid plans, triples C(7, 3), pairs.
    assert_eq!(plans.map(|plan| plan.examined), [10, 35, 21]);
    assert_eq!(problem.phase_sum(), secs(5500));
}

#[test]
fn optimum_under_other_terms() {
    let table = table();
    let unbound = Problem { threshold: Span::from_micros(-1), ..problem(&table) };
    let free = Problem { rescheduling: Span::ZERO, ..problem(&table) };
    let strict = Problem { threshold: secs(1300), ..problem(&table) };
    for planner in [brute_force, optimum_by_number, optimum] {
        assert_eq!(
            (planner(&unbound).markers(), planner(&unbound).cost),
            (vec![1, 2, 3], secs(6400))
        );
        assert_eq!((planner(&free).markers(), planner(&free).cost), (vec![2, 4], secs(6200)));
    }
    // On equality an interval is too short: [1] and [4] take exactly 1300 s.
    assert!(problem(&table).plan(&[1]).valid && !strict.plan(&[1]).valid);
    assert!(problem(&table).plan(&[3, 4]).valid && !strict.plan(&[3, 4]).valid);
    assert_eq!(brute_force(&unbound).examined, 32);
}

#[test]
fn nothing_is_valid() {
    let table = table();
    let problem = Problem { threshold: secs(8000), ..problem(&table) };
    let plans = [
        brute_force(&problem),
        optimum_by_number(&problem),
        optimum(&problem),
        incremental(&problem, IncrementalOptions::default()),
        division(&problem),
        genetic(&problem, &GeneticOptions::default(), &mut stream(1, "a", "b")),
    ];
    for plan in plans {
        assert_eq!((plan.markers(), plan.valid, plan.cost), (vec![], false, secs(7200)));
    }
}

#[test]
fn incremental_keeps_the_schedule_it_began_with() {
    let table = table();
    let problem = problem(&table);
    let plan = incremental(&problem, IncrementalOptions::default());
    assert_eq!(summary(&plan), (vec![1, 4], vec![N, N, W], 7500));
    let times: Vec<Span> = plan.parts.iter().map(|part| part.time).collect();
    assert_eq!(times, [1300, 3700, 1900].map(secs));
    let reoptimised = IncrementalOptions { reoptimise: true, ..IncrementalOptions::default() };
    assert_eq!(incremental(&problem, reoptimised).cost, secs(7400));
    let free = Problem { rescheduling: Span::ZERO, ..problem };
    let plan = incremental(&free, IncrementalOptions::default());
    assert_eq!((plan.markers(), plan.cost), (vec![1, 3, 4], secs(6600)));
}

#[test]
fn a_short_tail_is_merged_or_kept() {
    // The second phase is cheap on either schedule, and staying costs more than moving.
    let rows = [vec![secs(2000), secs(2000)], vec![secs(3000), secs(500)]];
    let table = Table::new(&rows).expect("a good table");
    let problem =
        Problem { oracle: &table, first: 1, rescheduling: secs(100), threshold: secs(1200) };
    let merged = incremental(&problem, IncrementalOptions::default());
    assert_eq!((merged.markers(), merged.cost, merged.valid), (vec![], secs(3500), true));
    let keep = IncrementalOptions { tail: Tail::Keep, reoptimise: false };
    let kept = incremental(&problem, keep);
    assert_eq!((kept.markers(), kept.cost, kept.valid), (vec![1], secs(2600), false));
}

#[test]
fn division_takes_no_marker_back() {
    let table = table();
    let plan = division(&problem(&table));
    assert_eq!(summary(&plan), (vec![3], vec![N, W], 6900));
    assert_eq!(obvious::division(&problem(&table)), [3]);
}

#[test]
fn fitness_of_chromosomes() {
    let table = table();
    let problem = problem(&table);
    let reverse = |markers: &[usize]| problem.fitness(markers).reverse;
    let close = |markers: &[usize], expected: f64| {
        assert!((reverse(markers) - expected).abs() < 1e-9, "{markers:?}: {}", reverse(markers));
    };
    close(&[2, 4], 6800.0);
    close(&[3, 5], 10_000.0);
    close(&[1, 2, 3], 10_650.0);
    close(&[1, 2, 4], 9375.0);
    close(&[], 7200.0);
    close(&[2, 5], 8000.0 * 4.0 / 3.0);
    close(&[3, 4], 7200.0);
    assert!(problem.fitness(&[2, 4]).valid && !problem.fitness(&[3, 5]).valid);
}

#[test]
fn operators_on_chromosomes() {
    let table = table();
    let problem = problem(&table);
    assert_eq!(crossover(&[2, 4], &[3, 5], 3), [vec![2, 5], vec![3, 4]]);
    assert_eq!(split(&problem, vec![]), [3]);
    assert_eq!(merge(&problem, vec![1, 2, 3]), [1, 3]);
    assert!(merge(&problem, vec![]).is_empty());
    assert_eq!(split(&problem, vec![1, 2, 3, 4, 5]), [1, 2, 3, 4, 5]);
}

#[test]
fn a_population_finds_the_optimum() {
    let table = table();
    let problem = problem(&table);
    for seed in 0..5 {
        let options = GeneticOptions::default();
        let plan = genetic(&problem, &options, &mut stream(seed, "planner", "plans"));
        assert_eq!(summary(&plan), (vec![2, 4], vec![W, N, W], 6800));
        assert_eq!(plan.examined, 200 + 50 * 200);
    }
}

#[test]
fn how_much_is_examined() {
    let alike = |phases: usize| Table::new(&[vec![secs(1300); phases]]).expect("a good table");
    let table = alike(15);
    assert_eq!(brute_force(&problem(&table)).examined, 16_384);
    let table = alike(50);
    assert_eq!(optimum_by_number(&problem(&table)).examined, 20_825);
    assert_eq!(optimum(&problem(&table)).examined, 1_275);
    // Each marker is set in the interval that is longest, or all cost the same: one by one.
    let table = alike(30);
    assert_eq!(division(&problem(&table)).examined, 30 * 29 / 2);
}

#[test]
fn what_is_left_is_planned_by_the_same_numbers() {
    let table = table();
    let rest = Problem { first: 3, ..problem(&table) };
    let plan = optimum(&rest);
    assert_eq!((plan.markers(), plan.cost), (vec![4], secs(4400)));
    assert_eq!(plan.parts[0].interval, Interval::new(3, 4));
    assert_eq!(brute_force(&rest).parts, plan.parts);
}
