//! `transactions` against `jobs` and the summary.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::reader::TransactionRow;

use super::Books;
use super::findings::Findings;

pub(super) fn check(books: &Books, findings: &mut Findings) {
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
        findings.expect(agreed, "what was agreed on took some time", place);
        let times: Vec<f64> = [Some(it.opened), it.decided, it.end].into_iter().flatten().collect();
        findings.expect(times.is_sorted(), "a transaction begins, is decided and ends", place);
        findings.expect(jobs.contains(&it.job), "what is tried is in `jobs`", place);
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
