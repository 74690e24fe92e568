//! A baseline: each task on a resource drawn at random, as early as possible.

use haggle_model::random::stream;
use rand::RngExt;

use super::plan::Plan;
use super::{Problem, Schedule};

pub(super) fn schedule(problem: &Problem<'_>, seed: u64) -> Schedule {
    let mut random = stream(seed, "workflow", "random schedule");
    let mut plan = Plan::new(problem);
    for &task in problem.workflow().order() {
        let resource = random.random_range(0..problem.resources() as u32);
        plan.place(task, plan.inserted(task, resource, plan.ready(task)));
    }
    plan.schedule()
}
