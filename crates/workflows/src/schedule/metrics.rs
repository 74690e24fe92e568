//! Metrics by which schedules are compared (Topcuoglu, Hariri and Wu 2002, section 5.1).

use haggle_model::Span;

use super::{Problem, Schedule};

/// Quality of a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metrics {
    /// The time to the end of the last task.
    pub makespan: Span,
    /// Schedule length ratio: the makespan divided by the length of the critical path of least times,
    /// without transfers; at least 1. `None` if all tasks take no time.
    pub slr: Option<f64>,
    /// The least time of all tasks on one resource, divided by the makespan. `None` if that is zero.
    pub speedup: Option<f64>,
    /// The speedup divided by the number of resources.
    pub efficiency: Option<f64>,
}

impl Schedule {
    /// The metrics of a schedule of this problem.
    pub fn metrics(&self, problem: &Problem<'_>) -> Metrics {
        let makespan = self.makespan();
        let workflow = problem.workflow();
        let least = |task| {
            let times = problem.all().map(|resource| problem.time(task, resource));
            times.min().expect("there are resources")
        };
        let path = workflow.critical_path(least, |_| Span::ZERO).length;
        let of_all =
            |resource| workflow.ids().map(|task| problem.time(task, resource)).sum::<Span>();
        let sequential = problem.all().map(of_all).min().expect("there are resources");
        let ratio = |one: Span, other: Span| {
            (other > Span::ZERO).then(|| one.as_secs_f64() / other.as_secs_f64())
        };
        let speedup = ratio(sequential, makespan);
        let resources = problem.resources() as f64;
        let efficiency = speedup.map(|speedup| speedup / resources);
        Metrics { makespan, slr: ratio(makespan, path), speedup, efficiency }
    }
}
