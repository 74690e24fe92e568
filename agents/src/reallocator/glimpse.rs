//! The knowledge of a reallocator: its jobs, and the lists of waiting jobs that providers have sent.

use super::{Doing, Reallocator, Stage};
use crate::desk::Entry;
use crate::glimpse::{self, Fact, FactKind, Glimpse};

impl Reallocator {
    /// Its jobs, and the answers to its present question.
    pub(crate) fn glimpse(&self) -> Glimpse {
        let jobs = self.desk.glimpse(|_, Entry { at, stage, .. }| match stage {
            Stage::Here => (glimpse::Stage::Waiting, Vec::new()),
            Stage::Sent(to) => (glimpse::Stage::Sent, vec![*to]),
            Stage::Placed => (glimpse::Stage::Placed, at.iter().copied().collect()),
        });
        let listed = match &self.doing {
            Doing::Listing(lists) => lists.as_slice(),
            Doing::Nothing | Doing::Event(..) => &[],
        };
        let facts = self.config.providers.iter().zip(listed).map(|(&provider, list)| match list {
            Some(jobs) => Fact::about(provider, FactKind::WaitingJobs, jobs.len() as f64),
            None => Fact::about(provider, FactKind::Awaited, 1.0),
        });
        Glimpse { jobs, facts: facts.collect(), ..Glimpse::default() }
    }
}
