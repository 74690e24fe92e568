//! Fates of the jobs of two runs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::same::{Job, Pairs};
use super::starts::Starts;

/// Fates of the jobs of two runs. All but the first four fields are about jobs that are the same in
/// both.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JobDifferences {
    /// In A only.
    pub only_in_a: usize,
    /// In B only.
    pub only_in_b: usize,
    /// Jobs of one workload and number in both, but with another submission, size, request or run
    /// time.
    pub other: usize,
    /// Workloads with such jobs.
    pub workloads: Vec<WorkloadPair>,
    /// Their starts.
    #[serde(flatten)]
    pub starts: Starts,
    /// Changes of outcome, with their numbers of jobs.
    pub outcomes: Vec<OutcomeChange>,
    /// Jobs with different starts, largest difference first.
    pub largest: Vec<JobPair>,
}

/// Jobs with another outcome in B.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutcomeChange {
    /// Outcome in A.
    pub a: String,
    /// Outcome in B.
    pub b: String,
    /// Number of jobs.
    pub jobs: usize,
}

/// A job that both runs started, at different times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobPair {
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
    /// Processors it needs.
    pub processors: i64,
    /// Start in A, s.
    pub start_a: f64,
    /// Start in B, s.
    pub start_b: f64,
    /// Provider in A.
    pub provider_a: Option<String>,
    /// Provider in B.
    pub provider_b: Option<String>,
}

impl JobPair {
    /// Delay of its start in B, s.
    pub fn later(&self) -> f64 {
        self.start_b - self.start_a
    }
}

/// A workload that did not submit the same jobs in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkloadPair {
    /// Its name.
    pub workload: String,
    /// Its jobs that are the same in both.
    pub same: usize,
    /// Numbers that both have, with different jobs.
    pub other: usize,
}

/// Compares the jobs that are the same and lists the `most` with the largest differences of start.
pub(super) fn differences(pairs: &Pairs<'_>, most: usize) -> JobDifferences {
    let mut differences = JobDifferences {
        only_in_a: pairs.only_in_a.len(),
        only_in_b: pairs.only_in_b.len(),
        other: pairs.other.len(),
        workloads: workloads(pairs),
        ..JobDifferences::default()
    };
    let mut outcomes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut moved: Vec<(&Job, &Job, f64)> = Vec::new();
    for &(a, b) in &pairs.same {
        if a.outcome != b.outcome {
            *outcomes.entry((&*a.outcome, &*b.outcome)).or_default() += 1;
        }
        // A job that is refused has no provider.
        let providers = a.provider.as_deref().zip(b.provider.as_deref());
        let elsewhere = providers.is_some_and(|(a, b)| a != b);
        let later = differences.starts.add((a.start, b.start), elsewhere);
        if let Some(later) = later.filter(|it| *it != 0.0) {
            moved.push((a, b, later.abs()));
        }
    }
    // Stable, so that jobs of one difference stay in order of workload and number.
    moved.sort_by(|left, right| right.2.total_cmp(&left.2));
    let pair = |&(a, b, _): &(&Job, &Job, f64)| JobPair {
        workload: a.workload.to_string(),
        job_id: a.job_id,
        processors: a.processors,
        start_a: a.start.unwrap_or_default(),
        start_b: b.start.unwrap_or_default(),
        provider_a: a.provider.as_deref().map(str::to_owned),
        provider_b: b.provider.as_deref().map(str::to_owned),
    };
    differences.largest = moved.iter().take(most).map(pair).collect();
    let change = |((a, b), jobs): ((&str, &str), usize)| OutcomeChange {
        a: a.to_owned(),
        b: b.to_owned(),
        jobs,
    };
    differences.outcomes = outcomes.into_iter().map(change).collect();
    differences
}

fn workloads(pairs: &Pairs<'_>) -> Vec<WorkloadPair> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (job, _) in &pairs.same {
        counts.entry(&job.workload).or_default().0 += 1;
    }
    for job in &pairs.other {
        counts.entry(&job.workload).or_default().1 += 1;
    }
    let differing = counts.into_iter().filter(|(_, (_, other))| *other > 0);
    let pair = |(workload, (same, other)): (&str, (usize, usize))| WorkloadPair {
        workload: workload.to_owned(),
        same,
        other,
    };
    differing.map(pair).collect()
}
