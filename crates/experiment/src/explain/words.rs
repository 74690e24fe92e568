//! The story of a job in words: the text of `haggle explain`, also shown by the viewer.

mod bag;
mod events;
mod queue;
mod statics;
mod time;
mod workflow;

use super::{NotPermitted, Part, Story};
use crate::readable::{count, duration, lines, row, seconds};

/// Rows of a list.
const LISTED: usize = 10;

impl Story {
    /// All of it as text: its title, its events, and the parts of its time. With `with_messages`, the
    /// messages about the job follow.
    pub fn text(&self, with_messages: bool) -> String {
        let mut text = format!("{}\n\n{}{}", self.title(), events::told(self), self.reasons());
        if with_messages {
            text.push_str(&messages(self));
        }
        text
    }

    /// The job in one line.
    pub fn title(&self) -> String {
        let limit = self.requested_time.map_or_else(
            || "no time limit".to_owned(),
            |time| format!("at most {}", duration(time)),
        );
        let size = match self.shape.as_str() {
            "bag" => whole(self.processors, "task"),
            "phased" => "an application of phases".to_owned(),
            _ => whole(self.processors, "processor"),
        };
        let named =
            self.task_name.as_ref().map_or_else(String::new, |name| format!("task \"{name}\", "));
        format!(
            "job {} of the run, {}!{}: {named}{}, {}, {limit}",
            self.job, self.workload, self.job_id, self.class, size,
        )
    }

    /// Its events in order of time, s since the start of the run.
    pub fn events(&self) -> Vec<(f64, String)> {
        events::of(self)
    }

    /// The parts of its time, and the reasons of its wait.
    pub fn reasons(&self) -> String {
        let parts = [
            time::told(self),
            statics::told(self),
            workflow::told(self),
            intervals(self),
            crashes(self),
            maintenance(self),
            refused(self),
            bag::told(self),
            queue::told(self),
        ];
        parts.concat()
    }
}

impl Part {
    /// Its name without knowledge of the job's place.
    pub fn word(self) -> &'static str {
        time::word_of(self)
    }
}

/// `1 processor`, `2 processors`, for a number in a table.
fn whole(number: i64, thing: &str) -> String {
    count(usize::try_from(number).unwrap_or(0), thing)
}

/// End of a list's heading; it tells which rows a shortened list has.
fn most(number: usize, which: &str) -> String {
    if number > LISTED { format!("; {which}:") } else { ":".to_owned() }
}

/// The intervals of an application.
fn intervals(story: &Story) -> String {
    if story.intervals.is_empty() {
        return String::new();
    }
    let head = ["phases", "cluster", "processors", "came by", "moved", "ran", "predicted", ""];
    let mut rows = vec![row(head)];
    rows.extend(story.intervals.iter().map(|it| {
        let phases = match it.first == it.last {
            true => it.first.to_string(),
            false => format!("{}-{}", it.first, it.last),
        };
        let moved = it.start.unwrap_or(it.end) - it.ordered;
        let ran = it.start.map_or(0.0, |start| it.end - start);
        let long = |time| format!("{} s", seconds(time));
        let processors = it.processors.to_string();
        let how = it.how.clone();
        // Most intervals are done; only the others are worth a word.
        let outcome = if it.outcome == "done" { String::new() } else { it.outcome.clone() };
        let (cluster, predicted) = (it.cluster.clone(), long(it.predicted));
        vec![phases, cluster, processors, how, long(moved), long(ran), predicted, outcome]
    }));
    format!("\n{}", lines(&rows, &[1, 3, 7]))
}

