//! `summary.json` against values computed anew from the tables.

use std::collections::BTreeMap;

use haggle_results::metrics::Group;
use haggle_results::{Cut, Extent};

use super::Books;
use super::findings::Findings;
use super::rows::Job;

/// Up to here (some three centuries), a table distinguishes adjacent microseconds.
const TOLD_APART: i64 = 1 << 53;
const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

pub(super) fn check(books: &Books, findings: &mut Findings) {
    let summary = &books.summary;
    let jobs = &books.rows.jobs;
    let first = jobs.iter().map(|it| it.submitted.max(0)).min();
    // A job that never started has no completion.
    let last = jobs.iter().filter(|it| it.started.is_some()).map(|it| it.left).max();
    let makespan = last.zip(first).map(|(last, first)| (last - first) as f64 / SECOND);
    findings.close("makespan = last end - first submission", "", summary.makespan, makespan);
    let busy = books.rows.resources.iter().map(|it| it.busy).sum();
    let rule = "time_computing is the sum of busy_time";
    findings.close(rule, "", Some(summary.time_computing), Some(busy));
    if let Some(failures) = &summary.failures {
        let held: i128 = books.rows.placements.iter().map(|it| it.area()).sum();
        let held = held as f64 / SECOND;
        let rule = "failures.work is all time for which processors were held";
        findings.close(rule, "", Some(failures.work), Some(held));
    }
    resources(books, findings);
    following(books, findings);
    let kept = kept(jobs, summary.cut);
    let cut = (jobs.len() - kept.len()) as u64;
    findings.equal(
        "the cut leaves out as many jobs as the summary says",
        "",
        cut,
        summary.jobs_cut,
    );
    let told = jobs.iter().filter(|it| it.counted).count();
    let right = told == kept.len() && kept.iter().all(|it| it.counted);
    findings.expect(right, "`counted` marks the jobs that the cut leaves", || {
        format!("{told} counted, {} left", kept.len())
    });
    group(&summary.all, &kept, findings);
    for class in &summary.classes {
        let mine: Vec<&Job> = kept.iter().copied().filter(|it| it.class == class.name).collect();
        group(class, &mine, findings);
    }
    for workload in &summary.workloads {
        let mine: Vec<&Job> =
            kept.iter().copied().filter(|it| it.workload == workload.name).collect();
        group(workload, &mine, findings);
    }
}

/// Jobs that follow others. A job that its user held was never queued.
fn following(books: &Books, findings: &mut Findings) {
    let jobs = &books.rows.jobs;
    let told = books.summary.following.unwrap_or_default();
    let found = |is: fn(&Job) -> bool| jobs.iter().filter(|it| is(it)).count() as u64;
    let rule = "the summary counts jobs that follow others as `jobs` does";
    findings.equal(rule, "jobs", found(|it| it.follows), told.jobs);
    findings.equal(rule, "held jobs", found(|it| it.is_held), told.held);
    for job in jobs.iter().filter(|it| it.is_held) {
        let right = job.follows && job.outcome == "unfinished" && job.queued.is_none();
        let rule = "a held job follows another one, and was not submitted";
        findings.expect(right, rule, || format!("job {}", job.job));
    }
}

/// Processors are numbered without gaps.
fn resources(books: &Books, findings: &mut Findings) {
    let mut next = 0;
    for it in &books.rows.resources {
        let holds = it.first == next && it.last + 1 - it.first == it.processors;
        findings.expect(holds, "processors are numbered without gaps", || it.provider.clone());
        next = it.last + 1;
    }
    let rule = "nb_computing_machines counts the processors of `resources`";
    findings.equal(rule, "", books.summary.nb_computing_machines, next.unsigned_abs());
}

/// The jobs that remain after warm-up and cool-down, in order of submission.
fn kept(jobs: &[Job], cut: Cut) -> Vec<&Job> {
    let mut ordered: Vec<&Job> = jobs.iter().filter(|it| !it.is_initial).collect();
    // Stable: jobs of one instant stay in the order of the table.
    ordered.sort_by_key(|it| it.submitted);
    let (Some(first), Some(last)) = (ordered.first(), ordered.last()) else { return ordered };
    let count = ordered.len();
    // Rounded down, as the summary does.
    let number = |share: f64| ((share * count as f64) as usize).min(count);
    let from = match cut.warm_up {
        Extent::Nothing => 0,
        Extent::Seconds(seconds) => {
            let begin = first.submitted.saturating_add((seconds * SECOND) as i64);
            ordered.partition_point(|it| it.submitted < begin)
        }
        Extent::Share(share) => number(share),
    };
    let to = match cut.cool_down {
        Extent::Nothing => count,
        Extent::Seconds(seconds) => {
            let end = last.submitted.saturating_sub((seconds * SECOND) as i64);
            ordered.partition_point(|it| it.submitted <= end)
        }
        Extent::Share(share) => count - number(share),
    };
    // Empty if warm-up and cool-down overlap.
    ordered.get(from..to).unwrap_or(&[]).to_vec()
}

