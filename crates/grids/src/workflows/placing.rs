//! Sends ready tasks to resources, so that the tasks of a parent set end together (Chtepen 2011, sections
//! 5.4.1.3 and 6.4.3).

use std::collections::BTreeSet;

use haggle_model::JobId;

use super::super::resources::ResourceId;
use super::balance::{Costs, Place, SAME};
use super::ready::ReadyTasks;
use haggle_workflows::ledger::Group;

/// Places tasks until no resource is available.
///
/// Sets that were partly placed in the round before go first, then others with parents, then roots. The
/// longest task of a set goes where it ends first, at M. Each further task goes where it ends latest but
/// not after M, or else first. Tasks without lengths go to random resources.
///
/// `partly` holds the partly placed sets, before and afterwards.
pub fn place(
    places: &mut [Place],
    ready: &ReadyTasks,
    partly: &mut BTreeSet<Group>,
    fetching: &dyn Fn(JobId, ResourceId) -> f64,
    costs: &mut dyn Costs,
) -> Vec<(JobId, ResourceId)> {
    if ready.is_empty() {
        return Vec::new();
    }
    let before = std::mem::take(partly);
    let mut placed = Vec::new();
    let mut is_full = false;
    for batch in ready.batches(&before) {
        let began = batch.group().is_some_and(|group| before.contains(&group));
        // A begun set comes first, and stays begun if it is not placed.
        if is_full && !began {
            break;
        }
        let known = ready.is_known(batch);
        let first = placed.len();
        let mut longest: Option<f64> = None;
        for ((_, job), left) in ready.of(batch) {
            // If one length of a batch is unknown, all its tasks go to random places.
            let found = match left.filter(|_| known) {
                // The rest of the begun sets is recorded, without a search for places.
                _ if is_full => None,
                Some(left) => nearest(places, left, longest, &|to| fetching(job, to)),
                None => any(places, costs).map(|to| (to, 0.0)),
            };
            let Some((to, needs)) = found else {
                is_full = true;
                let group = batch.group().filter(|_| began || placed.len() > first);
                partly.extend(group);
                break;
            };
            longest = Some(longest.map_or(needs, |longest| longest.max(needs)));
            places[to.index()].held += 1;
            placed.push((job, to));
        }
    }
    placed
}

