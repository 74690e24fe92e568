//! The earliest start that providers have in common (Netto 2009, section 4.4).

use haggle_model::Time;

use super::{Allocation, Demand, Together, divide_over};

haggle_model::words! {
    /// Provider that is filled first with parts of a job.
    #[derive(Default)]
    pub enum FillRule {
        /// In the order of `providers`; each job begins with the next one.
        #[default]
        InTurn = "in-turn",
        /// The provider with most free processors.
        LargestFirst = "largest-first",
    }
}

/// Earliest start of a job from `now` on. The job runs at one provider if one has room then, the first in
/// turn from `first` on, else over several. If the job sets a number of parts, it runs over that many.
/// `None` if there is no start.
///
/// Room grows only where a step begins, so only these times and the first one are tried.
pub fn earliest_common_start(
    free: &Together,
    demand: &Demand,
    first: usize,
    fill: FillRule,
    now: Time,
) -> Option<Allocation> {
    // Behind many placed jobs the first room for this size lies far ahead.
    let from = match demand.earliest <= now {
        true => free.not_before(demand.processors, demand.shortest(), now),
        false => demand.earliest,
    };
    earliest_between(free, demand, first, fill, from, Time::FOREVER)
}

/// The earliest common start between two times.
pub(super) fn earliest_between(
    free: &Together,
    demand: &Demand,
    first: usize,
    fill: FillRule,
    from: Time,
    until: Time,
) -> Option<Allocation> {
    let (processors, span) = (demand.processors, demand.shortest());
    let mut start = free.earliest_chance(processors, span, from, until)?;
    loop {
        let found =
            alone(free, demand, first, start).or_else(|| spread(free, demand, first, fill, start));
        if found.is_some() {
            return found;
        }
        let next = free.next_step(start)?;
        start = free.earliest_chance(processors, span, next, until)?;
    }
}

/// Earliest start of a job at one provider alone.
pub(super) fn earliest_alone(
    free: &Together,
    demand: &Demand,
    first: usize,
    now: Time,
) -> Option<Allocation> {
    let from = demand.earliest.max(now);
    let span = demand.lasts(1);
    let fit = |place: usize| {
        let start = free.earliest_fit(place, demand.processors, span, from)?;
        in_time(demand, Allocation { start, span, parts: vec![(place, demand.processors)] })
    };
    // Of equal starts the first in turn counts.
    in_turn(free.len(), first).filter_map(fit).min_by_key(|allocation| allocation.start)
}

/// The whole job at one provider, starting at `start`.
fn alone(free: &Together, demand: &Demand, first: usize, start: Time) -> Option<Allocation> {
    if demand.parts.is_some() {
        return None;
    }
    let span = demand.lasts(1);
    let has_room = |&place: &usize| free.min_free(place, start, start + span) >= demand.processors;
    let place = in_turn(free.len(), first).find(has_room)?;
    in_time(demand, Allocation { start, span, parts: vec![(place, demand.processors)] })
}

/// The job over several providers, starting at `start`.
fn spread(
    free: &Together,
    demand: &Demand,
    first: usize,
    fill: FillRule,
    start: Time,
) -> Option<Allocation> {
    let span = demand.lasts(2);
    let room = |place: usize| (place, free.min_free(place, start, start + span));
    let mut room: Vec<(usize, u32)> = in_turn(free.len(), first).map(room).collect();
    if fill == FillRule::LargestFirst {
        // The sort is stable: equal providers stay in turn.
        room.sort_by_key(|&(_, free)| std::cmp::Reverse(free));
    }
    let least = demand.part_min.max(1);
    if let Some(count) = demand.parts {
        let parts = divide_over(count as usize, demand.processors, least, &room)?;
        return in_time(demand, Allocation { start, span, parts });
    }
    let mut left = demand.processors;
    let mut parts = Vec::new();
    for (place, free) in room {
        let most = free.min(left);
        let rest = left - most;
        // The rest must be large enough for a part.
        let missing = if rest > 0 { least.saturating_sub(rest) } else { 0 };
        let part = most.saturating_sub(missing);
        if part >= least {
            parts.push((place, part));
            left -= part;
        }
    }
    parts.sort_unstable();
    // A single part cannot result: its provider has room for the shorter time, too, so `alone` took it.
    if left > 0 {
        return None;
    }
    in_time(demand, Allocation { start, span, parts })
}

fn in_time(demand: &Demand, allocation: Allocation) -> Option<Allocation> {
    let in_time = demand.deadline.is_none_or(|deadline| allocation.completion() <= deadline);
    in_time.then_some(allocation)
}

/// All providers, starting with the one whose turn it is.
fn in_turn(providers: usize, first: usize) -> impl Iterator<Item = usize> {
    (0..providers).map(move |place| (first + place) % providers)
}
