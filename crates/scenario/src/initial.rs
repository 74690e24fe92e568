//! Start states: rules for the jobs that run or wait at time zero, and their names.

use std::collections::BTreeMap;

use haggle_model::Span;

use crate::file::{
    Grid, GridInitialJob, InitialJob, InitialUse, Overrun, Provider, Scenario, Sharing, Site,
};
use crate::quantity::{Name, TimeSpan};

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

    /// The grid, if it has a start state.
    pub fn grid_with_start_state(&self) -> Option<&Grid> {
        self.grid.as_ref().filter(|it| it.initial.is_some())
    }

    /// Names of the owners of start states: the providers in the order of the file, then the grid.
    pub fn start_state_owners(&self) -> impl Iterator<Item = &Name> {
        let grid = self.grid_with_start_state().map(|it| &it.name);
        self.start_states().map(|it| &it.name).chain(grid)
    }
}

/// Name of the user and of the workload of the jobs that run or wait at a provider or a grid at time zero.
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

/// Number of a job of a grid: its own, or its place in the list.
pub fn grid_initial_number(place: usize, job: &GridInitialJob) -> i64 {
    job.number.unwrap_or(place as i64 + 1)
}

/// Work that a running job of a start state has done at time zero, as time of a resource of 1 MIPS. The jobs of the list
/// that had started on its resource share the `mips` of that resource equally.
pub fn done_before_start(jobs: &[GridInitialJob], job: &GridInitialJob, mips: f64) -> Span {
    let Some(age) = job.started_ago else { return Span::ZERO };
    let there = jobs.iter().filter(|it| it.resource == job.resource);
    let mut ages = Vec::from_iter(there.filter_map(|it| it.started_ago));
    ages.sort_unstable_by_key(|&it| std::cmp::Reverse(it));
    // Between the n-th start and the next one, n jobs compute.
    let ends = ages.iter().skip(1).copied().chain([TimeSpan::ZERO]);
    let stretches = (1..).zip(ages.iter().copied().zip(ends));
    let own = stretches.filter(|&(_, (from, _))| from <= age);
    let seconds = own.map(|(jobs, (from, to))| (from.0 - to.0).as_secs_f64() / f64::from(jobs));
    Span::from_secs_f64(seconds.sum::<f64>() * mips)
}

/// Problems of the start state of a grid, in the order of the list.
pub fn grid_state_problems(jobs: &[GridInitialJob], grid: &Grid) -> Vec<StateProblem> {
    let mut problems = Vec::new();
    let mut numbers: BTreeMap<i64, usize> = BTreeMap::new();
    let mut running: BTreeMap<&str, u32> = BTreeMap::new();
    for (place, job) in jobs.iter().enumerate() {
        let number = grid_initial_number(place, job);
        let mut problem = |key, message: String, label, help: &str| {
            let help = help.to_owned();
            problems.push(StateProblem { job: place, key, message, label, help });
        };
        if let Some(first) = numbers.insert(number, place) {
            let key = if job.number.is_some() { "number" } else { "" };
            let message = format!("job {number} is listed twice, also as entry {}", first + 1);
            problem(key, message, "again", "give each job another `number`, or none");
        }
        if job.run.is_none() && grid.initial_run.is_none() {
            let message = format!("job {number} has no run time, and no law gives one");
            let help = "add `run` to the job, or `initial-run` to the grid";
            problem("", message, "no run time", help);
        }
        match (job.started_ago, &job.resource) {
            (None, None) => {}
            (Some(_), None) => {
                let message = format!("job {number} has started, and its resource is missing");
                problem("", message, "where?", "add `resource`, or remove `started-ago`");
            }
            (None, Some(_)) => {
                let message = format!("job {number} waits, and its scheduler chooses its resource");
                problem("resource", message, "not used", "remove it, or add `started-ago`");
            }
            (Some(started), Some(name)) => {
                let Some((site, _)) = grid.resource(name.as_str()) else {
                    let message = format!("the grid has no resource \"{name}\"");
                    let help =
                        "resources are called SITE-1, SITE-2, ... up to `resources` of their site";
                    problem("resource", message, "unknown", help);
                    continue;
                };
                let used = running.entry(name.as_str()).or_default();
                *used += 1;
                if let Some((key, message, help)) = grid_running_problem(job, started, site, *used)
                {
                    problem(key, format!("job {number} {message}"), "impossible", help);
                } else if let Some(mips) = site.fixed_mips()
                    && let Some(run) = job.run
                    && run.0 <= done_before_start(jobs, job, mips)
                {
                    let message = format!(
                        "job {number} has run for {started}, and has done all of its work, {run} at 1 MIPS, in that time"
                    );
                    let help = "write a longer time, or remove the job: it is over";
                    problem("run", message, "impossible", help);
                }
            }
        }
    }
    problems
}

/// The key, the problem and the remedy of a job that cannot be running on a resource at time zero, as the `used`-th one.
fn grid_running_problem(
    job: &GridInitialJob,
    started: TimeSpan,
    site: &Site,
    used: u32,
) -> Option<(&'static str, String, &'static str)> {
    if let Some(submitted) = job.submitted_ago.filter(|&it| it < started) {
        let message = format!("was submitted {submitted} ago and started before, {started} ago");
        return Some(("submitted-ago", message, "write at least the time of `started-ago`"));
    }
    if started == TimeSpan::ZERO {
        let message = "would start at time zero, and not before".to_owned();
        let help =
            "remove `started-ago` and `resource`: the job waits, and its scheduler may start it";
        return Some(("started-ago", message, help));
    }
    if site.sharing == Sharing::Reserved {
        let message = format!(
            "runs at site \"{}\", whose jobs reserve shares, and jobs of a start state have none",
            site.name
        );
        return Some(("resource", message, "choose a resource with `sharing = \"equal\"`"));
    }
    let slots = site.slots()?;
    (used > slots).then(|| {
        let message = format!("is number {used} on its resource, which has {slots} slots");
        ("resource", message, "choose another resource, or remove `started-ago` and `resource`")
    })
}
