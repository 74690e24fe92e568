//! Shares: a provider reports on its share of a bag, and the shares of a bag are rescheduled
//! in step (Netto 2009, chapter 7).

use haggle_model::observation::DisclosedItem;
use haggle_model::{JobId, JobOutcome, Time};
use serde::{Deserialize, Serialize};

use super::{Phase, Tell};

/// What is said about a share that is committed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ShareMessage {
    /// Provider to metascheduler: the first tasks of its share have started.
    Started {
        /// The bag.
        job: JobId,
    },
    /// Provider to metascheduler: all tasks of its share are over.
    Finished {
        /// The bag.
        job: JobId,
        /// How they ended; the worst of them.
        outcome: JobOutcome,
    },
    /// Provider to metascheduler: bags of which it held the last task will be
    /// done there earlier. Discloses these times.
    NewCompletionTimes {
        /// (bag, expected completion at this provider).
        entries: Vec<(JobId, Time)>,
    },
    /// Metascheduler to provider: the whole bag is expected to be done then.
    BagCompletion {
        /// The bag.
        job: JobId,
        /// Its expected completion.
        completion: Time,
    },
}

impl ShareMessage {
    /// The word used in the table of messages.
    pub fn kind(&self) -> &'static str {
        match self {
            ShareMessage::Started { .. } => "share_started",
            ShareMessage::Finished { .. } => "share_finished",
            ShareMessage::NewCompletionTimes { .. } => "new_completion_times",
            ShareMessage::BagCompletion { .. } => "bag_completion",
        }
    }

    /// The bag it is about, if it is about one.
    pub fn job(&self) -> Option<JobId> {
        match self {
            ShareMessage::Started { job }
            | ShareMessage::Finished { job, .. }
            | ShareMessage::BagCompletion { job, .. } => Some(*job),
            ShareMessage::NewCompletionTimes { .. } => None,
        }
    }

    /// The bag that what it discloses is about: news may be of several.
    pub fn discloses_about(&self) -> Option<JobId> {
        match self {
            ShareMessage::NewCompletionTimes { entries } => match entries[..] {
                [(job, _)] => Some(job),
                _ => None,
            },
            message => message.job(),
        }
    }

    /// When in an instant it is delivered.
    pub fn phase(&self) -> Phase {
        match self {
            ShareMessage::NewCompletionTimes { .. } | ShareMessage::BagCompletion { .. } => {
                Phase::Completion
            }
            ShareMessage::Started { .. } | ShareMessage::Finished { .. } => Phase::Conversation,
        }
    }

    /// Tells what its receiver learns of its sender.
    pub(super) fn disclose(&self, tell: &mut Tell<'_>) {
        match self {
            ShareMessage::Started { .. } | ShareMessage::Finished { .. } => {
                tell(DisclosedItem::JobStatus, 1);
            }
            ShareMessage::NewCompletionTimes { entries } => {
                let count = u32::try_from(entries.len()).unwrap_or(u32::MAX);
                tell(DisclosedItem::ExpectedCompletion, count);
            }
            ShareMessage::BagCompletion { .. } => tell(DisclosedItem::BagCompletion, 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_of_one_bag_is_about_that_bag() {
        let news = |bags: &[u32]| {
            let entries = bags.iter().map(|&bag| (JobId(bag), Time::ZERO)).collect();
            ShareMessage::NewCompletionTimes { entries }.discloses_about()
        };
        assert_eq!(news(&[7]), Some(JobId(7)));
        assert_eq!(news(&[7, 8]), None);
    }
}
