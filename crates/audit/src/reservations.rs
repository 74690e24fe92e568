//! `reservations` and `displacements` against `jobs`, the failures, and the summary.

use std::collections::{BTreeMap, BTreeSet};

use super::Books;
use super::findings::Findings;
use super::rows::{Attempt, Displacement, Job, Micros, Reservation};

pub(super) fn check(books: &Books, findings: &mut Findings) {
    let jobs: BTreeMap<i64, &Job> = books.rows.jobs.iter().map(|it| (it.job, it)).collect();
    let mut displaced: BTreeMap<i64, Vec<&Displacement>> = BTreeMap::new();
    for it in &books.rows.displacements {
        displaced.entry(it.job).or_default().push(it);
    }
    let mut attempts: BTreeMap<i64, Vec<&Attempt>> = BTreeMap::new();
    for it in &books.rows.attempts {
        attempts.entry(it.job).or_default().push(it);
    }
    for it in &books.rows.reservations {
        let Some(job) = jobs.get(&it.job) else {
            let place = || format!("job {}", it.job);
            findings.expect(false, "a granted reservation is in `jobs`", place);
            continue;
        };
        // Taken out, so that rows without a reservation are left over for the rule below.
        let mine = displaced.remove(&it.job).unwrap_or_default();
        let ran = attempts.get(&it.job).map_or(&[][..], Vec::as_slice);
        kept_or_answered(it, job, &mine, findings);
        ends_in_time(it, job, ran, findings);
        // The last displacement counts: a reservation may shrink.
        let granted = mine.last().map_or(it.processors, |it| it.processors);
        let held = ran.last().map(|it| it.width).filter(|_| job.started.is_some());
        let rule = "a reservation runs on as many processors as it was granted last";
        let place = || format!("job {}", it.job);
        findings.expect(held.is_none_or(|held| held == granted), rule, place);
    }
    for job in displaced.into_keys() {
        let place = || format!("job {job}");
        findings.expect(false, "a reservation that loses its place was granted", place);
    }
    causes(books, findings);
    sums(books, findings);
}

/// Every broken window has an answer.
fn kept_or_answered(
    it: &Reservation,
    job: &Job,
    displaced: &[&Displacement],
    findings: &mut Findings,
) {
    let place = || format!("job {}", it.job);
    let last = displaced.last();
    let in_window = |start: Micros, span: Micros| {
        it.ready.is_none_or(|ready| ready <= start)
            && it.deadline.is_none_or(|deadline| start + span <= deadline)
    };
    let holds = in_window(it.planned, it.span);
    findings.expect(holds, "a granted reservation is planned in its window", place);
    // A shrunk reservation takes longer on fewer processors.
    let span = last.map_or(it.span, |it| it.span);
    let holds = it.broken || job.started.is_none_or(|start| in_window(start, span));
    findings.expect(holds, "a granted reservation starts in its window", place);
    let waits = ["cancelled", "unfinished"].contains(&job.outcome.as_str());
    let holds = it.broken || job.started.is_some() || waits;
    findings.expect(holds, "a granted reservation starts, unless a reason is recorded", place);
    // A job that failed while it ran has started again.
    let holds = it.broken
        || job.attempts > 1
        || it.fixed.zip(job.started).is_none_or(|(fixed, start)| fixed == start);
    findings.expect(holds, "a fixed reservation does not move", place);
    let is = |answer: &str| displaced.iter().any(|it| it.answer == answer);
    let holds = it.broken == (is("postponed") || is("revoked") || is("late"));
    let rule = "a broken reservation was postponed, revoked or late, and the reverse";
    findings.expect(holds, rule, place);
    let holds = is("revoked") == (job.outcome == "failed")
        // Nothing follows a revocation.
        && displaced.iter().rev().skip(1).all(|it| it.answer != "revoked");
    findings.expect(holds, "a revoked reservation is over, and a failed one was revoked", place);
    for it in displaced.iter().filter(|it| ["moved", "shrunk"].contains(&it.answer.as_str())) {
        let holds = it.planned.is_some_and(|start| in_window(start, it.span));
        findings.expect(holds, "a moved reservation was moved in its window", place);
    }
    let times = displaced.iter().map(|it| it.time);
    let times: Vec<Micros> = [it.granted].into_iter().chain(times).chain([job.left]).collect();
    findings.expect(times.is_sorted(), "places are lost after they were granted", place);
}

