//! What was submitted: a file for each time, in the sweep's folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use haggle_results::ResultsError;
use serde::{Deserialize, Serialize};

use crate::experiment::sweep::{HIDDEN, write_whole};

/// What was submitted at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Round {
    /// SHA-256 of the program that submitted, which that on the nodes must have, too.
    pub(crate) program: String,
    /// SHA-256 of the scenario with its sweep.
    pub(crate) scenario: String,
    /// The units of each task: numbers and ranges, `0-9,12`.
    pub(crate) chunks: Vec<String>,
    /// The arrays, whose tasks take the chunks in order.
    pub(crate) arrays: Vec<Array>,
    /// The job that sums up.
    pub(crate) merge: Option<String>,
}

/// A job array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Array {
    /// The number that Slurm has given to it.
    pub(crate) job: String,
    /// The chunk of its first task.
    pub(crate) first: usize,
    /// How many tasks it has.
    pub(crate) tasks: usize,
}

/// All that was submitted of a sweep, the first first.
pub(crate) struct Rounds {
    folder: PathBuf,
    /// By their numbers, from 1 on.
    pub(crate) all: BTreeMap<usize, Round>,
}

impl Round {
    /// The units of a chunk.
    pub(crate) fn units(&self, chunk: usize) -> Option<Vec<usize>> {
        units(self.chunks.get(chunk)?)
    }
}

impl Rounds {
    /// What is noted in the folder of a sweep.
    ///
    /// # Errors
    /// If a note is damaged.
    pub(crate) fn read(output: &Path) -> Result<Rounds, ResultsError> {
        let folder = output.join(HIDDEN).join("slurm");
        let mut all = BTreeMap::new();
        loop {
            let path = folder.join(format!("{}.json", all.len() + 1));
            if !path.exists() {
                return Ok(Rounds { folder, all });
            }
            let text =
                fs::read_to_string(&path).map_err(|error| ResultsError::read(&path, error))?;
            let round = serde_json::from_str(&text)
                .map_err(|error| ResultsError::Damaged { path, reason: error.to_string() })?;
            all.insert(all.len() + 1, round);
        }
    }

    /// Where notes, scripts and what tasks say are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Notes what was submitted.
    pub(super) fn write(&self, number: usize, round: &Round) -> Result<(), ResultsError> {
        let text = serde_json::to_string_pretty(round).expect("texts and numbers");
        write_whole(&self.folder.join(format!("{number}.json")), &format!("{text}\n"))
    }
}

/// Units as numbers and ranges.
pub(super) fn ranges(units: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &unit in units {
        match ranges.last_mut().filter(|(_, last)| last + 1 == unit) {
            Some((_, last)) => *last = unit,
            None => ranges.push((unit, unit)),
        }
    }
    let shown = |(first, last): (usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.into_iter().map(shown).collect::<Vec<_>>().join(",")
}

fn units(ranges: &str) -> Option<Vec<usize>> {
    let mut units = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        units.extend(first.parse::<usize>().ok()?..=last.parse().ok()?);
    }
    Some(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_written_as_ranges_and_read_back() {
        for (list, text) in [(vec![0, 1, 2, 5, 7, 8], "0-2,5,7-8"), (vec![3], "3")] {
            assert_eq!(ranges(&list), text);
            assert_eq!(units(text), Some(list));
        }
        assert_eq!(units("1-x"), None);
    }
}
