//! First come first served, EASY and conservative backfilling on nodes.
//!
//! The policies are those of the queues that count processors ([`Fcfs`](crate::Fcfs), [`Easy`](crate::Easy),
//! [`Conservative`](crate::Conservative)). A reservation is for named nodes, so a job that would fit elsewhere at its
//! start keeps its nodes until compression moves it.

use std::collections::{BTreeMap, VecDeque};

use haggle_model::{Demand, Span, Time};
use serde::{Deserialize, Serialize};

use super::plan::{Place, Plan};
use super::{NodesConfig, OnNodes};
use crate::capabilities::Refusing;
use crate::index::Key;
use crate::reserving::Reserving;
use crate::scheduler::{
    BEYOND_ALL_LIMITS, Killed, LocalScheduler, Policy, Request, SchedulerConfig, Slot, promise,
};
use crate::{Capabilities, Compression, Order};

/// Starts jobs on nodes with several resources.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeQueue {
    config: SchedulerConfig,
    plan: Plan,
    /// The jobs that wait, in the order of the queue.
    waiting: BTreeMap<Key, Waiting>,
    keys: BTreeMap<Slot, Key>,
    /// Jobs decided to start now that wait for an end of this instant, in order; their places are booked.
    decided: VecDeque<(Key, Slot, Waiting)>,
    sequence: u32,
    /// Latest end of the time that was given back since the last compression.
    given_back: Option<Time>,
    /// True if a job may start that could not start at the last pass.
    has_news: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Waiting {
    slot: Slot,
    demand: Demand,
    span: Span,
    /// Earliest start; [`Time::PAST`] if that has come.
    ready: Time,
    /// Booked place; `None` without a planned start, and under policies that book none.
    place: Option<Place>,
}

impl Waiting {
    fn start(&self) -> Time {
        self.place.as_ref().map_or(Time::FOREVER, |place| place.start)
    }

    fn end(&self) -> Time {
        self.place.as_ref().map_or(Time::FOREVER, |place| place.end)
    }
}

/// Jobs that did not fit now in a pass, while nothing is given back. A job that needs at least as much does not fit
/// either.
#[derive(Default)]
struct Refused(Vec<(Demand, Span)>);

impl Refused {
    fn rules_out(&self, demand: &Demand, span: Span) -> bool {
        self.0.iter().any(|(other, time)| {
            let alike = Demand { chunks: demand.chunks, ..*other };
            alike == *demand && other.chunks <= demand.chunks && *time <= span
        })
    }

    fn add(&mut self, demand: Demand, span: Span) {
        self.0.push((demand, span));
    }
}

impl NodeQueue {
    /// For the nodes of a machine.
    pub fn new(config: &NodesConfig) -> NodeQueue {
        NodeQueue {
            config: config.queue,
            plan: Plan::new(&config.nodes, config.placing),
            waiting: BTreeMap::new(),
            keys: BTreeMap::new(),
            decided: VecDeque::new(),
            sequence: 0,
            given_back: None,
            has_news: false,
        }
    }

    fn reserves(&self) -> bool {
        self.config.policy == Policy::Conservative
    }

    fn note_given_back(&mut self, until: Time) {
        self.has_news = true;
        if self.reserves() {
            self.given_back = self.given_back.max(Some(until));
        }
    }

    /// Gives a waiting job the earliest place beside all that is booked.
    fn reserve(&mut self, now: Time, key: Key) {
        let Some(waiting) = self.waiting.get_mut(&key) else { return };
        let from = waiting.ready.max(now);
        waiting.place = self.plan.earliest(&waiting.demand, waiting.span, from, Time::FOREVER);
        if let Some(place) = &waiting.place {
            self.plan.book(place);
        }
    }

    /// Drops the places of some waiting jobs.
    fn drop_places(&mut self, now: Time, which: impl Fn(&Waiting) -> bool) -> Vec<Key> {
        let NodeQueue { waiting, plan, .. } = self;
        let mut dropped = Vec::new();
        for (&key, waiting) in waiting.iter_mut().filter(|it| which(it.1)) {
            if let Some(place) = waiting.place.take() {
                plan.release(now, &place);
            }
            dropped.push(key);
        }
        dropped
    }

    /// Drops the places of some waiting jobs, and books them again in the order of the queue.
    fn plan_anew(&mut self, now: Time, which: impl Fn(&Waiting) -> bool) {
        for key in self.drop_places(now, which) {
            self.reserve(now, key);
        }
    }

