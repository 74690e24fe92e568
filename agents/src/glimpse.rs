//! Glimpses: the knowledge of one actor as plain data, for a viewer or a status page.
//!
//! A glimpse has the facts that the actor itself knows, and no others. A provider knows the planned end of
//! a job and not its true end; a metascheduler knows of a provider only its answers. All kinds of actors
//! have the same four tables, and a table without rows is empty.
//!
//! | table | rows | actors |
//! |---|---|---|
//! | [`Machine`] | at most one | that own processors or slots |
//! | [`Work`] | jobs that the actor answers for | all that take jobs |
//! | [`Promise`] | windows, holds, offers, bookings, maintenance | providers and metaschedulers |
//! | [`Fact`] | known numbers about others, or about itself | that receive facts about others, or keep accounts |
//!
//! Times are instants of the simulation, in microseconds when they are serialised. An empty cell is a time or
//! number that the actor does not know.

use std::collections::BTreeSet;

use haggle_model::{ActorId, AgreementId, JobId, ProcessorSet, Time};
use serde::{Deserialize, Serialize};

use crate::AnyActor;

/// The knowledge of an actor at an instant.
///
/// ```
/// use haggle_agents::glimpse::{Glimpse, Machine};
/// use haggle_agents::{AnyActor, Provider, ProviderConfig};
/// use haggle_model::random::stream;
/// use haggle_model::{ProviderId, Time};
/// use haggle_scheduling::{Compression, Order, Policy, SchedulerConfig};
///
/// let (policy, order, compression) = (Policy::Easy, Order::Arrival, Compression::Replan);
/// let scheduler = SchedulerConfig { policy, order, compression, depth: None, window: None };
/// let config = ProviderConfig::new(ProviderId(0), 8, scheduler.into());
/// let provider = Provider::new(config, stream(1, "north", "orders"));
/// let glimpse = AnyActor::Provider(Box::new(provider)).glimpse(Time::ZERO);
/// let machine = Machine { processors: 8, free: 8, failed: 0, closed: 0 };
/// assert_eq!(glimpse, Glimpse { machine: Some(machine), ..Glimpse::default() });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Glimpse {
    /// The processors or slots that the actor owns; `None` = it owns none.
    pub machine: Option<Machine>,
    /// Running work by its start, then waiting work in the order of the queue, then all other jobs by number.
    pub jobs: Vec<Work>,
    /// Promises given and received.
    pub promises: Vec<Promise>,
    /// Numbers that the actor knows.
    pub facts: Vec<Fact>,
}

/// The processors of a provider or a cluster, or the slots of a resource of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// All of them.
    pub processors: u32,
    /// The ones that can start work now.
    pub free: u32,
    /// The ones that are down.
    pub failed: u32,
    /// The ones that are closed for maintenance.
    pub closed: u32,
}

impl Machine {
    /// The ones that work or are held for work.
    pub fn in_use(&self) -> u32 {
        let others = [self.free, self.failed, self.closed];
        others.into_iter().fold(self.processors, u32::saturating_sub)
    }
}

/// A machine, and the jobs that run there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    /// The machine.
    pub machine: Machine,
    /// The jobs of which anything runs there, each once, by number.
    pub running: Vec<JobId>,
}

impl Census {
    /// A machine, and the jobs of these pieces of work that run there.
    pub(crate) fn new(machine: Machine, running: impl IntoIterator<Item = JobId>) -> Census {
        let running = BTreeSet::from_iter(running);
        Census { machine, running: running.into_iter().collect() }
    }

    fn of(glimpse: &Glimpse) -> Option<Census> {
        let running = glimpse.jobs.iter().filter(|it| it.stage == Stage::Running);
        Some(Census::new(glimpse.machine?, running.map(|it| it.job)))
    }
}

