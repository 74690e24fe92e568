//! Events of a job, in order of time.

use crate::explain::{Attempt, Booked, Disclosed, Displaced, LostTasks, Move, OnGrid, Story};

use super::whole;
use crate::readable::{clock, count, duration, lines, number, seconds};

/// Most events that are printed; of more, the first and the last ones.
const TOLD: usize = 60;

/// The events with their times, s, in order.
pub(super) fn of(story: &Story) -> Vec<(f64, String)> {
    let mut events: Vec<(f64, String)> = vec![(story.submit, submitted(story))];
    let ready = story.granted.as_ref().map_or(story.ready, |granted| granted.ready);
    if let Some(ready) = ready.filter(|&ready| story.submit < ready && ready <= story.left) {
        // A task whose parents were never all completed is ready when it leaves.
        let word = match (story.is_task(), ready < story.left) {
            (true, true) if story.is_phased() => {
                "may start from now on: the level before its own is over"
            }
            (true, true) => "may start from now on: its parents are done",
            (true, false) => "its parents are not all done",
            (false, _) => "may start from now on, says its user",
        };
        events.push((ready, word.to_owned()));
    }
    asked(story, &mut events);
    offered(story, &mut events);
    placed(story, &mut events);
    booked(story, &mut events);
    events.extend(story.moves.iter().map(|it| (it.time, moved(it))));
    reserved(story, &mut events);
    let many = story.attempts.len() > 1;
    for it in &story.attempts {
        match &it.on_grid {
            Some(here) => on_resource(it, here, &mut events),
            None => attempt(story, it, many, &mut events),
        }
    }
    for it in &story.stopped {
        let other = &it.other;
        let (name, lost) = (format!("{}!{}", other.workload, other.job_id), number(it.work_lost));
        events.push((
            it.end,
            format!(
                "job {} ({name}) on {} was stopped for it at {}: {lost} processor-seconds lost",
                other.job,
                whole(it.processors, "processor"),
                it.provider
            ),
        ));
    }
    lost_parts(story, &mut events);
    bag(story, &mut events);
    events.push((story.left, ending(story)));
    // Stable: events of one instant stay in their causal order.
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    events
}

/// The events, a line each.
pub(super) fn told(story: &Story) -> String {
    let events = of(story);
    let many = events.len();
    let row = |(time, what): (f64, String)| vec![format!("{} s", seconds(time)), clock(time), what];
    let mut rows: Vec<Vec<String>> = events.into_iter().map(row).collect();
    if many > TOLD {
        // With the line for the gap, `TOLD` lines remain.
        let out = many - TOLD + 1;
        let gap = vec![String::new(), String::new(), format!("... {out} more; --json has all")];
        rows.splice(TOLD / 2..TOLD / 2 + out, [gap]);
    }
    // Events of less than a minute need no clock.
    if rows.iter().all(|row| row[1].is_empty()) {
        rows.iter_mut().for_each(|row| drop(row.remove(1)));
        return lines(&rows, &[1]);
    }
    lines(&rows, &[2])
}

fn submitted(story: &Story) -> String {
    let by = story.submitters.iter().map(|(user, to)| format!("by {user} to {to}"));
    let by: Vec<String> = by.collect();
    let is_barred = story.refusal.as_deref() == Some("parent_failed");
    let after = match story.preceding_job {
        // Its user never submitted it.
        Some(job) if story.is_held || is_barred => {
            return format!("follows job {job} of its workload");
        }
        Some(job) => format!(" after the end of job {job} of its workload"),
        None => String::new(),
    };
    format!("submitted {}", by.join(", or ")).trim_end().to_owned() + &after
}

/// Information that a metascheduler received before it placed a rigid job, and refusals.
fn asked(story: &Story, events: &mut Vec<(f64, String)>) {
    let displaced = story.granted.iter().flat_map(|it| &it.displaced);
    let displaced: Vec<f64> = displaced.map(|it| it.time).collect();
    for Disclosed { time, sender, receiver, item, count: intervals } in
        story.disclosures.iter().flatten()
    {
        let what = match item.as_str() {
            // The offers of a bag are more detailed and have their own list.
            "estimate" | "load" if story.shape == "bag" => continue,
            // The intervals of an application are more detailed too.
            "estimate" if story.shape == "phased" => continue,
            // A granted reservation is more detailed too.
            "estimate" if story.granted.is_some() => continue,
            "estimate" => format!("{sender} disclosed to {receiver} the job's start and end there"),
            "load" => format!("{sender} disclosed its load to {receiver}"),
            "refusal" => format!("{sender} refused, to {receiver}"),
            "interval" => {
                let intervals = count(*intervals as usize, "interval");
                format!(
                    "{sender} had no room in the window, and offered {receiver} {intervals} instead"
                )
            }
            // The loss of the place has its own line with the reason.
            "change" if displaced.contains(time) => continue,
            // A request to move the job; the moves have their own lines.
            "change" if !story.bookings.is_empty() => continue,
            "change" if story.shape != "bag" => {
                format!("{sender} notified {receiver} that its plan has changed")
            }
            _ => continue,
        };
        events.push((*time, what));
    }
}

