//! Names of all actors, taken from a scenario before any file is opened.

use std::collections::BTreeSet;

use haggle_agents::grid::GridPlan;
use haggle_model::{ActorInfo, ActorKind, Cast, ProviderInfo, SiteInfo, Span};

use super::grid;
use super::plans::scheduler;
use super::transactions::acceptors;
use haggle_scenario::{Scenario, file, initial_name};

/// The actor that makes processors fail. A scenario cannot use this name.
const NATURE: &str = "(nature)";

/// The actor that sends clusters their loads. A scenario cannot use this name.
const UPDATES: &str = "(resource updates)";

/// The actor that moves data of tasks over shared links. A scenario cannot use this name. A grid's
/// own network is named "(network)".
const DATA_NETWORK: &str = "(data network)";

/// Words between a local scheduler and the next one of the same provider.
pub const CHANGED: &str = "; from ";

/// Words before the interval of a local scheduler, s.
const EVERY: &str = ", a pass every ";

/// Time between the passes of a local scheduler in words; `None` if it decides at each event.
pub(super) fn interval(scheduler: &str) -> Option<Span> {
    let (_, seconds) = scheduler.split_once(EVERY)?;
    seconds.strip_suffix(" s")?.parse().ok().map(Span::from_secs_f64)
}

/// The label of jobs that changes submit. A scenario cannot use this name.
pub(super) const SUBMITTED: &str = "(submitted)";

/// True if changes of the scenario submit jobs. Their workload is the last one, so that no other has another number: a run
/// and its branches share their beginning.
pub(super) fn submits(scenario: &Scenario) -> bool {
    scenario.changes.iter().any(|change| !change.submit.is_empty())
}

/// The workload of the jobs that run or wait on the grid at time zero, if they all stay there.
fn initial_on_grid(scenario: &Scenario) -> Option<u16> {
    let grid = scenario.grid_with_start_state().filter(|it| it.overflow.is_none())?;
    let place =
        scenario.workloads.len() + scenario.start_state_owners().position(|it| *it == grid.name)?;
    Some(u16::try_from(place).unwrap_or(u16::MAX))
}

/// Actors of a run of `scenario`, in the order of their numbers.
pub fn cast(scenario: &Scenario) -> Cast {
    let (directory, failing) = (scenario.directory(), failing(scenario));
    let mut cast = Cast {
        workloads: scenario
            .workloads
            .iter()
            .map(|it| it.name.to_string())
            .chain(scenario.start_state_owners().map(|it| initial_name(it.as_str())))
            .chain(submits(scenario).then(|| SUBMITTED.to_owned()))
            .collect(),
        on_grid: (0..)
            .zip(&scenario.workloads)
            .filter(|(_, workload)| directory.runs_on_grid(workload))
            .map(|(place, _)| place)
            .chain(initial_on_grid(scenario))
            .collect(),
        ..Cast::default()
    };
    // Places that run jobs come first, so that the number of a place is that of its actor.
    scenario.providers.iter().for_each(|it| {
        let scheduler = local_scheduler(scenario, it);
        let may_fail = failing.contains(it.name.as_str());
        add_place(&mut cast, it.name.to_string(), (it.processors, it.speed), scheduler, may_fail);
        let Some(place) = cast.providers.last_mut() else { return };
        place.may_preempt = it.may_preempt();
        if scenario.places_on_nodes(it) {
            place.nodes = Some(Box::new(it.nodes_to_model()));
        }
    });
    if let Some(plans) = &scenario.plans {
        add_clusters(&mut cast, scenario, plans);
    }
    if let Some(grid) = &scenario.grid {
        add_resources(&mut cast, scenario, grid);
    }
    let metaschedulers = scenario.metaschedulers.iter();
    cast.actors.extend(metaschedulers.map(|it| actor(it.name.as_str(), ActorKind::Metascheduler)));
    let acceptors = acceptors(scenario);
    cast.actors.extend(acceptors.iter().map(|it| actor(&it.name, ActorKind::Service)));
    if let Some(plans) = &scenario.plans {
        cast.actors.push(actor(plans.name.as_str(), ActorKind::Metascheduler));
        cast.actors.push(actor(UPDATES, ActorKind::Service));
    }
    if let Some(grid) = &scenario.grid {
        cast.actors.push(actor(grid.name.as_str(), ActorKind::Metascheduler));
        // The first service is the scheduler, which has the name of the grid.
        let services = GridPlan::services(grid.storage.is_some()).into_iter().skip(1);
        cast.actors.extend(services.map(|it| actor(&format!("({it})"), ActorKind::Service)));
    }
    let network = scenario.link_sharing().map(|_| actor(DATA_NETWORK, ActorKind::Service));
    cast.actors.extend(network);
    let users = scenario.users.iter().map(|user| actor(user.name.as_str(), ActorKind::User));
    cast.actors.extend(users);
    // The users of initial jobs come behind, so that no other user has another number.
    let initial = scenario.start_state_owners().map(|it| initial_name(it.as_str()));
    cast.actors.extend(initial.map(|name| actor(&name, ActorKind::User)));
    if scenario.all_processor_failures().next().is_some() {
        cast.actors.push(actor(NATURE, ActorKind::Nature));
    }
    cast
}

