//! The work that runs on nodes, and the time that is booked there.

use std::collections::BTreeMap;

use haggle_model::{Amounts, Demand, Nodes, Span, Time};
use serde::{Deserialize, Serialize};

use super::set::Among;
use super::{Calendar, Piece, Placing};
use crate::scheduler::Slot;

/// The nodes of a job, and its demand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) start: Time,
    pub(super) end: Time,
    pub(super) demand: Demand,
    pub(super) pieces: Vec<Piece>,
}

/// A calendar with running jobs, and the resources that are idle now.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    calendar: Calendar,
    placing: Placing,
    /// Of each node: a job that is planned to end now keeps its resources until its end is reported.
    idle: Vec<Amounts>,
    running: BTreeMap<Slot, Place>,
}

impl Plan {
    pub(super) fn new(nodes: &Nodes, placing: Placing) -> Plan {
        Plan {
            calendar: Calendar::new(nodes),
            placing,
            idle: nodes.capacities().to_vec(),
            running: BTreeMap::new(),
        }
    }

    /// True if a demand fits on the idle nodes.
    pub(super) fn holds(&self, demand: &Demand, among: Among<'_>) -> bool {
        self.calendar.holds(demand, among)
    }

    /// The nodes of a running job.
    pub(super) fn running(&self, slot: Slot) -> Option<&Place> {
        self.running.get(&slot)
    }

    /// The running jobs with their nodes.
    pub(super) fn all_running(&self) -> impl Iterator<Item = (Slot, &Place)> {
        self.running.iter().map(|(&slot, place)| (slot, place))
    }

    /// The time before `now` does not matter any more.
    pub(super) fn forget_before(&mut self, now: Time) {
        self.calendar.forget_before(now);
    }

    /// The place of a job at a known start, if it fits then.
    pub(super) fn at(
        &self,
        demand: &Demand,
        span: Span,
        start: Time,
        among: Among<'_>,
    ) -> Option<Place> {
        let pieces = self.calendar.choose(demand, span, start, self.placing, among)?;
        Some(Place { start, end: start + span, demand: *demand, pieces })
    }

    /// The earliest place of a job that starts from `from` on, and before `before`.
    pub(super) fn earliest(
        &self,
        demand: &Demand,
        span: Span,
        from: Time,
        before: Time,
        among: Among<'_>,
    ) -> Option<Place> {
        let start = self.calendar.earliest(demand, span, from, before, among)?;
        self.at(demand, span, start, among)
    }

    /// The amounts that a place takes of each of its nodes.
    pub(super) fn takes<'a>(
        &'a self,
        place: &'a Place,
    ) -> impl Iterator<Item = (u32, Amounts)> + 'a {
        let amounts = |it: &Piece| place.demand.takes(it.chunks, self.calendar.capacity(it.node));
        place.pieces.iter().map(move |it| (it.node, amounts(it)))
    }

    /// Books a place that is free.
    pub(super) fn book(&mut self, place: &Place) {
        for (node, amounts) in Vec::from_iter(self.takes(place)) {
            self.calendar.book(node, place.start, place.end, amounts);
        }
    }

    /// Gives a booked place back, from `now` on.
    pub(super) fn release(&mut self, now: Time, place: &Place) {
        for (node, amounts) in Vec::from_iter(self.takes(place)) {
            self.calendar.release(node, place.start.max(now), place.end, amounts);
        }
    }

    /// True if the nodes of a place have the resources for it now.
    pub(super) fn is_idle(&self, place: &Place) -> bool {
        self.takes(place).all(|(node, amounts)| self.idle[node as usize].hold(&amounts))
    }

    /// Starts a job at the place that is booked for it.
    pub(super) fn start(&mut self, slot: Slot, place: Place) {
        for (node, amounts) in Vec::from_iter(self.takes(&place)) {
            self.idle[node as usize] -= amounts;
        }
        self.running.insert(slot, place);
    }

    /// A job has ended; returns its place.
    pub(super) fn finished(&mut self, now: Time, slot: Slot) -> Option<Place> {
        let place = self.running.remove(&slot)?;
        for (node, amounts) in Vec::from_iter(self.takes(&place)) {
            self.idle[node as usize] += amounts;
        }
        self.release(now, &place);
        Some(place)
    }

    /// A running job is planned to end at `end`. Its nodes must be free until then.
    pub(super) fn replan(&mut self, now: Time, slot: Slot, end: Time) {
        let Some(mut place) = self.running.remove(&slot) else { return };
        self.release(now, &place);
        place.end = end;
        let whole = Place { start: now, ..place.clone() };
        self.book(&whole);
        self.running.insert(slot, place);
    }

    /// Idle processors of a node fail.
    pub(super) fn fail(&mut self, now: Time, node: u32, processors: u32) {
        let lost = Amounts::processors(processors);
        self.idle[node as usize] -= lost;
        self.calendar.book(node, now, Time::FOREVER, lost);
    }

    /// Processors of a node are back.
    pub(super) fn restore(&mut self, now: Time, node: u32, processors: u32) {
        let back = Amounts::processors(processors);
        self.idle[node as usize] += back;
        self.calendar.release(node, now, Time::FOREVER, back);
    }
}
