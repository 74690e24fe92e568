//! Workflows of applications: the levels of a workflow, and the applications of a level that compete for machines.

#[path = "../../../../planning/tests/it/workflows/reference.rs"]
#[allow(dead_code)]
mod reference;

use haggle_model::Refusal;
use haggle_model::workflow::WorkflowTask;
use haggle_planning::Cluster;
use haggle_workflows::ledger::WorkflowId;
use haggle_workflows::{Builder, Task, TaskId};

use super::*;

pub(super) const ID: WorkflowId = WorkflowId { workload: 0, number: 0 };

/// A bit for each pair of four applications: whether the second one needs the first one.
pub(super) fn edges(bits: u32) -> Vec<(u32, u32)> {
    let pairs = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)];
    (0..).zip(pairs).filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, pair)| pair).collect()
}

impl Plans {
    /// The same jobs as applications of a workflow with those of these edges that exist. They are submitted together.
    pub(super) fn into_workflow(mut self, edges: &[(u32, u32)]) -> Plans {
        let mut builder = Builder::new("applications");
        let submit = self.jobs.first().map_or(Time::ZERO, |job| job.submit);
        for (task, job) in (0..).zip(&mut self.jobs) {
            builder.task(Task::new(task.to_string(), Span::ZERO)).expect("a task");
            let needs = Box::default();
            let task = WorkflowTask { workflow: 0, task, data: None, progress: None, needs };
            (job.task, job.submit) = (Some(Arc::new(task)), submit);
        }
        for &(parent, child) in edges.iter().filter(|edge| (edge.1 as usize) < self.jobs.len()) {
            builder.edge(TaskId(parent), TaskId(child), 0).expect("an edge");
        }
        self.workflow = Some(Arc::new(builder.build().expect("a workflow")));
        self
    }
}

impl Ran {
    /// Checks that a level begins when all applications of earlier levels are over, and that no application runs
    /// without those that it needs.
    pub(super) fn keeps_levels(&self, plans: &Plans) {
        let Some(workflow) = &plans.workflow else { return };
        let over = |task: TaskId| self.jobs.iter().find(|it| it.job.id.0 == task.0);
        let mut earlier: Vec<TaskId> = Vec::new();
        for level in workflow.levels() {
            for &task in level {
                let runs = self.intervals.iter().filter(|it| it.job.0 == task.0);
                let Some(ordered) = runs.map(|it| it.ordered).min() else { continue };
                for before in earlier.iter().filter_map(|&it| over(it)) {
                    assert!(before.end <= ordered, "{task} at {ordered}: {before:?}");
                }
                for parent in workflow.parents(task) {
                    let parent = over(parent.task).map(|it| it.outcome);
                    assert_eq!(parent, Some(JobOutcome::Completed), "needed by {task}");
                }
            }
            earlier.extend(level);
        }
    }

    /// Application, machines, start and end of each interval, in seconds, in the order of their ends.
    fn schedule(&self) -> Vec<(u32, Vec<u32>, i64, i64)> {
        let seconds = |time: Time| (time - Time::ZERO).as_micros() / 1_000_000;
        let row = |it: &IntervalRecord| {
            let machines = numbers(&it.machines);
            (it.job.0, machines, seconds(it.ordered), seconds(it.end))
        };
        self.intervals.iter().map(row).collect()
    }
}

fn numbers(machines: &ProcessorSet) -> Vec<u32> {
    machines.intervals().iter().flat_map(|&(first, last)| first..=last).collect()
}

const DIAMOND: [(u32, u32); 4] = [(0, 1), (0, 2), (1, 3), (2, 3)];

/// Applications with these times on one machine, on one cluster with a single idle machine.
fn on_one_machine(times: &[i64]) -> Plans {
    let job = |(id, &time): (u32, &i64)| application(id, 0, measured(&[&[(1, &[time])]]));
    let jobs = (0..).zip(times).map(job).collect();
    Plans::new(vec![cluster("a", 1, 60, 300)], Epochs::of(&[&[&[1.0]]]), jobs)
}

