//! Jobs that follow others, and those that were still held when the run stopped.

use serde::{Deserialize, Serialize};

/// Numbers of jobs that follow others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowingJobs {
    /// Jobs that follow others.
    pub jobs: u64,
    /// Jobs that their users still held when the run stopped: a job that they follow had not ended, or the think time was
    /// not over.
    pub held: u64,
}
