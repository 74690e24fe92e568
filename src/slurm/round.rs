//! Submissions of a sweep: one file for each, in the sweep's folder.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use haggle_results::{ResultsError, read_text};
use serde::{Deserialize, Serialize};

use crate::experiment::sweep::{HIDDEN, write_whole};

/// One submission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Round {
    /// SHA-256 of the program that submitted; the program on the nodes must have the same.
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
    /// The number that Slurm assigned.
    pub(crate) job: String,
    /// The chunk of its first task.
    pub(crate) first: usize,
    /// Number of tasks.
    pub(crate) tasks: usize,
}

/// All submissions of a sweep, in order.
pub(crate) struct Rounds {
    folder: PathBuf,
    /// Rounds by number, from 1.
    pub(crate) all: BTreeMap<usize, Round>,
}

impl Round {
    /// The units of a chunk.
    pub(crate) fn units(&self, chunk: usize) -> Option<Vec<usize>> {
        Some(spans(self.chunks.get(chunk)?)?.into_iter().flatten().collect())
    }

    /// Reason why this note cannot be valid, if so: it may be damaged or come from another user.
    /// The check precedes any allocation of the size that the note claims.
    fn damage(&self) -> Option<String> {
        let mut units = 0_usize;
        for chunk in &self.chunks {
            let Some(spans) = spans(chunk) else {
                return Some(format!("{chunk:?} are no numbers of runs"));
            };
            // No overflow: `spans` has checked that both numbers are in order and below `MOST`.
            let counts = spans.iter().map(|span| span.end() - span.start() + 1);
            units = counts.fold(units, usize::saturating_add);
            if units > MOST {
                return Some(format!("it has more than {MOST} runs"));
            }
        }
        // Job names become arguments of scancel and sacct, so nothing but digits may pass.
        let is_job = |job: &String| !job.is_empty() && job.bytes().all(|it| it.is_ascii_digit());
        if let Some(job) = self.jobs().find(|job| !is_job(job)) {
            return Some(format!("{job:?} is no number of a job"));
        }
        let all = self.chunks.len();
        // Checked, because the sum of two numbers of a damaged note may overflow.
        let fits = |it: &&Array| it.first.checked_add(it.tasks).is_some_and(|end| end <= all);
        let array = self.arrays.iter().find(|it| !fits(it))?;
        Some(format!("job {} has tasks without runs", array.job))
    }
}

/// Most runs of a sweep.
const MOST: usize = 1_000_000;

impl Rounds {
    /// The notes in the folder of a sweep.
    ///
    /// # Errors
    /// If a note is damaged.
    pub(crate) fn read(output: &Path) -> Result<Rounds, ResultsError> {
        let folder = output.join(HIDDEN).join("slurm");
        let mut all = BTreeMap::new();
        loop {
            // Rounds are numbered without gaps, so the first missing number ends them.
            let path = folder.join(format!("{}.json", all.len() + 1));
            if !path.exists() {
                return Ok(Rounds { folder, all });
            }
            let text = read_text(&path)?;
            let damaged = |reason| ResultsError::Damaged { path: path.clone(), reason };
            let round: Round =
                serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
            if let Some(reason) = round.damage() {
                return Err(damaged(reason));
            }
            all.insert(all.len() + 1, round);
        }
    }

    /// Folder of the notes, the scripts and the output of tasks.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a note of a submission.
    pub(super) fn write(&self, number: usize, round: &Round) -> Result<(), ResultsError> {
        let text = serde_json::to_string_pretty(round).expect("texts and numbers");
        write_whole(&self.folder.join(format!("{number}.json")), &format!("{text}\n"))
    }
}

/// Units as numbers and ranges.
pub(super) fn ranges(units: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &unit in units {
        // Neighbouring units form a range, so that a note of a million runs stays short.
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

/// The ranges of a text, each with its last number below [`MOST`].
fn spans(ranges: &str) -> Option<Vec<RangeInclusive<usize>>> {
    let span = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last && last < MOST).then_some(first..=last)
    };
    ranges.split(',').map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_written_as_ranges_and_read_back() {
        for (list, text) in [(vec![0, 1, 2, 5, 7, 8], "0-2,5,7-8"), (vec![3], "3")] {
            assert_eq!(ranges(&list), text);
            let round = Round { chunks: vec![text.to_owned()], ..Round::default() };
            assert_eq!(round.units(0), Some(list));
            assert_eq!(round.damage(), None);
        }
    }

    #[test]
    fn damaged_notes_are_told_apart_before_anything_is_made_of_them() {
        for chunk in ["1-x", "x", "5-2", "-1", "", "0-4294967295", "0-18446744073709551615"] {
            let round = Round { chunks: vec![chunk.to_owned()], ..Round::default() };
            let damage = round.damage().expect("no such chunk can be");
            assert!(damage.ends_with("no numbers of runs"), "{chunk}: {damage}");
        }
        let all = Round { chunks: vec!["0-999999".to_owned(); 2], ..Round::default() };
        assert_eq!(all.damage().as_deref(), Some("it has more than 1000000 runs"));
        let array = |job: &str, first, tasks| Array { job: job.to_owned(), first, tasks };
        for (array, expected) in [
            (array("1", usize::MAX, 1), "job 1 has tasks without runs"),
            (array("1", 0, 2), "job 1 has tasks without runs"),
            (array("x", 0, 1), "\"x\" is no number of a job"),
        ] {
            let chunks = vec!["0".to_owned()];
            let round = Round { chunks, arrays: vec![array], ..Round::default() };
            assert_eq!(round.damage().as_deref(), Some(expected));
        }
    }
}
