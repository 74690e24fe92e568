//! The graphs of a scenario's workflows, for whoever keeps a ledger of their tasks, and the paths that
//! data take from one provider to another.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use haggle_agents::{DataNetwork, DataPaths, DataWays, Routes};
use haggle_model::network::{LinkSharing, Path as DataPath, Sites};
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

const GOOD_LINKS: &str = "a bandwidth is above 0, a latency bounded";

/// A link of the network, as data of tasks see it: between whom, how fast, and how far.
type DataLink = ((ActorId, ActorId), Bandwidth, Span);

/// How data of tasks travel that share no links and that this metascheduler places, which stands at no address yet: as
/// messages do, and then as fast as the network lets them.
pub(super) fn apart(
    scenario: &Scenario,
    addresses: &BTreeMap<String, ActorId>,
    (name, me): (&str, ActorId),
) -> DataWays {
    let path = |bandwidth: Bandwidth, latency: Span| {
        DataPath::constant(bandwidth.0, latency).expect(GOOD_LINKS)
    };
    let Bandwidth(rate) = scenario.network.bandwidth();
    let mut paths = DataPaths::new(path(Bandwidth(rate), scenario.network.latency.0));
    let address = |site: &str| if site == name { Some(me) } else { addresses.get(site).copied() };
    for ((a, b), bandwidth, latency) in links(scenario, address) {
        paths.join(a, b, path(bandwidth, latency));
    }
    DataWays::Apart(paths)
}

/// The links between two actors, where users are at whom they submit to.
fn links(scenario: &Scenario, address: impl Fn(&str) -> Option<ActorId>) -> Vec<DataLink> {
    let site = |end: &file::Name| address(scenario.site_of(end.as_str()));
    let link = |link: &file::Link| {
        let [a, b] = link.between.each_ref().map(site);
        let bandwidth = link.bandwidth.unwrap_or(scenario.network.bandwidth());
        Some((a.zip(b)?, bandwidth, link.latency.0))
    };
    scenario.network.links.iter().filter_map(link).collect()
}

/// Who moves data of tasks that share links. Providers and metaschedulers are sites.
pub(super) fn data_network(
    scenario: &Scenario,
    addresses: &BTreeMap<String, ActorId>,
    sharing: LinkSharing,
) -> DataNetwork {
    let (Bandwidth(rate), latency) = (scenario.network.bandwidth(), scenario.network.latency.0);
    let providers = scenario.providers.iter().map(|it| &it.name);
    let names = providers.chain(scenario.metaschedulers.iter().map(|it| &it.name));
    let sites = Sites::new(names.map(|name| addresses[name.as_str()]), rate, latency);
    let links = links(scenario, |site| addresses.get(site).copied());
    let joined = links.into_iter().try_fold(sites.expect(GOOD_LINKS), |sites, link| {
        let ((a, b), Bandwidth(rate), latency) = link;
        sites.joined(a, b, rate, latency)
    });
    let sites = joined.expect(GOOD_LINKS);
    DataNetwork::new(Routes::Sites(Arc::new(sites)), sharing)
}
