//! Detection of groups that obstruct each other: deadlock, livelock and starvation.
//!
//! It is an observer that receives events: waits, failed tries and successes. Groups are identified by `J`,
//! which stays the same from try to try.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::{ActorId, Time};
use serde::Serialize;

/// Failures in a row after which a set of groups makes no progress.
pub const LIVELOCK: u32 = 10;

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Finding<J> {
    /// Each of these holds a part and waits for the next, the last one for the first.
    Deadlock {
        /// Time of the detection.
        at: Time,
        /// The groups, in the order in which they wait.
        members: Vec<J>,
    },
    /// Each of these has failed [`LIVELOCK`] times since one of them last succeeded.
    Livelock {
        /// Time of the detection.
        at: Time,
        /// The groups.
        members: BTreeSet<J>,
    },
    /// This group has failed as often as permitted while others got the parts that it requests.
    Starvation {
        /// Time of the detection.
        at: Time,
        /// The group.
        member: J,
    },
}

/// Groups and their obstructions.
#[derive(Clone, Debug)]
pub struct Contention<J> {
    trials: u32,
    /// Groups that request parts and have not got them.
    seekers: BTreeMap<J, Seeker>,
    /// Groups that have failed [`LIVELOCK`] times.
    tired: BTreeSet<J>,
    /// Counter of events, which orders them.
    clock: u64,
    /// Waits (waiting group, holder), by participant.
    waits: BTreeMap<ActorId, BTreeSet<(J, J)>>,
    /// The same over all participants, with the number of participants.
    graph: BTreeMap<J, BTreeMap<J, u32>>,
    deadlocks: BTreeSet<BTreeSet<J>>,
}

/// A group that requests parts.
#[derive(Clone, Debug)]
struct Seeker {
    /// Its participants.
    asked: BTreeSet<ActorId>,
    /// Its first request, by the clock.
    since: u64,
    /// Failures since the last success of a rival.
    failures: u32,
    /// Failures since its first request.
    own: u32,
    /// Its last failure, by the clock.
    last: u64,
    /// True if a rival succeeded after a failure of this group.
    overtaken: bool,
}

impl<J: Copy + Ord> Contention<J> {
    /// Without events; a group may fail `trials` times.
    pub fn new(trials: u32) -> Contention<J> {
        Contention {
            trials,
            seekers: BTreeMap::new(),
            tired: BTreeSet::new(),
            clock: 0,
            waits: BTreeMap::new(),
            graph: BTreeMap::new(),
            deadlocks: BTreeSet::new(),
        }
    }

    /// A group requests parts of these participants; a repeated try changes nothing.
    pub fn begins(&mut self, who: J, asked: BTreeSet<ActorId>) {
        self.clock += 1;
        let (since, last) = (self.clock, 0);
        let new = Seeker { asked, since, failures: 0, own: 0, last, overtaken: false };
        self.seekers.entry(who).or_insert(new);
    }

    /// A group stops its requests without success.
    pub fn gives_up(&mut self, who: J) {
        self.seekers.remove(&who);
        self.tired.remove(&who);
    }

    /// Sets the waits at this participant. Returns new circles.
    ///
    /// A new circle contains a new wait, so only new waits are followed.
    pub fn waits(
        &mut self,
        at: Time,
        participant: ActorId,
        edges: impl IntoIterator<Item = (J, J)>,
    ) -> Vec<Finding<J>> {
        let edges: BTreeSet<(J, J)> = edges.into_iter().collect();
        let before = self.waits.insert(participant, edges.clone()).unwrap_or_default();
        for &(who, whom) in before.difference(&edges) {
            self.waits_no_more(who, whom);
        }
        let new: Vec<(J, J)> = edges.difference(&before).copied().collect();
        for &(who, whom) in &new {
            *self.graph.entry(who).or_default().entry(whom).or_default() += 1;
        }
        let mut found = Vec::new();
        for (who, whom) in new {
            let Some(members) = self.circle(who, whom) else { continue };
            if self.deadlocks.insert(members.iter().copied().collect()) {
                found.push(Finding::Deadlock { at, members });
            }
        }
        found
    }

