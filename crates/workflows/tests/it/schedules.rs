//! Static schedules: published examples, and laws that hold for all policies.

use haggle_model::{Span, Time};
use haggle_testing::secs;
use haggle_workflows::schedule::{
    Network, Placement, Problem, ProblemError, Schedule, ScheduleError, StaticAlgorithm,
};
use haggle_workflows::{Builder, Task, TaskId, Workflow};
use proptest::prelude::*;

use crate::obvious;
use crate::strategies::workflows;

/// A second a byte.
const SLOW: Network = Network { latency: Span::ZERO, bytes_per_second: 1.0 };

/// Ten tasks, numbered from 1 in the edges; the sizes are times of transfer.
fn ten(edges: &[(u32, u32, u64)]) -> Workflow {
    let mut builder = Builder::new("ten tasks");
    for number in 1..=10 {
        builder.task(Task::new(format!("n{number}"), secs(1))).expect("a task");
    }
    for &(parent, child, bytes) in edges {
        builder.edge(TaskId(parent - 1), TaskId(child - 1), bytes).expect("an edge");
    }
    builder.build().expect("a workflow")
}

fn rows<const N: usize>(seconds: [[i64; 3]; N]) -> Vec<Vec<Span>> {
    seconds.map(|row| row.map(secs).to_vec()).to_vec()
}

/// Figure 1 of Topcuoglu, Hariri and Wu (2002).
fn of_heft() -> (Workflow, Vec<Vec<Span>>) {
    let edges = [
        (1, 2, 18),
        (1, 3, 12),
        (1, 4, 9),
        (1, 5, 11),
        (1, 6, 14),
        (2, 8, 19),
        (2, 9, 16),
        (3, 7, 23),
        (4, 8, 27),
        (4, 9, 23),
        (5, 9, 13),
        (6, 8, 15),
        (7, 10, 17),
        (8, 10, 11),
        (9, 10, 13),
    ];
    let times = [
        [14, 16, 9],
        [13, 19, 18],
        [11, 13, 19],
        [13, 8, 17],
        [12, 13, 10],
        [13, 16, 9],
        [7, 15, 11],
        [5, 11, 14],
        [18, 12, 20],
        [21, 7, 16],
    ];
    (ten(&edges), rows(times))
}

/// The example of Arabnejad and Barbosa (2014).
fn of_peft() -> (Workflow, Vec<Vec<Span>>) {
    let edges = [
        (1, 2, 17),
        (1, 3, 31),
        (1, 4, 29),
        (1, 5, 13),
        (1, 6, 7),
        (2, 8, 3),
        (2, 9, 30),
        (3, 7, 16),
        (4, 8, 11),
        (4, 9, 7),
        (5, 9, 57),
        (6, 8, 5),
        (7, 10, 9),
        (8, 10, 42),
        (9, 10, 7),
    ];
    let times = [
        [22, 21, 36],
        [22, 18, 18],
        [32, 27, 43],
        [7, 10, 4],
        [29, 27, 35],
        [26, 17, 24],
        [14, 25, 30],
        [29, 23, 36],
        [15, 21, 8],
        [13, 16, 33],
    ];
    (ten(&edges), rows(times))
}

