//! The free resources of each node over time.

use std::collections::VecDeque;
use std::ops::Range;

use haggle_model::{Amounts, Demand, Nodes, Span, Time};
use serde::{Deserialize, Serialize};

use super::set::Among;
use super::{Piece, Placing};

/// The resources of each node that are free at each time, if everything goes as booked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Calendar {
    nodes: Vec<Timeline>,
}

/// The free resources of a node: from each time on, until the next one.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Timeline {
    capacity: Amounts,
    /// Ascending. The first one also holds for all earlier times.
    steps: Vec<(Time, Amounts)>,
}

impl Timeline {
    fn new(capacity: Amounts) -> Timeline {
        Timeline { capacity, steps: vec![(Time::PAST, capacity)] }
    }

    /// Index of the step that holds at `time`.
    fn at(&self, time: Time) -> usize {
        self.steps.partition_point(|step| step.0 <= time).max(1) - 1
    }

    /// Makes a step begin at `time`, and returns its index.
    fn split(&mut self, time: Time) -> usize {
        let at = self.at(time);
        let (start, free) = self.steps[at];
        if start >= time {
            return at;
        }
        self.steps.insert(at + 1, (time, free));
        at + 1
    }

    fn change(&mut self, start: Time, end: Time, change: impl Fn(&mut Amounts)) {
        if start >= end {
            return;
        }
        let from = self.split(start);
        // Nothing is free again after the end of time.
        let to = if end < Time::FOREVER { self.split(end) } else { self.steps.len() };
        self.steps[from..to].iter_mut().for_each(|step| change(&mut step.1));
        for at in [to, from] {
            if at > 0 && at < self.steps.len() && self.steps[at - 1].1 == self.steps[at].1 {
                self.steps.remove(at);
            }
        }
    }

    fn forget_before(&mut self, now: Time) {
        let at = self.at(now);
        self.steps.drain(..at);
    }

    /// Number of chunks that fit from `start` on for a time of `span`.
    fn fits(&self, demand: &Demand, start: Time, span: Span) -> u32 {
        let end = start + span;
        let during = self.steps[self.at(start)..].iter().take_while(|step| step.0 < end);
        let least = during.map(|step| step.1).reduce(|least, free| least.min(&free));
        least.map_or(0, |least| demand.fits(&least, &self.capacity))
    }

    /// Appends the changes of that number, over a range of starts, as (start, change). The first change is from zero.
    fn changes(
        &self,
        demand: &Demand,
        range: Range<Time>,
        span: Span,
        changes: &mut Vec<(Time, i64)>,
    ) {
        // A step limits all starts from `enters` on, while it is not over.
        let steps = &self.steps[self.at(range.start)..];
        let enters = |step: &(Time, Amounts)| (step.0 + Span::TICK - span).max(range.start);
        let mut starts = Vec::from_iter(steps.iter().map(enters));
        starts.extend(steps.iter().map(|step| step.0.max(range.start)));
        starts.retain(|&start| start < range.end);
        starts.sort_unstable();
        starts.dedup();
        // Steps in the window, of which no later one has a smaller number.
        let mut window: VecDeque<(usize, u32)> = VecDeque::new();
        let (mut next, mut before) = (0, 0);
        for start in starts {
            while next < steps.len() && enters(&steps[next]) <= start {
                let fits = demand.fits(&steps[next].1, &self.capacity);
                while window.back().is_some_and(|last| last.1 >= fits) {
                    window.pop_back();
                }
                window.push_back((next, fits));
                next += 1;
            }
            let is_over = |at: usize| steps.get(at + 1).is_some_and(|next| next.0 <= start);
            while window.front().is_some_and(|first| is_over(first.0)) {
                window.pop_front();
            }
            let fits = window.front().map_or(0, |first| i64::from(first.1));
            if fits != before {
                changes.push((start, fits - before));
                before = fits;
            }
        }
    }
}

impl Calendar {
    /// Idle nodes.
    pub(super) fn new(nodes: &Nodes) -> Calendar {
        Calendar { nodes: nodes.capacities().iter().map(|&it| Timeline::new(it)).collect() }
    }

    /// The resources of a node.
    pub(super) fn capacity(&self, node: u32) -> &Amounts {
        &self.nodes[node as usize].capacity
    }

    /// True if a demand fits on the idle nodes.
    pub(super) fn holds(&self, demand: &Demand, among: Among<'_>) -> bool {
        let fits =
            self.among(among).map(|(_, it)| u64::from(demand.fits(&it.capacity, &it.capacity)));
        fits.sum::<u64>() >= u64::from(demand.chunks)
    }

