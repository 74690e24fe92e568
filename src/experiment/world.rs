//! From a resolved scenario to a world of actors: the one place where the words
//! of a file become the types of the engine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use haggle_agents::{
    AnyActor, Disclosure, Metascheduler, MetaschedulerConfig, Overrun, Provider, ProviderConfig,
    User, UserConfig,
};
use haggle_model::random::stream;
use haggle_model::workload::{CleaningReport, SharedReport};
use haggle_model::{ActorId, ActorInfo, ActorKind, Cast, JobClass, ProviderId, ProviderInfo};
use haggle_runtime::world::Arrivals;
use haggle_runtime::{EventOrder, Network, World};
use haggle_scheduling::placement::Placement;
use haggle_scheduling::{Compression, Order, Policy, SchedulerConfig};

use super::workload::{WorkloadError, Workloads};
use crate::scenario::{Scenario, file};

/// A world ready to run, with the names that its tables need.
pub struct Stage {
    /// Actors, arrivals and network.
    pub world: World,
    /// Everybody's names.
    pub cast: Cast,
    /// What the rules do to each workload that a user submits; complete after the run.
    pub reports: Vec<(String, SharedReport)>,
    /// The logs that are read: as the scenario names them, and where they are.
    pub inputs: Vec<(String, PathBuf)>,
}

impl Stage {
    /// Builds the world of `scenario`, which has been checked and resolved and
    /// whose relative paths start from `folder`.
    ///
    /// # Errors
    /// If a workload cannot be opened.
    pub fn set(scenario: &Scenario, folder: &Path) -> Result<Stage, WorkloadError> {
        let seed = scenario.scenario.seed;
        let workloads = Workloads::new(scenario, folder, seed)?;
        let mut stage = Stage {
            world: World {
                actors: Vec::new(),
                arrivals: Vec::new(),
                network: Network::default(),
                order: event_order(scenario.scenario.events_order),
            },
            cast: Cast::default(),
            reports: Vec::new(),
            inputs: workloads.inputs(),
        };
        stage.cast.workloads = scenario.workloads.iter().map(|it| it.name.to_string()).collect();
        let mut addresses = BTreeMap::new();
        for provider in &scenario.providers {
            let id = stage.add_provider(provider);
            addresses.insert(provider.name.as_str(), id);
        }
        for metascheduler in &scenario.metaschedulers {
            let id = stage.add_metascheduler(metascheduler, seed, &addresses);
            addresses.insert(metascheduler.name.as_str(), id);
        }
        for user in &scenario.users {
            let id = stage.add_user(user, &workloads, &addresses)?;
            addresses.insert(user.name.as_str(), id);
        }
        stage.world.network = network(scenario, &addresses);
        Ok(stage)
    }

    fn add(&mut self, name: &file::Name, kind: ActorKind, actor: AnyActor) -> ActorId {
        let id = ActorId(self.world.actors.len() as u32);
        self.world.actors.push(actor);
        self.cast.actors.push(ActorInfo { name: name.to_string(), kind });
        id
    }

    fn add_provider(&mut self, provider: &file::Provider) -> ActorId {
        let config = ProviderConfig {
            id: ProviderId(self.cast.providers.len() as u32),
            processors: provider.processors,
            speed: provider.speed,
            scheduler: scheduler(provider),
            overrun: overrun(provider.overrun),
            disclosure: disclosure(provider.disclosure),
        };
        let before = self.cast.providers.last();
        self.cast.providers.push(ProviderInfo {
            name: provider.name.to_string(),
            processors: provider.processors,
            first_processor: before.map_or(0, |it| it.first_processor + it.processors),
            speed: provider.speed,
            scheduler: config.scheduler.to_string(),
        });
        let actor = AnyActor::Provider(Box::new(Provider::new(config)));
        self.add(&provider.name, ActorKind::Provider, actor)
    }

    fn add_metascheduler(
        &mut self,
        metascheduler: &file::Metascheduler,
        seed: u64,
        addresses: &BTreeMap<&str, ActorId>,
    ) -> ActorId {
        let config = MetaschedulerConfig {
            placement: placement(metascheduler.placement),
            providers: metascheduler.providers.iter().map(|it| addresses[it.as_str()]).collect(),
        };
        let stream = stream(seed, metascheduler.name.as_str(), "placement");
        let actor = AnyActor::Metascheduler(Box::new(Metascheduler::new(config, stream)));
        self.add(&metascheduler.name, ActorKind::Metascheduler, actor)
    }

