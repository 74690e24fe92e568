//! Transfers of data of tasks, and of checkpoints, against the links that they used.

use std::collections::BTreeMap;

use haggle_model::Span;
use haggle_results::about::{DataLinkInfo, DataNetworkInfo, StoreInfo};

use super::Books;
use super::findings::Findings;
use super::rows::{Micros, micros};

/// Data that have arrived.
struct Moved<'r> {
    job: i64,
    from: &'r str,
    to: &'r str,
    sent: Micros,
    arrived: Micros,
    bytes: i64,
}

/// A link by its two ends, or the access link of a site.
type LinkName<'r> = (&'r str, Option<&'r str>);

/// Start and end of a flow, and its bytes.
type Flowed = (Micros, Micros, i64);

pub(super) fn check(books: &Books, findings: &mut Findings) {
    let Some(network) = &books.data_network else { return };
    let inputs = books.rows.inputs.iter().filter_map(|it| {
        let (sent, arrived) = it.moved()?;
        let (from, to) = (it.from.as_str(), it.to.as_str());
        let (sent, arrived) = (micros(sent), micros(arrived));
        Some(Moved { job: it.job, from, to, sent, arrived, bytes: it.bytes })
    });
    let checkpoints = checkpoints(books, network, findings);
    check_links(inputs.chain(checkpoints), network, findings);
}

/// Checkpoints of rigid jobs that were written to their storage.
fn checkpoints<'r>(
    books: &'r Books,
    network: &'r DataNetworkInfo,
    findings: &mut Findings,
) -> Vec<Moved<'r>> {
    let mut all = Vec::new();
    let attempts = books.rows.at_providers().map(|it| ((it.job, it.attempt), it));
    let attempts: BTreeMap<(i64, i64), _> = attempts.collect();
    let stores = network.stores.iter().map(|it| (it.provider.as_str(), it));
    let stores: BTreeMap<&str, &StoreInfo> = stores.collect();
    let mut last: BTreeMap<(i64, i64), Micros> = BTreeMap::new();
    for row in &books.rows.checkpoints {
        // Checkpoints of a grid are checked with the grid.
        let Some(store) = stores.get(row.provider.as_str()) else { continue };
        let key = (row.job, row.attempt);
        let what =
            || format!("checkpoint {} of attempt {} of job {}", row.checkpoint, key.1, key.0);
        let attempt = attempts.get(&key).filter(|it| it.provider == row.provider);
        let (requested, computed) = (micros(row.requested), micros(row.computing));
        let written = row.written.map(micros);
        let within = attempt.is_some_and(|it| {
            let (started, finished) = (it.started.unwrap_or(Micros::MAX), it.finished.unwrap_or(0));
            started + computed <= requested && written.unwrap_or(requested) <= finished
        });
        findings.expect(within, "a checkpoint is written in its attempt", what);
        // A checkpoint that was cut off moved no data that count.
        let Some((attempt, written)) = attempt.copied().zip(written) else { continue };
        last.insert(key, computed);
        let bytes = attempt.width.saturating_mul(i64::try_from(store.size).unwrap_or(i64::MAX));
        let sent = requested + micros(store.cost);
        let (from, to) = (store.provider.as_str(), store.store.as_str());
        all.push(Moved { job: row.job, from, to, sent, arrived: written, bytes });
    }
    let failed = books.rows.at_providers().filter(|it| network.shared && it.has_failed());
    for it in failed.filter(|it| stores.contains_key(it.provider.as_str())) {
        let saved = last.get(&(it.job, it.attempt)).copied().unwrap_or(0);
        let rule = "an attempt has saved the work of its last checkpoint";
        findings.equal(rule, it.named(), it.saved, saved);
    }
    all
}

/// Checks the durations of transfers, and the bytes that links carried.
fn check_links<'r>(
    all: impl Iterator<Item = Moved<'r>>,
    network: &DataNetworkInfo,
    findings: &mut Findings,
) {
    let mut carried: BTreeMap<LinkName<'_>, (f64, Vec<Flowed>)> = BTreeMap::new();
    for Moved { job, from, to, sent, arrived, bytes } in all {
        let joins = |[a, b]: &[String; 2]| [a, b] == [from, to] || [b, a] == [from, to];
        // The last entry of two sites counts, as in the scenario.
        let own = network.own.iter().rfind(|(ends, _)| joins(ends)).map(|it| it.1);
        let DataLinkInfo { latency, bandwidth } = own.unwrap_or(network.usual);
        let flowing = Span::from_secs_f64(8.0 * bytes as f64 / bandwidth).as_micros();
        let (took, alone) = (arrived - sent, micros(latency) + flowing);
        let what = || format!("job {job} from {from}: {took} us, by itself {alone} us");
        if !network.shared {
            let rule = "a transfer takes its latency and its bytes by the bandwidth";
            findings.expect(took == alone, rule, what);
            continue;
        }
        findings.expect(took >= alone, "no transfer is faster than by itself", what);
        // A link of two sites is used by both directions; otherwise the transfer takes the access links of both sites.
        let ends: [LinkName<'_>; 2] = match own {
            Some(_) => [(from.min(to), Some(from.max(to))); 2],
            None => [(from, None), (to, None)],
        };
        for link in &ends[..if own.is_some() { 1 } else { 2 }] {
            let flows = &mut carried.entry(*link).or_insert((bandwidth, Vec::new())).1;
            // Data flow after the latency.
            flows.push((sent + micros(latency), arrived, bytes));
        }
    }
    for ((end, other), (bandwidth, mut flows)) in carried {
        flows.sort_unstable();
        let mut busy: Option<Flowed> = None;
        let mut settle = |busy: Option<Flowed>| {
            let Some((from, until, bytes)) = busy else { return };
            let room = bandwidth / 8.0 * (until - from) as f64 * 1e-6;
            // One byte for the rounding of times.
            let holds = bytes as f64 <= room * (1.0 + 1e-9) + 1.0;
            let what = || {
                let between = other.map_or(String::new(), |other| format!(" to {other}"));
                format!("{end}{between}: {bytes} bytes from {from} us to {until} us")
            };
            findings.expect(holds, "no link carries more than its bandwidth", what);
        };
        for (from, until, bytes) in flows {
            busy = match busy {
                // Flows that overlap are one busy time; in it the link carries all of their bytes.
                Some((first, last, sum)) if from < last => {
                    Some((first, last.max(until), sum + bytes))
                }
                done => {
                    settle(done);
                    Some((from, until, bytes))
                }
            };
        }
        settle(busy);
    }
}
