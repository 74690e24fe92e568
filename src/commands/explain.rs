//! `haggle explain`: the story of one job, as far as a run's tables tell it.

use std::path::PathBuf;

use haggle::experiment::explain::{Said, Story, Wait, explain};
use haggle_results::{JobRow, RunReader};
use serde_json::json;

use super::table::{count, duration, lines, number, row, seconds};
use super::{Error, open_run, print};
use crate::exit::Exit;

/// How many jobs a list names.
const LISTED: usize = 10;

/// Tell the story of a job: who was asked, where it was queued, why it waited
///
/// Who said what to whom is known only of runs with `messages = "all"` under
/// `[results]`. Only what the tables show is told.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle explain runs/quickstart 1234
  haggle explain runs/quickstart 'west-jobs!35'")]
pub(crate) struct Args {
    /// Folder of the run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The job: its number in the run, or WORKLOAD!NUMBER in its workload
    #[arg(value_name = "JOB")]
    job: Asked,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A job as it was asked for.
#[derive(Clone, Debug)]
enum Asked {
    InRun(i64),
    InWorkload(String, i64),
}

impl std::str::FromStr for Asked {
    type Err = String;

    fn from_str(text: &str) -> Result<Asked, String> {
        let number = |text: &str| text.parse().ok();
        let asked = match text.rsplit_once('!') {
            Some((workload, job)) => {
                number(job).map(|job| Asked::InWorkload(workload.to_owned(), job))
            }
            None => number(text).map(Asked::InRun),
        };
        asked.ok_or_else(|| "write a number, or WORKLOAD!NUMBER".to_owned())
    }
}

impl Asked {
    fn is(&self, job: &JobRow) -> bool {
        match self {
            Asked::InRun(number) => job.job == *number,
            Asked::InWorkload(workload, number) => {
                job.job_id == *number && job.workload == *workload
            }
        }
    }
}

/// Tells the story.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let run = open_run(&args.folder)?;
    let Some(story) = explain(&run, |job| args.job.is(job))? else {
        return Err(unknown(&args.job, &run)?);
    };
    print(&if args.json { format!("{:#}\n", json!(story)) } else { as_text(&story) })?;
    Ok(Exit::Success)
}

