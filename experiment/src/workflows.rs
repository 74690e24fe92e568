//! The graphs of a scenario's workflows, for whoever keeps a ledger of their tasks, and the paths that
//! data take from one provider to another.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use haggle_agents::DataPaths;
use haggle_model::network::Path as DataPath;
use haggle_model::{ActorId, Span};
use haggle_scheduling::workflows::WorkflowId;
use haggle_workflows::Workflow;

use haggle_scenario::quantity::Bandwidth;
use haggle_scenario::{RunBy, Scenario, WorkflowModel, WorkflowsError, file};

/// Workflows by workload and number there.
pub(super) type Workflows = BTreeMap<WorkflowId, Arc<Workflow>>;

/// What runs the tasks of the workflows of a workload, from its place in the scenario.
pub(super) fn run_by(scenario: &Scenario, workload: u16) -> RunBy {
    let on_grid = scenario.runs_on_grid(&scenario.workloads[usize::from(workload)]);
    if on_grid { RunBy::Grid } else { RunBy::Providers }
}

/// Those of all workloads.
pub(super) fn all(scenario: &Scenario, folder: &Path) -> Result<Workflows, WorkflowsError> {
    let mut all = BTreeMap::new();
    for (place, workload) in (0..).zip(&scenario.workloads) {
        if let (Some(file::Model::Workflows), Some(it)) = (workload.model, &workload.workflows) {
            let (name, seed) = (workload.name.as_str(), scenario.scenario.seed);
            let model = WorkflowModel::new(it, folder, name, seed, run_by(scenario, place))?;
            all.extend(model.graphs(place)?);
        }
    }
    Ok(all)
}

/// Those of which the scheduler of a grid keeps the ledger.
pub(super) fn of_grid(scenario: &Scenario, all: &Workflows) -> Workflows {
    let its_own = all.iter().filter(|(id, _)| run_by(scenario, id.workload) == RunBy::Grid);
    its_own.map(|(&id, graph)| (id, Arc::clone(graph))).collect()
}

/// Those of which a user keeps the ledger: of all that it submits, unless that goes to a grid.
pub(super) fn kept_by(scenario: &Scenario, all: &Workflows, user: &file::User) -> Workflows {
    if scenario.submits_to_grid(user) {
        return Workflows::new();
    }
    let places = scenario.sources(user.workload.as_str());
    let its_own = all.iter().filter(|(id, _)| places.contains(&usize::from(id.workload)));
    its_own.map(|(&id, graph)| (id, Arc::clone(graph))).collect()
}

/// How data of tasks travel that this metascheduler places, which stands at no address yet: as messages
/// do, and then as fast as the network lets them.
pub(super) fn paths(
    scenario: &Scenario,
    addresses: &BTreeMap<String, ActorId>,
    (name, me): (&str, ActorId),
) -> DataPaths {
    let network = &scenario.network;
    let path = |bandwidth: Bandwidth, latency: Span| {
        DataPath::constant(bandwidth.0, latency).expect("a bandwidth is above 0, a latency bounded")
    };
    // Users are where they submit to.
    let site = |end: &file::Name| {
        let user = scenario.users.iter().find(|user| user.name == *end);
        let at = user.map_or(end, |user| &user.submits_to).as_str();
        if at == name { Some(me) } else { addresses.get(at).copied() }
    };
    let mut paths = DataPaths::new(path(network.bandwidth(), network.latency.0));
    for link in &network.links {
        let [a, b] = link.between.each_ref().map(site);
        if let Some((a, b)) = a.zip(b) {
            let bandwidth = link.bandwidth.unwrap_or(network.bandwidth());
            paths.join(a, b, path(bandwidth, link.latency.0));
        }
    }
    paths
}
