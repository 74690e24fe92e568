use haggle_model::Time;
use haggle_model::work::Speed;

use super::super::super::resources::{Preference, SiteId};
use super::*;

/// A task that has done 900 MI and calls that 40 % of the whole; moving it takes 120 s, 20 s of them for its
/// checkpoint and its recovery.
struct Seen {
    computing: Span,
    reports: [ProgressReport; 1],
}

impl Insight for Seen {
    fn progress(&self, _: JobId, _: ResourceId) -> Work {
        Work::from_mi(900)
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

/// What is left of the task of micro-example M-3 that has computed for so long where it shares 3 MIPS with another one.
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
    // It has come from another resource 200 s ago: E_est = 200·3/(2·0.4).
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
