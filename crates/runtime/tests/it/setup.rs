//! Builds small worlds and records all that happens in them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use haggle_agents::protocol::agreement::ShareOrder;
use haggle_agents::protocol::bargain::Answer;
use haggle_agents::protocol::coallocation::Want;
use haggle_agents::protocol::transaction::Spoken;
use haggle_agents::protocol::{
    AgreementMessage, BargainMessage, CoallocationMessage, NumberedMessage, Parties, QueryMessage,
    ReallocationMessage, ReservationMessage, ShareMessage, SubmissionMessage, TransactionMessage,
};
use haggle_agents::provider::Transacting;
use haggle_agents::{
    Acceptor, AnyActor, CheckpointStore, Coallocator, CoallocatorConfig, DataNetwork, DataWays,
    Maintenance, Message, Metascheduler, MetaschedulerConfig, Nature, Negotiator, NegotiatorConfig,
    Provider, ProviderConfig, Reallocator, ReallocatorConfig, Routes, Timer, Transaction,
    Transactor, TransactorConfig, User, UserConfig,
};
use haggle_agreements::back_off::BackOff;
use haggle_agreements::{Answer as Vote, Instruction};
use haggle_model::job::Lot;
use haggle_model::law::Law;
use haggle_model::network::{LinkSharing, Node, Sites};
use haggle_model::observation::DisclosedItem;
use haggle_model::random::stream;
use haggle_model::workflow::{Staged, Transfer};
use haggle_model::{
    ActorId, ActorKind, Disclosure, EventsOrder, Job, JobClass, JobId, JobOutcome, JobRecord,
    LostRun, MaintenanceRecord, Observation, ProcessorSet, ProviderId, Span, StageIn, Time,
    WindowFate,
};
use haggle_runtime::network::EVERYWHERE;
use haggle_runtime::world::{Outages, OutsideError};
use haggle_runtime::{
    Blueprint, Driver, EXAMINED_MAX, NO_PROGRESS_MAX, Network, RunError, RunStats, Sink, World, run,
};
use haggle_scheduling::coallocation::{CoallocationPolicy, FillRule, RemapRule, RequestOrder};
use haggle_scheduling::composition::{CompositionOptions, CompositionPolicy};
use haggle_scheduling::placement::Placement;
use haggle_scheduling::reallocation::{MoveCost, Rule, Tuning};
use haggle_scheduling::{Compression, Order, Policy, SchedulerConfig, Scheduling};
use haggle_workflows::Workflow;
use haggle_workflows::ledger::WorkflowId;
use haggle_workloads::failures::{Cause, Failures, Outage, OutageList, Resource};

use crate::trouble::Trouble;

/// A world in the making: providers first, then metaschedulers, then users.
#[derive(Default)]
pub(crate) struct Setup {
    pub(crate) providers: Vec<ProviderConfig>,
    metaschedulers: Vec<Placement>,
    negotiators: Vec<NegotiatorConfig>,
    coallocators: Vec<CoallocatorConfig>,
    reallocators: Vec<ReallocatorConfig>,
    transactors: Vec<TransactorConfig>,
    /// Acceptors of all transactors.
    acceptors: u32,
    accepted: Option<Transaction>,
    users: Vec<(usize, Option<Span>, Vec<Job>)>,
    /// Workflows whose tasks are among the jobs.
    pub(crate) workflows: BTreeMap<WorkflowId, Arc<Workflow>>,
    /// How data of tasks travel.
    pub(crate) ways: DataWays,
    /// Sites whose data share links, and the way of sharing. If set, a network moves the data instead.
    pub(crate) sites: Option<(Sites, LinkSharing)>,
    /// Providers whose jobs keep their checkpoints in the storage of those sites.
    pub(crate) stored: Vec<usize>,
    pub(crate) order: EventsOrder,
    pub(crate) latency: Span,
    pub(crate) jitter: Span,
    /// True if messages may overtake each other. Users are then at the actor to which they submit, as in scenarios.
    pub(crate) reordering: bool,
    /// Faults of messages. With faults, users are also at the actor to which they submit.
    pub(crate) trouble: Option<Trouble>,
    /// Time at which the run stops.
    pub(crate) horizon: Option<Time>,
    /// Processors that fail, with their outages.
    pub(crate) failing: Vec<Failing>,
    /// Largest number of messages without progress of a job; `None` = the default.
    pub(crate) no_progress_max: Option<u64>,
}

/// (provider, processors that fail as one, their outages in seconds).
pub(crate) type Failing = (u32, ProcessorSet, Vec<(i64, i64)>);

/// Restoration of a permanent failure.
pub(crate) const NEVER: i64 = i64::MAX;