/// Offers of one instant share a line; a list follows below.
fn offered(story: &Story, events: &mut Vec<(f64, String)>) {
    for offers in story.offers.chunk_by(|a, b| a.time == b.time) {
        let mut providers: Vec<&str> = offers.iter().map(|it| it.provider.as_str()).collect();
        providers.sort_unstable();
        // A provider may make several offers for one bag.
        providers.dedup();
        let (offered, by) = (count(offers.len(), "offer"), providers.join(", "));
        events.push((offers[0].time, format!("{offered} made by {by}")));
    }
}

/// Reservation that was granted.
fn reserved(story: &Story, events: &mut Vec<(f64, String)>) {
    let Some(granted) = &story.granted else { return };
    let provider = story.provider.as_deref().unwrap_or("its provider");
    let place = match granted.distance {
        Some(distance) => format!("an interval {} beside the window", duration(distance)),
        None => "the window".to_owned(),
    };
    let from = match granted.ready {
        Some(ready) => format!("from {} s", seconds(ready)),
        None => "at once".to_owned(),
    };
    let by = granted.deadline.map_or_else(String::new, |by| format!(" to {} s", seconds(by)));
    let size = match granted.processors == story.processors {
        true => String::new(),
        false => format!(", on {}", whole(granted.processors, "processor")),
    };
    let planned = seconds(granted.planned_start);
    events.push((
        granted.time,
        format!("{provider} granted {place}, {from}{by}{size}; planned to start at {planned} s"),
    ));
    if let Some((time, start)) = granted.fixed {
        events.push((time, format!("its start was fixed: {} s", seconds(start))));
    }
    events.extend(granted.displaced.iter().map(|it| (it.time, displaced(it, provider))));
}

/// Loss of its place.
fn displaced(it: &Displaced, provider: &str) -> String {
    let why = match it.cause.as_str() {
        "failure" => "processors failed under its place",
        "overrun" => "a job that ran longer took its place",
        "maintenance" => "maintenance took its place",
        "checkpoint" => "its checkpoints took longer than planned over shared links",
        _ => "the scheduler was down at its planned start",
    };
    let planned = it
        .planned_start
        .map_or_else(String::new, |start| format!("; planned to start at {} s", seconds(start)));
    let what = match it.answer.as_str() {
        "moved" => format!("it has another one in its window{planned}"),
        "shrunk" => {
            let size = whole(it.processors, "processor");
            format!("it has one in its window on {size}{planned}")
        }
        "late" => "it ended behind its window".to_owned(),
        "postponed" => format!("its window has no room left, and it waits on{planned}"),
        _ => format!("{provider} gave it back"),
    };
    format!("{why}: {what}")
}

/// A move while it waited.
fn moved(it: &Move) -> String {
    let Move { by, from, to, .. } = it;
    let size = match it.processors {
        (Some(before), Some(after)) if before != after => {
            format!(", on {} instead of {before}", whole(after, "processor"))
        }
        (_, Some(after)) => format!(", on {}", whole(after, "processor")),
        _ => String::new(),
    };
    let plan = it
        .planned_end
        .1
        .map_or_else(String::new, |end| format!("; planned to be done at {} s", seconds(end)));
    let what = match from == to {
        true => format!("submitted again to {to}"),
        false => format!("moved from {from} to {to}"),
    };
    // Data that are there already delay nothing.
    let data = it.data.filter(|&data| data > it.time).map_or_else(String::new, |data| {
        format!("; its data will be there at {} s", seconds(data))
    });
    let start_up = match it.start_up > 0.0 {
        true => format!("; {} to start up", duration(it.start_up)),
        false => String::new(),
    };
    format!("{what} by {by}{size}{plan}{data}{start_up}")
}

