//! Sends tasks that are ready to resources, so that those of a parent set end together (Chtepen 2011,
//! sections 5.4.1.3 and 6.4.3).

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::JobId;

use super::super::jobs::Turn;
use super::super::resources::ResourceId;
use super::balance::{Costs, Place, SAME};
use crate::workflows::Group;

/// A task that may start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ready {
    /// When its workflow came, and which job it is.
    pub turn: Turn,
    /// The largest parent set it is in, if it is in one.
    pub group: Option<Group>,
    /// Whether it is the root of its workflow.
    pub root: bool,
    /// What is left of it, MI, if anybody knows.
    pub left: Option<f64>,
}

/// Places tasks until no resource is available.
///
/// Those of a set that was partly placed in the round before go first, then others with parents, then
/// roots. The longest of a set goes where it ends first, at M; each further one where it ends latest
/// but not after M, or else first. Without lengths they go anywhere.
///
/// `partly` are the sets that are partly placed, before and afterwards.
pub fn place(
    places: &mut [Place],
    mut ready: Vec<Ready>,
    partly: &mut BTreeSet<Group>,
    fetching: &dyn Fn(JobId, ResourceId) -> f64,
    costs: &mut dyn Costs,
) -> Vec<(JobId, ResourceId)> {
    let begun = |group: Option<Group>| group.is_some_and(|group| partly.contains(&group));
    ready.sort_by_key(|task| (!begun(task.group), task.root, task.turn));
    // Tasks of a set are placed together, in the turn of the first one.
    let mut batches: Vec<Vec<Ready>> = Vec::new();
    let mut batch_of: BTreeMap<(Group, bool), usize> = BTreeMap::new();
    for task in ready {
        let batch = match task.group {
            Some(group) => *batch_of.entry((group, task.root)).or_insert(batches.len()),
            None => batches.len(),
        };
        if batch == batches.len() {
            batches.push(Vec::new());
        }
        batches[batch].push(task);
    }
    let before = std::mem::take(partly);
    let mut placed = Vec::new();
    for mut batch in batches {
        let group = batch[0].group;
        let began = group.is_some_and(|group| before.contains(&group));
        let known = batch.iter().all(|task| task.left.is_some());
        batch.sort_by(|a, b| {
            let length = |task: &Ready| task.left.unwrap_or(0.0);
            length(b).total_cmp(&length(a)).then(a.turn.cmp(&b.turn))
        });
        let (count, first) = (batch.len(), placed.len());
        let mut longest: Option<f64> = None;
        for Ready { turn: (_, job), left, .. } in batch {
            let found = match left.filter(|_| known) {
                Some(left) => nearest(places, left, longest, &|to| fetching(job, to)),
                None => any(places, costs).map(|to| (to, 0.0)),
            };
            let Some((to, needs)) = found else { break };
            longest = Some(longest.map_or(needs, |longest| longest.max(needs)));
            places[to.index()].held += 1;
            placed.push((job, to));
        }
        let added = placed.len() - first;
        if let Some(group) = group.filter(|_| added < count && (began || added > 0)) {
            partly.insert(group);
        }
    }
    placed
}

/// Where a task ends latest but not after the others, or else first; and what it needs there, s.
fn nearest(
    places: &[Place],
    left: f64,
    longest: Option<f64>,
    fetching: &dyn Fn(ResourceId) -> f64,
) -> Option<(ResourceId, f64)> {
    let available = (0..).map(ResourceId).zip(places).filter(|(_, place)| place.is_available());
    let needs = available.map(|(to, place)| {
        let computing = left * f64::from(place.held + 1) / place.avail;
        (to, computing + fetching(to))
    });
    let key = |needs: f64| match longest {
        Some(longest) if needs <= longest + SAME => (false, -needs),
        _ => (true, needs),
    };
    needs.min_by(|&(a, time_a), &(b, time_b)| {
        let (one, other) = (key(time_a), key(time_b));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(a.cmp(&b))
    })
}

fn any(places: &[Place], costs: &mut dyn Costs) -> Option<ResourceId> {
    let available = (0..).map(ResourceId).zip(places).filter(|(_, place)| place.is_available());
    let available: Vec<ResourceId> = available.map(|(id, _)| id).collect();
    (!available.is_empty()).then(|| available[costs.draw(available.len())])
}

#[cfg(test)]
mod tests {
    use haggle_model::Time;
    use haggle_workflows::TaskId;

    use super::super::super::resources::SiteId;
    use super::*;
    use crate::workflows::WorkflowId;

    const ID: WorkflowId = WorkflowId { workload: 0, number: 0 };

    struct Lowest;

    impl Costs for Lowest {
        fn moving(&self, _: usize, _: ResourceId, _: ResourceId) -> f64 {
            0.0
        }

        fn draw(&mut self, _: usize) -> usize {
            0
        }
    }

    const SET: Option<Group> = Some(Group::Set(ID, 0));

    fn places(speeds: &[f64]) -> Vec<Place> {
        let place = |&avail| Place { site: SiteId(0), up: true, avail, slots: 1, held: 0 };
        speeds.iter().map(place).collect()
    }

    fn ready(number: u32, group: Option<Group>, left: Option<f64>) -> Ready {
        Ready { turn: (Time::ZERO, JobId(number)), group, root: false, left }
    }

    fn placed(speeds: &[f64], ready: Vec<Ready>, partly: &mut BTreeSet<Group>) -> Vec<(u32, u32)> {
        let found = place(&mut places(speeds), ready, partly, &|_, _| 100.0, &mut Lowest);
        found.into_iter().map(|(job, to)| (job.0, to.0)).collect()
    }

    /// Micro-example M-11.
    #[test]
    fn tasks_of_a_set_end_together() {
        let tasks = [(1, 300.0), (2, 1200.0), (3, 600.0)];
        let tasks = tasks.map(|(number, left)| ready(number, SET, Some(left)));
        let partly = &mut BTreeSet::new();
        assert_eq!(placed(&[4.0, 1.0, 0.5, 2.0], tasks.to_vec(), partly), [(2, 0), (3, 3), (1, 1)]);
        assert!(partly.is_empty());
    }

    #[test]
    fn sets_begun_go_first_and_roots_last() {
        let other = Some(Group::Final(ID, TaskId(0)));
        let root = Ready { root: true, ..ready(0, None, Some(1.0)) };
        let tasks = vec![root, ready(1, other, Some(1.0)), ready(2, SET, Some(1.0))];
        let partly = &mut BTreeSet::from([Group::Set(ID, 0)]);
        let all = placed(&[1.0; 3], tasks.clone(), partly);
        assert_eq!(all.iter().map(|it| it.0).collect::<Vec<_>>(), [2, 1, 0]);
        // What is left of a set that has been begun goes on in the next round.
        let partly = &mut BTreeSet::new();
        let set = vec![ready(1, SET, None), ready(2, SET, None)];
        assert_eq!(placed(&[1.0], set, partly), [(1, 0)]);
        assert!(partly.contains(&Group::Set(ID, 0)));
        assert_eq!(placed(&[], vec![ready(2, SET, None)], partly), []);
        assert!(partly.contains(&Group::Set(ID, 0)));
    }
}
