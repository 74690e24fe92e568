//! An obvious version of the queues on nodes: bookings in a list, and a search second by second, node by node, chunk by
//! chunk.

use std::cmp::Reverse;

use haggle_model::{Amounts, Demand, JobPriority, Nodes, Span, Time};
use haggle_scheduling::nodes::Piece;
use haggle_scheduling::site::Denied;
use haggle_scheduling::{
    Compression, Killed, LocalScheduler, NodesConfig, OnNodes, Placing, Policy, Preempted, Request,
    Slot,
};

use crate::obvious_site::ObviousSite;

/// No booking of the tests is later (s).
const END: i64 = 4_000;

#[derive(Clone, Debug)]
struct Booked {
    slot: Slot,
    start: i64,
    end: i64,
    demand: Demand,
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    slot: Slot,
    demand: Demand,
    span: i64,
    rank: (i64, u32),
}

#[derive(Debug)]
pub(crate) struct ObviousNodes {
    nodes: Nodes,
    placing: Placing,
    policy: Policy,
    compression: Compression,
    depth: Option<u32>,
    /// Seconds.
    window: Option<i64>,
    running: Vec<Booked>,
    /// Jobs that are stopped for others, each with the waiting one.
    stopping: Vec<(Slot, Slot)>,
    /// Of waiting jobs.
    planned: Vec<Booked>,
    decided: Vec<(Waiting, Booked)>,
    waiting: Vec<Waiting>,
    /// Failed processors of each node.
    down: Vec<u32>,
    sequence: u32,
    given_back: bool,
    site: Option<ObviousSite>,
}

impl ObviousNodes {
    pub(crate) fn new(config: &NodesConfig) -> ObviousNodes {
        let nodes = config.nodes.clone().expect("a machine with nodes");
        let site = config.site.as_ref();
        ObviousNodes {
            site: site.map(|it| ObviousSite::new(it, nodes.capacities())),
            placing: config.placing,
            policy: config.queue.policy,
            compression: config.queue.compression,
            depth: config.queue.depth,
            window: config.queue.window.map(|it| it.as_micros() / 1_000_000),
            running: Vec::new(),
            stopping: Vec::new(),
            planned: Vec::new(),
            decided: Vec::new(),
            waiting: Vec::new(),
            down: vec![0; nodes.capacities().len()],
            nodes,
            sequence: 0,
            given_back: false,
        }
    }

    fn free(&self, node: u32, from: i64, until: i64, booked: &[&Booked]) -> Amounts {
        let capacity = self.nodes.capacities()[node as usize];
        let mut least = capacity;
        for second in from..until.max(from + 1) {
            let mut free = capacity;
            free -= Amounts::processors(self.down[node as usize]);
            for it in booked.iter().filter(|it| it.start <= second && second < it.end) {
                for piece in it.pieces.iter().filter(|piece| piece.node == node) {
                    free -= it.demand.takes(piece.chunks, &capacity);
                }
            }
            least = least.min(&free);
        }
        least
    }

    fn choose(
        &self,
        &Waiting { slot, demand, span, .. }: &Waiting,
        from: i64,
        booked: &[&Booked],
        shut: &[u32],
    ) -> Vec<Piece> {
        let count = self.nodes.capacities().len() as u32;
        let capacity = |node: u32| self.nodes.capacities()[node as usize];
        let fits = |node| {
            let may_use = self.site.as_ref().is_none_or(|site| site.may_use(slot, node));
            if !may_use || shut.contains(&node) {
                return 0;
            }
            demand.fits(&self.free(node, from, from + span, booked), &capacity(node))
        };
        let mut room = Vec::from_iter((0..count).map(fits));
        let wasted = |node: u32| if demand.chunk.gpus == 0 { capacity(node).gpus } else { 0 };
        let mut chosen = vec![0; count as usize];
        let mut left = demand.chunks;
        while left > 0 {
            let open = (0..count).filter(|&node| room[node as usize] > 0);
            let Some(kind) = open.clone().map(wasted).min() else { return Vec::new() };
            let open = Vec::from_iter(open.filter(|&node| wasted(node) == kind));
            let (node, chunks) = match self.placing {
                Placing::Packed => {
                    let enough = open.iter().filter(|&&node| room[node as usize] >= left);
                    let least = enough.min_by_key(|&&node| (room[node as usize], node));
                    let most =
                        open.iter().max_by_key(|&&node| (room[node as usize], Reverse(node)));
                    let node = *least.or(most).expect("one is open");
                    (node, room[node as usize].min(left))
                }
                Placing::Spread => {
                    let first = |&&node: &&u32| {
                        let (room, chosen) = (room[node as usize], chosen[node as usize]);
                        // The room before the choice decides between nodes with the same number of chunks.
                        (chosen, Reverse(room + chosen), node)
                    };
                    (*open.iter().min_by_key(first).expect("one is open"), 1)
                }
            };
            chosen[node as usize] += chunks;
            room[node as usize] -= chunks;
            left -= chunks;
        }
        let pieces = (0..).zip(chosen).filter(|it| it.1 > 0);
        pieces.map(|(node, chunks)| Piece { node, chunks }).collect()
    }