    fn waits_no_more(&mut self, who: J, whom: J) {
        let Some(ahead) = self.graph.get_mut(&who) else { return };
        if let Some(count) = ahead.get_mut(&whom) {
            *count -= 1;
            if *count > 0 {
                return;
            }
            ahead.remove(&whom);
        }
        if ahead.is_empty() {
            self.graph.remove(&who);
        }
        self.deadlocks.retain(|members| !(members.contains(&who) && members.contains(&whom)));
    }

    /// The circle that a wait closes, if there is one, starting with its least member.
    fn circle(&self, who: J, whom: J) -> Option<Vec<J>> {
        let next = |it: J| -> Vec<J> {
            self.graph.get(&it).into_iter().flat_map(|it| it.keys()).rev().copied().collect()
        };
        // Depth first with an explicit stack, because there can be many groups.
        let mut path: Vec<(J, Vec<J>)> = vec![(whom, next(whom))];
        let mut seen = BTreeSet::from([whom]);
        while let Some((_, ahead)) = path.last_mut() {
            let Some(it) = ahead.pop() else {
                path.pop();
                continue;
            };
            if it == who {
                let mut members: Vec<J> = path.iter().map(|&(it, _)| it).collect();
                members.insert(0, who);
                // A group that waits for itself is a circle of one.
                members.dedup();
                let least = (0..members.len()).min_by_key(|&it| members[it]).unwrap_or(0);
                members.rotate_left(least);
                return Some(members);
            }
            if seen.insert(it) {
                path.push((it, next(it)));
            }
        }
        None
    }

    /// A try of this group has failed because another group works with a requested part. That ends by
    /// itself, so it is no obstruction.
    pub fn refused(&mut self, at: Time, who: J) -> Option<Finding<J>> {
        self.clock += 1;
        let seeker = self.seekers.get_mut(&who)?;
        seeker.own += 1;
        seeker.last = self.clock;
        let spent = seeker.own == self.trials && self.trials > 1;
        (spent && seeker.overtaken).then_some(Finding::Starvation { at, member: who })
    }

    /// A try of this group has failed, and no group works with a requested part.
    pub fn failed(&mut self, at: Time, who: J) -> Option<Finding<J>> {
        let seeker = self.seekers.get_mut(&who)?;
        seeker.failures += 1;
        if seeker.failures >= LIVELOCK {
            self.tired.insert(who);
        }
        if let Some(starves) = self.refused(at, who) {
            return Some(starves);
        }
        if !self.tired.contains(&who) || self.tired.len() < 2 {
            return None;
        }
        let asked = &self.seekers.get(&who)?.asked;
        let meets = |it: &J| {
            *it == who || self.seekers.get(it).is_some_and(|it| !it.asked.is_disjoint(asked))
        };
        let members: BTreeSet<J> = self.tired.iter().copied().filter(meets).collect();
        if members.len() < 2 {
            return None;
        }
        for member in &members {
            self.rests(*member);
        }
        Some(Finding::Livelock { at, members })
    }

    /// Resets the failures of a group.
    fn rests(&mut self, who: J) {
        self.tired.remove(&who);
        if let Some(seeker) = self.seekers.get_mut(&who) {
            seeker.failures = 0;
        }
    }

    /// A group has got its parts: the failures of rivals that failed during its requests are reset.
    pub fn succeeded(&mut self, who: J) {
        self.tired.remove(&who);
        let Some(Seeker { asked, since, .. }) = self.seekers.remove(&who) else { return };
        for (rival, seeker) in &mut self.seekers {
            if seeker.last > since && !seeker.asked.is_disjoint(&asked) {
                seeker.failures = 0;
                seeker.overtaken = true;
                self.tired.remove(rival);
            }
        }
    }
}
