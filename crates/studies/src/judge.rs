//! Judges claims by the results.

use super::catalogue::{Claim, Test};
use haggle_scenario::InvalidScenario;
use haggle_script::{Evidence, Language, Outcome, Verdict};

/// A claim with its judgement.
#[derive(Clone, Debug)]
pub struct Finding<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// The judgement.
    pub judgement: Judgement,
}

/// Judgement of a claim.
#[derive(Clone, Debug)]
pub enum Judgement {
    /// It held, with the numbers.
    Held(String),
    /// It did not hold, with the numbers.
    Missed(String),
    /// The data are fewer than the study defines, or the result is within the noise; with the numbers.
    Undecided(String),
    /// Other data replace the original ones, so the result decides nothing; with the numbers.
    Reported(String),
    /// It cannot be tested, for this reason.
    Untestable(String),
    /// It could not be tested because of an error.
    Failed(Failure),
}

/// All words for judgements.
pub const VERDICTS: [&str; 6] = ["held", "missed", "undecided", "reported", "untestable", "failed"];

/// Reason why a claim could not be tested.
#[derive(Clone, Debug)]
pub enum Failure {
    /// Its expression requests missing data.
    Expression(Box<InvalidScenario>),
    /// Its data are missing, for a reason that has been reported.
    NoData,
}

impl Judgement {
    /// Its word.
    pub const fn name(&self) -> &'static str {
        match self {
            Judgement::Held(_) => "held",
            Judgement::Missed(_) => "missed",
            Judgement::Undecided(_) => "undecided",
            Judgement::Reported(_) => "reported",
            Judgement::Untestable(_) => "untestable",
            Judgement::Failed(_) => "failed",
        }
    }

    /// Its numbers, or the reason.
    pub fn text(&self) -> String {
        match self {
            Judgement::Held(text)
            | Judgement::Missed(text)
            | Judgement::Undecided(text)
            | Judgement::Reported(text)
            | Judgement::Untestable(text) => text.clone(),
            Judgement::Failed(Failure::Expression(problem)) => problem.to_string(),
            Judgement::Failed(Failure::NoData) => "its data are missing".to_owned(),
        }
    }
}

/// Tests a claim on its data; `language` is `None` if there are no data.
pub fn judge<'a>(claim: &'a Claim, language: Option<&Language>) -> Finding<'a> {
    let judgement = match (&claim.test, language) {
        (Test::Untestable(reason), _) => Judgement::Untestable(reason.clone()),
        (Test::Check(_), None) => Judgement::Failed(Failure::NoData),
        (Test::Check(check), Some(language)) => match language.check(&check.text) {
            // With few seeds, noise would decide; with some values of an axis, the others are unknown.
            Ok((Verdict { text, .. }, Evidence::Part)) => Judgement::Undecided(text),
            Ok((verdict, Evidence::All)) if claim.substitutes.is_some() => {
                Judgement::Reported(verdict.told())
            }
            Ok((verdict, Evidence::All)) => match verdict.outcome {
                Outcome::Held => Judgement::Held(verdict.text),
                Outcome::Missed => Judgement::Missed(verdict.text),
                Outcome::Undecided => Judgement::Undecided(verdict.told()),
            },
            // Data that a quick reproduction leaves out are no mistake of the claim.
            Err(mistake) if mistake.cut => Judgement::Untestable(mistake.message),
            Err(mistake) => {
                let problem = check.problem(&format!("claim {}", claim.id), &mistake);
                Judgement::Failed(Failure::Expression(problem))
            }
        },
    };
    Finding { claim, judgement }
}
