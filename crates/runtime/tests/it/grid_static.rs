//! Static schedules of workflows, carried out by a grid.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_agents::grid::Delay;
use haggle_grids::GridPolicy;
use haggle_grids::workflows::{Outages, StaticPolicy};
use haggle_model::AttemptOutcome;
use haggle_model::grid::{AttemptRecord, GridOutcome};
use haggle_model::random::{Stream, stream};
use haggle_model::workflow::{TaskData, WorkflowTask};
use haggle_model::{Job, JobId, Span, Time};
use haggle_workflows::ledger::WorkflowId;
use haggle_workflows::schedule::{Placement, Problem, StaticAlgorithm};
use haggle_workflows::{Builder, Task, TaskId, Workflow};
use rand::RngExt;

use crate::grid_invariants::grid as random_grid;
use crate::grid_rules::every;
use crate::grid_setup::{Grid, GridRan, at, secs};

/// A task of known length in MI, with input and output in MB, of which each takes a second.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    mi: i64,
    data: (u64, u64),
    parents: Vec<u32>,
}

pub(crate) fn task(mi: i64, data: (u64, u64), parents: &[u32]) -> Drawn {
    Drawn { mi, data, parents: parents.to_vec() }
}

fn graph(tasks: &[Drawn]) -> Workflow {
    let mut builder = Builder::new("flow");
    for (number, it) in tasks.iter().enumerate() {
        let id = builder.task(Task::new(number.to_string(), secs(it.mi as f64))).expect("a task");
        for &parent in &it.parents {
            builder.edge(TaskId(parent), id, 0).expect("an edge");
        }
    }
    builder.build().expect("no circle")
}

/// A grid under a static policy.
pub(crate) fn under(by: StaticAlgorithm, outages: Outages) -> Grid {
    Grid::new(GridPolicy::StaticWorkflow(StaticPolicy { by, outages, checkpointing: false }))
}

/// With one more workflow.
pub(crate) fn with_flow(mut grid: Grid, submit: i64, tasks: &[Drawn]) -> Grid {
    let workflow = grid.plan.workflows.len() as u32;
    let id = WorkflowId { workload: 0, number: workflow };
    grid.plan.workflows.insert(id, Arc::new(graph(tasks)));
    for (number, it) in (0..).zip(tasks) {
        grid = grid.job(submit, it.mi);
        let (input, output) = (it.data.0 * 1_000_000, it.data.1 * 1_000_000);
        let data = Some(TaskData { input, output, checkpoint: 0 });
        let task = WorkflowTask { workflow, task: number, data, progress: None, needs: [].into() };
        let job = grid.jobs.last_mut().expect("it was added just now");
        job.requested_time = Some(Span::from_secs(it.mi));
        job.task = Some(Arc::new(task));
    }
    grid
}

/// Places and times of the slots of each job, s, by all its attempts.
fn slots(ran: &GridRan) -> Vec<(u32, usize, f64, f64)> {
    let mut attempts: Vec<&AttemptRecord> = ran.attempts.iter().collect();
    attempts.sort_by_key(|it| (it.job, it.number));
    let slot = |it: &AttemptRecord| {
        (it.job.0, it.resource.index(), it.dispatched.as_secs_f64(), it.left.as_secs_f64())
    };
    attempts.into_iter().map(slot).collect()
}

/// A resource of 1 MIPS and one of 2 MIPS. Times on them, with input: 8, 7, 5 and 10 s, and 4, 4, 3 and 6 s. Outputs
/// take 1 s, except the last. HEFT takes the tasks in the order of their numbers. The root ends first on the faster
/// one, at 4 s; its output is there at 5 s, and so on.
fn diamond() -> [Drawn; 4] {
    [task(8, (0, 1), &[]), task(6, (1, 1), &[0]), task(4, (1, 1), &[0]), task(8, (2, 0), &[1, 2])]
}

fn two(outages: Outages) -> Grid {
    with_flow(under(StaticAlgorithm::Heft, outages).resource(1, 2).resource(2, 2), 0, &diamond())
}

