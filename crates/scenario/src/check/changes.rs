//! Checks of `[[change]]`: instants, jobs, failures and policies.

use std::collections::BTreeSet;
use std::ops::Range;

use haggle_model::Demand;

use super::dependencies::{Mistake, follows, mistakes};
use crate::file::{Change, Maintenance, Metascheduler, OnFailure, Provider, Workload};
use crate::quantity::{Name, TimeSpan};
use crate::resolve::copies;
use crate::{Directory, Problem, Scenario};

/// Problems of a change from one scenario to a later one, both valid by themselves. `past` is the change before it, and
/// `place` gives the place of a key of the change.
pub(crate) fn changes_fit(
    (before, later): (&Scenario, &Scenario),
    (past, change): (Option<&Change>, &Change),
    place: impl Fn(&str) -> Range<usize>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut report = |path: &str, message: String, label: &str, help: &str| {
        problems.push(Problem {
            message,
            span: place(path),
            label: label.into(),
            help: Some(help.into()),
        });
    };
    let at = change.at;
    if at == TimeSpan::ZERO {
        let help = "write these settings into the scenario itself";
        report("at", "a change at the start is no change".into(), "the start", help);
    }
    if past.is_some_and(|past| past.at >= at) {
        let help = "write changes in order of their instants, each at an instant of its own";
        report("at", "the change before it is not earlier".into(), "too early", help);
    }
    if before.scenario.horizon.is_some_and(|horizon| horizon <= at) {
        let help = "write an earlier instant, or a later `horizon`";
        report("at", "the run is over then".into(), "behind the horizon", help);
    }
    for (key, time) in [("horizon", later.scenario.horizon), ("until", later.scenario.until)] {
        let is_new = match key {
            "horizon" => time != before.scenario.horizon,
            _ => time != before.scenario.until,
        };
        if is_new && time.is_some_and(|time| time < at) {
            let message = format!("`scenario.{key}` would be before the change");
            report("set", message, "too early", "write a time behind the instant of the change");
        }
    }
    for (old, new) in before.providers.iter().zip(&later.providers) {
        let resumes = new.on_failure == Some(OnFailure::Resume);
        if old.overrun != new.overrun && (resumes || takes_parts(new, later)) {
            let reason = match resumes {
                true => "its jobs go on from checkpoints that they wrote by it",
                false => "parts of co-allocated jobs depend on it",
            };
            let message = format!("`overrun` of provider \"{}\" cannot change: {reason}", new.name);
            report("set", message, "fixed", "set it for the whole run");
        }
    }
    // A metascheduler without a protocol agrees in another way if its providers may fail.
    let agrees = |it: &Metascheduler| it.coallocation.is_some() && it.transaction().is_none();
    if let Some(by) = later.metaschedulers.iter().find(|it| agrees(it))
        && !change.failures.is_empty()
        && before.failures.is_empty()
    {
        let message =
            format!("metascheduler \"{}\" must know from the start that providers fail", by.name);
        let help = "write failures into the scenario itself, such as an outage at the instant";
        report("failures", message, "too late", help);
    }
    for (index, submitted) in change.submit.iter().enumerate() {
        let user = &submitted.user;
        if later.users.iter().all(|it| it.name != *user) {
            let message = format!("no user is called \"{user}\"");
            report(
                &format!("submit.{index}.user"),
                message,
                "no such user",
                "name a user of the scenario",
            );
        }
        for (number, job) in submitted.jobs.iter().enumerate() {
            if job.submit < at {
                let path = format!("submit.{index}.jobs.{number}.submit");
                let message = format!("a job is submitted at {}, before the change", job.submit);
                report(&path, message, "too early", "times count from the start of the run");
            }
            let Some(wishes) = job.wishes() else { continue };
            let path = format!("submit.{index}.jobs.{number}");
            if let Err(error) = Demand::new(job.processors, wishes) {
                let help = "write a number of nodes that divides processors and gpus, or remove it";
                report(&path, error.to_string(), "no equal parts", help);
            }
            let counts = |it: &Provider| !it.nodes.is_empty() && !before.places_on_nodes(it);
            if before.providers.iter().any(counts) {
                let message = "a job asks for more than processors, and no workload does: until then, providers \
                               count processors only"
                    .to_owned();
                let help = "let a job of a workload ask for more than processors, too";
                report(&path, message, "too late", help);
            }
        }
        for Mistake { job, at, message, label, help } in mistakes(&submitted.jobs) {
            let entry = at.1.map_or(String::new(), |entry| format!(".{entry}"));
            let path = format!("submit.{index}.jobs.{job}.{}{entry}", at.0);
            report(&path, message, label, help);
        }
    }
    for (index, failures) in change.failures.iter().enumerate() {
        if failures.actors.is_some() {
            let help = "write the crashes into the scenario itself";
            let message = "crashes of actors cannot change while a run goes on".to_owned();
            report(&format!("failures.{index}.actors"), message, "crashes", help);
        }
        let outages = failures.outages.iter().flatten();
        for (number, outage) in outages.enumerate() {
            if outage.first().is_some_and(|from| *from < at) {
                let path = format!("failures.{index}.outages.{number}");
                let message =
                    "an outage begins before the change, so it would not happen".to_owned();
                report(&path, message, "too early", "times count from the start of the run");
            }
        }
    }
    let with_followers = |all: Vec<Workload>| match all.iter().any(follows) {
        true => all,
        false => Vec::new(),
    };
    if changes_sources(before, later, &with_followers) {
        let message = "jobs that follow others cannot change: their users know them from the start";
        let help = "set it for the whole run";
        report("set", message.to_owned(), "fixed", help);
    }
    if brings_workflows(before, later) {
        let message = "workflows cannot change: users keep their tasks from the start".to_owned();
        report("set", message, "fixed", "change workloads without workflows");
    }
    if change.seed.is_some() && before.workloads.iter().any(|it| it.workflows.is_some()) {
        let message =
            "the seed cannot change: users keep the workflows that were drawn by it".to_owned();
        report("seed", message, "fixed", "remove it; other changes are possible");
    }
    let windows = (before.directory().asked_for_windows(), later.directory().asked_for_windows());
    for (old, new) in before.providers.iter().zip(&later.providers) {
        let has =
            |asked: &BTreeSet<&str>| names(new).iter().any(|name| asked.contains(name.as_str()));
        let asked = (has(&windows.0), has(&windows.1));
        if asked.0 != asked.1 {
            let message =
                format!("jobs of provider \"{}\" begin or cease to be reserved", new.name);
            let help = "let some jobs be reserved from the start";
            report("set", message, "another queue", help);
        } else if let Some(reason) = keeps_queue(old, new, (later, asked.1)) {
            let message =
                format!("the policy of provider \"{}\" cannot change: {reason}", new.name);
            let help = "policies \"fcfs\", \"easy\", \"conservative\" and \"recorded\" may follow each other, at a provider without \
                        nodes, queues, QOS, accounts and priorities";
            report("set", message, "this policy", help);
        }
    }
    problems
}

