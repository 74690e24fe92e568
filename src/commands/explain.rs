//! `haggle explain`: the stories of jobs, as far as a run's tables have them.

mod bag;
mod events;
mod queue;
mod starts;
mod statics;
mod time;
mod workflow;

use std::path::PathBuf;

use crate::experiment::explain::{Asked, Chronicle, Start, Story, find};
use haggle_results::reader::Rows;
use haggle_results::{JobRow, RunReader, Table};
use serde_json::json;

use super::table::{count, duration, lines, row, seconds};
use super::{Error, open_run, print};
use crate::exit::Exit;

/// Rows of a list.
const LISTED: usize = 10;

/// Most jobs of a run for which all starts are listed.
const STARTS_MAX: usize = 2_000;

/// Explain a job's time: queues, waiting and its reasons, lost computing
///
/// The parts of its time in the system add up to its waiting time and its run time. Such parts are busy processors,
/// the order of the queue, processors down, wasted computing, and others (docs/explain.md). The explanation uses only the tables of the
/// run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle explain runs/quickstart 1234
  haggle explain runs/quickstart 'west-jobs!35' 1234  # several jobs
  haggle explain runs/quickstart 1234 --messages
  haggle explain runs/quickstart 1234 --beside runs/quickstart
  haggle run --example reservations --output runs/small
  haggle explain runs/small --starts  # each start of a small run, and its reason")]
pub(crate) struct Args {
    /// Folder of the run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Jobs: each by its number in the run, or as WORKLOAD!NUMBER by its number in its workload
    #[arg(value_name = "JOB", value_parser = asked, required_unless_present = "starts")]
    jobs: Vec<Asked>,
    /// List all starts of a small run in order of time, each with its reason
    #[arg(long, conflicts_with = "jobs")]
    starts: bool,
    /// Explain the same jobs in this run, too, such as a branch; may be given several times
    #[arg(long = "beside", value_name = "DIR", conflicts_with = "starts")]
    beside: Vec<PathBuf>,
    /// List the messages about the job as well; the run must have recorded them
    #[arg(long, conflicts_with = "starts")]
    messages: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads the identification of a job.
fn asked(text: &str) -> Result<Asked, String> {
    let number = |text: &str| text.parse().ok();
    // The last one, because a workload's name may contain the sign itself.
    let asked = match text.rsplit_once('!') {
        Some((workload, job)) => number(job).map(|job| Asked::InWorkload(workload.to_owned(), job)),
        None => number(text).map(Asked::InRun),
    };
    asked.ok_or_else(|| "write a number, or WORKLOAD!NUMBER".to_owned())
}

/// Prints the stories.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let run = open_run(&args.folder)?;
    let text = match (args.starts, args.beside.as_slice()) {
        (true, _) => starts(&run, args.json)?,
        (false, []) => stories(&run, &args.jobs, args)?,
        (false, others) => side_by_side(&run, others, args)?,
    };
    print(&text)?;
    Ok(Exit::Success)
}

/// The stories of the same jobs in several runs. A job is found by its number in its workload, because its number in
/// the run may differ.
fn side_by_side(run: &RunReader, others: &[PathBuf], args: &Args) -> Result<String, Error> {
    let mut names = Vec::new();
    for (asked, found) in args.jobs.iter().zip(find(run, &args.jobs)?) {
        let Some(job) = found else { return Err(unknown(asked, run)?) };
        names.push(Asked::InWorkload(job.workload, job.job_id));
    }
    let mut texts = Vec::new();
    for (place, folder) in [&args.folder].into_iter().chain(others).enumerate() {
        let other = if place == 0 { None } else { Some(open_run(folder)?) };
        let text = stories(other.as_ref().unwrap_or(run), &names, args)?;
        texts.push(match args.json {
            true => text,
            false => format!("{}\n\n{text}", folder.display()),
        });
    }
    Ok(match args.json {
        true => format!("[{}]\n", texts.join(",")),
        false => texts.join("\n"),
    })
}

fn stories(run: &RunReader, names: &[Asked], args: &Args) -> Result<String, Error> {
    let mut jobs: Vec<JobRow> = Vec::new();
    for (asked, found) in names.iter().zip(find(run, names)?) {
        match found {
            // The same job by both of its numbers has one story.
            Some(job) if jobs.iter().any(|it| it.job == job.job) => {}
            Some(job) => jobs.push(job),
            None => return Err(unknown(asked, run)?),
        }
    }
    // Messages are the largest table; text without them need not read it.
    let all = Chronicle::of(run, &jobs, args.messages || args.json)?;
    let stories = Vec::from_iter(jobs.iter().map(|job| all.story(job)));
    Ok(match stories.as_slice() {
        // One job is an object without a list around it, so that `jq .outcome` works.
        [story] if args.json => format!("{:#}\n", json!(story)),
        stories if args.json => format!("{:#}\n", json!(stories)),
        stories => {
            let texts = stories.iter().map(|story| as_text(story, args.messages));
            texts.collect::<Vec<_>>().join("\n")
        }
    })
}