#[test]
fn four_tasks_run_as_heft_has_scheduled_them() {
    let by_hand = [(0, 1, 0.0, 4.0), (1, 1, 5.0, 9.0), (2, 0, 5.0, 10.0), (3, 1, 11.0, 17.0)];
    assert_eq!(slots(&two(Outages::Wait).run_on_both()), by_hand);
    let graph = graph(&diamond());
    let rows = |row: [[i64; 2]; 4]| row.map(|it| it.map(Span::from_secs).to_vec());
    let times = rows([[8, 4], [7, 4], [5, 3], [10, 6]]);
    let sending = rows([[1, 1], [1, 1], [1, 1], [0, 0]]);
    let problem = Problem::with_storage(&graph, &times, &sending).expect("a problem");
    let schedule = StaticAlgorithm::Heft.schedule(&problem, 0);
    let placed = (0..).zip(schedule.placements());
    let placed = placed.map(|(number, it)| {
        (number, it.resource as usize, it.start.as_secs_f64(), it.end.as_secs_f64())
    });
    assert_eq!(Vec::from_iter(placed), by_hand);
}

/// The faster resource fails at 6 s, with task 1 on it. The other one ends task 2 at 10 s.
#[test]
fn what_is_lost_runs_again_where_it_was_or_is_scheduled_anew() {
    let failing = |outages| two(outages).fails(1, &[(6.0, 15.0)]).run_on_both();
    let [root, lost, beside] = [(0, 1, 0.0, 4.0), (1, 1, 5.0, 6.0), (2, 0, 5.0, 10.0)];
    let again = [(1, 1, 15.0, 19.0), beside, (3, 1, 20.0, 26.0)];
    assert_eq!(slots(&failing(Outages::Wait)), [&[root, lost], &again[..]].concat());
    // At 15 s the last task is moved to the resource where it ends first.
    let anew = [(1, 0, 10.0, 17.0), beside, (3, 1, 18.0, 24.0)];
    assert_eq!(slots(&failing(Outages::Replan)), [&[root, lost], &anew[..]].concat());
}

/// On one resource, task 0 computes for 5 s, and its output is under way for 20 s. A second workflow, of 30 s, has no
/// room before task 1, which its user withdraws at 10 s.
#[test]
fn what_is_withdrawn_makes_room_for_others() {
    let grid = under(StaticAlgorithm::Heft, Outages::Wait).resource(1, 1);
    let grid = with_flow(grid, 0, &[task(5, (0, 20), &[]), task(5, (0, 0), &[0])]);
    let mut grid = with_flow(grid, 3, &[task(30, (0, 0), &[])]);
    grid.patience = Some(secs(10.0));
    assert_eq!(slots(&grid.run_on_both()), [(0, 0, 0.0, 5.0), (2, 0, 10.0, 40.0)]);
}

#[test]
fn a_workflow_is_scheduled_when_its_last_task_has_come() {
    let mut grid = two(Outages::Wait);
    grid.jobs[3].submit = Time::from_secs(7);
    let later = [(0, 1, 7.0, 11.0), (1, 1, 12.0, 16.0), (2, 0, 12.0, 17.0), (3, 1, 18.0, 24.0)];
    assert_eq!(slots(&grid.run_on_both()), later);
}

/// If users believe that task 2 takes no time, it is placed behind task 1; the others keep their places.
#[test]
fn wrong_estimates_make_others_late() {
    let mut grid = two(Outages::Wait);
    grid.jobs[2].requested_time = None;
    // The schedule places it from 9 to 10 s on the faster resource, and the last task from 11 s on.
    let late = [(0, 1, 0.0, 4.0), (1, 1, 5.0, 9.0), (2, 0, 5.0, 10.0), (3, 1, 11.0, 17.0)];
    assert_eq!(slots(&grid.run_on_both()), late);
}

fn drawn(draws: &mut Stream) -> Vec<Drawn> {
    let count = draws.random_range(1..10_u32);
    let one = |number| {
        let parents = (0..number).filter(|_| draws.random_range(0..3) == 0).collect();
        let data = (draws.random_range(0..3), draws.random_range(0..3));
        Drawn { mi: draws.random_range(1..13), data, parents }
    };
    (0..count).map(one).collect()
}

