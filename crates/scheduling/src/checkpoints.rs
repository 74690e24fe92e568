//! Checkpoints of jobs: on a grid ([`interval`]), and of rigid jobs at providers ([`rigid`]).
//!
//! Both use the same rules and the known failures ([`history`]). On a grid, jobs share a processor, so a
//! rule is called whenever a timer expires. At a provider the inputs of a rule do not change during an
//! attempt, because any failure under the job ends the attempt. So all of its checkpoints are known when it
//! starts.

mod cost;
pub mod history;
pub mod interval;
pub(crate) mod optimum;
pub mod rigid;
mod steps;

pub use self::cost::CheckpointCost;
pub use self::history::{FailureHistory, MeanFailure};
pub use self::interval::{Expiry, IntervalRule, IntervalState, Length, Routine, Situation};
pub use self::optimum::SHORTEST;
pub use self::rigid::{
    CheckpointRule, Checkpoints, Course, Every, JobSituation, Nodes, Progress, RigidJob, Volume,
};
