//! Rows of a run's tables that the stories of some jobs need: their own rows, those of the tasks of
//! their workflows, and those of other jobs in their time.

use std::collections::BTreeSet;

use haggle_results::reader::{AttemptRow, Rows};
use haggle_results::{JobRow, PlacementRow, ResultsError, RunReader};

/// The part of a run that is read.
pub(super) struct Scope {
    /// Numbers of the jobs with stories, and of the tasks of their workflows; `None` = all.
    own: Option<BTreeSet<i64>>,
    /// Intervals in which they were in the system.
    spans: Vec<(f64, f64)>,
}

impl Scope {
    /// All rows.
    pub(super) fn everything() -> Scope {
        Scope { own: None, spans: Vec::new() }
    }

    /// The rows that some jobs need.
    pub(super) fn of(run: &RunReader, jobs: &[JobRow]) -> Result<Scope, ResultsError> {
        let workflows: BTreeSet<i64> = jobs.iter().filter_map(|it| it.workflow).collect();
        let mut own: BTreeSet<i64> = jobs.iter().map(|it| it.job).collect();
        let mut spans = Vec::from_iter(jobs.iter().map(|it| (it.submit, it.left)));
        if !workflows.is_empty() {
            let tasks = jobs.iter().filter(|it| it.workflow.is_some());
            let of = Rows::of("workflow", workflows)
                // Several of these workloads may have a workflow of the number; rows too many do no harm.
                .with("workload_name", tasks.map(|it| it.workload.clone()));
            JobRow::each(run, &of, |it| {
                // The path to a task begins with the first tasks of its workflow.
                let last = jobs.iter().filter(|job| job.workload == it.workload);
                let last = last.filter(|job| job.workflow == it.workflow).map(|job| job.left);
                spans.push((it.submit, last.fold(it.submit, f64::max)));
                own.insert(it.job);
            })?;
        }
        Ok(Scope { own: Some(own), spans: merged(spans) })
    }

    /// The rows that are about these jobs.
    pub(super) fn own(&self) -> Rows {
        match &self.own {
            Some(own) => Rows::of("job", own.iter().copied()),
            None => Rows::all(),
        }
    }

    /// The rows whose interval, between these two columns, meets the time of these jobs.
    pub(super) fn during(&self, from: &'static str, to: &'static str) -> Rows {
        match self.own {
            Some(_) => Rows::all().during(from, to, self.spans.clone()),
            None => Rows::all(),
        }
    }

    /// The jobs themselves, and all jobs in these rows.
    pub(super) fn jobs(&self, attempts: &[AttemptRow], placements: &[PlacementRow]) -> Rows {
        let Some(own) = &self.own else { return Rows::all() };
        let others = attempts.iter().map(|it| it.job).chain(placements.iter().map(|it| it.job));
        Rows::of("job", others.chain(own.iter().copied()))
    }
}

/// The same time as disjoint spans.
fn merged(mut spans: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for (from, until) in spans {
        match merged.last_mut().filter(|last| from <= last.1) {
            Some(last) => last.1 = last.1.max(until),
            None => merged.push((from, until)),
        }
    }
    merged
}
