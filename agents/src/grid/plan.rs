//! A grid as a whole: from a description to actors that know each other.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_model::network::{LinkSharing, Node};
use haggle_model::random::stream;
use haggle_model::work::Speed;
use haggle_model::{ActorId, Disclosure, ProcessorSet, Span};
use haggle_scheduling::grid::{
    CancelMode, GridPolicy, Preference, ResourceId, Rounds, Sharing, SiteId,
};
use haggle_scheduling::workflows::WorkflowId;

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
    /// Which resource it takes for the best.
    pub preference: Preference,
    /// Time between its rounds; zero = whenever something has happened.
    pub period: Span,
    /// How long the information service takes to answer before a round.
    pub query: Span,
    /// How long a round takes from then on until its decisions go out.
    pub schedule: Span,
    /// How late it learns of failures and load.
    pub delay: Delay,
    /// What jobs bring along, by workload.
    pub data: Vec<JobData>,
    /// The workflows of which jobs are tasks.
    pub workflows: BTreeMap<WorkflowId, Arc<Workflow>>,
    /// How jobs save their progress, if they may.
    pub checkpoints: Option<Checkpoints>,
    /// How long a slot is held before the input is asked for.
    pub prepare: Span,
    /// Whether an output arrives though its resource fails meanwhile.
    pub output_survives: bool,
    /// When copies of a job that is done are cancelled.
    pub cancel_mode: CancelMode,
    /// Whether a job that starts from a checkpoint needs its input again.
    pub restart_needs_input: bool,
    /// What the grid tells metaschedulers about itself.
    pub disclosure: Disclosure,
    /// Where jobs go that have waited too long, if they do.
    pub overflow: Option<Overflow>,
    /// The ways of data.
    pub routes: Routes,
    /// How data share links.
    pub link_sharing: LinkSharing,
    /// Limits of the storage, if it has any.
    pub storage: Option<StorageLimits>,
    /// Whether every checkpoint is taken down, or only those that an attempt may start from.
    pub records_all: bool,
    /// Whether resources that can do without the clock of all do so; for tests that compare.
    pub alone: bool,
}

/// A resource of a grid before a run.
#[derive(Clone, Debug)]
pub struct PlannedResource {
    /// Its name; what is drawn for it depends on that.
    pub name: String,
    /// Where it stands.
    pub site: SiteId,
    /// How fast it computes.
    pub capacity: Speed,
    /// How jobs share it.
    pub sharing: Sharing,
    /// Whether it works when the run begins.
    pub up: bool,
    /// The load by others, if there is any.
    pub load: Option<BackgroundLoad>,
}

/// The actors of a grid, in the order of their numbers.
#[derive(Debug)]
pub struct GridActors {
    /// Its resources.
    pub places: Vec<AnyActor>,
    /// Its scheduler, and whatever else serves it.
    pub services: Vec<AnyActor>,
    /// Whom users submit to.
    pub dispatcher: ActorId,
}

impl GridPlan {
    /// A grid in which nothing takes time but computing, without resources yet.
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
            routes,
            link_sharing: LinkSharing::Literal,
            storage: None,
            records_all: true,
            alone: true,
        }
    }

    /// What serves a grid, in the order of its actors behind the resources: first its scheduler.
    pub fn services(with_storage: bool) -> Vec<&'static str> {
        let mut services = vec!["scheduler", "information", "network", "checkpoints"];
        services.extend(with_storage.then_some("storage"));
        services
    }

    /// The actors, which are to have these numbers.
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

    /// Nature for the resources of the plan, in a world without other places.
    pub fn nature(&self) -> AnyActor {
        let ids = (0..self.resources.len() as u32).map(ActorId);
        AnyActor::Nature(Nature::new(ids.map(|id| vec![(id, ProcessorSet::range(0, 1))]).collect()))
    }
}
