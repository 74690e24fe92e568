//! The ways that data take between providers, metaschedulers and storages.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_agents::{CheckpointStore, DataNetwork, DataPaths, DataWays, Routes};
use haggle_model::network::{LinkSharing, Node, Path as DataPath, Sites};
use haggle_model::{ActorId, Span};

use haggle_scenario::quantity::Bandwidth;
use haggle_scenario::{Scenario, file};

const GOOD_LINKS: &str = "a bandwidth is above 0, a latency bounded";

/// A link of the network, as data see it: between whom, how fast, and how far.
type DataLink<T> = ((T, T), Bandwidth, Span);

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

/// The links between two places, as `place` knows them; users are at whom they submit to.
fn links<T>(scenario: &Scenario, place: impl Fn(&str) -> Option<T>) -> Vec<DataLink<T>> {
    let site = |end: &file::Name| place(scenario.site_of(end.as_str()));
    let link = |link: &file::Link| {
        let [a, b] = link.between.each_ref().map(site);
        let bandwidth = link.bandwidth.unwrap_or(scenario.network.bandwidth());
        Some((a.zip(b)?, bandwidth, link.latency.0))
    };
    scenario.network.links.iter().filter_map(link).collect()
}

/// Where data of this name are: at a provider, at a metascheduler, or in a storage.
fn node(scenario: &Scenario, name: &str) -> Option<Node> {
    let site = |number: usize| Node::Site(ActorId(number as u32));
    let provider = scenario.providers.iter().position(|it| it.name.as_str() == name);
    let metascheduler = || {
        let place = scenario.metaschedulers.iter().position(|it| it.name.as_str() == name);
        // They come behind all places where jobs run.
        place.map(|place| site(scenario.places() as usize + place))
    };
    let store = || scenario.network.stores.iter().position(|it| it.as_str() == name);
    let store = || store().map(|place| Node::Store(place as u32));
    provider.map(site).or_else(metascheduler).or_else(store)
}

/// Who moves data that share links. Providers, metaschedulers and storages are sites.
pub(super) fn network(scenario: &Scenario, sharing: LinkSharing) -> DataNetwork {
    let (Bandwidth(rate), latency) = (scenario.network.bandwidth(), scenario.network.latency.0);
    let providers = scenario.providers.iter().map(|it| &it.name);
    let metaschedulers = scenario.metaschedulers.iter().map(|it| &it.name);
    let names = providers.chain(metaschedulers).chain(&scenario.network.stores);
    let nodes = names.filter_map(|name| node(scenario, name.as_str()));
    let sites = Sites::new(nodes, rate, latency).expect(GOOD_LINKS);
    let links = links(scenario, |site| node(scenario, site)).into_iter();
    let joined = links.into_iter().try_fold(sites, |sites, link| {
        let ((a, b), Bandwidth(rate), latency) = link;
        sites.joined(a, b, rate, latency)
    });
    DataNetwork::new(Routes::Sites(Arc::new(joined.expect(GOOD_LINKS))), sharing)
}

/// The way from a provider to where its checkpoints are kept: how far, and how fast for a transfer that shares it with
/// none.
pub(super) fn way(scenario: &Scenario, provider: &str, store: &str) -> (Span, Bandwidth) {
    let named = |site: &str| Some(site.to_owned());
    let joins = |it: &&DataLink<String>| {
        let (a, b) = (it.0.0.as_str(), it.0.1.as_str());
        (a, b) == (provider, store) || (b, a) == (provider, store)
    };
    let links = links(scenario, named);
    let own = links.iter().rfind(joins).map(|it| (it.2, it.1));
    own.unwrap_or((scenario.network.latency.0, scenario.network.bandwidth()))
}

/// Where rigid jobs of a provider keep their checkpoints, if somebody moves them there who moves other data, too.
pub(super) fn store(
    scenario: &Scenario,
    provider: &file::Provider,
    network: Option<ActorId>,
) -> Option<CheckpointStore> {
    let (store, network) = scenario.store_of(provider).zip(network)?;
    let here = node(scenario, provider.name.as_str())?;
    let there = node(scenario, store.as_str())?;
    Some(CheckpointStore { network, here, there, records_all: scenario.results.checkpoints })
}
