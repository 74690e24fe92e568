//! Interface between a provider and its local scheduler.

use std::fmt;
use std::ops::{Deref, DerefMut};

use haggle_model::{Demand, Nodes, Span, Time};
use serde::{Deserialize, Serialize};

use crate::bags::{Bargainer, Fractions};
use crate::capabilities::{Capabilities, Refusing};
use crate::coallocation::{CoallocationQueue, Parts, around_parts};
use crate::coordinated::{ConservativeBags, ReschedulingConfig, Shares};
use crate::edf::{Edf, EdfConfig};
use crate::maintenance::Maintaining;
use crate::reservations::{Granting, ReservationConfig, Reservations};
use crate::site::{Owner, SiteConfig};
use crate::{
    Compression, Conservative, Easy, Fcfs, NodeQueue, NodesConfig, OnNodes, Order, Recorded,
    Replan, Reserving,
};

/// Names a job between a provider and its scheduler: small, dense, reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot(pub u32);

impl Slot {
    /// The number as an index into a vector.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Starts planned from this instant on wait for a job without a limit, which may hold its processors for
/// ever. Such a job has no planned start and no promise.
pub(crate) const BEYOND_ALL_LIMITS: Time = Time::from_micros(Span::FOREVER.as_micros());

/// A planned completion as a promise; `None` if it depends on the end of a job without a limit.
pub fn promise(completion: Time) -> Option<Time> {
    (completion < BEYOND_ALL_LIMITS).then_some(completion)
}

/// A job as its scheduler sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The provider's name for it.
    pub slot: Slot,
    /// Processors it needs, all at once; at most the machine's.
    pub processors: u32,
    /// Requested time on this machine; `None` = no limit.
    pub span: Option<Span>,
    /// User-supplied key for [`Order::Key`].
    pub key: i64,
    /// Latest completion its user wishes.
    pub deadline: Option<Time>,
    /// True if it goes ahead of all waiting jobs, because it ran already and was lost. A queue in the order
    /// of deadlines uses the deadline all the same.
    pub ahead: bool,
    /// Start that its log recorded; `None` = unknown. Only the queue [`Recorded`] reads it.
    pub recorded: Option<Time>,
    /// True if it ran before time zero: no queue and no limit keeps it from its start, also if it is lost later.
    pub ran_before: bool,
    /// The numbers of its owner. Only the queue [`NodeQueue`] reads them, if its site has rules.
    pub owner: Owner,
    /// Its demand for resources of nodes, if it needs more than processors anywhere. Only the queue [`NodeQueue`] reads
    /// it.
    pub demand: Option<Demand>,
}

impl Request {
    /// The request of a job with no other wishes than its processors and its time.
    pub const fn new(slot: Slot, processors: u32, span: Option<Span>) -> Request {
        Request {
            slot,
            processors,
            span,
            key: 0,
            deadline: None,
            ahead: false,
            recorded: None,
            ran_before: false,
            owner: Owner::UNKNOWN,
            demand: None,
        }
    }

    /// The time to plan with: no limit counts as for ever, and nothing is shorter than a tick.
    pub(crate) fn planned_span(&self) -> Span {
        self.span.unwrap_or(Span::FOREVER).max(Span::TICK)
    }
}

/// A job or tasks of a share that ran on processors that fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Killed {
    /// The job or share.
    pub slot: Slot,
    /// Processors it held: all of a rigid job, one for each task of a share.
    pub processors: u32,
    /// Time at which they were planned to end.
    pub planned_end: Time,
}

/// Decides which waiting jobs start on one space-shared machine.
///
/// The provider reports ends, failures, repairs and submissions, in this order. One
/// [`LocalScheduler::start_due`] follows all of an instant, or each of them ([`Passes`](crate::Passes)). An
/// end leaves free room; waiting jobs move up to it at the next call that depends on it. The scheduler
/// counts processors; the provider decides which ones a job gets.
pub trait LocalScheduler: fmt::Debug + Send {
    /// Queues a job. Returns its planned completion if that is a promise.
    fn submit(&mut self, now: Time, request: Request) -> Option<Time>;

    /// Puts jobs that are submitted at one instant into the order in which they join the queue; jobs that are
    /// equal in this order keep theirs.
    fn sort(&self, _together: &mut [Request]) {}

    /// A running job has ended, at its planned end or before.
    fn finished(&mut self, now: Time, slot: Slot);

    /// A job, or tasks of a share, planned to end by now under `slot` continue at least until `end`.
    fn overran(&mut self, now: Time, slot: Slot, end: Time);

