//! Estimated start and end of a requested job if no other job is submitted, as far as the grid's scheduler
//! knows.
//!
//! The estimate follows the grid from the scheduler's view to the end of that job, with these assumptions:
//!
//! - Resources stay as they were last reported: working ones keep the speed that is left to them, failed
//!   ones stay down.
//! - A job takes its requested time. A running job has computed since it was sent to its resource, with its
//!   present share. It has computed from its newest checkpoint since that arrived, if that gives more. A
//!   job that should have ended ends at once, and a job that is leaving a resource has left it.
//! - Data, checkpoints and preparation take no time: the request does not describe them.
//! - Waiting jobs are sent in the order of the policy, each once, to the available resource that the view
//!   prefers, in the first round with room. A job ends with its first replica that ends.
//!
//! No resource is asked for the estimate, so unreported changes are unknown. A resource is examined if a
//! job ends there, or is sent there, before the requested job has its place; most are not.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, btree_set};
use std::iter::{Peekable, Rev};

use haggle_model::work::{EffectiveSpeed, Speed, Work};
use haggle_model::{JobId, Time};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::ends::Held;
use super::queues::QueueOrder;
use super::resources::{Rank, Resource, ResourceId};
use super::rounds::Rounds;
use super::view::View;

/// Estimated start and end of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Time at which it would be sent to a resource; [`Time::FOREVER`] if no working resource will have
    /// room for it.
    pub start: Time,
    /// Time of its end; [`Time::FOREVER`] if it never ends.
    pub completion: Time,
}

/// A job in the forecast: a known one, or the requested one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Who {
    Known(JobId),
    Asked,
}

/// A job at a resource, and its remaining work; `None` if that is unknown.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Running {
    who: Who,
    left: Option<Work>,
}

/// A resource; a failed one has no slots.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Machine {
    avail: Speed,
    slots: u32,
    running: SmallVec<[Running; 2]>,
    /// Time up to which its jobs have been followed.
    seen: Time,
    /// Number of changes of its jobs: an end foreseen before the last change is invalid.
    version: u32,
    /// Its rank for one more job, if it has room and the rank is filed.
    rank: Option<Rank>,
}

struct Forecast<'v> {
    view: &'v View,
    now: Time,
    /// Resources that have been examined.
    machines: BTreeMap<ResourceId, Machine>,
    /// Examined resources with a free slot, the preferred one last.
    available: BTreeSet<Rank>,
    /// The next end at each examined resource: time, resource and version.
    ends: BinaryHeap<Reverse<(Time, ResourceId, u32)>>,
    /// Resources with a free slot in the view, the preferred one first; and ends of jobs in the view. For
    /// examined resources the fields above hold instead.
    filed_available: Peekable<Rev<btree_set::Iter<'v, Rank>>>,
    filed_ends: Peekable<btree_set::Iter<'v, (Time, ResourceId)>>,
}

impl View {
    /// Start and end of a job of this length that is submitted now, under a policy that sends jobs in this
    /// order. A job without a length never ends. `first` is the time of the next round's decisions.
    pub fn estimate(
        &self,
        now: Time,
        (first, rounds): (Time, Rounds),
        order: QueueOrder,
        length: Option<Work>,
    ) -> Estimate {
        let mut queue = self.queue(order, length).into_iter().peekable();
        let mut forecast = Forecast::of(self, now);
        let mut start = Time::FOREVER;
        let mut round = Some(first);
        loop {
            let end = forecast.next_end();
            // A job that ends at the instant of a round has made room for it.
            match (end, round) {
                (Some(end), at) if at.is_none_or(|at| end <= at) => {
                    if forecast.end_at(end).contains(&Who::Asked) {
                        return Estimate { start, completion: end };
                    }
                    // An end makes room, so the next round may send waiting jobs.
                    if queue.peek().is_some() && round.is_none() {
                        round = Some(rounds.decided_after(end));
                    }
                }
                (_, Some(at)) => {
                    while let Some(&(who, work)) = queue.peek()
                        && let Some(place) = forecast.send(at, who, work)
                    {
                        queue.next();
                        if who == Who::Asked {
                            start = at;
                            let is_last = queue.peek().is_none();
                            if let Some(completion) = forecast.end_alone(place, is_last) {
                                return Estimate { start, completion };
                            }
                        }
                    }
                    round = None;
                }
                // No job ends and no round is due: nothing changes any more.
                (_, None) => return Estimate { start, completion: Time::FOREVER },
            }
        }
    }

