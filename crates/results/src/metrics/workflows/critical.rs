//! The critical path of a workflow as it ran. It leads from the last task back to a task that waited
//! for none, each time to the parent that was done last.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use haggle_model::{Job, Span, Time};

/// The done tasks of a workflow, by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct DoneTasks(BTreeMap<u32, DoneTask>);

/// A task that is done.
#[derive(Clone, Copy, Debug)]
struct DoneTask {
    /// Earliest possible start; `None` if the task waited for no other.
    ready: Option<Time>,
    end: Time,
    /// Time for which its data were in transit while it waited for them or held its place.
    data: Span,
    /// The last done of the tasks whose data it needed, if that is known.
    parent: Option<u32>,
}

impl DoneTasks {
    pub(super) fn add(&mut self, job: &Job, end: Time, data: Span) {
        let Some(task) = &job.task else { return };
        let parents = task.needs.iter().filter_map(|need| need.made_by);
        let ends = parents.filter_map(|number| Some((self.0.get(&number)?.end, number)));
        // Of parents that ended together, the one with the lowest number.
        let parent = ends.max_by_key(|&(end, number)| (end, Reverse(number))).map(|it| it.1);
        // A task that could start at its submission waited for no other.
        let ready = job.ready.filter(|&ready| ready > job.submit);
        self.0.insert(task.task, DoneTask { ready, end, data, parent });
    }

    /// Time for which data were in transit on the critical path, when all tasks are done.
    pub(super) fn data_on_critical_path(&self) -> Span {
        let mut first_of_end: BTreeMap<Time, u32> = BTreeMap::new();
        self.0.iter().for_each(|(&number, it)| {
            first_of_end.entry(it.end).or_insert(number);
        });
        let mut data = Span::ZERO;
        let mut next = self.0.iter().max_by_key(|&(number, it)| (it.end, *number));
        // A task of no length may end when it begins. Following instants alone could then lead in a
        // circle, so the number of steps is limited.
        for _ in 0..self.0.len() {
            let Some((&number, task)) = next else { break };
            data += task.data;
            // On a grid the needs of a task are unknown. Its parent then is the task that ended at that
            // instant.
            let at_once = || task.ready.and_then(|ready| first_of_end.get(&ready).copied());
            let parent = task.ready.and(task.parent).or_else(at_once);
            next = parent.filter(|&it| it != number).and_then(|it| self.0.get_key_value(&it));
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use haggle_model::JobId;
    use haggle_model::workflow::{Need, WorkflowTask};

    use super::*;

    fn second(second: i64) -> Time {
        Time::from_secs(second)
    }

    fn task(number: u32, ready: i64, needs: &[u32]) -> Job {
        let need = |&made_by: &u32| Need { made_by: Some(made_by), bytes: 1 };
        let needs = needs.iter().map(need).collect();
        let task = WorkflowTask { workflow: 0, task: number, data: None, progress: None, needs };
        let (task, ready) = (Some(Arc::new(task)), Some(second(ready)));
        let job = Job::new(number, Time::ZERO, 1, Span::from_secs(1));
        Job { task, ready, id: JobId(number), ..job }
    }

    /// 0 is done at 10, 1 at 30, and 2 needs both: its way leads by 1.
    fn diamond(needs: [&[u32]; 3]) -> Span {
        let mut done = DoneTasks::default();
        done.add(&task(0, 0, needs[0]), second(10), Span::from_secs(1));
        done.add(&task(1, 0, needs[1]), second(30), Span::from_secs(2));
        done.add(&task(2, 30, needs[2]), second(50), Span::from_secs(4));
        done.data_on_critical_path()
    }

    #[test]
    fn the_way_leads_by_the_last_parent() {
        assert_eq!(diamond([&[], &[], &[0, 1]]), Span::from_secs(6));
        assert_eq!(diamond([&[], &[], &[0]]), Span::from_secs(5));
        assert_eq!(diamond([&[], &[], &[]]), Span::from_secs(6));
    }

    #[test]
    fn tasks_of_no_length_lead_to_an_end() {
        let mut done = DoneTasks::default();
        done.add(&task(0, 10, &[]), second(10), Span::from_secs(1));
        done.add(&task(1, 10, &[]), second(10), Span::from_secs(1));
        assert!(done.data_on_critical_path() <= Span::from_secs(2));
    }
}
