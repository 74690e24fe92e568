//! `bookings` against `jobs` and `attempts`.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::reader::BookingRow;

use super::Books;
use super::findings::Findings;
use super::planned::{self, Planned};
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
            findings.expect(false, "a booked job is in `jobs`", named);
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
            let by = if job.is_iterative { merit_of_mapped } else { merit_of_rigid };
            // Strictly, so that no job moves back and forth.
            let gains = by(pair[1]) < by(pair[0]);
            findings.expect(gains, "a job moves to a place with a gain", named);
        }
        // The queue may move a job on one provider up, and no table has these moves.
        let last = places[places.len() - 1];
        let ran = attempts.get(&job.job).map_or(&[][..], Vec::as_slice);
        // Parts that lost their processors, or were given up, were at earlier places.
        let ran = ran.iter().copied().filter(|it| !it.outcome.is_in_vain());
        let ran = Vec::from_iter(ran);
        if last.len() > 1 && !ran.is_empty() {
            as_booked(job, last, &ran, findings);
        }
    }
    no_processor_twice(books, &jobs, findings);
}

/// End of a place in microseconds; for places that end together, the start decides: an application
/// starts as early as possible.
fn merit_of_mapped(place: &[BookingRow]) -> (Micros, Micros) {
    (place[0].finish.map_or(Micros::MAX, micros), micros(place[0].start))
}

/// End of a place; for equal ends, fewer providers are better for a rigid job. Its start may be
/// later if it ends earlier, since one provider causes no overhead.
fn merit_of_rigid(place: &[BookingRow]) -> (Micros, Micros) {
    (place[0].finish.map_or(Micros::MAX, micros), place.len() as Micros)
}

/// A place holds the whole job, for one time.
fn each(job: &Job, (number, place): (i64, &[BookingRow]), findings: &mut Findings) {
    let first = &place[0];
    let named = || format!("place {number} of job {}", job.job);
    findings.expect(first.number == number, "places of a job are numbered in order", named);
    let asked = place.iter().all(|it| it.asked_by.is_some() == (number > 1));
    findings.expect(asked, "each place except the first was requested", named);
    let together =
        |it: &BookingRow| (it.time, it.start, it.finish) == (first.time, first.start, first.finish);
    findings.expect(place.iter().all(together), "parts are booked for one time", named);
    let holders: BTreeSet<&str> = place.iter().map(|it| it.holder.as_str()).collect();
    findings.expect(holders.len() == place.len(), "each part has a provider of its own", named);
    let width: i64 = place.iter().map(|it| it.processors).sum();
    findings.equal("parts add up to the requested processors", named(), width, job.width);
    let after = first.time <= first.start;
    findings.expect(after, "a start is planned for after its booking", named);
}

/// A job on several providers ran where it was booked last, from the planned start on. If a provider broke its part,
/// other parts may have ended before they were given up. The job has then failed, or the run stopped before that.
fn as_booked(job: &Job, last: &[BookingRow], ran: &[&Attempt], findings: &mut Findings) {
    let named = || format!("job {}", job.job);
    let booked: BTreeSet<(&str, i64)> =
        last.iter().map(|it| (it.holder.as_str(), it.processors)).collect();
    let held: BTreeSet<(&str, i64)> =
        ran.iter().map(|it| (it.provider.as_str(), it.width)).collect();
    let is_whole = held == booked || !job.is_done();
    let as_booked = is_whole && held.is_subset(&booked) && held.len() == ran.len();
    findings.expect(as_booked, "parts ran at their last booking", named);
    let start = micros(last[0].start);
    let on_time = ran.iter().all(|it| it.started == Some(start));
    findings.expect(on_time, "parts started at their booked start", named);
}

/// Bookings at a provider at one time fit its processors. Jobs on one provider are left out: the
/// queue may move them up, and no table has these moves.
fn no_processor_twice(books: &Books, jobs: &BTreeMap<i64, &Job>, findings: &mut Findings) {
    let mut booked: BTreeMap<&str, Vec<Planned>> = BTreeMap::new();
    let lost = may_have_lost_places(books);
    for rows in books.rows.bookings.chunk_by(|a, b| a.job == b.job) {
        // A place is lost at a time that is in no table.
        if lost.contains(&rows[0].job) {
            continue;
        }
        let left = jobs.get(&rows[0].job).map_or(Micros::MAX, |job| job.left);
        let places: Vec<&[BookingRow]> = rows.chunk_by(|a, b| a.number == b.number).collect();
        for (at, place) in places.iter().enumerate().filter(|(_, place)| place.len() > 1) {
            // A place is in the plan until the job moves on or leaves.
            let until = places.get(at + 1).map_or(left, |next| micros(next[0].time));
            for it in place.iter() {
                booked.entry(&it.holder).or_default().push(Planned {
                    known: (micros(it.time), until),
                    booked: (micros(it.start), it.finish.map_or(Micros::MAX, micros)),
                    processors: it.processors,
                });
            }
        }
    }
    planned::have_room(books, booked, "no processor is booked for two parts at a time", findings);
}

/// Jobs that may wait for another place, after a part of them was broken before its start. The run has such parts, or
/// does not tell.
fn may_have_lost_places(books: &Books) -> BTreeSet<i64> {
    let messages = books.rows.messages.as_ref();
    if messages.is_some_and(|all| all.iter().all(|it| it.kind != "part_broken")) {
        return BTreeSet::new();
    }
    let started = books.rows.attempts.iter().filter(|it| it.started.is_some());
    let started: BTreeSet<i64> = started.map(|it| it.job).collect();
    let open = books.rows.jobs.iter().filter(|it| !it.is_done());
    open.map(|it| it.job).filter(|job| !started.contains(job)).collect()
}

fn micros(seconds: f64) -> Micros {
    (seconds * 1e6).round() as Micros
}