/// The error for a job that is not there, with those that are.
fn unknown(asked: &Asked, run: &RunReader) -> Result<Error, Error> {
    let jobs = run.jobs()?;
    let range = |numbers: Vec<i64>| match (numbers.iter().min(), numbers.iter().max()) {
        (Some(low), Some(high)) => format!("from {low} to {high}"),
        _ => "none at all".to_owned(),
    };
    Ok(match asked {
        Asked::InRun(number) => Error::Unfit {
            message: format!("the run has no job {number}"),
            hint: format!(
                "its jobs are numbered {}; the number in a workload is written WORKLOAD!NUMBER",
                range(jobs.iter().map(|job| job.job).collect())
            ),
        },
        Asked::InWorkload(workload, number) => {
            let mut names: Vec<&str> = jobs.iter().map(|job| job.workload.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            let mine = jobs.iter().filter(|job| job.workload == *workload);
            Error::Unfit {
                message: format!("the run has no job {workload}!{number}"),
                hint: match names.contains(&workload.as_str()) {
                    true => format!(
                        "the jobs of {workload} are numbered {}",
                        range(mine.map(|job| job.job_id).collect())
                    ),
                    false => format!("its workloads are {}", names.join(", ")),
                },
            }
        }
    })
}

fn as_text(story: &Story) -> String {
    let limit = story
        .requested_time
        .map_or_else(|| "no time limit".to_owned(), |time| format!("at most {}", duration(time)));
    let mut text = format!(
        "job {} of the run, {}!{}: {}, {}, {limit}\n\n",
        story.job,
        story.workload,
        story.job_id,
        story.class,
        count(usize::try_from(story.processors).unwrap_or(0), "processor"),
    );
    text.push_str(&lines(&events(story), &[1]));
    text.push_str(&untold(story));
    match &story.wait {
        Some(wait) => text.push_str(&why(story, wait)),
        None if story.start.is_some() => {
            text.push_str("\nIt did not wait: it started as soon as it was queued.\n");
        }
        None => text.push_str(&refused(story)),
    }
    text
}

/// What happened, in order of time.
fn events(story: &Story) -> Vec<Vec<String>> {
    let mut events: Vec<(f64, String)> = Vec::new();
    let submitters: Vec<String> =
        story.submitters.iter().map(|(user, to)| format!("by {user} to {to}")).collect();
    events
        .push((story.submit, format!("submitted {}", submitters.join(", or ")).trim().to_owned()));
    for said in story.messages.iter().flatten() {
        events.push((said.time, saying(said)));
    }
    if story.messages.is_none() {
        for it in story.disclosures.iter().flatten().filter(|it| it.item != "job_status") {
            let what = match it.item.as_str() {
                "estimate" => "told when it would run the job",
                "load" => "told its load",
                "refusal" => "refused",
                other => other,
            };
            events.push((it.time, format!("{} {what}, to {}", it.sender, it.receiver)));
        }
    }
    if let (Some(queued), Some(provider)) = (story.queued, &story.provider) {
        let promise = story.promised_end.map_or_else(String::new, |promised| {
            format!(", which promised completion by {} s", seconds(promised))
        });
        events.push((queued, format!("queued at {provider}{promise}")));
    }
    if let (Some(start), Some(provider)) = (story.start, &story.provider) {
        let late = start - story.submit;
        events.push((
            start,
            format!("started at {provider}, {} after its submission", duration(late)),
        ));
    }
    for lost in &story.lost {
        let ran = duration(lost.end - lost.start);
        let saved = if lost.saved > 0.0 {
            format!(", of which a checkpoint saved {}", duration(lost.saved))
        } else {
            String::new()
        };
        events.push((
            lost.end,
            format!("lost with its processors at {}, after {ran}{saved}", lost.provider),
        ));
    }
    events.push((story.left, ending(story)));
    // Stable: at one instant, things stay in the order in which they follow from each other.
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    events.into_iter().map(|(time, what)| vec![format!("{} s", seconds(time)), what]).collect()
}

fn saying(said: &Said) -> String {
    let Said { sender, receiver, kind, .. } = said;
    let reason = |prefix| kind.strip_prefix(prefix).unwrap_or_default().replace('_', " ");
    match kind.as_str() {
        "submit" => format!("{sender} sent it to {receiver}"),
        "accepted" => format!("{sender} told {receiver} that it is queued"),
        "withdraw" => format!("{sender} asked {receiver} to take it back"),
        "not_withdrawn" => format!("{sender} told {receiver} that this is too late"),
        "estimate_request" => format!("{sender} asked {receiver} when it would end there"),
        "estimate" => format!("{sender} told {receiver} when it would end"),
        "load_request" => format!("{sender} asked {receiver} for its load"),
        "load" => format!("{sender} told {receiver} its load"),
        "call" => format!("{sender} called {receiver} for offers"),
        "offers" => format!("{sender} made {receiver} its offers"),
        "probe" => format!("{sender} told {receiver} that its offers have gone stale"),
        "refresh" => format!("{sender} asked {receiver} to make its offers anew"),
        "prepare" => format!("{sender} asked {receiver} to hold a part of it"),
        "ready" => format!("{sender} told {receiver} that it holds its part"),
        "not_ready" => {
            format!("{sender} told {receiver} that this is too late, and what else it offers")
        }
        "commit" => format!("{sender} gave {receiver} its part for good"),
        "abort" => format!("{sender} told {receiver} to give its part back for now"),
        "release" => format!("{sender} told {receiver} that it goes elsewhere"),
        "promise" => format!("{sender} told {receiver} when it will be done"),
        "bag_completion" => {
            format!("{sender} told {receiver} when all of it is expected to be done")
        }
        "share_started" => format!("{sender} told {receiver} that its part started"),
        "share_finished" => format!("{sender} told {receiver} that its part is over"),
        "started" => format!("{sender} told {receiver} that it started"),
        "finished" => format!("{sender} told {receiver} that it is over"),
        _ if kind.starts_with("refused_") => {
            format!("{sender} refused it to {receiver}: {}", reason("refused_"))
        }
        _ if kind.starts_with("no_answer_") => {
            format!("{sender} gave {receiver} no answer: {}", reason("no_answer_"))
        }
        _ => format!("{sender} to {receiver}: {kind}"),
    }
}

fn ending(story: &Story) -> String {
    let ran = story.start.map(|start| duration(story.left - start)).unwrap_or_default();
    let promise = match story.promised_end {
        Some(promised) if story.outcome == "completed" && story.left > promised => {
            format!(", {} later than promised", duration(story.left - promised))
        }
        Some(promised) if story.outcome == "completed" && story.left < promised => {
            format!(", {} earlier than promised", duration(promised - story.left))
        }
        Some(_) if story.outcome == "completed" => ", as promised".to_owned(),
        _ => String::new(),
    };
    match story.outcome.as_str() {
        "completed" => format!("completed after running {ran}{promise}"),
        "walltime_reached" => format!("stopped at its limit after running {ran}"),
        "cancelled" => "withdrawn while it waited".to_owned(),
        "rejected" => {
            let reason = story.refusal.as_deref().unwrap_or("for no given reason");
            format!("rejected: {}", reason.replace('_', " "))
        }
        "failed" => "given up when its processors failed".to_owned(),
        "unfinished" if story.start.is_some() => {
            format!("still running after {ran}, when the run stopped")
        }
        "unfinished" => "still waiting when the run stopped".to_owned(),
        other => other.to_owned(),
    }
}

/// What the tables leave open.
fn untold(story: &Story) -> String {
    let mut text = String::new();
    if story.messages.is_none() {
        text.push_str(
            "\nThe run kept no messages: who was asked, and who refused, is told only as far as\n\
             something was disclosed. Set `messages = \"all\"` under [results] to keep them.\n",
        );
    } else if story.disclosures.iter().flatten().any(|it| it.item == "estimate") {
        text.push_str("\nWhich times were answered is in no table.\n");
    }
    text
}

fn refused(story: &Story) -> String {
    if story.outcome != "rejected" {
        return String::new();
    }
    let sizes: Vec<String> =
        story.sizes.iter().map(|(provider, size)| format!("{provider} has {size}")).collect();
    format!(
        "\nIt was never queued. It needs {}; {}.\n",
        count(usize::try_from(story.processors).unwrap_or(0), "processor"),
        sizes.join(", ")
    )
}

fn why(story: &Story, wait: &Wait) -> String {
    let provider = story.provider.as_deref().unwrap_or("its provider");
    let until = if story.start.is_some() { "started" } else { "left" };
    let length = wait.until - wait.from;
    let mut text = format!(
        "\nWhy it waited {} at {provider} ({}, {} processors)\n",
        duration(length),
        wait.scheduler,
        wait.processors
    );
    text.push_str(&format!(
        "  When it came, {} waited there already; {} of them still did when it {until}.\n",
        count(wait.ahead, "job"),
        wait.ahead_passed
    ));
    text.push_str(&format!(
        "  It needs {}; from {} to {} were free, {} on average.\n",
        count(usize::try_from(story.processors).unwrap_or(0), "processor"),
        wait.free_min,
        wait.free_max,
        number(wait.free_mean)
    ));
    match wait.longest_enough {
        None => text.push_str("  Never were enough of them free: it waited for processors.\n"),
        Some((from, to)) => {
            text.push_str(&format!(
                "  Enough were free for {} of that time, at longest from {} s to {} s.\n  \
                 In that time processors were there and it was not its turn: the order of the\n  \
                 queue, or reservations for others, held it back. Which of these, no table says.\n",
                duration(wait.enough),
                seconds(from),
                seconds(to),
            ));
        }
    }
    if !story.lost.is_empty() {
        text.push_str(&format!(
            "  In that time it was lost with its processors {}; what was down counts as free above.\n",
            count(story.lost.len(), "time")
        ));
    }
    if wait.ended_at_start > 0 {
        text.push_str(&format!(
            "  At the instant it started, {} ended and gave back {}.\n",
            count(wait.ended_at_start, "job"),
            count(usize::try_from(wait.freed_at_start).unwrap_or(0), "processor"),
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

/// What a list that leaves some out says of those it has.
fn most(number: usize, which: &str) -> String {
    if number > LISTED { format!("; {which}:") } else { ":".to_owned() }
}
