//! Whole courses over synthetic grids: the published results that do not depend on unpublished models.

use std::sync::Arc;

use haggle_model::Span;
use haggle_model::random::stream;
use haggle_planning::multi::{
    Course, Migration, Moment, Move, Terms, multi_cluster_plan, single_schedule,
};
use haggle_planning::plan::{IncrementalOptions, optimum};
use haggle_planning::synthetic::{ApplicationKind, Draws, SyntheticGrid, loaded};
use haggle_planning::{
    Application, ClusterOracle, Interval, IntervalOracle, Machines, Method, PlanSearch, Problem,
};

const MIGRATION: Migration = Migration { fixed: 60.0, volume: 200.0 };
const THRESHOLD: Span = Span::from_secs(1200);

fn md(phases: usize) -> Arc<Application> {
    let phases = ApplicationKind::Md.draw_phases(1, phases);
    Arc::new(Application::new(&phases, 1.0).expect("good phases"))
}

fn course(
    grid: &SyntheticGrid,
    application: &Arc<Application>,
    method: Method,
    search: PlanSearch,
) -> Course<Machines> {
    let look = |moment: Moment| grid.view(application, MIGRATION, search, moment.epoch);
    let terms = Terms { method, threshold: THRESHOLD };
    let phases = application.phases();
    multi_cluster_plan(phases, look, &terms, &mut stream(1, "grid", "plans")).expect("machines")
}

#[test]
fn plans_are_several_times_as_fast_as_a_single_schedule() {
    let application = md(30);
    let [mut plans, mut single] = [0.0; 2];
    for number in 0..3 {
        let grid = SyntheticGrid::draw(number);
        assert!(grid.heterogeneity() >= 1.0);
        for method in [Method::Incremental(IncrementalOptions::default()), Method::Division] {
            let course = course(&grid, &application, method, PlanSearch::Hulls);
            assert!(course.placed.len() <= 30 && course.moves(Move::Start) == 1);
            assert!(course.placed.iter().all(|placed| placed.time > THRESHOLD));
            plans += course.time.as_secs_f64() / 2.0;
        }
        let look =
            |moment: Moment| grid.view(&application, MIGRATION, PlanSearch::Hulls, moment.epoch);
        single += single_schedule(30, look).expect("machines").as_secs_f64();
    }
    assert!(single > 3.0 * plans, "{single} {plans}");
}

/// The course is the same whichever exact search finds the machines.
#[test]
fn a_course_does_not_depend_on_the_search() {
    let grid = SyntheticGrid::draw(1);
    let application = md(4);
    let [hulls, boxes] = [PlanSearch::Hulls, PlanSearch::Boxes]
        .map(|search| course(&grid, &application, Method::Division, search));
    assert_eq!(hulls, boxes);
}

#[test]
fn no_gap_is_above_a_tenth_and_cost_grows_with_that_of_rescheduling() {
    let phases = ApplicationKind::Changa.draw(1);
    let application = Application::new(&phases[..45], 1.0).expect("good phases").merged(3);
    let application = Arc::new(application);
    assert_eq!(application.phases(), 15);
    let mut before = 0.0;
    for seconds in [0, 60, 120, 180, 240, 300] {
        let mut sums = [0.0; 4];
        for seed in 0..10 {
            let cluster = Arc::new(loaded(&mut Draws::new(seed), 512));
            let oracle = ClusterOracle::new(&application, &cluster, PlanSearch::Hulls);
            let oracle = oracle.expect("machines");
            let rescheduling = Span::from_secs(seconds);
            let problem = Problem { oracle: &oracle, first: 1, rescheduling, threshold: THRESHOLD };
            let methods = [
                Method::Optimum,
                Method::Incremental(IncrementalOptions::default()),
                Method::Division,
            ];
            for (sum, method) in sums.iter_mut().zip(methods) {
                *sum += method.plan(&problem, &mut stream(1, "a", "b")).cost.as_secs_f64();
            }
            sums[3] += problem.phase_sum().as_secs_f64();
        }
        let [optimum, incremental, division, phases] = sums;
        assert!(optimum > before && phases < optimum);
        for sum in [incremental, division] {
            assert!(sum >= optimum && sum < 1.1 * optimum, "{seconds} {sums:?}");
        }
        before = optimum;
    }
}

/// A merged phase is an interval of the phases that it consists of.
#[test]
fn merged_phases_take_what_their_phases_take() {
    let phases = ApplicationKind::Lammps.draw(1);
    let cluster = Arc::new(loaded(&mut Draws::new(1), 40));
    let oracle = |application| {
        ClusterOracle::new(&Arc::new(application), &cluster, PlanSearch::Hulls).expect("machines")
    };
    let application = Application::new(&phases, 1.0).expect("good phases");
    let (single, merged) = (oracle(application.clone()), oracle(application.merged(4)));
    // 26 phases: six of four, and one of two.
    assert_eq!(merged.phases(), 7);
    for first in 1..=7 {
        for last in first..=7 {
            let whole = Interval::new(4 * first - 3, (4 * last).min(26));
            let interval = Interval::new(first, last);
            assert_eq!(merged.least_time(interval), single.least_time(whole));
            assert_eq!(merged.best_schedule(interval), single.best_schedule(whole));
        }
    }
    let cost = |oracle: &ClusterOracle| {
        let rescheduling = Span::from_secs(120);
        optimum(&Problem { oracle, first: 1, rescheduling, threshold: THRESHOLD }).cost
    };
    assert!(cost(&single) <= cost(&merged));
}
