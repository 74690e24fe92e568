//! Numbers of the actors of a scenario: places that run jobs come first, then services, then users.

use haggle_agents::Seats;
use haggle_agents::grid::GridPlan;
use haggle_model::ActorId;

use super::transactions::acceptors;
use haggle_scenario::Scenario;

/// Services that clusters share: their metascheduler, and the actor that sends the loads.
const CLUSTER_SERVICES: u32 = 2;

/// The numbers of the actors of clusters and of a grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seating {
    /// Actors of clusters over which applications are rescheduled.
    pub(super) clusters: Seats,
    /// Actors of a grid.
    pub(super) resources: Seats,
    /// The actor that moves data of tasks over shared links. It follows all services of clusters
    /// and a grid.
    pub(super) network: Option<ActorId>,
    providers: u32,
    grid_services: u32,
}

/// Address of the members of an owner for nature.
#[derive(Clone, Copy, Debug)]
pub(super) enum Address {
    /// They are processors of this actor.
    One(ActorId),
    /// Each member is an actor; this is the number of the first.
    Each(u32),
}

impl Seating {
    pub(super) fn of(scenario: &Scenario) -> Seating {
        let providers = scenario.providers.len() as u32;
        let clusters = scenario.plans.as_ref().map_or(0, |it| it.clusters.len() as u32);
        let sites = scenario.grid.iter().flat_map(|grid| &grid.sites);
        let resources = sites.map(|site| site.resources).sum();
        let middle = scenario.metaschedulers.len() + acceptors(scenario).len();
        let first_service = scenario.places() + middle as u32;
        let behind = if scenario.plans.is_some() { CLUSTER_SERVICES } else { 0 };
        let services =
            |grid: &haggle_scenario::file::Grid| GridPlan::services(grid.storage.is_some());
        let grid_services = scenario.grid.as_ref().map_or(0, |it| services(it).len() as u32);
        Seating {
            clusters: Seats { first_place: providers, places: clusters, first_service },
            resources: Seats {
                first_place: providers + clusters,
                places: resources,
                first_service: first_service + behind,
            },
            network: scenario
                .link_sharing()
                .map(|_| ActorId(first_service + behind + grid_services)),
            providers,
            grid_services,
        }
    }

    /// Addresses of the owners of the scenario, in their order.
    pub(super) fn addresses(&self, owners: &[(&str, u32)]) -> Vec<Address> {
        let whole = self.providers + self.clusters.places;
        let mut next = whole;
        let address = |(number, &(_, members)): (u32, &(&str, u32))| {
            if number < whole {
                return Address::One(ActorId(number));
            }
            next += members;
            Address::Each(next - members)
        };
        (0..).zip(owners).map(address).collect()
    }

    /// The actors that share one site, and its number: those of clusters, and those of a grid.
    pub(super) fn together(&self) -> impl Iterator<Item = (u32, u32)> {
        let parts = [(self.clusters, CLUSTER_SERVICES), (self.resources, self.grid_services)];
        // Without clusters or a grid, these numbers belong to other actors.
        parts.into_iter().filter(|(seats, _)| seats.places > 0).flat_map(|(seats, services)| {
            let Seats { first_place, places, first_service } = seats;
            let services = first_service..first_service + services;
            let members = (first_place..first_place + places).chain(services);
            members.map(move |member| (member, first_service))
        })
    }
}
