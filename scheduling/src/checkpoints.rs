//! When jobs save their progress: on a grid ([`interval`]), and of rigid jobs at providers ([`rigid`]).
//!
//! Both go by the same rules and by what is known of failures ([`history`]). On a grid jobs share a
//! processor, so that a rule is asked whenever a timer runs out. At a provider nothing that a rule goes
//! by changes while an attempt lasts, for whatever fails under it ends it: all of its checkpoints
//! are known when it starts.

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
