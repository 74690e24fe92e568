//! When a job that is asked about would start and end if no other came, as far as a grid's scheduler can tell.
//!
//! It follows the grid from what its view says to the end of that job, with these assumptions:
//!
//! - Resources stay as they were last reported: those that work go on with the speed that is left to them, those that
//!   are down stay down.
//! - A job takes its requested time. One at a resource has computed since it was sent there, with the share that it
//!   has now; or since its newest checkpoint came, from what that holds, if that is more. One that should be over is
//!   over at once, and one that leaves a resource has left it.
//! - Data, checkpoints and preparation take no time: the question says nothing of them.
//! - Jobs that wait are sent in the order of the policy, each once, to the available resource that the view
//!   prefers, in the first round after there is room. With its first replica that ends, a job ends.
//!
//! Resources are asked nothing for it, so what they have not reported stays with them. A resource is looked at when
//! something ends there, or is sent there, before the job has its place: most are not.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, btree_set};
use std::iter::{Peekable, Rev};

use haggle_model::work::{EffectiveSpeed, Speed, Work};
use haggle_model::{JobId, Time};
use smallvec::SmallVec;

use super::ends::Held;
use super::queues::QueueOrder;
use super::resources::{Rank, Resource, ResourceId};
use super::rounds::Rounds;
use super::view::View;

/// When a job would start and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// When it would be sent to a resource; [`Time::FOREVER`] if nothing that works will have room for it.
    pub start: Time,
    /// When it would be computed; [`Time::FOREVER`] if that never ends.
    pub completion: Time,
}

/// What a job is to the forecast: one that there is, or the one that is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Known(JobId),
    Asked,
}

/// A job at a resource, and what is left of it; without an end, nobody knows how much.
#[derive(Clone, Copy, Debug)]
struct Running {
    who: Who,
    left: Option<Work>,
}

/// A resource; one that is down has no slots.
#[derive(Clone, Debug)]
struct Machine {
    avail: Speed,
    slots: u32,
    running: SmallVec<[Running; 2]>,
    /// Up to when its jobs have been followed.
    seen: Time,
    /// How often its jobs have changed: an end that was foreseen before does not count.
    version: u32,
    /// How good it is for one more job, where it has room and that has been filed.
    rank: Option<Rank>,
}

struct Forecast<'v> {
    view: &'v View,
    now: Time,
    /// Those that have been looked at.
    machines: BTreeMap<ResourceId, Machine>,
    /// Of these, those with a free slot, the preferred one last.
    available: BTreeSet<Rank>,
    /// The next end at each of them: when, where, and of which version.
    ends: BinaryHeap<Reverse<(Time, ResourceId, u32)>>,
    /// Those with a free slot as the view has them, the preferred one first; and when something ends where. What has
    /// been looked at is as it is above.
    filed_available: Peekable<Rev<btree_set::Iter<'v, Rank>>>,
    filed_ends: Peekable<btree_set::Iter<'v, (Time, ResourceId)>>,
}

