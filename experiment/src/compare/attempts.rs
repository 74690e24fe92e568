//! How the attempts of two runs ended; of grids, the tries.

use std::collections::BTreeMap;

use haggle_results::{ResultsError, RunReader, Table};
use serde::Serialize;

use super::same::Pairs;

/// How attempts, or tries, ended in two runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AttemptDifferences {
    /// How many ended how, in order of the words.
    pub endings: Vec<EndingPair>,
    /// Jobs that are the same in both runs and had more of them in B.
    pub more: usize,
    /// Jobs that had fewer of them in B.
    pub fewer: usize,
}

/// How many attempts, or tries, ended in one way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EndingPair {
    /// `attempts` or `tries`.
    pub table: &'static str,
    /// A word of the table.
    pub ending: String,
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
    let mut counts: BTreeMap<(&'static str, String), [usize; 2]> = BTreeMap::new();
    for (side, run) in [a, b].into_iter().enumerate() {
        for ending in endings(run)? {
            counts.entry(ending).or_default()[side] += 1;
        }
    }
    let pair = |((table, ending), [a, b]): ((&'static str, String), [usize; 2])| EndingPair {
        table,
        ending,
        a,
        b,
    };
    let number = |is: fn(i64, i64) -> bool| {
        pairs.same.iter().filter(|(a, b)| is(a.attempts, b.attempts)).count()
    };
    Ok(AttemptDifferences {
        endings: counts.into_iter().map(pair).collect(),
        more: number(|a, b| a < b),
        fewer: number(|a, b| a > b),
    })
}

/// The table and the ending of every attempt or try.
fn endings(run: &RunReader) -> Result<Vec<(&'static str, String)>, ResultsError> {
    if run.has(Table::Tries) {
        let tries = run.tries()?.into_iter();
        return Ok(tries.map(|it| (Table::Tries.name(), it.ending.name().to_owned())).collect());
    }
    let attempts = run.attempts()?.into_iter();
    Ok(attempts.map(|it| (Table::Attempts.name(), it.outcome)).collect())
}
