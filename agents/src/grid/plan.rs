//! A grid as a whole: from a description to its actors and their addresses.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_grids::{CancelMode, GridPolicy, Preference, ResourceId, Rounds, Sharing, SiteId};
use haggle_model::network::{LinkSharing, Node};
use haggle_model::random::stream;
use haggle_model::work::Speed;
use haggle_model::{ActorId, Disclosure, ProcessorSet, Span};
use haggle_workflows::ledger::WorkflowId;

use haggle_workflows::Workflow;

use super::{
    BackgroundLoad, CheckpointServer, Checkpoints, Delay, Dispatcher, DispatcherConfig,
    GridResource, Home, InformationService, JobData, Known, Overflow, ResourceRules, Storage,
    StorageLimits,
};
use crate::{AnyActor, DataNetwork, Nature, Routes, Seats};

/// The node of storage and users in a [`haggle_model::network::Star`].
pub const STORAGE: Node = Node::Service(0);

/// The node of the checkpoint server.
pub const CHECKPOINTS: Node = Node::Service(1);

/// A grid before a run.
#[derive(Clone, Debug)]
pub struct GridPlan {
    /// Master seed.
    pub seed: u64,
    /// The resources, in order of their sites.
    pub resources: Vec<PlannedResource>,
    /// The scheduler's policy.
    pub policy: GridPolicy,
    /// Order in which it prefers resources.
    pub preference: Preference,
    /// Time between its rounds; zero = a round after each change.
    pub period: Span,
    /// Time of the information service to answer before a round.
    pub query: Span,
    /// Time from that answer until the decisions of a round are sent.
    pub schedule: Span,
    /// Delay with which it learns of failures and load.
    pub delay: Delay,
    /// Data of jobs, by workload.
    pub data: Vec<JobData>,
    /// The workflows of which jobs are tasks.
    pub workflows: BTreeMap<WorkflowId, Arc<Workflow>>,
    /// Rules by which jobs save their progress, if they may.
    pub checkpoints: Option<Checkpoints>,
    /// Time for which a slot is held before the input is requested.
    pub prepare: Span,
    /// True if an output arrives even if its resource fails meanwhile.
    pub output_survives: bool,
    /// Time at which copies of a job that is done are cancelled.
    pub cancel_mode: CancelMode,
    /// True if a job that starts from a checkpoint needs its input again.
    pub restart_needs_input: bool,
    /// Level up to which the grid discloses information to metaschedulers.
    pub disclosure: Disclosure,
    /// Target of jobs that have waited too long, if there is one.
    pub overflow: Option<Overflow>,
    /// Resources on which jobs of the start state run at time zero, by the numbers of these jobs.
    pub running: BTreeMap<i64, ResourceId>,
    /// The links over which data travel.
    pub routes: Routes,
    /// Rule by which transfers share links.
    pub link_sharing: LinkSharing,
    /// Limits of the storage, if it has any.
    pub storage: Option<StorageLimits>,
    /// True if every checkpoint is recorded; otherwise only checkpoints from which an attempt may
    /// start.
    pub records_all: bool,
    /// True if resources handle their own events where they can, without a timer for each; tests
    /// compare both.
    pub alone: bool,
}

/// A resource of a grid before a run.
#[derive(Clone, Debug)]
pub struct PlannedResource {
    /// Its name; its random numbers depend on it.
    pub name: String,
    /// Its site.
    pub site: SiteId,
    /// Speed at which it computes.
    pub capacity: Speed,
    /// Rule by which jobs share it.
    pub sharing: Sharing,
    /// True if it is up at the start of the run.
    pub up: bool,
    /// The load by others, if there is any.
    pub load: Option<BackgroundLoad>,
}

/// The actors of a grid, in the order of their numbers.
#[derive(Debug)]
pub struct GridActors {
    /// Its resources.
    pub places: Vec<AnyActor>,
    /// Its scheduler, and its other services.
    pub services: Vec<AnyActor>,
    /// The actor to which users submit.
    pub dispatcher: ActorId,
}

