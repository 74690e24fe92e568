//! The charts of a simulation, and the place of each provider on them.

use haggle_model::{Cast, ProviderId};
use haggle_scenario::Scenario;

use crate::scene::ChartKind;

/// The charts of a simulation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) charts: Vec<Planned>,
    /// Number of the first place that belongs to a grid.
    first_resource: u32,
}

/// A chart, and its places.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) name: String,
    pub(crate) kind: ChartKind,
    /// Number of its first place.
    pub(crate) first: u32,
    /// Number of its places: one, or all resources of a grid.
    pub(crate) places: u32,
}

impl Layout {
    /// The charts of a scenario: one for each provider and cluster, and one for its grid.
    pub(crate) fn of(scenario: &Scenario, cast: &Cast) -> Layout {
        let first_resource = cast.whole_places() as u32;
        let whole = (0..first_resource).zip(&cast.providers).map(|(first, place)| {
            let is_cluster = first as usize >= scenario.providers.len();
            let kind = if is_cluster { ChartKind::Cluster } else { ChartKind::Provider };
            Planned { name: place.name.clone(), kind, first, places: 1 }
        });
        let resources = cast.providers.len() as u32 - first_resource;
        let grid = scenario.grid.as_ref().filter(|_| resources > 0).map(|grid| Planned {
            name: grid.name.to_string(),
            kind: ChartKind::Grid,
            first: first_resource,
            places: resources,
        });
        Layout { charts: whole.chain(grid).collect(), first_resource }
    }

    /// The chart of a place.
    pub(crate) fn chart(&self, place: ProviderId) -> usize {
        place.0.min(self.first_resource) as usize
    }
}