#[test]
fn the_example_of_heft_and_cpop() {
    let (workflow, rows) = of_heft();
    let problem = Problem::with_times(&workflow, &rows, SLOW).expect("a problem");
    let heft = StaticAlgorithm::Heft.schedule(&problem, 1);
    assert_eq!(heft.check(&problem), Ok(()));
    let found: Vec<_> = heft
        .placements()
        .iter()
        .map(|one| (one.resource + 1, one.start.as_secs_f64(), one.end.as_secs_f64()))
        .collect();
    // As drawn in figure 3a.
    let drawn = [
        (3, 0.0, 9.0),
        (1, 27.0, 40.0),
        (3, 9.0, 28.0),
        (2, 18.0, 26.0),
        (3, 28.0, 38.0),
        (2, 26.0, 42.0),
        (3, 38.0, 49.0),
        (1, 57.0, 62.0),
        (2, 56.0, 68.0),
        (2, 73.0, 80.0),
    ];
    assert_eq!(found, drawn);
    let metrics = heft.metrics(&problem);
    // The least times along 1, 3 or 4 …: 9 + 13 + 12 + 7 along 1, 2, 9, 10. The first resource
    // takes 127 s for all tasks.
    assert_eq!((metrics.makespan, metrics.slr), (secs(80), Some(80.0 / 41.0)));
    assert_eq!(metrics.speedup, Some(127.0 / 80.0));
    assert_eq!(metrics.efficiency, Some(127.0 / 80.0 / 3.0));
    let cpop = StaticAlgorithm::Cpop.schedule(&problem, 1);
    assert_eq!((cpop.check(&problem), cpop.makespan()), (Ok(()), secs(86)));
}

#[test]
fn the_example_of_peft() {
    let (workflow, rows) = of_peft();
    let problem = Problem::with_times(&workflow, &rows, SLOW).expect("a problem");
    let rank = |task| {
        let costs = problem.all().map(|one| obvious::optimistic_cost(&problem, task, one));
        (costs.sum::<Span>().as_secs_f64() / 3.0).round()
    };
    let ranks: Vec<f64> = workflow.ids().map(rank).collect();
    assert_eq!(ranks, [73.0, 41.0, 37.0, 44.0, 31.0, 42.0, 17.0, 21.0, 16.0, 0.0]);
    let peft = StaticAlgorithm::Peft.schedule(&problem, 1);
    assert_eq!((peft.check(&problem), peft.makespan()), (Ok(()), secs(122)));
    assert_eq!(StaticAlgorithm::Heft.schedule(&problem, 1).makespan(), secs(133));
}

/// Three tasks at once on two resources, the second twice as fast.
#[test]
fn the_three_rules() {
    let mut builder = Builder::new("independent");
    for (name, seconds) in [("a", 2), ("b", 4), ("c", 12)] {
        builder.task(Task::new(name, secs(seconds))).expect("a task");
    }
    let workflow = builder.build().expect("a workflow");
    let network = Network::INSTANT;
    let problem = Problem::with_speeds(&workflow, vec![1.0, 2.0], network).expect("a problem");
    let ends = |policy: StaticAlgorithm| {
        let schedule = policy.schedule(&problem, 1);
        let end = |one: &Placement| (one.resource, one.end.as_secs_f64());
        schedule.placements().iter().map(end).collect::<Vec<_>>()
    };
    // a ends at 1 on the fast one, then b at 3 there, then c at 9 there.
    assert_eq!(ends(StaticAlgorithm::MinMin), [(1, 1.0), (1, 3.0), (1, 9.0)]);
    // c at 6 on the fast one, b at 4 and a at 6 on the slow one.
    assert_eq!(ends(StaticAlgorithm::MaxMin), [(0, 6.0), (0, 4.0), (1, 6.0)]);
    // c suffers 6 s without the fast one; then b and a suffer 4 s and 5 s without the slow one.
    assert_eq!(ends(StaticAlgorithm::Sufferage), [(0, 2.0), (0, 6.0), (1, 6.0)]);
}

#[test]
fn what_is_no_problem_is_refused() {
    let (workflow, rows) = of_heft();
    let with = |speeds: Vec<f64>, network| {
        Problem::with_speeds(&workflow, speeds, network).expect_err("no problem").to_string()
    };
    assert_eq!(with(vec![], SLOW), "no resource; at least one is needed");
    assert_eq!(
        with(vec![1.0, 0.0], SLOW),
        "resource 1 has speed 0, expected above 0 (1 = the reference machine)"
    );
    let network = Network { latency: secs(-1), ..SLOW };
    assert_eq!(with(vec![1.0], network), "latency is negative");
    let network = Network { bytes_per_second: 0.0, ..SLOW };
    assert_eq!(with(vec![1.0], network), "bandwidth is 0, expected bytes a second above 0");
    assert_eq!(
        with(vec![1e-13], SLOW),
        "all tasks on the slowest resource, and all data, take more than 73,000 years"
    );
    let short = Problem::with_times(&workflow, &rows[1..], SLOW);
    let expected = ProblemError::Rows { row: 9, found: 0, expected: 3, tasks: 10 };
    assert_eq!(short.expect_err("a row is missing"), expected);
    let mut negative = rows;
    negative[2][1] = secs(-1);
    let found = Problem::with_times(&workflow, &negative, SLOW).expect_err("negative");
    assert_eq!(found, ProblemError::NegativeTime { task: TaskId(2), resource: 1 });
}

