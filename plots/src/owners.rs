//! Names of the queues and accounts of jobs.

use haggle_results::About;
use haggle_results::about::SiteInfo;

use crate::error::PlotError;
use crate::load::By;

/// Name of jobs without a queue, in figures.
const NO_QUEUE: &str = "no queue";
/// Name of jobs and users outside of accounts, in figures.
pub(crate) const NO_ACCOUNT: &str = "no account";

/// Names of queues and accounts of a run's jobs.
#[derive(Clone, Copy)]
pub(crate) struct Owners<'a> {
    about: &'a About,
    /// True if queues, or accounts, of several providers could have equal names.
    several: (bool, bool),
}

impl<'a> Owners<'a> {
    /// The names of a run.
    pub(crate) fn new(about: &'a About) -> Owners<'a> {
        let several =
            |has: fn(&SiteInfo) -> bool| about.sites.values().filter(|it| has(it)).count() > 1;
        let several = (several(|it| !it.queues.is_empty()), several(|it| !it.accounts.is_empty()));
        Owners { about, several }
    }

    /// Refuses a grouping by accounts if there are none.
    pub(crate) fn check(self, by: By) -> Result<(), PlotError> {
        let has_accounts = self.about.sites.values().any(|it| !it.accounts.is_empty());
        if by != By::Account || has_accounts {
            return Ok(());
        }
        Err(PlotError::NoValues(
            "the run has no accounts: no provider has `[[provider.account]]`".to_owned(),
        ))
    }

    /// The queue of a job. Where providers have no queues, it is that of the log, by its number.
    pub(crate) fn queue(self, provider: &str, number: i64, partition: i64) -> String {
        match self.about.sites.get(provider).and_then(|it| it.queue_of(number, partition)) {
            Some(name) => full(self.several.0, provider, name),
            None if number < 0 => NO_QUEUE.to_owned(),
            None => format!("queue {number}"),
        }
    }

    /// The account of a job, by the numbers of its user and group.
    pub(crate) fn account(self, provider: &str, user: i64, group: i64) -> String {
        let site = self.about.sites.get(provider);
        let account =
            site.and_then(|it| Some(it.accounts[it.account_of(user, group)?].name.as_str()));
        match account {
            Some(name) => full(self.several.1, provider, name),
            None => NO_ACCOUNT.to_owned(),
        }
    }
}

fn full(several: bool, provider: &str, name: &str) -> String {
    if several { format!("{provider}: {name}") } else { name.to_owned() }
}
