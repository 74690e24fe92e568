//! The path to a task of a workflow: the tasks for which it waited, and the use of their time.

use crate::explain::{InWorkflow, Part, Step, Story};

use crate::readable::{lines, row, seconds};

/// Causes of a wait besides parents and their data.
const WAITING: [Part; 12] = [
    Part::Placing,
    Part::Limit,
    Part::Busy,
    Part::Memory,
    Part::Gpus,
    Part::Nodes,
    Part::Order,
    Part::Round,
    Part::Down,
    Part::RepairUnknown,
    Part::Maintenance,
    Part::SchedulerDown,
];

/// Parts that a column sums up.
type Sum = (&'static str, fn(Part) -> bool);

/// The columns; the last two only if they are not zero.
const SUMS: [Sum; 5] = [
    ("waiting, s", |it| WAITING.contains(&it)),
    ("data, s", |it| it == Part::Transfers),
    ("computing, s", |it| it == Part::Computing),
    ("checkpoints, s", |it| it == Part::Checkpoints),
    ("wasted, s", |it| it == Part::Lost),
];

/// The tasks, a row each.
pub(super) fn told(story: &Story) -> String {
    let Some(it) = &story.workflow else { return String::new() };
    if it.path.is_empty() {
        return format!("\n{}\n", end(story, it));
    }
    let shown = SUMS.iter().enumerate();
    let shown =
        // The first three exist for every task.
        shown.filter(|(at, sum)| *at < 3 || it.path.iter().any(|step| spent(step, sum) > 0.0));
    let sums: Vec<&Sum> = shown.map(|(_, sum)| sum).collect();
    let mut head = row(["task", "job", "may start, s"]);
    head.extend(sums.iter().map(|(name, _)| (*name).to_owned()));
    head.push("done, s".to_owned());
    let mut rows = vec![head];
    rows.extend(it.path.iter().map(|step| {
        let job = format!("{}!{}", story.workload, step.job_id);
        let mut cells = vec![step.task.to_string(), job, seconds(step.ready)];
        cells.extend(sums.iter().map(|sum| seconds(spent(step, sum))));
        cells.push(seconds(step.left));
        cells
    }));
    if it.path.len() > 1 {
        let mut all = row(["all", "", ""]);
        let total = |sum: &&Sum| it.path.iter().fold(0.0, |all, step| all + spent(step, sum));
        all.extend(sums.iter().map(|sum| seconds(total(sum))));
        rows.push(all);
    }
    let waited = match story.is_phased() {
        true => "the last application of the level before",
        false => "the last of its parents to be done",
    };
    format!(
        "\nThe way to it, task {} of workflow {} of {}: each task waited for the one above it, {waited}.\n\n\
         {}\n{}\n",
        it.task,
        it.workflow,
        story.workload,
        lines(&rows, &[1]),
        end(story, it)
    )
}

fn spent(step: &Step, (_, is_in): &Sum) -> f64 {
    let of_it = step.parts.iter().filter(|it| is_in(it.part));
    // Folded from 0.0: the sum of no numbers is -0.0, which would be printed as such.
    of_it.fold(0.0, |sum, it| sum + it.waiting + it.running)
}

/// Role of the path in the workflow.
fn end(story: &Story, it: &InWorkflow) -> String {
    match &it.last {
        None => "Not all tasks of its workflow were done.".to_owned(),
        Some(last) if last.task == it.task => {
            "It was the last task of the workflow: this is the actual critical path.".to_owned()
        }
        Some(last) => format!(
            "The workflow was done at {} s, by task {}; the explanation of {}!{} has its actual \
             critical path.",
            seconds(last.end),
            last.task,
            story.workload,
            last.job_id
        ),
    }
}
