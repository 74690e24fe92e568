//! Paths of data between providers, metaschedulers and storages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use haggle_agents::{CheckpointStore, DataNetwork, DataPaths, DataWays, Routes};
use haggle_model::network::{LinkSharing, Node, Path as DataPath, Sites};
use haggle_model::{ActorId, Span};

use haggle_scenario::quantity::Bandwidth;
use haggle_scenario::{Scenario, file};

const GOOD_LINKS: &str = "a bandwidth is above 0, a latency bounded";

/// A link of the network for data: ends, bandwidth and latency.
type DataLink<T> = ((T, T), Bandwidth, Span);

/// Transfers of tasks that share no links, for a metascheduler that has no address yet. They take
/// the latency of messages, then their bytes by the bandwidth.
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
    // The metascheduler itself is added only after its configuration is made.
    let address = |site: &str| if site == name { Some(me) } else { addresses.get(site).copied() };
    for ((a, b), bandwidth, latency) in links(scenario, address) {
        paths.join(a, b, path(bandwidth, latency));
    }
    DataWays::Apart(paths)
}

/// The links between two places, named by `place`; a user is at its receiver.
fn links<T>(scenario: &Scenario, place: impl Fn(&str) -> Option<T>) -> Vec<DataLink<T>> {
    if scenario.network.links.is_empty() {
        return Vec::new();
    }
    let directory = scenario.directory();
    let site = |end: &file::Name| place(directory.site_of(end.as_str()));
    let link = |link: &file::Link| {
        let [a, b] = link.between.each_ref().map(site);
        let bandwidth = link.bandwidth.unwrap_or(scenario.network.bandwidth());
        Some((a.zip(b)?, bandwidth, link.latency.0))
    };
    scenario.network.links.iter().filter_map(link).collect()
}

/// Places of data by name: providers, metaschedulers and storages.
pub(super) struct Places<'s>(BTreeMap<&'s str, Node>);

impl Places<'_> {
    /// The places of a scenario.
    pub(super) fn of(scenario: &Scenario) -> Places<'_> {
        let site = |number: u32| Node::Site(ActorId(number));
        let providers = scenario.providers.iter().map(|it| it.name.as_str());
        let metaschedulers = scenario.metaschedulers.iter().map(|it| it.name.as_str());
        let stores = scenario.network.stores.iter().map(file::Name::as_str);
        let providers = providers.zip((0..).map(site));
        // Metaschedulers are numbered after all places where jobs run.
        let metaschedulers = metaschedulers.zip((scenario.places()..).map(site));
        let stores = stores.zip((0..).map(Node::Store));
        Places(providers.chain(metaschedulers).chain(stores).collect())
    }

    fn node(&self, name: &str) -> Option<Node> {
        self.0.get(name).copied()
    }

    /// The actor that moves data over shared links.
    pub(super) fn network(&self, scenario: &Scenario, sharing: LinkSharing) -> DataNetwork {
        let (Bandwidth(rate), latency) = (scenario.network.bandwidth(), scenario.network.latency.0);
        let nodes: BTreeSet<Node> = self.0.values().copied().collect();
        let sites = Sites::new(nodes, rate, latency).expect(GOOD_LINKS);
        let links = links(scenario, |site| self.node(site));
        let joined = links.into_iter().try_fold(sites, |sites, link| {
            let ((a, b), Bandwidth(rate), latency) = link;
            sites.joined(a, b, rate, latency)
        });
        DataNetwork::new(Routes::Sites(Arc::new(joined.expect(GOOD_LINKS))), sharing)
    }

    /// Storage for the checkpoints of a provider's rigid jobs, if `network` moves them beside other
    /// data.
    pub(super) fn store(
        &self,
        scenario: &Scenario,
        provider: &file::Provider,
        network: Option<ActorId>,
    ) -> Option<CheckpointStore> {
        let (store, network) = scenario.store_of(provider).zip(network)?;
        let (here, there) = (self.node(provider.name.as_str())?, self.node(store.as_str())?);
        Some(CheckpointStore { network, here, there, records_all: scenario.results.checkpoints })
    }
}

/// Path from a provider to the storage of its checkpoints: latency, and bandwidth for a transfer
/// that shares no link.
pub(super) fn way(scenario: &Scenario, provider: &str, store: &str) -> (Span, Bandwidth) {
    let network = &scenario.network;
    let usual = (network.latency.0, network.bandwidth());
    if network.links.is_empty() {
        return usual;
    }
    let directory = scenario.directory();
    let joins = |link: &&file::Link| {
        let ends = link.between.each_ref().map(|end| directory.site_of(end.as_str()));
        ends == [provider, store] || ends == [store, provider]
    };
    // Of several links between the two places the last one counts.
    network
        .links
        .iter()
        .rfind(joins)
        .map_or(usual, |link| (link.latency.0, link.bandwidth.unwrap_or(network.bandwidth())))
}
