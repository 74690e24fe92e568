//! `bookings` against `jobs` and `attempts`.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::reader::BookingRow;

use super::Books;
use super::findings::Findings;
use super::rows::{Attempt, Job, Micros};

pub(super) fn check(books: &Books, findings: &mut Findings) {
    let jobs: BTreeMap<i64, &Job> = books.rows.jobs.iter().map(|it| (it.job, it)).collect();
    let mut attempts: BTreeMap<i64, Vec<&Attempt>> = BTreeMap::new();
    for it in books.rows.attempts.iter().filter(|it| it.started.is_some()) {
        attempts.entry(it.job).or_default().push(it);
    }
    for rows in books.rows.bookings.chunk_by(|a, b| a.job == b.job) {
        let named = || format!("job {}", rows[0].job);
        let Some(&job) = jobs.get(&rows[0].job) else {
            findings.expect(false, "what was booked is in `jobs`", named);
            continue;
        };
        let places: Vec<&[BookingRow]> = rows.chunk_by(|a, b| a.number == b.number).collect();
        for (number, place) in (1..).zip(&places) {
            each(job, (number, place), findings);
        }
        for pair in places.windows(2) {
            let (before, after) = (&pair[0][0], &pair[1][0]);
            let order = before.time <= after.time;
            findings.expect(order, "places of a job are in the order of time", named);
            let gains = after.start <= before.start;
            findings.expect(gains, "a job moves to no later start", named);
        }
        // What one provider alone has is moved up by its queue, of which nothing is told here.
        let last = places[places.len() - 1];
        let ran = attempts.get(&job.job).map_or(&[][..], Vec::as_slice);
        if last.len() > 1 && !ran.is_empty() {
            as_booked(last, ran, findings);
        }
    }
    no_processor_twice(books, &jobs, findings);
}

/// A place has room for the whole job, for one time.
fn each(job: &Job, (number, place): (i64, &[BookingRow]), findings: &mut Findings) {
    let first = &place[0];
    let named = || format!("place {number} of job {}", job.job);
    findings.expect(first.number == number, "places of a job are numbered in order", named);
    let asked = place.iter().all(|it| it.asked_by.is_some() == (number > 1));
    findings.expect(asked, "somebody asked for each place but the first", named);
    let together =
        |it: &BookingRow| (it.time, it.start, it.finish) == (first.time, first.start, first.finish);
    findings.expect(place.iter().all(together), "parts are booked for one time", named);
    let holders: BTreeSet<&str> = place.iter().map(|it| it.holder.as_str()).collect();
    findings.expect(holders.len() == place.len(), "each part has a provider of its own", named);
    let width: i64 = place.iter().map(|it| it.processors).sum();
    findings.equal("parts add up to what the job asks for", named(), width, job.width);
    let after = first.time <= first.start;
    findings.expect(after, "a start is planned for after its booking", named);
}

/// A job on several providers ran where it was booked last, from the planned start on.
fn as_booked(last: &[BookingRow], ran: &[&Attempt], findings: &mut Findings) {
    let named = || format!("job {}", last[0].job);
    let mut booked: Vec<(&str, i64)> =
        last.iter().map(|it| (it.holder.as_str(), it.processors)).collect();
    let mut held: Vec<(&str, i64)> =
        ran.iter().map(|it| (it.provider.as_str(), it.width)).collect();
    booked.sort_unstable();
    held.sort_unstable();
    findings.expect(booked == held, "parts ran where they were booked last", named);
    let start = micros(last[0].start);
    let on_time = ran.iter().all(|it| it.started == Some(start));
    findings.expect(on_time, "parts started when they were booked for", named);
}

/// A place of a job on several providers, at one of them.
struct Booked {
    /// From when until when it is booked.
    known: (Micros, Micros),
    /// For when.
    planned: (Micros, Micros),
    processors: i64,
}

/// What is booked at a provider at one time has room there. What one provider alone has is moved up by its queue, and
/// where starts were missed or processors fail other places are found: of neither anything is told here.
fn no_processor_twice(books: &Books, jobs: &BTreeMap<i64, &Job>, findings: &mut Findings) {
    let rows = &books.rows;
    let crashed = rows.crashes.iter().map(|it| it.actor.as_str());
    let failed = rows.failures.iter().map(|it| it.provider.as_str());
    let elsewhere: BTreeSet<&str> = crashed.chain(failed).collect();
    let mut booked: BTreeMap<&str, Vec<Booked>> = BTreeMap::new();
    for rows in rows.bookings.chunk_by(|a, b| a.job == b.job) {
        let left = jobs.get(&rows[0].job).map_or(Micros::MAX, |job| job.left);
        let places: Vec<&[BookingRow]> = rows.chunk_by(|a, b| a.number == b.number).collect();
        for (at, place) in places.iter().enumerate().filter(|(_, place)| place.len() > 1) {
            let until = places.get(at + 1).map_or(left, |next| micros(next[0].time));
            for it in place.iter().filter(|it| !elsewhere.contains(it.holder.as_str())) {
                booked.entry(&it.holder).or_default().push(Booked {
                    known: (micros(it.time), until),
                    planned: (micros(it.start), it.finish.map_or(Micros::MAX, micros)),
                    processors: it.processors,
                });
            }
        }
    }
    for it in &rows.resources {
        let mut here = booked.remove(it.provider.as_str()).unwrap_or_default();
        here.sort_by_key(|it| it.known);
        let mut standing: Vec<&Booked> = Vec::new();
        for new in here.iter().filter(|it| it.known.0 < it.known.1) {
            standing.retain(|it| new.known.0 < it.known.1);
            standing.push(new);
            let most = most_at_once(&standing, new.planned);
            let rule = "no processor is booked for two parts at a time";
            let place = || format!("{} from {} us on", it.provider, new.planned.0);
            findings.expect(most <= it.processors, rule, place);
        }
    }
}

/// The most processors that are booked at an instant from `from` until `until`.
fn most_at_once(booked: &[&Booked], (from, until): (Micros, Micros)) -> i64 {
    let meets = |it: &&&Booked| it.planned.0 < until && from < it.planned.1;
    let changes =
        |it: &&Booked| [(it.planned.0.max(from), it.processors), (it.planned.1, -it.processors)];
    let mut changes: Vec<(Micros, i64)> = booked.iter().filter(meets).flat_map(changes).collect();
    changes.sort_unstable();
    let sums = changes.iter().scan(0, |sum, (_, change)| {
        *sum += change;
        Some(*sum)
    });
    sums.max().unwrap_or(0)
}

fn micros(seconds: f64) -> Micros {
    (seconds * 1e6).round() as Micros
}
