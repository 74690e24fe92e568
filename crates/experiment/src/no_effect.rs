//! Findings that only a run shows: settings without effect, and causes of endless waits.

use haggle_model::Time;
use haggle_results::Summary;
use haggle_scenario::file::Maintenance;
use haggle_workloads::{SharedReport, WatchedStep};

/// Below this availability, the failures are probably a mistake of the scenario.
const HARDLY_UP: f64 = 0.05;

/// Windows of maintenance by the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Windows {
    /// The scenario has none.
    None,
    /// None was announced.
    Unannounced,
    /// Some were announced, so that queues planned around them.
    Announced,
}

impl Windows {
    /// The state of the windows of `tables` at the time `end`.
    pub(super) fn by(end: Time, tables: &[Maintenance]) -> Windows {
        let first = tables.iter().map(|it| Time::ZERO + it.first_announced()).min();
        match first {
            None => Windows::None,
            Some(first) if first > end => Windows::Unannounced,
            Some(_) => Windows::Announced,
        }
    }
}

/// Warnings about steps that changed no job, unread fields of logs, failures of nothing or of
/// almost everything, and maintenance after the end of the run. Full storage and deadlocks with
/// jobs that still wait are reported too.
pub(super) fn without_effect(
    steps: &[WatchedStep],
    reports: &[(String, SharedReport)],
    summary: &Summary,
    fails: bool,
    maintenance: Windows,
) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut say = |text: String| {
        // A workload of two users is read twice.
        if !texts.contains(&text) {
            texts.push(text);
        }
    };
    steps_without_effect(steps).for_each(&mut say);
    steps.iter().filter_map(preceding_not_found).for_each(&mut say);
    for (workload, report) in reports {
        let follows = |it: &WatchedStep| it.word == "dependencies" && it.workload == *workload;
        if let jobs @ 1.. = report.snapshot().dependent
            && !steps.iter().any(follows)
        {
            let (name, they, arrive) = match jobs {
                1 => ("job names", "it", "arrives"),
                _ => ("jobs name", "they", "arrive"),
            };
            say(format!(
                "workload \"{workload}\": {jobs} {name} a preceding job (field 17 of the log), which is not \
                 read: {they} {arrive} when {they} did in the log, unless a step \"dependencies\" reads it"
            ));
        }
        if let lines @ 1.. = report.snapshot().wider {
            say(format!(
                "workload \"{workload}\": lines of the log have more than 18 columns ({lines} of them): the \
                 columns behind the 18th are not read"
            ));
        }
    }
    availability(summary).filter(|_| fails).into_iter().for_each(&mut say);
    match maintenance {
        // Windows that began are in the summary, so they had an effect.
        _ if summary.maintenance.is_some() => {}
        Windows::None => {}
        Windows::Announced => say(
            "no window of maintenance began: the run was over before. Windows that were announced may still have \
             kept jobs from starting"
                .to_owned(),
        ),
        Windows::Unannounced => {
            say("maintenance has no effect: the run was over before a window was announced".to_owned());
        }
    }
    let storage = summary.grid.as_ref().and_then(|grid| grid.storage);
    if let Some(jobs @ 1..) = storage.map(|it| it.stuck) {
        say(format!(
            "the storage was full for good: {jobs} jobs were computed, and their outputs waited for \
             room until the run was over; `kept` limits how long outputs stay"
        ));
    }
    if let Some(jobs @ 1..) = summary.following.map(|it| it.held) {
        let (held, it, its) = match jobs {
            1 => ("1 job was".to_owned(), "it follows", "its think time was"),
            _ => (format!("{jobs} jobs were"), "they follow", "think times were"),
        };
        say(format!(
            "{held} not submitted when the run stopped: jobs that {it} had not ended, or {its} not over"
        ));
    }
    let waiting = summary.all.outcomes.waiting;
    if let Some(it) = summary.transactions.as_ref().filter(|it| it.deadlocks > 0 && waiting > 0) {
        say(format!(
            "jobs held processors and waited for each other in circles (deadlocks: {}, the first at {:.3} s), \
             and {waiting} jobs still waited when the run stopped; `patience` of \
             [metascheduler.coallocation] ends such waits, other values of `order` prevent them",
            it.deadlocks,
            it.first_deadlock.unwrap_or_default(),
        ));
    }
    texts
}

/// Steps that changed none of their jobs.
pub fn steps_without_effect(steps: &[WatchedStep]) -> impl Iterator<Item = String> {
    steps.iter().filter(|step| step.effect.is_nothing()).map(|step| {
        let WatchedStep { workload, place, word, .. } = step;
        format!(
            "step {place} (\"{word}\") of workload \"{workload}\" has no effect: it changed none of \
             the jobs"
        )
    })
}

/// A warning about jobs of a log that name a preceding job which the workload does not have before them.
fn preceding_not_found(step: &WatchedStep) -> Option<String> {
    let WatchedStep { workload, place, word, effect } = step;
    let unfound = effect.unfound();
    let (name, follow) = match unfound.jobs {
        0 => return None,
        1 => ("1 job names".to_owned(), "follows"),
        jobs => (format!("{jobs} jobs name"), "follow"),
    };
    let listed = unfound.first.iter().map(|(job, preceding)| format!("{job} after {preceding}"));
    let more = if unfound.jobs > unfound.first.len() as u64 { ", ..." } else { "" };
    Some(format!(
        "step {place} (\"{word}\") of workload \"{workload}\": {name} a preceding job that the workload does not have \
         before it, and {follow} none (job {}{more})",
        listed.collect::<Vec<_>>().join(", ")
    ))
}

fn availability(summary: &Summary) -> Option<String> {
    let of_grid = summary.grid.as_ref().map(|grid| (grid.availability, grid.failures));
    let of_providers = summary.failures.as_ref().map(|it| (it.availability, it.outages));
    let known = of_grid.into_iter().chain(of_providers);
    let known =
        Vec::from_iter(known.filter_map(|(available, failures)| Some((available?, failures))));
    let available = known.iter().map(|&(available, _)| available).reduce(f64::min)?;
    // A failure in the last instant of a run causes no downtime, but may have ended the run.
    if known.iter().all(|&(available, failures)| available >= 1.0 && failures == 0) {
        return Some("failures have no effect: no node was down in the time of the run".to_owned());
    }
    (available < HARDLY_UP).then(|| {
        format!(
            "failures leave little to run on: {:.2} % of the time, all nodes together, were up",
            100.0 * available
        )
    })
}