    fn end_at(&mut self, slot: Slot, end: i64) {
        let running = self.running.iter_mut().find(|it| it.slot == slot);
        running.expect("it runs").end = end;
    }

    /// The fewest of the jobs that started last without which a waiting job starts earlier.
    fn stopped_for(&mut self, job: &Waiting, now: i64) -> Vec<Preempted> {
        let start = self.earliest(job, now).map_or(i64::MAX, |it| it.start);
        let own = self.nodes_of(job.slot);
        let mut all = Vec::new();
        for it in &self.running {
            let rules = self.site.as_ref().and_then(|site| site.stops(job.slot, it.slot));
            let Some(rules) = rules else { continue };
            let end = now + rules.grace.as_micros() / 1_000_000;
            if start > now
                && end < it.end.min(start)
                && it.pieces.iter().any(|it| own.contains(&it.node))
            {
                let (slot, then) = (it.slot, rules.then);
                let preempted =
                    Preempted { slot, waiting: job.slot, end: Time::from_secs(end), then };
                all.push((Reverse((it.start, slot)), preempted, end, it.end));
            }
        }
        all.sort_by_key(|it| it.0);
        let before = self.running.clone();
        let starts = |these: &mut Self, stopped: &[bool]| {
            these.running = before.clone();
            let mut last = now;
            for (it, _) in all.iter().zip(stopped).filter(|it| *it.1) {
                these.end_at(it.1.slot, it.2);
                last = last.max(it.2);
            }
            let fits = these.at(job, last).is_some();
            these.running = before.clone();
            fits
        };
        // As few of the first ones as possible, then without each that is not needed.
        let mut chosen = vec![false; all.len()];
        for place in 0..all.len() {
            chosen[place] = true;
            if !starts(self, &chosen) {
                continue;
            }
            for other in (0..=place).rev() {
                chosen[other] = false;
                chosen[other] = !starts(self, &chosen);
            }
            return all.iter().zip(chosen).filter(|it| it.1).map(|it| it.0.1).collect();
        }
        Vec::new()
    }

    fn all(&self) -> Vec<&Booked> {
        let decided = self.decided.iter().map(|it| &it.1);
        self.running.iter().chain(&self.planned).chain(decided).collect()
    }

    fn at(&self, job: &Waiting, start: i64) -> Option<Booked> {
        self.at_without(job, start, &[])
    }

    /// The place of a job at a start, on none of the nodes that are shut.
    fn at_without(&self, job: &Waiting, start: i64, shut: &[u32]) -> Option<Booked> {
        let pieces = self.choose(job, start, &self.all(), shut);
        let Waiting { slot, demand, span, .. } = *job;
        (!pieces.is_empty()).then_some(Booked { slot, start, end: start + span, demand, pieces })
    }

    fn earliest(&self, job: &Waiting, now: i64) -> Option<Booked> {
        (now..END).find_map(|start| self.at(job, start))
    }

    fn plan(&mut self, job: &Waiting, now: i64) {
        let place = self.earliest(job, now);
        self.planned.extend(place);
    }

