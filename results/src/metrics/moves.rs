//! How often jobs that waited were submitted again, and what looking at them took.

use haggle_model::observation::Review;
use haggle_model::{ActorId, JobId, Sizing};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// How often jobs that waited were submitted again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moves {
    /// To another provider.
    pub moved: u64,
    /// To the same one, where they may have another size and place.
    pub resubmitted: u64,
    /// Those of these that got another number of processors there.
    #[serde(default)]
    pub resized: u64,
    /// How often jobs that waited were looked at.
    #[serde(default)]
    pub events: u64,
    /// Jobs that waited then, sum over these events.
    #[serde(default)]
    pub waiting: u64,
    /// Estimates that were asked for in these events.
    #[serde(default)]
    pub estimates: u64,
    /// How many it would have been if nothing that a provider said were remembered until it changes.
    #[serde(default)]
    pub forgetful_estimates: u64,
    /// Events in which as many jobs waited as are compared, or more.
    #[serde(default)]
    pub full_events: u64,
    /// What `forgetful_estimates` are of these.
    #[serde(default)]
    pub full_forgetful_estimates: u64,
}

impl Moves {
    pub(super) fn reviewed(&mut self, review: &Review) {
        self.events += 1;
        self.waiting += u64::from(review.waiting);
        self.estimates += review.estimates;
        self.forgetful_estimates += review.forgetful_estimates;
        if review.is_full {
            self.full_events += 1;
            self.full_forgetful_estimates += review.forgetful_estimates;
        }
    }
}

/// The sizes that providers have chosen for jobs: of each the last two.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes(FxHashMap<JobId, (Sizing, Sizing)>);

impl Sizes {
    /// A provider has chosen a size.
    pub(crate) fn sized(&mut self, job: JobId, sizing: Sizing) {
        let sizes = self.0.entry(job).or_insert((sizing, sizing));
        *sizes = (sizes.1, sizing);
    }

    /// The size before the last one, and the last one.
    pub(crate) fn of(&self, job: JobId) -> Option<(Sizing, Sizing)> {
        self.0.get(&job).copied()
    }

    /// A job is over.
    pub(crate) fn over(&mut self, job: JobId) {
        self.0.remove(&job);
    }
}

/// Collects moves while a run goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct MoveLog {
    /// Present as soon as somebody has looked at what waits.
    pub(super) moves: Option<Moves>,
    pub(super) sizes: Sizes,
}

impl MoveLog {
    pub(super) fn moved(&mut self, job: JobId, from: ActorId, to: ActorId) {
        let moves = self.moves.get_or_insert_default();
        if from != to {
            moves.moved += 1;
            return;
        }
        moves.resubmitted += 1;
        let resized = |(before, after): (Sizing, Sizing)| before.processors != after.processors;
        moves.resized += u64::from(self.sizes.of(job).is_some_and(resized));
    }
}