/// A reservation ends in its window, or is broken. A job that computes for longer than it requested
/// causes its own delay, if its provider lets it run on.
fn ends_in_time(it: &Reservation, job: &Job, ran: &[&Attempt], findings: &mut Findings) {
    let Some((last, before)) = ran.split_last() else { return };
    let Some((started, finished)) = last.started.zip(last.finished) else { return };
    let saved: Micros = before.iter().map(|it| it.saved).sum();
    // Only computing counts towards the limit, not the writing of checkpoints.
    let computed = finished - started - last.checkpointing + saved;
    let runs_on = job.limit.is_some_and(|limit| limit < computed);
    let is_over = ["completed", "walltime_reached"].contains(&job.outcome.as_str());
    let in_time = it.deadline.is_none_or(|deadline| finished <= deadline);
    let holds = !is_over || it.broken || runs_on || in_time;
    findings
        .expect(holds, "a granted reservation ends in its window", || format!("job {}", it.job));
}

/// The stated cause of a lost place is a failure, crash or window in the tables.
fn causes(books: &Books, findings: &mut Findings) {
    let rows = &books.rows;
    let failed = rows.failures.iter().filter(|it| it.event == "failed");
    let failed: BTreeSet<_> = failed.map(|it| (it.provider.as_str(), it.time)).collect();
    // A provider that was down learns of failures at its restart. Failures within a window become
    // known at its end.
    let back = rows.crashes.iter().filter_map(|it| Some((it.actor.as_str(), it.restarted?)));
    let back: BTreeSet<_> = back.collect();
    let windows = || rows.maintenance.iter().filter(|it| it.outcome != "refused");
    let opened: BTreeSet<_> = windows().map(|it| (it.provider.as_str(), it.finished)).collect();
    let announced: BTreeSet<_> = windows().map(|it| (it.provider.as_str(), it.announced)).collect();
    for it in &rows.displacements {
        let when = (it.provider.as_str(), it.time);
        let holds = match it.cause.as_str() {
            "failure" => failed.contains(&when) || back.contains(&when) || opened.contains(&when),
            "crash" => back.contains(&when),
            "maintenance" => announced.contains(&when),
            // Other causes are in no table.
            _ => true,
        };
        findings.expect(holds, "the cause of a lost place is in the tables", || {
            format!("job {} at {} us: {}", it.job, it.time, it.cause)
        });
    }
}

fn sums(books: &Books, findings: &mut Findings) {
    // Jobs outside the window of the summary still have rows.
    if books.summary.jobs_cut > 0 {
        return;
    }
    let rows = &books.rows.reservations;
    let count = |is: &dyn Fn(&Reservation) -> bool| rows.iter().filter(|it| is(it)).count() as u64;
    let answered = |answer: &str| {
        let mine = books.rows.displacements.iter().filter(|it| it.answer == answer);
        mine.map(|it| it.job).collect::<BTreeSet<_>>().len() as u64
    };
    let all = books.summary.all.reservations.as_ref();
    let sums = all.map_or([0; 7], |it| {
        [it.granted, it.beside, it.fixed, it.broken, it.moved, it.shrunk, it.revoked]
    });
    let counted = [
        ("granted", rows.len() as u64),
        ("beside", count(&|it| it.beside)),
        ("fixed", count(&|it| it.fixed.is_some())),
        ("broken", count(&|it| it.broken)),
        ("moved", answered("moved")),
        ("shrunk", answered("shrunk")),
        ("revoked", answered("revoked")),
    ];
    for ((name, counted), sum) in counted.into_iter().zip(sums) {
        let rule = "the summary counts all reservations";
        findings.equal(rule, name.to_owned(), counted, sum);
    }
}
