//! Moving a job that waits: an earlier start where it is, or other providers (Netto 2009, 4.3).

use haggle_model::{Span, Time};

use super::common_start::{FillRule, earliest_alone, earliest_between};
use super::{Allocation, Demand, Together};

haggle_model::words! {
    /// How a job on several providers may move while it waits.
    #[derive(Default)]
    pub enum CoallocationPolicy {
        /// Not at all.
        Rigid = "rigid",
        /// Its start becomes earlier, its parts stay where they are.
        Shift = "shift",
        /// Its start becomes earlier, or other providers take its parts.
        #[default]
        ShiftRemap = "shift-remap",
    }
}

haggle_model::words! {
    /// Which places are looked at for a job that may be remapped.
    #[derive(Default)]
    pub enum RemapRule {
        /// The earliest start.
        #[default]
        EarliestStart = "earliest-start",
        /// The earliest start at one provider alone, too, where the job takes less time.
        EarliestCompletion = "earliest-completion",
    }
}

/// The same parts at the earliest start before `until`; `free` counts them as free, and nobody is
/// looked at who has no part.
pub fn shift(free: &Together, current: &Allocation, from: Time, until: Time) -> Option<Allocation> {
    let processors = current.parts.iter().map(|&(_, processors)| processors).sum();
    let mut start = from;
    loop {
        start = free.earliest_chance(processors, current.span, start, until)?;
        // Each needs some time from its earliest fit on, so none can start before the latest of these.
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

/// How a better place is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// How the job may move.
    pub moves: CoallocationPolicy,
    /// The provider that gives first.
    pub first: usize,
    /// Who gives how much.
    pub fill: FillRule,
    /// Which places a remap looks at.
    pub choice: RemapRule,
}

/// What a look for a better place has found that found none: it need not be found again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InVain {
    /// Where it could have been remapped to, which was no better.
    remapped: Option<Allocation>,
    /// Whether it says anything of later looks. Where fewer processors are free more may be left over
    /// than make up a part, and places at one provider alone are not kept here.
    lasts: bool,
}

impl InVain {
    /// Whether another look is in vain, too, if all that has changed since are free times within a
    /// stretch.
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

/// A better place for a job that waits, if it may move there: one that is completed earlier, or
/// with as early a completion at fewer providers; else what was found instead. `free` counts its parts
/// as free; under [`CoallocationPolicy::Shift`] only those of who has one are looked at.
///
/// After a look in vain, and given the stretch in which free times have changed since, only starts are
/// tried from which on the job would run in that stretch: all others still are in vain.
pub fn improve(
    search: Search,
    free: &Together,
    (demand, current): (&Demand, &Allocation),
    since: Option<(&InVain, (Time, Time))>,
    now: Time,
) -> Result<Allocation, InVain> {
    let Search { moves, first, fill, choice } = search;
    let from = demand.earliest.max(now);
    let since = since.filter(|(in_vain, _)| in_vain.lasts);
    let (begin, end) = since.map_or((from, Time::FOREVER), |(_, changed)| changed);
    let affected = |span: Span| from.max(begin - span);
    let shift = || shift(free, current, affected(current.span), end.min(current.start));
    let shifted = (moves >= CoallocationPolicy::Shift).then(shift).flatten();
    let earliest = |from, until| earliest_between(free, demand, first, fill, from, until);
    let remap = || {
        let Some(known) = since.and_then(|(in_vain, _)| in_vain.remapped.as_ref()) else {
            return earliest(from, Time::FOREVER);
        };
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
    // Among equals the first counts: who moves has a reason.
    let all = [shifted.as_ref(), remapped.as_ref(), alone.as_ref()];
    let best = all.into_iter().flatten().min_by_key(|it| merit(it));
    match best.filter(|best| merit(best) < merit(current)) {
        Some(best) => Ok(best.clone()),
        None => {
            let lasts = !remaps || (demand.part_min <= 1 && choice == RemapRule::EarliestStart);
            Err(InVain { remapped, lasts })
        }
    }
}
