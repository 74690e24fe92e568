//! The knowledge of users: their jobs that are not over.

use super::User;
use crate::desk::Entry;
use crate::glimpse::{Glimpse, Stage};

impl User {
    /// Their jobs.
    pub(crate) fn glimpse(&self) -> Glimpse {
        Glimpse::of_jobs(self.desk.glimpse(|job, Entry { at, .. }| match at {
            Some(holder) => (Stage::Placed, vec![*holder]),
            None if self.tasks.waits(job) || self.followers.holds(job) => {
                (Stage::Blocked, Vec::new())
            }
            None => (Stage::Waiting, Vec::new()),
        }))
    }
}