/// All starts of a run.
fn starts(run: &RunReader, as_json: bool) -> Result<String, Error> {
    let jobs = run.columns(Table::Jobs, &["job"])?.rows();
    if jobs > STARTS_MAX {
        return Err(Error::Unfit {
            message: format!("the run has {jobs} jobs, and --starts is for {STARTS_MAX} at most"),
            hint:
                "name some jobs, such as the ones that `haggle jobs DIR --where \"waiting_time > \
                   3600\"` lists"
                    .to_owned(),
        });
    }
    let all = Chronicle::read(run)?;
    let mut starts =
        Vec::from_iter(all.jobs().iter().flat_map(|job| Start::all_of(&all.story(job))));
    // Work that never began comes last. Starts of one instant are in the order of the jobs.
    let time = |it: &Start| it.start.unwrap_or(f64::INFINITY);
    let name = |it: &Start| (it.job, it.attempt);
    starts.sort_by(|a, b| time(a).total_cmp(&time(b)).then(name(a).cmp(&name(b))));
    Ok(match as_json {
        true => format!("{:#}\n", json!(starts)),
        false => starts::told(&starts),
    })
}

/// The error for an unknown job, with the range of the known ones.
fn unknown(asked: &Asked, run: &RunReader) -> Result<Error, Error> {
    // Numbers may have gaps, so the number of jobs is printed as well.
    let range = |numbers: &[Option<i64>], of: &str| {
        let numbers = numbers.iter().flatten();
        match (numbers.clone().min(), numbers.clone().max()) {
            (Some(low), Some(high)) => {
                let jobs = count(numbers.count(), "job");
                format!("the {jobs} of {of} are numbered from {low} to {high}")
            }
            _ => "it has no jobs at all".to_owned(),
        }
    };
    Ok(match asked {
        Asked::InRun(number) => {
            let jobs = run.columns(Table::Jobs, &["job"])?;
            Error::Unfit {
                message: format!("the run has no job {number}"),
                hint: format!(
                    "{}; the number in a workload is written WORKLOAD!NUMBER",
                    range(jobs.integer("job")?, "the run")
                ),
            }
        }
        Asked::InWorkload(workload, number) => {
            let of = Rows::all().with("workload_name", [workload.clone()]);
            let jobs = run.columns_of(Table::Jobs, &["job_id"], &of)?;
            let hint = match jobs.rows() {
                0 => {
                    let names = run.columns(Table::Jobs, &["workload_name"])?;
                    let mut names = names.text("workload_name")?.texts.clone();
                    names.sort_unstable();
                    format!("the run's workloads are {}", names.join(", "))
                }
                _ => range(jobs.integer("job_id")?, workload),
            };
            Error::Unfit { message: format!("the run has no job {workload}!{number}"), hint }
        }
    })
}

fn as_text(story: &Story, with_messages: bool) -> String {
    let limit = story
        .requested_time
        .map_or_else(|| "no time limit".to_owned(), |time| format!("at most {}", duration(time)));
    let size = match story.shape.as_str() {
        "bag" => whole(story.processors, "task"),
        "phased" => "an application of phases".to_owned(),
        _ => whole(story.processors, "processor"),
    };
    let named =
        story.task_name.as_ref().map_or_else(String::new, |name| format!("task \"{name}\", "));
    let mut text = format!(
        "job {} of the run, {}!{}: {named}{}, {}, {limit}\n\n",
        story.job, story.workload, story.job_id, story.class, size,
    );
    text.push_str(&events::told(story));
    text.push_str(&time::told(story));
    text.push_str(&statics::told(story));
    text.push_str(&workflow::told(story));
    text.push_str(&intervals(story));
    text.push_str(&crashes(story));
    text.push_str(&maintenance(story));
    text.push_str(&refused(story));
    text.push_str(&bag::told(story));
    text.push_str(&queue::told(story));
    if with_messages {
        text.push_str(&messages(story));
    }
    text
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
        _ => return "\nIt was never queued.\n".to_owned(),
    };
    format!("\nIt was never queued. {reason}\n")
}

/// Earlier tasks of its workflow without success, because of which its inputs would never exist.
fn parent_failed(story: &Story) -> String {
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