/// Results of a run.
pub(crate) struct Ran {
    pub(crate) result: Result<RunStats, RunError>,
    /// `time from>to kind job`, one line a message, and outcomes.
    pub(crate) log: String,
    pub(crate) records: Vec<JobRecord>,
    /// (when, from, to, message) of all messages between actors.
    pub(crate) messages: Vec<(Time, ActorId, ActorId, Message)>,
    /// (provider, start, end, processors) of all lost runs.
    pub(crate) lost: Vec<(u32, Time, Time, ProcessorSet)>,
    /// Windows of maintenance that began or were refused.
    pub(crate) windows: Vec<MaintenanceRecord>,
    /// Data that moved jobs needed at their last submission.
    pub(crate) staged: BTreeMap<JobId, StageIn>,
    /// Time of each task's last submission to a provider, and the data that it needed there.
    pub(crate) inputs: BTreeMap<JobId, (Time, Staged)>,
    /// Kind of each actor.
    kinds: Vec<ActorKind>,
}

impl Setup {
    pub(crate) fn provider(mut self, processors: u32, policy: Policy) -> Setup {
        let order = Order::Arrival;
        let compression = Compression::ByStart;
        let id = ProviderId(self.providers.len() as u32);
        let scheduler =
            SchedulerConfig { policy, order, compression, depth: None, window: None }.into();
        self.providers.push(ProviderConfig::new(id, processors, scheduler));
        self
    }

    pub(crate) fn change(mut self, change: impl FnOnce(&mut ProviderConfig)) -> Setup {
        change(self.providers.last_mut().expect("a provider to change"));
        self
    }

    pub(crate) fn metascheduler(mut self, placement: Placement) -> Setup {
        self.metaschedulers.push(placement);
        self
    }

    /// A metascheduler that bargains with all providers.
    pub(crate) fn negotiator(mut self, policy: CompositionPolicy) -> Setup {
        self.negotiators.push(NegotiatorConfig {
            me: ActorId(0), // known when the world is made
            policy,
            options: CompositionOptions::default(),
            providers: Vec::new(),
            coordinated: false,
            rounds: 5,
            offers_wait: None,
            retry: None,
            resends: true,
        });
        self
    }

    pub(crate) fn change_negotiator(mut self, change: impl FnOnce(&mut NegotiatorConfig)) -> Setup {
        change(self.negotiators.last_mut().expect("a metascheduler to change"));
        self
    }

    /// A provider that accepts parts of jobs and discloses its free times.
    pub(crate) fn coallocating(self, processors: u32) -> Setup {
        self.provider(processors, Policy::Conservative).change(|provider| {
            let (policy, order) = (Policy::Conservative, Order::Arrival);
            let config = SchedulerConfig {
                policy,
                order,
                compression: Compression::ByStart,
                depth: None,
                window: None,
            };
            provider.scheduler = Scheduling::from(config).around_parts();
            provider.disclosure = Disclosure::Slots;
        })
    }

    /// A metascheduler that spreads jobs over all providers. A spread job takes this many percent longer.
    pub(crate) fn coallocator(mut self, moves: CoallocationPolicy, overhead: u32) -> Setup {
        self.coallocators.push(CoallocatorConfig {
            me: ActorId(0), // known when the world is made
            providers: Vec::new(),
            moves,
            remappable: 1_000_000,
            fill: FillRule::default(),
            part_min: 1,
            parts: None,
            choice: RemapRule::default(),
            requests: RequestOrder::default(),
            overhead: Law::Constant(f64::from(overhead)),
            overhead_max: 25,
            trials: 5,
            retry: None,
            resends: true,
            may_break: false,
            max_attempts: 10,
            speed: 1.0,
            latency_max: Span::ZERO,
            seed: 1,
            mapping: None,
        });
        self
    }

    pub(crate) fn change_coallocator(
        mut self,
        change: impl FnOnce(&mut CoallocatorConfig),
    ) -> Setup {
        change(self.coallocators.last_mut().expect("a metascheduler to change"));
        self
    }

    /// A metascheduler that gets equal parts of jobs from all providers by a protocol.
    pub(crate) fn transactor(mut self, transaction: Transaction) -> Setup {
        self.transactors.push(TransactorConfig {
            me: ActorId(0), // known when the world is made
            providers: Vec::new(),
            transaction,
            window: Span::from_secs(1_000),
            urgent: None,
            trials: 10,
            back_off: BackOff::None,
            overhead: Law::Constant(0.0),
            overhead_max: 25,
            speed: 1.0,
            latency_max: Span::ZERO,
            seed: 1,
        });
        self
    }

    pub(crate) fn change_transactor(mut self, change: impl FnOnce(&mut TransactorConfig)) -> Setup {
        change(self.transactors.last_mut().expect("a metascheduler to change"));
        self
    }

    pub(crate) fn change_transactor_at(
        mut self,
        place: usize,
        change: impl FnOnce(&mut TransactorConfig),
    ) -> Setup {
        change(&mut self.transactors[place]);
        self
    }

