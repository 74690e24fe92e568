//! Messages of the world to its actors. No actor sends them.
//!
//! ```text
//!   world                          actor
//!       │ ── JobDue ──────────────────▶ │  a user
//!       │ ── OutageDue ───────────────▶ │  nature
//!       │ ── WorkOver ────────────────▶ │  a provider with a real machine
//!       │ ── Crashed, Restarted ──────▶ │  an actor that the scenario lets crash
//!       │ ── Changed ─────────────────▶ │  an actor whose settings change at this instant
//!       │ ── RunOver ─────────────────▶ │  all actors, at the end
//! ```

use std::sync::Arc;

use haggle_model::{Job, JobId, Time};
use serde::{Deserialize, Serialize};

use super::Phase;
use super::said::{protocol, said};
use crate::settings::Settings;

protocol! {
    /// The driver of the run to an actor.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum RunMessage {
        /// To a user: it is time to submit this job.
        JobDue(job: Arc<Job>) => said("job_due").of(&job.id).during(Phase::Submission),
        /// To nature: this resource fails now.
        OutageDue {
            /// Its number in nature's list.
            resource: u32,
            /// Time at which it is restored; [`Time::FOREVER`] = never.
            restore: Time,
        } => said("outage_due").during(Phase::Resource),
        /// To any actor: it crashes. Until it restarts it receives only messages about its machine.
        Crashed => said("crashed").during(Phase::Resource),
        /// To an actor that has crashed: it restarts with its old state.
        Restarted => said("restarted").during(Phase::Recovery),
        /// To any actor: these settings hold from now on. An actor that is down gets them when it restarts.
        Changed(settings: Box<Settings>) => said("changed").during(Phase::Progress),
        /// To a provider with a real machine: the program of this job, which began at `start`, has ended.
        WorkOver {
            /// The job.
            job: JobId,
            /// Start of the attempt.
            start: Time,
        } => said("work_over").of(job).during(Phase::Completion),
        /// To all actors: the run stops now. All that they hold is unfinished.
        RunOver => said("run_over"),
    }
}