    fn plan_anew(&mut self, now: i64) {
        self.planned.clear();
        // Jobs that are still examined, once one does not start now.
        let mut left = None;
        for job in self.queue(now) {
            if left == Some(0) {
                break;
            }
            left = left.map(|left| left - 1);
            if !self.is_free(job.slot, now) {
                continue;
            }
            let within = |it: &Booked| self.window.is_none_or(|window| it.start <= now + window);
            let place = self.earliest(&job, now).filter(within);
            if left.is_none() && place.as_ref().is_none_or(|it| it.start > now) {
                left = self.depth;
            }
            self.planned.extend(place);
        }
    }

    /// True if limits permit a job to start beside those that run, and those that start now.
    fn is_free(&self, slot: Slot, now: i64) -> bool {
        let Some(site) = &self.site else { return true };
        let due = self.planned.iter().filter(|it| it.start <= now && it.slot != slot);
        let decided = self.decided.iter().map(|it| &it.1);
        let beside = self.running.iter().chain(decided).chain(due).map(|it| it.slot);
        site.may_start(slot, &Vec::from_iter(beside))
    }

    fn queue(&self, now: i64) -> Vec<Waiting> {
        let mut queue = self.waiting.clone();
        // Lost jobs go ahead of all others, in the order in which they were lost.
        let is_lost = |it: &Waiting| it.rank.0 < 0;
        let by_site = |it: &Waiting| {
            let site = self.site.as_ref().filter(|_| !is_lost(it));
            site.map(|site| site.rank(now, it.slot))
        };
        queue.sort_by_key(|it| (it.rank.0, by_site(it), it.rank.1));
        queue
    }

    fn nodes_of(&self, slot: Slot) -> Vec<u32> {
        let all = 0..self.nodes.capacities().len() as u32;
        let may_use = |&node: &u32| self.site.as_ref().is_none_or(|it| it.may_use(slot, node));
        all.filter(may_use).collect()
    }

    fn planned_start(&self, slot: Slot) -> i64 {
        self.planned.iter().find(|it| it.slot == slot).map_or(i64::MAX, |it| it.start)
    }

    fn compress(&mut self, now: i64) {
        let given_back = std::mem::take(&mut self.given_back);
        // Priorities may have changed.
        let plans_partly = self.depth.is_some() || self.window.is_some();
        let has_news = given_back || self.site.is_some() || plans_partly;
        if !has_news || self.policy != Policy::Conservative {
            return;
        }
        let mut order = self.queue(now);
        match self.compression {
            Compression::None => {
                for job in order {
                    if self.planned_start(job.slot) == i64::MAX {
                        self.plan(&job, now);
                    }
                }
                return;
            }
            Compression::Replan => return self.plan_anew(now),
            Compression::ByStart => order.sort_by_key(|it| (self.planned_start(it.slot), it.rank)),
            Compression::JobByJob => {}
        }
        for job in order {
            let old = self.planned.iter().position(|it| it.slot == job.slot);
            let old = old.map(|place| self.planned.remove(place));
            let new = self.earliest(&job, now);
            let is_earlier = |it: &&Booked| old.as_ref().is_none_or(|old| it.start < old.start);
            let place = new.as_ref().filter(is_earlier).or(old.as_ref()).cloned();
            self.planned.extend(place);
        }
    }

    fn is_idle(&self, place: &Booked) -> bool {
        let running = Vec::from_iter(&self.running);
        place.pieces.iter().all(|piece| {
            let capacity = self.nodes.capacities()[piece.node as usize];
            // All that runs is there now, whatever its plan.
            let mut free = capacity;
            free -= Amounts::processors(self.down[piece.node as usize]);
            for it in &running {
                for other in it.pieces.iter().filter(|other| other.node == piece.node) {
                    free -= it.demand.takes(other.chunks, &capacity);
                }
            }
            free.hold(&place.demand.takes(piece.chunks, &capacity))
        })
    }

    fn run(&mut self, now: i64, place: Booked, started: &mut Vec<Slot>) {
        if let Some(site) = &mut self.site {
            site.start(now, place.slot);
        }
        self.waiting.retain(|it| it.slot != place.slot);
        self.stopping.retain(|it| it.1 != place.slot);
        started.push(place.slot);
        self.running.push(place);
    }

