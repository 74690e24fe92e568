//! Start states of providers: rules for the jobs that run or wait at time zero, and their names.

use std::collections::BTreeMap;

use haggle_model::Span;

use crate::file::{InitialJob, InitialUse, Overrun, Provider, Scenario};
use crate::quantity::TimeSpan;

/// A job of a start state that is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateProblem {
    /// Its place in the list.
    pub job: usize,
    /// Key that is the reason; empty for the job itself.
    pub key: &'static str,
    /// The problem.
    pub message: String,
    /// Words for the place.
    pub label: &'static str,
    /// The remedy.
    pub help: String,
}

impl Scenario {
    /// The providers with a start state, in the order of the file.
    pub fn start_states(&self) -> impl Iterator<Item = &Provider> {
        self.providers.iter().filter(|it| it.has_start_state())
    }
}

/// Name of the users and of the workload of the jobs that run or wait at a provider at time zero.
pub fn initial_name(provider: &str) -> String {
    format!("{provider}-initial")
}

/// Number of a job: its own, or its place in the list.
pub fn initial_number(place: usize, job: &InitialJob) -> i64 {
    job.number.unwrap_or(place as i64 + 1)
}

/// Problems of a start state, in the order of the list.
pub fn start_state_problems(jobs: &[InitialJob], provider: &Provider) -> Vec<StateProblem> {
    let mut problems = Vec::new();
    let mut numbers: BTreeMap<i64, usize> = BTreeMap::new();
    let mut used: u64 = 0;
    for (place, job) in jobs.iter().enumerate() {
        let mut problem = |key, message: String, label, help: &str| {
            let help = help.to_owned();
            problems.push(StateProblem { job: place, key, message, label, help });
        };
        let number = initial_number(place, job);
        if let Some(first) = numbers.insert(number, place) {
            let key = if job.number.is_some() { "number" } else { "" };
            let message = format!("job {number} is listed twice, also as entry {}", first + 1);
            problem(key, message, "again", "give each job another `number`, or none");
        }
        let (name, all) = (&provider.name, provider.processors);
        if job.processors > all {
            let message = format!(
                "job {number} needs {} processors, provider \"{name}\" has {all}",
                job.processors
            );
            problem("processors", message, "too wide", "no such job can be there");
            continue;
        }
        if let Some(started) = job.started_ago {
            used += u64::from(job.processors);
            if used > u64::from(all) {
                let message = format!(
                    "the jobs that run at time zero need at least {used} processors, provider \"{name}\" has {all}"
                );
                problem(
                    "processors",
                    message,
                    "too many from here on",
                    "remove `started-ago` of some jobs: they then wait",
                );
                // All further jobs exceed the number, too: one report is enough.
                used = 0;
            }
            if let Some((key, message, help)) = running_problem(job, started, provider) {
                problem(key, format!("job {number} {message}"), "impossible", help);
            }
        }
        if job.run.is_none() && provider.initial_run.is_none() && provider.initial_use.is_none() {
            let message = format!("job {number} has no run time, and no law gives one");
            problem(
                "",
                message,
                "no run time",
                "add `run` to the job, or `initial-run` or `initial-use` to the provider",
            );
        }
        match (&provider.initial_use, job.run, job.requested) {
            (Some(_), None, None) => {
                let message = format!(
                    "job {number} has no requested time, of which `initial-use` could give a part"
                );
                problem(
                    "",
                    message,
                    "no requested time",
                    "add `requested` or `run`, or use `initial-run`",
                );
            }
            (Some(laws), None, Some(requested)) if InitialUse::of(laws, requested).is_none() => {
                let message = format!(
                    "job {number} requests {requested}, and no law of `initial-use` holds for that"
                );
                problem("requested", message, "no law", "lower `requested-from` of the first law");
            }
            _ => {}
        }
    }
    problems
}

/// The key, the problem and the remedy of a job that cannot be running at time zero.
fn running_problem(
    job: &InitialJob,
    started: TimeSpan,
    provider: &Provider,
) -> Option<(&'static str, String, &'static str)> {
    if let Some(submitted) = job.submitted_ago.filter(|&it| it < started) {
        let message = format!("was submitted {submitted} ago and started before, {started} ago");
        return Some(("submitted-ago", message, "write at least the time of `started-ago`"));
    }
    if started == TimeSpan::ZERO {
        let message = "would start at time zero, and not before".to_owned();
        return Some((
            "started-ago",
            message,
            "remove `started-ago`: the job waits, and its provider may start it",
        ));
    }
    let over = |time: TimeSpan| time.0.at_speed(provider.speed) <= started.0;
    if let Some(run) = job.run.filter(|&run| over(run)) {
        let message =
            format!("has run for {started}, and its whole run takes {run}{}", on(provider));
        return Some(("run", message, "write a longer time, or remove the job: it is over"));
    }
    let kills = provider.overrun == Overrun::Kill;
    if let Some(requested) = job.requested.filter(|&it| kills && over(it)) {
        let message = format!(
            "has run for {started}, and it is stopped after its requested time, {requested}{}",
            on(provider)
        );
        return Some((
            "requested",
            message,
            "write a longer time, remove the job, or set `overrun = \"extend\"`",
        ));
    }
    None
}

/// The speed of a provider, if times depend on it.
fn on(provider: &Provider) -> String {
    match provider.speed {
        1.0 => String::new(),
        speed => format!(" on processors of speed 1; these have the speed {speed}"),
    }
}

/// Longest time before time zero that a start state may have: a hundred years.
pub(crate) const AGE_MAX: Span = Span::from_secs(100 * 366 * 86_400);