    fn among<'a>(&'a self, among: Among<'a>) -> impl Iterator<Item = (u32, &'a Timeline)> {
        (0..).zip(&self.nodes).filter(move |it| among.has(it.0))
    }

    /// Books amounts of a node, which must be free then.
    pub(super) fn book(&mut self, node: u32, start: Time, end: Time, amounts: Amounts) {
        self.nodes[node as usize].change(start, end, |free| *free -= amounts);
    }

    /// Gives booked amounts of a node back.
    pub(super) fn release(&mut self, node: u32, start: Time, end: Time, amounts: Amounts) {
        self.nodes[node as usize].change(start, end, |free| *free += amounts);
    }

    /// Forgets the times before `now`.
    pub(super) fn forget_before(&mut self, now: Time) {
        self.nodes.iter_mut().for_each(|node| node.forget_before(now));
    }

    /// The earliest start from `from` on, and before `before`, at which a demand fits for a time of `span`; `None` if
    /// there is none.
    pub(super) fn earliest(
        &self,
        demand: &Demand,
        span: Span,
        from: Time,
        before: Time,
        among: Among<'_>,
    ) -> Option<Time> {
        let wanted = i64::from(demand.chunks);
        let fits = self.among(among).map(|(_, it)| i64::from(it.fits(demand, from, span)));
        let fit: i64 = fits.sum();
        if fit >= wanted {
            return (from < before).then_some(from);
        }
        let mut changes = Vec::new();
        let nodes = self.among(among);
        nodes.for_each(|(_, it)| it.changes(demand, from..before, span, &mut changes));
        changes.sort_unstable_by_key(|change| change.0);
        let mut fit = 0;
        for together in changes.chunk_by(|a, b| a.0 == b.0) {
            fit += together.iter().map(|change| change.1).sum::<i64>();
            if fit >= wanted {
                return Some(together[0].0);
            }
        }
        None
    }

    /// The nodes for a demand from `start` on, if it fits then for a time of `span`.
    pub(super) fn choose(
        &self,
        demand: &Demand,
        span: Span,
        start: Time,
        placing: Placing,
        among: Among<'_>,
    ) -> Option<Vec<Piece>> {
        let fits = |(node, it): (u32, &Timeline)| {
            let chunks = it.fits(demand, start, span);
            (chunks > 0).then_some((Piece { node, chunks }, it.capacity))
        };
        placing.choose(demand, self.among(among).filter_map(fits).collect())
    }
}

#[cfg(test)]
mod tests {
    use haggle_model::NodeGroup;
    use haggle_testing::at;

    use super::*;

    fn two_nodes() -> Calendar {
        Calendar::new(&Nodes::new(&[NodeGroup { count: 2, capacity: Amounts::processors(4) }]))
    }

    #[test]
    fn free_processors_on_different_nodes_are_not_enough_for_one_chunk() {
        let mut calendar = two_nodes();
        calendar.book(0, at(0), at(10), Amounts::processors(3));
        calendar.book(1, at(0), at(20), Amounts::processors(2));
        let span = Span::from_secs(5);
        assert_eq!(
            calendar.earliest(&Demand::processors(3), span, at(0), Time::FOREVER, Among::ALL),
            Some(at(0))
        );
        let chunk = Amounts::processors(3);
        let whole = Demand { chunks: 1, chunk, apart: false, exclusive: false };
        assert_eq!(calendar.earliest(&whole, span, at(0), Time::FOREVER, Among::ALL), Some(at(10)));
        assert_eq!(
            calendar.earliest(
                &Demand { chunks: 2, ..whole },
                span,
                at(0),
                Time::FOREVER,
                Among::ALL
            ),
            Some(at(20))
        );
        assert_eq!(
            calendar.earliest(
                &Demand { chunks: 3, ..whole },
                span,
                at(0),
                Time::FOREVER,
                Among::ALL
            ),
            None
        );
    }

    #[test]
    fn a_gap_that_is_too_short_is_no_start() {
        let mut calendar = two_nodes();
        for node in 0..2 {
            calendar.book(node, at(5), at(10), Amounts::processors(1));
        }
        let demand = Demand { exclusive: true, ..Demand::processors(8) };
        assert_eq!(
            calendar.earliest(&demand, Span::from_secs(5), at(0), Time::FOREVER, Among::ALL),
            Some(at(0))
        );
        assert_eq!(
            calendar.earliest(&demand, Span::from_secs(6), at(0), Time::FOREVER, Among::ALL),
            Some(at(10))
        );
        calendar.release(0, at(5), at(10), Amounts::processors(1));
        assert_eq!(
            calendar.earliest(&demand, Span::from_secs(6), at(0), Time::FOREVER, Among::ALL),
            Some(at(10))
        );
        calendar.release(1, at(5), at(10), Amounts::processors(1));
        assert_eq!(
            calendar.earliest(&demand, Span::from_secs(6), at(0), Time::FOREVER, Among::ALL),
            Some(at(0))
        );
    }
}