/// The place where a task ends latest but not after the others, or else first; and its time there, s.
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
    // Ends not after the longest come first, the latest of them best; then the other ends, the
    // earliest best.
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
    // A list, because a draw needs the number of places.
    let available: Vec<ResourceId> = available.map(|(id, _)| id).collect();
    (!available.is_empty()).then(|| available[costs.draw(available.len())])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use haggle_model::Time;
    use haggle_workflows::TaskId;
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::super::super::resources::SiteId;
    use super::super::ready::Ready;
    use super::*;
    use haggle_workflows::ledger::WorkflowId;

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

    fn queue(tasks: &[Ready]) -> ReadyTasks {
        let mut ready = ReadyTasks::default();
        tasks.iter().for_each(|&task| ready.insert(task));
        ready
    }

    fn placed(speeds: &[f64], tasks: &[Ready], partly: &mut BTreeSet<Group>) -> Vec<(u32, u32)> {
        let ready = queue(tasks);
        let found = place(&mut places(speeds), &ready, partly, &|_, _| 100.0, &mut Lowest);
        found.into_iter().map(|(job, to)| (job.0, to.0)).collect()
    }

    /// Micro-example M-11.
    #[test]
    fn tasks_of_a_set_end_together() {
        let tasks = [(1, 300.0), (2, 1200.0), (3, 600.0)];
        let tasks = tasks.map(|(number, left)| ready(number, SET, Some(left)));
        let partly = &mut BTreeSet::new();
        assert_eq!(placed(&[4.0, 1.0, 0.5, 2.0], &tasks, partly), [(2, 0), (3, 3), (1, 1)]);
        assert!(partly.is_empty());
    }

    #[test]
    fn sets_begun_go_first_and_roots_last() {
        let other = Some(Group::Final(ID, TaskId(0)));
        let root = Ready { root: true, ..ready(0, None, Some(1.0)) };
        let tasks = [root, ready(1, other, Some(1.0)), ready(2, SET, Some(1.0))];
        let partly = &mut BTreeSet::from([Group::Set(ID, 0)]);
        let all = placed(&[1.0; 3], &tasks, partly);
        assert_eq!(all.iter().map(|it| it.0).collect::<Vec<_>>(), [2, 1, 0]);
        // The rest of a begun set continues in the next round.
        let partly = &mut BTreeSet::new();
        let set = [ready(1, SET, None), ready(2, SET, None)];
        assert_eq!(placed(&[1.0], &set, partly), [(1, 0)]);
        assert!(partly.contains(&Group::Set(ID, 0)));
        assert_eq!(placed(&[], &[ready(2, SET, None)], partly), []);
        assert!(partly.contains(&Group::Set(ID, 0)));
    }

    /// Of two sets of two tasks only the first has a place, for one of its tasks. The other set is not
    /// begun by waiting, and goes in its turn. The first one stays begun though none of it is placed in the
    /// second round.
    #[test]
    fn a_set_is_begun_once_a_task_of_it_is_placed() {
        let other = Group::Set(ID, 1);
        let [first, second, third] = [1, 2, 3].map(|number| ready(number, SET, None));
        let waiting = [ready(4, Some(other), None), ready(5, Some(other), None)];
        let partly = &mut BTreeSet::new();
        let all = [&[first, second, third], &waiting[..]].concat();
        assert_eq!(placed(&[1.0], &all, partly), [(1, 0)]);
        assert_eq!(*partly, BTreeSet::from([Group::Set(ID, 0)]));
        let left = [&[second, third], &waiting[..]].concat();
        assert_eq!(placed(&[], &left, partly), []);
        assert_eq!(*partly, BTreeSet::from([Group::Set(ID, 0)]));
        assert_eq!(placed(&[1.0; 2], &left, partly), [(2, 0), (3, 1)]);
        assert!(partly.is_empty());
    }

    /// As [`place`], from all ready tasks in any order.
    fn place_all(
        places: &mut [Place],
        mut ready: Vec<Ready>,
        partly: &mut BTreeSet<Group>,
        fetching: &dyn Fn(JobId, ResourceId) -> f64,
    ) -> Vec<(JobId, ResourceId)> {
        let before = partly.clone();
        let begun = |task: &Ready| task.group.is_some_and(|group| before.contains(&group));
        ready.sort_by_key(|task| (!begun(task), task.root, task.turn));
        let mut batches: Vec<Vec<Ready>> = Vec::new();
        for task in ready {
            let same = |batch: &&mut Vec<Ready>| {
                task.group.is_some() && (batch[0].group, batch[0].root) == (task.group, task.root)
            };
            match batches.iter_mut().find(same) {
                Some(batch) => batch.push(task),
                None => batches.push(vec![task]),
            }
        }
        if !batches.is_empty() {
            partly.clear();
        }
        let mut placed = Vec::new();
        for mut batch in batches {
            let known = batch.iter().all(|task| task.left.is_some());
            batch.sort_by_key(|task| task.turn);
            batch.sort_by(|a, b| b.left.unwrap_or(0.0).total_cmp(&a.left.unwrap_or(0.0)));
            let mut longest: Option<f64> = None;
            let mut added = 0;
            for task in &batch {
                let job = task.turn.1;
                let found = match task.left.filter(|_| known) {
                    Some(left) => nearest(places, left, longest, &|to| fetching(job, to)),
                    None => super::any(places, &mut Lowest).map(|to| (to, 0.0)),
                };
                let Some((to, needs)) = found else { break };
                longest = Some(longest.map_or(needs, |longest| longest.max(needs)));
                places[to.index()].held += 1;
                placed.push((job, to));
                added += 1;
            }
            if added < batch.len() && (begun(&batch[0]) || added > 0) {
                partly.extend(batch[0].group);
            }
        }
        placed
    }

    proptest! {
        /// Tasks arrive, change and are placed in some rounds: the kept queue gives the same result as a
        /// search of all tasks.
        #[test]
        fn a_queue_that_is_kept_gives_what_a_look_at_all_gives(
            rounds in vec((vec((0..30_u32, 0..6_u32, any::<bool>(), 0..5_u32), 0..12), 0..6_usize), 1..8),
        ) {
            let (mut kept, mut all) = (ReadyTasks::default(), BTreeMap::new());
            let (mut partly, mut partly_of_all) = (BTreeSet::new(), BTreeSet::new());
            let fetching = |job: JobId, to: ResourceId| f64::from((job.0 * 7 + to.0 * 3) % 5);
            for (changes, room) in rounds {
                for (number, set, root, left) in changes {
                    let group = (set > 0).then_some(Group::Set(ID, set));
                    let left = (left > 0).then(|| f64::from(left));
                    let task = Ready { root, ..ready(number, group, left) };
                    kept.insert(task);
                    all.insert(number, task);
                }
                let speeds: Vec<f64> = (0..room).map(|place| 1.0 + place as f64).collect();
                let tasks = all.values().copied().collect();
                let expected = place_all(&mut places(&speeds), tasks, &mut partly_of_all, &fetching);
                let found = place(&mut places(&speeds), &kept, &mut partly, &fetching, &mut Lowest);
                prop_assert_eq!(&found, &expected);
                prop_assert_eq!(&partly, &partly_of_all);
                for (job, _) in found {
                    kept.remove(job);
                    all.remove(&job.0);
                }
                prop_assert_eq!(kept.is_empty(), all.is_empty());
            }
        }
    }
}