    /// Sets the protocol of the acceptors, if it is not that of the first metascheduler.
    pub(crate) fn acceptors_of(mut self, transaction: Transaction) -> Setup {
        self.accepted = Some(transaction);
        self
    }

    /// Acceptors for "paxos". They come after all other actors but users.
    pub(crate) fn acceptors(mut self, count: u32) -> Setup {
        self.acceptors = count;
        self
    }

    /// The addresses of acceptors.
    pub(crate) fn acceptor_ids(&self) -> Vec<ActorId> {
        let before = self.first_transactor() + self.transactors.len() as u32;
        (before..before + self.acceptors).map(ActorId).collect()
    }

    fn first_transactor(&self) -> u32 {
        let others = [
            self.providers.len(),
            self.metaschedulers.len(),
            self.negotiators.len(),
            self.coallocators.len(),
            self.reallocators.len(),
        ];
        others.iter().sum::<usize>() as u32
    }

    /// Address of the network that moves data over shared links. Only nature comes after it.
    fn data_network(&self) -> ActorId {
        let others = self.transactors.len() + self.acceptors as usize + self.users.len();
        ActorId(self.first_transactor() + others as u32)
    }

    /// Metaschedulers that repeat messages, with the times between repetitions.
    fn repeating(&self) -> Vec<(ActorId, Option<Span>)> {
        let first = self.providers.len() + self.metaschedulers.len();
        let negotiators = self.negotiators.iter().map(|it| it.retry);
        let retries = negotiators.chain(self.coallocators.iter().map(|it| it.retry));
        let numbered = (first as u32..).map(ActorId).zip(retries);
        numbered.filter_map(|(me, retry)| Some((me, Some(retry?)))).collect()
    }

    /// All protocols, each with the metaschedulers that follow it.
    fn transacting(&self, me: ActorId) -> Vec<Transacting> {
        let mut all: Vec<Transacting> = Vec::new();
        for (place, config) in self.transactors.iter().enumerate() {
            let metascheduler = ActorId(self.first_transactor() + place as u32);
            let transaction = config.transaction.clone();
            match all.iter_mut().find(|it| it.transaction == transaction) {
                Some(it) => it.metaschedulers.push(metascheduler),
                None => {
                    all.push(Transacting { me, transaction, metaschedulers: vec![metascheduler] })
                }
            }
        }
        all
    }

    /// A metascheduler that moves moldable jobs between all providers.
    pub(crate) fn reallocator(
        mut self,
        tuning: Tuning,
        reallocation: Option<(Span, Rule)>,
    ) -> Setup {
        let providers = Vec::new(); // known when the world is made
        let cost = MoveCost::default();
        self.reallocators.push(ReallocatorConfig {
            providers,
            tuning,
            keeps_sizes: false,
            reallocation,
            cost,
        });
        self
    }

    /// The last reallocator keeps the sizes with which jobs were submitted.
    pub(crate) fn keeping_sizes(mut self) -> Setup {
        self.reallocators.last_mut().expect("a reallocator").keeps_sizes = true;
        self
    }

    /// Cost of a move by the last reallocator.
    pub(crate) fn moving_costs(mut self, cost: MoveCost) -> Setup {
        self.reallocators.last_mut().expect("a reallocator").cost = cost;
        self
    }

    /// Users of the actor `submits_to`, counted over providers, then metaschedulers.
    pub(crate) fn user(self, submits_to: usize, jobs: Vec<Job>) -> Setup {
        self.user_with_patience(submits_to, None, jobs)
    }

    pub(crate) fn user_with_patience(
        mut self,
        submits_to: usize,
        patience: Option<Span>,
        jobs: Vec<Job>,
    ) -> Setup {
        self.users.push((submits_to, patience, jobs));
        self
    }

    /// Gives each job of a user the run time of the job `shift` places behind it.
    pub(crate) fn permute_run_times(&mut self, shift: usize) {
        for (.., jobs) in &mut self.users {
            let times: Vec<_> = jobs.iter().map(|job| job.run_time).collect();
            for (at, job) in jobs.iter_mut().enumerate() {
                job.run_time = times[(at + shift) % times.len()];
            }
        }
    }

