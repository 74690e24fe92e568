//! The graphs of a scenario's workflows, for the actors that keep a ledger of their tasks.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use haggle_workflows::Workflow;
use haggle_workflows::ledger::WorkflowId;

use haggle_scenario::{Directory, RunBy, Scenario, WorkflowModel, WorkflowsError, file};

/// Workflows by workload and number there.
pub(super) type Workflows = BTreeMap<WorkflowId, Arc<Workflow>>;

/// Runner of the tasks of a workload's workflows; `workload` is its index in the scenario.
pub(super) fn run_by(scenario: &Scenario, directory: &Directory<'_>, workload: u16) -> RunBy {
    let on_grid = directory.runs_on_grid(&scenario.workloads[usize::from(workload)]);
    if on_grid { RunBy::Grid } else { RunBy::Providers }
}

/// Workflows of all workloads.
pub(super) fn all(scenario: &Scenario, folder: &Path) -> Result<Workflows, WorkflowsError> {
    let mut all = BTreeMap::new();
    let directory = scenario.directory();
    for (place, workload) in (0..).zip(&scenario.workloads) {
        let applications = workload.applications.as_ref();
        if let Some(it) = applications.filter(|_| workload.model == Some(file::Model::Applications))
        {
            all.extend(it.graphs(workload.name.as_str(), place, scenario.scenario.seed)?);
        }
        if let (Some(file::Model::Workflows), Some(it)) = (workload.model, &workload.workflows) {
            let (name, seed) = (workload.name.as_str(), scenario.scenario.seed);
            let run_by = run_by(scenario, &directory, place);
            let model = WorkflowModel::new(it, folder, name, seed, run_by)?;
            all.extend(model.graphs(place)?);
        }
    }
    Ok(all)
}

/// Workflows whose tasks have names from a file.
pub(super) fn named(scenario: &Scenario, all: &Workflows) -> Workflows {
    let from_files = |id: &WorkflowId| {
        let workflows = scenario.workloads[usize::from(id.workload)].workflows.as_ref();
        workflows.is_some_and(|it| it.files.is_some())
    };
    let named = all.iter().filter(|(id, _)| from_files(id));
    named.map(|(&id, graph)| (id, Arc::clone(graph))).collect()
}

/// The names of all of their tasks: workload, workflow, task and name.
pub(super) fn names(named: &Workflows) -> impl Iterator<Item = (u16, u32, u32, &str)> {
    named.iter().flat_map(|(id, graph)| {
        let tasks = (0..).zip(graph.tasks());
        tasks.map(|(task, it)| (id.workload, id.number, task, &*it.name))
    })
}

/// Workflows of which the scheduler of a grid keeps the ledger.
pub(super) fn of_grid(scenario: &Scenario, all: &Workflows) -> Workflows {
    let directory = scenario.directory();
    let on_grid = |id: &WorkflowId| run_by(scenario, &directory, id.workload) == RunBy::Grid;
    let its_own = all.iter().filter(|(id, _)| on_grid(id));
    its_own.map(|(&id, graph)| (id, Arc::clone(graph))).collect()
}

/// Workflows of applications, of which the rescheduler keeps the ledger.
pub(super) fn of_plans(scenario: &Scenario, all: &Workflows) -> Workflows {
    let its_own = all.iter().filter(|(id, _)| are_applications(scenario, **id));
    its_own.map(|(&id, graph)| (id, Arc::clone(graph))).collect()
}

fn are_applications(scenario: &Scenario, id: WorkflowId) -> bool {
    scenario.workloads[usize::from(id.workload)].model == Some(file::Model::Applications)
}

/// Workflows of which a user keeps the ledger: all that it submits, unless they go to a grid or to plans.
pub(super) fn kept_by(
    scenario: &Scenario,
    directory: &Directory<'_>,
    all: &Workflows,
    user: &file::User,
) -> Workflows {
    // The scheduler of a grid receives all tasks at once and keeps the ledger itself.
    if scenario.submits_to_grid(user) {
        return Workflows::new();
    }
    let places = directory.sources(user.workload.as_str());
    let is_its_own = |id: WorkflowId| {
        places.contains(&usize::from(id.workload)) && !are_applications(scenario, id)
    };
    let its_own = all.iter().filter(|(id, _)| is_its_own(**id));
    its_own.map(|(&id, graph)| (id, Arc::clone(graph))).collect()
}