    /// Makes a change that may need resources that are booked for waiting jobs. These are planned around it.
    fn make_way(&mut self, now: Time, change: impl FnOnce(&mut Plan)) {
        self.has_news = true;
        self.plan.forget_before(now);
        for (key, slot, mut waiting) in std::mem::take(&mut self.decided) {
            if let Some(place) = waiting.place.take() {
                self.plan.release(now, &place);
            }
            self.keys.insert(slot, key);
            self.waiting.insert(key, waiting);
        }
        let dropped = self.drop_places(now, |_| true);
        change(&mut self.plan);
        if self.reserves() {
            dropped.into_iter().for_each(|key| self.reserve(now, key));
        }
    }

    /// One compression for all time that was given back.
    fn catch_up(&mut self, now: Time) {
        let Some(until) = self.given_back.take() else { return };
        self.plan.forget_before(now);
        match self.config.compression {
            Compression::None if until < BEYOND_ALL_LIMITS => {}
            Compression::None => self.plan_anew(now, |it| it.start() >= BEYOND_ALL_LIMITS),
            Compression::Replan => self.plan_anew(now, |_| true),
            Compression::JobByJob => {
                let keys = Vec::from_iter(self.waiting.keys().copied());
                keys.into_iter().for_each(|key| self.move_up(now, key));
            }
            Compression::ByStart => {
                for (_, key) in self.by_start() {
                    self.move_up(now, key);
                }
            }
        }
    }

    /// The waiting jobs in the order of their planned starts.
    fn by_start(&self) -> Vec<(Time, Key)> {
        let mut keys = Vec::from_iter(self.waiting.iter().map(|(&key, it)| (it.start(), key)));
        keys.sort_unstable();
        keys
    }

    /// Moves a waiting job to the earliest time at which it fits, if that is earlier.
    fn move_up(&mut self, now: Time, key: Key) {
        let NodeQueue { waiting, plan, .. } = self;
        let Some(waiting) = waiting.get_mut(&key) else { return };
        let (from, before) = (waiting.ready.max(now), waiting.start());
        if before <= from {
            return;
        }
        if let Some(place) = &waiting.place {
            plan.release(now, place);
        }
        let earlier = plan.earliest(&waiting.demand, waiting.span, from, before);
        if earlier.is_some() {
            waiting.place = earlier;
        }
        if let Some(place) = &waiting.place {
            plan.book(place);
        }
    }

    /// Takes a waiting job out of the queue.
    fn take(&mut self, key: Key) -> Option<Waiting> {
        let waiting = self.waiting.remove(&key)?;
        self.keys.remove(&waiting.slot);
        Some(waiting)
    }

    /// Starts a job at its booked place.
    fn start(&mut self, waiting: Waiting, started: &mut Vec<Slot>) {
        if let Some(place) = waiting.place {
            self.plan.start(waiting.slot, place);
            started.push(waiting.slot);
        }
    }

    fn start_in_order(&mut self, now: Time, started: &mut Vec<Slot>) {
        while let Some(mut first) = self.waiting.first_entry() {
            let (key, head) = (*first.key(), first.get_mut());
            if head.ready > now {
                break;
            }
            // The head waits for resources only now.
            head.ready = Time::PAST;
            let Some(place) = self.plan.at(&head.demand, head.span, now) else { break };
            if !self.plan.is_idle(&place) {
                break;
            }
            self.plan.book(&place);
            if let Some(head) = self.take(key) {
                self.start(Waiting { place: Some(place), ..head }, started);
            }
        }
    }

    fn start_booked(&mut self, now: Time, started: &mut Vec<Slot>) {
        for (start, key) in self.by_start() {
            if start > now {
                break;
            }
            // A job that ends at this very instant may not have given its resources back yet. Its end brings the next
            // pass.
            let is_idle = |it: &Waiting| it.place.as_ref().is_some_and(|at| self.plan.is_idle(at));
            if self.waiting.get(&key).is_some_and(is_idle)
                && let Some(waiting) = self.take(key)
            {
                self.start(waiting, started);
            }
        }
    }