/// Reason why a provider cannot take over another queue, if it would have to. `has_windows` is true if jobs are reserved
/// there.
fn keeps_queue(
    old: &Provider,
    new: &Provider,
    (later, has_windows): (&Scenario, bool),
) -> Option<&'static str> {
    let queue = |it: &Provider| later.scheduling_of(it).ok();
    let (was, is) = (queue(old)?, queue(new)?);
    if was == is {
        return None;
    }
    if was.nodes().is_some() || is.nodes().is_some() {
        return Some("running jobs have places on its nodes");
    }
    if old.has_rules() || new.has_rules() {
        return Some("its queue has limits or priorities, which no other queue takes over");
    }
    if old.policy.plans_partly() || new.policy.plans_partly() {
        return Some("`depth` and `window` of \"conservative\" hold for a whole run");
    }
    if !(was.has_only_jobs() && is.has_only_jobs()) {
        return Some("one of the two queues holds more than rigid jobs");
    }
    if takes_parts(new, later) {
        return Some("parts of co-allocated jobs are on its plan");
    }
    if has_windows {
        return Some("windows of reservations are on its plan");
    }
    let closes = |it: &Maintenance| is_meant(new, &it.of);
    if later.maintenance.iter().any(closes) {
        return Some("windows of maintenance are on its plan");
    }
    None
}

/// True if the workload of a user, or one of its sources, is another one and has workflows.
fn brings_workflows(before: &Scenario, later: &Scenario) -> bool {
    let flows = |all: Vec<Workload>| all.into_iter().filter(|it| it.workflows.is_some()).collect();
    changes_sources(before, later, &flows)
}

/// True if users get jobs from other workloads, of those that `pick` chooses among all sources of a user.
fn changes_sources(
    before: &Scenario,
    later: &Scenario,
    pick: &dyn Fn(Vec<Workload>) -> Vec<Workload>,
) -> bool {
    let (old, new) = (before.directory(), later.directory());
    before.users.iter().zip(&later.users).any(|(was, is)| {
        let found = |directory: &Directory<'_>, scenario: &Scenario, workload: &Name| {
            let sources = directory.sources(workload.as_str()).into_iter();
            pick(sources.map(|place| scenario.workloads[place].clone()).collect())
        };
        found(&old, before, &was.workload) != found(&new, later, &is.workload)
    })
}

/// Names by which a scenario may mean a provider, or one of its copies.
fn names(provider: &Provider) -> Vec<String> {
    let mut names = copies(provider);
    names.push(provider.name.to_string());
    names
}

/// True if a list of providers has this one or one of its copies; an empty list has all.
fn is_meant(provider: &Provider, list: &[Name]) -> bool {
    let names = names(provider);
    list.is_empty() || list.iter().any(|it| names.iter().any(|name| name == it.as_str()))
}

/// True if a metascheduler spreads jobs over a provider.
fn takes_parts(provider: &Provider, scenario: &Scenario) -> bool {
    let spreads = |it: &Metascheduler| it.takes_parts() && is_meant(provider, &it.providers);
    scenario.metaschedulers.iter().any(spreads)
}
