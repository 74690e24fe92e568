//! `inputs` against the jobs that need them, and those that produced them.

use std::collections::BTreeMap;

use super::Books;
use super::findings::Findings;
use super::rows::{Job, micros};

pub(super) fn check(books: &Books, findings: &mut Findings) {
    let rows = &books.rows;
    let by_number: BTreeMap<i64, &Job> = rows.jobs.iter().map(|job| (job.job, job)).collect();
    let key = |job: &Job, task| Some((job.workload.clone(), job.workflow?, task));
    let tasks = rows.jobs.iter().filter_map(|job| Some((key(job, job.task?)?, job)));
    let by_task: BTreeMap<(String, i64, i64), &Job> = tasks.collect();
    let mut moved: BTreeMap<(&str, i64), i64> = BTreeMap::new();
    for row in &rows.inputs {
        let what = || format!("job {}", row.job);
        let job = by_number.get(&row.job).filter(|job| job.task.is_some());
        findings.expect(job.is_some(), "each input is that of a task in `jobs`", what);
        let Some(job) = job else { continue };
        let (sent, arrived) =
            row.moved().map(|(sent, arrived)| (micros(sent), micros(arrived))).unzip();
        if row.moved().is_some() {
            let key = (job.workload.as_str(), job.workflow.unwrap_or_default());
            *moved.entry(key).or_default() += row.bytes;
        }
        // A job may be submitted at several places; the last one counts.
        let here = job.provider.as_deref().is_some_and(|provider| provider == row.to);
        let waited = job.started.is_none_or(|start| arrived.is_none_or(|there| there <= start));
        findings.expect(waited || !here, "no task starts before its inputs are there", what);
        let spans = sent.is_none_or(|sent| arrived.is_some_and(|there| sent <= there));
        findings.expect(spans, "no input arrives before it is sent", what);
        let Some(made_by) = row.made_by else { continue };
        let maker = key(job, made_by).and_then(|key| by_task.get(&key));
        let done = maker.filter(|maker| maker.outcome == "completed");
        findings.expect(done.is_some(), "an input of a task was made by a done task", what);
        let Some(maker) = done else { continue };
        let from = maker.provider.as_deref() == Some(row.from.as_str());
        findings.expect(from, "an input comes from the provider that made it", what);
        let before = maker.finished <= sent.or(job.started).or(Some(job.left));
        findings.expect(before, "no input is sent before it is made", what);
    }
    for row in &rows.workflows {
        // No table has the inputs of a grid by task.
        if !books.on_grid.contains(&row.workload) {
            let key = (row.workload.as_str(), row.workflow);
            let bytes = moved.get(&key).copied().unwrap_or(0);
            let rule = "`workflows` has the bytes of `inputs`";
            let what = format_args!("workflow {} of {}", row.workflow, row.workload);
            findings.equal(rule, what, row.data, bytes);
        }
    }
    let told = books.summary.workflows.map_or(0, |it| it.data as i64);
    let sum = moved.values().sum::<i64>();
    findings.equal("the summary has the bytes of `inputs`", "workflows.data", told, sum);
}
