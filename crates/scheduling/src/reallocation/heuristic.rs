//! Choice of the next job in a reallocation.

use std::cmp::Ordering;

use haggle_model::{Sizing, Span, Time};

haggle_model::words! {
    /// Order in which waiting jobs are treated.
    #[derive(Default)]
    pub enum ReallocationHeuristic {
        /// The oldest job first.
        #[default]
        Mct = "mct",
        /// The job that would complete first.
        MinMin = "min-min",
        /// The job that would complete last.
        MaxMin = "max-min",
        /// The job that would lose most at the second best provider.
        Sufferage = "sufferage",
        /// The job with the largest gain: the time by which it would complete earlier than where it is.
        MaxGain = "max-gain",
        /// The job with the largest gain for each of the processors that it would get.
        MaxRelGain = "max-rel-gain",
    }
}

impl ReallocationHeuristic {
    /// Returns whether it compares jobs.
    pub const fn compares(self) -> bool {
        !matches!(self, ReallocationHeuristic::Mct)
    }

    /// Returns whether it considers the completion of a job where it is.
    pub(super) const fn weighs_present(self) -> bool {
        matches!(
            self,
            ReallocationHeuristic::Sufferage
                | ReallocationHeuristic::MaxGain
                | ReallocationHeuristic::MaxRelGain
        )
    }

    /// Returns whether the first of two jobs goes before the second, apart from their ages.
    pub(super) fn prefers(self, one: &Prospect, other: &Prospect) -> bool {
        let earlier =
            |prospect: &Prospect| prospect.best.map_or(Time::FOREVER, |it| it.completion());
        let order = match self {
            // Age alone decides.
            ReallocationHeuristic::Mct => Ordering::Equal,
            ReallocationHeuristic::MinMin => earlier(other).cmp(&earlier(one)),
            ReallocationHeuristic::MaxMin => earlier(one).cmp(&earlier(other)),
            ReallocationHeuristic::Sufferage => one.sufferage().cmp(&other.sufferage()),
            ReallocationHeuristic::MaxGain => one.gain().cmp(&other.gain()),
            ReallocationHeuristic::MaxRelGain => one.compare_relative_gains(other),
        };
        order == Ordering::Greater
    }
}

/// Expected completions of a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prospect {
    /// The estimate with the earliest completion.
    pub(super) best: Option<Sizing>,
    /// Its completion at the second best cluster.
    pub(super) second: Option<Time>,
    /// Its completion at its present or former cluster.
    pub(super) present: Time,
}

impl Prospect {
    fn best(&self) -> Time {
        self.best.map_or(Time::FOREVER, |best| best.completion())
    }

    /// Without a second cluster the loss is unlimited.
    fn sufferage(&self) -> Span {
        self.second.unwrap_or(Time::FOREVER) - self.best()
    }

    fn gain(&self) -> Span {
        self.present - self.best()
    }

    fn compare_relative_gains(&self, other: &Prospect) -> Ordering {
        // Multiplied out, because quotients would be rounded.
        let part = |of: &Prospect, by: &Prospect| {
            let processors = by.best.map_or(1, |best| best.processors);
            i128::from(of.gain().as_micros()) * i128::from(processors)
        };
        part(self, other).cmp(&part(other, self))
    }
}