    /// The waiting jobs with their remaining work; the requested one behind those that are equal to it.
    fn queue(&self, order: QueueOrder, length: Option<Work>) -> Vec<(Who, Option<Work>)> {
        let jobs = self.jobs();
        let known = jobs.shelf(0).map(|(_, id)| {
            let job = jobs.get(id);
            (job.length, (Who::Known(id), Some(job.length.saturating_sub(job.saved))))
        });
        // A job without a length is sorted as the shortest, as the scheduler does.
        let asked = (length.unwrap_or_default(), (Who::Asked, length));
        let mut queue = Vec::from_iter(known.chain([asked]));
        // The sorts are stable: equal jobs stay in order of arrival, and the requested one is the
        // last of them.
        match order {
            QueueOrder::Arrival => {}
            QueueOrder::LongestFirst => queue.sort_by_key(|&(length, _)| Reverse(length)),
            QueueOrder::ShortestFirst => queue.sort_by_key(|&(length, _)| length),
        }
        queue.into_iter().map(|(_, job)| job).collect()
    }
}

impl<'v> Forecast<'v> {
    fn of(view: &'v View, now: Time) -> Forecast<'v> {
        let mut forecast = Forecast {
            view,
            now,
            machines: BTreeMap::new(),
            available: BTreeSet::new(),
            ends: BinaryHeap::new(),
            filed_available: view.resources().preferred().peekable(),
            filed_ends: view.ends().order().iter().peekable(),
        };
        // The view has filed another state of these resources.
        let others = view.ends().left().iter().copied();
        others.chain(view.reported_anew()).for_each(|id| forecast.look_at(id));
        forecast
    }

    /// Examines a resource, unless that has been done.
    fn look_at(&mut self, id: ResourceId) {
        if !self.machines.contains_key(&id) {
            let machine = Machine::of(&self.view.last_reported(id), self.now);
            self.machines.insert(id, machine);
            // No change of jobs, but the machine is filed with its next end and its rank.
            self.change(id, self.now, |_| {});
        }
    }

    /// The next end of any job.
    fn next_end(&mut self) -> Option<Time> {
        loop {
            // Ends that were foreseen before the last change of their resource are invalid.
            while let Some(&Reverse((_, id, version))) = self.ends.peek()
                && self.machines[&id].version != version
            {
                self.ends.pop();
            }
            let next = self.ends.peek().map(|&Reverse((at, ..))| at);
            // A filed end that may be the next one: its resource is examined, and then the search goes on.
            let filed = self.filed_ends.next_if(|(at, _)| next.is_none_or(|next| *at <= next));
            match filed {
                Some(&(_, id)) => self.look_at(id),
                None => return next,
            }
        }
    }

    /// Ends the jobs that end first, at that instant; returns them.
    fn end_at(&mut self, at: Time) -> SmallVec<[Who; 2]> {
        let Some(Reverse((_, id, _))) = self.ends.pop() else { return SmallVec::new() };
        let mut ended = SmallVec::new();
        self.change(id, at, |machine| ended = machine.end());
        // The other replicas of an ended job end, too.
        for &who in &ended {
            // The requested job has one replica only.
            let Who::Known(job) = who else { continue };
            let replicas = self.view.job(job).replicas.clone();
            for other in replicas.into_iter().filter(|&other| other != id) {
                self.look_at(other);
                self.change(other, at, |machine| machine.running.retain(|it| it.who != who));
            }
        }
        ended
    }

    /// End of the requested job, which has just been sent to this machine; [`Time::FOREVER`] if it never
    /// ends. Returns `None` if changes on other machines may affect it; `is_last` if no other job waits.
    fn end_alone(&self, place: ResourceId, is_last: bool) -> Option<Time> {
        let mut machine = self.machines[&place].clone();
        let replicated = |it: &Running| match it.who {
            Who::Known(job) => self.view.job(job).replicas.len() > 1,
            Who::Asked => false,
        };
        // Another job may be sent here, or a job here may end because its replica elsewhere does.
        if !is_last && machine.slots > 1 || machine.running.iter().any(replicated) {
            return None;
        }
        while let Some(end) = machine.next_end() {
            machine.go_on_to(end);
            if machine.end().contains(&Who::Asked) {
                return Some(end);
            }
        }
        Some(Time::FOREVER)
    }

    /// Sends a job to the preferred machine with room, if there is one; returns the machine.
    fn send(&mut self, at: Time, who: Who, left: Option<Work>) -> Option<ResourceId> {
        let Forecast { machines, filed_available, .. } = self;
        // Filed ranks of examined resources are outdated.
        while filed_available.next_if(|it| machines.contains_key(&it.resource())).is_some() {}
        let filed = filed_available.peek().copied();
        // The better of the best examined and the best filed resource.
        let best = self.available.last().max(filed)?.resource();
        self.look_at(best);
        self.change(best, at, |machine| machine.running.push(Running { who, left }));
        Some(best)
    }

    /// Changes the jobs of an examined machine at the instant up to which it is followed, and files it
    /// again.
    fn change(&mut self, id: ResourceId, at: Time, change: impl FnOnce(&mut Machine)) {
        let Forecast { view, machines, available, ends, .. } = self;
        let machine = machines.get_mut(&id).expect("it has been looked at");
        if let Some(rank) = machine.rank.take() {
            available.remove(&rank);
        }
        // The time so far counts with the share before the change.
        machine.go_on_to(at);
        // Ends of the former version are dropped when they come up.
        machine.version += 1;
        change(machine);
        let (avail, slots, held) = (machine.avail, machine.slots, machine.held());
        if held < slots {
            let site = view.resources().get(id).site;
            let rank = view.resources().rank(id, &Resource { site, up: true, avail, slots, held });
            machine.rank = Some(rank);
            available.insert(rank);
        }
        if let Some(end) = machine.next_end() {
            ends.push(Reverse((end, id, machine.version)));
        }
    }
}

impl Machine {
    fn of(held: &Held, now: Time) -> Machine {
        let share = held.share();
        let running = held.replicas.iter().map(|replica| Running {
            who: Who::Known(replica.job),
            left: Some(replica.left(now, share)),
        });
        let &Held { avail, slots, .. } = held;
        Machine { avail, slots, running: running.collect(), seen: now, version: 0, rank: None }
    }