    fn add_user(
        &mut self,
        user: &file::User,
        workloads: &Workloads,
        addresses: &BTreeMap<&str, ActorId>,
    ) -> Result<ActorId, WorkloadError> {
        let submits_to = addresses[user.submits_to.as_str()];
        let class = match self.cast.actors[submits_to.index()].kind {
            ActorKind::Provider => JobClass::Local,
            _ => JobClass::External,
        };
        let patience = user.patience.map(|patience| patience.0);
        let me = ActorId(self.world.actors.len() as u32);
        let config = UserConfig { me, submits_to, class, patience };
        self.add(&user.name, ActorKind::User, AnyActor::User(User::new(config)));
        let open = workloads.open(user.workload.as_str())?;
        self.reports.push((user.workload.to_string(), open.report));
        let arrivals: Arrivals = Box::new(open.jobs.map(|job| job.map_err(Into::into)));
        self.world.arrivals.push((me, arrivals));
        Ok(me)
    }
}

/// The reports of workloads on which a rule had something to do or to say.
pub fn notable(reports: &[(String, SharedReport)]) -> Vec<(String, CleaningReport)> {
    let snapshots = reports.iter().map(|(name, report)| (name.clone(), report.snapshot()));
    snapshots.filter(|(_, report)| !report.counts.is_empty()).collect()
}

/// Users are at the site of whom they submit to; every other actor has a site of its own.
fn network(scenario: &Scenario, addresses: &BTreeMap<&str, ActorId>) -> Network {
    let mut sites: Vec<u32> = (0..addresses.len() as u32).collect();
    for user in &scenario.users {
        sites[addresses[user.name.as_str()].index()] = addresses[user.submits_to.as_str()].0;
    }
    let site = |name: &file::Name| sites[addresses[name.as_str()].index()];
    let links: Vec<_> = scenario
        .network
        .links
        .iter()
        .map(|link| (site(&link.between[0]), site(&link.between[1]), link.latency.0))
        .collect();
    let mut network = Network::new(scenario.network.latency.0, sites);
    for (a, b, latency) in links {
        network.link(a, b, latency);
    }
    network
}

fn event_order(order: file::EventsOrder) -> EventOrder {
    match order {
        file::EventsOrder::SubmissionsFirst => EventOrder::SubmissionsFirst,
        file::EventsOrder::CompletionsFirst => EventOrder::CompletionsFirst,
    }
}

fn scheduler(provider: &file::Provider) -> SchedulerConfig {
    SchedulerConfig {
        policy: match provider.policy {
            file::Policy::Fcfs => Policy::Fcfs,
            file::Policy::Easy => Policy::Easy,
            file::Policy::Conservative => Policy::Conservative,
        },
        order: match provider.order {
            file::Order::Arrival => Order::Arrival,
            file::Order::Shortest => Order::Shortest,
            file::Order::Largest => Order::Largest,
            file::Order::Key => Order::Key,
        },
        compression: match provider.compression {
            file::Compression::ByStart => Compression::ByStart,
            file::Compression::JobByJob => Compression::JobByJob,
            file::Compression::Replan => Compression::Replan,
            file::Compression::None => Compression::None,
        },
    }
}

fn overrun(overrun: file::Overrun) -> Overrun {
    match overrun {
        file::Overrun::Kill => Overrun::Kill,
        file::Overrun::Extend => Overrun::Extend,
    }
}

fn disclosure(level: file::Disclosure) -> Disclosure {
    match level {
        file::Disclosure::Offers => Disclosure::Offers,
        file::Disclosure::Power => Disclosure::Power,
        file::Disclosure::Load => Disclosure::Load,
        file::Disclosure::Slots => Disclosure::Slots,
        file::Disclosure::Queue => Disclosure::Queue,
    }
}

fn placement(placement: file::Placement) -> Placement {
    match placement {
        file::Placement::MinimumCompletionTime => Placement::MinimumCompletionTime,
        file::Placement::RoundRobin => Placement::RoundRobin,
        file::Placement::Random => Placement::Random,
        file::Placement::LeastLoaded => Placement::LeastLoaded,
        file::Placement::NextFit => Placement::NextFit,
    }
}
