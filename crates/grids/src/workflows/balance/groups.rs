//! Resources of a site with similar speeds, examined as one (Chtepen 2011, section 5.5.4).

use std::collections::BTreeMap;

use super::super::super::resources::{ResourceId, SiteId};
use super::candidates::Candidate;
use super::{BalancedRound, Costs, Place};

/// The available resources in groups: those of a site, by speed, cut into pieces.
#[derive(Debug)]
pub(super) struct Groups {
    /// The largest group, θ.
    size: usize,
    all: Vec<Vec<ResourceId>>,
    /// The group of each resource.
    of: BTreeMap<ResourceId, usize>,
}

impl Groups {
    pub(super) fn new(places: &[Place], size: usize) -> Groups {
        let mut sites: BTreeMap<SiteId, Vec<ResourceId>> = BTreeMap::new();
        for (place, id) in places.iter().zip((0..).map(ResourceId)) {
            if place.is_available() {
                sites.entry(place.site).or_default().push(id);
            }
        }
        let mut all: Vec<Vec<ResourceId>> = Vec::new();
        for mut site in sites.into_values() {
            site.sort_by(|a, b| speed(places, *a).total_cmp(&speed(places, *b)).then(a.cmp(b)));
            all.extend(site.chunks(size).map(<[ResourceId]>::to_vec));
        }
        // Stable: groups of equal speed stay in the order of their sites.
        all.sort_by(|a, b| mean_speed(places, a).total_cmp(&mean_speed(places, b)));
        let numbered = all.iter().enumerate();
        let of = numbered.flat_map(|(group, ids)| ids.iter().map(move |&id| (id, group))).collect();
        Groups { size, all, of }
    }

    /// Updates a resource with more or fewer tasks than before. A full resource leaves its group. A
    /// resource that is no longer full joins the nearest group of its site with room.
    pub(super) fn update(&mut self, id: ResourceId, places: &[Place]) {
        let place = &places[id.index()];
        match self.of.get(&id).copied() {
            Some(group) if !place.is_available() => {
                self.all[group].retain(|&other| other != id);
                self.of.remove(&id);
            }
            None if place.is_available() => {
                let distance = |ids: &[ResourceId]| (mean_speed(places, ids) - place.avail).abs();
                let has_room = |ids: &[ResourceId]| {
                    // An empty group has no site.
                    (1..self.size).contains(&ids.len()) && places[ids[0].index()].site == place.site
                };
                let near = self.all.iter().enumerate().filter(|(_, ids)| has_room(ids));
                let near = near.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
                let group = near.map_or(self.all.len(), |(group, _)| group);
                // No group of the site has room, so the resource begins one.
                if group == self.all.len() {
                    self.all.push(Vec::new());
                }
                self.all[group].push(id);
                self.of.insert(id, group);
            }
            _ => {}
        }
    }
}

fn speed(places: &[Place], id: ResourceId) -> f64 {
    places[id.index()].avail
}

fn mean_speed(places: &[Place], ids: &[ResourceId]) -> f64 {
    ids.iter().map(|&id| speed(places, id)).sum::<f64>() / ids.len().max(1) as f64
}

impl BalancedRound {
    /// Each group as one candidate: by its fastest resource for the task that the others wait for, by its
    /// mean for any other task.
    pub(super) fn of_groups(
        &self,
        groups: &Groups,
        task: usize,
        leads: bool,
        costs: &dyn Costs,
    ) -> Vec<Candidate> {
        let running = self.tasks[task].running;
        let candidate = |(group, ids): (usize, &Vec<ResourceId>)| {
            let ids: Vec<ResourceId> = ids.iter().copied().filter(|&id| id != running.at).collect();
            let share = |id: ResourceId| {
                let place = &self.places[id.index()];
                place.avail / f64::from(place.held + 1)
            };
            let fastest = ids
                .iter()
                .copied()
                // Of equal shares the lower number.
                .max_by(|&a, &b| share(a).total_cmp(&share(b)).then(b.cmp(&a)))?;
            let best = self.needs_at(task, fastest, false, costs);
            let held: u32 = ids.iter().map(|id| self.places[id.index()].held).sum();
            let sharers = (f64::from(held) / ids.len() as f64).round() + 1.0;
            let computing = running.left * sharers / mean_speed(&self.places, &ids);
            let x = match leads {
                true => best,
                false => computing + costs.moving(task, running.at, fastest),
            };
            Some(Candidate::Group { group, x, fastest: (fastest, best), evicting: false })
        };
        groups.all.iter().enumerate().filter_map(candidate).collect()
    }

    /// A random resource of a group to which the task may go, and the time of the task there.
    pub(super) fn member(
        &self,
        group: usize,
        task: usize,
        (set, longest): (usize, Option<f64>),
        costs: &mut dyn Costs,
    ) -> Option<(ResourceId, f64)> {
        let mut ids = self.groups.as_ref()?.all[group].clone();
        ids.retain(|&id| id != self.tasks[task].running.at);
        while !ids.is_empty() {
            // Drawn without replacement, until one delays no set.
            let id = ids.swap_remove(costs.draw(ids.len()));
            let x = self.needs_at(task, id, false, costs);
            let bound = longest.map_or(x, |longest| longest.max(x));
            if self.delays_nobody(task, id, false, Some((set, bound))) {
                return Some((id, x));
            }
        }
        None
    }
}
