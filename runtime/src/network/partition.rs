//! Sites that hear nothing of each other for a while.

use std::collections::BTreeMap;

use haggle_model::Time;

/// Groups of sites that are parted. A message from one group to another is lost if it is under way
/// while they are; within a group, and to and from sites of no group, messages go on as ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The group of each site that is in one.
    groups: BTreeMap<u32, usize>,
    from: Time,
    until: Time,
}

impl Partition {
    /// Parts `groups` of sites at `from`, until right before `until`; [`Time::FOREVER`] = for ever.
    pub fn new(groups: &[Vec<u32>], from: Time, until: Time) -> Partition {
        let groups = groups.iter().enumerate();
        let groups = groups.flat_map(|(group, sites)| sites.iter().map(move |&site| (site, group)));
        Partition { groups: groups.collect(), from, until }
    }

    /// When those who are parted are together again; [`Time::FOREVER`] = never.
    pub(super) fn until(&self) -> Time {
        self.until
    }

    /// Whether it stops what is sent from one site to another, and under way between two times.
    pub(super) fn parts(&self, (a, b): (u32, u32), (sent, arrives): (Time, Time)) -> bool {
        let group = |site| self.groups.get(&site);
        let apart = group(a).zip(group(b)).is_some_and(|(a, b)| a != b);
        apart && sent < self.until && self.from <= arrives
    }
}
