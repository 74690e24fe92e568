//! How the attempts of two runs ended.

use std::collections::BTreeMap;

use haggle_model::AttemptOutcome;
use haggle_results::reader::{AttemptRow, Rows};
use haggle_results::{ResultsError, RunReader};
use serde::Serialize;

use super::same::Pairs;

/// How attempts ended in two runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AttemptDifferences {
    /// Numbers of attempts by outcome.
    pub outcomes: Vec<OutcomePair>,
    /// Jobs that are the same in both runs and had more attempts in B.
    pub more: usize,
    /// Jobs that had fewer attempts in B.
    pub fewer: usize,
}

/// Numbers of attempts with one outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutcomePair {
    /// A word of the table `attempts`.
    pub outcome: &'static str,
    /// In A.
    pub a: usize,
    /// In B.
    pub b: usize,
}

pub(super) fn differences(
    a: &RunReader,
    b: &RunReader,
    pairs: &Pairs<'_>,
) -> Result<AttemptDifferences, ResultsError> {
    let mut counts: BTreeMap<AttemptOutcome, [usize; 2]> = BTreeMap::new();
    for (side, run) in [a, b].into_iter().enumerate() {
        AttemptRow::each(run, &Rows::all(), |attempt| {
            counts.entry(attempt.outcome).or_default()[side] += 1;
        })?;
    }
    let pair = |(outcome, [a, b]): (AttemptOutcome, [usize; 2])| OutcomePair {
        outcome: outcome.name(),
        a,
        b,
    };
    let number = |is: fn(i64, i64) -> bool| {
        pairs.same.iter().filter(|(a, b)| is(a.attempts, b.attempts)).count()
    };
    Ok(AttemptDifferences {
        outcomes: counts.into_iter().map(pair).collect(),
        more: number(|a, b| a < b),
        fewer: number(|a, b| a > b),
    })
}
