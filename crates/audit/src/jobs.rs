//! The table `jobs` by itself.

use std::collections::BTreeSet;

use super::Books;
use super::findings::{Findings, is_same};
use super::rows::Job;

pub(super) fn check(books: &Books, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    // A job with a window may be granted another one beside it.
    let granted: BTreeSet<i64> = books.rows.reservations.iter().map(|it| it.job).collect();
    for job in &books.rows.jobs {
        let ready = job.ready.filter(|_| !granted.contains(&job.job)).zip(job.started);
        let waits = ready.is_none_or(|(ready, started)| ready <= started);
        findings.expect(waits, "no job starts before it is ready", || {
            format!("{}: {ready:?} us", named(job))
        });
        findings.expect(seen.insert(job.job), "each job is in `jobs` once", || named(job));
        times(job, books.is_on_grid(job), findings);
        spans(job, findings);
    }
    order(books, findings);
}

/// Jobs are in order of their ends. A bag stands where its metascheduler learned of its end. A job
/// of a grid stands where its last attempt was cancelled, which may be in the round after it left.
fn order(books: &Books, findings: &mut Findings) {
    let mut next = i64::MAX;
    // From the end, because a bag or a job of a grid may stand after its end, but never before it.
    for job in books.rows.jobs.iter().rev() {
        findings.expect(job.left <= next, "`jobs` is in order of left_time", || {
            format!("{} left at {} us, before one that left at {next} us", named(job), job.left)
        });
        if !(job.is_bag || books.is_on_grid(job) && job.attempts > 1) {
            next = job.left;
        }
    }
}

/// Submitted, queued, started, left. A job of a grid may have started before its last attempt was
/// queued; so may a bag of which a part was placed again.
fn times(job: &Job, is_grid: bool, findings: &mut Findings) {
    let course: Vec<i64> = match is_grid || job.is_bag {
        false => [Some(job.submitted), job.queued, job.started, Some(job.left)],
        // Without the time of queueing, which may be that of a later attempt.
        true => [Some(job.submitted), job.started, None, Some(job.left)],
    }
    .into_iter()
    .flatten()
    .collect();
    findings.expect(course.is_sorted(), "submitted <= queued <= started <= left", || {
        format!("{}: {course:?}", named(job))
    });
    let queued = job.queued.is_none_or(|queued| job.submitted <= queued && queued <= job.left);
    findings.expect(queued, "submitted <= queued <= left", || named(job));
    findings.expect(
        job.finished.is_none_or(|finished| finished == job.left),
        "a finished job left at its end",
        || named(job),
    );
}

/// Checks the spans that follow from the times.
fn spans(job: &Job, findings: &mut Findings) {
    let name = named(job);
    let ended = job.started.filter(|_| job.outcome != "unfinished");
    let turnaround = ended.map(|_| job.left - job.submitted);
    let holds = match (job.turnaround, turnaround) {
        (Some(told), Some(derived)) => is_same(told, derived, job.left),
        (told, derived) => told == derived,
    };
    findings.expect(holds, "turnaround = finish - submission", || {
        format!("{name}: {:?} and {turnaround:?}", job.turnaround)
    });
    if let (Some(waited), Some(ran)) = (job.waited, job.ran) {
        let whole = job.left - job.submitted;
        findings.expect(
            is_same(waited + ran, whole, job.left),
            "waiting + execution = turnaround",
            || format!("{name}: {waited} + {ran} us and {whole} us"),
        );
    }
    let waits = job.waited.is_some() == job.started.is_some();
    findings.expect(waits, "a started job has a waiting time", || name.clone());
    let negative = job.waited.is_some_and(|it| it < 0) || job.ran.is_some_and(|it| it < 0);
    findings.expect(!negative, "no time is negative", || name);
}

/// Name of a job in cases.
pub(super) fn named(job: &Job) -> String {
    format!("job {}", job.job)
}
