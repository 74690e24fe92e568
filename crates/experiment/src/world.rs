//! From a resolved scenario to a world of actors. Here the words of a file become the types of the
//! engine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use haggle_agents::grid::GridPlan;
use haggle_agents::{
    Acceptor, AnyActor, Bargaining, CheckpointStore, Coallocator, CoallocatorConfig, DataWays,
    Estimates, Maintenance, Message, Metascheduler, MetaschedulerConfig, Nature, Negotiator,
    NegotiatorConfig, Provider, ProviderConfig, Reallocator, ReallocatorConfig, Timer, Transaction,
    Transactor, TransactorConfig, User, UserConfig,
};
use haggle_model::network::NetworkError;
use haggle_model::random::stream;
use haggle_model::{ActorId, ActorKind, Cast, JobClass, ProcessorSet, ProviderId, Span, Time};
use haggle_runtime::network::{Crashes, EVERYWHERE, Partition};
use haggle_runtime::{Arrivals, Blueprint, Network, Outages, World};
use haggle_scheduling::MAX_ATTEMPTS;
use haggle_scheduling::composition::{CompositionOptions, CompositionPolicy};
use haggle_scheduling::own::NoSuchRule;
use haggle_scheduling::reallocation::{Algorithm, MoveCost, Rule};
use haggle_workloads::{CleaningReport, SharedReport, WallClock, WatchedStep};

use super::cast::cast;
use super::changes::{Changes, Read};
use super::data;
use super::failures::{Failing, FailuresError, Node, failing};
use super::grid;
use super::maintenance::maintenance;
use super::mapping;
use super::memory::{NoRoom, RESOURCE_BYTES, room_for};
use super::plans;
use super::reservations;
use super::resuming;
use super::seating::{Address, Seating};
use super::transactions::{acceptors, transacting, transactions};
use super::workflows::{self, Workflows};
use super::workload::{WorkloadError, Workloads};
use haggle_scenario::file::Remapping;
use haggle_scenario::quantity::{Name, Share};
use haggle_scenario::{Scenario, WorkflowsError, file, initial_name};

/// A world ready to run, with the names that its tables need.
pub struct Stage {
    /// Actors, arrivals and network.
    pub world: World,
    /// Names of all actors.
    pub cast: Cast,
    /// Changes that the cleaning rules make to each log; complete after the run.
    pub reports: Vec<(String, SharedReport)>,
    /// Logs that are read: names in the scenario, and paths.
    pub inputs: Vec<(String, PathBuf)>,
    /// Changes that the steps of the workloads make; complete after the run.
    pub steps: Vec<WatchedStep>,
    /// Clocks of these logs; correct after the run.
    pub clocks: Vec<Option<WallClock>>,
    /// Settings without effect that are known before the run.
    pub warnings: Vec<String>,
    /// Workflows whose files name their tasks.
    pub(crate) named: Workflows,
}

/// The actors of clusters, or of a grid.
#[derive(Default)]
struct Part {
    /// Actors that run jobs.
    places: Vec<AnyActor>,
    /// Actors whose numbers follow those of all places.
    services: Vec<AnyActor>,
    /// Name and actor to which users submit.
    takes_jobs: Option<(String, ActorId)>,
    /// Messages in transit when the run begins.
    initial: Vec<(Time, ActorId, Message)>,
}

