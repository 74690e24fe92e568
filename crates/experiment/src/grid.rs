//! From the `[grid]` of a scenario to the plan of a grid.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use haggle_agents::grid::{
    BackgroundLoad, Delay, GridPlan, JobData, Overflow, PlannedResource, StorageLimits,
};
use haggle_agents::protocol::GridTimer;
use haggle_agents::{Message, Routes, Seats, Timer};
use haggle_grids::{ResourceId, Share as Part, Sharing, SiteId};
use haggle_model::network::{Capacity, NetworkError, Path as DataPath, Star, StarParameters};
use haggle_model::random::stream;
use haggle_model::work::{Speed, Work};
use haggle_model::{ActorId, Span, Time};
use rand::RngExt;

use super::cast::{SUBMITTED, submits};
use super::checkpoints;
use super::workflows::{self, Workflows};
use super::world::StageError;
use haggle_scenario::quantity::{Name, Share};
use haggle_scenario::{Scenario, file, grid_initial_number};

/// The plan of the grid of `scenario`; `flows` include its workflows. All of its resources work at
/// time zero.
///
/// # Errors
/// If its network is impossible, or it names an unknown rule.
pub(super) fn plan(
    scenario: &Scenario,
    grid: &file::Grid,
    flows: &Workflows,
) -> Result<GridPlan, StageError> {
    let seed = scenario.scenario.seed;
    let resources: Vec<PlannedResource> = all_resources(seed, grid).collect();
    Ok(GridPlan {
        seed,
        resources,
        policy: grid.scheduler(&scenario.own)?,
        preference: grid.policy.prefers(),
        period: grid.period.0,
        query: grid.query.0,
        schedule: grid.schedule.0,
        delay: match grid.information.mode {
            file::InformationMode::Immediate => Delay::None,
            file::InformationMode::Periodic => Delay::Periodic(grid.information.delay.0),
            file::InformationMode::Delayed => Delay::Random(grid.information.delay.0),
        },
        data: scenario
            .workloads
            .iter()
            .map(data)
            .chain(scenario.start_state_owners().map(|_| without_data()))
            // The jobs that changes submit are the last workload.
            .chain(further_jobs(scenario))
            .collect(),
        workflows: workflows::of_grid(scenario, flows),
        checkpoints: match &grid.checkpoints {
            Some(it) => Some(checkpoints::on_grid(it, &scenario.own)?),
            None => None,
        },
        prepare: grid.prepare.0,
        output_survives: grid.output == file::OutputFate::Survives,
        cancel_mode: grid.policy.cancel_mode(),
        restart_needs_input: grid.restart_needs_input,
        disclosure: grid.disclosure(),
        overflow: grid.overflow.as_ref().map(|it| overflow(scenario, it)),
        running: running(grid),
        routes: routes(&grid.network, &grid.sites, seed)?,
        link_sharing: grid.network.sharing,
        storage: grid.storage.map(|storage| StorageLimits {
            capacity: storage.capacity.0,
            kept: storage.kept.map(|kept| kept.0),
        }),
        records_all: scenario.results.checkpoints,
        alone: true,
    })
}

/// Messages in transit when the run begins: the first change of each load.
pub(super) fn initial(plan: &GridPlan, seats: Seats) -> Vec<(Time, ActorId, Message)> {
    let first = |(id, resource): (u32, &PlannedResource)| {
        let period = resource.load?.period?;
        let message = Message::Wake(Timer::Grid(GridTimer::LoadChanges));
        Some((Time::ZERO + period, seats.place(id), message))
    };
    (0..).zip(&plan.resources).filter_map(first).collect()
}

/// The resources of a grid, in the order of its sites.
fn all_resources(seed: u64, grid: &file::Grid) -> impl Iterator<Item = PlannedResource> {
    let sites = (0..).map(SiteId).zip(&grid.sites);
    sites.flat_map(move |(id, site)| site_resources(seed, id, site))
}

/// The resources of running jobs of the start state, by the numbers of these jobs.
fn running(grid: &file::Grid) -> BTreeMap<i64, ResourceId> {
    let jobs = grid.initial.iter().flatten().enumerate();
    let resources = jobs.filter_map(|(place, job)| {
        let (_, resource) = grid.resource(job.resource.as_ref()?.as_str())?;
        Some((grid_initial_number(place, job), ResourceId(resource)))
    });
    resources.collect()
}

