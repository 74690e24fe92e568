//! `workflows` against the jobs and attempts of their tasks, and the summary.

use std::collections::BTreeMap;

use haggle_model::AttemptOutcome;
use haggle_results::reader::WorkflowRow;

use super::Books;
use super::findings::Findings;
use super::rows::{Attempt, Job, Micros, micros};

/// Rows of the other tables about a workflow.
#[derive(Default)]
struct Tasks<'a> {
    jobs: Vec<&'a Job>,
    attempts: Vec<&'a Attempt>,
}

pub(super) fn check(books: &Books, findings: &mut Findings) {
    let rows = &books.rows;
    let mut flows: BTreeMap<(&str, i64), Tasks<'_>> = BTreeMap::new();
    let mut of_job: BTreeMap<i64, (&str, i64)> = BTreeMap::new();
    for job in &rows.jobs {
        let Some(workflow) = job.workflow else { continue };
        let key = (job.workload.as_str(), workflow);
        flows.entry(key).or_default().jobs.push(job);
        of_job.insert(job.job, key);
    }
    for attempt in rows.attempts.iter().filter(|it| !it.is_given_up()) {
        if let Some(key) = of_job.get(&attempt.job) {
            flows.entry(*key).or_default().attempts.push(attempt);
        }
    }
    let found = flows.len();
    findings.equal("each workflow has a row", "workflows", rows.workflows.len(), found);
    for row in &rows.workflows {
        // The rule about the number of rows has found workflows that are left over.
        match flows.remove(&(row.workload.as_str(), row.workflow)) {
            Some(tasks) => each(row, &tasks, findings),
            None => findings.expect(false, "each workflow has tasks in `jobs`", || place(row)),
        }
    }
    sums(books, findings);
}

fn place(row: &WorkflowRow) -> String {
    format!("workflow {} of {}", row.workflow, row.workload)
}

fn each(row: &WorkflowRow, tasks: &Tasks<'_>, findings: &mut Findings) {
    let Tasks { jobs, attempts } = tasks;
    let ended = |outcome| attempts.iter().filter(|it| it.outcome == outcome).count() as i64;
    let done = jobs.iter().filter(|job| job.outcome == "completed").count() as i64;
    let rule = "`workflows` counts tasks and their attempts";
    for (what, told, found) in [
        ("tasks", row.tasks, jobs.len() as i64),
        ("tasks_done", row.tasks_done, done),
        ("complete", i64::from(row.complete), i64::from(done == row.tasks)),
        ("attempts", row.attempts, attempts.len() as i64),
        ("moves", row.moves, ended(AttemptOutcome::Moved)),
        ("failures", row.failures, ended(AttemptOutcome::Failed)),
    ] {
        findings.equal(rule, format_args!("{}: {what}", place(row)), told, found);
    }
    let (submit, start) = (micros(row.submit), row.start.map(micros));
    let end = row.end.map(micros);
    let together = jobs.iter().all(|job| job.submitted == submit);
    findings.expect(together, "the tasks of a workflow are submitted together", || place(row));
    // On a grid it begins when it is sent to a resource, at a provider when it starts.
    let began = |it: &&Attempt| it.slot.as_ref().map(|slot| slot.got).or(it.started);
    let first = attempts.iter().filter_map(began).min();
    findings.expect(start == first, "a workflow starts with the first attempt", || place(row));
    let last = jobs.iter().filter_map(|job| job.finished).max().filter(|_| row.complete);
    findings.expect(end == last, "a workflow ends with its last task", || place(row));
    let since = |from: Option<Micros>| Some(end? - from?);
    let spans = [(row.makespan, since(start)), (row.turnaround, since(Some(submit)))];
    let same = spans.into_iter().all(|(told, found)| told.map(micros) == found);
    findings.expect(same, "spans of a workflow agree with its times", || place(row));
    // A path's tasks follow one another; the time of each is rounded up.
    let bounded = row.schedule_length_ratio.is_none_or(|ratio| ratio >= 1.0 - 1e-9);
    findings.expect(bounded, "no makespan is below the bound of its critical path", || {
        format!("{}: {:?}", place(row), row.schedule_length_ratio)
    });
}

/// Figures of the summary about workflows, of a grid or of providers.
struct Sums {
    workflows: u64,
    done: u64,
    makespan: Option<f64>,
    schedule_length_ratio: Option<f64>,
    turnaround_time: Option<f64>,
}

fn sums(books: &Books, findings: &mut Findings) {
    let of_grid = books.summary.grid.as_ref().and_then(|grid| grid.workflows).map(|it| Sums {
        workflows: it.workflows,
        done: it.done,
        makespan: it.makespan,
        schedule_length_ratio: it.schedule_length_ratio,
        turnaround_time: it.turnaround_time,
    });
    let of_providers = books.summary.workflows.map(|it| Sums {
        workflows: it.workflows,
        done: it.done,
        makespan: it.makespan,
        schedule_length_ratio: it.schedule_length_ratio,
        turnaround_time: it.turnaround_time,
    });
    let rows = books.rows.workflows.iter();
    let (on_grid, others): (Vec<_>, Vec<_>) =
        rows.partition(|row| books.on_grid.contains(&row.workload));
    for (rows, told) in [(on_grid, of_grid), (others, of_providers)] {
        match told {
            Some(told) => each_sum(&rows, &told, findings),
            None => {
                findings.expect(rows.is_empty(), "the summary counts workflows", String::new);
            }
        }
    }
}

fn each_sum(rows: &[&WorkflowRow], summary: &Sums, findings: &mut Findings) {
    let done = rows.iter().filter(|row| row.complete).count();
    let counts = [("workflows", rows.len(), summary.workflows), ("done", done, summary.done)];
    for (what, told, counted) in counts {
        findings.equal("the summary counts workflows", what, told as u64, counted);
    }
    let mean = |value: fn(&WorkflowRow) -> Option<f64>| {
        let values = Vec::from_iter(rows.iter().copied().filter_map(value));
        let count = values.len() as f64;
        (count > 0.0).then(|| values.iter().sum::<f64>() / count)
    };
    let rule = "the summary has the means of workflows";
    findings.close(rule, "makespan", mean(|row| row.makespan), summary.makespan);
    let ratio = mean(|row| row.schedule_length_ratio);
    findings.close(rule, "schedule_length_ratio", ratio, summary.schedule_length_ratio);
    findings.close(rule, "turnaround_time", mean(|row| row.turnaround), summary.turnaround_time);
}
