//! `haggle explain`: the stories of jobs, as far as a run's tables have them.

mod starts;

use std::path::PathBuf;

use crate::experiment::explain::{Asked, Chronicle, Start, find};
use haggle_results::reader::Rows;
use haggle_results::{JobRow, RunReader, Table};
use serde_json::json;

use super::table::count;
use super::{Error, open_run, print};
use crate::exit::Exit;

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
            let texts = stories.iter().map(|story| story.text(args.messages));
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
    // Several runs may be explained side by side.
    let run_name = format!("the run `{}`", run.folder().display());
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
                message: format!("{run_name} has no job {number}"),
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
            Error::Unfit { message: format!("{run_name} has no job {workload}!{number}"), hint }
        }
    })
}
