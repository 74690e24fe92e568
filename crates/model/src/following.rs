//! Jobs that are submitted after other jobs have ended.

use serde::{Deserialize, Serialize};

use crate::Span;

crate::words! {
    /// End of a job after which a job that follows it may be submitted.
    #[derive(Default)]
    pub enum FollowOn {
        /// Any end: completed, failed, cancelled or rejected.
        #[default]
        End = "end",
        /// Completion. After another end, the job is never submitted.
        Completion = "completion",
        /// An end without completion. After completion, the job is never submitted.
        Failure = "failure",
    }
}

/// The place of a job among jobs that follow each other. Its user knows it, and nobody else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Following {
    /// The jobs that must have ended before this one is submitted, by their numbers in the workload. They come earlier.
    pub after: Vec<i64>,
    /// Their ends that count.
    pub on: FollowOn,
    /// Time from the last of these ends to the submission.
    pub think: Span,
    /// Number of jobs that follow this one.
    pub followers: u32,
}

impl Following {
    /// A job that follows none, and that none follows.
    pub const NONE: Following =
        Following { after: Vec::new(), on: FollowOn::End, think: Span::ZERO, followers: 0 };
}