/// Schedule of the library for a workflow that arrives at `now`, while others are at work until these times.
fn scheduled(
    (by, seed): (StaticAlgorithm, u64),
    tasks: &[Drawn],
    speeds: &[u64],
    now: Time,
    others: &[Placement],
) -> Vec<Placement> {
    let graph = graph(tasks);
    let time = |it: &Drawn, mips: u64| {
        let computing = (it.mi as u64 * 1_000_000).div_ceil(mips) as i64;
        Span::from_secs(it.data.0 as i64) + Span::from_micros(computing)
    };
    let times = tasks.iter().map(|it| speeds.iter().map(|&mips| time(it, mips)).collect());
    let sending = tasks.iter().map(|it| vec![Span::from_secs(it.data.1 as i64); speeds.len()]);
    let since = |time: Time| Time::ZERO + (time - now).max(Span::ZERO);
    let taken = others.iter().filter(|it| it.end > now);
    let taken = taken.map(|it| Placement { start: since(it.start), end: since(it.end), ..*it });
    let (times, sending): (Vec<_>, Vec<_>) = (times.collect(), sending.collect());
    let problem = Problem::with_storage(&graph, &times, &sending).expect("a problem");
    let problem = problem.amid(taken.collect(), vec![Time::ZERO; tasks.len()]);
    let schedule = by.schedule(&problem, seed);
    let absolute = |time: Time| now + (time - Time::ZERO);
    let all = schedule.placements().iter();
    all.map(|it| Placement { start: absolute(it.start), end: absolute(it.end), ..*it }).collect()
}

/// With exact predictions and without failures, every task has its slot exactly at its scheduled times.
#[test]
fn schedules_are_carried_out_to_the_instant() {
    for case in 0..120 {
        let draws = &mut stream(case, "static", "schedules");
        let speeds: Vec<u64> =
            (0..draws.random_range(1..4)).map(|_| draws.random_range(1..4)).collect();
        let flows = [(0, drawn(draws)), (draws.random_range(0..25), drawn(draws))];
        for by in StaticAlgorithm::ALL {
            let mut grid = under(by, Outages::Replan);
            for &mips in &speeds {
                grid = grid.resource(mips, draws.random_range(1..3));
            }
            let mut seeds = stream(grid.plan.seed, "grid", "placement");
            let mut expected = Vec::new();
            for (submit, tasks) in &flows {
                let seed = match by {
                    StaticAlgorithm::Random => seeds.random_range(0..u32::MAX as usize) as u64,
                    _ => 0,
                };
                let now = Time::from_secs(*submit);
                expected.extend(scheduled((by, seed), tasks, &speeds, now, &expected));
                grid = with_flow(grid, *submit, tasks);
            }
            let expected = (0..).zip(&expected).map(|(job, it)| {
                (job, it.resource as usize, it.start.as_secs_f64(), it.end.as_secs_f64())
            });
            let found = slots(&grid.run_on_both());
            assert_eq!(
                found,
                Vec::from_iter(expected),
                "case {case}, {by}: {flows:?} on {speeds:?}"
            );
        }
    }
}

/// Random grids that fail, load and forget, with all jobs as tasks of workflows whose estimates err.
fn troubled(case: u64) -> Grid {
    let draws = &mut stream(case, "static", "trouble");
    let mut grid = random_grid(case);
    let by = StaticAlgorithm::ALL[draws.random_range(0..7)];
    let outages = if draws.random() { Outages::Wait } else { Outages::Replan };
    let checkpointing = draws.random();
    grid.plan.policy = GridPolicy::StaticWorkflow(StaticPolicy { by, outages, checkpointing });
    grid.patience = draws.random::<bool>().then(|| secs(draws.random_range(20.0..200.0)));
    grid.horizon = draws.random_range(0..4).eq(&0).then(|| at(draws.random_range(50.0..300.0)));
    let mut jobs = std::mem::take(&mut grid.jobs);
    jobs.sort_by_key(|job| job.submit);
    let mut left: &[Job] = &jobs;
    while !left.is_empty() {
        let count = draws.random_range(1..=left.len());
        let tasks = (0..count as u32).map(|number| {
            let parents = (0..number).filter(|_| draws.random_range(0..3) == 0).collect();
            Drawn { mi: draws.random_range(0..60), data: (0, 0), parents }
        });
        let tasks: Vec<Drawn> = tasks.collect();
        let submit = left[0].submit.as_secs_f64() as i64;
        grid = with_flow(grid, submit, &tasks);
        left = &left[count..];
    }
    for job in &mut grid.jobs {
        job.requested_time =
            (draws.random_range(0..8) > 0).then(|| Span::from_secs(draws.random_range(0..80)));
        let task = Arc::make_mut(job.task.as_mut().expect("all are tasks"));
        task.data = None;
    }
    grid
}

