//! The networks of a scenario in the form of a run's summary.

use haggle_results::Networks;
use haggle_scenario::Scenario;
use haggle_scenario::file::{DataNetwork, Information, InformationMode, Network, NetworkModel};

/// Networks that carry data in a run of `scenario`; `None` if there are none.
pub(super) fn networks(scenario: &Scenario) -> Option<Networks> {
    let mut found = Networks::default();
    let mut note = |key: &str, is_default: bool| {
        if is_default {
            found.defaults.push(key.to_owned());
        }
    };
    let between_providers = scenario.moves_data() || scenario.carries_checkpoints();
    let bandwidth = scenario.network.bandwidth();
    if between_providers {
        note(Networks::BANDWIDTH, bandwidth == Network::default().bandwidth());
    }
    let grid = scenario.grid.as_ref();
    let of_grid = grid.map(|grid| (&grid.network, grid.information));
    if let Some((network, information)) = of_grid {
        let usual = DataNetwork::default();
        note(Networks::GRID_BANDWIDTH, network.bandwidth == usual.bandwidth);
        if network.model == NetworkModel::Stars {
            note(Networks::GRID_WAN_BANDWIDTH, network.wan_bandwidth == usual.wan_bandwidth);
        }
        note(Networks::GRID_INFORMATION_DELAY, information == Information::default());
    }
    found.bandwidth = between_providers.then_some(bandwidth.0);
    found.grid_bandwidth = of_grid.map(|(network, _)| network.bandwidth.0);
    found.grid_wan_bandwidth = of_grid
        .filter(|(network, _)| network.model == NetworkModel::Stars)
        .map(|(network, _)| network.wan_bandwidth.0);
    found.grid_information_delay = of_grid.map(|(_, it)| match it.mode {
        InformationMode::Immediate => 0.0,
        InformationMode::Periodic | InformationMode::Delayed => it.delay.0.as_secs_f64(),
    });
    (found != Networks::default()).then_some(found)
}