    /// `processors` fail, and the jobs that ran on one of them are `killed`. The scheduler forgets them,
    /// and the provider may submit them again. Nothing is planned on failed processors until they are
    /// [`LocalScheduler::restored`], at an unknown time; promises may break.
    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]);

    /// Processors that had failed are back.
    fn restored(&mut self, now: Time, processors: u32);

    /// Takes a waiting job out of the queue; `false` if it does not wait here.
    fn withdraw(&mut self, now: Time, slot: Slot) -> bool;

    /// Appends the jobs that start now, in order, and takes their processors.
    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>);

    /// Planned start of the next waiting job, if the plan has one. The provider calls
    /// [`LocalScheduler::start_due`] then.
    fn next_start(&self) -> Option<Time>;

    /// Start of a hypothetical job that is submitted now; `None` if the machine
    /// is too small. The estimate changes no decision.
    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time>;

    /// Jobs that wait.
    fn queue_length(&self) -> usize;

    /// The guarantees of this queue beside those to its jobs. The services below refuse all other requests.
    fn capabilities(&self) -> Capabilities {
        Capabilities::none("this queue guarantees nothing beside its jobs")
    }

    /// As [`LocalScheduler::submit`], of a job that cannot start before `ready`. Its reservation lies
    /// behind that time, and its place in the queue is that of any other job. A queue that does not
    /// guarantee [starts](Capabilities::starts) may take no account of `ready`.
    fn submit_after(&mut self, now: Time, request: Request, _ready: Time) -> Option<Time> {
        self.submit(now, request)
    }

    /// Bags of tasks.
    fn bags(&mut self) -> &mut dyn Bargainer {
        Refusing::all()
    }

    /// Starts of waiting jobs, and of jobs that may come.
    fn starts(&mut self) -> &mut dyn Reserving {
        Refusing::all()
    }

    /// Advance reservations.
    fn windows(&mut self) -> &mut dyn Granting {
        Refusing::all()
    }

    /// Parts of jobs that have other parts elsewhere.
    fn parts(&mut self) -> &mut dyn Parts {
        Refusing::all()
    }

    /// Announced maintenance.
    fn maintenance(&mut self) -> &mut dyn Maintaining {
        Refusing::all()
    }

    /// Nodes with several resources.
    fn nodes(&mut self) -> &mut dyn OnNodes {
        Refusing::all()
    }
}

/// The backfilling rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Policy {
    /// First come, first served: no job passes the head of the queue.
    Fcfs,
    /// EASY: a job may pass if it does not delay the head of the queue.
    Easy,
    /// Conservative: a job may pass if it delays no other job.
    Conservative,
}

impl Policy {
    /// All policies, in the order of the manual.
    pub const ALL: [Policy; 3] = [Policy::Fcfs, Policy::Easy, Policy::Conservative];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Fcfs => "fcfs",
            Policy::Easy => "easy",
            Policy::Conservative => "conservative",
        }
    }
}

/// Any of the local schedulers. A snapshot of a provider contains it, so the set is closed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum LocalQueue {
    /// First come, first served.
    Fcfs(Fcfs),
    /// EASY backfilling.
    Easy(Easy),
    /// Conservative backfilling.
    Conservative(Conservative),
    /// Conservative backfilling that plans anew.
    Replan(Replan),
    /// First come, first served around parts of jobs.
    FcfsAndParts(CoallocationQueue<Fcfs>),
    /// EASY backfilling around parts of jobs.
    EasyAndParts(CoallocationQueue<Easy>),
    /// Conservative backfilling around parts of jobs.
    ConservativeAndParts(CoallocationQueue<Conservative>),
    /// Conservative backfilling that plans anew around parts of jobs.
    ReplanAndParts(CoallocationQueue<Replan>),
    /// Earliest deadline first around parts of jobs.
    EdfAndParts(CoallocationQueue<Edf>),
    /// Conservative backfilling of bags around parts of jobs.
    BagsAndParts(CoallocationQueue<ConservativeBags>),
    /// Earliest deadline first.
    Edf(Edf),
    /// Conservative backfilling of bags.
    Bags(ConservativeBags),
    /// Advance reservations.
    Reservations(Reservations),
    /// Starts as the logs of jobs recorded them.
    Recorded(Recorded),
    /// Nodes with several resources.
    Nodes(Box<NodeQueue>),
}

impl Deref for LocalQueue {
    type Target = dyn LocalScheduler;

