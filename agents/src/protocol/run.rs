//! What the world says to its actors. No actor sends these.
//!
//! ```text
//!   world                          actor
//!       │ ── JobDue ──────────────────▶ │  a user
//!       │ ── OutageDue ───────────────▶ │  nature
//!       │ ── Crashed, Restarted ──────▶ │  whom the scenario has crash
//!       │ ── RunOver ─────────────────▶ │  everybody, at the end
//! ```

use std::sync::Arc;

use haggle_model::{Job, Time};
use serde::{Deserialize, Serialize};

use super::Phase;
use super::said::{protocol, said};

protocol! {
    /// The world to an actor.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum RunMessage {
        /// To a user: it is time to submit this job.
        JobDue(job: Arc<Job>) => said("job_due").of(&job.id).during(Phase::Submission),
        /// To nature: this resource fails, and is back then.
        OutageDue {
            /// Its number in nature's list.
            resource: u32,
            /// When it is back; [`Time::FOREVER`] = never.
            restore: Time,
        } => said("outage_due").during(Phase::Resource),
        /// To any actor: it crashes. It hears nothing until it restarts, unless something happens on
        /// its machine.
        Crashed => said("crashed").during(Phase::Resource),
        /// To an actor that has crashed: it restarts, and knows what it knew.
        Restarted => said("restarted").during(Phase::Recovery),
        /// To everybody: the run stops now. What you hold is unfinished.
        RunOver => said("run_over"),
    }
}