fn actor(name: &str, kind: ActorKind) -> ActorInfo {
    ActorInfo { name: name.to_owned(), kind }
}

/// The providers and clusters whose processors may fail, and the sites whose resources may.
fn failing(scenario: &Scenario) -> BTreeSet<&str> {
    scenario.all_processor_failures().flat_map(|it| &it.of).map(|it| it.as_str()).collect()
}

/// The local scheduler of a provider in words, with all changes. Readers of results may not have the own rules, so the
/// names of policies are stored.
fn local_scheduler(scenario: &Scenario, provider: &file::Provider) -> String {
    let words = |scenario: &Scenario, it: &file::Provider| {
        let scheduler = scenario.scheduling_of(it);
        let scheduler = scheduler.map_or_else(|it| it.to_string(), |it| it.to_string());
        match it.interval {
            Some(interval) => format!("{scheduler}{EVERY}{} s", interval.0),
            None => scheduler,
        }
    };
    let mut last = words(scenario, provider);
    let mut all = last.clone();
    for change in &scenario.changes {
        let Some(later) = change.scenario.as_deref() else { continue };
        let Some(it) = later.providers.iter().find(|it| it.name == provider.name) else { continue };
        let next = words(later, it);
        if next != last {
            all.push_str(&format!("{CHANGED}{}: {next}", change.at));
            last = next;
        }
    }
    all
}

fn add_place(
    cast: &mut Cast,
    name: String,
    (processors, speed): (u32, f64),
    scheduler: String,
    may_fail: bool,
) {
    let before = cast.providers.last();
    // Processors are numbered over all places, without gaps.
    let first_processor = before.map_or(0, |it| it.first_processor + it.processors);
    cast.actors.push(actor(&name, ActorKind::Provider));
    cast.providers.push(ProviderInfo {
        name,
        processors,
        first_processor,
        speed,
        scheduler,
        may_fail,
        may_preempt: false,
        nodes: None,
    });
}

fn add_clusters(cast: &mut Cast, scenario: &Scenario, plans: &file::Plans) {
    let failing = failing(scenario);
    for it in &plans.clusters {
        let scheduler = scheduler(plans.method).to_owned();
        let may_fail = failing.contains(it.name.as_str());
        add_place(cast, it.name.to_string(), (it.machines, it.speed), scheduler, may_fail);
    }
}

fn add_resources(cast: &mut Cast, scenario: &Scenario, grid: &file::Grid) {
    let failing = failing(scenario);
    let policy = grid.scheduler(&scenario.own);
    let policy = policy.map_or_else(|it| it.to_string(), |it| it.to_string());
    for site in &grid.sites {
        let may_fail = failing.contains(site.name.as_str());
        for name in site.resource_names() {
            let speed = grid::speed(grid::capacity(scenario.scenario.seed, site, &name));
            add_place(cast, name, (1, speed), policy.clone(), may_fail);
        }
        cast.sites.push(SiteInfo {
            name: site.name.to_string(),
            resources: site.resources,
            slots: site.slots(),
            reserved: site.sharing == file::Sharing::Reserved,
        });
    }
}
