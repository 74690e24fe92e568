//! `holds` against `transactions`, `attempts` and the processors of providers.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::reader::{HoldRow, TransactionRow};

use super::Books;
use super::findings::Findings;
use super::planned::{self, Planned};
use super::rows::{Attempt, Crash, Micros};

/// A transaction by its metascheduler and its number there.
type Named<'a> = (&'a str, i64);

pub(super) fn check(books: &Books, findings: &mut Findings) {
    let tries = books.rows.transactions.iter();
    let tries: BTreeMap<Named<'_>, &TransactionRow> =
        tries.map(|it| ((it.actor.as_str(), it.agreement), it)).collect();
    let mut holds: BTreeMap<Named<'_>, Vec<&HoldRow>> = BTreeMap::new();
    for it in &books.rows.holds {
        holds.entry((&it.actor, it.agreement)).or_default().push(it);
    }
    let latest = books.rows.holds.iter().map(|it| micros(it.end.unwrap_or(it.since))).max();
    for (named, rows) in &holds {
        let place = || format!("transaction {} of {}", named.1, named.0);
        let Some(opened) = tries.get(named).filter(|it| rows.iter().all(|row| row.job == it.job))
        else {
            // Without its try, no other rule about these rows can be checked.
            findings.expect(false, "a part is held for a try in `transactions`", place);
            continue;
        };
        for row in rows {
            times(opened, row, &books.rows.crashes, findings);
            lease(row, latest.unwrap_or(0), &books.rows.crashes, findings);
        }
        once_each(rows, findings);
        one_start(books.tolerances.get(named.0).copied(), rows, findings);
        given_back(books, opened, rows, findings);
    }
    let nothing = |it: &TransactionRow| !holds.contains_key(&(it.actor.as_str(), it.agreement));
    for it in tries.values().filter(|it| nothing(it)) {
        let place = || format!("try {} of job {}", it.number, it.job);
        let cost = it.held_in_vain != 0.0 || it.orphans != 0 || it.partial;
        let none = !cost && it.outcome != "agreed";
        findings.expect(
            none,
            "a part that ran, was held for a failed try, or was agreed on, is in \
                               `holds`",
            place,
        );
    }
    ran_as_held(books, &tries, findings);
    no_more_than_there_is(books, findings);
    no_more_than_there_is_to_plan(books, findings);
}

fn micros(seconds: f64) -> Micros {
    (seconds * 1e6).round() as Micros
}

/// Time between two instants, s; zero if one is missing.
fn since(from: Option<f64>, until: Option<f64>) -> f64 {
    from.zip(until).map_or(0.0, |(from, until)| (micros(until) - micros(from)) as f64 / 1e6)
}

fn named(row: &HoldRow) -> String {
    format!("job {}, held by {} at {} s", row.job, row.holder, row.since)
}

/// The events of a part are in order.
fn times(opened: &TransactionRow, row: &HoldRow, crashes: &[Crash], findings: &mut Findings) {
    let place = || named(row);
    // As floats: both sides come from the same instants, so equal times are equal here.
    let before = opened.opened <= row.since && row.since <= row.planned;
    findings.expect(before, "a part is held after its try begins, for a start after that", place);
    // A provider that is down at a planned start makes up for it at the next place.
    let starts = row.started.is_none_or(|started| {
        let before = |it: &Crash| it.actor == row.holder && it.crashed <= micros(started);
        started == row.planned || (row.planned < started && crashes.iter().any(before))
    });
    findings.expect(starts, "a part has its processors from its planned start on", place);
    let ends = [row.carried_out, row.started, row.end].into_iter().flatten();
    findings.expect(ends.clone().all(|it| row.since <= it), "a hold ends after it begins", place);
    let end = row.end.unwrap_or(f64::INFINITY);
    let until = ends.clone().all(|it| it <= end);
    findings.expect(until, "no event of a part follows its end", place);
    let ended = row.end.is_none() == (row.outcome == "open");
    findings.expect(ended, "a hold that is not open has an end", place);
    let began = row.outcome != "over" || (row.carried_out.is_some() && row.started.is_some());
    findings.expect(began, "a part that is over has begun", place);
}

