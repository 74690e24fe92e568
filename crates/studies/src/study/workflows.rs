//! Inputs of the runs of Chtepen 2011, chapters 5 and 6. The studies show an example of a workflow with its
//! parent sets, arrivals of workflows, and lengths of tasks. They also show estimates of tasks, predictions of
//! lengths, and the parameters of both chapters.

mod curves;
mod example;
mod inputs;
mod parameters;
mod predictions;

use std::collections::BTreeMap;

use haggle_model::Job;
use haggle_model::progress::Side;

use crate::Library;
use haggle_experiment::workload::Workloads;
use haggle_scenario::{Experiment, Logs, Scenario};

pub(super) use curves::EstimateCurves;
pub(super) use example::WorkflowExample;
pub(super) use inputs::WorkflowInputs;
pub(super) use parameters::{WorkflowParameters, WorkflowSites};
pub(super) use predictions::LengthPredictions;

const STUDY: &str = "chtepen-workflows";

/// Axes of a sweep, each with a value.
type Point<'a> = &'a [(&'a str, &'a str)];

/// The first variant of a sweep of the study with these values on axes.
fn variant(file: &str, at: Point<'_>) -> Result<Scenario, String> {
    let source = Library::Embedded.read(STUDY, file).map_err(|error| error.to_string())?;
    let experiment = Experiment::read(source, Logs::Ignore).map_err(|error| error.to_string())?;
    let fits = |(axis, value): &(&str, &str), it: &haggle_scenario::Variant| {
        it.settings.iter().any(|setting| setting.axis == *axis && setting.text() == *value)
    };
    let mut variants = experiment.variants.into_iter();
    let found = variants.find(|it| at.iter().all(|setting| fits(setting, it)));
    Ok(found.ok_or_else(|| format!("`{file}` has no such variant"))?.scenario)
}

/// The workflows of a scenario under a seed. The tasks of each are in order: the root, the parallel
/// tasks, the final one.
fn workflows(scenario: &Scenario, seed: u64) -> Result<Vec<Vec<Job>>, String> {
    let workloads = Workloads::new(scenario, std::path::Path::new(""), seed)
        .map_err(|error| error.to_string())?;
    let mut all: BTreeMap<u32, Vec<Job>> = BTreeMap::new();
    for user in &scenario.users {
        let open = workloads.open(user.workload.as_str()).map_err(|error| error.to_string())?;
        for job in open.jobs {
            let job = job.map_err(|error| error.to_string())?;
            let task = job.task.as_ref().ok_or("a job is no task")?;
            all.entry(task.workflow).or_default().push(job);
        }
    }
    Ok(all.into_values().collect())
}

/// The parallel tasks of a workflow.
fn side_by_side(tasks: &[Job]) -> &[Job] {
    &tasks[1..tasks.len() - 1]
}

/// The word of scenarios for the kind of a task's estimation error.
fn word(side: Side) -> &'static str {
    match side {
        Side::Over => "over",
        Side::Under => "under",
        Side::Fluctuating { .. } => "fluctuating",
    }
}
