//! A provider as a scenario describes it.

use haggle_model::{Disclosure, ProviderId};
use haggle_scheduling::{MAX_ATTEMPTS, Overrun, Passes, Scheduling};

use super::{Bargaining, CheckpointStore, Maintenance, OnFailure, ReservingConfig, Transacting};

/// A provider as a scenario describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderConfig {
    /// Its place among the providers.
    pub id: ProviderId,
    /// Processors it owns, at least one.
    pub processors: u32,
    /// Speed of its processors, above 0; 1 = the reference processor.
    pub speed: f64,
    /// Its local scheduler.
    pub scheduler: Scheduling,
    /// How often it decides which jobs start. A scheduler that bargains or takes parts of jobs decides once an instant.
    pub passes: Passes,
    /// What happens to jobs that run over their request.
    pub overrun: Overrun,
    /// What happens to rigid jobs whose processors fail.
    pub on_failure: OnFailure,
    /// Where checkpoints are kept, if they go there over a network that others use, too.
    pub store: Option<CheckpointStore>,
    /// How often a job is started, at least once: one that has been lost as often is over.
    pub max_attempts: u32,
    /// How much it tells.
    pub disclosure: Disclosure,
    /// How it negotiates over bags, if its scheduler does.
    pub bargaining: Bargaining,
    /// How it treats reservations, if its scheduler grants them.
    pub reserving: ReservingConfig,
    /// How many millionths of its free processors it tells of who spreads jobs.
    pub publishes: u32,
    /// Of which type its machines are, for iterative applications.
    pub machine: String,
    /// When it closes processors; windows are known by their places here.
    pub maintenance: Vec<Maintenance>,
    /// The protocols by which parts of jobs are agreed on with it.
    pub transacting: Vec<Transacting>,
}

impl ProviderConfig {
    /// A provider of reference processors that stops what runs over its request, starts again
    /// what fails, and tells no more than it must.
    pub fn new(id: ProviderId, processors: u32, scheduler: Scheduling) -> ProviderConfig {
        ProviderConfig {
            id,
            processors,
            speed: 1.0,
            scheduler,
            passes: Passes::default(),
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
            transacting: Vec::new(),
        }
    }
}
