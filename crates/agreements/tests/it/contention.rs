//! Who stands in whose way, found fast, against what the words say: rivals are remembered one by one, and
//! circles looked for among all who wait.

use std::collections::{BTreeMap, BTreeSet};

use haggle_agreements::contention::{Contention, Finding, LIVELOCK};
use haggle_model::{ActorId, Time};
use proptest::prelude::*;

/// What happens to a group: it begins, fails, is refused, succeeds or gives up.
type Act = (u32, u8);

/// The same from the definitions.
#[derive(Default)]
struct Obvious {
    trials: u32,
    asks: BTreeMap<u32, BTreeSet<ActorId>>,
    failures: BTreeMap<u32, u32>,
    own: BTreeMap<u32, u32>,
    rivals: BTreeMap<u32, BTreeSet<u32>>,
    overtaken: BTreeSet<u32>,
}

impl Obvious {
    fn refused(&mut self, who: u32) -> Option<Finding<u32>> {
        let meets = |it: &u32| *it != who && !self.asks[it].is_disjoint(&self.asks[&who]);
        let met: Vec<u32> = self.asks.keys().copied().filter(meets).collect();
        self.rivals.entry(who).or_default().extend(met);
        let own = self.own.entry(who).or_default();
        *own += 1;
        let starves = *own == self.trials && self.trials > 1 && self.overtaken.contains(&who);
        starves.then_some(Finding::Starvation { at: Time::ZERO, member: who })
    }

    fn failed(&mut self, who: u32) -> Option<Finding<u32>> {
        *self.failures.entry(who).or_default() += 1;
        if let Some(starves) = self.refused(who) {
            return Some(starves);
        }
        let tired = |it: &u32| self.failures.get(it).is_some_and(|&count| count >= LIVELOCK);
        let near = |it: &u32| !self.asks[it].is_disjoint(&self.asks[&who]);
        let all = self.asks.keys().copied().filter(|it| tired(it) && near(it));
        let members: BTreeSet<u32> = all.collect();
        if !members.contains(&who) || members.len() < 2 {
            return None;
        }
        self.failures.retain(|it, _| !members.contains(it));
        Some(Finding::Livelock { at: Time::ZERO, members })
    }

    fn succeeded(&mut self, who: u32) {
        self.gives_up(who);
        let met = self.rivals.iter().filter(|(_, met)| met.contains(&who));
        let met: Vec<u32> =
            met.map(|(&it, _)| it).filter(|it| self.asks.contains_key(it)).collect();
        for rival in met {
            self.failures.remove(&rival);
            self.overtaken.insert(rival);
        }
    }

    /// If it begins again it is somebody new.
    fn gives_up(&mut self, who: u32) {
        self.asks.remove(&who);
        self.failures.remove(&who);
        self.own.remove(&who);
        self.overtaken.remove(&who);
    }
}

fn asked(who: u32) -> BTreeSet<ActorId> {
    // Neighbours share one participant.
    BTreeSet::from([ActorId(who / 2), ActorId(100 + who.div_ceil(2))])
}

fn follow(trials: u32, acts: &[Act]) -> Result<(), TestCaseError> {
    let mut fast = Contention::new(trials);
    let mut obvious = Obvious { trials, ..Obvious::default() };
    let mut over = BTreeSet::new();
    for &(who, act) in acts {
        // A group is one job, which begins and ends once.
        if over.contains(&who) {
            continue;
        }
        obvious.asks.entry(who).or_insert_with(|| asked(who));
        // Whoever tries again is no other.
        fast.begins(who, asked(who));
        let (found, expected) = match act {
            0..=9 => (fast.failed(Time::ZERO, who), obvious.failed(who)),
            10..=12 => (fast.refused(Time::ZERO, who), obvious.refused(who)),
            13 => {
                over.insert(who);
                fast.succeeded(who);
                obvious.succeeded(who);
                (None, None)
            }
            _ => {
                over.insert(who);
                fast.gives_up(who);
                obvious.gives_up(who);
                (None, None)
            }
        };
        prop_assert_eq!(found, expected, "{} does {}", who, act);
    }
    Ok(())
}

/// Whether one can be reached from another along these waits.
fn reaches(graph: &BTreeSet<(u32, u32)>, from: u32, to: u32) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(it) = open.pop() {
        for &(_, next) in graph.iter().filter(|(who, _)| *who == it) {
            if next == to {
                return true;
            }
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn livelock_and_starvation_are_those_of_the_definitions(
        trials in 1_u32..30,
        acts in prop::collection::vec((0_u32..6, 0_u8..15), 1..400),
    ) {
        follow(trials, &acts)?;
    }

    #[test]
    fn a_circle_is_found_when_it_is_closed_and_is_one(
        changes in prop::collection::vec(
            (0_u32..3, prop::collection::btree_set((0_u32..6, 0_u32..6), 0..5)),
            1..60,
        ),
    ) {
        let mut contention = Contention::new(10);
        let mut at: BTreeMap<u32, BTreeSet<(u32, u32)>> = BTreeMap::new();
        for (participant, edges) in changes {
            let edges: BTreeSet<_> = edges.into_iter().filter(|(who, whom)| who != whom).collect();
            let all = |at: &BTreeMap<u32, BTreeSet<(u32, u32)>>| -> BTreeSet<(u32, u32)> {
                at.values().flatten().copied().collect()
            };
            let before = all(&at);
            at.insert(participant, edges.clone());
            let after = all(&at);
            let found = contention.waits(Time::ZERO, ActorId(participant), edges);
            for finding in &found {
                let Finding::Deadlock { members, .. } = finding else { panic!("of waits only") };
                let next = members.iter().cycle().skip(1);
                let closed = members.iter().zip(next).all(|(&who, &whom)| after.contains(&(who, whom)));
                prop_assert!(closed, "{:?} in {:?}", members, after);
            }
            let circle = |graph: &BTreeSet<(u32, u32)>| (0..6).any(|it| reaches(graph, it, it));
            if circle(&after) && !circle(&before) {
                prop_assert!(!found.is_empty(), "{:?}", after);
            }
            if !circle(&after) {
                prop_assert!(found.is_empty());
            }
        }
    }
}