    fn deref(&self) -> &Self::Target {
        match self {
            LocalQueue::Fcfs(queue) => queue,
            LocalQueue::Easy(queue) => queue,
            LocalQueue::Conservative(queue) => queue,
            LocalQueue::Replan(queue) => queue,
            LocalQueue::FcfsAndParts(queue) => queue,
            LocalQueue::EasyAndParts(queue) => queue,
            LocalQueue::ConservativeAndParts(queue) => queue,
            LocalQueue::ReplanAndParts(queue) => queue,
            LocalQueue::EdfAndParts(queue) => queue,
            LocalQueue::BagsAndParts(queue) => queue,
            LocalQueue::Edf(queue) => queue,
            LocalQueue::Bags(queue) => queue,
            LocalQueue::Reservations(queue) => queue,
            LocalQueue::Recorded(queue) => queue,
            LocalQueue::Nodes(queue) => &**queue,
        }
    }
}

impl DerefMut for LocalQueue {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            LocalQueue::Fcfs(queue) => queue,
            LocalQueue::Easy(queue) => queue,
            LocalQueue::Conservative(queue) => queue,
            LocalQueue::Replan(queue) => queue,
            LocalQueue::FcfsAndParts(queue) => queue,
            LocalQueue::EasyAndParts(queue) => queue,
            LocalQueue::ConservativeAndParts(queue) => queue,
            LocalQueue::ReplanAndParts(queue) => queue,
            LocalQueue::EdfAndParts(queue) => queue,
            LocalQueue::BagsAndParts(queue) => queue,
            LocalQueue::Edf(queue) => queue,
            LocalQueue::Bags(queue) => queue,
            LocalQueue::Reservations(queue) => queue,
            LocalQueue::Recorded(queue) => queue,
            LocalQueue::Nodes(queue) => &mut **queue,
        }
    }
}

/// A local scheduler as a scenario describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulerConfig {
    /// The backfilling rule.
    pub policy: Policy,
    /// The order of the queue.
    pub order: Order,
    /// How conservative backfilling uses time that is given back early.
    pub compression: Compression,
    /// Number of waiting jobs behind the first one that a pass of EASY examines, or for which conservative backfilling that
    /// plans anew makes reservations; `None` = all.
    pub depth: Option<u32>,
    /// Conservative backfilling that plans anew makes reservations for starts up to this time ahead; `None` = for all.
    pub window: Option<Span>,
}

impl SchedulerConfig {
    /// True if some waiting jobs have no reservation although conservative backfilling plans them. A
    /// [queue on nodes](crate::NodeQueue) does that, also for a machine without nodes.
    pub fn plans_partly(&self) -> bool {
        let is_part = self.depth.is_some() || self.window.is_some();
        is_part && self.policy == Policy::Conservative
    }

    /// The scheduler for a machine of `processors`.
    pub fn build(&self, processors: u32) -> Box<LocalQueue> {
        Box::new(match self.policy {
            Policy::Fcfs => LocalQueue::Fcfs(Fcfs::new(processors, self.order)),
            Policy::Easy => {
                LocalQueue::Easy(Easy::new(processors, self.order).with_depth(self.depth))
            }
            Policy::Conservative if self.compression == Compression::Replan => {
                LocalQueue::Replan(Replan::new(processors, self.order))
            }
            Policy::Conservative => {
                let queue = Conservative::new(processors, self.order, self.compression);
                LocalQueue::Conservative(queue)
            }
        })
    }
}

/// Any local scheduler, as a scenario describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Scheduling {
    /// A queue of rigid jobs.
    Queue(SchedulerConfig),
    /// One of the other queues, around parts of jobs that have other parts at other providers, and around advance
    /// reservations. A queue that grants reservations of its own has no such form, and stays as it is.
    AroundParts(Box<Scheduling>),
    /// Earliest deadline first, with promises and offers.
    Edf(EdfConfig),
    /// Conservative backfilling of bags, rescheduled when something ends early.
    Bags {
        /// The order in which waiting work is moved up.
        rescheduling: ReschedulingConfig,
        /// The sizes for which offers are made.
        fractions: Fractions,
        /// How shares are planned.
        shares: Shares,
    },
    /// Advance reservations with windows.
    Reservations(ReservationConfig),
    /// Starts as the logs of jobs recorded them.
    Recorded,
    /// A queue of rigid jobs on nodes with several resources, or with rules of a site.
    Nodes(Box<NodesConfig>),
}

