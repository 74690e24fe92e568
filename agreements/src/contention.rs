//! Finds groups that cannot get on because of each other: deadlock, livelock and starvation.
//!
//! It looks on and is told what happens: who waits for whom, whose try failed, who succeeded.
//! Groups are named by `J`, which stays the same from try to try.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::Time;
use serde::Serialize;

/// Failures in a row after which a set of groups no longer gets on.
pub const LIVELOCK: u32 = 10;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Finding<J> {
    /// Each of these holds something and waits for the next, the last for the first.
    Deadlock {
        /// Since when.
        at: Time,
        /// In the order in which they wait.
        members: Vec<J>,
    },
    /// Each of these has failed [`LIVELOCK`] times since one of them last succeeded.
    Livelock {
        /// Since when.
        at: Time,
        /// Who.
        members: BTreeSet<J>,
    },
    /// This one has failed as often as it may while others got what it asked for.
    Starvation {
        /// Since when.
        at: Time,
        /// Who.
        member: J,
    },
}

/// Who stands in whose way.
#[derive(Clone, Debug)]
pub struct Contention<J> {
    trials: u32,
    /// Failures since anybody of the same set succeeded.
    failures: BTreeMap<J, u32>,
    /// Failures since it succeeded itself.
    own: BTreeMap<J, u32>,
    rivals: BTreeMap<J, BTreeSet<J>>,
    /// Who succeeded while these were failing.
    overtaken: BTreeSet<J>,
    deadlocks: BTreeSet<BTreeSet<J>>,
}

impl<J: Copy + Ord> Contention<J> {
    /// Nothing has happened yet; a group may fail so often.
    pub fn new(trials: u32) -> Contention<J> {
        Contention {
            trials,
            failures: BTreeMap::new(),
            own: BTreeMap::new(),
            rivals: BTreeMap::new(),
            overtaken: BTreeSet::new(),
            deadlocks: BTreeSet::new(),
        }
    }

    /// These wait for those, and nobody else waits. Says so when a cycle is new.
    pub fn waits(
        &mut self,
        at: Time,
        edges: impl IntoIterator<Item = (J, J)>,
    ) -> Option<Finding<J>> {
        let mut graph: BTreeMap<J, BTreeSet<J>> = BTreeMap::new();
        for (who, whom) in edges {
            graph.entry(who).or_default().insert(whom);
        }
        let found = cycle(&graph);
        let Some(members) = found else {
            self.deadlocks.clear();
            return None;
        };
        let new = self.deadlocks.insert(members.iter().copied().collect());
        new.then_some(Finding::Deadlock { at, members })
    }

    /// A try of this group has failed, for somebody works with what it asks for: that is in nobody's
    /// way for ever.
    pub fn refused(&mut self, at: Time, who: J, rivals: &[J]) -> Option<Finding<J>> {
        let own = self.own.entry(who).or_default();
        *own += 1;
        let spent = *own == self.trials && self.trials > 1;
        self.rivals.entry(who).or_default().extend(rivals);
        let starves = spent && self.overtaken.contains(&who);
        starves.then_some(Finding::Starvation { at, member: who })
    }

    /// A try of this group has failed, and nobody works; these ask for some of the same participants.
    pub fn failed(&mut self, at: Time, who: J, rivals: &[J]) -> Option<Finding<J>> {
        *self.failures.entry(who).or_default() += 1;
        if let Some(starves) = self.refused(at, who, rivals) {
            return Some(starves);
        }
        let tired = |it: &J| self.failures.get(it).is_some_and(|&count| count >= LIVELOCK);
        let mut members: BTreeSet<J> = rivals.iter().copied().filter(tired).collect();
        if !tired(&who) || members.is_empty() {
            return None;
        }
        members.insert(who);
        for member in &members {
            self.failures.remove(member);
        }
        Some(Finding::Livelock { at, members })
    }

    /// This group has got what it asked for: its rivals begin to count anew.
    pub fn succeeded(&mut self, who: J) {
        self.failures.remove(&who);
        self.own.remove(&who);
        self.overtaken.remove(&who);
        let meets = |rivals: &BTreeSet<J>| rivals.contains(&who);
        let rivals = self.rivals.iter().filter(|(_, rivals)| meets(rivals));
        for (&rival, _) in rivals {
            self.failures.remove(&rival);
            if self.own.contains_key(&rival) {
                self.overtaken.insert(rival);
            }
        }
    }
}

/// A cycle, if there is one, from its least member on.
fn cycle<J: Copy + Ord>(graph: &BTreeMap<J, BTreeSet<J>>) -> Option<Vec<J>> {
    let mut done = BTreeSet::new();
    for &start in graph.keys() {
        // Depth first, by hand: groups can be many.
        let mut path: Vec<(J, Vec<J>)> = Vec::new();
        let next = |who: J| graph.get(&who).into_iter().flatten().rev().copied().collect();
        if !done.contains(&start) {
            path.push((start, next(start)));
        }
        while let Some((who, ahead)) = path.last_mut() {
            let Some(whom) = ahead.pop() else {
                done.insert(*who);
                path.pop();
                continue;
            };
            if let Some(place) = path.iter().position(|(it, _)| *it == whom) {
                let mut members: Vec<J> = path[place..].iter().map(|(it, _)| *it).collect();
                let least = (0..members.len()).min_by_key(|&it| members[it]).unwrap_or(0);
                members.rotate_left(least);
                return Some(members);
            }
            if !done.contains(&whom) {
                path.push((whom, next(whom)));
            }
        }
    }
    None
}
