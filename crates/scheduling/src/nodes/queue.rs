//! First come first served, EASY and conservative backfilling on nodes.
//!
//! The policies are those of the queues that count processors ([`Fcfs`](crate::Fcfs), [`Easy`](crate::Easy),
//! [`Conservative`](crate::Conservative)). A reservation is for named nodes, so a job that would fit elsewhere at its
//! start keeps its nodes until compression moves it.

mod preemption;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use haggle_model::{Amounts, Demand, JobPriority, NodeGroup, Nodes, Span, Time};
use serde::{Deserialize, Serialize};

use super::plan::{Place, Plan};
use super::set::{Among, Taken};
use super::{NodeSet, NodesConfig, OnNodes, Preempted};
use crate::capabilities::Refusing;
use crate::index::{FIRST, Key};
use crate::reserving::Reserving;
use crate::scheduler::{
    BEYOND_ALL_LIMITS, Killed, LocalScheduler, Policy, Request, SchedulerConfig, Slot, promise,
};
use crate::site::{Denied, Entry, Site};
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
    /// False if the machine counts processors only: it is one node, and jobs ask for processors alone.
    has_nodes: bool,
    /// Queues, accounts and priorities, if there are any.
    site: Option<Box<Site>>,
    /// Running jobs that are stopped for others, each with the waiting job.
    stopping: BTreeMap<Slot, Slot>,
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

/// Jobs that did not fit now in a pass, while nothing is given back. A job of the same queue that needs at least as much
/// does not fit either.
#[derive(Default)]
struct Refused(Vec<(Option<u32>, Demand, Span)>);

impl Refused {
    fn rules_out(&self, queue: Option<u32>, demand: &Demand, span: Span) -> bool {
        self.0.iter().any(|(of, other, time)| {
            let alike = Demand { chunks: demand.chunks, ..*other };
            *of == queue && alike == *demand && other.chunks <= demand.chunks && *time <= span
        })
    }

    fn add(&mut self, queue: Option<u32>, demand: Demand, span: Span) {
        self.0.push((queue, demand, span));
    }
}

/// The key of a job by the rules of its site. A job that goes ahead of all others keeps its key.
fn placed(site: Option<&Site>, slot: Slot, (group, primary, sequence): Key) -> Key {
    match site {
        None => (group, primary, sequence),
        Some(_) if primary == i64::MIN => (i64::MIN, primary, sequence),
        Some(site) => {
            let (tier, priority) = site.rank(slot);
            (tier, priority.unwrap_or(primary), sequence)
        }
    }
}

/// The nodes on which a job may run.
fn own_nodes(site: Option<&Site>, slot: Slot) -> Option<&NodeSet> {
    site.and_then(|site| site.nodes(slot))
}

/// True if no limit keeps a waiting job from its start.
fn is_free(site: Option<&Site>, slot: Slot) -> bool {
    site.is_none_or(|site| site.may_start(slot).is_ok())
}

