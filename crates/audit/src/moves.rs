//! `moves` against `jobs`, `attempts` and the summary.

use std::collections::BTreeMap;

use super::Books;
use super::findings::Findings;
use super::rows::{Attempt, Job, Move};

pub(super) fn check(books: &Books, findings: &mut Findings) {
    let jobs: BTreeMap<i64, &Job> = books.rows.jobs.iter().map(|it| (it.job, it)).collect();
    let rows = &books.rows.moves;
    // With latency or lost messages, records may come in another order than the moves themselves.
    let exact = books.instant && books.summary.message_faults.is_none();
    let mut last: BTreeMap<i64, &Move> = BTreeMap::new();
    for it in rows {
        let place = || format!("job {} at {} us", it.job, it.time);
        let Some(job) = jobs.get(&it.job) else {
            findings.expect(false, "a moved job is in `jobs`", place);
            continue;
        };
        let known = it.processors.is_some() && it.processors_before.is_some();
        findings.expect(known || !exact, "sizes of moved jobs are known", place);
        findings.expect(job.submitted <= it.time, "a moved job was submitted before", place);
        let before = last.insert(it.job, it);
        let follows = !exact || before.is_none_or(|before| before.to == it.from);
        findings.expect(follows, "a job that moves again leaves its last place", place);
    }
    for it in last.values().filter(|_| exact) {
        let Some(job) = jobs.get(&it.job) else { continue };
        let place = || format!("job {}", it.job);
        let is_there = job.provider.as_ref().is_none_or(|provider| *provider == it.to);
        findings.expect(is_there, "a moved job was queued last at its new place", place);
    }
    if exact {
        paid(books, &last, findings);
    }
    let count = |is: &dyn Fn(&Move) -> bool| rows.iter().filter(|it| is(it)).count() as u64;
    let stays = |it: &Move| it.from == it.to;
    let counted = [
        count(&|it| !stays(it)),
        count(&stays),
        count(&|it| stays(it) && it.processors != it.processors_before),
    ];
    let moves = books.summary.moves.unwrap_or_default();
    let sums = [moves.moved, moves.resubmitted, moves.resized];
    for ((name, sum), counted) in
        ["moved", "resubmitted", "resized"].into_iter().zip(sums).zip(counted)
    {
        findings.equal("the summary counts all moves", name.to_owned(), counted, sum);
    }
}

/// Each attempt paid the cost of its moves: its data had arrived, and its start-up took time.
fn paid(books: &Books, last: &BTreeMap<i64, &Move>, findings: &mut Findings) {
    for it in &books.rows.attempts {
        let Some(moved) = last.get(&it.job) else { continue };
        let place = || it.named();
        let &Attempt { started: Some(started), finished, checkpointing, .. } = it else { continue };
        let arrived = moved.ready.is_none_or(|ready| ready <= started);
        findings.expect(arrived, "a moved job starts after its data have arrived", place);
        let ran = finished.map_or(0, |finished| finished - started);
        // An attempt may be lost during its start-up.
        let start_up = moved.start_up.unwrap_or(0).min(ran);
        findings.expect(start_up <= checkpointing, "a moved job has a start-up", place);
    }
}
