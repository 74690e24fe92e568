//! Several clusters: examples by hand, and laws.

use std::sync::Arc;

use haggle_model::Span;
use haggle_model::random::stream;
use haggle_planning::multi::{
    Candidate, GridView, Migration, Moment, Move, Terms, choose_interval, multi_cluster_plan,
    single_schedule, three_way,
};
use haggle_planning::plan::{IncrementalOptions, incremental};
use haggle_planning::{
    Application, Cluster, ClusterOracle, Interval, IntervalOracle, Machines, Method, Phase,
    PlanSearch, Problem, Speedup, Table, Term,
};
use haggle_testing::secs;
use proptest::prelude::*;

fn table(rows: &[&[i64]]) -> Table {
    let row = |row: &&[i64]| row.iter().map(|&seconds| secs(seconds)).collect();
    Table::new(&rows.iter().map(row).collect::<Vec<_>>()).expect("good rows")
}

/// Clusters behind tables, with the same costs everywhere.
struct Tables<'a> {
    tables: &'a [Table],
    within: Span,
    between: Span,
}

impl GridView for Tables<'_> {
    type Oracle = Table;

    fn clusters(&self) -> usize {
        self.tables.len()
    }

    fn oracle(&self, cluster: usize) -> Option<&Table> {
        self.tables.get(cluster)
    }

    fn within(&self, _: usize) -> Span {
        self.within
    }

    fn between(&self, _: usize, _: usize) -> Span {
        self.between
    }
}

const INCREMENTAL: Method = Method::Incremental(IncrementalOptions {
    tail: haggle_planning::plan::Tail::Merge,
    reoptimise: false,
});

#[test]
fn the_least_of_three() {
    let at = |seconds| Some(secs(seconds));
    assert_eq!(three_way(at(2000), at(1820), at(1900)), Some(Move::Within));
    assert_eq!(three_way(at(2000), at(1820), at(1800)), Some(Move::Between));
    assert_eq!(three_way(at(1800), at(1820), at(1800)), Some(Move::Stay));
    assert_eq!(three_way(at(1900), at(1800), at(1800)), Some(Move::Within));
    assert_eq!(three_way(at(2000), at(1820), None), Some(Move::Within));
    assert_eq!(three_way(None, None, None), None);
}

/// Two clusters of two schedules each, four phases.
fn two_clusters() -> [Table; 2] {
    [
        table(&[&[1000, 900, 2500, 2500], &[1600, 1500, 800, 900]]),
        table(&[&[1300, 1300, 2500, 2200], &[2000, 2000, 700, 600]]),
    ]
}

#[test]
fn an_application_moves_if_the_way_is_short_enough() {
    let tables = two_clusters();
    let costs = tables.each_ref().map(|oracle| {
        let problem = Problem { oracle, first: 1, rescheduling: secs(100), threshold: secs(1200) };
        incremental(&problem, IncrementalOptions::default()).cost
    });
    assert_eq!(costs, [secs(3700), secs(4000)]);
    let terms = Terms { method: INCREMENTAL, threshold: secs(1200) };
    let run = |between| {
        let look = |_| Tables { tables: &tables, within: secs(100), between: secs(between) };
        let random = &mut stream(1, "grid", "plans");
        let course = multi_cluster_plan(4, look, &terms, random).expect("there are machines");
        let steps: Vec<_> = course
            .placed
            .iter()
            .map(|placed| (placed.interval, placed.cluster, placed.schedule, placed.how))
            .collect();
        (steps, course.time)
    };
    let start = (Interval::new(1, 2), 0, 0, Move::Start);
    let rest = Interval::new(3, 4);
    assert_eq!(run(400), (vec![start, (rest, 1, 1, Move::Between)], secs(3600)));
    assert_eq!(run(600), (vec![start, (rest, 0, 1, Move::Within)], secs(3700)));
    let look = |_| Tables { tables: &tables, within: secs(100), between: secs(400) };
    assert_eq!(single_schedule(4, look), Some(secs(4800)));
}

#[test]
fn the_best_cluster_is_home() {
    // There is no way to another cluster if the fastest one is where the application is, even if
    // it were free.
    let tables = [table(&[&[2000, 2000], &[3000, 1900]]), table(&[&[2500, 1950], &[2500, 2600]])];
    let look = |_| Tables { tables: &tables, within: secs(90), between: Span::ZERO };
    let terms = Terms { method: Method::Optimum, threshold: secs(1200) };
    let course = multi_cluster_plan(2, look, &terms, &mut stream(1, "grid", "plans"));
    let course = course.expect("there are machines");
    assert_eq!((course.time, course.moves(Move::Between)), (secs(3990), 0));
}

#[test]
fn an_interval_is_valid_everywhere_or_somewhere() {
    let tables = [table(&[&[1300, 200, 3000]]), table(&[&[600, 300, 3000]])];
    let view = Tables { tables: &tables, within: Span::ZERO, between: Span::ZERO };
    let [one, two, three] = [1, 2, 3].map(|last| Interval::new(1, last));
    let choose = |candidates: &[(usize, Interval)], threshold| {
        let candidate = |&(cluster, interval)| Candidate { cluster, interval, remaining: secs(1) };
        let candidates: Vec<_> = candidates.iter().map(candidate).collect();
        choose_interval(&view, &candidates, secs(threshold))
    };
    assert_eq!(choose(&[(0, one), (1, three)], 500), Some(one));
    assert_eq!(choose(&[(0, one), (1, three)], 1200), Some(three));
    // [1] is valid on its own cluster only, and [1-2] on none that planned it.
    assert_eq!(choose(&[(0, one), (1, two)], 1200), Some(one));
    assert_eq!(choose(&[(0, one), (1, two)], 5000), Some(three));
    assert_eq!(choose(&[], 0), None);
}