fn placed(story: &Story, events: &mut Vec<(f64, String)>) {
    let Some(queued) = story.queued.filter(|_| !story.is_on_grid()) else { return };
    let promise = story.promised_end.map_or_else(String::new, |promised| {
        format!(", with a promised completion at {} s", seconds(promised))
    });
    if story.shape == "bag" {
        let shares = count(story.shares.len(), "share");
        events.push((queued, format!("placed, in {shares}{promise}")));
    } else if !story.lost_parts.is_empty() {
        // Each of its places has lines of its own.
        events.push((queued, format!("placed{promise}")));
    } else if !story.shares.is_empty() {
        let parts = count(story.shares.len(), "part");
        events.push((queued, format!("placed; it runs in {parts}{promise}")));
    } else if let Some(provider) = &story.provider {
        events.push((queued, format!("queued at {provider}{promise}")));
    }
}

/// Bookings of a job on several providers, and the gain of each move.
fn booked(story: &Story, events: &mut Vec<(f64, String)>) {
    let parts = |it: &Booked| {
        let parts = it.parts.iter().map(|(holder, size)| format!("{holder} ({size})"));
        parts.collect::<Vec<_>>().join(", ")
    };
    if let Some(first) = story.bookings.first() {
        let start = seconds(first.start);
        events.push((first.time, format!("booked at {}, from {start} s", parts(first))));
    }
    for pair in story.bookings.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let what = match before.parts == after.parts {
            true => "shifted".to_owned(),
            false => format!("remapped to {}", parts(after)),
        };
        let gain = |before: f64, after: f64| match before - after {
            0.0 => "no earlier".to_owned(),
            gain if gain < 0.0 => format!("{} later", duration(-gain)),
            gain => format!("{} earlier", duration(gain)),
        };
        let (start, starts) = (seconds(after.start), gain(before.start, after.start));
        // A move to one provider ends the overhead of several, so the end may gain more than the
        // start.
        let ends = before
            .finish
            .zip(after.finish)
            .filter(|(was, is)| (was - is - (before.start - after.start)).abs() > 1e-6);
        let ends =
            ends.map_or_else(String::new, |(was, is)| format!(", and ends {}", gain(was, is)));
        let asked =
            after.asked_by.as_ref().map_or_else(String::new, |by| format!(", as {by} asked"));
        events.push((after.time, format!("{what}{asked}: starts at {start} s, {starts}{ends}")));
    }
}

fn attempt(story: &Story, it: &Attempt, many: bool, events: &mut Vec<(f64, String)>) {
    let Some(start) = it.start else { return };
    let (name, at) = (format!("attempt {}", it.attempt), &it.provider);
    let late = duration(start - story.submit);
    // The lines of the reservation have its size.
    let size = match story.granted.is_some() || it.processors == story.processors {
        true => String::new(),
        false => format!(" on {}", whole(it.processors, "processor")),
    };
    events.push((
        start,
        match many {
            true => format!("{name} started at {at}{size}"),
            false => format!("started at {at}{size}, {late} after its submission"),
        },
    ));
    let was_lost = ["failed", "preempted"].contains(&it.outcome.as_str());
    let Some(end) = it.end.filter(|_| was_lost) else { return };
    let saved = match it.saved > 0.0 {
        true => format!(", of which checkpoints saved {}", duration(it.saved)),
        false => String::new(),
    };
    let name = if many { name } else { "its attempt".to_owned() };
    let ran = duration(end - start);
    let what = match &it.stopped_for {
        Some(it) => {
            let job = format!("job {} ({}!{})", it.job, it.workload, it.job_id);
            format!("was stopped at {at} for {job} after {ran}{saved}")
        }
        None => format!("failed at {at} after {ran}{saved}: {}", down(it.restored, "processors")),
    };
    events.push((end, format!("{name} {what}")));
}

/// Reason why an attempt failed.
fn down(restored: Option<f64>, what: &str) -> String {
    match restored {
        Some(time) => format!("{what} down until {} s", seconds(time)),
        None => format!("{what} down"),
    }
}

/// Parts that ran although the whole job did not: their starts, and the reasons of their ends.
fn lost_parts(story: &Story, events: &mut Vec<(f64, String)>) {
    for it in &story.lost_parts {
        let (at, size) = (&it.provider, whole(it.processors, "processor"));
        events.push((it.start, format!("part started at {at} on {size}")));
        let ran = duration(it.end - it.start);
        let end = match it.outcome.as_str() {
            "failed" => format!("failed after {ran}: {}", down(it.restored, "processors")),
            _ => format!("given up after {ran}: its job could not run as a whole"),
        };
        events.push((it.end, format!("part at {at} {end}")));
    }
}