    /// Books jobs that start now without delay of the head of the queue.
    fn backfill(&mut self, now: Time) {
        if !std::mem::take(&mut self.has_news) {
            return;
        }
        let waiting = self.waiting.len();
        while let Some((&key, head)) = self.waiting.first_key_value() {
            let Some(place) = self.plan.at(&head.demand, head.span, now) else { break };
            self.decide(key, place);
        }
        let mut behind = self.waiting.iter();
        let Some((_, head)) = behind.next() else { return };
        let reserved = self.plan.earliest(&head.demand, head.span, now, Time::FOREVER);
        let depth = self.config.depth.map_or(usize::MAX, |depth| depth as usize);
        let behind = Vec::from_iter(behind.take(depth).map(|(&key, it)| (key, it.demand, it.span)));
        if let Some(place) = &reserved {
            self.plan.book(place);
        }
        let mut refused = Refused::default();
        for (key, demand, span) in behind {
            if refused.rules_out(&demand, span) {
                continue;
            }
            match self.plan.at(&demand, span, now) {
                Some(place) => self.decide(key, place),
                None => refused.add(demand, span),
            }
        }
        if let Some(place) = &reserved {
            self.plan.release(now, place);
        }
        // After a start, the next pass reaches a job further back in the queue.
        self.has_news = self.config.depth.is_some() && self.waiting.len() < waiting;
    }

    fn decide(&mut self, key: Key, place: Place) {
        if let Some(waiting) = self.take(key) {
            self.plan.book(&place);
            let place = Some(place);
            self.decided.push_back((key, waiting.slot, Waiting { place, ..waiting }));
        }
    }

    fn start_decided(&mut self, started: &mut Vec<Slot>) {
        while let Some((.., next)) = self.decided.front()
            && next.place.as_ref().is_some_and(|place| self.plan.is_idle(place))
        {
            if let Some((.., next)) = self.decided.pop_front() {
                self.start(next, started);
            }
        }
    }

    /// The places of all waiting jobs if everything runs as booked, and the plan with them. Under first come first
    /// served, no job starts before the one ahead of it.
    fn foresee(&self, now: Time) -> (Plan, Time, BTreeMap<Slot, Time>) {
        let (mut plan, mut last, mut starts) = (self.plan.clone(), now, BTreeMap::new());
        for it in self.waiting.values() {
            let start = match self.reserves() {
                true => it.start(),
                false => {
                    let place =
                        plan.earliest(&it.demand, it.span, it.ready.max(last), Time::FOREVER);
                    if let Some(place) = &place {
                        plan.book(place);
                    }
                    place.map_or(Time::FOREVER, |place| place.start)
                }
            };
            if self.config.policy == Policy::Fcfs {
                last = start;
            }
            starts.insert(it.slot, start);
        }
        (plan, last, starts)
    }

    /// The start of one more job that may start from `ready` on; `None` if the nodes never have its demand.
    fn earliest_of_new(
        &mut self,
        now: Time,
        demand: &Demand,
        span: Option<Span>,
        ready: Time,
    ) -> Option<Time> {
        self.catch_up(now);
        self.plan.forget_before(now);
        if !self.plan.holds(demand) {
            return None;
        }
        let (plan, last, _) = self.foresee(now);
        let span = span.unwrap_or(Span::FOREVER).max(Span::TICK);
        let place = plan.earliest(demand, span, ready.max(last), Time::FOREVER);
        Some(place.map_or(Time::FOREVER, |place| place.start))
    }

    /// True if each waiting job has a start, which later operations only make earlier.
    fn guarantees_starts(&self) -> Result<(), &'static str> {
        match self.config {
            SchedulerConfig { policy: Policy::Easy, .. } => {
                Err("EASY guarantees the start of the first waiting job only")
            }
            SchedulerConfig { policy: Policy::Fcfs, order, .. } if order != Order::Arrival => {
                Err("a later job may go ahead of a waiting one")
            }
            SchedulerConfig { compression: Compression::Replan, .. } if self.reserves() => {
                Err("a job may start later than planned")
            }
            _ => Ok(()),
        }
    }
}

