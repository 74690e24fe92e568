//! Table of the bags that a metascheduler has placed.

use std::collections::BTreeMap;

use haggle_model::{JobId, ProviderId, Time};
use serde::{Deserialize, Serialize};

/// Completions of the tasks of each bag at each provider that holds some.
///
/// Times in the table never grow: a provider may only report an earlier completion, and the smallest report
/// counts. So the order of reports does not matter (Netto 2009, section 7.3.2).
///
/// ```
/// use haggle_model::{JobId, ProviderId, Time};
/// use haggle_scheduling::bag_table::{BagTable, Change};
/// let (north, south, bag) = (ProviderId(0), ProviderId(1), JobId(7));
/// let mut table = BagTable::default();
/// table.commit(bag, north, Time::from_secs(20));
/// table.commit(bag, south, Time::from_secs(30));
/// assert_eq!(table.report(bag, north, Time::from_secs(10)), Change::Local);
/// let completion = Time::from_secs(22);
/// assert_eq!(table.report(bag, south, completion), Change::Global { completion });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BagTable {
    bags: BTreeMap<JobId, BTreeMap<ProviderId, Time>>,
}

/// Effect of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The completion of the whole bag is unchanged: no notification is needed.
    Local,
    /// The bag will be done earlier. Every provider that holds tasks of it must be notified, including the
    /// reporting one, which may no longer be the last.
    Global {
        /// Completion of the whole bag.
        completion: Time,
    },
}

impl BagTable {
    /// A provider has accepted a share of `bag`, with this completion.
    pub fn commit(&mut self, bag: JobId, provider: ProviderId, completion: Time) {
        self.bags.entry(bag).or_default().insert(provider, completion);
    }

    /// A provider reports the completion of its share of `bag`. Reports on bags that are not in the table
    /// change nothing.
    pub fn report(&mut self, bag: JobId, provider: ProviderId, completion: Time) -> Change {
        let before = self.completion(bag);
        if let Some(known) = self.bags.get_mut(&bag).and_then(|bag| bag.get_mut(&provider)) {
            *known = completion.min(*known);
        }
        match self.completion(bag) {
            Some(completion) if Some(completion) < before => Change::Global { completion },
            _ => Change::Local,
        }
    }

    /// Completion of the whole bag; `None` if it is not in the table.
    pub fn completion(&self, bag: JobId) -> Option<Time> {
        self.providers(bag).map(|(_, completion)| completion).max()
    }

    /// The providers that hold tasks of `bag`, with the completions of these tasks.
    pub fn providers(&self, bag: JobId) -> impl Iterator<Item = (ProviderId, Time)> + '_ {
        let shares = self.bags.get(&bag).into_iter().flatten();
        shares.map(|(&provider, &completion)| (provider, completion))
    }

    /// The bag is done.
    pub fn forget(&mut self, bag: JobId) {
        self.bags.remove(&bag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_in_the_table_is_no_news() {
        let (bag, north, south) = (JobId(1), ProviderId(0), ProviderId(1));
        let mut table = BagTable::default();
        assert_eq!(table.report(bag, north, Time::ZERO), Change::Local);
        assert_eq!(table.completion(bag), None);
        table.commit(bag, north, Time::from_secs(9));
        assert_eq!(table.report(bag, south, Time::ZERO), Change::Local);
        assert_eq!(table.report(bag, north, Time::from_secs(10)), Change::Local);
        assert_eq!(table.completion(bag), Some(Time::from_secs(9)));
        table.forget(bag);
        assert_eq!(table.providers(bag).count(), 0);
    }
}