/// Reason why there is no world.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A workload cannot be opened.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The times of failures cannot be read.
    #[error(transparent)]
    Failures(#[from] FailuresError),
    /// The memory does not suffice.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    /// The loads of clusters cannot be read.
    #[error(transparent)]
    Loads(#[from] plans::LoadsError),
    /// A speed or a load of a cluster is impossible.
    #[error("plans: {0}")]
    Cluster(#[from] haggle_planning::ClusterError),
    /// A workflow cannot be built.
    #[error(transparent)]
    Workflows(#[from] WorkflowsError),
    /// The network of a grid is impossible.
    #[error("grid: {0}")]
    Grid(#[from] NetworkError),
    /// The scenario names an own rule that is not registered.
    #[error(transparent)]
    Rule(#[from] NoSuchRule),
}

impl Stage {
    /// Builds the world of `scenario`, which must be checked and resolved. Its relative paths start
    /// from `folder`.
    ///
    /// # Errors
    /// If a workload or recorded failures cannot be opened.
    pub fn set(scenario: &Scenario, folder: &Path) -> Result<Stage, StageError> {
        let seed = scenario.scenario.seed;
        let workloads = Workloads::new(scenario, folder, seed)?;
        let mut stage = Stage {
            world: World {
                horizon: scenario.scenario.horizon.map(|horizon| Time::ZERO + horizon.0),
                order: scenario.scenario.events_order,
                ..World::default()
            },
            cast: cast(scenario),
            reports: Vec::new(),
            inputs: workloads.inputs(),
            steps: Vec::new(),
            clocks: Vec::new(),
            warnings: Vec::new(),
            named: Workflows::new(),
        };
        let seating = Seating::of(scenario);
        let mut addresses: BTreeMap<String, ActorId> = BTreeMap::new();
        let protocols = transactions(scenario, scenario.latency_max());
        let data_places = data::Places::of(scenario);
        // Actors are added in the order of `cast`, which has their names by number.
        let directory = scenario.directory();
        let reserved = directory.asked_for_windows();
        for (id, provider) in (0..).map(ProviderId).zip(&scenario.providers) {
            let store = data_places.store(scenario, provider, seating.network);
            let id = stage.add_provider(id, provider, scenario, (&protocols, store, &reserved))?;
            addresses.insert(provider.name.to_string(), id);
        }
        let flows = workflows::all(scenario, folder)?;
        let clusters = stage.clusters(scenario, &seating, folder, &flows)?;
        stage.named = workflows::named(scenario, &flows);
        // Only the parts are built here: their services have numbers behind those of all places.
        let (resources, outages) = stage.resources(scenario, &seating, folder, &flows)?;
        let places = clusters.places.into_iter().chain(resources.places);
        places.for_each(|it| stage.world.actors.push(it));
        addresses.extend(clusters.takes_jobs.into_iter().chain(resources.takes_jobs));
        for (metascheduler, protocol) in scenario.metaschedulers.iter().zip(&protocols) {
            let protocol = protocol.clone();
            let around = (&addresses, seating.network);
            let id = stage.add_metascheduler(metascheduler, protocol, scenario, around)?;
            addresses.insert(metascheduler.name.to_string(), id);
        }
        for it in acceptors(scenario) {
            let id = stage.add_acceptor(protocols[it.metascheduler].clone());
            addresses.insert(it.name, id);
        }
        let services = clusters.services.into_iter().chain(resources.services);
        services.for_each(|it| stage.world.actors.push(it));
        if let Some(sharing) = scenario.link_sharing() {
            let network = data_places.network(scenario, sharing);
            let id = stage.add(AnyActor::DataNetwork(Box::new(network)));
            assert_eq!(seating.network, Some(id), "whom metaschedulers ask is there");
        }
        stage.world.initial.extend(clusters.initial.into_iter().chain(resources.initial));
        let directory = scenario.directory();
        for user in &scenario.users {
            let flows = workflows::kept_by(scenario, &directory, &flows, user);
            let id = stage.add_user(user, flows, &workloads, (scenario, &addresses))?;
            addresses.insert(user.name.to_string(), id);
        }
        stage.warnings.extend_from_slice(workloads.warnings());
        for owner in scenario.start_state_owners() {
            let name = Name::like(&initial_name(owner.as_str()));
            let user = file::User::named(name.clone(), name, owner.clone());
            stage.add_user(&user, Workflows::new(), &workloads, (scenario, &addresses))?;
            addresses.insert(user.name.to_string(), ActorId(stage.world.actors.len() as u32 - 1));
        }
        // Jobs of a start state precede those of the same instant.
        let states = scenario.start_state_owners().count();
        stage.world.arrivals.rotate_right(states);
        // After all users, because each of them is at the site of its receiver.
        stage.world.network = network(scenario, &stage.cast, &addresses, &seating);
        // Last, so that no other actor has another number because something may fail.
        stage.add_nature(outages);
        stage.add_crashes(scenario, folder, &addresses)?;
        stage.add_changes(scenario, folder)?;
        Ok(stage)
    }

    /// Adds the changes while the run goes on.
    fn add_changes(&mut self, scenario: &Scenario, folder: &Path) -> Result<(), StageError> {
        let Changes { all, inputs, read, warnings } =
            Changes::of(scenario, folder, &self.world.actors)?;
        self.world.changes = all;
        let known = |input: &(String, PathBuf)| !self.inputs.contains(input);
        let more = Vec::from_iter(inputs.into_iter().filter(known));
        self.inputs.extend(more);
        self.warnings.extend(warnings);
        // The workloads that are read to their ends count.
        if let Some(Read { reports, steps, clocks }) = read {
            (self.reports, self.steps, self.clocks) = (reports, steps, clocks);
        }
        Ok(())
    }

    /// Adds the next actor of this name. With debug assertions, an actor that crashes is built anew
    /// at its restart. Its state must then follow from the messages that it has received.
    fn add_anew(
        &mut self,
        name: &file::Name,
        scenario: &Scenario,
        new: impl Fn() -> AnyActor + Send + 'static,
    ) -> ActorId {
        let id = self.add(new());
        if cfg!(debug_assertions) && scenario.crashing().any(|it| it == name) {
            self.world.blueprints.insert(id, Blueprint::new(new));
        }
        id
    }

    /// Adds the next actor; its name is in [`cast`].
    fn add(&mut self, actor: AnyActor) -> ActorId {
        let id = ActorId(self.world.actors.len() as u32);
        self.world.actors.push(actor);
        id
    }

    fn add_provider(
        &mut self,
        id: ProviderId,
        provider: &file::Provider,
        scenario: &Scenario,
        (protocols, store, reserved): (
            &[Option<Transaction>],
            Option<CheckpointStore>,
            &BTreeSet<&str>,
        ),
    ) -> Result<ActorId, NoSuchRule> {
        let seed = scenario.scenario.seed;
        let config = ProviderConfig {
            id,
            processors: provider.processors,
            speed: provider.speed,
            scheduler: {
                let plain = scenario.scheduling_of(provider)?;
                // A plain queue knows no parts and windows, so the same rules are carried out by a queue that books them.
                let books =
                    reserved.contains(provider.name.as_str()) || takes_parts(provider, scenario);
                if books { plain.around_parts() } else { plain }
            },
            passes: provider.passes,
            interval: provider.interval.map(|interval| interval.0),
            overrun: provider.overrun,
            on_failure: resuming::on_failure(scenario, provider)?,
            store,
            max_attempts: provider.max_attempts.unwrap_or(MAX_ATTEMPTS),
            disclosure: provider.disclosure,
            bargaining: bargaining(provider, scenario)?,
            reserving: reservations::reserving(provider),
            // In millionths; by default all is published.
            publishes: provider.publishes.map_or(1_000_000, Share::millionths),
            machine: mapping::machine(provider),
            maintenance: maintenance(scenario, provider),
            repeating: repeating(provider, scenario),
            transacting: transacting(ActorId(id.0), provider, scenario, protocols),
            real: false,
        };
        // Before the provider is added: its number is the next one.
        self.announce(&config.maintenance);
        let stream = stream(seed, provider.name.as_str(), "offers");
        let new = move || Provider::new(config.clone(), stream.clone());
        Ok(self.add_anew(&provider.name, scenario, move || AnyActor::Provider(Box::new(new()))))
    }

    /// Schedules the announcements of maintenance for the next actor, a provider.
    fn announce(&mut self, windows: &[Maintenance]) {
        let to = ActorId(self.world.actors.len() as u32);
        let announcements = (0..).zip(windows).map(|(number, window)| {
            let timer = Timer::MaintenanceAnnounced { number };
            (window.announced, to, Message::Wake(timer))
        });
        self.world.initial.extend(announcements);
    }

    /// Adds the actor that makes processors fail, if any can.
    fn add_nature(&mut self, outages: Option<(Nature, Outages)>) {
        if let Some((nature, mut outages)) = outages {
            outages.nature = self.add(AnyActor::Nature(nature));
            self.world.outages = Some(outages);
        }
    }

    /// Schedules crashes and restarts of actors. For the source of failures, each actor is an owner
    /// of one member.
    fn add_crashes(
        &mut self,
        scenario: &Scenario,
        folder: &Path,
        addresses: &BTreeMap<String, ActorId>,
    ) -> Result<(), FailuresError> {
        let crashing = Vec::from_iter(scenario.crashing().map(file::Name::as_str));
        let owners = Vec::from_iter(crashing.iter().map(|&name| (name, 1)));
        let actors = Vec::from_iter(crashing.iter().map(|&name| addresses[name]));
        let tables =
            // Other tables make processors fail, not actors.
            Vec::from_iter(scenario.failures.iter().filter(|it| it.actors.is_some()).cloned());
        let (seed, horizon) = (scenario.scenario.seed, scenario.scenario.horizon.map(|it| it.0));
        let Some(failing) = failing(&tables, &owners, |_| &[], folder, seed, horizon)? else {
            return Ok(());
        };
        let actors = Vec::from_iter(failing.nodes.iter().map(|node| actors[node.owner]));
        let end = horizon.map_or(Time::FOREVER, |horizon| Time::ZERO + horizon);
        let (count, outages) = (actors.len() as u64, failing.outages);
        let due = outages.map(move |(node, outage)| (actors[node], outage));
        // The network reads crashes ahead, and a law never ends.
        let due = due.take_while(move |(_, outage)| outage.fail <= end);
        self.world.network.crashes(Crashes::new(count, Box::new(due)));
        Ok(())
    }

    /// The clusters over which applications are rescheduled, and their metascheduler.
    fn clusters(
        &mut self,
        scenario: &Scenario,
        seating: &Seating,
        folder: &Path,
        flows: &Workflows,
    ) -> Result<Part, StageError> {
        let Some(plans) = &scenario.plans else { return Ok(Part::default()) };
        let flows = workflows::of_plans(scenario, flows);
        let (config, input) = plans::plans(scenario.scenario.seed, plans, folder, flows)?;
        self.inputs.extend(input);
        let built = config.actors(seating.clusters)?;
        Ok(Part {
            places: built.places,
            services: built.services,
            takes_jobs: Some((plans.name.to_string(), built.rescheduler)),
            initial: built.initial,
        })
    }

    /// The grid, and the failures of the whole world. Resources that are down when the run begins
    /// start in that state.
    fn resources(
        &mut self,
        scenario: &Scenario,
        seating: &Seating,
        folder: &Path,
        flows: &Workflows,
    ) -> Result<(Part, Option<(Nature, Outages)>), StageError> {
        let mut plan = match &scenario.grid {
            None => None,
            Some(grid) => {
                room_for(seating.resources.places as usize, "resources", RESOURCE_BYTES)?;
                Some((grid, grid::plan(scenario, grid, flows)?))
            }
        };
        let planned = plan.as_mut().map(|(_, plan)| plan);
        let outages = self.outages(scenario, seating, folder, planned)?;
        let Some((grid, plan)) = plan else { return Ok((Part::default(), outages)) };
        let built = plan.actors(seating.resources);
        let part = Part {
            places: built.places,
            services: built.services,
            takes_jobs: Some((grid.name.to_string(), built.dispatcher)),
            initial: grid::initial(&plan, seating.resources),
        };
        Ok((part, outages))
    }

    /// Failures of providers, clusters and sites.
    fn outages(
        &mut self,
        scenario: &Scenario,
        seating: &Seating,
        folder: &Path,
        mut plan: Option<&mut GridPlan>,
    ) -> Result<Option<(Nature, Outages)>, FailuresError> {
        let seed = scenario.scenario.seed;
        let horizon = scenario.scenario.horizon.map(|horizon| horizon.0);
        let tables = Vec::from_iter(scenario.processor_failures().cloned());
        let owners = scenario.owners();
        let stated: BTreeMap<&str, &[file::Node]> =
            scenario.providers.iter().map(|it| (it.name.as_str(), &it.nodes[..])).collect();
        let own_nodes = |name: &str| stated.get(name).copied().unwrap_or(&[]);
        let Some(failing) = failing(&tables, &owners, own_nodes, folder, seed, horizon)? else {
            return Ok(None);
        };
        let Failing { nodes, mut outages, inputs, warnings } = failing;
        self.inputs.extend(inputs);
        self.warnings.extend(warnings);
        let addresses = seating.addresses(&owners);
        let members = |node: &Node| {
            let Node { owner, members } = node;
            match addresses[*owner] {
                // Each resource of a site is an actor with a processor.
                Address::Each(first) => {
                    let one = |member| (ActorId(first + member), ProcessorSet::range(0, 1));
                    members.clone().map(one).collect()
                }
                Address::One(actor) => {
                    let count = members.end - members.start;
                    vec![(actor, ProcessorSet::range(members.start, count))]
                }
            }
        };
        let mut begun = Vec::new();
        // Outages at the start come first. The first later one is read to find their end, and is kept.
        for (node, outage) in outages.by_ref() {
            begun.push((node, outage));
            if !outage.is_down_at_start() {
                break;
            }
            for (actor, _) in members(&nodes[node]) {
                let number = seating.resources.number(ProviderId(actor.0));
                if let Some((number, plan)) = number.zip(plan.as_deref_mut()) {
                    plan.resources[number as usize].up = false;
                }
            }
        }
        let nature = Nature::new(nodes.iter().map(members).collect());
        let mut named = BTreeSet::new();
        let again = tables.iter().flat_map(|table| &table.of).any(|owner| !named.insert(owner));
        // Failures of a change may come beside others of the same processors.
        let nature = if again { nature.overlapping() } else { nature };
        let due = Box::new(begun.into_iter().chain(outages));
        let resources = nodes.len() as u64;
        // The number of nature is unknown until all other actors have theirs.
        Ok(Some((nature, Outages { nature: ActorId(0), resources, due })))
    }

    fn add_metascheduler(
        &mut self,
        metascheduler: &file::Metascheduler,
        transaction: Option<Transaction>,
        scenario: &Scenario,
        (addresses, network): (&BTreeMap<String, ActorId>, Option<ActorId>),
    ) -> Result<ActorId, NoSuchRule> {
        let providers = metascheduler.providers.iter().map(|it| addresses[it.as_str()]).collect();
        // The tables of a metascheduler exclude each other, which the checks of the scenario ensure.
        if let Some(policy) = &metascheduler.composition {
            // The number that the actor gets when it is added.
            let me = ActorId(self.world.actors.len() as u32);
            let policy = policy.among(&scenario.own.compositions)?;
            let config = negotiator(me, metascheduler, policy, providers, scenario);
            let new = move || AnyActor::Negotiator(Box::new(Negotiator::new(config.clone())));
            return Ok(self.add_anew(&metascheduler.name, scenario, new));
        }
        // Before `coallocation`, which such a metascheduler has, too.
        if let Some((how, transaction)) = metascheduler.transaction().zip(transaction) {
            let how = (how.0, how.1, transaction);
            return Ok(self.add_transactor(&metascheduler.name, how, providers, scenario));
        }
        if let Some(coallocation) = &metascheduler.coallocation {
            let Remapping { remap, remappable } = coallocation.policy.remapping();
            let me = ActorId(self.world.actors.len() as u32);
            let speed = speed(&providers, scenario);
            let config = CoallocatorConfig {
                me,
                providers,
                moves: coallocation.policy.moves(),
                remappable: remappable.millionths(),
                fill: coallocation.fill,
                part_min: coallocation.part_min,
                parts: coallocation.parts,
                choice: remap,
                requests: coallocation.requests,
                overhead: coallocation.overhead.to_model(),
                overhead_max: coallocation.overhead_max,
                trials: coallocation.trials,
                retry: coallocation.retry.map(|retry| retry.0),
                resends: resends(scenario),
                may_break: may_break(metascheduler, scenario),
                max_attempts: attempts(metascheduler, scenario),
                speed,
                latency_max: scenario.latency_max(),
                seed: scenario.scenario.seed,
                mapping: None,
            };
            return Ok(self.add(AnyActor::Coallocator(Box::new(Coallocator::new(config)))));
        }
        if let Some(mapping) = &metascheduler.mapping {
            let me = ActorId(self.world.actors.len() as u32);
            let mapped = mapping::mapped(mapping, metascheduler, scenario);
            let latency_max = scenario.latency_max();
            let seed = scenario.scenario.seed;
            let config = mapping::mapper(me, (mapping, mapped), providers, latency_max, seed);
            return Ok(self.add(AnyActor::Coallocator(Box::new(Coallocator::new(config)))));
        }
        if let Some(reallocation) = metascheduler.reallocation {
            let config = reallocator(reallocation, providers);
            let new = move || AnyActor::Reallocator(Box::new(Reallocator::new(config.clone())));
            return Ok(self.add_anew(&metascheduler.name, scenario, new));
        }
        let me = ActorId(self.world.actors.len() as u32);
        let config = MetaschedulerConfig {
            me,
            placement: metascheduler.placement.among(&scenario.own.placements)?,
            providers,
            ways: match network {
                Some(network) => DataWays::Shared(network),
                None => data::apart(scenario, addresses, (metascheduler.name.as_str(), me)),
            },
        };
        let seed = scenario.scenario.seed;
        let stream = stream(seed, metascheduler.name.as_str(), "placement");
        let new = move || Metascheduler::new(config.clone(), stream.clone());
        let new = move || AnyActor::Metascheduler(Box::new(new()));
        Ok(self.add_anew(&metascheduler.name, scenario, new))
    }

    /// A metascheduler that books the parts of jobs by a protocol.
    fn add_transactor(
        &mut self,
        name: &Name,
        (protocol, coallocation, transaction): (&file::Protocol, &file::Coallocation, Transaction),
        providers: Vec<ActorId>,
        scenario: &Scenario,
    ) -> ActorId {
        let me = self.world.actors.len();
        let (speed, seed) = (speed(&providers, scenario), scenario.scenario.seed);
        let config = TransactorConfig {
            me: ActorId(me as u32),
            providers,
            transaction,
            window: protocol.window().0,
            urgent: protocol.urgent(),
            trials: coallocation.trials,
            back_off: coallocation.back_off().model(),
            overhead: coallocation.overhead.to_model(),
            overhead_max: coallocation.overhead_max,
            speed,
            latency_max: scenario.latency_max(),
            seed,
        };
        let stream = stream(seed, name.as_str(), "back-off");
        let new = move || Transactor::new(config.clone(), stream.clone());
        self.add_anew(name, scenario, move || AnyActor::Transactor(Box::new(new())))
    }

    /// An acceptor, which stores votes.
    fn add_acceptor(&mut self, transaction: Option<haggle_agents::Transaction>) -> ActorId {
        let me = ActorId(self.world.actors.len() as u32);
        let transaction = transaction.expect("whose acceptors these are has a protocol");
        self.add(AnyActor::Acceptor(Box::new(Acceptor::new(me, &transaction))))
    }

    fn add_user(
        &mut self,
        user: &file::User,
        workflows: Workflows,
        workloads: &Workloads,
        (scenario, addresses): (&Scenario, &BTreeMap<String, ActorId>),
    ) -> Result<ActorId, WorkloadError> {
        let submits_to = addresses[user.submits_to.as_str()];
        let class = match self.cast.actors[submits_to.index()].kind {
            ActorKind::Provider => JobClass::Local,
            _ => JobClass::External,
        };
        let patience = user.patience.map(|patience| patience.0);
        let me = ActorId(self.world.actors.len() as u32);
        let config = UserConfig { me, submits_to, class, patience, workflows };
        let new = move || AnyActor::User(Box::new(User::new(config.clone())));
        self.add_anew(&user.name, scenario, new);
        let open = workloads.open(user.workload.as_str())?;
        self.reports.extend(open.logs);
        self.steps.extend(open.effects);
        self.clocks.extend(open.clocks);
        let arrivals: Arrivals = Box::new(open.jobs.map(|job| job.map_err(Into::into)));
        self.world.arrivals.push((me, arrivals));
        Ok(me)
    }
}

/// Reports of the workloads in which a rule changed or found something.
pub fn notable(reports: &[(String, SharedReport)]) -> Vec<(String, CleaningReport)> {
    let snapshots = reports.iter().map(|(name, report)| (name.clone(), report.snapshot()));
    snapshots.filter(|(_, report)| !report.counts.is_empty()).collect()
}

/// Sites of the actors. A user is at the site of its receiver. A grid is one site, and so are all
/// clusters. The actor that moves data of tasks is at every site. Every other actor has its own
/// site.
fn network(
    scenario: &Scenario,
    cast: &Cast,
    addresses: &BTreeMap<String, ActorId>,
    seating: &Seating,
) -> Network {
    let mut sites: Vec<u32> = (0..cast.actors.len() as u32).collect();
    seating.together().for_each(|(member, site)| sites[member as usize] = site);
    if let Some(network) = seating.network {
        sites[network.index()] = EVERYWHERE;
    }
    // After all other sites, because a receiver may share one.
    for user in &scenario.users {
        sites[addresses[user.name.as_str()].index()] =
            sites[addresses[user.submits_to.as_str()].index()];
    }
    for owner in scenario.start_state_owners() {
        let name = initial_name(owner.as_str());
        sites[addresses[&name].index()] = sites[addresses[owner.as_str()].index()];
    }
    let site = |name: &file::Name| sites[addresses[name.as_str()].index()];
    let links: Vec<_> = scenario
        .network
        .links
        .iter()
        // A storage is no actor and receives no messages.
        .filter(|link| link.between.iter().all(|end| addresses.contains_key(end.as_str())))
        .map(|link| (site(&link.between[0]), site(&link.between[1]), link.latency.0))
        .collect();
    let parted = scenario.network.partitions.iter();
    let partitions: Vec<_> = parted.map(|it| partition(it, site)).collect();
    let mut network = Network::new(scenario.network.latency.0, sites);
    for (a, b, latency) in links {
        network.link(a, b, latency);
    }
    partitions.into_iter().for_each(|it| network.part(it));
    let seed = scenario.scenario.seed;
    let names = cast.actors.iter().map(|actor| actor.name.as_str());
    let streams = |purpose| names.clone().map(|name| stream(seed, name, purpose)).collect();
    let file::Network { jitter, reordering, loss, duplication, .. } = &scenario.network;
    network.jitter(jitter.0, streams("jitter"));
    network.loss(loss.fraction(), streams("loss"));
    network.duplication(duplication.fraction(), streams("duplication"), streams("copies"));
    if *reordering {
        network.reordering();
    }
    if scenario.network.transport == file::Transport::Reliable {
        network.reliable(scenario.network.timeout().0, streams("retransmission"));
    }
    network
}

fn partition(partition: &file::Partition, site: impl Fn(&file::Name) -> u32) -> Partition {
    let sites = |group: &Vec<file::Name>| group.iter().map(&site).collect();
    let groups: Vec<Vec<u32>> = partition.between.iter().map(sites).collect();
    let until = partition.until.map_or(Time::FOREVER, |until| Time::ZERO + until.0);
    Partition::new(&groups, Time::ZERO + partition.from.0, until)
}

/// True if actors repeat messages without an answer; a reliable transport repeats lost ones itself.
pub(crate) fn resends(scenario: &Scenario) -> bool {
    scenario.network.transport == file::Transport::Datagram
}

/// Metaschedulers that repeat messages to a provider by numbers, with the times between repetitions.
fn repeating(provider: &file::Provider, scenario: &Scenario) -> Vec<(ActorId, Option<Span>)> {
    let first = scenario.places();
    let repeats = |(id, it): (u32, &file::Metascheduler)| {
        // The machines of a transaction repeat their own messages.
        let numbers = it.transaction().is_none() && it.providers.contains(&provider.name);
        let retry = it.retry().filter(|_| numbers)?;
        Some((ActorId(id), resends(scenario).then_some(retry.0)))
    };
    (first..).zip(&scenario.metaschedulers).filter_map(repeats).collect()
}

/// True if a metascheduler spreads jobs over this provider.
fn takes_parts(provider: &file::Provider, scenario: &Scenario) -> bool {
    let spreads = |it: &&file::Metascheduler| it.takes_parts();
    let metaschedulers = scenario.metaschedulers.iter().filter(spreads);
    metaschedulers.flat_map(|it| &it.providers).any(|it| *it == provider.name)
}

fn bargaining(provider: &file::Provider, scenario: &Scenario) -> Result<Bargaining, NoSuchRule> {
    let estimates = provider.policy.estimates().copied().unwrap_or_default();
    let offers = provider.policy.offers().cloned().unwrap_or_default();
    let told = match &offers.told {
        file::Told::Padded => None,
        file::Told::Own(name) => Some(scenario.own.offers.get(name.as_str())?),
    };
    Ok(Bargaining {
        estimates: match estimates.from {
            file::EstimatesFrom::Users => Estimates::Users,
            file::EstimatesFrom::Profiled => Estimates::Profiled {
                error: estimates.error.parts(),
                time: (estimates.time_min.0, estimates.time_max.0),
            },
            file::EstimatesFrom::Perfect => Estimates::Perfect,
        },
        validity: scenario.offers_last(provider),
        padding: offers.padding.fraction(),
        told,
        delay: offers.delay.0,
        catches_up: provider.policy.rescheduling().unwrap_or_default().catch_up,
        seed: scenario.scenario.seed,
    })
}

/// Configuration of a negotiator. It discloses whole bags to providers if one of them reschedules
/// by them.
fn negotiator(
    me: ActorId,
    metascheduler: &file::Metascheduler,
    policy: CompositionPolicy,
    providers: Vec<ActorId>,
    scenario: &Scenario,
) -> NegotiatorConfig {
    let negotiation = metascheduler.negotiation.unwrap_or_default();
    let its_own = |provider: &&file::Provider| metascheduler.providers.contains(&provider.name);
    let coordinates = |provider: &file::Provider| {
        let rescheduling = provider.policy.rescheduling();
        rescheduling.is_some_and(|it| it.rule == file::ReschedulingRule::Coordinated)
    };
    NegotiatorConfig {
        me,
        policy,
        options: CompositionOptions {
            relax_to_composite: negotiation.relax,
            load_weights: negotiation.weights,
            balance_without_deadline: negotiation.spread == file::SpreadRule::Proportional,
        },
        providers,
        coordinated: scenario.providers.iter().filter(its_own).any(coordinates),
        rounds: negotiation.rounds,
        offers_wait: negotiation.wait.map(|wait| wait.0),
        retry: negotiation.retry.map(|retry| retry.0),
        resends: resends(scenario),
    }
}

fn reallocator(reallocation: file::Reallocation, providers: Vec<ActorId>) -> ReallocatorConfig {
    let algorithm = match reallocation.algorithm {
        file::ReallocationAlgorithm::Regular => Some(Algorithm::Regular),
        file::ReallocationAlgorithm::AllCancellation => Some(Algorithm::AllCancellation),
        file::ReallocationAlgorithm::None => None,
    };
    let rule = algorithm.map(|algorithm| Rule {
        algorithm,
        heuristic: reallocation.heuristic,
        threshold: reallocation.threshold.0,
        window: reallocation.window as usize,
        resizes: reallocation.resizes == file::Resizes::Always,
    });
    ReallocatorConfig {
        providers,
        tuning: reallocation.tuning,
        keeps_sizes: reallocation.resizes == file::Resizes::Never,
        reallocation: rule.map(|rule| (reallocation.period.0, rule)),
        cost: MoveCost { transfer: reallocation.transfer(), start_up: reallocation.start_up.0 },
    }
}

/// The providers of a metascheduler.
fn providers_of<'s>(
    metascheduler: &file::Metascheduler,
    scenario: &'s Scenario,
) -> impl Iterator<Item = &'s file::Provider> {
    let names: BTreeSet<&file::Name> = metascheduler.providers.iter().collect();
    scenario.providers.iter().filter(move |provider| names.contains(&provider.name))
}

/// True if a provider of a metascheduler may break its part of a job.
fn may_break(metascheduler: &file::Metascheduler, scenario: &Scenario) -> bool {
    let failing = scenario.all_processor_failures().flat_map(|it| &it.of);
    let failing: BTreeSet<&file::Name> = failing.chain(scenario.crashing()).collect();
    providers_of(metascheduler, scenario)
        .any(|it| it.overrun == file::Overrun::Extend || failing.contains(&it.name))
}

/// Speed of these providers, which all have the same. Providers are the first actors of a run.
fn speed(providers: &[ActorId], scenario: &Scenario) -> f64 {
    let first = providers.first().and_then(|it| scenario.providers.get(it.index()));
    first.map_or(1.0, |provider| provider.speed)
}

/// Most attempts to run a job on the providers of a metascheduler.
fn attempts(metascheduler: &file::Metascheduler, scenario: &Scenario) -> u32 {
    let attempts = providers_of(metascheduler, scenario).filter_map(|it| it.max_attempts);
    attempts.min().unwrap_or(MAX_ATTEMPTS)
}