/// A job, or a part of it, that an actor answers for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The job.
    pub job: JobId,
    /// Its state at this actor.
    pub stage: Stage,
    /// Processors of a job or a part; tasks of a bag or a share.
    pub processors: u32,
    /// Processors that it holds, by the actor's own numbers. Empty = it holds none, or they have no numbers.
    pub held: ProcessorSet,
    /// Actor from which it came.
    pub from: ActorId,
    /// Actors that have it or its parts, as far as this actor knows. Empty = it is here.
    pub at: Vec<ActorId>,
    /// Time since which it is here; `None` = the actor does not record that.
    pub since: Option<Time>,
    /// Start of running work, or planned start of waiting work; `None` = no start is planned.
    pub start: Option<Time>,
    /// Planned end; `None` = no end is planned.
    pub end: Option<Time>,
    /// Completion that was promised to its submitter; `None` = no promise.
    pub promised_end: Option<Time>,
}

/// State of a job at an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// It runs here.
    Running,
    /// It has its processors here, and its program has not begun.
    Occupying,
    /// It waits in the queue, or for its turn.
    Waiting,
    /// Processors are held for it under an agreement that is not committed.
    Held,
    /// It was accepted, and its data are on their way.
    Expected,
    /// It waits for other tasks of its workflow, or until it is ready.
    Blocked,
    /// It has lost its processors, and the queue has not been notified.
    Lost,
    /// Others are asked about it, or called for offers.
    Asking,
    /// An agreement about it is open.
    Agreeing,
    /// It was sent to another actor, which has not accepted it.
    Sent,
    /// Other actors have it.
    Placed,
}

/// A promise that an actor has given or received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    /// Kind of the promise.
    pub kind: PromiseKind,
    /// The job; `None` = it is about no job.
    pub job: Option<JobId>,
    /// The other party; `None` = there is none.
    pub with: Option<ActorId>,
    /// The agreement under which it was given, if it has one.
    pub agreement: Option<AgreementId>,
    /// Processors, or tasks of a bag; `None` = the actor does not record them.
    pub processors: Option<u32>,
    /// Its start, or the earliest one; `None` = it names no start.
    pub start: Option<Time>,
    /// Its end, or the latest one; `None` = it names no end.
    pub end: Option<Time>,
    /// Time until which it can be taken up; `None` = no limit, or it was taken up.
    pub until: Option<Time>,
}

/// Kind of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromiseKind {
    /// An advance reservation: the job starts at or after `start` and is over by `end`.
    Window,
    /// An offer for tasks of a bag, which are over by `end`.
    Offer,
    /// Processors are held until an agreement is committed or ends.
    Hold,
    /// A place for a part of a job that is agreed on.
    Booking,
    /// The holder of the promise is notified when there is room.
    Notice,
    /// The votes and the decision of an agreement are kept for its coordinator.
    Vote,
    /// Processors are closed from `start` to `end`.
    Maintenance,
}

/// A number that an actor knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// The actor that it is about; `None` = the actor itself.
    pub about: Option<ActorId>,
    /// The job that it is about, if it is about one.
    pub job: Option<JobId>,
    /// Meaning and unit of the number.
    pub kind: FactKind,
    /// The number.
    pub value: f64,
    /// Time of the fact, as its source reported it; `None` = the source did not report it.
    pub at: Option<Time>,
}

/// Meaning and unit of a [`Fact`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FactKind {
    /// Estimated start of a job there, seconds of the simulation.
    EstimatedStart,
    /// Estimated completion of a job there, seconds of the simulation.
    EstimatedCompletion,
    /// Time that it needs for its remaining work, s.
    Load,
    /// 1 = it refuses the job, or does not disclose an answer.
    Refuses,
    /// 1 = its answer has not arrived.
    Awaited,
    /// Number of processors.
    Processors,
    /// Number of processors that are free without end.
    FreeProcessors,
    /// Number of jobs that hold a slot.
    UsedSlots,
    /// 1 = it is up, 0 = it is down.
    Up,
    /// Computing speed that the load of others leaves, MIPS.
    Speed,
    /// Available part of its processors, mean over all, from 0 to 1.
    AvailablePart,
    /// Number of waiting jobs.
    WaitingJobs,
    /// Size of the newest checkpoint of a job, bytes.
    CheckpointSize,
    /// Room that is in use, bytes.
    UsedRoom,
    /// Room in total, bytes.
    Capacity,
    /// Bytes that are to be stored and wait for room.
    AwaitedRoom,
    /// Part of a transfer that has arrived, bytes.
    Moved,
    /// Number of changes of loads so far.
    Changes,
}