/// In any case, no task starts before its parents are done, and none of these was withdrawn. A resource has one task
/// at a time, and no task waits for ever if all resources work in the end.
#[test]
fn trouble_delays_tasks_and_mixes_nothing_up() {
    let (mut withdrawn, mut again) = (0, 0);
    for case in 0..250 {
        let grid = troubled(case);
        let ran = grid.run_on_both();
        let over: BTreeMap<JobId, &GridOutcome> =
            ran.jobs.iter().map(|it| (it.job.id, &it.outcome)).collect();
        let first = |job: JobId| {
            ran.attempts.iter().filter(|it| it.job == job).map(|it| it.dispatched).min()
        };
        for job in &grid.jobs {
            let task = job.task.as_ref().expect("all are tasks");
            let id = WorkflowId { workload: 0, number: task.workflow };
            let root = job.id.0 - task.task;
            for link in grid.plan.workflows[&id].parents(TaskId(task.task)) {
                let Some(start) = first(job.id) else { continue };
                let GridOutcome::Done { end, .. } = over[&JobId(root + link.task.0)] else {
                    panic!("case {case}: {:?} started without {}", job.id, link.task);
                };
                assert!(start >= *end, "case {case}: {:?}", job.id);
            }
        }
        let stuck = |it: &&GridOutcome| matches!(it, GridOutcome::Open { .. });
        // If the storage is full for good, no child ever starts.
        let room_for_all = ran.storage.is_none_or(|it| it.stuck == 0);
        if grid.horizon.is_none() && room_for_all {
            assert_eq!(over.values().copied().filter(stuck).count(), 0, "case {case}");
        }
        let is_withdrawn = |it: &&&GridOutcome| matches!(**it, GridOutcome::Withdrawn(_));
        withdrawn += over.values().filter(is_withdrawn).count();
        again += ran.attempts.iter().filter(|it| it.number > 1).count();
        for (number, one) in ran.attempts.iter().enumerate() {
            for other in &ran.attempts[..number] {
                let apart = one.left <= other.dispatched || other.left <= one.dispatched;
                // For the scheduler, attempts that failed unnoticed hold no slot.
                let died = [one, other].iter().any(|it| it.outcome == AttemptOutcome::Failed);
                assert!(apart || died || one.resource != other.resource, "case {case}");
            }
        }
    }
    assert!(withdrawn > 100 && again > 100, "{withdrawn} withdrawn, {again} once more");
}

/// A resource of 10 MIPS, and one that is too slow for all: 600 MI with an input of 10 s, and 250 MI without any. The
/// longer one begins, saves 400 MI at 50 s and is lost at 55 s. The rest of it takes 20 s, or 30 s with its input.
/// HEFT takes the longest first.
#[test]
fn who_keeps_its_input_is_not_thought_to_fetch_it() {
    let ran = |again| {
        let grid = under(StaticAlgorithm::Heft, Outages::Replan).resource(10, 1).resource(1, 1);
        let grid = grid.fails(0, &[(55.0, 60.0)]).fails(1, &[(55.0, f64::INFINITY)]);
        let grid = with_flow(grid, 0, &[task(600, (10, 0), &[]), task(250, (0, 0), &[])]);
        let grid = grid.change(|plan| {
            let GridPolicy::StaticWorkflow(policy) = &mut plan.policy else { panic!("it is one") };
            policy.checkpointing = true;
            plan.checkpoints = every(40.0, 0.0);
            plan.restart_needs_input = again;
        });
        slots(&grid.run_on_both())
    };
    let lost = (0, 0, 0.0, 55.0);
    assert_eq!(ran(false), [lost, (0, 0, 85.0, 105.0), (1, 0, 60.0, 85.0)]);
    assert_eq!(ran(true), [lost, (0, 0, 60.0, 90.0), (1, 0, 90.0, 115.0)]);
}

#[test]
fn a_grid_that_learns_late_sends_to_what_is_down() {
    let grid = two(Outages::Replan).fails(0, &[(3.0, 8.0)]);
    let grid = grid.change(|plan| plan.delay = Delay::Periodic(secs(30.0)));
    // The outage is never seen: task 2 is sent to the slower resource at 5 s, which refuses it.
    let found = slots(&grid.run_on_both());
    let first = found.iter().find(|it| it.0 == 2).expect("it runs");
    assert!(first.1 == 0 && first.2 >= 8.0, "{found:?}");
}
