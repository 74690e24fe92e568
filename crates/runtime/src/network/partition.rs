//! Sites that cannot reach each other for some time.

use std::collections::BTreeMap;

use haggle_model::Time;
use serde::{Deserialize, Serialize};

/// Groups of sites that are separated. A message from one group to another is lost if it is under way
/// during the separation. Messages within a group, and to and from sites of no group, are not affected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// The group of each site that is in one.
    groups: BTreeMap<u32, usize>,
    from: Time,
    until: Time,
}

impl Partition {
    /// Separates `groups` of sites from `from` on, until just before `until`; [`Time::FOREVER`] = for ever.
    pub fn new(groups: &[Vec<u32>], from: Time, until: Time) -> Partition {
        let groups = groups.iter().enumerate();
        let groups = groups.flat_map(|(group, sites)| sites.iter().map(move |&site| (site, group)));
        Partition { groups: groups.collect(), from, until }
    }

    /// End of the separation; [`Time::FOREVER`] = never.
    pub(super) fn until(&self) -> Time {
        self.until
    }

    /// True if it stops a message from one site to another that is under way between two times.
    pub(super) fn parts(&self, (a, b): (u32, u32), (sent, arrives): (Time, Time)) -> bool {
        let group = |site| self.groups.get(&site);
        let apart = group(a).zip(group(b)).is_some_and(|(a, b)| a != b);
        apart && sent < self.until && self.from <= arrives
    }
}