#[test]
fn the_longest_application_of_a_level_is_first() {
    let ran = on_one_machine(&[300, 600, 900, 100]).into_workflow(&DIAMOND).run();
    let rows = [(0, 0, 300), (2, 300, 1200), (1, 1200, 1800), (3, 1800, 1900)];
    assert_eq!(ran.schedule(), rows.map(|(job, start, end)| (job, vec![0], start, end)));
    let ready =
        |job: u32| ran.jobs.iter().find(|it| it.job.id.0 == job).expect("it is over").job.ready;
    assert_eq!([0, 1, 2, 3].map(ready), [None, Some(at(300)), Some(at(300)), Some(at(1800))]);
    // Of equal ones, the first application is first.
    let ran = on_one_machine(&[300, 600, 600, 100]).into_workflow(&DIAMOND).run();
    assert_eq!(Vec::from_iter(ran.schedule().iter().map(|it| it.0)), [0, 1, 2, 3]);
}

/// Without rescheduling there are no plans, but the applications of a level are in the same order.
#[test]
fn without_rescheduling_the_longest_application_is_first_as_well() {
    let plans = on_one_machine(&[300, 600, 900, 100]).into_workflow(&DIAMOND);
    let ran = Plans { method: None, ..plans }.run();
    assert_eq!(Vec::from_iter(ran.schedule().iter().map(|it| it.0)), [0, 2, 1, 3]);
}

/// Two paths of different lengths lead to the last application. It waits for the longer one.
#[test]
fn a_level_is_that_of_the_longest_path() {
    let ran = on_one_machine(&[100; 4]).into_workflow(&[(0, 1), (1, 2), (0, 3), (2, 3)]).run();
    assert_eq!(Vec::from_iter(ran.schedule().iter().map(|it| it.0)), [0, 1, 2, 3]);
}

/// c/n + d (n - 1) seconds.
fn phase(computing: f64, communicating: f64) -> Phase {
    let term = |coefficient, speedup| Term { coefficient, size: 0.0, load: 1.0, speedup };
    Phase {
        computation: term(computing, Speedup::Power(1.0)),
        communication: term(communicating, Speedup::InverseOthers),
    }
}

/// P-10: X takes 2400, 1400, 1200, 1200 s on 1 to 4 machines, Y 900, 650, 700, 825 s. X is critical and gets three
/// machines. The proposal of Y for two of them lapses, and Y runs on the fourth one.
#[test]
fn p_10_the_critical_application_keeps_the_machines_that_both_want() {
    let jobs = [(2400.0, 200.0), (900.0, 200.0)];
    let job = |(id, &(x, y)): (u32, &(f64, f64))| application(id, 0, modelled(&[phase(x, y)]));
    let jobs = (0..).zip(&jobs).map(job).collect();
    let plans = Plans::new(vec![cluster("a", 1, 60, 300)], Epochs::of(&[&[&[1.0; 4]]]), jobs);
    let plans = Plans { method: Some(Method::Optimum), threshold: Span::ZERO, ..plans };
    let ran = plans.clone().into_workflow(&[]).run();
    assert_eq!(ran.schedule(), [(1, vec![3], 0, 900), (0, vec![0, 1, 2], 0, 1200)]);
    let lapsed = ran.log.iter().filter(|line| line.ends_with("proposal_lapsed")).count();
    assert_eq!(lapsed, 1);
    // The same applications without a workflow: neither proposes, and the first one is first.
    let ran = plans.run();
    assert!(!ran.log.iter().any(|line| line.contains("propos")));
}

#[test]
fn applications_that_need_a_withdrawn_one_never_run() {
    let plans = on_one_machine(&[2000, 600, 500]).into_workflow(&[(1, 2)]);
    let ran = Plans { patience: Some(secs(1000)), ..plans }.run();
    let outcomes = Vec::from_iter(ran.jobs.iter().map(|it| (it.job.id.0, it.outcome, it.end)));
    let barred = JobOutcome::Rejected(Refusal::ParentFailed);
    assert_eq!(
        outcomes,
        [
            (1, JobOutcome::Cancelled, at(1000)),
            (2, barred, at(1000)),
            (0, JobOutcome::Completed, at(2000)),
        ]
    );
}

#[test]
fn a_failure_returns_an_application_to_its_level() {
    let plans = on_one_machine(&[300, 600, 900, 100]).into_workflow(&DIAMOND);
    let ran = Plans { outages: vec![(0, 0, 1000, 1100)], ..plans }.run();
    // The longest application is lost at 1,000 s, and is still the longest one when the machine works again.
    let rows = [(0, 0, 300), (2, 300, 1000), (2, 1100, 2000), (1, 2000, 2600), (3, 2600, 2700)];
    assert_eq!(ran.schedule(), rows.map(|(job, start, end)| (job, vec![0], start, end)));
}

