//! The queue in which a rigid job waited.

use crate::experiment::explain::{Part, Story, Wait};

use super::{LISTED, most, whole};
use crate::commands::table::{count, duration, lines, number, row, seconds};

/// What happened at the provider meanwhile.
pub(super) fn told(story: &Story, wait: &Wait) -> String {
    let provider = story.provider.as_deref().unwrap_or("its provider");
    let until = if story.start.is_some() { "started" } else { "left" };
    let length: f64 = wait.stretches.iter().map(|(from, until)| until - from).sum();
    let mut text = format!(
        "\nIt was in the queue of {provider} ({}, {}) for {}\n",
        wait.scheduler,
        whole(wait.processors, "processor"),
        duration(length),
    );
    text.push_str(&format!(
        "  When it came, {} waited there already; {} of them still did when it {until}.\n",
        count(wait.ahead, "job"),
        wait.ahead_passed
    ));
    text.push_str(&format!(
        "  It needs {}; from {} to {} were free, {} on average.\n",
        whole(story.size(), "processor"),
        wait.free_min,
        wait.free_max,
        number(wait.free_mean)
    ));
    match wait.longest_enough {
        None => text.push_str("  There never were enough free.\n"),
        Some((from, to)) => text.push_str(&format!(
            "  Enough were free for {} of that time, at longest from {} s to {} s:\n  {}.\n",
            duration(wait.enough),
            seconds(from),
            seconds(to),
            match story.parts.iter().any(|it| it.part == Part::Order) {
                true => {
                    "the order of the queue, or reservations for others, held it back. The tables do\n  \
                     not record which"
                }
                // Whose scheduler was down, or whom maintenance was too near, is said above.
                false => "what is named above held it back",
            },
        )),
    }
    if wait.ended_at_start > 0 {
        text.push_str(&format!(
            "  At the instant it started, {} gave back {}.\n",
            count(wait.ended_at_start, "job"),
            whole(wait.freed_at_start, "processor"),
        ));
    }
    text.push_str(&holders(wait));
    text.push_str(&overtakers(wait, until));
    text
}

/// The jobs that held processors meanwhile.
fn holders(wait: &Wait) -> String {
    if wait.holders.is_empty() {
        return "\nNo job held processors there meanwhile.\n".to_owned();
    }
    let total: f64 = wait.holders.iter().map(|it| it.held).sum();
    let mut text = format!(
        "\n{} held {} processor-seconds meanwhile{}\n",
        count(wait.holders.len(), "job"),
        number(total),
        most(wait.holders.len(), "those that held most")
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

/// The jobs that came later and started earlier.
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
