//! The earliest start that providers have in common (Netto 2009, section 4.4).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use haggle_model::Time;

use super::{Allocation, Demand, FreeTimes};

/// Who gives how much of a job that is spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fill {
    /// As much as possible at the provider whose turn it is, then at the next one.
    #[default]
    InTurn,
    /// As much as possible at the provider with most free, then at the next one.
    LargestFirst,
}

impl Fill {
    /// All rules, in the order of the manual.
    pub const ALL: [Fill; 2] = [Fill::InTurn, Fill::LargestFirst];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Fill::InTurn => "in-turn",
            Fill::LargestFirst => "largest-first",
        }
    }
}

/// Earliest start of a job from `now` on: at one provider alone if one has room then, the first in
/// turn from `first` on, else over several. `None` if there is none.
///
/// Room grows where a step begins, so that only these times and the first one are tried.
pub fn earliest_common_start(
    free: &[FreeTimes],
    demand: &Demand,
    first: usize,
    fill: Fill,
    now: Time,
) -> Option<Allocation> {
    earliest_between(free, demand, first, fill, demand.earliest.max(now), Time::FOREVER)
}

/// The earliest common start between two times.
pub(super) fn earliest_between(
    free: &[FreeTimes],
    demand: &Demand,
    first: usize,
    fill: Fill,
    from: Time,
    until: Time,
) -> Option<Allocation> {
    candidates(free, from).take_while(|&(start, _)| start < until).find_map(|(start, room)| {
        // Where there are too few at once there are too few for long.
        if room < u64::from(demand.processors) {
            return None;
        }
        alone(free, demand, first, start).or_else(|| spread(free, demand, first, fill, start))
    })
}

/// Earliest start of a job at one provider alone.
pub(super) fn earliest_alone(
    free: &[FreeTimes],
    demand: &Demand,
    first: usize,
    now: Time,
) -> Option<Allocation> {
    let from = demand.earliest.max(now);
    let span = demand.lasts(1);
    let fit = |place: usize| {
        let start = free[place].earliest_fit(demand.processors, span, from)?;
        in_time(demand, Allocation { start, span, parts: vec![(place, demand.processors)] })
    };
    in_turn(free.len(), first).filter_map(fit).min_by_key(|allocation| allocation.start)
}

/// The whole job at one provider, from `start` on.
fn alone(free: &[FreeTimes], demand: &Demand, first: usize, start: Time) -> Option<Allocation> {
    let span = demand.lasts(1);
    let has_room = |&place: &usize| free[place].min_free(start, start + span) >= demand.processors;
    let place = in_turn(free.len(), first).find(has_room)?;
    in_time(demand, Allocation { start, span, parts: vec![(place, demand.processors)] })
}

/// The job over several providers, from `start` on.
fn spread(
    free: &[FreeTimes],
    demand: &Demand,
    first: usize,
    fill: Fill,
    start: Time,
) -> Option<Allocation> {
    let span = demand.lasts(2);
    let room = |place: usize| (place, free[place].min_free(start, start + span));
    let mut room: Vec<(usize, u32)> = in_turn(free.len(), first).map(room).collect();
    if fill == Fill::LargestFirst {
        room.sort_by_key(|&(_, free)| std::cmp::Reverse(free));
    }
    let mut left = demand.processors;
    let mut parts = Vec::new();
    let least = demand.part_min.max(1);
    for (place, free) in room {
        let most = free.min(left);
        let rest = left - most;
        // The rest must not be too little for a part.
        let missing = if rest > 0 { least.saturating_sub(rest) } else { 0 };
        let part = most.saturating_sub(missing);
        if part >= least {
            parts.push((place, part));
            left -= part;
        }
    }
    parts.sort_unstable();
    // One that has room for the longer time has room for the shorter one.
    if left > 0 {
        return None;
    }
    in_time(demand, Allocation { start, span, parts })
}

fn in_time(demand: &Demand, allocation: Allocation) -> Option<Allocation> {
    let in_time = demand.deadline.is_none_or(|deadline| allocation.completion() <= deadline);
    in_time.then_some(allocation)
}

/// All providers, from the one whose turn it is.
fn in_turn(providers: usize, first: usize) -> impl Iterator<Item = usize> {
    (0..providers).map(move |place| (first + place) % providers)
}

/// `from`, and the beginnings of steps after it, in order; with how many processors are free then. They
/// are merged as they are asked for, as most searches end soon.
fn candidates(free: &[FreeTimes], from: Time) -> impl Iterator<Item = (Time, u64)> {
    let behind = |free: &FreeTimes| free.steps().partition_point(|&(step, _)| step <= from);
    let mut behind: Vec<usize> = free.iter().map(behind).collect();
    let at_first = |(free, &behind): (&FreeTimes, &usize)| {
        behind.checked_sub(1).map_or(0, |step| u64::from(free.steps()[step].1))
    };
    let mut room: u64 = free.iter().zip(&behind).map(at_first).sum();
    let upcoming = |(place, &behind): (usize, &usize)| {
        free[place].steps().get(behind).map(|&(step, _)| Reverse((step, place)))
    };
    let mut upcoming: BinaryHeap<Reverse<(Time, usize)>> =
        behind.iter().enumerate().filter_map(upcoming).collect();
    let mut is_first = true;
    std::iter::from_fn(move || {
        if std::mem::take(&mut is_first) {
            return Some((from, room));
        }
        let &Reverse((time, _)) = upcoming.peek()?;
        while let Some(mut next) = upcoming.peek_mut().filter(|next| next.0.0 == time) {
            let place = next.0.1;
            let (steps, behind) = (free[place].steps(), &mut behind[place]);
            let before = behind.checked_sub(1).map_or(0, |step| u64::from(steps[step].1));
            room = room + u64::from(steps[*behind].1) - before;
            *behind += 1;
            match steps.get(*behind) {
                Some(&(step, _)) => *next = Reverse((step, place)),
                None => drop(PeekMut::pop(next)),
            }
        }
        Some((time, room))
    })
}