    fn pass(&mut self, now: i64, started: &mut Vec<Slot>) {
        match self.policy {
            Policy::Fcfs => {
                let mut shut = Vec::new();
                for job in self.queue(now) {
                    if !self.is_free(job.slot, now) {
                        continue;
                    }
                    let place = self.at_without(&job, now, &shut);
                    match place.filter(|place| self.is_idle(place)) {
                        Some(place) => self.run(now, place, started),
                        None => shut.extend(self.nodes_of(job.slot)),
                    }
                }
            }
            Policy::Easy => {
                'again: loop {
                    self.planned.clear();
                    let mut awaited: Vec<u32> = Vec::new();
                    for job in self.queue(now) {
                        if !self.is_free(job.slot, now) {
                            continue;
                        }
                        let own = self.nodes_of(job.slot);
                        match self.at(&job, now) {
                            Some(place) => {
                                self.waiting.retain(|it| it.slot != job.slot);
                                self.decided.push((job, place));
                                // Nothing is kept for a job that is at its limit now.
                                if self.planned.iter().any(|it| !self.is_free(it.slot, now)) {
                                    continue 'again;
                                }
                            }
                            None if own.iter().any(|node| !awaited.contains(node)) => {
                                awaited.extend(own);
                                self.plan(&job, now);
                            }
                            None => {}
                        }
                    }
                    break;
                }
                self.planned.clear();
                while let Some((_, place)) = self.decided.first()
                    && self.is_idle(place)
                {
                    let (_, place) = self.decided.remove(0);
                    self.run(now, place, started);
                }
            }
            Policy::Conservative => {
                self.compress(now);
                let queue = self.queue(now);
                let rank = |slot| queue.iter().position(|it| it.slot == slot);
                let mut due = self.planned.clone();
                due.retain(|it| it.start <= now);
                due.sort_by_key(|it| (it.start, rank(it.slot)));
                for place in due {
                    if self.is_idle(&place) {
                        self.planned.retain(|it| it.slot != place.slot);
                        self.run(now, place, started);
                    }
                }
            }
        }
    }
}

impl LocalScheduler for ObviousNodes {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        let now = now.as_micros() / 1_000_000;
        self.compress(now);
        let span = request.span.expect("all jobs of these tests have a limit");
        let job = Waiting {
            slot: request.slot,
            demand: request.demand.unwrap_or(Demand::processors(request.processors)),
            span: span.as_micros() / 1_000_000,
            rank: (if request.ahead { -1 } else { 0 }, self.sequence),
        };
        self.sequence += 1;
        self.waiting.push(job);
        if let Some(site) = &mut self.site {
            site.submit(now, job.slot, request.owner, request.processors, job.span);
            return None;
        }
        if self.policy != Policy::Conservative || self.depth.is_some() || self.window.is_some() {
            return None;
        }
        if request.ahead {
            self.plan_anew(now);
        } else {
            self.plan(&job, now);
        }
        let place = self.planned.iter().find(|it| it.slot == job.slot)?;
        Some(Time::from_secs(place.end))
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        if let Some(site) = &mut self.site {
            site.end(now.as_micros() / 1_000_000, slot);
        }
        self.running.retain(|it| it.slot != slot);
        self.stopping.retain(|it| it.0 != slot);
        self.given_back = true;
    }

    fn overran(&mut self, _: Time, _: Slot, _: Time) {
        unreachable!("jobs of these tests keep to their request");
    }

    fn failed(&mut self, _: Time, _: u32, _: &[Killed]) {
        unreachable!("nodes fail");
    }

    fn restored(&mut self, _: Time, _: u32) {
        unreachable!("nodes come back");
    }

    fn withdraw(&mut self, _: Time, slot: Slot) -> bool {
        let waits = self.waiting.iter().any(|it| it.slot == slot);
        self.waiting.retain(|it| it.slot != slot);
        self.planned.retain(|it| it.slot != slot);
        self.given_back |= waits;
        waits
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        let mut before = usize::MAX;
        while before != started.len() && (before == usize::MAX || self.site.is_some()) {
            before = started.len();
            self.pass(now.as_micros() / 1_000_000, started);
        }
    }

    fn next_start(&self) -> Option<Time> {
        self.planned.iter().map(|it| it.start).min().map(Time::from_secs)
    }

    fn estimate_start(&mut self, _: Time, _: u32, _: Option<Span>) -> Option<Time> {
        None
    }

    fn queue_length(&self) -> usize {
        self.waiting.len() + self.decided.len()
    }

    fn nodes(&mut self) -> &mut dyn OnNodes {
        self
    }
}

