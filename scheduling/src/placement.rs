//! Where a metascheduler sends an external job.
//!
//! A placement policy says what it has to know, is told the answers, and
//! returns the providers in the order in which they are to be tried.

use haggle_model::{Span, Time};

use crate::own::Own;

/// The rule by which external jobs are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placement {
    /// The provider that estimates the earliest completion.
    MinimumCompletionTime,
    /// Each provider in its turn.
    RoundRobin,
    /// Any provider, drawn uniformly.
    Random,
    /// The provider that would be idle first; needs the load disclosed.
    LeastLoaded,
    /// The first provider, from the one whose turn it is on, that can start the
    /// job at once; else the one with the earliest start. The turn passes on
    /// with every job (after Netto 2009, 4.4.1).
    NextFit,
    /// A rule from outside.
    Own(Own<OwnPlacement>),
}

/// What a placement of one's own asks, and what it makes of an answer.
#[derive(Clone, Copy, Debug)]
pub struct OwnPlacement {
    /// What it asks. If nothing, providers have their turns as under [`Placement::RoundRobin`].
    pub question: Question,
    /// How late an answer makes its provider come, the smallest first; `None` = not at all. An answer that
    /// refuses is not asked about.
    pub merit: fn(&Answer) -> Option<i64>,
}

/// What a policy asks providers before it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Nothing.
    None,
    /// Every provider for an estimate.
    EstimateOfAll,
    /// Every provider for its load.
    LoadOfAll,
    /// One provider after the other for an estimate, until one will do.
    EstimateOneByOne,
}

/// A provider's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// When the job would start and end.
    Estimate {
        /// Estimated start.
        start: Time,
        /// Estimated completion.
        completion: Time,
    },
    /// How long the provider needs for the work it has.
    Load(Span),
    /// It cannot run the job, or will not say.
    Refused,
}

impl Placement {
    /// All policies of ours, in the order of the manual.
    pub const ALL: [Placement; 5] = [
        Placement::MinimumCompletionTime,
        Placement::RoundRobin,
        Placement::Random,
        Placement::LeastLoaded,
        Placement::NextFit,
    ];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Placement::MinimumCompletionTime => "minimum-completion-time",
            Placement::RoundRobin => "round-robin",
            Placement::Random => "random",
            Placement::LeastLoaded => "least-loaded",
            Placement::NextFit => "next-fit",
            Placement::Own(own) => own.name,
        }
    }

    /// What has to be asked first.
    pub const fn question(self) -> Question {
        match self {
            Placement::RoundRobin | Placement::Random => Question::None,
            Placement::MinimumCompletionTime => Question::EstimateOfAll,
            Placement::LeastLoaded => Question::LoadOfAll,
            Placement::NextFit => Question::EstimateOneByOne,
            Placement::Own(own) => own.rule.question,
        }
    }
}

/// The providers that have not refused, best first: by completion, load or
/// start, ties to the one named first. `answers` is in the order of the scenario,
/// or for [`Placement::NextFit`] in that of the turn.
pub fn rank(placement: Placement, answers: &[Answer]) -> Vec<usize> {
    let merit = |answer: &Answer| match (*answer, placement) {
        (Answer::Refused, _) => None,
        (_, Placement::Own(own)) => (own.rule.merit)(answer),
        (Answer::Estimate { start, .. }, Placement::NextFit) => Some(start.as_micros()),
        (Answer::Estimate { completion, .. }, _) => Some(completion.as_micros()),
        (Answer::Load(drain_time), _) => Some(drain_time.as_micros()),
    };
    let mut ranked: Vec<(i64, usize)> = answers
        .iter()
        .enumerate()
        .filter_map(|(index, answer)| merit(answer).map(|merit| (merit, index)))
        .collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_drop_out_and_ties_go_to_the_first() {
        let estimate = |start, completion| Answer::Estimate {
            start: Time::from_secs(start),
            completion: Time::from_secs(completion),
        };
        let answers = [estimate(5, 30), Answer::Refused, estimate(9, 20), estimate(5, 20)];
        assert_eq!(rank(Placement::MinimumCompletionTime, &answers), [2, 3, 0]);
        assert_eq!(rank(Placement::NextFit, &answers), [0, 3, 2]);
        let loads = [Answer::Load(Span::from_secs(4)), Answer::Load(Span::ZERO)];
        assert_eq!(rank(Placement::LeastLoaded, &loads), [1, 0]);
    }
}
