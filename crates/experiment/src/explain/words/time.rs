//! Use of a job's time: parts that add up to its waiting time and its run time.

use crate::explain::{Part, Story};

use crate::readable::{clock, duration, lines, row, seconds};

/// The parts, a row each.
pub(super) fn told(story: &Story) -> String {
    let (waiting, running) = (story.waiting(), story.running());
    if waiting + running == 0.0 {
        return String::new();
    }
    let cells = |name: &str, waiting: f64, running: f64| {
        let [wait, run] =
            [waiting, running].map(|it| if it == 0.0 { String::new() } else { seconds(it) });
        vec![name.to_owned(), wait, clock(waiting), run, clock(running)]
    };
    let mut rows = vec![row(["where its time went", "waiting, s", "", "running, s", ""])];
    rows.extend(story.parts.iter().map(|it| cells(word(it.part, story), it.waiting, it.running)));
    // A single part is its own sum.
    if rows.len() > 2 {
        rows.push(cells("all", waiting, running));
    }
    let mut text = format!("\n{}", lines(&rows, &[0]));
    if story.start.is_some() && waiting == 0.0 {
        text.push_str("\nIt did not wait: it started as soon as it was submitted.\n");
    } else if story.start.is_none() && story.outcome != "rejected" {
        // Failed attempts give the job itself no start.
        let tried = story.attempts.iter().any(|it| it.start.is_some());
        let never = if tried { "no attempt came to its end" } else { "never started" };
        text.push_str(&format!("\nIt waited {} and {never}.\n", duration(waiting)));
    }
    text
}

fn is_of_grid(story: &Story) -> bool {
    story.is_on_grid() || story.sizes.is_empty()
}

/// A part in the field's words.
fn word(part: Part, story: &Story) -> &'static str {
    let on_grid = is_of_grid(story);
    match part {
        Part::Placing if story.shape == "moldable" => {
            "not queued there yet: messages, metascheduler, other providers"
        }
        Part::NotReady if story.is_task() && story.is_phased() => "before its level began",
        Part::NotReady if story.is_task() => "before its parents were done",
        Part::Busy if story.statics.is_some() => "resource of the schedule busy",
        Part::Busy if on_grid => "all slots taken",
        Part::Order if story.statics.is_some() => {
            "resource of the schedule free: turn of another task"
        }
        Part::Order if on_grid => "resource free: the order of the schedule",
        Part::Down if story.statics.is_some() => "resource of the schedule down",
        Part::Down if on_grid => "resources down",
        _ => word_of(part),
    }
}

/// The same without knowledge of the job's place.
pub(super) fn word_of(part: Part) -> &'static str {
    match part {
        Part::Before => "before time zero: not recorded",
        Part::Placing => "not queued yet: messages, metascheduler",
        Part::Following => "held by its user: it follows another job",
        Part::NotReady => "before its earliest start",
        Part::Recorded => "before the start recorded in its log",
        Part::Limit => "kept by a limit",
        Part::Busy => "too few processors free",
        Part::Memory => "processors free, but too little memory",
        Part::Gpus => "processors free, but too few gpus",
        Part::Nodes => "processors free, but on too many or busy nodes",
        Part::Order => "enough free: order of the queue, reservations",
        Part::Pass => "enough free: until the next scheduling pass",
        Part::Round => "slot free: until the scheduler's next round",
        Part::Down => "processors down",
        Part::RepairUnknown => "repair not known yet",
        Part::Maintenance => "maintenance, or too short a time before it",
        Part::SchedulerDown => "scheduler down",
        Part::Transfers => "data transfers",
        Part::Lost => "wasted computing",
        Part::StartUp => "start-up after a move",
        Part::Checkpoints => "checkpoints",
        Part::Computing => "computing",
    }
}