impl GridPlan {
    /// A grid in which only computing takes time, without resources yet.
    pub fn simple(policy: GridPolicy, routes: Routes) -> GridPlan {
        GridPlan {
            seed: 0,
            resources: Vec::new(),
            policy,
            preference: Preference::EffectiveSpeed,
            period: Span::ZERO,
            query: Span::ZERO,
            schedule: Span::ZERO,
            delay: Delay::None,
            data: vec![JobData::default()],
            workflows: BTreeMap::new(),
            checkpoints: None,
            prepare: Span::ZERO,
            output_survives: false,
            cancel_mode: CancelMode::Immediate,
            restart_needs_input: true,
            disclosure: Disclosure::Offers,
            overflow: None,
            running: BTreeMap::new(),
            routes,
            link_sharing: LinkSharing::Literal,
            storage: None,
            records_all: true,
            alone: true,
        }
    }

    /// The services of a grid, in the order of its actors behind the resources; the scheduler is
    /// the first.
    pub fn services(with_storage: bool) -> Vec<&'static str> {
        let mut services = vec!["scheduler", "information", "network", "checkpoints"];
        services.extend(with_storage.then_some("storage"));
        services
    }

    /// The actors, with the addresses of these seats.
    pub fn actors(&self, seats: Seats) -> GridActors {
        let [dispatcher, information, network, checkpoints, storage] =
            [0, 1, 2, 3, 4].map(|number| seats.service(number));
        let home = Home {
            dispatcher,
            information,
            network,
            checkpoints,
            storage: self.storage.map(|_| storage),
            storage_node: STORAGE,
            checkpoint_node: CHECKPOINTS,
        };
        let GridPlan { period, query, schedule, .. } = *self;
        let rounds = Rounds { period, query, schedule };
        let rules = Arc::new(ResourceRules {
            seats,
            home,
            data: self.data.clone(),
            checkpoints: self.checkpoints,
            prepare: self.prepare,
            output_survives: self.output_survives,
            restart_needs_input: self.restart_needs_input,
            moves: self.policy.moves(),
            asks_progress: self.policy.asks_progress(),
            rounds,
            records_all: self.records_all,
        });
        let mut places = Vec::with_capacity(self.resources.len());
        let mut known = Vec::with_capacity(self.resources.len());
        for (id, planned) in (0..).map(ResourceId).zip(&self.resources) {
            let rules = Arc::clone(&rules);
            let PlannedResource { capacity, sharing, up, .. } = *planned;
            let mut resource = GridResource::new(id, rules, capacity, sharing, up);
            if self.alone {
                resource = resource.alone(&self.routes, self.link_sharing);
            }
            if let Some(load) = planned.load {
                resource = resource.with_load(load, stream(self.seed, &planned.name, "load"));
            }
            known.push(Known {
                actor: seats.place(id.0),
                site: planned.site,
                up,
                avail: resource.avail(),
                slots: match sharing {
                    Sharing::Equal { slots } => slots,
                    Sharing::Reserved { slots } => slots.unwrap_or(u32::MAX),
                },
            });
            places.push(AnyActor::GridResource(Box::new(resource)));
        }
        let config = DispatcherConfig {
            policy: self.policy,
            preference: self.preference,
            rounds,
            resources: known,
            network,
            checkpoint_server: checkpoints,
            data: self.data.clone(),
            workflows: self.workflows.clone(),
            checkpoints: self.checkpoints,
            prepare: self.prepare,
            restart_needs_input: self.restart_needs_input,
            output_survives: self.output_survives,
            cancel_mode: self.cancel_mode,
            disclosure: self.disclosure,
            overflow: self.overflow,
            running: self.running.clone(),
        };
        let resources = self.resources.len();
        let draws = |purpose| stream(self.seed, "grid", purpose);
        let scheduler = Dispatcher::new(config, draws("placement"));
        let service =
            InformationService::new(dispatcher, resources, self.delay, draws("delay of reports"));
        let network = DataNetwork::new(self.routes.clone(), self.link_sharing);
        let mut services = vec![
            AnyActor::Dispatcher(Box::new(scheduler)),
            AnyActor::InformationService(Box::new(service)),
            AnyActor::DataNetwork(Box::new(network)),
            AnyActor::CheckpointServer(CheckpointServer::new(dispatcher)),
        ];
        let storage = self.storage.map(|limits| AnyActor::Storage(Box::new(Storage::new(limits))));
        services.extend(storage);
        GridActors { places, services, dispatcher }
    }

    /// Nature for the resources of the plan, in a run without other places.
    pub fn nature(&self) -> AnyActor {
        let ids = (0..self.resources.len() as u32).map(ActorId);
        AnyActor::Nature(Nature::new(ids.map(|id| vec![(id, ProcessorSet::range(0, 1))]).collect()))
    }
}
