//! Where a metascheduler sends an external job.
//!
//! A placement policy says what it has to know, is told the answers, and
//! returns the providers in the order in which they are to be tried.

use haggle_model::{Disclosure, Span, Time};

use crate::own::words_or_own;

words_or_own! {
    /// How a metascheduler chooses the provider of a job.
    #[derive(Default)]
    pub enum Placement of OwnPlacement in placements as "Placement" {
        /// The provider that offers the earliest completion.
        #[default]
        MinimumCompletionTime = "minimum-completion-time",
        /// One provider after the other.
        RoundRobin = "round-robin",
        /// Any provider, each as likely as the others.
        Random = "random",
        /// The provider with the least remaining work per processor; needs disclosure "load".
        LeastLoaded = "least-loaded",
        // After Netto 2009, 4.4.1.
        /// The first provider that can start the job at once, beginning one further with every job;
        /// if none can, the one with the earliest start.
        NextFit = "next-fit",
    }
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

impl Question {
    /// The least that providers have to disclose for it.
    pub const fn needs(self) -> Disclosure {
        match self {
            Question::LoadOfAll => Disclosure::Load,
            Question::None | Question::EstimateOfAll | Question::EstimateOneByOne => {
                Disclosure::Offers
            }
        }
    }
}

impl Placement {
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

    /// Whether providers are drawn, where nothing is asked; else they have their turns.
    pub const fn draws(self) -> bool {
        matches!(self, Placement::Random)
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
