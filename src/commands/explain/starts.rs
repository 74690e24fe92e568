//! All starts of a run in a table, each with its reason.

use crate::experiment::explain::{Part, Reason, Start, Test};

use crate::commands::table::{count, lines, row, seconds};

/// The starts, a row each.
pub(super) fn told(starts: &[Start]) -> String {
    let mut rows = vec![row([
        "start, s",
        "job",
        "",
        "attempt",
        "processors",
        "provider",
        "submitted, s",
        "waited, s",
        "reason",
    ])];
    rows.extend(starts.iter().map(|it| {
        vec![
            it.start.map_or_else(|| "-".to_owned(), seconds),
            it.job.to_string(),
            format!("{}!{}", it.workload, it.job_id),
            it.attempt.map_or_else(|| "-".to_owned(), |attempt| attempt.to_string()),
            it.processors.to_string(),
            it.provider.clone().unwrap_or_default(),
            seconds(it.submit),
            seconds(it.waiting),
            reason(it),
        ]
    }));
    if starts.iter().any(|it| it.attempt > Some(1)) {
        return lines(&rows, &[2, 5, 8]);
    }
    // A column of ones says nothing.
    rows.iter_mut().for_each(|row| drop(row.remove(3)));
    lines(&rows, &[2, 4, 7])
}

fn reason(start: &Start) -> String {
    match &start.reason {
        Reason::AtOnce => "at once".to_owned(),
        Reason::Backfilled(it) => {
            let head = it.head.job;
            match (it.test, it.head_start, it.left_free) {
                (Some(Test::EndsBefore), Some(start), _) => {
                    format!("backfilled: ends before job {head} can start, at {} s", seconds(start))
                }
                (Some(Test::LeavesRoom), _, Some(left)) => {
                    let free = count(usize::try_from(left).unwrap_or(0), "processor");
                    format!("backfilled: job {head}, when it can start, leaves {free} free")
                }
                _ => format!("backfilled before job {head}"),
            }
        }
        Reason::Booked(_) => "at its booked start".to_owned(),
        Reason::Recorded => "at the time recorded in its log".to_owned(),
        Reason::CameFree(jobs) => {
            let jobs = Vec::from_iter(jobs.iter().map(i64::to_string));
            let (word, end) = if jobs.len() == 1 { ("job", "ends") } else { ("jobs", "end") };
            match jobs.len() {
                // Up to four are named; of more, three and their number take no more room.
                0..=4 => format!("{word} {} {end}", jobs.join(", ")),
                more => format!("jobs {} and {} more end", jobs[..3].join(", "), more - 3),
            }
        }
        Reason::Waited(Part::NotReady) if start.is_task => "its parents are done".to_owned(),
        Reason::Sent => "sent by the scheduler".to_owned(),
        Reason::Waited(part) => format!("waited: {}", Part::word(*part)),
        Reason::Never(why) => why.replace('_', " "),
    }
}
