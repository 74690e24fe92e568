//! A provider as a scenario describes it.

use haggle_model::{ActorId, Disclosure, ProviderId, Span, Time};
use haggle_scheduling::{MAX_ATTEMPTS, Overrun, Passes, Scheduling};
use serde::{Deserialize, Serialize};

use super::{Bargaining, CheckpointStore, Maintenance, OnFailure, ReservingConfig, Transacting};

/// A provider as a scenario describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProviderConfig {
    /// Its index among the providers.
    pub id: ProviderId,
    /// Processors it owns, at least one.
    pub processors: u32,
    /// Speed of its processors, above 0; 1 = the reference processor.
    pub speed: f64,
    /// Its local scheduler.
    pub scheduler: Scheduling,
    /// Frequency of its decisions. A scheduler that bargains or takes parts of jobs decides once an
    /// instant.
    pub passes: Passes,
    /// Time between its decisions, which then are at multiples of it; `None` = whenever something changes. Between
    /// them, its scheduler is notified of nothing.
    pub interval: Option<Span>,
    /// Treatment of jobs that run over their request.
    pub overrun: Overrun,
    /// Treatment of rigid jobs whose processors fail.
    pub on_failure: OnFailure,
    /// Store of checkpoints, if they go there over a shared network.
    pub store: Option<CheckpointStore>,
    /// Most starts of a job, at least one: a job that has been lost as often is over.
    pub max_attempts: u32,
    /// Level up to which it discloses information.
    pub disclosure: Disclosure,
    /// Its rules for bargaining over bags, if its scheduler bargains.
    pub bargaining: Bargaining,
    /// Its treatment of reservations, if its scheduler grants them.
    pub reserving: ReservingConfig,
    /// Millionths of its free processors that it discloses to co-allocators.
    pub publishes: u32,
    /// Type of its machines, for iterative applications.
    pub machine: String,
    /// Its maintenance windows; a window is identified by its index here.
    pub maintenance: Vec<Maintenance>,
    /// Metaschedulers that repeat messages without answer, each with the time between repetitions; the provider
    /// does the same.
    pub repeating: Vec<(ActorId, Option<Span>)>,
    /// The protocols by which parts of jobs are agreed on with it.
    pub transacting: Vec<Transacting>,
    /// True if a real machine runs its jobs. Their ends are then messages from outside
    /// ([`RunMessage::WorkOver`](crate::RunMessage::WorkOver)), and their hidden run times have no effect.
    pub real: bool,
}

impl ProviderConfig {
    /// The first time from `time` on at which the scheduler may decide.
    pub(super) fn next_pass(&self, time: Time) -> Time {
        self.interval.map_or(time, |interval| time.next_multiple_of(interval))
    }

    /// A planned time, up to the first pass behind it if it begins at a pass.
    pub(super) fn up_to_a_pass(&self, span: Span) -> Span {
        self.next_pass(Time::ZERO + span) - Time::ZERO
    }

    /// A provider of reference processors. It stops work at the end of its request, starts lost
    /// jobs again, and discloses no more than it must.
    pub fn new(id: ProviderId, processors: u32, scheduler: Scheduling) -> ProviderConfig {
        ProviderConfig {
            id,
            processors,
            speed: 1.0,
            scheduler,
            passes: Passes::default(),
            interval: None,
            overrun: Overrun::Kill,
            on_failure: OnFailure::Restart,
            store: None,
            max_attempts: MAX_ATTEMPTS,
            disclosure: Disclosure::Offers,
            bargaining: Bargaining::default(),
            reserving: ReservingConfig::default(),
            publishes: 1_000_000,
            machine: String::new(),
            maintenance: Vec::new(),
            repeating: Vec::new(),
            transacting: Vec::new(),
            real: false,
        }
    }
}
