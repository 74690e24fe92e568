//! Whose turn it is when jobs are reallocated.

use std::cmp::Ordering;

use haggle_model::{Sizing, Span, Time};

/// How the next job is selected.
///
/// The first two are those of Caniou, Charrier and Desprez 2010; they found the others, which they
/// had tried on rigid jobs, to be no better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Heuristic {
    /// Minimum completion time: the oldest.
    #[default]
    Mct,
    /// The one that would be done first.
    MinMin,
    /// The one that would be done last.
    MaxMin,
    /// The one that would lose most if it came to the second best cluster.
    Sufferage,
    /// The one that would be done so much earlier than where it is.
    MaxGain,
    /// The same for each of the processors that it would get.
    MaxRelGain,
}

impl Heuristic {
    /// All, in the order of the manual.
    pub const ALL: [Heuristic; 6] = [
        Heuristic::Mct,
        Heuristic::MinMin,
        Heuristic::MaxMin,
        Heuristic::Sufferage,
        Heuristic::MaxGain,
        Heuristic::MaxRelGain,
    ];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Heuristic::Mct => "mct",
            Heuristic::MinMin => "min-min",
            Heuristic::MaxMin => "max-min",
            Heuristic::Sufferage => "sufferage",
            Heuristic::MaxGain => "max-gain",
            Heuristic::MaxRelGain => "max-rel-gain",
        }
    }

    /// Whether it compares jobs.
    pub const fn compares(self) -> bool {
        !matches!(self, Heuristic::Mct)
    }

    /// Whether it weighs what becomes of a job where it is.
    pub(super) const fn weighs_present(self) -> bool {
        matches!(self, Heuristic::Sufferage | Heuristic::MaxGain | Heuristic::MaxRelGain)
    }

    /// Whether the first of two jobs goes before the second, if neither were older.
    pub(super) fn prefers(self, one: &Prospect, other: &Prospect) -> bool {
        let earlier =
            |prospect: &Prospect| prospect.best.map_or(Time::FOREVER, |it| it.completion());
        let order = match self {
            Heuristic::Mct => Ordering::Equal,
            Heuristic::MinMin => earlier(other).cmp(&earlier(one)),
            Heuristic::MaxMin => earlier(one).cmp(&earlier(other)),
            Heuristic::Sufferage => one.sufferage().cmp(&other.sufferage()),
            Heuristic::MaxGain => one.gain().cmp(&other.gain()),
            Heuristic::MaxRelGain => one.compare_relative_gains(other),
        };
        order == Ordering::Greater
    }
}

/// What a job can expect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prospect {
    /// Where it would be done first.
    pub(super) best: Option<Sizing>,
    /// Its completion at the second best cluster.
    pub(super) second: Option<Time>,
    /// Its completion where it is, or was.
    pub(super) present: Time,
}

impl Prospect {
    fn best(&self) -> Time {
        self.best.map_or(Time::FOREVER, |best| best.completion())
    }

    /// Without a second cluster it cannot lose more.
    fn sufferage(&self) -> Span {
        self.second.unwrap_or(Time::FOREVER) - self.best()
    }

    fn gain(&self) -> Span {
        self.present - self.best()
    }

    fn compare_relative_gains(&self, other: &Prospect) -> Ordering {
        let part = |of: &Prospect, by: &Prospect| {
            let processors = by.best.map_or(1, |best| best.processors);
            i128::from(of.gain().as_micros()) * i128::from(processors)
        };
        part(self, other).cmp(&part(other, self))
    }
}
