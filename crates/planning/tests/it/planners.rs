//! Laws of all planners, over random tables.

use haggle_model::Span;
use haggle_model::random::stream;
use haggle_planning::plan::{
    GeneticOptions, IncrementalOptions, Tail, brute_force, division, genetic, incremental, optimum,
    optimum_by_number,
};
use haggle_planning::{IntervalOracle, Method, Problem, Table};
use proptest::prelude::*;

use crate::obvious;

/// Few different times, so that there are ties.
fn tables(phases: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Table> {
    (phases, 1_usize..=4).prop_flat_map(|(phases, schedules)| {
        let time = (0_i64..=12).prop_map(Span::from_secs);
        let row = prop::collection::vec(time, phases);
        prop::collection::vec(row, schedules).prop_map(|rows| Table::new(&rows).expect("good rows"))
    })
}

fn terms() -> impl Strategy<Value = (Span, Span)> {
    (0_i64..=9, -1_i64..=15).prop_map(|(rescheduling, threshold)| {
        (Span::from_secs(rescheduling), Span::from_secs(threshold))
    })
}

const SMALL: GeneticOptions =
    GeneticOptions { generations: 8, population: 12, elite: 0.1, crossover: 0.8, mutation: 0.5 };

fn all_methods() -> Vec<Method> {
    let incremental = [Tail::Merge, Tail::Keep].into_iter().flat_map(|tail| {
        [false, true].map(|reoptimise| Method::Incremental(IncrementalOptions { tail, reoptimise }))
    });
    let others = [
        Method::BruteForce,
        Method::OptimumByNumber,
        Method::Optimum,
        Method::Division,
        Method::Genetic(SMALL),
    ];
    incremental.chain(others).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn dynamic_programmes_find_the_plan_of_brute_force(
        table in tables(1..=9), (rescheduling, threshold) in terms(), done in 0_usize..9,
    ) {
        let first = done % table.phases() + 1;
        let problem = Problem { oracle: &table, first, rescheduling, threshold };
        let plan = brute_force(&problem);
        prop_assert_eq!(&optimum(&problem).parts, &plan.parts);
        prop_assert_eq!(&optimum_by_number(&problem).parts, &plan.parts);
        let valid = obvious::valid_plans(&problem);
        prop_assert_eq!(plan.examined, valid.len() as u64);
        // The fewest intervals, and then the earliest last marker.
        let order = |(cost, markers): (Span, Vec<usize>)| {
            (cost, markers.len(), markers.into_iter().rev().collect::<Vec<_>>())
        };
        let cheapest = valid.into_iter().map(order).min();
        prop_assert_eq!(plan.valid, cheapest.is_some());
        if let Some((cost, _, markers)) = cheapest {
            prop_assert_eq!(plan.cost, cost);
            prop_assert_eq!(plan.markers().into_iter().rev().collect::<Vec<_>>(), markers);
        }
    }

    #[test]
    fn no_planner_beats_brute_force(
        table in tables(1..=9), (rescheduling, threshold) in terms(), seed in 0_u64..1_000,
    ) {
        let problem = Problem { oracle: &table, first: 1, rescheduling, threshold };
        let least = brute_force(&problem);
        for method in all_methods() {
            let plan = method.plan(&problem, &mut stream(seed, "planner", "plans"));
            let whole: Vec<usize> =
                plan.parts.iter().flat_map(|part| part.interval.first..=part.interval.last).collect();
            prop_assert!(whole.iter().copied().eq(1..=problem.whole().last), "{:?}", method);
            prop_assert_eq!(plan.valid, plan.parts.iter().all(|part| part.time > threshold));
            if plan.valid {
                prop_assert!(least.valid && plan.cost >= least.cost, "{:?}", method);
            }
            // They give up only where nothing is valid; but an incremental tail may be kept, and a
            // population this small may never have a valid plan.
            let may_give_up = match method {
                Method::Incremental(options) => options.tail == Tail::Keep,
                Method::Genetic(_) => true,
                _ => false,
            };
            prop_assert!(plan.valid == least.valid || may_give_up, "{:?}", method);
            prop_assert!(plan.cost >= problem.phase_sum());
        }
    }

    #[test]
    fn division_is_what_it_says(table in tables(1..=10), (rescheduling, threshold) in terms()) {
        let problem = Problem { oracle: &table, first: 1, rescheduling, threshold };
        let plan = division(&problem);
        prop_assert_eq!(plan.markers(), obvious::division(&problem));
        let phases = problem.whole().phases() as u64;
        prop_assert!(plan.examined <= phases * (phases - 1) / 2);
    }

    #[test]
    fn reoptimised_intervals_cost_no_more(table in tables(1..=12), (rescheduling, threshold) in terms()) {
        let problem = Problem { oracle: &table, first: 1, rescheduling, threshold };
        let plain = incremental(&problem, IncrementalOptions::default());
        let again = IncrementalOptions { reoptimise: true, ..IncrementalOptions::default() };
        prop_assert!(incremental(&problem, again).cost <= plain.cost);
        prop_assert!(plain.examined <= 2 * problem.whole().phases() as u64);
    }

    #[test]
    fn optima_grow_with_the_terms(table in tables(1..=9), (rescheduling, threshold) in terms()) {
        let problem = Problem { oracle: &table, first: 1, rescheduling, threshold };
        let dearer = Problem { rescheduling: rescheduling + Span::TICK, ..problem };
        let stricter = Problem { threshold: threshold + Span::from_secs(1), ..problem };
        let plan = optimum(&problem);
        let moves = plan.markers().len() as i64;
        let dear = optimum(&dearer);
        if plan.valid {
            prop_assert!(plan.cost <= dear.cost && dear.cost <= plan.cost + Span::TICK * moves);
            prop_assert!(dear.markers().len() <= plan.markers().len());
        }
        let strict = optimum(&stricter);
        prop_assert!(!strict.valid || strict.cost >= plan.cost);
    }

    #[test]
    fn the_same_generator_draws_the_same_plan(table in tables(1..=14), seed in 0_u64..1_000) {
        let terms = (Span::from_secs(2), Span::from_secs(3));
        let problem = Problem { oracle: &table, first: 1, rescheduling: terms.0, threshold: terms.1 };
        let draw = || genetic(&problem, &SMALL, &mut stream(seed, "planner", "plans"));
        prop_assert_eq!(draw(), draw());
    }
}
