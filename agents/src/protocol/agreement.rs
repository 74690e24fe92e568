//! Agreement: all providers of a composition hold their parts of a bag, or none does
//! (the three phases of Haji et al. 2005; Netto 2009, section 7.2).
//!
//! ```text
//!   metascheduler                     provider
//!       │ ── Prepare ─────────────────────▶ │
//!       │ ◀──────────── Ready or NotReady ─ │
//!       │ ── Commit, if all are ready ────▶ │  Abort otherwise; Release if it is not needed at all
//!       │ ◀───────────────────── Committed ─│
//! ```

use haggle_model::observation::DisclosedItem;
use haggle_model::{JobId, Time};
use haggle_scheduling::Award;

use super::Tell;
use super::bargain::Answer;

/// What is said to agree on a composition.
#[derive(Clone, Debug, PartialEq)]
pub enum AgreementMessage {
    /// Metascheduler to provider: hold this part of the bag for me. Discloses
    /// what of the offer is wanted.
    Prepare {
        /// The bag.
        job: JobId,
        /// What is wanted of it.
        award: Box<Award>,
    },
    /// Provider to metascheduler: the part is held. Discloses its planned completion.
    Ready {
        /// The bag.
        job: JobId,
        /// Planned completion, not later than offered.
        completion: Time,
    },
    /// Provider to metascheduler: that is no longer possible, this is.
    NotReady(Box<Answer>),
    /// Metascheduler to provider: run what you hold. Discloses when the whole bag
    /// is expected to be done, if providers are to coordinate.
    Commit {
        /// The bag.
        job: JobId,
        /// Completion of the whole bag.
        expected: Option<Time>,
        /// Tasks to run where nothing is held: as many as that, whenever they fit.
        unheld: u32,
    },
    /// Provider to metascheduler: its share of the bag is queued. If nothing was held, or no
    /// more, discloses its planned completion; otherwise that is as it was.
    Committed {
        /// The bag.
        job: JobId,
        /// Planned completion of what was not held; [`Time::FOREVER`] = nobody can say.
        completion: Option<Time>,
    },
    /// Metascheduler to provider: give up what you hold; another round follows.
    Abort {
        /// The bag.
        job: JobId,
    },
    /// Metascheduler to provider: forget the bag, it goes elsewhere.
    Release {
        /// The bag.
        job: JobId,
    },
}

impl AgreementMessage {
    /// The word used in the table of messages.
    pub fn kind(&self) -> &'static str {
        match self {
            AgreementMessage::Prepare { .. } => "prepare",
            AgreementMessage::Ready { .. } => "ready",
            AgreementMessage::NotReady(_) => "not_ready",
            AgreementMessage::Commit { .. } => "commit",
            AgreementMessage::Committed { .. } => "committed",
            AgreementMessage::Abort { .. } => "abort",
            AgreementMessage::Release { .. } => "release",
        }
    }

    /// The bag it is about.
    pub fn job(&self) -> JobId {
        match self {
            AgreementMessage::NotReady(answer) => answer.job,
            AgreementMessage::Prepare { job, .. }
            | AgreementMessage::Ready { job, .. }
            | AgreementMessage::Commit { job, .. }
            | AgreementMessage::Committed { job, .. }
            | AgreementMessage::Abort { job }
            | AgreementMessage::Release { job } => *job,
        }
    }

    /// Tells what its receiver learns of its sender.
    pub(super) fn disclose(&self, tell: &mut Tell<'_>) {
        match self {
            AgreementMessage::Ready { .. }
            | AgreementMessage::Committed { completion: Some(_), .. } => {
                tell(DisclosedItem::Estimate, 1);
            }
            AgreementMessage::NotReady(answer) => answer.disclose(tell),
            AgreementMessage::Commit { expected: Some(_), .. } => {
                tell(DisclosedItem::BagCompletion, 1);
            }
            _ => {}
        }
    }
}