/// A lease ends at its stated time, unless the provider received a later message or is down then.
fn lease(row: &HoldRow, latest: Micros, crashes: &[Crash], findings: &mut Findings) {
    let Some(lease_end) = row.lease_end.map(micros) else { return };
    // A part that was carried out in time does not depend on its lease any more.
    if row.carried_out.is_some_and(|it| micros(it) <= lease_end) {
        return;
    }
    let mine = crashes.iter().filter(|it| it.actor == row.holder && it.crashed <= lease_end);
    let back = mine.filter_map(|it| it.restarted).filter(|&back| lease_end <= back).max();
    // A provider that was down at the end of the lease ends the hold when it is back.
    let due = back.unwrap_or(lease_end);
    let is_down = crashes.iter().any(|it| it.actor == row.holder && it.restarted.is_none());
    let holds = match row.end.map(micros) {
        Some(end) => row.carried_out.is_none() && end <= due,
        // The run may have ended before the lease, or the provider is down for ever.
        None => latest <= lease_end || is_down,
    };
    findings.expect(holds, "a lease ends at its stated end", || named(row));
}

/// A provider holds one part of a transaction at a time, and none after a hold that ended.
fn once_each(rows: &[&HoldRow], findings: &mut Findings) {
    let mut rows: Vec<&&HoldRow> = rows.iter().collect();
    // By provider and then by time, so that holds that follow each other are neighbours.
    rows.sort_by(|a, b| a.holder.cmp(&b.holder).then(a.since.total_cmp(&b.since)));
    for pair in rows.windows(2).filter(|pair| pair[0].holder == pair[1].holder) {
        let after = pair[0].end.is_some_and(|end| end <= pair[1].since);
        let rule = "a provider holds one part of a transaction at a time";
        findings.expect(after, rule, || named(pair[1]));
        let rule = "a provider holds no part of a transaction after the part is over";
        let is_over = ["over", "failed"].contains(&pair[0].outcome.as_str());
        findings.expect(!is_over, rule, || named(pair[1]));
    }
}

/// Parts begin at one instant: the requested one, unless it had passed when the provider was asked.
/// In a negotiation, the parts carried out begin together up to the tolerance.
fn one_start(tolerance: Option<Micros>, rows: &[&HoldRow], findings: &mut Findings) {
    let kept = |row: &&&HoldRow| row.outcome != "given_up" && row.carried_out.is_some();
    let rule = "parts of a transaction are held for one start";
    let planned = |row: &HoldRow| micros(row.planned);
    match tolerance {
        Some(tolerance) => {
            let starts = rows.iter().filter(kept).map(|row| planned(row));
            let (first, last) = (starts.clone().min(), starts.max());
            let near = first.zip(last).is_none_or(|(first, last)| last - first <= tolerance);
            findings.expect(near, rule, || named(rows[0]));
        }
        None => {
            let first = rows.iter().map(|row| planned(row)).min();
            for row in rows {
                // A provider that was asked after the requested start plans the part for the time of the request.
                let asked = Some(planned(row)) == first || row.planned == row.since;
                findings.expect(asked, rule, || named(row));
            }
        }
    }
}

/// Time from which the program of a part ran: it had its processors and could begin.
fn began(row: &HoldRow) -> Option<f64> {
    // The later of both: processors without the decision wait, and so does a decision without processors.
    Some(row.carried_out?.max(row.started?))
}

/// Parts without an agreement are given back, and `transactions` has their cost.
fn given_back(books: &Books, opened: &TransactionRow, rows: &[&HoldRow], findings: &mut Findings) {
    let place = || format!("try {} of job {}", opened.number, opened.job);
    let is = |outcome: &str| rows.iter().filter(|row| row.outcome == outcome).count() as i64;
    if ["failed", "broken"].contains(&opened.outcome.as_str()) {
        let rule = "a held part without agreement is given back";
        // A horizon may cut off the message that ends a hold.
        findings.expect(is("open") == 0 || !books.settles, rule, place);
    }
    let is_orphan = |row: &&&HoldRow| row.outcome == "over" && opened.outcome != "agreed";
    let orphans = || rows.iter().filter(is_orphan);
    let rule = "parts that ran to their end without an agreement are orphans";
    findings.equal(rule, place(), orphans().count() as i64, opened.orphans);
    let work = orphans().map(|row| row.processors as f64 * since(began(row), row.end));
    let rule = "the time of orphans is the time for which they ran";
    findings.close(rule, place(), Some(work.sum()), Some(opened.orphan_work));
    let ran = rows.iter().filter(|row| began(row).is_some()).map(|row| row.holder.as_str());
    let ran = ran.collect::<BTreeSet<&str>>().len() as i64;
    let rule = "a transaction is partial if some of its parts ran and others did not";
    findings.equal(rule, place(), 0 < ran && ran < opened.parts, opened.partial);
    let given_up = rows.iter().filter(|row| row.outcome == "given_up");
    let wasted = given_up.map(|row| row.processors as f64 * since(Some(row.since), row.end));
    let rule = "wasted holds are those of parts given up";
    findings.close(rule, place(), Some(wasted.sum()), Some(opened.held_in_vain));
}