    pub(crate) fn world(&self) -> World {
        let mut actors: Vec<Blueprint> = Vec::new();
        let providers = self.providers.len();
        for (place, mut config) in self.providers.clone().into_iter().enumerate() {
            let me = ActorId(actors.len() as u32);
            config.transacting = self.transacting(me);
            config.repeating = self.repeating();
            config.store =
                (self.sites.is_some() && self.stored.contains(&place)).then(|| CheckpointStore {
                    network: self.data_network(),
                    here: Node::Site(me),
                    there: Node::Store(0),
                    records_all: true,
                });
            let stream = stream(1, &format!("provider {}", config.id.0), "offers");
            let provider = move || Provider::new(config.clone(), stream.clone());
            actors.push(Blueprint::new(move || AnyActor::Provider(Box::new(provider()))));
        }
        for (index, &placement) in self.metaschedulers.iter().enumerate() {
            let me = ActorId(actors.len() as u32);
            let providers = (0..providers as u32).map(ActorId).collect();
            let ways = match self.sites {
                Some(_) => DataWays::Shared(self.data_network()),
                None => self.ways.clone(),
            };
            let config =
                MetaschedulerConfig { ways, ..MetaschedulerConfig::new(me, placement, providers) };
            let stream = stream(1, &format!("metascheduler {index}"), "placement");
            let metascheduler = move || Metascheduler::new(config.clone(), stream.clone());
            actors.push(Blueprint::new(move || AnyActor::Metascheduler(Box::new(metascheduler()))));
        }
        for config in &self.negotiators {
            let providers = (0..providers as u32).map(ActorId).collect();
            let me = ActorId(actors.len() as u32);
            let config = NegotiatorConfig { me, providers, ..config.clone() };
            let negotiator = move || Negotiator::new(config.clone());
            actors.push(Blueprint::new(move || AnyActor::Negotiator(Box::new(negotiator()))));
        }
        for config in &self.coallocators {
            let providers = (0..providers as u32).map(ActorId).collect();
            let (me, latency_max) = (ActorId(actors.len() as u32), self.latency + self.jitter);
            let config = CoallocatorConfig { me, providers, latency_max, ..config.clone() };
            let coallocator = move || Coallocator::new(config.clone());
            actors.push(Blueprint::new(move || AnyActor::Coallocator(Box::new(coallocator()))));
        }
        for config in &self.reallocators {
            let providers = (0..providers as u32).map(ActorId).collect();
            let config = ReallocatorConfig { providers, ..config.clone() };
            let reallocator = move || Reallocator::new(config.clone());
            actors.push(Blueprint::new(move || AnyActor::Reallocator(Box::new(reallocator()))));
        }
        for config in &self.transactors {
            let providers = (0..providers as u32).map(ActorId).collect();
            let (me, latency_max) = (ActorId(actors.len() as u32), self.latency + self.jitter);
            let config = TransactorConfig { me, providers, latency_max, ..config.clone() };
            let stream = stream(1, &format!("metascheduler {}", me.0), "back-off");
            let transactor = move || Transactor::new(config.clone(), stream.clone());
            actors.push(Blueprint::new(move || AnyActor::Transactor(Box::new(transactor()))));
        }
        for _ in 0..self.acceptors {
            let me = ActorId(actors.len() as u32);
            let first = &self.transactors[0].transaction;
            let transaction = self.accepted.as_ref().unwrap_or(first).clone();
            let acceptor = move || Acceptor::new(me, &transaction);
            actors.push(Blueprint::new(move || AnyActor::Acceptor(Box::new(acceptor()))));
        }
        let mut arrivals: Vec<(ActorId, haggle_runtime::world::Arrivals)> = Vec::new();
        for (submits_to, patience, jobs) in &self.users {
            let me = ActorId(actors.len() as u32);
            let local = *submits_to < providers;
            let class = if local { JobClass::Local } else { JobClass::External };
            let (submits_to, patience) = (ActorId(*submits_to as u32), *patience);
            let workflows = self.workflows.clone();
            let config = UserConfig { me, submits_to, class, patience, workflows };
            actors
                .push(Blueprint::new(move || AnyActor::User(Box::new(User::new(config.clone())))));
            arrivals.push((me, Box::new(jobs.clone().into_iter().map(Ok))));
        }
        let mut sites: Vec<u32> = (0..actors.len() as u32).collect();
        if self.reordering || self.trouble.is_some() {
            let first = actors.len() - self.users.len();
            for (place, (submits_to, ..)) in self.users.iter().enumerate() {
                sites[first + place] = *submits_to as u32;
            }
        }
        let streams = sites.iter().map(|site| stream(1, &site.to_string(), "jitter")).collect();
        let mut everybody = sites.clone();
        if let Some((sites, sharing)) = self.sites.clone() {
            assert_eq!(actors.len(), self.data_network().index());
            everybody.push(EVERYWHERE);
            let routes = Routes::Sites(Arc::new(sites));
            let network = move || DataNetwork::new(routes.clone(), sharing);
            actors.push(Blueprint::new(move || AnyActor::DataNetwork(Box::new(network()))));
        }
        let mut network = Network::new(self.latency, everybody);
        if let Some(trouble) = &self.trouble {
            trouble.befall(&mut network, &sites);
        }
        network.jitter(self.jitter, streams);
        if self.reordering {
            network.reordering();
        }
        let blueprints = actors;
        let mut actors = Vec::from_iter(blueprints.iter().map(Blueprint::build));
        let outages = (!self.failing.is_empty()).then(|| self.outages(&mut actors));
        let recovers = self.trouble.as_ref().is_some_and(|it| it.recovers);
        let blueprints = (0..).map(ActorId).zip(blueprints).filter(|_| recovers).collect();
        World {
            actors,
            blueprints,
            changes: Vec::new(),
            arrivals,
            outages,
            horizon: self.horizon,
            network,
            order: self.order,
            no_progress_max: self.no_progress_max.unwrap_or(NO_PROGRESS_MAX),
            examined_max: EXAMINED_MAX,
            initial: self.announcements().collect(),
        }
    }

