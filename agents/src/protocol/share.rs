//! Shares: a provider reports on its share of a bag, and the shares of a bag are rescheduled
//! in step (Netto 2009, chapter 7).
//!
//! ```text
//!   metascheduler                 provider
//!       │ ◀── Started ───────────────── │
//!       │ ◀── NewCompletionTimes ────── │  something has ended early: bags are done earlier there
//!       │ ── BagCompletion ───────────▶ │  if the whole bag is, to all that have a share of it
//!       │ ◀── Finished ──────────────── │
//! ```

use haggle_model::observation::DisclosedItem;
use haggle_model::{JobId, JobOutcome, Time};
use serde::{Deserialize, Serialize};

use super::Phase;
use super::said::{Tells, protocol, said};

protocol! {
    /// What is said about a share that is committed.
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
            /// How they ended; the worst of them.
            outcome: JobOutcome,
        } => said("share_finished").of(job).tells(DisclosedItem::JobStatus),
        /// Provider to metascheduler: bags of which it held the last task will be
        /// done there earlier. Discloses these times.
        NewCompletionTimes {
            /// (bag, expected completion at this provider).
            entries: Vec<(JobId, Time)>,
        } => said("new_completion_times")
            .discloses_about(only_bag(entries))
            .during(Phase::Completion)
            .tells(Tells::Many(DisclosedItem::ExpectedCompletion, entries.len())),
        /// Metascheduler to provider: the whole bag is expected to be done then.
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

/// The bag that the news are about, if they are of one alone.
#[inline(always)]
fn only_bag(entries: &[(JobId, Time)]) -> Option<JobId> {
    match entries {
        [(job, _)] => Some(*job),
        _ => None,
    }
}