impl Scheduling {
    /// The scheduler for a machine of `processors`.
    pub fn build(&self, processors: u32) -> Box<LocalQueue> {
        Box::new(match self {
            Scheduling::Queue(config) => return config.build(processors),
            Scheduling::AroundParts(inner) => around_parts(processors, *inner.build(processors)),
            Scheduling::Edf(config) => LocalQueue::Edf(Edf::new(processors, config.clone())),
            Scheduling::Bags { rescheduling, fractions, shares } => {
                let queue = ConservativeBags::new(processors, *rescheduling, fractions.clone());
                LocalQueue::Bags(queue.with_shares(*shares))
            }
            Scheduling::Reservations(config) => {
                LocalQueue::Reservations(Reservations::new(processors, *config))
            }
            Scheduling::Recorded => LocalQueue::Recorded(Recorded::new(processors)),
            Scheduling::Nodes(config) => {
                LocalQueue::Nodes(Box::new(NodeQueue::new(processors, config)))
            }
        })
    }
}

impl Scheduling {
    /// The same queue around parts and reservations.
    pub fn around_parts(self) -> Scheduling {
        Scheduling::AroundParts(Box::new(self))
    }

    /// Returns whether it backfills bags: a planned completion is a promise.
    pub fn backfills_bags(&self) -> bool {
        match self {
            Scheduling::Bags { .. } => true,
            Scheduling::AroundParts(inner) => inner.backfills_bags(),
            Scheduling::Queue(_)
            | Scheduling::Edf(_)
            | Scheduling::Reservations(_)
            | Scheduling::Recorded
            | Scheduling::Nodes(_) => false,
        }
    }

    /// Returns whether its queue has nothing but rigid jobs, so that another such queue can take them over.
    pub fn has_only_jobs(&self) -> bool {
        matches!(self, Scheduling::Queue(_) | Scheduling::Recorded)
    }

    /// The nodes on which it places jobs; `None` if it counts processors only.
    pub fn nodes(&self) -> Option<&Nodes> {
        match self {
            Scheduling::Nodes(config) => config.nodes.as_ref(),
            _ => None,
        }
    }

    /// True if running jobs may be stopped for others.
    pub fn preempts(&self) -> bool {
        match self {
            Scheduling::Nodes(config) => config.site.as_ref().is_some_and(SiteConfig::preempts),
            _ => false,
        }
    }

    /// Returns whether jobs start when their logs say.
    pub fn starts_as_recorded(&self) -> bool {
        match self {
            Scheduling::Recorded => true,
            Scheduling::AroundParts(inner) => inner.starts_as_recorded(),
            _ => false,
        }
    }
}

impl From<SchedulerConfig> for Scheduling {
    fn from(config: SchedulerConfig) -> Scheduling {
        Scheduling::Queue(config)
    }
}

/// Such as `edf, repair` or `conservative bags, coordinated`; see also [`SchedulerConfig`].
impl fmt::Display for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scheduling::Queue(config) => config.fmt(f),
            Scheduling::AroundParts(inner) => inner.fmt(f),
            Scheduling::Edf(config) => write!(f, "edf, {}", config.mode.name()),
            Scheduling::Bags { rescheduling, shares, .. } => {
                write!(f, "conservative bags, {rescheduling} rescheduling")?;
                f.write_str(if *shares == Shares::Blocks { ", in blocks" } else { "" })
            }
            Scheduling::Reservations(config) => {
                write!(f, "reservations, {} order", config.criterion.name())
            }
            Scheduling::Recorded => f.write_str("recorded"),
            Scheduling::Nodes(config) => config.fmt(f),
        }
    }
}

/// Such as `easy, shortest first` or `conservative, arrival order, by-start compression`.
impl fmt::Display for SchedulerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words(f, None)
    }
}

impl SchedulerConfig {
    /// Its words, with another order in place of its own if there is one.
    pub(crate) fn words(&self, f: &mut fmt::Formatter<'_>, order: Option<&str>) -> fmt::Result {
        match order {
            Some(order) => write!(f, "{}, {order}", self.policy.name())?,
            None => write!(f, "{}, {} order", self.policy.name(), self.order.name())?,
        }
        if self.policy == Policy::Conservative {
            write!(f, ", {} compression", self.compression.name())?;
        }
        if let Some(depth) = self.depth {
            write!(f, ", depth {depth}")?;
        }
        if let Some(window) = self.window {
            write!(f, ", window {window}")?;
        }
        Ok(())
    }
}