impl AnyActor {
    /// The machine of the actor and the jobs that run there; `None` = it has no machine. It takes less time than a glimpse.
    pub fn census(&self, now: Time) -> Option<Census> {
        match self {
            AnyActor::Provider(provider) => Some(provider.census()),
            AnyActor::GridResource(_) | AnyActor::Cluster(_) => Census::of(&self.glimpse(now)),
            AnyActor::Other(other) => Census::of(&other.glimpse(now)),
            _ => None,
        }
    }

    /// The knowledge of the actor. `now` is the present instant.
    pub fn glimpse(&self, now: Time) -> Glimpse {
        match self {
            AnyActor::User(user) => user.glimpse(),
            AnyActor::Provider(provider) => provider.glimpse(now),
            AnyActor::Metascheduler(metascheduler) => metascheduler.glimpse(),
            AnyActor::Negotiator(negotiator) => negotiator.glimpse(),
            AnyActor::Coallocator(coallocator) => coallocator.glimpse(),
            AnyActor::Transactor(transactor) => transactor.glimpse(),
            AnyActor::Acceptor(acceptor) => acceptor.glimpse(),
            AnyActor::Reallocator(reallocator) => reallocator.glimpse(),
            AnyActor::Cluster(cluster) => cluster.glimpse(),
            AnyActor::Rescheduler(rescheduler) => rescheduler.glimpse(),
            AnyActor::ResourceUpdates(updates) => updates.glimpse(),
            AnyActor::Nature(nature) => nature.glimpse(),
            AnyActor::GridResource(resource) => resource.glimpse(now),
            AnyActor::Dispatcher(dispatcher) => dispatcher.glimpse(),
            AnyActor::InformationService(service) => service.glimpse(),
            AnyActor::CheckpointServer(server) => server.glimpse(),
            AnyActor::DataNetwork(network) => network.glimpse(now),
            AnyActor::Storage(storage) => storage.glimpse(),
            AnyActor::Other(other) => other.glimpse(now),
        }
    }
}

impl Work {
    /// A job that came from `from`, without times.
    pub fn new(job: JobId, stage: Stage, processors: u32, from: ActorId) -> Work {
        Work {
            job,
            stage,
            processors,
            held: ProcessorSet::new(),
            from,
            at: Vec::new(),
            since: None,
            start: None,
            end: None,
            promised_end: None,
        }
    }
}

impl Promise {
    /// A promise without a job, a party or times.
    pub fn new(kind: PromiseKind, processors: impl Into<Option<u32>>) -> Promise {
        Promise {
            kind,
            job: None,
            with: None,
            agreement: None,
            processors: processors.into(),
            start: None,
            end: None,
            until: None,
        }
    }
}

impl Fact {
    /// A fact about an actor and no job.
    pub fn about(about: ActorId, kind: FactKind, value: f64) -> Fact {
        Fact { about: Some(about), ..Fact::own(kind, value) }
    }

    /// A fact about the actor itself.
    pub fn own(kind: FactKind, value: f64) -> Fact {
        Fact { about: None, job: None, kind, value, at: None }
    }
}

impl Glimpse {
    /// Jobs of an actor without a machine.
    pub(crate) fn of_jobs(jobs: Vec<Work>) -> Glimpse {
        Glimpse { jobs, ..Glimpse::default() }
    }

    /// Facts of an actor without a machine.
    pub(crate) fn of_facts(facts: Vec<Fact>) -> Glimpse {
        Glimpse { facts, ..Glimpse::default() }
    }
}

/// A time that is known and comes.
pub(crate) fn known(time: Time) -> Option<Time> {
    haggle_scheduling::promise(time)
}
