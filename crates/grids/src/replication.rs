//! Schedulers that send a fixed or a load-dependent number of replicas of each
//! job (Chtepen 2011, sections 4.4.1, 4.4.2 and 4.4.4).

use serde::{Deserialize, Serialize};

use super::jobs::Turn;
use super::resources::{LoadUnit, Resources};
use super::scheduler::{GridScheduler, Restart, Round};
use super::view::{Detection, View};

/// Number of replicas of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replicas {
    /// Rep_min: under load, at least one.
    pub min: u32,
    /// Rep_max: while there is room, at least Rep_min.
    pub max: u32,
    /// CL: there is room while this much is left for the next job.
    pub room: u64,
    /// Unit of the room.
    pub unit: LoadUnit,
}

impl Replicas {
    /// The same number under any load.
    pub const fn fixed(replicas: u32) -> Replicas {
        Replicas { min: replicas, max: replicas, room: 0, unit: LoadUnit::Resources }
    }

    /// Returns whether there is room, CA ≥ CL.
    pub fn have_room(&self, resources: &Resources) -> bool {
        resources.free(self.unit) >= self.room
    }

    fn limit(&self, resources: &Resources) -> u32 {
        if self.have_room(resources) { self.max } else { self.min }
    }
}

/// Fills each job in turn up to its number of replicas, each on another resource, at the place of
/// [`Resources::place`].
///
/// Under load the second replicas of later jobs wait, and are sent when the load falls. A replica without a
/// place is postponed to the next round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replication {
    /// Number of replicas.
    pub replicas: Replicas,
    /// Without detection, failed replicas still count; with it they are replaced, from the beginning.
    pub detection: Detection,
}

impl Replication {
    /// UnconditionalRep: always `replicas` of each job.
    pub const fn unconditional(replicas: u32) -> Replication {
        Replication { replicas: Replicas::fixed(replicas), detection: Detection::None }
    }

    /// LoadDependentRep: more replicas while there is room.
    pub const fn load_dependent(replicas: Replicas) -> Replication {
        Replication { replicas, detection: Detection::None }
    }

    /// Failure detection and replication: replicas noticed to have failed are replaced.
    pub const fn with_detection(replicas: u32) -> Replication {
        Replication { replicas: Replicas::fixed(replicas), detection: Detection::State }
    }

    /// FailureDependentRep: more replicas while there is room, and replicas noticed to have failed are
    /// replaced.
    pub const fn failure_dependent(replicas: Replicas) -> Replication {
        Replication { replicas, detection: Detection::State }
    }
}

#[typetag::serde]
impl GridScheduler for Replication {
    fn detection(&self) -> Detection {
        self.detection
    }

    fn round(&mut self, view: &mut View, round: &mut Round<'_>) {
        let mut postponed: Option<Turn> = None;
        while view.resources().any_available() {
            // Within a round the room only shrinks. So jobs before the postponed ones have enough replicas
            // for the rest of the round.
            let limit = self.replicas.limit(view.resources());
            let Some(turn) = view.jobs().next_below(limit, postponed) else { return };
            match view.place(turn.1) {
                Some(resource) => round.dispatch(view, turn.1, resource, Restart::FromBeginning),
                None => postponed = Some(turn),
            }
        }
    }
}

haggle_model::words! {
    // Chtepen 2011, section 4.4.1.
    /// Time at which the other replicas of a job are cancelled, once the job can no longer be lost.
    #[derive(Default)]
    pub enum CancelMode {
        /// At once.
        #[default]
        Immediate = "immediate",
        /// In the next round, before jobs are sent: until then replicas hold their slots and compute.
        NextRound = "next-round",
    }
}
