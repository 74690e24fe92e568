//! The queue in which a rigid job waited.

use crate::explain::{
    Backfilled, BookedStart, Held, HeldByOthers, HeldByPart, How, Part, Queued, Recorded, Rule,
    Story, Test, Wait,
};

use super::{LISTED, most, whole};
use crate::readable::{count, duration, lines, number, row, seconds};

/// Events at the provider during the wait, jobs that were passed, and the booking.
pub(super) fn told(story: &Story) -> String {
    let mut text = story.recorded.map(|it| recorded(story, it)).unwrap_or_default();
    text.push_str(&rules(story));
    text.push_str(&limits(story));
    if let Some(wait) = &story.wait {
        text.push_str(&waited(story, wait));
    }
    if let Some(it) = &story.backfilled {
        text.push_str(&backfilled(story, it));
    }
    if let Some((it, start)) = story.booked.as_ref().zip(story.start) {
        text.push_str(&booked(it, start));
    }
    if let Some(wait) = &story.wait {
        let until = if story.start.is_some() { "started" } else { "left" };
        // Behind the short texts, because both lists may be long.
        text.push_str(&holders(wait));
        text.push_str(&overtakers(wait, until));
    }
    text
}

/// Its queue, its quality of service, its account and its priority.
fn rules(story: &Story) -> String {
    let Some(rules) = &story.rules else { return String::new() };
    let named =
        [("queue", &rules.queue), ("quality of service", &rules.qos), ("account", &rules.account)];
    let named = named.into_iter().filter_map(|(kind, name)| Some((kind, name.as_ref()?)));
    let named = Vec::from_iter(named.map(|(kind, name)| format!("{kind} \"{name}\"")));
    let mut text = String::new();
    if !named.is_empty() {
        text.push_str(&format!("\nIt belongs to {}.\n", named.join(", ")));
    }
    let Some(priority) = rules.priority else { return text };
    let when = match story.start {
        Some(_) => "at its start",
        None => "at the last calculation while it waited",
    };
    text.push_str(&format!("\nIts priority {when} was {priority}"));
    let factors = rules.factors.iter().map(|(name, part)| format!("{} for {name}", number(*part)));
    match Vec::from_iter(factors).join(", ") {
        none if none.is_empty() => text.push_str(".\n"),
        factors => text.push_str(&format!(": {factors}.\n")),
    }
    text
}

/// The limits that kept it from its start.
fn limits(story: &Story) -> String {
    if story.limits.is_empty() {
        return String::new();
    }
    let mut text = "\nLimits kept it from its start, whatever was free:\n".to_owned();
    for it in story.limits.iter().take(LISTED) {
        let (from, until) = (seconds(it.from), seconds(it.until));
        text.push_str(&format!("  {} from {from} s to {until} s.\n", it.limit));
    }
    if story.limits.len() > LISTED {
        text.push_str(&format!("  {} more times.\n", story.limits.len() - LISTED));
    }
    text
}

/// Its start beside the one that its log has recorded.
fn recorded(story: &Story, it: Recorded) -> String {
    let Some(recorded) = it.start else {
        return "\nIts log has no waiting time: its provider starts it as soon as its processors are free.\n"
            .to_owned();
    };
    let at = seconds(recorded);
    match story.start {
        Some(start) if start == recorded => {
            format!("\nIt started at the time recorded in its log: at {at} s.\n")
        }
        Some(start) if start > recorded => {
            let late = duration(start - recorded);
            format!("\nIts log has recorded a start at {at} s; it started {late} later.\n")
        }
        _ => format!("\nIts log has recorded a start at {at} s.\n"),
    }
}

fn waited(story: &Story, wait: &Wait) -> String {
    let provider = story.provider.as_deref().unwrap_or("its provider");
    let length: f64 = wait.stretches.iter().map(|(from, until)| until - from).sum();
    let mut text = format!(
        "\nIt was in the queue of {provider} ({}, {}) for {}\n",
        wait.scheduler,
        whole(wait.processors, "processor"),
        duration(length),
    );
    text.push_str(&ahead(story, wait));
    text.push_str(&format!(
        "  It needs {}; from {} to {} were free, {} on average.\n",
        whole(story.size(), "processor"),
        wait.free_min,
        wait.free_max,
        number(wait.free_mean)
    ));
    // Free processors are not the reason then: a rule must have held the job back.
    match wait.longest_enough {
        None => text.push_str("  There never were enough free.\n"),
        Some((from, to)) => text.push_str(&format!(
            "  Enough were free for {} of that time, at longest from {} s to {} s:\n  {}.\n",
            duration(wait.enough),
            seconds(from),
            seconds(to),
            match (story.parts.iter().any(|it| it.part == Part::Order), &wait.held) {
                (true, Some(Held::ByBooking(it))) => format!(
                    "it waited for its own booking at {} s, as no reservation moves under this compression",
                    seconds(it.booked)
                ),
                (true, Some(Held::ByOthers(held))) => because(held),
                (true, Some(Held::ByPart(held))) => into(held),
                (true, None) => {
                    "the order of the queue, its own reservation or those of other jobs held it \
                     back. The tables\n  \
                     do not record which".to_owned()
                }
                // Crashes of the scheduler and windows of maintenance are printed above.
                (false, _) => "the cause named above held it back".to_owned(),
            },
        )),
    }
    if !wait.freed_by.is_empty() {
        text.push_str(&format!(
            "  At the instant it started, {} gave back {}.\n",
            numbers(&wait.freed_by),
            whole(wait.freed_at_start, "processor"),
        ));
    }
    text
}

