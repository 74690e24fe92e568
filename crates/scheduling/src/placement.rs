//! Choice of the provider to which a metascheduler sends an external job.
//!
//! A placement policy declares its question, receives the answers, and returns the providers in the order
//! in which they are tried.

use haggle_model::{Disclosure, Span, Time};
use serde::{Deserialize, Serialize};

crate::words_or_own! {
    /// Rule by which a metascheduler chooses the provider of a job.
    #[derive(Default)]
    pub enum Placement of OwnPlacement as "Placement" {
        /// The provider that offers the earliest completion.
        #[default]
        MinimumCompletionTime = "minimum-completion-time",
        /// The providers in turn.
        RoundRobin = "round-robin",
        /// A random provider, all with the same probability.
        Random = "random",
        /// The provider with the least remaining work per processor; needs disclosure "load".
        LeastLoaded = "least-loaded",
        // After Netto 2009, 4.4.1.
        /// The first provider that can start the job at once; each job begins with the next provider. If none can, the
        /// provider with the earliest start.
        NextFit = "next-fit",
    }
}

/// A placement of one's own: its question, and its rank of an answer.
#[derive(Clone, Copy, Debug)]
pub struct OwnPlacement {
    /// The question. If it is [`Question::None`], providers have their turns as under
    /// [`Placement::RoundRobin`].
    pub question: Question,
    /// Rank of an answer, the smallest first; `None` = the provider is not tried. The rule is not called
    /// for refusals.
    pub merit: fn(&Answer) -> Option<i64>,
}

/// Question of a policy to providers before it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Nothing.
    None,
    /// Every provider for an estimate.
    EstimateOfAll,
    /// Every provider for its load.
    LoadOfAll,
    /// One provider after the other for an estimate, until one is good enough.
    EstimateOneByOne,
}

/// A provider's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Estimated start and completion of the job.
    Estimate {
        /// Estimated start.
        start: Time,
        /// Estimated completion.
        completion: Time,
    },
    /// Time that the provider needs for its remaining work.
    Load(Span),
    /// It cannot run the job, or does not disclose the answer.
    Refused,
}

impl Question {
    /// The lowest disclosure level of providers that permits it.
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
    /// The question before the decision.
    pub const fn question(self) -> Question {
        match self {
            Placement::RoundRobin | Placement::Random => Question::None,
            Placement::MinimumCompletionTime => Question::EstimateOfAll,
            Placement::LeastLoaded => Question::LoadOfAll,
            Placement::NextFit => Question::EstimateOneByOne,
            Placement::Own(own) => own.rule.question,
        }
    }

    /// Returns whether providers are drawn when there is no question; otherwise they have turns.
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
