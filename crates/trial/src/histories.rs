//! Search of histories: a bounded model checker for small worlds.
//!
//! ```text
//! run ──┬── message ── message ── message ── ... ── end: judged
//!       │        ├── delayed ── ... ── end: judged            one deviation
//!       │        ├── lost ──┬── ... ── end: judged
//!       │        │          └── its receiver crashed ── ...   two deviations
//!       │        └── its receiver crashed ── ...
//! ```
//!
//! A history is a run with deviations at some of its messages. Histories are searched by their number of deviations,
//! so the first one that violates an invariant is one of the smallest. A copy of the run goes on at each deviation;
//! nothing is repeated from the start. A state that was met before is not searched again.

mod choice;
mod invariants;
mod record;
mod search;
#[cfg(test)]
mod tests;
mod worlds;

use std::collections::BTreeSet;
use std::path::Path;

use haggle_agents::AnyActor;
use haggle_agreements::protocol::Outcome;
use haggle_experiment::run::ExperimentError;
use haggle_experiment::world::Stage;
use haggle_model::{ActorId, Cast, Span};
use haggle_runtime::{Driver, InputsLeft, RunError, Simulation};
use haggle_scenario::Scenario;
use haggle_scenario::quantity::Share;

pub use choice::{Choice, ChoiceError, Deviation};
pub use search::{Bounds, Found, Report, replay, search};
pub use worlds::{Example, examples};

/// A small world whose histories are searched.
pub struct World {
    /// Names of its actors.
    cast: Cast,
    start: Simulation<'static>,
    /// True if messages may be lost.
    may_lose: bool,
    /// Actors that may crash.
    crashing: Vec<ActorId>,
    /// Metaschedulers whose bookings stay when they crash.
    orphaning: BTreeSet<ActorId>,
    /// Time from a crash to the restart.
    down: Span,
}

/// Reason why the histories of a scenario cannot be searched.
#[derive(Debug, thiserror::Error)]
pub enum HistoriesError {
    /// The world cannot be built or run.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// Inputs are too long.
    #[error(transparent)]
    Inputs(#[from] InputsLeft),
    /// A given history does not fit the world.
    #[error(
        "{choice} is not possible: {reason}; `haggle verify --histories` prints histories that are"
    )]
    Impossible {
        /// The choice.
        choice: Choice,
        /// Reason.
        reason: &'static str,
    },
}

impl From<RunError> for HistoriesError {
    fn from(error: RunError) -> HistoriesError {
        HistoriesError::Experiment(error.into())
    }
}

impl World {
    /// The world of a scenario, whose relative paths start from `folder`. Messages may be lost if the scenario has
    /// a loss, and the actors of its `[[failures]]` may crash, each time for `down`. The search decides about both.
    ///
    /// # Errors
    /// If the world cannot be built, or has more than a few jobs or failures of resources.
    pub fn of(scenario: &Scenario, folder: &Path, down: Span) -> Result<World, HistoriesError> {
        let Stage { mut world, cast, .. } =
            Stage::set(scenario, folder).map_err(ExperimentError::from)?;
        let named = |name: &str| {
            let place = cast.actors.iter().position(|actor| actor.name == name)?;
            Some(ActorId(place as u32))
        };
        let crashing = scenario.crashing().filter_map(|name| named(name.as_str())).collect();
        let orphans = |actor: &AnyActor| match actor {
            AnyActor::Transactor(it) => it.protocol().traits().outcome == Outcome::Orphans,
            _ => false,
        };
        let actors = (0..).map(ActorId).zip(&world.actors);
        let orphaning = actors.filter(|(_, it)| orphans(it)).map(|(id, _)| id).collect();
        let may_lose = scenario.network.loss != Share::ZERO;
        world.network.decide_faults();
        // Blueprints make copies of a run slow, and a rebuilt actor has the state that it had.
        world.blueprints.clear();
        let start = Simulation::new(world, Driver::Sequential)?;
        start.branch()?;
        Ok(World { cast, start, may_lose, crashing, orphaning, down })
    }

    /// A world that was built by hand.
    #[cfg(test)]
    pub(crate) fn by_hand(
        cast: Cast,
        start: Simulation<'static>,
        may_lose: bool,
        crashing: Vec<ActorId>,
    ) -> World {
        let (orphaning, down) = (BTreeSet::new(), Span::from_secs(5));
        World { cast, start, may_lose, crashing, orphaning, down }
    }

    fn name(&self, actor: ActorId) -> String {
        let actor_info = self.cast.actors.get(actor.index());
        actor_info.map_or_else(|| actor.to_string(), |it| it.name.clone())
    }
}
