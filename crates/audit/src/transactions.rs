//! `transactions` against `jobs`, `attempts` and the summary.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::reader::TransactionRow;

use super::Books;
use super::findings::Findings;
use super::rows::{Attempt, Job};

pub(super) fn check(books: &Books, findings: &mut Findings) {
    parts(books, findings);
    let rows = &books.rows.transactions;
    let jobs: BTreeSet<i64> = books.rows.jobs.iter().map(|job| job.job).collect();
    let mut tries: BTreeMap<i64, i64> = BTreeMap::new();
    for it in rows {
        let place = || format!("try {} of job {}", it.number, it.job);
        let number = tries.entry(it.job).or_default();
        *number += 1;
        findings.expect(it.number == *number, "tries of a job are numbered in order", place);
        let ended = it.end.is_some() == (it.outcome != "open");
        findings.expect(ended, "a transaction that is not open has an end", place);
        let agreed = it.time_to_agreement.is_some() == (it.outcome == "agreed");
        findings.expect(agreed, "an agreement took some time", place);
        let times: Vec<f64> = [Some(it.opened), it.decided, it.end].into_iter().flatten().collect();
        findings.expect(times.is_sorted(), "a transaction begins, is decided and ends", place);
        findings.expect(jobs.contains(&it.job), "a job with a try is in `jobs`", place);
    }
    let Some(sums) = &books.summary.transactions else {
        let place = || format!("{} rows", rows.len());
        findings.expect(rows.is_empty(), "transactions are in the summary", place);
        return;
    };
    let rule = "the summary counts all transactions";
    let is = |outcome: &'static str| move |it: &&TransactionRow| it.outcome == outcome;
    let count = |outcome| rows.iter().filter(is(outcome)).count() as u64;
    let integers = [
        ("tries", rows.len() as u64, sums.tries),
        ("jobs", tries.len() as u64, sums.jobs),
        ("agreed", count("agreed"), sums.agreed),
        ("aborted", count("failed"), sums.aborted),
        ("broken", count("broken"), sums.broken),
        ("messages", rows.iter().map(|it| it.messages as u64).sum(), sums.messages),
        ("orphans", rows.iter().map(|it| it.orphans as u64).sum(), sums.orphans),
        ("partial", rows.iter().filter(|it| it.partial).count() as u64, sums.partial),
    ];
    for (name, counted, sum) in integers {
        findings.equal(rule, name.to_owned(), counted, sum);
    }
    let floats = [
        ("in_doubt", rows.iter().map(|it| it.in_doubt).sum(), sums.in_doubt),
        ("held_in_vain", rows.iter().map(|it| it.held_in_vain).sum(), sums.held_in_vain),
        ("orphan_work", rows.iter().map(|it| it.orphan_work).sum(), sums.orphan_work),
    ];
    for (name, added, sum) in floats {
        let rule = "transactions add up to the sums of the summary";
        findings.close(rule, name.to_owned(), Some(added), Some(sum));
    }
}

/// The parts that several providers agreed on are those that ran: none is missing, and none is
/// another job's.
fn parts(books: &Books, findings: &mut Findings) {
    let mut attempts: BTreeMap<i64, Vec<&Attempt>> = BTreeMap::new();
    for it in &books.rows.attempts {
        attempts.entry(it.job).or_default().push(it);
    }
    let jobs: BTreeMap<i64, &Job> = books.rows.jobs.iter().map(|it| (it.job, it)).collect();
    let mut tries: BTreeMap<i64, Vec<&TransactionRow>> = BTreeMap::new();
    for it in &books.rows.transactions {
        tries.entry(it.job).or_default().push(it);
    }
    for (number, tries) in tries {
        let Some(&job) = jobs.get(&number) else { continue };
        let named = || format!("job {number}");
        let mine = attempts.get(&number).map_or(&[][..], Vec::as_slice);
        let agreed = tries.iter().find(|it| it.outcome == "agreed");
        // Tries are numbered in order, which `check` tests, so this number is that of the last one.
        let last = agreed.is_none_or(|it| it.number == tries.len() as i64);
        findings.expect(last, "no try follows an agreement", named);
        let is_part = |it: &&&Attempt| it.started.is_some() && !it.is_given_up();
        let ran: Vec<&&Attempt> = mine.iter().filter(is_part).collect();
        let Some(agreed) = agreed else {
            findings.expect(job.outcome != "completed", "a done job was agreed on", named);
            continue;
        };
        let holders: BTreeSet<&str> = ran.iter().map(|it| it.provider.as_str()).collect();
        findings.expect(holders.len() == ran.len(), "each part has a provider of its own", named);
        if job.outcome == "completed" {
            // Some of the providers that were asked may have had no room.
            let few = ran.len() as i64 <= agreed.parts;
            findings.expect(few, "no more parts ran than were requested", named);
            let width: i64 = ran.iter().map(|it| it.width).sum();
            let rule = "parts that ran add up to the requested processors";
            findings.equal(rule, named(), width, job.width);
        }
        let opened = (agreed.opened * 1e6).round() as i64;
        let after = ran.iter().all(|it| it.started.is_some_and(|started| started >= opened));
        findings.expect(after, "no part starts before its try begins", named);
    }
}