impl NodeQueue {
    /// For the nodes of a machine, or for so many processors without nodes.
    pub fn new(processors: u32, config: &NodesConfig) -> NodeQueue {
        let whole = || {
            let capacity = Amounts::processors(processors);
            Nodes::new(&[NodeGroup { count: 1, capacity }])
        };
        let (has_nodes, nodes) = match &config.nodes {
            Some(nodes) => (true, nodes.clone()),
            None => (false, whole()),
        };
        let site = config.site.as_ref();
        NodeQueue {
            config: config.queue,
            plan: Plan::new(&nodes, config.placing),
            has_nodes,
            site: site.map(|it| Box::new(Site::new(it, nodes.capacities(), has_nodes))),
            waiting: BTreeMap::new(),
            keys: BTreeMap::new(),
            decided: VecDeque::new(),
            sequence: 0,
            given_back: None,
            has_news: false,
            stopping: BTreeMap::new(),
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
        let (site, from) = (self.site.as_deref(), waiting.ready.max(now));
        if !is_free(site, waiting.slot) {
            return;
        }
        let among = Among::from(own_nodes(site, waiting.slot));
        let before = self.config.window.map_or(Time::FOREVER, |window| now + window + Span::TICK);
        waiting.place = self.plan.earliest(&waiting.demand, waiting.span, from, before, among);
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
        let dropped = self.drop_places(now, which);
        self.reserve_all(now, dropped);
    }

    /// Gives waiting jobs places in the order of the queue. Limits count the jobs that start now.
    fn reserve_all(&mut self, now: Time, keys: Vec<Key>) {
        let mut held = Vec::new();
        // Jobs that are still examined, from the first one on that does not start now.
        let mut left = None;
        for key in keys {
            if left == Some(0) {
                break;
            }
            self.reserve(now, key);
            let Some(waiting) = self.waiting.get(&key) else { continue };
            let starts = waiting.start() <= now;
            if starts && let Some(site) = &mut self.site {
                site.hold(waiting.slot);
                held.push(waiting.slot);
            }
            left = match left {
                None if starts || !is_free(self.site.as_deref(), waiting.slot) => None,
                None => self.config.depth,
                Some(left) => Some(left - 1),
            };
        }
        if let Some(site) = &mut self.site {
            held.into_iter().for_each(|slot| site.let_go(slot));
        }
    }

    /// Puts the waiting jobs into the order of their present priorities, if these have been calculated.
    fn set_priorities(&mut self, now: Time) {
        let Some(site) = self.site.as_deref_mut() else { return };
        if !site.calculate(now) || self.waiting.is_empty() {
            return;
        }
        let mut changed = false;
        let mut sorted = BTreeMap::new();
        let mut last = FIRST;
        for (old, waiting) in std::mem::take(&mut self.waiting) {
            let key = placed(Some(site), waiting.slot, old);
            changed |= key < last;
            last = key;
            self.keys.insert(waiting.slot, key);
            sorted.insert(key, waiting);
        }
        self.waiting = sorted;
        if changed {
            self.note_given_back(Time::FOREVER);
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
            if let Some(site) = &mut self.site {
                site.stop(now, slot);
            }
            self.keys.insert(slot, key);
            self.waiting.insert(key, waiting);
        }
        let dropped = self.drop_places(now, |_| true);
        change(&mut self.plan);
        if self.reserves() {
            self.reserve_all(now, dropped);
        }
    }

    /// The demand of a request, by what the machine has.
    fn demand_of(&self, request: &Request) -> Demand {
        let demand = request.demand.filter(|_| self.has_nodes);
        demand.unwrap_or(Demand::processors(request.processors))
    }

    fn entry_of(&self, request: &Request) -> Entry {
        Entry { owner: request.owner, demand: self.demand_of(request), limit: request.span }
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
        let NodeQueue { waiting, plan, site, .. } = self;
        let Some(waiting) = waiting.get_mut(&key) else { return };
        let among = Among::from(own_nodes(site.as_deref(), waiting.slot));
        let (from, before) = (waiting.ready.max(now), waiting.start());
        if before <= from {
            return;
        }
        if let Some(place) = &waiting.place {
            plan.release(now, place);
        }
        let earlier = plan.earliest(&waiting.demand, waiting.span, from, before, among);
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
    fn start(&mut self, now: Time, waiting: Waiting, started: &mut Vec<Slot>) {
        if let Some(place) = waiting.place {
            if let Some(site) = &mut self.site {
                site.start(now, waiting.slot);
            }
            self.stopping.retain(|_, it| *it != waiting.slot);
            self.plan.start(waiting.slot, place);
            started.push(waiting.slot);
        }
    }

    /// Starts jobs in the order of the queue. A job that cannot start keeps all later ones from the nodes of its queue.
    fn start_in_order(&mut self, now: Time, started: &mut Vec<Slot>) {
        let (mut after, mut taken) = (Bound::Unbounded, Taken::None);
        while let Some((&key, head)) = self.waiting.range((after, Bound::Unbounded)).next() {
            after = Bound::Excluded(key);
            let site = self.site.as_deref();
            let own = own_nodes(site, head.slot);
            if !is_free(site, head.slot) || taken.covers(own) {
                continue;
            }
            let among = Among { own, taken: &taken };
            let comes = || self.plan.at(&head.demand, head.span, now, among);
            let place = if head.ready > now { None } else { comes() };
            match place.filter(|place| self.plan.is_idle(place)) {
                Some(place) => {
                    self.plan.book(&place);
                    if let Some(head) = self.take(key) {
                        self.start(now, Waiting { place: Some(place), ..head }, started);
                    }
                }
                None => taken.add(own),
            }
            if matches!(taken, Taken::All) {
                // The head waits for resources only now.
                if let Some(head) = self.waiting.get_mut(&key).filter(|it| it.ready <= now) {
                    head.ready = Time::PAST;
                }
                break;
            }
        }
    }

    /// Starts jobs at their places. A job that a limit keeps from its start gives its place back; returns whether there is
    /// one.
    fn start_booked(&mut self, now: Time, started: &mut Vec<Slot>) -> bool {
        let mut is_kept = false;
        for (start, key) in self.by_start() {
            if start > now {
                break;
            }
            let Some(waiting) = self.waiting.get_mut(&key) else { continue };
            if !is_free(self.site.as_deref(), waiting.slot) {
                if let Some(place) = waiting.place.take() {
                    self.plan.release(now, &place);
                }
                is_kept = true;
                continue;
            }
            // A job that ends at this very instant may not have given its resources back yet. Its end brings the next
            // pass.
            let is_idle = waiting.place.as_ref().is_some_and(|at| self.plan.is_idle(at));
            if is_idle && let Some(waiting) = self.take(key) {
                self.start(now, waiting, started);
            }
        }
        is_kept
    }

    /// Books jobs that start now without delay of the head of the queue. If queues have nodes of their own, the first job
    /// that waits for each node is a head.
    fn backfill(&mut self, now: Time) {
        let length = self.waiting.len();
        while std::mem::take(&mut self.has_news) {
            self.backfill_once(now);
        }
        // After a start, the next pass reaches a job further back in the queue.
        self.has_news = self.config.depth.is_some() && self.waiting.len() < length;
    }

    /// One walk along the queue. There is news if it is left, because a start has brought a head to its limit: nothing is
    /// kept for such a head.
    fn backfill_once(&mut self, now: Time) {
        let waiting = self.waiting.iter().map(|(&key, it)| (key, it.slot, it.demand, it.span));
        let mut heads: Vec<(Slot, Option<Place>)> = Vec::new();
        let (mut taken, mut refused) = (Taken::None, Refused::default());
        // Jobs behind the first head that are still examined.
        let mut left = self.config.depth.map_or(usize::MAX, |depth| depth as usize);
        for (key, slot, demand, span) in Vec::from_iter(waiting) {
            if !heads.is_empty() {
                let Some(less) = left.checked_sub(1) else { break };
                left = less;
            }
            let site = self.site.as_deref();
            let queue = site.and_then(|site| site.queue(slot));
            if !is_free(site, slot) || refused.rules_out(queue, &demand, span) {
                continue;
            }
            let own = own_nodes(site, slot);
            if let Some(place) = self.plan.at(&demand, span, now, own.into()) {
                self.decide(now, key, place);
                let site = self.site.as_deref();
                self.has_news = heads.iter().any(|head| !is_free(site, head.0));
                if self.has_news {
                    break;
                }
                continue;
            }
            refused.add(queue, demand, span);
            if taken.covers(own) {
                continue;
            }
            let reserved = self.plan.earliest(&demand, span, now, Time::FOREVER, own.into());
            taken.add(own);
            if let Some(place) = &reserved {
                self.plan.book(place);
            }
            heads.push((slot, reserved));
        }
        heads.iter().filter_map(|it| it.1.as_ref()).for_each(|it| self.plan.release(now, it));
    }

    fn decide(&mut self, now: Time, key: Key, place: Place) {
        if let Some(waiting) = self.take(key) {
            if let Some(site) = &mut self.site {
                site.start(now, waiting.slot);
            }
            self.plan.book(&place);
            let place = Some(place);
            self.decided.push_back((key, waiting.slot, Waiting { place, ..waiting }));
        }
    }

    fn start_decided(&mut self, now: Time, started: &mut Vec<Slot>) {
        while let Some((.., next)) = self.decided.front()
            && next.place.as_ref().is_some_and(|place| self.plan.is_idle(place))
        {
            if let Some((.., next)) = self.decided.pop_front() {
                self.start(now, next, started);
            }
        }
    }

    fn pass(&mut self, now: Time, started: &mut Vec<Slot>) {
        match self.config.policy {
            Policy::Fcfs => self.start_in_order(now, started),
            Policy::Easy => {
                self.backfill(now);
                self.start_decided(now, started);
            }
            Policy::Conservative => {
                self.catch_up(now);
                let before = started.len();
                while self.start_booked(now, started) {
                    self.note_given_back(Time::FOREVER);
                    self.catch_up(now);
                }
                // After a start, the next pass reaches a job further back in the queue.
                if self.config.depth.is_some() && started.len() > before {
                    self.note_given_back(Time::FOREVER);
                }
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
                    let among = Among::from(own_nodes(self.site.as_deref(), it.slot));
                    let from = it.ready.max(last);
                    let place = plan.earliest(&it.demand, it.span, from, Time::FOREVER, among);
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
        if !self.plan.holds(demand, Among::ALL) {
            return None;
        }
        let (plan, last, _) = self.foresee(now);
        let span = span.unwrap_or(Span::FOREVER).max(Span::TICK);
        let place = plan.earliest(demand, span, ready.max(last), Time::FOREVER, Among::ALL);
        Some(place.map_or(Time::FOREVER, |place| place.start))
    }

    /// True if each waiting job has a start, which later operations only make earlier.
    fn guarantees_starts(&self) -> Result<(), &'static str> {
        if self.site.is_some() {
            return Err("limits and priorities of other jobs change the starts of waiting ones");
        }
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
        if let Some(site) = &mut self.site {
            site.end(now, slot);
        }
        self.stopping.remove(&slot);
        if let Some(place) = self.plan.finished(now, slot) {
            self.note_given_back(place.end);
        }
    }

    fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        self.make_way(now, |plan| plan.replan(now, slot, end));
    }

    // A machine without nodes is one node.
    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        self.failed_on(now, &[(0, processors)], killed);
    }

    fn restored(&mut self, now: Time, processors: u32) {
        self.restored_on(now, &[(0, processors)]);
    }

    fn withdraw(&mut self, now: Time, slot: Slot) -> bool {
        let Some(waiting) = self.keys.get(&slot).copied().and_then(|key| self.take(key)) else {
            return false;
        };
        if let Some(site) = &mut self.site {
            site.leave(slot);
        }
        if let Some(place) = &waiting.place {
            self.plan.release(now, place);
        }
        self.stopping.retain(|_, it| *it != slot);
        self.note_given_back(waiting.end());
        true
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        self.plan.forget_before(now);
        self.set_priorities(now);
        loop {
            let before = started.len();
            self.pass(now, started);
            // A start may bring another job to its limit. The resources that were kept for that job are free then.
            if self.site.is_none() || started.len() == before {
                break;
            }
            self.note_given_back(Time::FOREVER);
        }
    }

    fn next_start(&self) -> Option<Time> {
        let waits = self.site.as_ref().filter(|_| !self.waiting.is_empty());
        let calculation = waits.and_then(|site| site.next_calculation());
        let planned = match self.config.policy {
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
        };
        planned.into_iter().chain(calculation).min()
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
        let (slot, span, entry) = (request.slot, request.planned_span(), self.entry_of(&request));
        let demand = entry.demand;
        let key = self.config.order.key(&request, span, self.sequence);
        self.sequence += 1;
        if let Some(site) = self.site.as_deref_mut() {
            let join = if request.ran_before { Site::join_running } else { Site::join };
            join(site, now, slot, &entry);
        }
        let key = placed(self.site.as_deref(), slot, key);
        // The other policies guarantee no start, and take no account of it.
        let waits = ready > now && self.guarantees_starts().is_ok();
        let ready = if waits { ready } else { Time::PAST };
        self.waiting.insert(key, Waiting { slot, demand, span, ready, place: None });
        self.keys.insert(slot, key);
        self.has_news = true;
        if !self.reserves() {
            return None;
        }
        if self.site.is_some() || self.config.plans_partly() {
            // Its place depends on priorities and limits, so all of them are planned again.
            self.note_given_back(Time::FOREVER);
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

    fn accept(&mut self, now: Time, request: &Request) -> Result<(), Denied> {
        let entry = self.entry_of(request);
        match self.site.as_deref_mut() {
            Some(site) => site.accept(now, request.slot, &entry),
            None => Ok(()),
        }
    }

    fn priority(&self, slot: Slot) -> Option<JobPriority> {
        self.site.as_ref()?.priority(slot)
    }

    fn preempt(&mut self, now: Time) -> Vec<Preempted> {
        self.stop_for_waiting(now)
    }

    fn gone_before(&mut self, slot: Slot) {
        if let Some(site) = self.site.as_deref_mut() {
            site.leave(slot);
        }
    }

    fn failed_on(&mut self, now: Time, nodes: &[(u32, u32)], killed: &[Killed]) {
        if let Some(site) = self.site.as_deref_mut() {
            killed.iter().for_each(|it| site.end(now, it.slot));
        }
        self.stopping.retain(|slot, _| killed.iter().all(|it| it.slot != *slot));
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
