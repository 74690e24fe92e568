use std::sync::Arc;

use haggle_model::Time;
use haggle_model::work::Speed;
use haggle_workflows::{Builder, Task};

use super::super::super::resources::{Preference, SiteId};
use super::*;
use haggle_workflows::ledger::{Member, WorkflowId};

/// A task with progress 1000 MI, whose last report gave 900 MI as 40 % of the whole. Moving it takes 120 s,
/// including 20 s for its checkpoint and its recovery.
struct Seen {
    computing: Span,
    reports: [ProgressReport; 1],
}

impl Insight for Seen {
    fn progress(&self, _: JobId, _: ResourceId) -> Work {
        Work::from_mi(1000)
    }

    fn reported(&self, job: JobId, resource: ResourceId) -> f64 {
        let done = self.progress(job, resource).as_mi_f64();
        ProgressReport::last_by(&self.reports, done).map_or(0.0, |report| report.done)
    }

    fn computing(&self, _: JobId, _: ResourceId) -> Span {
        self.computing
    }

    fn reports(&self, _: JobId) -> &[ProgressReport] {
        &self.reports
    }

    fn moving_time(&self, _: JobId, _: ResourceId, _: ResourceId) -> Option<Span> {
        Some(Span::from_secs(120))
    }

    fn saving_time(&self, _: JobId) -> Span {
        Span::from_secs(20)
    }
}

fn seen(seconds: i64) -> Seen {
    let reports = [ProgressReport { done: 900.0, part: 0.4 }];
    Seen { computing: Span::from_secs(seconds), reports }
}

/// Remaining work of the task of micro-example M-3 after this computing time, sharing 3 MIPS with another
/// task.
fn left(estimate: Estimate, seconds: i64) -> f64 {
    let mut view = View::new(Detection::RestartReport, Preference::EffectiveSpeed);
    let here = view.add_resource(SiteId(0), true, Speed::from_mips(3), 2);
    for job in [0, 1] {
        view.submit(JobId(job), Time::ZERO, Work::ZERO);
        view.dispatch(Time::ZERO, JobId(job), here);
    }
    let policy = WorkflowPolicy {
        balance: None,
        prediction: Prediction::Extrapolation,
        bound: Fraction::ONE,
        estimate,
        checkpointing: false,
    };
    let mut scheduler = WorkflowScheduler::new(policy);
    scheduler.left_at(&view, &seen(seconds), JobId(0), here).expect("it has reported")
}

#[test]
fn the_printed_estimate_forgets_what_was_done_elsewhere() {
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
    close(left(Estimate::Integrated, 600), 1350.0);
    close(left(Estimate::Literal, 600), 1350.0);
    // It arrived from another resource 200 s ago: E_est = 200·3/(2·0.4).
    close(left(Estimate::Integrated, 200), 1350.0);
    close(left(Estimate::Literal, 200), 450.0);
}

#[test]
fn a_move_may_be_thought_to_cost_its_data_alone() {
    let insight = seen(600);
    let running = [Running { job: JobId(0), at: ResourceId(0), left: 1.0, root: false }];
    let cost = |counts| {
        let mut draw = |_| 0;
        let moving = Moving { insight: &insight, running: &running, counts, draw: &mut draw };
        moving.moving(0, ResourceId(0), ResourceId(1))
    };
    assert_eq!((cost(true), cost(false)), (120.0, 100.0));
}

/// A root, two parallel tasks and a final task: the root is done, and the others run or send their outputs.
#[test]
fn a_task_that_sends_its_output_counts_as_finished() {
    let id = WorkflowId { workload: 0, number: 0 };
    let mut builder = Builder::new("flow");
    let work = Span::from_secs(1);
    let tasks =
        [0, 1, 2, 3].map(|it| builder.task(Task::new(format!("{it}"), work)).expect("a task"));
    for (parent, child) in [(0, 1), (0, 2), (1, 3), (2, 3)] {
        builder.edge(tasks[parent], tasks[child], 0).expect("an edge");
    }
    let graph = Arc::new(builder.build().expect("no circle"));
    let mut ledger = Ledger::new(&BTreeMap::from([(id, graph)]));
    for (job, &task) in (0..).map(JobId).zip(&tasks) {
        ledger.submit(job, Member { workflow: id, task });
    }
    ledger.complete(JobId(0));
    let mut view = View::new(Detection::RestartReport, Preference::EffectiveSpeed);
    let here = view.add_resource(SiteId(0), true, Speed::from_mips(1), 2);
    for job in [1, 2].map(JobId) {
        view.submit(job, Time::ZERO, Work::ZERO);
        view.dispatch(Time::ZERO, job, here);
    }
    let running = [1, 2].map(|job| Running { job: JobId(job), at: here, left: 1.0, root: false });
    let sets = |view: &View, running: &[Running]| running_sets(&ledger, view, running);
    assert_eq!(sets(&view, &running), [[0, 1]]);
    assert!(sets(&view, &running[1..]).is_empty(), "the first task neither runs nor sends");
    view.computed(JobId(1), here);
    assert_eq!(sets(&view, &running[1..]), [[0]]);
}