impl LocalScheduler for NodeQueue {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        self.submit_after(now, request, now)
    }

    fn sort(&self, together: &mut [Request]) {
        if self.reserves() {
            together.sort_by_key(|it| self.config.order.key(it, it.planned_span(), 0));
        }
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        if let Some(place) = self.plan.finished(now, slot) {
            self.note_given_back(place.end);
        }
    }

    fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        self.make_way(now, |plan| plan.extend(now, slot, end));
    }

    fn failed(&mut self, _: Time, _: u32, _: &[Killed]) {
        unreachable!("a provider names the nodes that fail");
    }

    fn restored(&mut self, _: Time, _: u32) {
        unreachable!("a provider names the nodes that are back");
    }

    fn withdraw(&mut self, now: Time, slot: Slot) -> bool {
        let Some(waiting) = self.keys.get(&slot).copied().and_then(|key| self.take(key)) else {
            return false;
        };
        if let Some(place) = &waiting.place {
            self.plan.release(now, place);
        }
        self.note_given_back(waiting.end());
        true
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        self.plan.forget_before(now);
        match self.config.policy {
            Policy::Fcfs => self.start_in_order(now, started),
            Policy::Easy => {
                self.backfill(now);
                self.start_decided(started);
            }
            Policy::Conservative => {
                self.catch_up(now);
                self.start_booked(now, started);
            }
        }
    }

    fn next_start(&self) -> Option<Time> {
        match self.config.policy {
            // The next pass follows the end of a job, unless the head of the queue waits for its earliest start.
            Policy::Fcfs => {
                let ready = self.waiting.values().next().map(|head| head.ready);
                ready.filter(|&ready| ready > Time::PAST)
            }
            Policy::Easy => None,
            Policy::Conservative => {
                let starts = self.waiting.values().map(Waiting::start);
                starts.min().filter(|&start| start < BEYOND_ALL_LIMITS)
            }
        }
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        self.estimate_after(now, processors, span, now)
    }

    fn queue_length(&self) -> usize {
        self.waiting.len() + self.decided.len()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            starts: self.guarantees_starts(),
            ..Capabilities::none("it places jobs on nodes with several resources")
        }
    }

    fn submit_after(&mut self, now: Time, request: Request, ready: Time) -> Option<Time> {
        self.catch_up(now);
        self.plan.forget_before(now);
        let Request { slot, processors, demand, .. } = request;
        let span = request.planned_span();
        let key = self.config.order.key(&request, span, self.sequence);
        self.sequence += 1;
        let demand = demand.unwrap_or(Demand::processors(processors));
        // The other policies guarantee no start, and take no account of it.
        let waits = ready > now && self.guarantees_starts().is_ok();
        let ready = if waits { ready } else { Time::PAST };
        self.waiting.insert(key, Waiting { slot, demand, span, ready, place: None });
        self.keys.insert(slot, key);
        self.has_news = true;
        if !self.reserves() {
            return None;
        }
        if request.ahead {
            // A job ahead of the queue may take time that is booked for others, so all of them are planned again.
            self.plan_anew(now, |_| true);
        } else {
            self.reserve(now, key);
        }
        promise(self.waiting.get(&key).map_or(Time::FOREVER, Waiting::end))
    }

    fn starts(&mut self) -> &mut dyn Reserving {
        match self.guarantees_starts() {
            Ok(()) => self,
            Err(_) => Refusing::all(),
        }
    }

    fn nodes(&mut self) -> &mut dyn OnNodes {
        self
    }
}

impl Reserving for NodeQueue {
    fn planned_start(&mut self, now: Time, slot: Slot) -> Option<Time> {
        self.catch_up(now);
        let waiting = &self.waiting[self.keys.get(&slot)?];
        match self.reserves() {
            true => Some(waiting.start()),
            false => self.foresee(now).2.get(&slot).copied(),
        }
    }

    fn estimate_after(
        &mut self,
        now: Time,
        processors: u32,
        span: Option<Span>,
        ready: Time,
    ) -> Option<Time> {
        self.earliest_of_new(now, &Demand::processors(processors), span, ready)
    }

    fn withdraw_all(&mut self, now: Time, slots: &[Slot]) {
        for &slot in slots {
            self.withdraw(now, slot);
        }
    }
}

impl OnNodes for NodeQueue {
    fn estimate(&mut self, now: Time, demand: &Demand, span: Option<Span>) -> Option<Time> {
        self.earliest_of_new(now, demand, span, now)
    }

    fn places(&self, slot: Slot) -> Vec<(u32, u32)> {
        let Some(place) = self.plan.running(slot) else { return Vec::new() };
        self.plan.takes(place).map(|(node, amounts)| (node, amounts.processors)).collect()
    }

    fn failed_on(&mut self, now: Time, nodes: &[(u32, u32)], killed: &[Killed]) {
        self.make_way(now, |plan| {
            // Their resources must be idle before processors fail.
            for it in killed {
                plan.finished(now, it.slot);
            }
            for &(node, processors) in nodes {
                plan.fail(now, node, processors);
            }
        });
    }

    fn restored_on(&mut self, now: Time, nodes: &[(u32, u32)]) {
        for &(node, processors) in nodes {
            self.plan.restore(now, node, processors);
        }
        self.note_given_back(Time::FOREVER);
    }
}