    /// Notices of maintenance to providers.
    fn announcements(&self) -> impl Iterator<Item = (Time, ActorId, Message)> {
        let windows = |it: &ProviderConfig| {
            let to = ActorId(it.id.0);
            let one = move |(number, window): (u32, &Maintenance)| {
                (window.announced, to, Timer::MaintenanceAnnounced { number }.into())
            };
            (0..).zip(&it.maintenance).map(one).collect::<Vec<_>>()
        };
        self.providers.iter().flat_map(windows)
    }

    /// Adds nature to the actors.
    fn outages(&self, actors: &mut Vec<AnyActor>) -> Outages {
        let nature = ActorId(actors.len() as u32);
        let owned = self.failing.iter();
        let owned = owned.map(|(owner, processors, _)| vec![(ActorId(*owner), processors.clone())]);
        actors.push(AnyActor::Nature(Nature::new(owned.collect())));
        let resources = self.failing.iter().enumerate().map(|(number, (.., outages))| {
            let time = |at| if at == NEVER { Time::FOREVER } else { Time::from_secs(at) };
            let outage = |&(fail, restore)| Outage { fail: time(fail), restore: time(restore) };
            let outages = OutageList::united(outages.iter().map(outage).collect());
            Resource { name: number.to_string(), cause: Cause::List(outages) }
        });
        let failures = Failures { resources: resources.collect(), ..Failures::default() };
        let due = failures.outages().expect("lists are always good");
        let resources = self.failing.len() as u64;
        Outages { nature, resources, due: Box::new(due) }
    }

    pub(crate) fn run(&self, driver: Driver) -> Ran {
        let world = self.world();
        let kinds: Vec<ActorKind> = world.actors.iter().map(kind).collect();
        let mut log = Log { kinds, ..Log::default() };
        let result = run(world, driver, &mut log, &AtomicBool::new(false));
        let Log { text: log, records, messages, lost, windows, staged, inputs, kinds, refused } =
            log;
        assert!(refused.is_empty(), "nobody expected this: {refused:#?} in\n{log}");
        Ran { result, log, records, messages, lost, windows, staged, inputs, kinds }
    }

    /// Returns whether a provider's scheduler crashes. Promises may be broken then.
    pub(crate) fn provider_crashes(&self) -> bool {
        let providers = self.providers.len();
        let actors = self.world().actors.len();
        self.trouble.as_ref().is_some_and(|it| it.hits(providers, actors))
    }

    /// Checks that a restarted actor has its earlier state, with or without recovery from its journal.
    pub(crate) fn assert_recovery(&mut self, log: &str) {
        if let Some(trouble) = &mut self.trouble
            && !trouble.crashes.is_empty()
        {
            trouble.recovers = !trouble.recovers;
            assert_eq!(self.run(Driver::Sequential).log, log);
        }
    }

    /// Runs on both drivers, whose logs must be equal.
    pub(crate) fn run_on_both(&self) -> Ran {
        let sequential = self.run(Driver::Sequential);
        let actix = self.run(Driver::Actix);
        assert_eq!(sequential.log, actix.log);
        assert_eq!(sequential.records, actix.records);
        sequential
    }
}

impl Ran {
    /// Start of each job (s), by number; `None` if it never started.
    pub(crate) fn starts(&self) -> Vec<Option<i64>> {
        let mut records: Vec<&JobRecord> = self.records.iter().collect();
        records.sort_by_key(|record| (record.job.workload, record.job.number));
        let seconds = |time: Time| time.as_micros() / 1_000_000;
        records.iter().map(|record| record.start.map(seconds)).collect()
    }

    /// The provider of each job, by number.
    pub(crate) fn providers(&self) -> Vec<Option<u32>> {
        let mut records: Vec<&JobRecord> = self.records.iter().collect();
        records.sort_by_key(|record| (record.job.workload, record.job.number));
        records.iter().map(|record| record.provider.map(|provider| provider.0)).collect()
    }

    fn parties(&self, from: ActorId, to: ActorId) -> Parties {
        Parties { from: self.kinds[from.index()], to: self.kinds[to.index()] }
    }

