//! Jobs that follow others: the jobs that they name, and the steps that may come behind.

use std::collections::BTreeSet;

use haggle_config::document::Path;

use super::Check;
use super::rule::{Refusal, refuse};
use crate::file::{DependenciesFrom, InlineJob, Step, Workload};

/// Steps, with those before it.
#[rustfmt::skip] // a table
const STEPS: &[Refusal<Step, [Step]>] = &[
    refuse("from", |it, before| matches!(it, Step::Dependencies { from: DependenciesFrom::Log, .. })
            && before.iter().any(|it| matches!(it, Step::Resample { .. })),
        "`resample` numbers jobs anew, so the numbers in field 17 of the log name other jobs", "after `resample`",
        "write from = \"sessions\" or \"singleton\", or remove one of the steps"),
];

/// True if a step keeps all jobs at their times.
fn keeps(step: &Step) -> bool {
    match step {
        Step::Estimates { .. }
        | Step::Deadlines { .. }
        | Step::ReadyTimes { .. }
        | Step::Reservations { .. }
        | Step::Key { .. }
        | Step::RunTimesAsRequested {}
        | Step::RunTimes { .. }
        | Step::ExtendRunTimes { .. }
        | Step::Bags {}
        | Step::Moldable { .. }
        | Step::Demand { .. }
        | Step::ScaleTimes { .. } => true,
        Step::Window { .. }
        | Step::RandomWindow { .. }
        | Step::Filter { .. }
        | Step::First { .. }
        | Step::ScaleGaps { .. }
        | Step::FillWindow { .. }
        | Step::Split { .. }
        | Step::Slice { .. }
        | Step::Spread { .. }
        | Step::FitLoad { .. }
        | Step::Shake { .. }
        | Step::Resample { .. }
        | Step::Dependencies { .. } => false,
    }
}

/// True if jobs of a workload follow others.
pub(super) fn follows(workload: &Workload) -> bool {
    let mut listed = workload.jobs.iter().flatten();
    listed.any(|job| job.after.is_some())
        || workload.steps.iter().any(|step| matches!(step, Step::Dependencies { .. }))
}

/// A mistake in a list of jobs.
pub(super) struct Mistake {
    /// Place of the job in the list, from 0.
    pub(super) job: usize,
    /// Key of the job, and the place in its list.
    pub(super) at: (&'static str, Option<usize>),
    pub(super) message: String,
    pub(super) label: &'static str,
    pub(super) help: &'static str,
}

/// Mistakes in the jobs that listed jobs follow.
pub(super) fn mistakes(jobs: &[InlineJob]) -> Vec<Mistake> {
    let mut found = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let mut report = |at, message: String, label, help| {
            found.push(Mistake { job: index, at, message, label, help });
        };
        for (key, is_given) in [("on", job.on.is_some()), ("think", job.think.is_some())] {
            if is_given && job.after.is_none() {
                let message = format!("`{key}` is about the jobs in `after`, and there are none");
                report((key, None), message, "not used", "add `after`, or remove the key");
            }
        }
        let mut named = BTreeSet::new();
        for (entry, &place) in job.after.iter().flatten().enumerate() {
            let at = ("after", Some(entry));
            let other = (place as usize).checked_sub(1);
            let Some((other, before)) = other.and_then(|it| Some((it, jobs.get(it)?))) else {
                let message =
                    format!("`after` names job {place}, and there are jobs 1 to {}", jobs.len());
                report(
                    at,
                    message,
                    "no such job",
                    "jobs are counted in the order of the list, from 1",
                );
                continue;
            };
            if (before.submit, other) >= (job.submit, index) {
                let message = format!(
                    "job {} follows job {place}, which is not submitted before it",
                    index + 1
                );
                let help = "a job follows jobs with an earlier `submit`, or with the same one and an earlier place";
                report(at, message, "not earlier", help);
            } else if !named.insert(place) {
                report(at, format!("job {place} is named twice"), "again", "remove one of them");
            }
        }
    }
    found
}

impl Check<'_> {
    /// Checks the jobs that listed jobs follow.
    pub(super) fn check_followers(&mut self, path: &Path, jobs: &[InlineJob]) {
        for Mistake { job, at, message, label, help } in mistakes(jobs) {
            let path = path.index(job).key(at.0);
            let path = at.1.map_or(path.clone(), |entry| path.index(entry));
            self.report(&path, message, label, help);
        }
    }

    /// Checks the steps of a workload with jobs that follow others.
    pub(super) fn check_steps_of_followers(&mut self, path: &Path, workload: &Workload) {
        let sources = self.directory.sources(workload.name.as_str()).into_iter();
        let others = sources
            .map(|place| &self.scenario.workloads[place])
            .filter(|it| it.name != workload.name);
        let listed = workload.jobs.iter().flatten().any(|job| job.after.is_some());
        let mut follow = listed || others.into_iter().any(follows);
        for (index, step) in workload.steps.iter().enumerate() {
            let path = path.key("step").index(index);
            self.refuse(STEPS, &path, (step, &workload.steps[..index]), &[]);
            if follow && !keeps(step) {
                let help =
                    "put it before the step `dependencies`; jobs with `after` allow no such step";
                let message =
                    "the step may drop or move jobs that others follow, or lets them follow twice";
                self.report(&path, message.to_owned(), "behind `dependencies`", help);
            }
            follow |= matches!(step, Step::Dependencies { .. });
        }
    }
}