impl View {
    /// When a job of this length would start and end that is submitted now, under a policy that sends jobs in this
    /// order; a job without a length never ends. `first` is when the next round decides.
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
            // What ends at the instant of a round has made room for it.
            match (end, round) {
                (Some(end), at) if at.is_none_or(|at| end <= at) => {
                    if forecast.end_at(end).contains(&Who::Asked) {
                        return Estimate { start, completion: end };
                    }
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
                (_, None) => return Estimate { start, completion: Time::FOREVER },
            }
        }
    }

    /// The jobs that wait, and the one that is asked about behind those that are equal to it; what is left of each.
    fn queue(&self, order: QueueOrder, length: Option<Work>) -> Vec<(Who, Option<Work>)> {
        let jobs = self.jobs();
        let known = jobs.shelf(0).map(|(_, id)| {
            let job = jobs.get(id);
            (job.length, (Who::Known(id), Some(job.length.saturating_sub(job.saved))))
        });
        let asked = (length.unwrap_or_default(), (Who::Asked, length));
        let mut queue = Vec::from_iter(known.chain([asked]));
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
        // Of these the view has filed something else.
        let others = view.ends().left().iter().copied();
        others.chain(view.reported_anew()).for_each(|id| forecast.look_at(id));
        forecast
    }

    /// Looks at a resource, unless that has been done.
    fn look_at(&mut self, id: ResourceId) {
        if !self.machines.contains_key(&id) {
            let machine = Machine::of(&self.view.last_reported(id), self.now);
            self.machines.insert(id, machine);
            self.change(id, self.now, |_| {});
        }
    }

    /// When the next job ends anywhere.
    fn next_end(&mut self) -> Option<Time> {
        loop {
            while let Some(&Reverse((_, id, version))) = self.ends.peek()
                && self.machines[&id].version != version
            {
                self.ends.pop();
            }
            let next = self.ends.peek().map(|&Reverse((at, ..))| at);
            let filed = self.filed_ends.next_if(|(at, _)| next.is_none_or(|next| *at <= next));
            match filed {
                Some(&(_, id)) => self.look_at(id),
                None => return next,
            }
        }
    }

    /// Ends what ends first anywhere, at that instant; whom that concerns.
    fn end_at(&mut self, at: Time) -> SmallVec<[Who; 2]> {
        let Some(Reverse((_, id, _))) = self.ends.pop() else { return SmallVec::new() };
        let mut ended = SmallVec::new();
        self.change(id, at, |machine| ended = machine.end());
        // With a job its other replicas end.
        for &who in &ended {
            let Who::Known(job) = who else { continue };
            let replicas = self.view.job(job).replicas.clone();
            for other in replicas.into_iter().filter(|&other| other != id) {
                self.look_at(other);
                self.change(other, at, |machine| machine.running.retain(|it| it.who != who));
            }
        }
        ended
    }

    /// When the job that is asked about ends, which has just been sent to this machine; [`Time::FOREVER`] if it never
    /// does. `None` if what happens elsewhere may change that: `is_last` says that no other job waits.
    fn end_alone(&self, place: ResourceId, is_last: bool) -> Option<Time> {
        let mut machine = self.machines[&place].clone();
        let replicated = |it: &Running| match it.who {
            Who::Known(job) => self.view.job(job).replicas.len() > 1,
            Who::Asked => false,
        };
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

    /// Sends a job to the preferred machine with room, if there is one; says to which.
    fn send(&mut self, at: Time, who: Who, left: Option<Work>) -> Option<ResourceId> {
        let Forecast { machines, filed_available, .. } = self;
        while filed_available.next_if(|it| machines.contains_key(&it.resource())).is_some() {}
        let filed = filed_available.peek().copied();
        let best = self.available.last().max(filed)?.resource();
        self.look_at(best);
        self.change(best, at, |machine| machine.running.push(Running { who, left }));
        Some(best)
    }

    /// Changes the jobs of a machine that has been looked at, at an instant up to which it is followed; and files it
    /// anew.
    fn change(&mut self, id: ResourceId, at: Time, change: impl FnOnce(&mut Machine)) {
        let Forecast { view, machines, available, ends, .. } = self;
        let machine = machines.get_mut(&id).expect("it has been looked at");
        if let Some(rank) = machine.rank.take() {
            available.remove(&rank);
        }
        machine.go_on_to(at);
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

    /// What each of its jobs gets.
    fn share(&self) -> EffectiveSpeed {
        EffectiveSpeed::shared(self.avail, u64::from(self.held().max(1)))
    }

    /// When the next of its jobs ends, if one does.
    fn next_end(&self) -> Option<Time> {
        let left = self.running.iter().filter_map(|job| job.left).min()?;
        Some(self.seen + left.at_effective(self.share())).filter(|&end| end < Time::FOREVER)
    }

    /// Follows its jobs up to an instant at or before the next end.
    fn go_on_to(&mut self, at: Time) {
        let done = self.share().over(at - self.seen);
        for left in self.running.iter_mut().filter_map(|job| job.left.as_mut()) {
            *left = left.saturating_sub(done);
        }
        self.seen = at;
    }

    /// Ends the jobs of which nothing is left.
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
