//! Moving a job that waits: an earlier start where it is, or other providers (Netto 2009, 4.3).

use haggle_model::Time;

use super::common_start::{Fill, earliest_alone, earliest_common_start};
use super::{Allocation, Demand, FreeTimes};

/// How a job may move that is spread over providers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moves {
    /// Not at all.
    Rigid,
    /// Its start may become earlier.
    Shift,
    /// That, and its processors may come from other providers.
    #[default]
    ShiftRemap,
}

impl Moves {
    /// All policies, in the order of the manual.
    pub const ALL: [Moves; 3] = [Moves::Rigid, Moves::Shift, Moves::ShiftRemap];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Moves::Rigid => "rigid",
            Moves::Shift => "shift",
            Moves::ShiftRemap => "shift-remap",
        }
    }
}

/// Which places a remap looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The earliest common start.
    #[default]
    EarliestStart,
    /// The earliest start at one provider alone, too, which takes less time.
    EarliestCompletion,
}

impl Choice {
    /// All rules, in the order of the manual.
    pub const ALL: [Choice; 2] = [Choice::EarliestStart, Choice::EarliestCompletion];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Choice::EarliestStart => "earliest-start",
            Choice::EarliestCompletion => "earliest-completion",
        }
    }
}

/// The same parts at the earliest start before the present one; `free` counts them as free, and
/// nobody is looked at who has no part.
pub fn shift(free: &[FreeTimes], current: &Allocation, from: Time) -> Option<Allocation> {
    let mut start = from;
    while start < current.start {
        let fit = |&(place, processors): &(usize, u32)| {
            free[place].earliest_fit(processors, current.span, start)
        };
        // Each needs some time from its earliest fit on, so none can start before the latest of these.
        let fits: Option<Vec<Time>> = current.parts.iter().map(fit).collect();
        let latest = fits?.into_iter().max()?;
        if latest == start {
            return Some(Allocation { start, ..current.clone() });
        }
        start = latest;
    }
    None
}

/// A better place for a job that waits, if it may move there: one that is completed earlier, or
/// with as early a completion at fewer providers. `free` counts its parts as free; under
/// [`Moves::Shift`] only those of who has one are looked at.
pub fn improve(
    moves: Moves,
    free: &[FreeTimes],
    (demand, current): (&Demand, &Allocation),
    (first, fill, choice): (usize, Fill, Choice),
    now: Time,
) -> Option<Allocation> {
    let from = demand.earliest.max(now);
    let shifted = (moves >= Moves::Shift).then(|| shift(free, current, from)).flatten();
    let remaps = moves == Moves::ShiftRemap;
    let remapped = remaps.then(|| earliest_common_start(free, demand, first, fill, now)).flatten();
    let tries_alone = remaps && choice == Choice::EarliestCompletion;
    let alone = tries_alone.then(|| earliest_alone(free, demand, first, now)).flatten();
    let merit = |it: &Allocation| (it.completion(), it.parts.len());
    // Among equals the first counts: who moves has a reason.
    let best = [shifted, remapped, alone].into_iter().flatten().min_by_key(merit)?;
    (merit(&best) < merit(current)).then_some(best)
}