/// The jobs before it. With priorities, the jobs that waited there: tables do not show their order at its arrival.
fn ahead(story: &Story, wait: &Wait) -> String {
    let ahead = Vec::from_iter(wait.ahead.iter().map(|it| it.job));
    if let Some(rules) = story.rules.as_ref().filter(|it| it.by_priority) {
        let place = if rules.queue.is_some() { "for nodes of its queue" } else { "there" };
        let waited = match ahead.len() {
            0 => "no other job".to_owned(),
            _ => numbers(&ahead),
        };
        let mut text =
            format!("  On arrival, {waited} waited {place}; priorities decide the order.\n");
        if !wait.passed.is_empty() {
            text.push_str(&format!("  It went before {}.\n", numbers(&wait.passed)));
        }
        return text;
    }
    match (ahead.len(), wait.passed.len()) {
        (0, _) => "  On arrival, no job was ahead of it.\n".to_owned(),
        (_, 0) => format!("  On arrival, {} ahead of it.\n", were(&ahead)),
        (all, passed) if all == passed => {
            format!("  On arrival, {} ahead of it; it passed all of them.\n", were(&ahead))
        }
        _ => format!(
            "  On arrival, {} ahead of it; it passed {}.\n",
            were(&ahead),
            numbers(&wait.passed)
        ),
    }
}

/// `job 2 was`, `jobs 2 and 3 were`
fn were(jobs: &[i64]) -> String {
    format!("{} {}", numbers(jobs), if jobs.len() == 1 { "was" } else { "were" })
}

/// `job 2`, `jobs 2, 3 and 4`
fn numbers(jobs: &[i64]) -> String {
    let names = Vec::from_iter(jobs.iter().take(LISTED).map(i64::to_string));
    match jobs {
        [] => "no job".to_owned(),
        [job] => format!("job {job}"),
        _ if jobs.len() > LISTED => {
            format!("jobs {} and {} more", names.join(", "), jobs.len() - LISTED)
        }
        _ => {
            let (last, others) = names.split_last().map_or(("", &[][..]), |it| (it.0, it.1));
            format!("jobs {} and {last}", others.join(", "))
        }
    }
}

/// The part or reservation that it would have run into.
fn into(held: &HeldByPart) -> String {
    let Queued { job, workload, job_id, processors, start, .. } = &held.part;
    let what = if held.is_reservation { "reservation" } else { "part" };
    let needs = whole(*processors, "processor");
    let from = start.map_or(String::new(), |start| format!(" from {} s on", seconds(start)));
    format!(
        "it would have run into the {what} of job {job} ({workload}!{job_id}), which had {needs}{from}"
    )
}

/// Reason why it did not start although enough processors were free.
fn because(held: &HeldByOthers) -> String {
    let head = &held.head;
    let name = format!("job {} ({}!{})", head.job, head.workload, head.job_id);
    let others = match held.before {
        1 => String::new(),
        more => format!(" and {}", count(more - 1, "other job")),
    };
    let needs = whole(head.processors, "processor");
    if let Some(depth) = held.beyond {
        return format!(
            "it stood behind {}, and a pass examines {} behind the head of the queue",
            count(held.before, "job"),
            count(depth, "job")
        );
    }
    match (held.rule, held.head_start) {
        (Rule::Fcfs, _) => format!(
            "{name}, which needed {needs},{others} stood before it, and under fcfs no job passes another one"
        ),
        // Under EASY only the head of the queue has a reservation, so only it can be delayed.
        (Rule::Easy, Some(start)) => format!(
            "it would have delayed {name}, the head of the queue, which needed {needs} and could start\n  \
             at {} s by the limits of the running jobs",
            seconds(start)
        ),
        (Rule::Easy, None) => {
            format!("it would have delayed {name}, the head of the queue, which needed {needs}")
        }
        (Rule::Conservative, _) => {
            format!("{name}{others} stood before it, and it would have delayed their bookings")
        }
    }
}

