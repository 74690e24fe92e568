//! Faults of messages, and crashes of actors, in random worlds.

use haggle_model::random::{Stream, stream};
use haggle_model::{ActorId, Span, Time};
use haggle_runtime::Network;
use haggle_runtime::network::{Crashes, Partition};
use haggle_workloads::failures::{Cause, Failures, Outage, OutageList, Resource};
use proptest::prelude::*;

/// Faults of a network, in seconds.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    pub(crate) timeout: i64,
    pub(crate) loss: f64,
    pub(crate) duplication: f64,
    /// Actors that are parted from all others, by their places among all actors, each with begin and end.
    pub(crate) partitions: Vec<(u32, i64, i64)>,
    /// Actors that crash, by their places among all actors, each with begin and end.
    pub(crate) crashes: Vec<(u32, i64, i64)>,
    /// True if lost messages are not sent again, and doubled ones arrive twice.
    pub(crate) datagram: bool,
    /// True if a restarted actor is rebuilt from its journal.
    pub(crate) recovers: bool,
    pub(crate) seed: u64,
}

/// Some trouble, as likely as none.
pub(crate) fn trouble() -> impl Strategy<Value = Option<Trouble>> {
    let share = || prop::sample::select(vec![0.0, 0.1, 0.5]);
    let partition = (any::<u32>(), 0_i64..60, 1_i64..40)
        .prop_map(|(alone, from, lasts)| (alone, from, from + lasts));
    let partitions = prop::collection::vec(partition, 0..3);
    let crash = (any::<u32>(), 0_i64..120, 1_i64..60)
        .prop_map(|(actor, from, lasts)| (actor, from, from + lasts));
    let crashes = prop_oneof![1 => Just(Vec::new()), 2 => prop::collection::vec(crash, 1..6)];
    let trouble = (1_i64..8, share(), share(), partitions, crashes, any::<bool>(), any::<u64>())
        .prop_map(|(timeout, loss, duplication, partitions, crashes, recovers, seed)| Trouble {
            timeout,
            loss,
            duplication,
            partitions,
            crashes,
            datagram: false,
            recovers,
            seed,
        });
    prop::option::of(trouble)
}

impl Trouble {
    fn crashes(&self, actors: usize) -> Crashes {
        let outages = |actor| {
            let its_own = self.crashes.iter().filter(|it| it.0 as usize % actors == actor);
            let time = |it: i64| Time::from_secs(it);
            let outages = its_own.map(|it| Outage { fail: time(it.1), restore: time(it.2) });
            Cause::List(OutageList::united(outages.collect()))
        };
        let resource = |it: usize| Resource { name: it.to_string(), cause: outages(it) };
        let resources = (0..actors).map(resource).collect();
        let due = Failures { resources, ..Failures::default() }.outages().expect("lists are good");
        let due = due.map(|(actor, outage)| (ActorId(actor as u32), outage));
        Crashes::new(actors as u64, Box::new(due))
    }

    /// Returns whether one of the first of all `actors` crashes.
    pub(crate) fn hits(&self, first: usize, actors: usize) -> bool {
        self.crashes.iter().any(|it| (it.0 as usize % actors) < first)
    }

    /// Adds the faults to a network between actors at these `sites`.
    pub(crate) fn befall(&self, network: &mut Network, sites: &[u32]) {
        let streams = |purpose: &str| -> Vec<Stream> {
            (0..sites.len()).map(|it| stream(self.seed, &it.to_string(), purpose)).collect()
        };
        network.loss(self.loss, streams("loss"));
        network.duplication(self.duplication, streams("duplication"), streams("copies"));
        if !self.datagram {
            network.reliable(Span::from_secs(self.timeout), streams("retransmission"));
        }
        for &(alone, from, until) in &self.partitions {
            let alone = sites[alone as usize % sites.len()];
            let others = sites.iter().copied().filter(|&site| site != alone);
            let groups = [vec![alone], others.collect()];
            let (from, until) = (Time::from_secs(from), Time::from_secs(until));
            network.part(Partition::new(&groups, from, until));
        }
        if !self.crashes.is_empty() {
            network.crashes(self.crashes(sites.len()));
        }
    }
}