fn bag(story: &Story, events: &mut Vec<(f64, String)>) {
    if let Some(start) = story.start.filter(|_| !story.shares.is_empty()) {
        let late = duration(start - story.submit);
        let what = if story.shape == "bag" { "first task" } else { "all parts" };
        events.push((start, format!("{what} started, {late} after the submission")));
    }
    let together = |a: &LostTasks, b: &LostTasks| (&a.provider, a.end) == (&b.provider, b.end);
    for lost in story.lost_tasks.chunk_by(together) {
        let tasks = whole(lost.iter().map(|it| it.tasks).sum(), "task");
        // Only then are all of their processors back.
        let back = lost.iter().filter_map(|it| it.restored).max_by(f64::total_cmp);
        let (at, why) = (&lost[0].provider, down(back, "processors"));
        events.push((lost[0].end, format!("{tasks} failed at {at}: {why}")));
    }
}

/// An attempt on a resource of a grid.
fn on_resource(it: &Attempt, here: &OnGrid, events: &mut Vec<(f64, String)>) {
    let Attempt { attempt, provider, .. } = it;
    let (Some(sent), Some(end)) = (it.queued, it.end) else { return };
    let from = here.parent.map_or_else(String::new, |parent| {
        format!(", from a checkpoint of attempt {parent} with {} MI", number(here.work_at_start))
    });
    events.push((sent, format!("attempt {attempt} sent to {provider}{from}")));
    if let Some(start) = it.start {
        let data = start - sent;
        let after = match data > 0.0 {
            true => format!(", after {} for data", duration(data)),
            false => String::new(),
        };
        events.push((start, format!("attempt {attempt} began to compute at {provider}{after}")));
    }
    let saved = match here.work_saved {
        Some(saved) => format!("a checkpoint holds {} MI", number(saved)),
        None => "no checkpoint of it can be used".to_owned(),
    };
    let ran = format!("after computing {}", duration(here.computing));
    let what = match it.outcome.as_str() {
        "completed" => "computed; its output is sent",
        "failed" => {
            let why = down(it.restored, "resource");
            &format!("failed {ran}: {why}; {saved}")
        }
        "cancelled" => &format!("cancelled {ran}: another attempt was enough"),
        "moved" => &format!("left {ran}, to continue on another resource; {saved}"),
        "stranded" => "stopped: its data were at a resource that failed",
        _ => return,
    };
    // The end of a completed attempt is that of its output, which follows the computing.
    let time = if it.outcome == "completed" { here.slot_left } else { end };
    events.push((time, format!("attempt {attempt} at {provider} {what}")));
}

fn ending(story: &Story) -> String {
    let ran = duration(story.running());
    let promise = match story.promised_end.filter(|_| story.outcome == "completed") {
        Some(promised) if story.left > promised => {
            format!(", {} later than promised", duration(story.left - promised))
        }
        Some(promised) if story.left < promised => {
            format!(", {} earlier than promised", duration(promised - story.left))
        }
        Some(_) => ", as promised".to_owned(),
        None => String::new(),
    };
    match story.outcome.as_str() {
        "completed" if story.granted.as_ref().is_some_and(|it| it.broken) => {
            format!("completed after running {ran}; there was no room left in its window{promise}")
        }
        "completed" => format!("completed after running {ran}{promise}"),
        "walltime_reached" => format!("stopped at its limit after running {ran}"),
        "cancelled" if story.was_stopped() => {
            "cancelled: it was stopped for another job, and is not started again".to_owned()
        }
        "cancelled" => "withdrawn by its user while it waited".to_owned(),
        "rejected" => {
            let reason = story.refusal.as_deref().unwrap_or("for no given reason");
            format!("rejected: {}", reason.replace('_', " "))
        }
        "failed" if story.attempts.is_empty() && story.granted.is_some() => {
            "given back: it never started".to_owned()
        }
        "failed" => "given up: it is not started again".to_owned(),
        "unfinished" if story.start.is_some() => {
            format!("still running after {ran}, when the run stopped")
        }
        "unfinished" if story.is_held => {
            "still held by its user when the run stopped: not submitted".to_owned()
        }
        "unfinished" => "still waiting when the run stopped".to_owned(),
        other => other.to_owned(),
    }
}
