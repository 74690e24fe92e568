//! `attempts` against `jobs`.

use std::collections::{BTreeMap, BTreeSet};

use super::Books;
use super::findings::{Findings, is_same};
use super::jobs::named;
use super::rows::{Attempt, Job};
use haggle_model::AttemptOutcome;

pub(super) fn check(books: &Books, findings: &mut Findings) {
    let mut by_job: BTreeMap<i64, Vec<&Attempt>> = BTreeMap::new();
    for attempt in &books.rows.attempts {
        by_job.entry(attempt.job).or_default().push(attempt);
    }
    let shrunk = books.rows.displacements.iter().filter(|it| it.answer == "shrunk");
    let shrunk: BTreeSet<i64> = shrunk.map(|it| it.job).collect();
    for job in &books.rows.jobs {
        let mine = by_job.remove(&job.job).unwrap_or_default();
        each(job, &mine, findings);
        let kept = Vec::from_iter(mine.into_iter().filter(|it| !it.is_given_up()));
        let count = kept.len() as i64;
        findings.equal("`jobs` counts the rows in `attempts`", named(job), count, job.attempts);
        // Parts of bags and copies on a grid run side by side. Parts of a job without a provider ran before all
        // providers had agreed.
        let has_left = ["rejected", "cancelled"].contains(&job.outcome.as_str());
        let is_apart = has_left && job.provider.is_none();
        if !job.is_bag && !books.is_on_grid(job) && !is_apart {
            rigid(job, &kept, shrunk.contains(&job.job), findings);
        }
    }
    for job in by_job.into_keys() {
        findings.expect(false, "a job with attempts is in `jobs`", || format!("job {job}"));
    }
}

fn each(job: &Job, attempts: &[&Attempt], findings: &mut Findings) {
    let mut last = 0;
    for it in attempts {
        let place = || it.named();
        // On a grid, a refusal of a resource leaves a gap in the numbers. The last attempt may be
        // cancelled in the round after its job left.
        let shared = it.slot.is_some();
        let next = it.attempt == last + 1 || shared && it.attempt > last;
        findings.expect(next, "attempts are numbered from 1", place);
        last = it.attempt;
        // The message that gives a part up may still be under way.
        let late = shared || it.is_given_up();
        let over = late || it.finished.is_none_or(|finished| finished <= job.left);
        findings.expect(over, "a job's attempts have ended when it leaves", place);
        findings.expect(it.submitted == job.submitted, "an attempt is of its job", place);
        let left = it.slot.as_ref().map(|slot| slot.left);
        let times = [Some(it.submitted), it.queued, it.started, left, it.finished];
        let times: Vec<i64> = times.into_iter().flatten().collect();
        findings.expect(
            times.is_sorted(),
            "an attempt is queued, starts and ends in this \
                                            order",
            || format!("{}: {times:?}", place()),
        );
        let (Some(started), Some(finished)) = (it.started, it.finished) else { continue };
        let spent = it.saved + it.checkpointing;
        let room = spent <= finished - started && it.saved >= 0 && it.checkpointing >= 0;
        findings.expect(room, "the saved work of an attempt was computed in it", place);
    }
}

/// An attempt of a rigid job begins after the one before it has ended, and `jobs` shows the last
/// one.
fn rigid(job: &Job, attempts: &[&Attempt], has_shrunk: bool, findings: &mut Findings) {
    for pair in attempts.windows(2) {
        let apart = match (pair[0].finished, pair[1].started) {
            (Some(over), Some(next)) => over <= next,
            // An attempt that never started overlaps nothing.
            _ => true,
        };
        findings.expect(apart, "attempts of a job do not overlap", || named(job));
    }
    let Some(last) = attempts.last() else { return };
    findings.expect(
        job.provider.as_ref() == Some(&last.provider),
        "a job is where its last attempt is",
        || named(job),
    );
    let is_stopped = last.outcome == AttemptOutcome::Preempted && job.outcome == "cancelled";
    let ends_alike = last.outcome.name() == job.outcome || is_stopped;
    findings.expect(ends_alike, "a job ends as its last attempt", || named(job));
    if job.outcome == "failed" || is_stopped {
        return;
    }
    findings.expect(last.started == job.started, "a job starts with its last attempt", || {
        format!("{}: {:?} and {:?}", named(job), last.started, job.started)
    });
    // A provider chooses the processors of a moldable job once, for all attempts.
    let width = if job.is_moldable { last.width } else { job.width };
    findings.expect(
        has_shrunk
            || attempts.iter().all(|it| it.width == width || job.is_exclusive && it.width > width),
        "attempts have the processors of their job",
        || named(job),
    );
    if let (Some(started), Some(waited)) = (job.started, job.waited) {
        let saved: i64 = attempts.iter().map(|it| it.saved).sum();
        let expected = started - job.submitted - saved;
        let same = is_same(waited, expected, started);
        findings.expect(same, "waiting = start - submission - saved", || {
            format!("{}: {waited} us and {expected} us", named(job))
        });
    }
}
