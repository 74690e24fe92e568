//! Reasons why a task of a static schedule waited at its resource.

use crate::explain::{Statics, Story, Turn};

use super::{LISTED, most};
use crate::readable::{count, lines, row, seconds};

/// The resource, its outages, and its other tasks meanwhile.
pub(super) fn told(story: &Story) -> String {
    let Some(Statics { resource, down, unknown, turns }) = &story.statics else {
        return String::new();
    };
    // The resource alone does not explain a wait.
    if down.is_empty() && unknown.is_empty() && turns.is_empty() {
        return String::new();
    }
    let mut text = format!("\nThe schedule had it on {resource}");
    if !down.is_empty() {
        text.push_str(&format!(", which was down from {}", spans(down)));
    }
    text.push('.');
    if !unknown.is_empty() {
        text.push_str(&format!(
            " It worked again, and the scheduler was not notified of that, from {}.",
            spans(unknown)
        ));
    }
    text.push('\n');
    if turns.is_empty() {
        return text;
    }
    let ran = count(turns.len(), "other task");
    text.push_str(&format!("{ran} ran there meanwhile{}\n", most(turns.len(), "the first")));
    let mut rows = vec![row(["job", "", "sent, s", "gone, s"])];
    rows.extend(turns.iter().take(LISTED).map(|it: &Turn| {
        let name = format!("{}!{}", it.workload, it.job_id);
        vec![it.job.to_string(), name, seconds(it.from), seconds(it.until)]
    }));
    text.push_str(&lines(&rows, &[1]));
    text
}

/// `10 s to 20 s, and from 30 s to 40 s`
fn spans(spans: &[(f64, f64)]) -> String {
    let span = |&(from, until): &(f64, f64)| format!("{} s to {} s", seconds(from), seconds(until));
    let told = spans.iter().take(LISTED).map(span).collect::<Vec<_>>().join(", from ");
    match spans.len().checked_sub(LISTED).filter(|&more| more > 0) {
        Some(more) => format!("{told}, and {} more", count(more, "time")),
        None => told,
    }
}