    /// Checks that each message discloses the items that this file states.
    pub(crate) fn assert_disclosures(&self) {
        for (now, from, to, message) in &self.messages {
            let between = self.parties(*from, *to);
            let mut told = Vec::new();
            message.disclose(between, &mut |item, count| {
                assert!(count > 0, "{now} {from} {to} {message:?}");
                told.push(item);
            });
            let expected = items(message, between);
            assert_eq!(told, expected, "{now} {from} {to} {message:?}");
        }
    }

    pub(crate) fn outcomes(&self) -> Vec<JobOutcome> {
        let mut records: Vec<&JobRecord> = self.records.iter().collect();
        records.sort_by_key(|record| (record.job.workload, record.job.number));
        records.iter().map(|record| record.outcome).collect()
    }
}

#[derive(Default)]
struct Log {
    text: String,
    records: Vec<JobRecord>,
    messages: Vec<(Time, ActorId, ActorId, Message)>,
    lost: Vec<(u32, Time, Time, ProcessorSet)>,
    windows: Vec<MaintenanceRecord>,
    staged: BTreeMap<JobId, StageIn>,
    inputs: BTreeMap<JobId, (Time, Staged)>,
    kinds: Vec<ActorKind>,
    refused: Vec<String>,
}

impl Sink for Log {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        let job = message.job().map_or("-".to_owned(), |job| job.0.to_string());
        writeln!(self.text, "{now} {}>{} {} {job}", from.0, to.0, message.kind())?;
        if from != to {
            self.messages.push((now, from, to, message.clone()));
            let between = Parties { from: self.kinds[from.index()], to: self.kinds[to.index()] };
            let text = &mut self.text;
            message.disclose(between, &mut |item, _| {
                let item = item.name();
                writeln!(text, "{now} {} | tells {} {item}", from.0, to.0).expect("a string");
            });
        }
        Ok(())
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        match observation {
            Observation::TasksOver { .. }
            | Observation::ShareOver(_)
            | Observation::Agreement { .. }
            | Observation::Waiting(_)
            | Observation::JobFollows { .. }
            | Observation::OffersMade(_) => {}
            Observation::WorkflowCame(came) => {
                writeln!(self.text, "{now} {} | workflow {} comes", actor.0, came.number)?;
            }
            Observation::Staged(staged) => {
                let is_over = self.records.iter().any(|it| it.job.id == staged.job);
                assert!(!is_over, "{now}: inputs of job {}, which is over", staged.job.0);
                for it in &staged.inputs {
                    let (job, at, bytes) = (staged.job.0, staged.at.0, it.need.bytes);
                    write!(self.text, "{now} {} | {job} has {bytes} at {at}", actor.0)?;
                    match it.moved {
                        Some(Transfer { sent, .. }) => {
                            writeln!(self.text, ", {} sent {sent}", it.from.0)?;
                        }
                        None => writeln!(self.text)?,
                    }
                }
                self.inputs.insert(staged.job, (now, Staged::clone(staged)));
            }
            Observation::AttemptOver(_)
            | Observation::GridJobOver(_)
            | Observation::ResourceAccount(_)
            | Observation::OutputsStuck { .. }
            | Observation::TasksBlocked { .. }
            | Observation::StorageAccount(_)
            | Observation::RoundsAccount(_) => unreachable!("these worlds have no grid"),
            Observation::IntervalOver(_) => unreachable!("these worlds have no applications"),
            Observation::RunLost { job, run } => {
                let LostRun { provider, start, processors, .. } = run.clone();
                writeln!(self.text, "{now} {} | loses {} [{processors}]", actor.0, job.0)?;
                self.lost.push((provider.0, start, now, processors));
            }
            Observation::Maintenance(record) => {
                match &record.fate {
                    WindowFate::Begun(closed) => {
                        writeln!(self.text, "{now} {} | closes [{closed}]", actor.0)?;
                    }
                    WindowFate::Ahead => writeln!(self.text, "{now} {} | was to close", actor.0)?,
                    WindowFate::Refused { .. } => {
                        writeln!(self.text, "{now} {} | refuses to close", actor.0)?;
                    }
                }
                self.windows.push(MaintenanceRecord::clone(record));
            }
            Observation::ProcessorsFailed { processors, .. } => {
                writeln!(self.text, "{now} {} | fails [{processors}]", actor.0)?;
            }
            Observation::ProcessorsRestored { processors, .. } => {
                writeln!(self.text, "{now} {} | has back [{processors}]", actor.0)?;
            }
            Observation::JobOver(record) => {
                let number = record.job.number;
                let outcome = record.outcome.name();
                writeln!(
                    self.text,
                    "{now} {} | {number} {outcome} [{}]",
                    actor.0, record.processors
                )?;
                self.records.push(JobRecord::clone(record));
            }
            Observation::JobMoved { job, from, to } => {
                writeln!(self.text, "{now} {} | {} moves {}>{}", actor.0, job.0, from.0, to.0)?;
            }
            Observation::JobSized { job, sizing, stage_in } => {
                let haggle_model::Sizing { processors, start, planned } = sizing;
                let at = (processors, start, planned);
                writeln!(self.text, "{now} {} | {} sized {at:?}", actor.0, job.0)?;
                self.staged.insert(*job, *stage_in);
            }
            Observation::WaitingReviewed(review) => {
                writeln!(self.text, "{now} {} | {review:?}", actor.0)?;
            }
            Observation::MessageRefused { from } => {
                writeln!(self.text, "{now} {} | refuses {}", actor.0, from.0)?;
                self.refused.push(format!("{now} {from} to {actor}"));
            }
        }
        Ok(())
    }
}

