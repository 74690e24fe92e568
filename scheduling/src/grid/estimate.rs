//! When a job that is asked about would start and end if no other came, as far as a grid's scheduler can tell.
//!
//! It follows the grid from what its view says to the end of that job, with these assumptions:
//!
//! - Resources stay as they were last reported: those that work go on with the speed that is left to them, those that
//!   are down stay down.
//! - A job takes its requested time. One at a resource has computed since it was sent there, with the share that it
//!   has now, and has at least what its newest checkpoint holds. One that should be over is over at once, and one
//!   that leaves a resource has left it.
//! - Data, checkpoints and preparation take no time: the question says nothing of them.
//! - Jobs that wait are sent in the order of the policy, each once, to the available resource that the view
//!   prefers, in the first round after there is room. With its first replica that ends, a job ends.
//!
//! Resources are asked nothing for it, so what they have not reported stays with them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use haggle_model::work::{EffectiveSpeed, Speed, Work};
use haggle_model::{JobId, Time};
use smallvec::SmallVec;

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

const NEVER: Estimate = Estimate { start: Time::FOREVER, completion: Time::FOREVER };

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
}

struct Forecast<'v> {
    view: &'v View,
    machines: Vec<Machine>,
    /// Those with a free slot, the preferred one last.
    available: BTreeSet<Rank>,
    /// The next end at each machine: when, where, and of which version.
    ends: BinaryHeap<Reverse<(Time, ResourceId, u32)>>,
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
                        && forecast.send(at, who, work)
                    {
                        queue.next();
                        if who == Who::Asked {
                            start = at;
                        }
                    }
                    round = None;
                }
                (_, None) => return Estimate { start, ..NEVER },
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

impl Forecast<'_> {
    fn of(view: &View, now: Time) -> Forecast<'_> {
        let ids = (0..view.resources().len() as u32).map(ResourceId);
        let machines = ids.clone().map(|id| Machine::of(view, id, now)).collect();
        let (available, ends) = (BTreeSet::new(), BinaryHeap::new());
        let mut forecast = Forecast { view, machines, available, ends };
        ids.for_each(|id| forecast.file(id));
        forecast
    }

    /// When the next job ends anywhere.
    fn next_end(&mut self) -> Option<Time> {
        while let Some(&Reverse((at, id, version))) = self.ends.peek() {
            if self.machines[id.index()].version == version {
                return Some(at);
            }
            self.ends.pop();
        }
        None
    }

    /// Ends what ends first anywhere, at that instant; whom that concerns.
    fn end_at(&mut self, at: Time) -> SmallVec<[Who; 2]> {
        let Some(Reverse((_, id, _))) = self.ends.pop() else { return SmallVec::new() };
        let mut ended = SmallVec::new();
        self.change(id, at, |machine| {
            machine.running.retain(|it| {
                let is_over = it.left == Some(Work::ZERO);
                if is_over {
                    ended.push(it.who);
                }
                !is_over
            });
        });
        // With a job its other replicas end.
        for &who in &ended {
            let Who::Known(job) = who else { continue };
            let replicas = self.view.job(job).replicas.clone();
            for other in replicas.into_iter().filter(|&other| other != id) {
                self.change(other, at, |machine| machine.running.retain(|it| it.who != who));
            }
        }
        ended
    }

    /// Sends a job to the preferred machine with room, if there is one.
    fn send(&mut self, at: Time, who: Who, left: Option<Work>) -> bool {
        let Some(best) = self.available.last() else { return false };
        self.change(best.resource(), at, |machine| machine.running.push(Running { who, left }));
        true
    }

    /// Changes the jobs of a machine at an instant up to which it is followed.
    fn change(&mut self, id: ResourceId, at: Time, change: impl FnOnce(&mut Machine)) {
        let rank = self.rank(id);
        self.available.remove(&rank);
        let machine = &mut self.machines[id.index()];
        let share = machine.share().over(at - machine.seen);
        for left in machine.running.iter_mut().filter_map(|job| job.left.as_mut()) {
            *left = left.saturating_sub(share);
        }
        machine.seen = at;
        machine.version += 1;
        change(machine);
        self.file(id);
    }

    /// Notes whether a machine has room, and when the next of its jobs ends.
    fn file(&mut self, id: ResourceId) {
        let rank = self.rank(id);
        let machine = &self.machines[id.index()];
        if machine.held() < machine.slots {
            self.available.insert(rank);
        }
        if let Some(left) = machine.running.iter().filter_map(|job| job.left).min() {
            let end = machine.seen + left.at_effective(machine.share());
            if end < Time::FOREVER {
                self.ends.push(Reverse((end, id, machine.version)));
            }
        }
    }

    fn rank(&self, id: ResourceId) -> Rank {
        let machine = &self.machines[id.index()];
        let site = self.view.resources().get(id).site;
        let (avail, slots, held) = (machine.avail, machine.slots, machine.held());
        let resource = Resource { site, up: true, avail, slots, held };
        self.view.resources().rank(id, &resource)
    }
}

impl Machine {
    fn of(view: &View, id: ResourceId, now: Time) -> Machine {
        let (Resource { up, avail, slots, .. }, holders) = view.last_reported(id);
        let (slots, running) = if up { (slots, holders) } else { (0, SmallVec::new()) };
        let share = EffectiveSpeed::shared(avail, (running.len() as u64).max(1));
        let running = running.into_iter().filter_map(|(id, since)| {
            let job = view.jobs().open(id)?;
            let done = share.over(now - since).max(job.saved);
            Some(Running { who: Who::Known(id), left: Some(job.length.saturating_sub(done)) })
        });
        Machine { avail, slots, running: running.collect(), seen: now, version: 0 }
    }

    fn held(&self) -> u32 {
        self.running.len() as u32
    }

    /// What each of its jobs gets.
    fn share(&self) -> EffectiveSpeed {
        EffectiveSpeed::shared(self.avail, u64::from(self.held().max(1)))
    }
}