/// Crashes of its schedulers while it waited.
fn crashes(story: &Story) -> String {
    let mut text = String::new();
    for crash in &story.crashes {
        let from = seconds(crash.from);
        let until =
            crash.until.map_or("the end of the run".to_owned(), |it| format!("{} s", seconds(it)));
        text.push_str(&format!("\n{} was down from {from} s to {until}.", crash.actor));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Windows of maintenance during its wait.
fn maintenance(story: &Story) -> String {
    let mut text = String::new();
    let provider = story.provider.as_deref().unwrap_or_default();
    for it in &story.maintenance {
        let (from, until) = (seconds(it.from), seconds(it.until));
        let known = match it.announced {
            0.0 => "known from the beginning".to_owned(),
            time => format!("announced at {} s", seconds(time)),
        };
        let closed = whole(it.processors, "processor");
        let line = match (it.refused, it.is_ahead) {
            (true, _) => {
                let possible = it.possible.map_or_else(String::new, |time| {
                    format!("; there would have been room for it from {} s on", seconds(time))
                });
                format!(
                    "refused a window of maintenance from {from} s to {until} s, {known}{possible}"
                )
            }
            (false, true) => format!(
                "should have had {closed} in maintenance from {from} s to {until} s, {known}; the \
                 run was over before"
            ),
            (false, false) => {
                format!("had {closed} in maintenance from {from} s to {until} s, {known}")
            }
        };
        text.push_str(&format!("\n{provider} {line}."));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Reason why no provider accepted it.
fn refused(story: &Story) -> String {
    if story.outcome != "rejected" {
        return String::new();
    }
    let sizes: Vec<String> =
        story.sizes.iter().map(|(provider, size)| format!("{provider} has {size}")).collect();
    let needs = whole(story.processors, "processor");
    let reason = match story.refusal.as_deref() {
        // The tasks of a bag are of one processor each, so its number of tasks says nothing about sizes.
        Some("too_wide" | "no_provider") if story.shape != "bag" => {
            format!("It needs {needs}; {}.", sizes.join(", "))
        }
        Some("too_narrow") => format!(
            "It needs {needs}, fewer than its parts take: `parts` of them, of `part-min` processors each."
        ),
        Some("no_limit") if story.shape == "bag" => "A bag needs a requested time: without it, its \
                                                     completion cannot be predicted.".to_owned(),
        Some("no_limit") => "A job for several providers needs a requested time: without it, its \
                             parts cannot be booked.".to_owned(),
        Some("wrong_shape") => {
            "Bags go to a metascheduler with a `composition`, other jobs to one with a `placement` or to a provider.".to_owned()
        }
        Some("no_room") => {
            "No resource had room for its share when it arrived, and sessions do not wait.".to_owned()
        }
        Some("no_window") => no_window(story),
        Some("no_agreement") => {
            "No try got all of its parts: `transactions` of the summary has the reasons.".to_owned()
        }
        Some("parent_failed") => parent_failed(story),
        Some("not_permitted") => not_permitted(story),
        _ => return "\nIt was never queued.\n".to_owned(),
    };
    format!("\nIt was never queued. {reason}\n")
}

/// The queue or the limit that refused it.
fn not_permitted(story: &Story) -> String {
    match &story.not_permitted {
        None => "The queues and limits of its provider did not permit it.".to_owned(),
        Some(NotPermitted::NoQueue(number)) => {
            format!("No queue of its provider has the number {number}.")
        }
        Some(NotPermitted::NoPartition(number)) => {
            format!("No queue of its provider has the partition number {number}.")
        }
        Some(NotPermitted::NoAccess(queue)) => {
            format!("Queue \"{queue}\" of its provider is not open to its user or group.")
        }
        Some(NotPermitted::NoQos(number)) => {
            format!("No quality of service of its provider has the number {number}.")
        }
        Some(NotPermitted::NoQosAccess(qos)) => format!(
            "The quality of service \"{qos}\" of its provider is not open to its user or group."
        ),
        Some(NotPermitted::NeverFits(queue)) => {
            format!("The nodes of queue \"{queue}\" of its provider never have room for it.")
        }
        Some(NotPermitted::Limit(limit)) => format!("It exceeds a limit even alone: {limit}."),
        Some(NotPermitted::TooManyJobs) => {
            "Its user, account or queue had as many jobs as it may have.".to_owned()
        }
    }
}

/// Earlier tasks of its workflow without success, because of which its inputs would never exist; or a job that it follows.
fn parent_failed(story: &Story) -> String {
    if let Some(job) = story.preceding_job {
        return format!("Job {job}, which it follows, ended otherwise than its `on` asks for.");
    }
    let failed = story.workflow.iter().flat_map(|it| &it.failed);
    let told = failed.map(|it| {
        let job = format!("{}!{}", story.workload, it.job_id);
        format!("task {} ({job}) was {} at {} s", it.task, it.outcome, seconds(it.left))
    });
    format!(
        "Its inputs could not arrive, because an earlier task of its workflow was not completed: \
         {}.",
        told.collect::<Vec<_>>().join(", ")
    )
}

/// Reason why a reservation was refused: the window is too short for every provider, or had no
/// room.
fn no_window(story: &Story) -> String {
    let from = story.ready.map_or(story.submit, |ready| ready.max(story.submit));
    // A window without a deadline never ends, so it is neither over nor too short.
    let until = story.deadline.unwrap_or(f64::INFINITY);
    let asked = story.requested_time.unwrap_or(0.0);
    let by = story.deadline.map_or_else(String::new, |by| format!(" to {} s", seconds(by)));
    let window = format!("Its window, from {} s{by},", seconds(from));
    if until <= story.submit {
        return format!("{window} was over when it was submitted.");
    }
    if until - from < asked {
        return format!(
            "{window} is shorter than the {} that it requests: no provider as fast as the \
             reference can grant it.",
            duration(asked)
        );
    }
    let told = story.disclosures.iter().flatten().any(|it| it.item == "interval");
    let beside = match (told, story.alternative) {
        (true, Some(start)) => format!(
            "the offered intervals beside it, from {} s on at the earliest, were too far from it \
             for its user",
            seconds(start)
        ),
        (true, None) => {
            "the offered intervals beside it were too far from it for its user".to_owned()
        }
        (false, _) => "no interval beside it was offered".to_owned(),
    };
    format!("{window} had no room for {}, and {beside}.", whole(story.processors, "processor"))
}

/// All messages about it.
fn messages(story: &Story) -> String {
    let Some(messages) = &story.messages else {
        return "\nThe run kept no messages: set `messages = \"all\"` under [results].\n"
            .to_owned();
    };
    let mut rows = vec![row(["messages", "from", "to", "kind"])];
    rows.extend(messages.iter().map(|it| {
        let time = format!("{} s", seconds(it.time));
        vec![time, it.sender.clone(), it.receiver.clone(), it.kind.clone()]
    }));
    format!("\n{}", lines(&rows, &[1, 2, 3]))
}