pub(crate) fn kind(actor: &AnyActor) -> ActorKind {
    match actor {
        AnyActor::User(_) => ActorKind::User,
        AnyActor::Provider(_) | AnyActor::GridResource(_) | AnyActor::Cluster(_) => {
            ActorKind::Provider
        }
        AnyActor::Metascheduler(_)
        | AnyActor::Negotiator(_)
        | AnyActor::Coallocator(_)
        | AnyActor::Reallocator(_)
        | AnyActor::Transactor(_)
        | AnyActor::Rescheduler(_)
        | AnyActor::Dispatcher(_) => ActorKind::Metascheduler,
        AnyActor::Nature(_) => ActorKind::Nature,
        _ => ActorKind::Service,
    }
}

/// Items that a message discloses about its sender.
fn items(message: &Message, between: Parties) -> Vec<DisclosedItem> {
    let with_user = [between.from, between.to].contains(&ActorKind::User);
    let item = match message {
        Message::Numbered(NumberedMessage::Item { message, .. }) => return items(message, between),
        Message::Submission(
            SubmissionMessage::Submit(_)
            | SubmissionMessage::Started { .. }
            | SubmissionMessage::Finished { .. },
        ) if with_user => return Vec::new(),
        Message::Submission(message) => match message {
            SubmissionMessage::Submit(_) | SubmissionMessage::SubmitAhead(_) => DisclosedItem::Job,
            SubmissionMessage::Refused { .. } => DisclosedItem::Refusal,
            SubmissionMessage::Started { .. } | SubmissionMessage::Finished { .. } => {
                DisclosedItem::JobStatus
            }
            _ => return Vec::new(),
        },
        Message::Reservation(message) => match message {
            ReservationMessage::Reserve(_) | ReservationMessage::Take { .. } if with_user => {
                return Vec::new();
            }
            ReservationMessage::Reserve(_) | ReservationMessage::Take { .. } => DisclosedItem::Job,
            ReservationMessage::Granted { .. }
            | ReservationMessage::Fixed { .. }
            | ReservationMessage::Shrunk { .. } => DisclosedItem::Estimate,
            ReservationMessage::Alternatives { .. } => DisclosedItem::Interval,
            ReservationMessage::Expired { .. }
            | ReservationMessage::Broken { .. }
            | ReservationMessage::Revoked { .. } => DisclosedItem::Change,
        },
        Message::Query(QueryMessage::EstimateRequest { .. }) => DisclosedItem::Job,
        Message::Query(QueryMessage::Estimate { .. }) => DisclosedItem::Estimate,
        Message::Query(QueryMessage::Load { .. }) => DisclosedItem::Load,
        Message::Query(QueryMessage::NoAnswer { .. }) => DisclosedItem::Refusal,
        Message::Reallocation(message) => match message {
            ReallocationMessage::SizeRequest(_) | ReallocationMessage::Submit { .. } => {
                DisclosedItem::Job
            }
            ReallocationMessage::Size { .. } => DisclosedItem::Estimate,
            ReallocationMessage::NoSize { .. } => DisclosedItem::Refusal,
            ReallocationMessage::Waiting { jobs } if !jobs.is_empty() => {
                DisclosedItem::ExpectedCompletion
            }
            ReallocationMessage::Completion { .. } => DisclosedItem::ExpectedCompletion,
            ReallocationMessage::Back { jobs } if !jobs.is_empty() => DisclosedItem::JobStatus,
            _ => return Vec::new(),
        },
        Message::Bargain(BargainMessage::Call(_)) => DisclosedItem::Bag,
        Message::Bargain(BargainMessage::Probe { .. }) => DisclosedItem::Change,
        message if offers_in(message).is_some() => {
            let answer = offers_in(message).expect("there are offers");
            let (view, level) = (&answer.view, answer.view.disclosure());
            let told = [
                (DisclosedItem::Offer, !view.offers().is_empty()),
                (DisclosedItem::Power, level >= Disclosure::Power),
                (DisclosedItem::Load, level >= Disclosure::Load),
                (DisclosedItem::FreeSlots, view.free_time().is_some_and(|it| !it.slots.is_empty())),
                (DisclosedItem::Queue, !view.queue().is_empty()),
            ];
            return told.into_iter().filter(|&(_, told)| told).map(|(item, _)| item).collect();
        }
        Message::Agreement(AgreementMessage::Answer { message, .. })
            if matches!(message.answer, Vote::Ready { .. } | Vote::Committed(Some(_))) =>
        {
            DisclosedItem::Estimate
        }
        Message::Agreement(AgreementMessage::Instruct { message, .. }) => {
            match message.instruction {
                Instruction::Commit(ShareOrder { expected: Some(_), .. }) => {
                    DisclosedItem::BagCompletion
                }
                _ => return Vec::new(),
            }
        }
        Message::Coallocation(message) => match message {
            CoallocationMessage::Slots { changed, own, .. } if changed.len() + own.len() > 0 => {
                DisclosedItem::FreeSlots
            }
            CoallocationMessage::Instruct { message, .. } => match message.instruction {
                Instruction::Prepare { request: Want::Reserve(..), .. } => DisclosedItem::Job,
                _ => return Vec::new(),
            },
            CoallocationMessage::Answer { message, .. } => match message.answer {
                Vote::NotReady(None) => DisclosedItem::Change,
                Vote::NotReady(Some(_)) => DisclosedItem::Estimate,
                _ => return Vec::new(),
            },
            CoallocationMessage::Profile { .. } => DisclosedItem::Job,
            CoallocationMessage::Throughput { rates, .. } if !rates.is_empty() => {
                DisclosedItem::Power
            }
            CoallocationMessage::Machines { available, .. } if !available.is_empty() => {
                DisclosedItem::Estimate
            }
            CoallocationMessage::RescheduleRequest { .. }
            | CoallocationMessage::RoomGrew { .. } => DisclosedItem::Change,
            CoallocationMessage::Started { .. }
            | CoallocationMessage::Broken { .. }
            | CoallocationMessage::Finished { .. } => DisclosedItem::JobStatus,
            _ => return Vec::new(),
        },
        Message::Transaction(TransactionMessage::Said { message, .. }) => {
            match spoken_item(message) {
                Some(item) => item,
                None => return Vec::new(),
            }
        }
        Message::Transaction(TransactionMessage::TooWide { .. }) => DisclosedItem::Refusal,
        Message::Transaction(
            TransactionMessage::Begun { .. } | TransactionMessage::Over { .. },
        ) => DisclosedItem::JobStatus,
        Message::Share(ShareMessage::Started { .. } | ShareMessage::Finished { .. }) => {
            DisclosedItem::JobStatus
        }
        Message::Share(ShareMessage::NewCompletionTimes { .. }) => {
            DisclosedItem::ExpectedCompletion
        }
        Message::Share(ShareMessage::BagCompletion { .. }) => DisclosedItem::BagCompletion,
        _ => return Vec::new(),
    };
    vec![item]
}

