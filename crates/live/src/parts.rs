//! The parts of a world: the actors that share a node.
//!
//! An actor has a node of its own, unless it has messages that belong to one machine. The actors of a grid share a
//! node, and so do clusters with their rescheduler. In a world with shared links, all actors share one node. The owner
//! of a run may let further actors share one.

use std::collections::BTreeSet;

use haggle_agents::AnyActor;
use haggle_model::ActorId;

/// Number of a part; its node has the same number.
pub type PartId = u32;

/// The part of each actor of a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// By actor; `None` = it is in every part, as nature is.
    of: Vec<Option<PartId>>,
    /// The actors of each part, without those that are in every part.
    members: Vec<BTreeSet<ActorId>>,
}

/// Actors that share a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Together {
    /// The actor is alone.
    Alone,
    Grid,
    Clusters,
    /// In every part.
    Everywhere,
}

fn together(actor: &AnyActor) -> Together {
    match actor {
        AnyActor::User(_)
        | AnyActor::Provider(_)
        | AnyActor::Metascheduler(_)
        | AnyActor::Negotiator(_)
        | AnyActor::Coallocator(_)
        | AnyActor::Transactor(_)
        | AnyActor::Acceptor(_)
        | AnyActor::Reallocator(_)
        | AnyActor::DataNetwork(_)
        | AnyActor::Other(_) => Together::Alone,
        AnyActor::Cluster(_) | AnyActor::Rescheduler(_) | AnyActor::ResourceUpdates(_) => {
            Together::Clusters
        }
        AnyActor::GridResource(_)
        | AnyActor::Dispatcher(_)
        | AnyActor::InformationService(_)
        | AnyActor::CheckpointServer(_)
        | AnyActor::Storage(_) => Together::Grid,
        AnyActor::Nature(_) => Together::Everywhere,
    }
}

impl Parts {
    /// The parts of a world with these actors, in the order of their first actors.
    pub fn of(actors: &[AnyActor]) -> Parts {
        Parts::with(actors, &[])
    }

    /// As [`Parts::of`], and all actors of a list of `shared` are in one part.
    pub fn with(actors: &[AnyActor], shared: &[Vec<ActorId>]) -> Parts {
        let single = Parts::single(actors);
        // Each part gets the smallest number of the parts with which it is one.
        let mut of_part = Vec::from_iter(0..single.count() as PartId);
        for list in shared {
            let parts = list.iter().filter_map(|&it| single.of_actor(it));
            let merged = BTreeSet::from_iter(parts.map(|it| of_part[it as usize]));
            let Some(&first) = merged.first() else { continue };
            of_part.iter_mut().filter(|it| merged.contains(it)).for_each(|it| *it = first);
        }
        let kept = Vec::from_iter(BTreeSet::from_iter(of_part.iter().copied()));
        let place = |part: PartId| kept.binary_search(&of_part[part as usize]).unwrap_or_default();
        let mut parts = Parts { of: Vec::new(), members: vec![BTreeSet::new(); kept.len()] };
        for (actor, part) in (0..).map(ActorId).zip(&single.of) {
            let part = part.map(place);
            parts.of.push(part.map(|it| it as PartId));
            if let Some(part) = part {
                parts.members[part].insert(actor);
            }
        }
        parts
    }

    /// The smallest parts that are possible.
    fn single(actors: &[AnyActor]) -> Parts {
        let is_one = actors.iter().any(|it| matches!(it, AnyActor::DataNetwork(_)));
        let mut parts = Parts { of: Vec::with_capacity(actors.len()), members: Vec::new() };
        let mut shared: Vec<(Together, PartId)> = Vec::new();
        for (number, actor) in (0..).map(ActorId).zip(actors) {
            let group = match together(actor) {
                Together::Everywhere => {
                    parts.of.push(None);
                    continue;
                }
                // All are of one group.
                _ if is_one => Together::Grid,
                group => group,
            };
            let known = shared.iter().find(|it| it.0 == group && group != Together::Alone);
            let part = known.map_or(parts.members.len() as PartId, |it| it.1);
            if known.is_none() {
                parts.members.push(BTreeSet::new());
                shared.push((group, part));
            }
            parts.members[part as usize].insert(number);
            parts.of.push(Some(part));
        }
        parts
    }

    /// Number of parts.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    /// The part of an actor; `None` if it is in every part, or does not exist.
    pub fn of_actor(&self, actor: ActorId) -> Option<PartId> {
        self.of.get(actor.index()).copied().flatten()
    }

    /// The actors of a part alone, without those that are in every part.
    pub fn members(&self, part: PartId) -> &BTreeSet<ActorId> {
        &self.members[part as usize]
    }

    /// The actors of a part, with those that are in every part.
    pub fn here(&self, part: PartId) -> BTreeSet<ActorId> {
        let in_part = |it: &Option<PartId>| it.is_none_or(|it| it == part);
        let numbered = (0..).map(ActorId).zip(&self.of);
        numbered.filter(|(_, it)| in_part(it)).map(|(number, _)| number).collect()
    }

    /// The part of each actor, as [`Recorded`](haggle_runtime::network::Recorded) takes it.
    pub fn by_actor(&self) -> &[Option<PartId>] {
        &self.of
    }
}
