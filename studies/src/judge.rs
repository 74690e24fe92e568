//! A claim beside what came out.

use super::catalogue::{Claim, Test};
use haggle_scenario::InvalidScenario;
use haggle_script::{Evidence, Language, Outcome, Verdict};

/// What came of a claim.
#[derive(Clone, Debug)]
pub struct Finding<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// What came of it.
    pub judgement: Judgement,
}

/// What came of a claim.
#[derive(Clone, Debug)]
pub enum Judgement {
    /// It held, with the numbers.
    Held(String),
    /// It did not.
    Missed(String),
    /// What was run is less than the study asks for, or what came out lies within the noise; the numbers all
    /// the same.
    Undecided(String),
    /// Others stand for the data that it is about: what came out decides nothing.
    Reported(String),
    /// It cannot be tested, for this reason.
    Untestable(String),
    /// It could not be tested: something went wrong.
    Failed(Failure),
}

/// All words for what can come of a claim.
pub const VERDICTS: [&str; 6] = ["held", "missed", "undecided", "reported", "untestable", "failed"];

/// Why a claim could not be tested.
#[derive(Clone, Debug)]
pub enum Failure {
    /// Its expression asks for something that is not there.
    Expression(Box<InvalidScenario>),
    /// Its data are missing, for a reason that has been told.
    NoData,
}

impl Judgement {
    /// In a word.
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

    /// The numbers, or the reason.
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

/// Tests a claim on its data; `None` where these could not be had.
pub fn judge<'a>(claim: &'a Claim, language: Option<&Language>) -> Finding<'a> {
    let judgement = match (&claim.test, language) {
        (Test::Untestable(reason), _) => Judgement::Untestable(reason.clone()),
        (Test::Check(_), None) => Judgement::Failed(Failure::NoData),
        (Test::Check(check), Some(language)) => match language.check(&check.text) {
            // Few seeds decide by noise, and some values of an axis say nothing of the others.
            Ok((Verdict { text, .. }, Evidence::Part)) => Judgement::Undecided(text),
            Ok((verdict, Evidence::All)) if claim.substitutes.is_some() => {
                Judgement::Reported(verdict.told())
            }
            Ok((verdict, Evidence::All)) => match verdict.outcome {
                Outcome::Held => Judgement::Held(verdict.text),
                Outcome::Missed => Judgement::Missed(verdict.text),
                Outcome::Undecided => Judgement::Undecided(verdict.told()),
            },
            Err(mistake) if mistake.cut => Judgement::Untestable(mistake.message),
            Err(mistake) => {
                let problem = check.problem(&format!("claim {}", claim.id), &mistake);
                Judgement::Failed(Failure::Expression(problem))
            }
        },
    };
    Finding { claim, judgement }
}
