//! Moves of a waiting job: an earlier start where it is, or other providers (Netto 2009, 4.3).

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::common_start::{FillRule, earliest_alone, earliest_between};
use super::{Allocation, Demand, Together};

haggle_model::words! {
    /// Moves of a waiting job on several providers.
    #[derive(Default)]
    pub enum CoallocationPolicy {
        /// No moves.
        Rigid = "rigid",
        /// Its start becomes earlier, and its parts stay where they are.
        Shift = "shift",
        /// Its start becomes earlier, or other providers take its parts.
        #[default]
        ShiftRemap = "shift-remap",
    }
}

haggle_model::words! {
    /// Places examined for a job that may be remapped.
    #[derive(Default)]
    pub enum RemapRule {
        /// The earliest start.
        #[default]
        EarliestStart = "earliest-start",
        /// The earliest start, and also that at one provider alone, where the job takes less time.
        EarliestCompletion = "earliest-completion",
    }
}

/// The same parts at the earliest start before `until`. `free` must count the parts as free; only providers
/// with a part are examined.
pub fn shift(free: &Together, current: &Allocation, from: Time, until: Time) -> Option<Allocation> {
    let processors = current.parts.iter().map(|&(_, processors)| processors).sum();
    let mut start = from;
    loop {
        start = free.earliest_chance(processors, current.span, start, until)?;
        // Each part starts no earlier than its own earliest fit, so all start at the latest of these.
        let mut latest = start;
        for &(place, processors) in &current.parts {
            latest = latest.max(free.earliest_fit(place, processors, current.span, start)?);
        }
        if latest == start {
            return Some(Allocation { start, ..current.clone() });
        }
        start = latest;
    }
}

/// Rules for the search of a better place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// How the job may move.
    pub moves: CoallocationPolicy,
    /// The provider that gives first.
    pub first: usize,
    /// How providers fill the job.
    pub fill: FillRule,
    /// Places that a remap examines.
    pub choice: RemapRule,
}

/// Result of a search that found no better place, for use in later searches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoImprovement {
    /// The earliest remapped place, which was no better.
    remapped: Option<Allocation>,
    /// True if it holds for later searches. With fewer free processors, the rest may become large enough
    /// for a part; and places at one provider alone are not kept here.
    lasts: bool,
}

impl NoImprovement {
    /// Returns whether another search fails, too, if since then only free times within the stretch `changed` have
    /// changed.
    pub fn holds(
        &self,
        (demand, current): (&Demand, &Allocation),
        changed: Option<(Time, Time)>,
        now: Time,
    ) -> bool {
        let from = demand.earliest.max(now);
        if !self.lasts {
            return false;
        }
        let is_far = |&(begin, end): &(Time, Time)| end <= from || current.completion() <= begin;
        let is_there = |it: &Allocation| from <= it.start;
        changed.as_ref().is_none_or(is_far) && self.remapped.as_ref().is_none_or(is_there)
    }
}

/// A better place for a waiting job, if the job may move: an earlier completion, or as early a completion
/// at fewer providers. Otherwise the result of the failed search. `free` must count the job's parts as
/// free; under [`CoallocationPolicy::Shift`] only providers with a part are examined.
///
/// `since` is an earlier failed search and the stretch in which free times have changed since. Then only
/// starts are tried with which the job would run in that stretch: all others still fail.
pub fn improve(
    search: Search,
    free: &Together,
    (demand, current): (&Demand, &Allocation),
    since: Option<(&NoImprovement, (Time, Time))>,
    now: Time,
) -> Result<Allocation, NoImprovement> {
    let Search { moves, first, fill, choice } = search;
    let from = demand.earliest.max(now);
    let since = since.filter(|(no_improvement, _)| no_improvement.lasts);
    let (begin, end) = since.map_or((from, Time::FOREVER), |(_, changed)| changed);
    let affected = |span: Span| from.max(begin - span);
    let shift = || shift(free, current, affected(current.span), end.min(current.start));
    let shifted = (moves >= CoallocationPolicy::Shift).then(shift).flatten();
    let earliest = |from, until| earliest_between(free, demand, first, fill, from, until);
    let remap = || {
        let Some(known) = since.and_then(|(no_improvement, _)| no_improvement.remapped.as_ref())
        else {
            return earliest(from, Time::FOREVER);
        };
        // A change during the known place may have taken it.
        let is_affected = known.start < end && begin < known.completion();
        let still = (from <= known.start && !is_affected).then(|| known.clone());
        let before = earliest(affected(demand.lasts(2)), end.min(known.start));
        before.or(still).or_else(|| earliest(from.max(known.start), Time::FOREVER))
    };
    let remaps = moves == CoallocationPolicy::ShiftRemap;
    let remapped = remaps.then(remap).flatten();
    let tries_alone = remaps && choice == RemapRule::EarliestCompletion && demand.parts.is_none();
    let alone = tries_alone.then(|| earliest_alone(free, demand, first, now)).flatten();
    let merit = |it: &Allocation| (it.completion(), it.parts.len());
    // Among equals the first one counts: the job must not move without a reason.
    let all = [shifted.as_ref(), remapped.as_ref(), alone.as_ref()];
    let best = all.into_iter().flatten().min_by_key(|it| merit(it));
    match best.filter(|best| merit(best) < merit(current)) {
        Some(best) => Ok(best.clone()),
        None => {
            let lasts = !remaps || (demand.part_min <= 1 && choice == RemapRule::EarliestStart);
            Err(NoImprovement { remapped, lasts })
        }
    }
}
