//! Shares: a provider reports on its share of a bag, and the shares of a bag are rescheduled
//! together (Netto 2009, chapter 7).
//!
//! ```text
//!   metascheduler                 provider
//!       │ ◀── Started ───────────────── │
//!       │ ◀── NewCompletionTimes ────── │  a job has ended early: bags complete earlier there
//!       │ ── BagCompletion ───────────▶ │  if the whole bag does, to all providers with a share of it
//!       │ ◀── Finished ──────────────── │
//! ```

use haggle_model::observation::DisclosedItem;
use haggle_model::{JobId, JobOutcome, Time};
use serde::{Deserialize, Serialize};

use super::Phase;
use super::said::{Tells, protocol, said};

protocol! {
    /// Messages about a share that is committed.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum ShareMessage {
        /// Provider to metascheduler: the first tasks of its share have started.
        Started {
            /// The bag.
            job: JobId,
        } => said("share_started").of(job).tells(DisclosedItem::JobStatus),
        /// Provider to metascheduler: all tasks of its share are over.
        Finished {
            /// The bag.
            job: JobId,
            /// Their worst outcome.
            outcome: JobOutcome,
        } => said("share_finished").of(job).tells(DisclosedItem::JobStatus),
        /// Provider to metascheduler: bags of which it held the last task will end there earlier.
        /// Discloses these times.
        NewCompletionTimes {
            /// (bag, expected completion at this provider).
            entries: Vec<(JobId, Time)>,
        } => said("new_completion_times")
            .discloses_about(only_bag(entries))
            .during(Phase::Completion)
            .tells(Tells::Many(DisclosedItem::ExpectedCompletion, entries.len())),
        /// Metascheduler to provider: the expected completion of the whole bag.
        BagCompletion {
            /// The bag.
            job: JobId,
            /// Its expected completion.
            completion: Time,
        } => said("bag_completion")
            .of(job)
            .during(Phase::Completion)
            .tells(DisclosedItem::BagCompletion),
    }
}

/// The bag that the entries are about, if there is only one.
#[inline(always)]
fn only_bag(entries: &[(JobId, Time)]) -> Option<JobId> {
    match entries {
        [(job, _)] => Some(*job),
        _ => None,
    }
}
