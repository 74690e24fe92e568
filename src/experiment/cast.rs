//! Everybody's names: what a scenario says of them before anything is opened or run.

use haggle_agents::grid::GridPlan;
use haggle_model::{ActorInfo, ActorKind, Cast, ProviderInfo, SiteInfo};

use super::grid;
use super::plans::scheduler;
use super::transactions::acceptors;
use super::world::scheduling;
use crate::scenario::{Scenario, file};

/// The actor that makes processors fail. Not a name that a scenario could give.
const NATURE: &str = "(nature)";

/// The actor that tells clusters of their loads. Not a name that a scenario could give.
const UPDATES: &str = "(resource updates)";

/// Who takes part in a run of `scenario`, in the order of their numbers.
pub fn cast(scenario: &Scenario) -> Cast {
    let mut cast = Cast {
        workloads: scenario.workloads.iter().map(|it| it.name.to_string()).collect(),
        ..Cast::default()
    };
    match (&scenario.grid, &scenario.plans) {
        (Some(grid), _) => add_grid(&mut cast, scenario.scenario.seed, grid),
        (None, Some(plans)) => add_plans(&mut cast, plans),
        (None, None) => add_providers(&mut cast, scenario),
    }
    let users = scenario.users.iter().map(|user| actor(user.name.as_str(), ActorKind::User));
    cast.actors.extend(users);
    if scenario.processor_failures().next().is_some() {
        cast.actors.push(actor(NATURE, ActorKind::Nature));
    }
    cast
}

fn actor(name: &str, kind: ActorKind) -> ActorInfo {
    ActorInfo { name: name.to_owned(), kind }
}

/// Providers come first among the actors, then metaschedulers.
fn add_providers(cast: &mut Cast, scenario: &Scenario) {
    for provider in &scenario.providers {
        let before = cast.providers.last();
        cast.providers.push(ProviderInfo {
            name: provider.name.to_string(),
            processors: provider.processors,
            first_processor: before.map_or(0, |it| it.first_processor + it.processors),
            speed: provider.speed,
            scheduler: scheduling(provider).to_string(),
        });
        cast.actors.push(actor(provider.name.as_str(), ActorKind::Provider));
    }
    let metaschedulers = scenario.metaschedulers.iter();
    cast.actors.extend(metaschedulers.map(|it| actor(it.name.as_str(), ActorKind::Metascheduler)));
    let acceptors = acceptors(scenario);
    cast.actors.extend(acceptors.iter().map(|it| actor(&it.name, ActorKind::Service)));
}

/// Clusters come first, then their metascheduler and who tells them of loads.
fn add_plans(cast: &mut Cast, plans: &file::Plans) {
    for cluster in &plans.clusters {
        let before = cast.providers.last();
        cast.providers.push(ProviderInfo {
            name: cluster.name.to_string(),
            processors: cluster.machines,
            first_processor: before.map_or(0, |it| it.first_processor + it.processors),
            speed: cluster.speed,
            scheduler: scheduler(plans.method).to_owned(),
        });
        cast.actors.push(actor(cluster.name.as_str(), ActorKind::Provider));
    }
    cast.actors.push(actor(plans.name.as_str(), ActorKind::Metascheduler));
    cast.actors.push(actor(UPDATES, ActorKind::Service));
}

/// The resources of a grid come first, then its scheduler and the other services.
fn add_grid(cast: &mut Cast, seed: u64, grid: &file::Grid) {
    let policy = grid::policy(grid).to_string();
    for site in &grid.sites {
        for name in site.resource_names() {
            let speed = grid::speed(grid::capacity(seed, site, &name));
            cast.actors.push(actor(&name, ActorKind::Provider));
            cast.providers.push(ProviderInfo {
                name,
                processors: 1,
                first_processor: cast.providers.len() as u32,
                speed,
                scheduler: policy.clone(),
            });
        }
        let (name, resources) = (site.name.to_string(), site.resources);
        cast.sites.push(SiteInfo { name, resources });
    }
    cast.actors.push(actor(grid.name.as_str(), ActorKind::Metascheduler));
    let services = GridPlan::services(grid.storage.is_some()).into_iter().skip(1);
    cast.actors.extend(services.map(|it| actor(&format!("({it})"), ActorKind::Service)));
}