/// The jobs that it passed, and the test that allowed it.
fn backfilled(story: &Story, it: &Backfilled) -> String {
    let head = &it.head;
    let more = match it.passed {
        1 => String::new(),
        passed => format!(" and {}", count(passed - 1, "other job")),
    };
    let mut text = format!(
        "\nIt was backfilled: job {} ({}!{}), which needs {},{more} stood before it.\n",
        head.job,
        head.workload,
        head.job_id,
        whole(head.processors, "processor"),
    );
    let Some(start) = it.head_start else { return text };
    let can = format!("job {} could start at {} s", head.job, seconds(start));
    match (it.test, it.left_free) {
        (Some(Test::EndsBefore), _) => text.push_str(&format!(
            "  By the limits of the running jobs, {can}; this one ends before that, by its own limit.\n"
        )),
        (Some(Test::LeavesRoom), Some(left)) => text.push_str(&format!(
            "  By the limits of the running jobs, {can}, and leaves {} free; this one needs {}.\n",
            whole(left, "processor"),
            whole(story.size(), "processor"),
        )),
        _ => {}
    }
    text
}

/// The start that had been booked for it, and the jobs in its place.
fn booked(it: &BookedStart, start: f64) -> String {
    let booked = seconds(it.start);
    // Both are times of the tables, so equality is exact.
    if it.start == start {
        return format!("\nIt started when its provider had booked it: at {booked} s.\n");
    }
    let early = duration(it.start - start);
    if it.others_ended_early {
        return format!(
            "\nIts provider had booked it at {booked} s; it started {early} earlier, because other \
             jobs needed less than their bookings.\n",
        );
    }
    // Failures, overruns and jobs that leave the queue cause new plans; some compressions do at
    // each end.
    let anew = format!(
        "\nIts provider had booked it at {booked} s; its reservation was moved when the plan was made anew,\n\
         and it started"
    );
    if start < it.start {
        return format!("{anew} {early} earlier.\n");
    }
    let late = duration(start - it.start);
    // Nothing that the tables record took its place.
    if it.displaced_by.is_empty() && it.down == 0 {
        return format!("{anew} {late} later.\n");
    }
    let mut text = format!(
        "\nIts provider had booked it at {booked} s; it was displaced, and started {late} later.\n"
    );
    for it in it.displaced_by.iter().take(LISTED) {
        let how = match it.how {
            How::Overran => "ran past its limit",
            How::RanAgain => "ran again after a failure",
            How::QueuedLater => "was queued later",
        };
        text.push_str(&format!(
            "  At that instant job {} ({}!{}), which {how}, held {}.\n",
            it.job,
            it.workload,
            it.job_id,
            whole(it.processors, "processor")
        ));
    }
    if it.down > 0 {
        text.push_str(&format!("  {} were down then.\n", whole(it.down, "processor")));
    }
    text
}

/// The jobs that held processors during the wait.
fn holders(wait: &Wait) -> String {
    if wait.holders.is_empty() {
        return "\nNo job held processors there meanwhile.\n".to_owned();
    }
    let total: f64 = wait.holders.iter().map(|it| it.held).sum();
    let mut text = format!(
        "\n{} held {} processor-seconds meanwhile{}\n",
        count(wait.holders.len(), "job"),
        number(total),
        most(wait.holders.len(), "the jobs that held most")
    );
    let mut rows =
        vec![row(["job", "", "processors", "from, s", "to, s", "processor-seconds", "%"])];
    rows.extend(wait.holders.iter().take(LISTED).map(|it| {
        vec![
            it.job.to_string(),
            format!("{}!{}", it.workload, it.job_id),
            it.processors.to_string(),
            seconds(it.start),
            seconds(it.end),
            number(it.held),
            format!("{:.1}", 100.0 * it.held / total),
        ]
    }));
    text.push_str(&lines(&rows, &[1]));
    text
}

/// The jobs that were queued later and started earlier.
fn overtakers(wait: &Wait, until: &str) -> String {
    if wait.overtakers.is_empty() {
        return format!("\nNo job that was queued later started before this one {until}.\n");
    }
    let mut text = format!(
        "\n{} queued later started before this one {until}{}\n",
        count(wait.overtakers.len(), "job"),
        most(wait.overtakers.len(), "the first")
    );
    let mut rows = vec![row(["job", "", "processors", "limit, s", "queued, s", "started, s"])];
    rows.extend(wait.overtakers.iter().take(LISTED).map(|it| {
        vec![
            it.job.to_string(),
            format!("{}!{}", it.workload, it.job_id),
            it.processors.to_string(),
            it.requested_time.map_or_else(|| "none".to_owned(), seconds),
            seconds(it.queued),
            seconds(it.start),
        ]
    }));
    text.push_str(&lines(&rows, &[1]));
    text
}