/// Each part that ran was held by its provider, and ran from when it could begin until its end.
fn ran_as_held(
    books: &Books,
    tries: &BTreeMap<Named<'_>, &TransactionRow>,
    findings: &mut Findings,
) {
    let mut held: BTreeMap<(i64, &str), Vec<&HoldRow>> = BTreeMap::new();
    let is_agreed = |row: &&HoldRow| {
        let opened = tries.get(&(row.actor.as_str(), row.agreement));
        row.outcome != "given_up" && opened.is_some_and(|it| it.outcome == "agreed")
    };
    for row in &books.rows.holds {
        held.entry((row.job, &row.holder)).or_default().push(row);
    }
    let jobs: BTreeSet<i64> = books.rows.transactions.iter().map(|it| it.job).collect();
    // An attempt that lost its processors may have waited for its begin until then.
    let ran = |it: &&Attempt| it.started.is_some() && !it.has_failed() && jobs.contains(&it.job);
    for it in books.rows.at_providers().filter(ran) {
        let place = || format!("job {} at {}", it.job, it.provider);
        let mine = held.get(&(it.job, it.provider.as_str())).into_iter().flatten();
        // A part that was given up may be of any try, and may have been over.
        let mut mine = mine.filter(|row| it.is_given_up() || is_agreed(row));
        let as_held = mine.any(|row| is_run_of(row, it));
        findings.expect(as_held, "each part that ran was held, from its begin to its end", place);
    }
}

fn is_run_of(row: &HoldRow, ran: &Attempt) -> bool {
    // A part has its processors while its program waits until all parts can begin.
    let begun = row.started.map(|it| micros(it.max(row.carried_out.unwrap_or(it))));
    let until_its_end = row.end.is_none_or(|end| ran.finished == Some(micros(end)));
    ran.started == begun && ran.width == row.processors && until_its_end
}

/// A provider never holds and uses more processors than it has.
fn no_more_than_there_is(books: &Books, findings: &mut Findings) {
    let rows = &books.rows;
    if rows.holds.is_empty() {
        return;
    }
    let held: BTreeSet<i64> = rows.holds.iter().map(|it| it.job).collect();
    // Time and processors; sorted, so that at one time processors are given back before others are
    // taken.
    let mut changes: BTreeMap<&str, Vec<(Micros, i64)>> = BTreeMap::new();
    let mut uses = |provider, from: Micros, until: Option<Micros>, processors: i64| {
        let changes: &mut Vec<(Micros, i64)> = changes.entry(provider).or_default();
        // A use of no time takes no processor.
        if until != Some(from) {
            changes.push((from, processors));
            changes.extend(until.map(|until| (until, -processors)));
        }
    };
    for it in &rows.holds {
        if let Some(started) = it.started {
            uses(&it.holder, micros(started), it.end.map(micros), it.processors);
        }
    }
    // Attempts of jobs with holds are in `holds` already, and must not count twice. Tasks of a bag use their processors
    // one after the other, so their placements count.
    let bags: BTreeSet<i64> = rows.jobs.iter().filter(|it| it.is_bag).map(|it| it.job).collect();
    for it in rows.at_providers().filter(|it| !held.contains(&it.job) && !bags.contains(&it.job)) {
        if let Some(started) = it.started {
            uses(&it.provider, started, it.finished, it.width);
        }
    }
    for it in rows.placements.iter().filter(|it| !held.contains(&it.job) && bags.contains(&it.job))
    {
        uses(&it.provider, it.started, Some(it.finished), it.last - it.first + 1);
    }
    let sizes: BTreeMap<&str, i64> =
        rows.resources.iter().map(|it| (it.provider.as_str(), it.processors)).collect();
    for (provider, mut changes) in changes {
        changes.sort_unstable();
        let size = sizes.get(provider).copied().unwrap_or(0);
        let mut used = 0;
        for (at, change) in changes {
            used += change;
            let rule = "no processor is held for two parts at a time";
            findings
                .expect(used <= size, rule, || format!("{provider} at {at} us: {used} of {size}"));
        }
    }
}

/// The planned holds of a provider never exceed its processors. A hold becomes only shorter until
/// it begins. So its last stated end had room from the start.
fn no_more_than_there_is_to_plan(books: &Books, findings: &mut Findings) {
    let mut planned: BTreeMap<&str, Vec<Planned>> = BTreeMap::new();
    for it in &books.rows.holds {
        planned.entry(&it.holder).or_default().push(Planned {
            known: (micros(it.since), it.end.map_or(Micros::MAX, micros)),
            booked: (micros(it.planned), it.planned_finish.map_or(Micros::MAX, micros)),
            processors: it.processors,
        });
    }
    let rule = "no processor is held for two parts at a time to come";
    planned::have_room(books, planned, rule, findings);
}
