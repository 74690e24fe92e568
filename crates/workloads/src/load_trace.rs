//! Recorded loads of shared machines: the part of each that was available, and from when on.
//!
//! A text file with a line for each change, in order of time:
//!
//! ```text
//! # seconds  cluster  machines  processor  link
//! 0          *        *         1          0.8
//! 0          alpha    0-15      0.5        0.8
//! 3600.5     alpha    3         0.25       0.6
//! ```
//!
//! `*` stands for all clusters, or for all machines. Machines are numbered from 0 in their cluster. A
//! line holds for a machine until a later one replaces it. A machine without a line is fully available.

use std::io::Read;
use std::path::Path;

use crate::lines::{self, Unreadable};
use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

/// Smallest part of a machine that may be available.
const LEAST: f64 = 1e-6;

/// Changes of loads, grouped by instant.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadTrace {
    /// Ascending. The first one is at time zero, even if the trace has no line for it.
    pub epochs: Vec<LoadEpoch>,
}

/// Changes at one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadEpoch {
    /// The instant.
    pub at: Time,
    /// The changes; later ones replace earlier ones.
    pub changes: Vec<LoadChange>,
}

/// Available parts of some machines of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadChange {
    /// Index of the cluster in the list with which the trace was read.
    pub cluster: usize,
    /// The first machine.
    pub first: u32,
    /// The last machine.
    pub last: u32,
    /// The available part of their processors.
    pub cpu: f64,
    /// The available part of their links.
    pub link: f64,
}

/// Error in a line of a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct LoadTraceError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The problem.
    pub problem: String,
}

/// Error for a file that is no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct LoadFileError {
    /// Name of the file in messages.
    pub file: String,
    /// Reason why it cannot be read, or the line that is wrong.
    pub problem: String,
}

/// The longest text that is read, bytes.
const BYTES_MAX: u64 = 1 << 30;

impl LoadTrace {
    /// Reads the file at `path`, plain or packed with gzip or zstd, or standard input for `-`; see
    /// [`LoadTrace::read`].
    ///
    /// # Errors
    /// If it cannot be read, is no text, is longer than a GiB, or has an invalid line.
    pub fn open(path: &Path, clusters: &[(&str, u32)]) -> Result<LoadTrace, LoadFileError> {
        let failed = |problem: String| LoadFileError { file: lines::name(path), problem };
        let input = lines::open(path).map_err(|error| match error {
            Unreadable::Open(error) => failed(format!("cannot be opened: {error}")),
            Unreadable::Read(error) => failed(format!("cannot be read: {error}")),
            Unreadable::Compression(kind) => failed(format!("is packed with {kind}; unpack it")),
        })?;
        let mut text = String::new();
        // One byte above the limit shows that the text is longer.
        let read = input.take(BYTES_MAX + 1).read_to_string(&mut text);
        let read = read.map_err(|error| failed(format!("cannot be read: {error}")))?;
        if read as u64 > BYTES_MAX {
            return Err(failed("is longer than a GiB".to_owned()));
        }
        LoadTrace::read(&text, clusters).map_err(|error| failed(error.to_string()))
    }

    /// Reads a trace for clusters with these names and numbers of machines.
    ///
    /// # Errors
    /// If a line is invalid, or names an unknown cluster or machine.
    pub fn read(text: &str, clusters: &[(&str, u32)]) -> Result<LoadTrace, LoadTraceError> {
        let mut epochs = vec![LoadEpoch { at: Time::ZERO, changes: Vec::new() }];
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split('#').next().unwrap_or_default();
            let words = Vec::from_iter(text.split_whitespace());
            if words.is_empty() {
                continue;
            }
            let error = |problem| LoadTraceError { line, problem };
            let (at, changes) = row(&words, clusters).map_err(error)?;
            let last = epochs.last_mut().expect("there is the first one");
            if at < last.at {
                return Err(error("it is before the line above it".to_owned()));
            }
            if at > last.at {
                epochs.push(LoadEpoch { at, changes });
            } else {
                last.changes.extend(changes);
            }
        }
        Ok(LoadTrace { epochs })
    }
}