#[test]
fn what_cannot_be_carried_out_is_found() {
    let (workflow, rows) = of_heft();
    let problem = Problem::with_times(&workflow, &rows, SLOW).expect("a problem");
    let good = StaticAlgorithm::Heft.schedule(&problem, 1);
    let moved = |task: usize, seconds: i64| {
        let mut placements = good.placements().to_vec();
        let Placement { resource, start, end } = placements[task];
        let (start, end) = (start + secs(seconds), end + secs(seconds));
        placements[task] = Placement { resource, start, end };
        Schedule::new(placements).check(&problem)
    };
    let (parent, child) = (TaskId(0), TaskId(1));
    assert_eq!(moved(1, -1), Err(ScheduleError::Early { child, parent }));
    let (first, second) = (TaskId(1), TaskId(7));
    assert_eq!(moved(7, -1), Err(ScheduleError::Early { child: second, parent: TaskId(5) }));
    assert_eq!(moved(1, 17), Err(ScheduleError::Early { child: TaskId(8), parent: first }));
    // 5 runs into 7 on the third resource.
    let (first, second) = (TaskId(4), TaskId(6));
    assert_eq!(moved(4, 1), Err(ScheduleError::Overlap { first, second }));
    let mut long = good.placements().to_vec();
    long[9].end += secs(1);
    let found = Schedule::new(long).check(&problem);
    assert_eq!(found, Err(ScheduleError::Placement { task: TaskId(9) }));
    let found = Schedule::new(good.placements()[..9].to_vec()).check(&problem);
    assert_eq!(found, Err(ScheduleError::Placement { task: TaskId(9) }));
}

fn networks() -> impl Strategy<Value = Network> {
    (0_i64..3, prop_oneof![Just(f64::INFINITY), Just(1.0), Just(20.0)]).prop_map(
        |(latency, bytes_per_second)| Network { latency: secs(latency), bytes_per_second },
    )
}

