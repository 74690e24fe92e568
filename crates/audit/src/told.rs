//! `disclosures` against `messages`, `offers` and the summary.

use std::collections::BTreeMap;

use super::Books;
use super::findings::Findings;
use super::rows::Disclosure;

/// An item, messages that always disclose it once, and messages that may. For example, a provider
/// that commits to a part it does not hold also promises it.
const SAYS: [(&str, &[&str], &[&str]); 3] = [
    (
        "estimate",
        &[
            "estimate",
            "ready",
            "granted",
            "fixed",
            "shrunk",
            "size",
            "tx_booked",
            "plan",
            "times",
            "part_not_before",
        ],
        &["committed", "tx_refused", "machines"],
    ),
    (
        "change",
        &[
            "probe",
            "expired",
            "broken",
            "revoked",
            "reschedule_request",
            "room_grew",
            "part_not_ready",
            "tx_not_ready",
            "tx_stale",
            "tx_not_enough",
            "tx_avail",
            "tx_probe",
            "tx_preempted",
            "tx_yield_ask",
            "machines_free",
        ],
        &["tx_refused", "tx_status", "tx_vote"],
    ),
    ("expected_completion", &["new_completion_times", "completion"], &["waiting"]),
];

pub(super) fn check(books: &Books, findings: &mut Findings) {
    counts(books, findings);
    messages(books, findings);
    let told: i64 = items(&books.rows.disclosures, "offer");
    let offers = books.rows.offers.len() as i64;
    // A message in transit at the end of a run was sent but disclosed nothing.
    let in_transit = told < offers && !books.instant;
    // A repeated message discloses its offers once more, or all copies of it are lost.
    let mut messages = books.rows.messages.iter().flatten();
    let is_repeated = messages.any(|it| it.kind == "received");
    let holds = told == offers || in_transit || is_repeated;
    findings.expect(holds, "`offers` has a row for each offer disclosed", || {
        format!("{offers} offers made, {told} disclosed")
    });
}

/// The summary's sums by sender, receiver and item.
fn counts(books: &Books, findings: &mut Findings) {
    let mut sums: BTreeMap<(&str, &str, &str), u64> = BTreeMap::new();
    for it in &books.rows.disclosures {
        let sum = sums.entry((&it.sender, &it.receiver, &it.item)).or_default();
        *sum += it.count.unsigned_abs();
    }
    for it in &books.summary.disclosures {
        let key = (it.sender.as_str(), it.receiver.as_str(), it.item.as_str());
        let sum = sums.remove(&key).unwrap_or(0);
        let rule = "`disclosures` adds up to the summary's";
        findings.equal(rule, format!("{} to {}: {}", key.0, key.1, key.2), sum, it.count);
    }
    for (sender, receiver, item) in sums.into_keys() {
        findings.expect(false, "the summary has all `disclosures`", || {
            format!("{sender} to {receiver}: {item}")
        });
    }
}

/// Delivered messages disclosed items, and nothing else did.
fn messages(books: &Books, findings: &mut Findings) {
    let Some(messages) = &books.rows.messages else { return };
    let delivered = |kinds: &[&str]| {
        let mut delivered: BTreeMap<(&str, &str), i64> = BTreeMap::new();
        for it in messages.iter().filter(|it| kinds.contains(&it.kind.as_str())) {
            *delivered.entry((&it.sender, &it.receiver)).or_default() += it.count;
        }
        delivered
    };
    for (item, kinds, perhaps) in SAYS {
        let (surely, perhaps) = (delivered(kinds), delivered(perhaps));
        let mut disclosed: BTreeMap<(&str, &str), i64> = BTreeMap::new();
        for it in books.rows.disclosures.iter().filter(|it| it.item == item) {
            *disclosed.entry((&it.sender, &it.receiver)).or_default() += 1;
        }
        for (&(sender, receiver), &count) in &surely {
            let told = disclosed.get(&(sender, receiver)).copied().unwrap_or(0);
            // Messages that may disclose the item add to the largest number of rows only.
            let most = count + perhaps.get(&(sender, receiver)).copied().unwrap_or(0);
            let holds = (count..=most).contains(&told);
            findings.expect(holds, "messages that disclose are in `disclosures`", || {
                format!("{sender} to {receiver}: {count} messages, {told} rows of {item}")
            });
        }
        for pair @ (sender, receiver) in disclosed.keys() {
            let said = surely.contains_key(pair) || perhaps.contains_key(pair);
            findings.expect(said, "a row of `disclosures` has a message", || {
                format!("{sender} to {receiver}: {item}")
            });
        }
    }
}

fn items(disclosures: &[Disclosure], item: &str) -> i64 {
    disclosures.iter().filter(|it| it.item == item).map(|it| it.count).sum()
}
