//! Jobs that follow others, and those whose others had not ended when the run stopped.

use serde::{Deserialize, Serialize};

/// Numbers of jobs that follow others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowingJobs {
    /// Jobs that follow others.
    pub jobs: u64,
    /// Jobs that their users held when the run stopped, because a job that they follow had not ended.
    pub held: u64,
}
