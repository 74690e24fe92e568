//! Data in transfer, modelled as fluids that share links.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::fmt;

use super::link::{Capacity, LinkId, Network};
use super::path::Path;
use super::sharing::{Demand, LinkSharing, max_min};
use crate::{Span, Time};

/// A flow of a [`Flows`]: numbered from 0 in the order of their starts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FlowId(pub u64);

/// A flow whose data have all arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// Arrival of the last byte.
    pub at: Time,
    /// The flow.
    pub flow: FlowId,
}

/// All transfers under way.
///
/// To drive it: [`start`](Flows::start) and [`abort`](Flows::abort) flows as time passes, query the
/// [`next_event`](Flows::next_event) after each change, and [`advance`](Flows::advance) to it when that
/// time has come. The times passed in must not decrease.
///
/// A flow first waits for the latency of its path and takes no capacity meanwhile. Then its data flow
/// until all have arrived. A flow of no bytes, or over a path from a node to itself, takes no time.
/// Times of completion are whole microseconds, rounded up. Events at one instant happen in the order of
/// flows, and rates are computed once after them.
///
/// # Cost
///
/// A flow that starts or ends touches the links it shares. Under [`LinkSharing::Literal`], rates are
/// recomputed only for the flows on those links. Under [`LinkSharing::MaxMin`], a change can propagate
/// through a chain of links that share flows. All flows of the connected part of the network are
/// therefore recomputed, in a few passes. Each changed rate costs the logarithm of the number of flows;
/// the passing of time costs nothing. Over a [`Star`](super::Star) with unlimited service links, few
/// flows share a link, whatever their number.
///
/// ```
/// use haggle_model::network::{Capacity, Flows, Link, LinkId, Network, LinkSharing};
/// use haggle_model::{Span, Time};
/// let link = Link { capacity: Capacity::Shared(1e9), latency: Span::ZERO };
/// let network = Network::new(vec![link]).unwrap();
/// let path = network.path(&[LinkId(0)]).unwrap();
/// let mut flows = Flows::new(&network, LinkSharing::Literal);
/// let flow = flows.start(Time::ZERO, path, 1_000_000_000);
/// flows.advance(Time::ZERO);
/// assert_eq!(flows.next_event(), Some(Time::from_secs(8)));
/// assert_eq!(flows.moved(flow, Time::from_secs(2)), Some(250_000_000));
/// let completions = flows.advance(Time::from_secs(8));
/// assert_eq!(completions[0].flow, flow);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Flows {
    sharing: LinkSharing,
    links: Vec<SharedLink>,
    /// Flows under way, one a slot; free slots are empty.
    slots: Vec<Option<Flow>>,
    free: Vec<usize>,
    slot_of: BTreeMap<FlowId, usize>,
    /// Times at which flows begin to move data or complete. An entry is valid only if its flow is under
    /// way and still due at this time. The first entry is always valid.
    due: BinaryHeap<Reverse<Due>>,
    /// Completions that have not been returned yet.
    completed: Vec<Completion>,
    started: u64,
    now: Time,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SharedLink {
    /// Capacity, bit/s; infinite where flows do not share it.
    #[serde(with = "crate::exact")]
    capacity: f64,
    /// The flows whose data flow over it, in order.
    flows: Vec<(FlowId, usize)>,
    /// Sum of their weights.
    #[serde(with = "crate::exact")]
    weight: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Flow {
    id: FlowId,
    path: Path,
    #[serde(with = "crate::exact")]
    weight: f64,
    bytes: u64,
    phase: Phase,
    due: Time,
}

/// The order of fields is the order of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Due {
    at: Time,
    flow: FlowId,
    slot: usize,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Phase {
    /// Nothing has arrived yet.
    Latency,
    /// `left_bits` were left at `since`; from then on `rate` bit/s flow.
    Flowing {
        #[serde(with = "crate::exact")]
        left_bits: f64,
        since: Time,
        #[serde(with = "crate::exact")]
        rate: f64,
    },
}

impl Flows {
    /// An empty set of flows over the links of `network`.
    pub fn new(network: &Network, sharing: LinkSharing) -> Flows {
        let link = |link: &super::Link| SharedLink {
            capacity: match link.capacity {
                Capacity::Shared(rate) => rate,
                Capacity::PerFlow(_) | Capacity::Unlimited => f64::INFINITY,
            },
            flows: Vec::new(),
            weight: 0.0,
        };
        Flows {
            sharing,
            links: network.links().iter().map(link).collect(),
            slots: Vec::new(),
            free: Vec::new(),
            slot_of: BTreeMap::new(),
            due: BinaryHeap::new(),
            completed: Vec::new(),
            started: 0,
            now: Time::PAST,
        }
    }

    /// An empty set of flows for paths without shared links ([`Path::constant`]).
    pub fn unshared() -> Flows {
        let network = Network::new(Vec::new()).expect("no link is wrong");
        Flows::new(&network, LinkSharing::Literal)
    }

    /// Starts a flow of `bytes` at `now`; the path must belong to the network.
    pub fn start(&mut self, now: Time, path: Path, bytes: u64) -> FlowId {
        // Earlier events come first, because they change the flows with which this one will share links.
        self.settle(now);
        let id = FlowId(self.started);
        self.started += 1;
        let is_instant = bytes == 0 || path.is_local();
        let due = if is_instant { now } else { now + path.latency() };
        let weight = path.weight();
        let slot = self.free.pop().unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[slot] = Some(Flow { id, path, weight, bytes, phase: Phase::Latency, due });
        self.slot_of.insert(id, slot);
        self.due.push(Reverse(Due { at: due, flow: id, slot }));
        id
    }

    /// Aborts a flow at `now` and returns the number of bytes that had arrived; `None` if it is not
    /// under way. A flow that completes at this very instant has completed, and [`Flows::advance`]
    /// returns it.
    pub fn abort(&mut self, now: Time, id: FlowId) -> Option<u64> {
        self.settle(now);
        let moved = self.moved(id, now)?;
        let mut touched = BTreeSet::new();
        self.remove(*self.slot_of.get(&id)?, &mut touched);
        self.share(now, &touched);
        self.forget_outdated();
        Some(moved)
    }

    /// Advances time to `now` and returns the flows that have completed, in order of time and then of flows.
    pub fn advance(&mut self, now: Time) -> Vec<Completion> {
        self.settle(now);
        std::mem::take(&mut self.completed)
    }

    /// The next instant at which a flow completes, or begins to move data and slows others down. No
    /// flow completes before it.
    pub fn next_event(&self) -> Option<Time> {
        // Completions that have not been returned are due at once.
        let told_late = self.completed.first().map(|completion| completion.at);
        told_late.or_else(|| self.due.peek().map(|Reverse(due)| due.at))
    }

    /// Completion of a flow if no other flow starts or ends. `None` if it is not under way, or waits for its latency.
    pub fn completion(&self, id: FlowId) -> Option<Time> {
        let flow = self.flow(id)?;
        matches!(flow.phase, Phase::Flowing { .. }).then_some(flow.due)
    }

    /// The present rate of a flow, bit/s; zero while it waits for its latency, `None` if it is not under way.
    pub fn rate(&self, id: FlowId) -> Option<f64> {
        Some(match self.flow(id)?.phase {
            Phase::Latency => 0.0,
            Phase::Flowing { rate, .. } => rate,
        })
    }

    /// Number of whole bytes of a flow that have arrived at `now`, which must not be after
    /// [`Flows::next_event`]. `None` if it is not under way.
    pub fn moved(&self, id: FlowId, now: Time) -> Option<u64> {
        let flow = self.flow(id)?;
        Some(match flow.phase {
            Phase::Latency => 0,
            Phase::Flowing { .. } => {
                // A byte of which a part is missing has not arrived.
                flow.bytes - ((flow.left_bits(now) / 8.0).ceil() as u64).min(flow.bytes)
            }
        })
    }

    /// Number of flows under way.
    pub fn len(&self) -> usize {
        self.slot_of.len()
    }

    /// True if no flow is under way.
    pub fn is_empty(&self) -> bool {
        self.slot_of.is_empty()
    }

    /// The part of the state on which [`Flows::predicted`] depends: the flows on each link. Arrived
    /// bytes and numbers of earlier flows are left out.
    pub fn picture(&self) -> Flows {
        let empty = |link: &SharedLink| SharedLink { flows: Vec::new(), ..*link };
        let links = self.links.iter().map(empty).collect();
        let mut picture = Flows { links, sharing: self.sharing, ..Flows::unshared() };
        for &slot in self.slot_of.values() {
            // A flow that waits for its latency takes no capacity.
            let Some(Flow { path, weight, phase: Phase::Flowing { .. }, .. }) = &self.slots[slot]
            else {
                continue;
            };
            let (id, slot) = (FlowId(picture.started), picture.slots.len());
            for link in path.shared() {
                picture.links[link.0].flows.push((id, slot));
            }
            // Predictions depend on neither, so pictures of equal sharing are equal.
            let (phase, due) = (Phase::Latency, Time::FOREVER);
            let flow = Flow { id, path: path.clone(), weight: *weight, bytes: 0, phase, due };
            picture.slots.push(Some(flow));
            picture.slot_of.insert(id, slot);
            picture.started += 1;
        }
        picture
    }

    /// Predicted time of `bytes` over `path` if they started now, among the flows whose data flow at
    /// present (Chtepen 2011, equation 5.2): latency + size / rate. The rate is the one that sharing would
    /// give them at first.
    pub fn predicted(&self, path: &Path, bytes: u64) -> Span {
        if bytes == 0 || path.is_local() {
            return Span::ZERO;
        }
        let rate = match self.sharing {
            _ if path.shared().is_empty() => path.rate_max(),
            // The new flow adds its own weight on each link.
            LinkSharing::Literal => self.literal_rate(path, path.weight(), path.weight()),
            LinkSharing::MaxMin => {
                let touched = path.shared().iter().copied().collect();
                self.max_min_rates(&touched, Some(path)).1.unwrap_or(path.rate_max())
            }
        };
        path.latency() + Span::from_secs_f64(8.0 * bytes as f64 / rate)
    }

    /// Longest time of `bytes` over `path` while there are never more than `flows` flows, all of them over this path.
    pub fn longest(&self, path: &Path, bytes: u64, flows: usize) -> Span {
        if bytes == 0 || path.is_local() {
            return Span::ZERO;
        }
        let share = |link: &LinkId| self.links[link.0].capacity / flows as f64;
        let rate = path.shared().iter().map(share).fold(path.rate_max(), f64::min);
        // Times are rounded up whenever a flow starts or ends.
        let rounding = Span::TICK * (2 * flows as i64);
        path.latency() + Span::from_secs_f64(8.0 * bytes as f64 / rate) + rounding
    }

    fn flow(&self, id: FlowId) -> Option<&Flow> {
        self.slots[*self.slot_of.get(&id)?].as_ref()
    }

    /// Processes all events that are due up to `now`, instant by instant.
    fn settle(&mut self, now: Time) {
        debug_assert!(now >= self.now, "time goes back from {:?} to {now:?}", self.now);
        while let Some(at) = self.next_due().filter(|&at| at <= now) {
            // In order of links, so that rates are computed in the same order in every run.
            let mut touched = BTreeSet::new();
            while self.next_due() == Some(at)
                && let Some(Reverse(due)) = self.due.pop()
            {
                self.happen(due, &mut touched);
                self.forget_outdated();
            }
            self.share(at, &touched);
            self.forget_outdated();
        }
        self.now = now;
    }

    fn next_due(&self) -> Option<Time> {
        self.due.peek().map(|Reverse(due)| due.at)
    }

    /// Removes outdated entries until the first entry of `due` is valid. Removes all outdated entries
    /// when they outnumber the others.
    fn forget_outdated(&mut self) {
        let slots = &self.slots;
        let is_current = |due: &Due| {
            // The slot may have another flow by now.
            slots[due.slot].as_ref().is_some_and(|flow| flow.id == due.flow && flow.due == due.at)
        };
        const FEW: usize = 64;
        if self.due.len() > 2 * self.slot_of.len() + FEW {
            self.due.retain(|Reverse(due)| is_current(due));
        }
        while self.due.peek().is_some_and(|Reverse(due)| !is_current(due)) {
            self.due.pop();
        }
    }

    /// A flow begins to move data, or completes.
    fn happen(&mut self, Due { at, flow: id, slot }: Due, touched: &mut BTreeSet<LinkId>) {
        let Some(flow) = &mut self.slots[slot] else { return };
        let is_instant = flow.bytes == 0 || flow.path.is_local();
        if is_instant || matches!(flow.phase, Phase::Flowing { .. }) {
            self.remove(slot, touched);
            self.completed.push(Completion { at, flow: id });
            return;
        }
        let left_bits = 8.0 * flow.bytes as f64;
        flow.phase = Phase::Flowing { left_bits, since: at, rate: 0.0 };
        // Until its links are shared out, which follows in the same instant.
        flow.due = Time::FOREVER;
        if flow.path.shared().is_empty() {
            let rate = flow.path.rate_max();
            self.set_rate(at, slot, rate);
            return;
        }
        for &link in flow.path.shared() {
            let flows = &mut self.links[link.0].flows;
            flows.insert(flows.partition_point(|&(other, _)| other < id), (id, slot));
            touched.insert(link);
        }
    }

    fn remove(&mut self, slot: usize, touched: &mut BTreeSet<LinkId>) {
        let Some(flow) = self.slots[slot].take() else { return };
        self.free.push(slot);
        self.slot_of.remove(&flow.id);
        // A flow that waits for its latency is on no link yet.
        if matches!(flow.phase, Phase::Flowing { .. }) {
            for &link in flow.path.shared() {
                let flows = &mut self.links[link.0].flows;
                if let Ok(place) = flows.binary_search(&(flow.id, slot)) {
                    flows.remove(place);
                }
                touched.insert(link);
            }
        }
    }

    /// Recomputes the rates on links on which a flow started or ended.
    fn share(&mut self, at: Time, touched: &BTreeSet<LinkId>) {
        if touched.is_empty() {
            return;
        }
        let rates = match self.sharing {
            LinkSharing::Literal => self.literal_rates(touched),
            LinkSharing::MaxMin => self.max_min_rates(touched, None).0,
        };
        for (slot, rate) in rates {
            self.set_rate(at, slot, rate);
        }
    }

    /// Rates by slot.
    fn literal_rates(&mut self, touched: &BTreeSet<LinkId>) -> Vec<(usize, f64)> {
        for &LinkId(link) in touched {
            // Summed anew each time, so that no rounding error accumulates.
            let flows = self.flows_on(LinkId(link));
            let weight = flows.map(|(_, flow)| flow.weight).sum();
            self.links[link].weight = weight;
        }
        let changed = self.flows_on_any(touched.iter().copied());
        let rate =
            |(slot, flow): (usize, &Flow)| (slot, self.literal_rate(&flow.path, flow.weight, 0.0));
        changed.into_iter().map(rate).collect()
    }

    /// The flows whose data flow over a link, each with its slot.
    fn flows_on(&self, link: LinkId) -> impl Iterator<Item = (usize, &Flow)> {
        let slots = self.links[link.0].flows.iter().map(|&(_, slot)| slot);
        slots.filter_map(|slot| Some((slot, self.slots[slot].as_ref()?)))
    }

    /// The flows on at least one of the links, in order, each with its slot.
    fn flows_on_any(&self, links: impl Iterator<Item = LinkId>) -> Vec<(usize, &Flow)> {
        let mut flows: Vec<_> = links.flat_map(|link| self.flows_on(link)).collect();
        flows.sort_by_key(|(_, flow)| flow.id);
        flows.dedup_by_key(|(_, flow)| flow.id);
        flows
    }

    /// The rate of `path` on the links it shares, with `more` weight on each.
    fn literal_rate(&self, path: &Path, weight: f64, more: f64) -> f64 {
        let share = |&LinkId(link): &LinkId| {
            let link = &self.links[link];
            link.capacity * (weight / (link.weight + more))
        };
        path.shared().iter().map(share).fold(path.rate_max(), f64::min)
    }

    /// Rates by slot of all flows that are connected with the touched links, and the rate of `one_more`.
    fn max_min_rates(
        &self,
        touched: &BTreeSet<LinkId>,
        one_more: Option<&Path>,
    ) -> (Vec<(usize, f64)>, Option<f64>) {
        // The connected links, found from link to link.
        let mut places: BTreeMap<LinkId, usize> = touched.iter().copied().zip(0..).collect();
        let mut links: Vec<LinkId> = touched.iter().copied().collect();
        let mut next = 0;
        while let Some(&link) = links.get(next) {
            for (_, flow) in self.flows_on(link) {
                for &other in flow.path.shared() {
                    places.entry(other).or_insert_with(|| {
                        links.push(other);
                        links.len() - 1
                    });
                }
            }
            next += 1;
        }
        let flows = self.flows_on_any(links.iter().copied());
        let paths: Vec<&Path> = flows.iter().map(|(_, flow)| &flow.path).chain(one_more).collect();
        let crossed: Vec<Vec<usize>> = paths
            .iter()
            .map(|path| path.shared().iter().map(|link| places[link]).collect())
            .collect();
        let demands: Vec<Demand<'_>> = paths
            .iter()
            .zip(&crossed)
            .map(|(path, links)| Demand { weight: path.weight(), rate_max: path.rate_max(), links })
            .collect();
        let capacities: Vec<f64> = links.iter().map(|link| self.links[link.0].capacity).collect();
        let rates = max_min(&capacities, &demands);
        let more = one_more.and_then(|_| rates.last().copied());
        (flows.into_iter().map(|(slot, _)| slot).zip(rates).collect(), more)
    }

    fn set_rate(&mut self, at: Time, slot: usize, new_rate: f64) {
        let Some(flow) = &mut self.slots[slot] else { return };
        let left_bits = flow.left_bits(at);
        match &mut flow.phase {
            // With an unchanged rate, the completion stays as it is and is not rounded again.
            Phase::Flowing { rate, .. } if *rate == new_rate => return,
            phase => *phase = Phase::Flowing { left_bits, since: at, rate: new_rate },
        }
        flow.due = at + Span::from_secs_f64(left_bits / new_rate);
        self.due.push(Reverse(Due { at: flow.due, flow: flow.id, slot }));
    }
}

impl Flow {
    fn left_bits(&self, now: Time) -> f64 {
        match self.phase {
            Phase::Latency => 8.0 * self.bytes as f64,
            // An infinite rate times no time would be NaN.
            Phase::Flowing { rate, .. } if rate == f64::INFINITY => 0.0,
            Phase::Flowing { left_bits, since, rate } => {
                // Completions are rounded up, so that more than all bits would have flowed by then.
                (left_bits - rate * (now - since).as_secs_f64()).max(0.0)
            }
        }
    }
}

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "flow#{}", self.0)
    }
}

impl fmt::Debug for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