/// Item that a message of a protocol discloses, by its kind.
pub(crate) fn spoken_item(message: &Spoken) -> Option<DisclosedItem> {
    let text = format!("{message:?}");
    match message.kind() {
        "prepare" | "reserve" | "book" | "watch" | "begin" | "claim" | "request" | "upgrade"
        | "query" => Some(DisclosedItem::Job),
        "start" if text.contains("Prepare") => Some(DisclosedItem::Job),
        "booked" => Some(DisclosedItem::Estimate),
        "avail" | "probe" | "preempted" | "yield-ask" => Some(DisclosedItem::Change),
        "status" if text.starts_with("Probing") => Some(DisclosedItem::Change),
        "status" if text.contains("Refused") => Some(DisclosedItem::Change),
        "vote" if text.contains("Aborted") => Some(DisclosedItem::Change),
        "not-ready" | "stale" | "not-enough" => Some(DisclosedItem::Change),
        "refused" if text.contains(&format!("{:?}", Time::FOREVER)) => Some(DisclosedItem::Change),
        "refused" => Some(DisclosedItem::Estimate),
        _ => None,
    }
}

/// The offers that a message carries.
pub(crate) fn offers_in(message: &Message) -> Option<&Answer> {
    match message {
        Message::Bargain(BargainMessage::Offers(answer)) => Some(answer),
        Message::Agreement(message) => message.new_offers(),
        Message::Numbered(NumberedMessage::Item { message, .. }) => offers_in(message),
        _ => None,
    }
}

/// A job in seconds: submitted, requested (0 = no limit), run, processors.
pub(crate) fn job(number: i64, submit: i64, requested: i64, run: i64, processors: u32) -> Job {
    let mut job = Job::new(0, Time::from_secs(submit), processors, Span::from_secs(run));
    job.number = number;
    job.lot = Lot::new("jobs", number);
    job.requested_time = Some(Span::from_secs(requested)).filter(|&it| it > Span::ZERO);
    job
}