/// Starts of a group of jobs beside those of their logs.
fn recorded(group: &Group, jobs: &[&Job], findings: &mut Findings) {
    let starts = jobs.iter().filter_map(|it| it.started.zip(it.recorded));
    let delays = Vec::from_iter(starts.map(|(start, recorded)| (start - recorded).max(0)));
    let later = delays.iter().filter(|&&delay| delay > 0).count() as u64;
    let told = group.recorded.as_deref().copied().unwrap_or_default();
    let counts = [("jobs", delays.len() as u64, told.jobs), ("later jobs", later, told.later_jobs)];
    for (what, found, count) in counts {
        let rule = "the summary counts recorded starts as `jobs` does";
        findings.equal(rule, format!("{}: {what}", group.name), found, count);
    }
}

/// Waiting times of a group of jobs beside those of their logs.
fn as_recorded(group: &Group, jobs: &[&Job], findings: &mut Findings) {
    let done = jobs.iter().filter(|it| it.is_done());
    let waits = Vec::from_iter(done.filter_map(|it| it.waited.zip(it.recorded_wait)));
    let told = group.as_recorded.as_deref();
    let rule = "the summary counts recorded waiting times as `jobs` does";
    findings.equal(rule, &group.name, waits.len() as u64, told.map_or(0, |it| it.jobs));
    let sum: i128 = waits.iter().map(|(waited, recorded)| i128::from(waited - recorded)).sum();
    let mean = told.map(|_| sum as f64 / waits.len() as f64 / SECOND);
    let rule = "`as_recorded.mean_difference` is that of `jobs`";
    findings.close(rule, &group.name, mean, told.map(|it| it.mean_difference));
}

/// Counts and means of a group of jobs.
fn group(group: &Group, jobs: &[&Job], findings: &mut Findings) {
    let name = &group.name;
    let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
    for it in jobs {
        *outcomes.entry(it.outcome.as_str()).or_default() += 1;
    }
    let counted = &group.outcomes;
    let counts = [
        ("completed", counted.completed),
        ("walltime_reached", counted.walltime_reached),
        ("cancelled", counted.cancelled),
        ("failed", counted.failed),
        ("rejected", counted.rejected),
        ("unfinished", counted.running + counted.waiting),
    ];
    for (outcome, count) in counts {
        let found = outcomes.get(outcome).copied().unwrap_or(0);
        let rule = "the summary counts outcomes as `jobs` does";
        findings.equal(rule, format!("{name}: {outcome}"), found, count);
    }
    promises(group, jobs, findings);
    recorded(group, jobs, findings);
    as_recorded(group, jobs, findings);
    let of = |value: fn(&Job) -> Option<f64>| {
        // Failed and unfinished jobs are left out, as in the distributions of the summary.
        let values = jobs.iter().filter(|it| it.is_done() && it.started.is_some());
        let values: Vec<f64> = values.filter_map(|it| value(it)).collect();
        let count = values.len() as f64;
        (count > 0.0).then(|| values.iter().sum::<f64>() / count)
    };
    let rule = "means of the summary are those of `jobs`";
    let means = [
        ("waiting time", of(|it| it.waited.map(|it| it as f64 / SECOND)), group.waiting_time),
        ("turnaround", of(|it| it.turnaround.map(|it| it as f64 / SECOND)), group.turnaround_time),
        ("bounded slowdown", of(|it| it.bounded_slowdown), group.bounded_slowdown),
    ];
    for (what, found, told) in means {
        findings.close(rule, format!("{name}: {what}"), found, told.map(|it| it.mean));
    }
}

/// Promises to users, and those broken by completed jobs.
fn promises(group: &Group, jobs: &[&Job], findings: &mut Findings) {
    let promised = || jobs.iter().filter_map(|it| it.promised.map(|promised| (it, promised)));
    let rule = "the summary counts promises as `jobs` does";
    let count = promised().count() as u64;
    findings.equal(rule, group.name.as_str(), count, group.outcomes.promises);
    // Beyond that, a table cannot show which of two near instants is the later one.
    if promised().all(|(it, promised)| it.left.max(promised) < TOLD_APART) {
        let late = |it: &Job, promised| it.finished.is_some_and(|finished| finished > promised);
        let broken =
            promised().filter(|&(it, promised)| it.outcome == "completed" && late(it, promised));
        let rule = "a promise is broken if its job is completed later";
        let count = broken.count() as u64;
        findings.equal(rule, group.name.as_str(), count, group.outcomes.promises_broken);
    }
}