/// Few different speeds and times, so that much is equal.
fn check_all(problem: &Problem<'_>) {
    for policy in StaticAlgorithm::ALL {
        let schedule = policy.schedule(problem, 7);
        assert_eq!(schedule.check(problem), Ok(()), "{policy}");
        if policy != StaticAlgorithm::Random {
            assert_eq!(schedule, obvious::schedule(policy, problem), "{policy}");
        }
        let metrics = schedule.metrics(problem);
        assert!(metrics.slr.is_none_or(|slr| slr >= 1.0), "{policy}: {metrics:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn on_related_resources(
        workflow in workflows(9),
        speeds in proptest::collection::vec(prop::sample::select(vec![0.5, 1.0, 2.0]), 1..5),
        network in networks(),
    ) {
        check_all(&Problem::with_speeds(&workflow, speeds, network).expect("a problem"));
    }

    #[test]
    fn on_unrelated_resources(
        workflow in workflows(9),
        times in proptest::collection::vec(0_i64..6, 9 * 4),
        resources in 1_usize..5,
        network in networks(),
    ) {
        let rows = times.chunks(4).take(workflow.tasks().len());
        let rows: Vec<Vec<Span>> =
            rows.map(|row| row[..resources].iter().map(|&time| secs(time)).collect()).collect();
        check_all(&Problem::with_times(&workflow, &rows, network).expect("a problem"));
    }
}

/// Times when resources are taken that do not overlap, out of gaps and lengths in turn.
fn taken(resources: usize, steps: &[(i64, i64)]) -> Vec<Placement> {
    let mut ends = vec![Time::ZERO; resources];
    let place = |(number, &(gap, length)): (usize, &(i64, i64))| {
        let resource = number % resources;
        let start = ends[resource] + secs(gap);
        ends[resource] = start + secs(length);
        Placement { resource: resource as u32, start, end: ends[resource] }
    };
    steps.iter().enumerate().map(place).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn by_way_of_a_storage_and_amid_others(
        workflow in workflows(9),
        times in proptest::collection::vec((0_i64..6, 0_i64..4), 9 * 4),
        resources in 1_usize..5,
        steps in proptest::collection::vec((0_i64..5, 0_i64..5), 0..9),
        released in proptest::collection::vec(0_i64..20, 9),
    ) {
        let rows = |which: fn(&(i64, i64)) -> i64| -> Vec<Vec<Span>> {
            let rows = times.chunks(4).take(workflow.tasks().len());
            rows.map(|row| row[..resources].iter().map(|it| secs(which(it))).collect()).collect()
        };
        let problem = Problem::with_storage(&workflow, &rows(|it| it.0), &rows(|it| it.1));
        let released = released[..workflow.tasks().len()].iter();
        let released = released.map(|&seconds| Time::from_secs(seconds)).collect();
        check_all(&problem.expect("a problem").amid(taken(resources, &steps), released));
    }
}

/// The output of a task is stored before the next one starts, on the same resource, too.
#[test]
fn a_storage_parts_tasks_on_one_resource() {
    let mut builder = Builder::new("pair");
    let first = builder.task(Task::new("first", secs(1))).expect("a task");
    let second = builder.task(Task::new("second", secs(1))).expect("a task");
    builder.edge(first, second, 1).expect("an edge");
    let workflow = builder.build().expect("a workflow");
    let (times, sending) = ([vec![secs(4)], vec![secs(4)]], [vec![secs(3)], vec![secs(9)]]);
    let problem = Problem::with_storage(&workflow, &times, &sending).expect("a problem");
    let starts = |problem: &Problem<'_>| {
        let schedule = StaticAlgorithm::Heft.schedule(problem, 1);
        schedule.placements().iter().map(|one| one.start.as_secs_f64()).collect::<Vec<_>>()
    };
    assert_eq!(starts(&problem), [0.0, 7.0]);
    // Others leave 4 s, and then 8 s, of which the first task is released too late for the former.
    let [a, b] = [(4, 6), (14, 20)].map(|(start, end)| Placement {
        resource: 0,
        start: Time::from_secs(start),
        end: Time::from_secs(end),
    });
    let problem = problem.amid(vec![a, b], [1, 0].map(Time::from_secs).to_vec());
    assert_eq!(starts(&problem), [6.0, 20.0]);
    let early = |start: i64| {
        let start = Time::from_secs(start);
        let one = Placement { resource: 0, start, end: start + secs(4) };
        let last = Placement { start: Time::from_secs(20), end: Time::from_secs(24), ..one };
        Schedule::new(vec![one, last]).check(&problem)
    };
    assert_eq!(early(0), Err(ScheduleError::Unreleased { task: first }));
    assert_eq!(early(5), Err(ScheduleError::Taken { task: first }));
    assert_eq!(early(6), Ok(()));
}

#[test]
fn random_schedules_depend_on_the_seed_alone() {
    let (workflow, rows) = of_heft();
    let problem = Problem::with_times(&workflow, &rows, SLOW).expect("a problem");
    let [one, same, other] = [1, 1, 2].map(|seed| StaticAlgorithm::Random.schedule(&problem, seed));
    assert_eq!(one, same);
    assert_ne!(one, other);
    assert!(one.placements().iter().all(|placement| placement.start >= Time::ZERO));
}
