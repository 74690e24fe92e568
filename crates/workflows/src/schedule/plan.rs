//! A partial schedule: idle times of resources, and arrivals of data.

use haggle_model::{Span, Time};

use super::{Placement, Problem, Schedule};
use crate::TaskId;

/// The tasks placed so far.
pub(super) struct Plan<'a> {
    pub(super) problem: &'a Problem<'a>,
    placed: Vec<Option<Placement>>,
    idle: Vec<Idle>,
}

/// Arrival of all data of a task on a resource: the same time on all resources but one.
#[derive(Clone, Copy)]
pub(super) struct Ready {
    elsewhere: Time,
    home: u32,
    at_home: Time,
}

impl Ready {
    /// The earliest start on a resource.
    pub(super) fn on(&self, resource: u32) -> Time {
        if resource == self.home { self.at_home } else { self.elsewhere }
    }

    /// The resource from which data would be the last to arrive elsewhere.
    pub(super) fn home(&self) -> u32 {
        self.home
    }
}

impl<'a> Plan<'a> {
    pub(super) fn new(problem: &'a Problem<'a>) -> Plan<'a> {
        let placed = vec![None; problem.workflow().tasks().len()];
        let mut idle = vec![Idle::default(); problem.resources()];
        for &Placement { resource, start, end } in problem.taken() {
            idle[resource as usize].take(start, end);
        }
        Plan { problem, placed, idle }
    }

    /// Arrival of the data of a task whose parents are all placed.
    pub(super) fn ready(&self, task: TaskId) -> Ready {
        let arrival = |link: &crate::Link| {
            let parent = self.placed[link.task.index()].expect("parents are placed first");
            let (sending, from) = (self.problem.sending(link.task, link.bytes), parent.resource);
            (parent, parent.end + sending.away(from), parent.end + sending.home(from))
        };
        let released = self.problem.released(task);
        let mut ready = Ready { elsewhere: released, home: 0, at_home: released };
        let parents = self.problem.workflow().parents(task);
        for (parent, arrives, _) in parents.iter().map(arrival) {
            if arrives > ready.elsewhere {
                ready.elsewhere = arrives;
                ready.home = parent.resource;
            }
        }
        // A second pass: the home is known only after the first.
        for (parent, arrives, arrives_home) in parents.iter().map(arrival) {
            let is_home = parent.resource == ready.home;
            ready.at_home = ready.at_home.max(if is_home { arrives_home } else { arrives });
        }
        ready
    }

    /// The placement of a task in the first idle slot of a resource that is long enough.
    pub(super) fn inserted(&self, task: TaskId, resource: u32, ready: Ready) -> Placement {
        let time = self.problem.time(task, resource);
        let start = self.idle[resource as usize].first_fit(ready.on(resource), time);
        Placement { resource, start, end: start + time }
    }

    /// The placement of a task after all others of a resource.
    pub(super) fn appended(&self, task: TaskId, resource: u32, ready: Ready) -> Placement {
        let start = self.available(resource).max(ready.on(resource));
        Placement { resource, start, end: start + self.problem.time(task, resource) }
    }

    /// The end of the last task of a resource.
    pub(super) fn available(&self, resource: u32) -> Time {
        self.idle[resource as usize].last_end
    }

    /// The placement with the least key by insertion; the lowest number of equal ones.
    pub(super) fn best<K: Ord>(&self, task: TaskId, key: impl Fn(&Placement) -> K) -> Placement {
        let ready = self.ready(task);
        let placements = self.problem.all().map(|resource| self.inserted(task, resource, ready));
        placements.min_by_key(key).expect("there are resources")
    }

    pub(super) fn place(&mut self, task: TaskId, placement: Placement) {
        self.idle[placement.resource as usize].take(placement.start, placement.end);
        self.placed[task.index()] = Some(placement);
    }

    pub(super) fn schedule(self) -> Schedule {
        let all = self.placed.into_iter().map(|placed| placed.expect("all tasks are placed"));
        Schedule::new(all.collect())
    }
}

/// The idle slots of a resource; none is empty.
#[derive(Clone, Default)]
struct Idle {
    /// Slots between tasks, ascending.
    gaps: Vec<(Time, Time)>,
    last_end: Time,
}

impl Idle {
    /// The earliest start, not before `ready`, at which a task of length `time` fits into one slot.
    fn first_fit(&self, ready: Time, time: Span) -> Time {
        // Slots that end before this are too short.
        let first = self.gaps.partition_point(|&(_, end)| end < ready + time);
        let fits = |&&(start, end): &&(Time, Time)| start.max(ready) + time <= end;
        let gap = self.gaps[first..].iter().find(fits);
        gap.map_or(self.last_end, |&(start, _)| start).max(ready)
    }

    fn take(&mut self, start: Time, end: Time) {
        if start >= self.last_end {
            // A task that takes no time occupies nothing, so it makes no gap and moves no end.
            if start > self.last_end && end > start {
                self.gaps.push((self.last_end, start));
            }
            if end > start {
                self.last_end = end;
            }
            return;
        }
        if start == end {
            return; // it leaves the slot as it is
        }
        let place = self.gaps.partition_point(|&(_, gap_end)| gap_end < end);
        let (gap_start, gap_end) = self.gaps[place];
        let left = [(gap_start, start), (end, gap_end)].into_iter().filter(|gap| gap.0 < gap.1);
        self.gaps.splice(place..=place, left);
    }
}