#[test]
fn a_horizon_leaves_later_levels_unfinished() {
    let plans = on_one_machine(&[300, 600, 900, 100]).into_workflow(&DIAMOND);
    let ran = Plans { horizon: Some(at(500)), ..plans }.run();
    let unfinished = ran.jobs.iter().filter(|it| it.outcome == JobOutcome::Unfinished);
    let ready = Vec::from_iter(unfinished.map(|it| (it.job.id.0, it.job.ready)));
    assert_eq!(ready, [(1, Some(at(300))), (2, Some(at(300))), (3, Some(at(500)))]);
}

/// Clusters with these available processors, applications of these phases, and their dependencies.
type Case = (Vec<Vec<f64>>, Vec<Vec<(u32, u32)>>, u32, Method, i64);

fn cases() -> impl Strategy<Value = Case> {
    let part = prop::sample::select(vec![0.25, 0.5, 0.8, 1.0]);
    let clusters = prop::collection::vec(prop::collection::vec(part, 1..=4), 1..=2);
    let phases = prop::collection::vec((1_u32..=3000, 0_u32..=200), 1..=4);
    let method = prop::sample::select(vec![INCREMENTAL, Method::Division, Method::Optimum]);
    (clusters, prop::collection::vec(phases, 1..=4), 0_u32..64, method, 0_i64..=900)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Actors that exchange neither machines nor loads come to the same intervals as decisions that know all machines.
    #[test]
    fn messages_lead_to_the_intervals_of_a_decision_that_knows_all(case in cases()) {
        let (clusters, applications, bits, method, threshold) = case;
        let phases = |it: &Vec<(u32, u32)>| {
            Vec::from_iter(it.iter().map(|&(x, y)| phase(f64::from(x), f64::from(y))))
        };
        let job = |(id, it): (u32, &Vec<(u32, u32)>)| application(id, 0, modelled(&phases(it)));
        let parts = Vec::from_iter(clusters.iter().map(Vec::as_slice));
        let named = |number: usize| cluster(&format!("c{number}"), clusters.len(), 60, 300);
        let plans = Plans {
            method: Some(method),
            threshold: secs(threshold),
            ..Plans::new(
                (0..clusters.len()).map(named).collect(),
                Epochs::of(&[&parts]),
                (0..).zip(&applications).map(job).collect(),
            )
        };
        let plans = plans.into_workflow(&edges(bits));
        let ran = plans.run();

        let models = applications.iter().map(|it| {
            Arc::new(Application::new(&phases(it), 1.0).expect("good phases"))
        });
        let machines = clusters.iter().map(|cpu| {
            let links = vec![1.0; cpu.len()];
            Arc::new(Cluster::with_uplinks(1.0, cpu.clone(), links).expect("good shares"))
        });
        let terms = Terms { method, threshold: secs(threshold) };
        let mut whole = reference::Workflow::new(models.collect(), machines.collect(), terms);
        let graph = plans.workflow.as_ref().expect("a workflow");
        let levels = graph.levels().map(|it| it.iter().map(|task| task.index()).collect());
        let levels: Vec<Vec<usize>> = levels.collect();
        let all = whole.machines();
        let ends = reference::run_levels(&levels, &all, &mut whole).expect("there are machines");
        let row = |start: Span, job: usize, cluster: usize, machines: Vec<u32>, end: Span| {
            (start, job, cluster, machines, end)
        };
        let mut expected = Vec::from_iter(whole.started.iter().map(|(start, job, it)| {
            let end = *start + it.moving + it.time;
            row(*start, *job, it.cluster, it.schedule.numbers().to_vec(), end)
        }));
        let mut found = Vec::from_iter(ran.intervals.iter().map(|it| {
            let machines = numbers(&it.machines);
            let (start, end) = (it.ordered - Time::ZERO, it.end - Time::ZERO);
            row(start, it.job.0 as usize, it.cluster.index(), machines, end)
        }));
        expected.sort();
        found.sort();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(Some(ran.end()), ends.last().copied());
    }
}