    fn held(&self) -> u32 {
        self.running.len() as u32
    }

    /// Speed of each of its jobs.
    fn share(&self) -> EffectiveSpeed {
        EffectiveSpeed::shared(self.avail, u64::from(self.held().max(1)))
    }

    /// End of its next job, if one ends.
    fn next_end(&self) -> Option<Time> {
        let left = self.running.iter().filter_map(|job| job.left).min()?;
        Some(self.seen + left.at_effective(self.share())).filter(|&end| end < Time::FOREVER)
    }

    /// Follows its jobs up to an instant not later than the next end.
    fn go_on_to(&mut self, at: Time) {
        let done = self.share().over(at - self.seen);
        for left in self.running.iter_mut().filter_map(|job| job.left.as_mut()) {
            // Ends are rounded up, so a little more than the rest may have been computed.
            *left = left.saturating_sub(done);
        }
        self.seen = at;
    }

    /// Ends the jobs without remaining work.
    fn end(&mut self) -> SmallVec<[Who; 2]> {
        let mut ended = SmallVec::new();
        self.running.retain(|it| {
            let is_over = it.left == Some(Work::ZERO);
            if is_over {
                ended.push(it.who);
            }
            !is_over
        });
        ended
    }
}

#[cfg(test)]
mod tests;