#[test]
fn the_same_machines_under_other_loads() {
    let term =
        |coefficient| Term { coefficient, size: 1.0, load: 1.0, speedup: Speedup::Power(1.0) };
    let phase = Phase { computation: term(960.0), communication: term(0.0) };
    let application = Arc::new(Application::new(&[phase], 1.0).expect("a good application"));
    let seconds = |cpu: [f64; 2]| {
        let cluster = Cluster::with_uplinks(1.0, cpu.to_vec(), vec![0.5; 2]).expect("good shares");
        let oracle = ClusterOracle::new(&application, &Arc::new(cluster), PlanSearch::Scan)
            .expect("machines");
        oracle.time_on(&Machines::new(vec![0, 1]), Interval::new(1, 1))
    };
    assert_eq!([seconds([0.8, 0.6]), seconds([0.2, 0.9])], [secs(800), secs(2400)]);
}

#[test]
fn checkpoints_on_their_way() {
    let migration = Migration { fixed: 60.0, volume: 200.0 };
    assert_eq!(migration.over(100.0, 0.5), secs(64));
    assert_eq!(migration.over(0.8, 0.5), secs(560));
}

/// A grid for each epoch, of which there are at most as many as phases.
fn grids() -> impl Strategy<Value = Vec<Vec<Table>>> {
    (1_usize..=5, 1_usize..=3, 1_usize..=3).prop_flat_map(|(phases, clusters, schedules)| {
        let time = (0_i64..=12).prop_map(Span::from_secs);
        let rows = prop::collection::vec(prop::collection::vec(time, phases), schedules);
        let table = rows.prop_map(|rows| Table::new(&rows).expect("good rows"));
        prop::collection::vec(prop::collection::vec(table, clusters), phases)
    })
}

/// The least that phases from `first` on can take if one may go to every schedule in every epoch,
/// for each number of intervals: all cuts, all places.
fn least_course(
    grids: &[Vec<Table>],
    epoch: usize,
    first: usize,
    at: Option<(usize, usize)>,
    costs: [Span; 2],
) -> Span {
    let phases = grids[0][0].phases();
    if first > phases {
        return Span::ZERO;
    }
    let mut least = Span::FOREVER;
    for last in first..=phases {
        for (cluster, table) in grids[epoch].iter().enumerate() {
            for schedule in 0..3 {
                let Some(time) = time_in(table, schedule, Interval::new(first, last)) else {
                    break;
                };
                let moving = match at {
                    None => Span::ZERO,
                    Some(place) if place == (cluster, schedule) => Span::ZERO,
                    Some((home, _)) if home == cluster => costs[0],
                    Some(_) => costs[1],
                };
                let rest =
                    least_course(grids, epoch + 1, last + 1, Some((cluster, schedule)), costs);
                least = least.min(time + moving + rest);
            }
        }
    }
    least
}

fn time_in(table: &Table, schedule: usize, interval: Interval) -> Option<Span> {
    (schedule < table.schedules()).then(|| table.time_on(&schedule, interval))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn no_course_beats_all_of_them(
        grids in grids(), within in 0_i64..=5, between in 0_i64..=9, threshold in -1_i64..=8,
    ) {
        let costs = [secs(within), secs(between)];
        let phases = grids[0][0].phases();
        let epoch = |moment: Moment| {
            Tables { tables: &grids[moment.epoch], within: costs[0], between: costs[1] }
        };
        let least = least_course(&grids, 0, 1, None, costs);
        for method in [INCREMENTAL, Method::Division, Method::Optimum, Method::BruteForce] {
            let terms = Terms { method, threshold: secs(threshold) };
            let mut rounds = 0;
            let look = |moment: Moment| {
                rounds += 1;
                assert!(moment.epoch == 0 || moment.elapsed >= Span::ZERO);
                epoch(moment)
            };
            let course = multi_cluster_plan(phases, look, &terms, &mut stream(1, "grid", "plans"));
            let course = course.expect("there are machines");
            prop_assert!(rounds == course.placed.len() && rounds <= phases);
            let run: Vec<_> = course.placed.iter()
                .flat_map(|placed| placed.interval.first..=placed.interval.last)
                .collect();
            prop_assert_eq!(run, (1..=phases).collect::<Vec<_>>());
            prop_assert!(course.time >= least, "{:?}", method);
            let sum: Span = course.placed.iter().map(|placed| placed.time + placed.moving).sum();
            prop_assert_eq!(sum, course.time);
        }
    }

    #[test]
    fn where_nothing_changes_and_moving_is_free_one_cluster_is_planned_as_a_cluster(
        grids in grids(), threshold in -1_i64..=8,
    ) {
        let tables = &grids[0][..1];
        let phases = tables[0].phases();
        let look = |_| Tables { tables, within: Span::ZERO, between: Span::ZERO };
        let terms = Terms { method: Method::Optimum, threshold: secs(threshold) };
        let course = multi_cluster_plan(phases, look, &terms, &mut stream(1, "grid", "plans"));
        let problem = Problem {
            oracle: &tables[0], first: 1, rescheduling: Span::ZERO, threshold: secs(threshold),
        };
        // The rest of an optimal plan, planned again, costs the rest of the plan's cost.
        prop_assert_eq!(course.expect("there are machines").time, Method::Optimum.plan(&problem, &mut stream(1, "a", "b")).cost);
    }
}