/// Parses a line: its time and its changes.
fn row(words: &[&str], clusters: &[(&str, u32)]) -> Result<(Time, Vec<LoadChange>), String> {
    let &[at, cluster, machines, cpu, link] = words else {
        return Err(format!(
            "{} words, expected five: seconds, cluster, machines, processor and link",
            words.len()
        ));
    };
    let at = time(at)?;
    let (cpu, link) = (part(cpu)?, part(link)?);
    let mut changes = Vec::new();
    for (place, &(name, count)) in clusters.iter().enumerate() {
        if cluster != "*" && cluster != name {
            continue;
        }
        let (first, last) = range(machines, count)?;
        // A line for all clusters may name more machines than one of them has.
        let last = if cluster == "*" { last.min(count.saturating_sub(1)) } else { last };
        if last >= count {
            return Err(format!("cluster \"{name}\" has no machine {last}, the first one is 0"));
        }
        if first <= last {
            changes.push(LoadChange { cluster: place, first, last, cpu, link });
        }
    }
    // A known cluster has led to a change or an error. For `*`, machines that no cluster has are no error.
    if changes.is_empty() && cluster != "*" {
        return Err(format!("no cluster is called \"{cluster}\""));
    }
    Ok((at, changes))
}

fn time(word: &str) -> Result<Time, String> {
    let seconds: Option<f64> = word.parse().ok().filter(|it: &f64| *it >= 0.0 && it.is_finite());
    let seconds = seconds.ok_or_else(|| format!("`{word}` is no number of seconds"))?;
    Ok(Time::ZERO + Span::from_secs_f64(seconds))
}

fn part(word: &str) -> Result<f64, String> {
    let part: Option<f64> = word.parse().ok().filter(|it| (LEAST..=1.0).contains(it));
    part.ok_or_else(|| format!("`{word}` is no available part: it is more than 0 and at most 1"))
}

/// The first and the last machine that a word names, in a cluster of `count` machines.
fn range(word: &str, count: u32) -> Result<(u32, u32), String> {
    if word == "*" {
        return Ok((0, count.saturating_sub(1)));
    }
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let ends = first.parse().ok().zip(last.parse().ok()).filter(|(first, last)| first <= last);
    ends.ok_or_else(|| {
        format!("`{word}` names no machines: write `*`, a number or two, such as `0-15`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTERS: [(&str, u32); 2] = [("alpha", 4), ("beta", 2)];

    #[test]
    fn a_trace_is_read() {
        let text =
            "# loads\n\n0 * * 1 0.8\n0 alpha 1-2 0.5 0.8 # two of them\n60.5 beta 1 0.25 0.6\n";
        let trace = LoadTrace::read(text, &CLUSTERS).expect("a trace");
        let change =
            |cluster, first, last, cpu, link| LoadChange { cluster, first, last, cpu, link };
        let at = |micros| Time::ZERO + Span::from_micros(micros);
        let begin =
            vec![change(0, 0, 3, 1.0, 0.8), change(1, 0, 1, 1.0, 0.8), change(0, 1, 2, 0.5, 0.8)];
        let expected = [
            LoadEpoch { at: at(0), changes: begin },
            LoadEpoch { at: at(60_500_000), changes: vec![change(1, 1, 1, 0.25, 0.6)] },
        ];
        assert_eq!(trace.epochs, expected);
        // A line for all clusters may name machines that only some have.
        let trace = LoadTrace::read("5 * 3 1 1", &CLUSTERS).expect("a trace");
        assert_eq!(trace.epochs[1].changes, [change(0, 3, 3, 1.0, 1.0)]);
        assert_eq!(trace.epochs[0], LoadEpoch { at: at(0), changes: Vec::new() });
        assert_eq!(LoadTrace::read("", &CLUSTERS).expect("a trace").epochs.len(), 1);
    }

    #[test]
    fn a_line_that_says_nothing_is_named() {
        let refused = |text: &str| {
            let error = LoadTrace::read(text, &CLUSTERS).expect_err("no trace");
            error.to_string()
        };
        assert!(refused("0 * * 1").starts_with("line 1: 4 words, expected five"));
        assert_eq!(refused("\n-1 * * 1 1"), "line 2: `-1` is no number of seconds");
        assert_eq!(refused("0 gamma * 1 1"), "line 1: no cluster is called \"gamma\"");
        assert!(refused("0 beta 2 1 1").contains("\"beta\" has no machine 2"));
        assert!(refused("0 beta 1-0 1 1").contains("`1-0` names no machines"));
        assert!(refused("0 beta * 0 1").contains("`0` is no available part"));
        assert!(refused("0 beta * 1 NaN").contains("`NaN` is no available part"));
        assert_eq!(refused("9 * * 1 1\n8 * * 1 1"), "line 2: it is before the line above it");
    }
}