/// The speed that jobs of the grid find at time zero on the resources where some run, MIPS.
pub(super) fn speeds_of_running(seed: u64, grid: &file::Grid) -> BTreeMap<String, f64> {
    let names: BTreeSet<&str> = grid
        .initial
        .iter()
        .flatten()
        .filter_map(|it| Some(it.resource.as_ref()?.as_str()))
        .collect();
    if names.is_empty() {
        return BTreeMap::new();
    }
    let resources = all_resources(seed, grid).filter(|it| names.contains(it.name.as_str()));
    let mips = |it: &PlannedResource| {
        let load = it.load.map_or(0.0, |load| speed(load.initial));
        speed(it.capacity) - load
    };
    resources.map(|it| (it.name.clone(), mips(&it))).collect()
}

fn site_resources(
    seed: u64,
    id: SiteId,
    site: &file::Site,
) -> impl Iterator<Item = PlannedResource> {
    let sharing = match (site.sharing, site.slots()) {
        (file::Sharing::Reserved, slots) => Sharing::Reserved { slots },
        // Only reserved shares may have no limit of slots.
        (file::Sharing::Equal, slots) => Sharing::Equal { slots: slots.unwrap_or(1) },
    };
    site.resource_names().map(move |name| {
        let capacity = capacity(seed, site, &name);
        let load = site.load.map(|load| {
            let shares = (load.initial_min.fraction(), load.initial_max.fraction());
            let mut draws = stream(seed, &name, "initial load");
            BackgroundLoad {
                initial: BackgroundLoad::draw(capacity, shares, &mut draws),
                period: load.period.map(|period| period.0),
                change: (load.change_min.fraction(), load.change_max.fraction()),
            }
        });
        PlannedResource { name, site: id, capacity, sharing, up: true, load }
    })
}

/// Data of the jobs that changes submit, if there are any.
fn further_jobs(scenario: &Scenario) -> Option<JobData> {
    submits(scenario).then(|| data(&file::Workload::named(Name::like(SUBMITTED))))
}

/// Jobs of a start state have no input and no output.
fn without_data() -> JobData {
    JobData { checkpoint: file::Data::default().checkpoint.0, ..JobData::default() }
}

fn data(workload: &file::Workload) -> JobData {
    let file::Data { input, output, checkpoint } = workload.data.unwrap_or_default();
    let share = workload.share.map_or(Part::WHOLE, Share::reserved);
    JobData { input: input.0, output: output.0, checkpoint: checkpoint.0, share }
}

fn routes(
    network: &file::DataNetwork,
    sites: &[file::Site],
    seed: u64,
) -> Result<Routes, NetworkError> {
    let (bandwidth, latency) = (network.bandwidth.0, network.latency.0);
    match network.model {
        file::NetworkModel::Constant => {
            DataPath::constant(bandwidth, latency).map(Routes::Constant)
        }
        file::NetworkModel::Stars => {
            let parameters = StarParameters {
                sites: sites.iter().map(|site| site.resources as usize).collect(),
                // The storage and the checkpoint server.
                services: 2,
                lan_capacity: Capacity::Shared(bandwidth),
                service_capacity: network
                    .service_bandwidth
                    .map_or(Capacity::Unlimited, |rate| Capacity::Shared(rate.0)),
                lan_latency: latency,
                wan_capacity: Capacity::PerFlow(network.wan_bandwidth.0),
                wan_latency: network.wan_latency.to_model(),
            };
            Ok(Routes::Star(Arc::new(Star::new(&parameters, seed)?)))
        }
    }
}

/// Providers come first among all actors, and metaschedulers after all places.
fn overflow(scenario: &Scenario, overflow: &file::Overflow) -> Overflow {
    let provider = (0..).zip(&scenario.providers).find(|(_, it)| it.name == overflow.to);
    let metaschedulers = (scenario.places()..).zip(&scenario.metaschedulers);
    let metascheduler = metaschedulers.into_iter().find(|(_, it)| it.name == overflow.to);
    // By number, because the addresses of metaschedulers are not known yet.
    let number = provider.map(|it| it.0).or(metascheduler.map(|it| it.0));
    let to = ActorId(number.expect("whom jobs are passed on to has been checked"));
    Overflow { to, after: overflow.after.0 }
}

/// The whole capacity of a site's resources, for tables.
pub(super) fn speed(capacity: Speed) -> f64 {
    Work::as_mi_f64(capacity.over(Span::from_secs(1)))
}

/// The speed of each of a site's resources under a seed, MIPS.
pub fn speeds(seed: u64, site: &file::Site) -> Vec<f64> {
    site.resource_names().map(|name| speed(capacity(seed, site, &name))).collect()
}

/// The whole capacity of one of a site's resources.
pub(super) fn capacity(seed: u64, site: &file::Site, resource: &str) -> Speed {
    let mips = match site.mips_max.filter(|&max| max > site.mips) {
        // A stream of each resource, so that another one changes no speed.
        Some(max) => stream(seed, resource, "speed").random_range(site.mips..=max),
        None => site.mips,
    };
    Speed::from_micro_mips((mips * 1e6).round() as u64)
}