impl OnNodes for ObviousNodes {
    fn estimate(&mut self, _: Time, _: &Demand, _: Option<Span>) -> Option<Time> {
        None
    }

    fn places(&self, slot: Slot) -> Vec<(u32, u32)> {
        let Some(place) = self.running.iter().find(|it| it.slot == slot) else { return Vec::new() };
        let processors = |piece: &Piece| {
            let capacity = &self.nodes.capacities()[piece.node as usize];
            (piece.node, place.demand.takes(piece.chunks, capacity).processors)
        };
        place.pieces.iter().map(processors).collect()
    }

    fn accept(&mut self, now: Time, request: &Request) -> Result<(), Denied> {
        let Some(site) = &mut self.site else { return Ok(()) };
        let (now, span) = (now.as_micros(), request.span.expect("a limit").as_micros());
        let (now, span) = (now / 1_000_000, span / 1_000_000);
        let accepts = site.accept(now, request.owner, request.processors, span);
        // The tests compare whether a job is accepted, not why.
        if accepts { Ok(()) } else { Err(Denied::NoQueue) }
    }

    fn priority(&self, slot: Slot) -> Option<JobPriority> {
        let sum = self.site.as_ref()?.priority_at_start(slot)?;
        Some(JobPriority { sum, ..JobPriority::default() })
    }

    fn preempt(&mut self, now: Time) -> Vec<Preempted> {
        let now = now.as_micros() / 1_000_000;
        let planned = std::mem::take(&mut self.planned);
        let mut shut: Vec<u32> = Vec::new();
        let mut stopped = Vec::new();
        for job in self.queue(now) {
            let own = self.nodes_of(job.slot);
            if !self.is_free(job.slot, now) || own.iter().all(|it| shut.contains(it)) {
                continue;
            }
            let place = self.earliest(&job, now);
            if place.as_ref().is_none_or(|it| it.start > now) {
                let awaits = |it: &(Slot, Slot)| {
                    it.1 == job.slot && self.running.iter().any(|other| other.slot == it.0)
                };
                if !self.stopping.iter().any(awaits) {
                    stopped = self.stopped_for(&job, now);
                }
                if !stopped.is_empty() {
                    break;
                }
                shut.extend(own);
            }
            self.planned.extend(place);
        }
        self.planned = planned;
        for it in &stopped {
            self.end_at(it.slot, it.end.as_micros() / 1_000_000);
            let waiting = self.waiting.iter_mut().find(|other| other.slot == it.waiting);
            waiting.expect("it waits").rank.0 = -1;
            self.stopping.retain(|other| other.0 != it.slot);
            self.stopping.push((it.slot, it.waiting));
        }
        self.given_back |= !stopped.is_empty();
        stopped
    }

    fn gone_before(&mut self, _: Slot) {}

    fn failed_on(&mut self, now: Time, nodes: &[(u32, u32)], killed: &[Killed]) {
        if let Some(site) = &mut self.site {
            killed.iter().for_each(|it| site.end(now.as_micros() / 1_000_000, it.slot));
        }
        let decided = std::mem::take(&mut self.decided);
        self.waiting.extend(decided.into_iter().map(|(job, _)| job));
        self.running.retain(|it| killed.iter().all(|other| other.slot != it.slot));
        self.stopping.retain(|it| killed.iter().all(|other| other.slot != it.0));
        for &(node, processors) in nodes {
            self.down[node as usize] += processors;
        }
        if self.policy == Policy::Conservative {
            self.plan_anew(now.as_micros() / 1_000_000);
        }
    }

    fn restored_on(&mut self, _: Time, nodes: &[(u32, u32)]) {
        for &(node, processors) in nodes {
            self.down[node as usize] -= processors;
        }
        self.given_back = true;
    }
}
