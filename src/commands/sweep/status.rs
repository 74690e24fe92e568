//! State of a sweep: the contents of its folder and, if it was submitted, the state of its tasks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::command::own_rules;
use crate::experiment::sweep::{Failed, failed_of, took};
use crate::scenario::{Experiment, Logs, Source};
use crate::slurm::{Costs, Jobs, Round, Rounds, State};
use haggle_results::SweepFolder;
use haggle_results::pack::Pack;
use serde_json::json;

use super::tell_failed;
use crate::commands::plot::is_sweep;
use crate::commands::table::{count, duration};
use crate::commands::{Error, print};
use crate::exit::Exit;
use crate::interrupt::while_waiting;

/// Report the progress of a sweep
///
/// Reads the folder; of a sweep that was submitted, it also queries squeue and, where there is accounting, sacct.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Folder of the sweep
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// States of the runs.
#[derive(Debug, Default)]
struct Status {
    runs: usize,
    done: usize,
    failed: Vec<Failed>,
    running: usize,
    pending: usize,
    /// Runs that no task will carry out.
    left: usize,
    tasks_running: usize,
    /// Ended tasks of these runs: their numbers, by Slurm's words.
    ended: BTreeMap<String, usize>,
    merge: Option<(String, State)>,
    seconds_left: Option<f64>,
}

/// Prints the state.
pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let scenario = args.folder.join("scenario.toml");
    if !is_sweep(&args.folder) {
        return Err(Error::Unfit {
            message: format!("`{}` is not the folder of a sweep", args.folder.display()),
            hint: "name the folder given to `haggle sweep` with -o, such as runs/NAME".to_owned(),
        });
    }
    let experiment = Experiment::read_with(
        while_waiting(|| Source::read(&scenario))?,
        Logs::Ignore,
        own_rules(),
    )?;
    let rounds = Rounds::read(&args.folder)?;
    // Only the last round counts: it was made for all runs that were missing then.
    let Some(last) = rounds.all.values().next_back() else {
        return of_folder(args, &experiment);
    };
    let jobs = Jobs::read(&rounds)?;
    let status = status(args, &experiment, last, &jobs)?;
    if args.json {
        print(&format!("{:#}\n", as_json(&status)))?;
        return Ok(Exit::Success);
    }
    print(&as_text(&status))?;
    if !status.failed.is_empty() {
        tell_failed(status.runs, &status.failed);
    }
    Ok(Exit::Success)
}

/// State of a sweep that was not submitted.
#[derive(Debug, Default)]
struct Folder {
    runs: usize,
    done: usize,
    failed: Vec<Failed>,
    /// Runs with incomplete folders: a command makes them, or was killed.
    begun: usize,
    missing: usize,
    packs: usize,
    summed_up: bool,
}

fn of_folder(args: &Args, experiment: &Experiment) -> Result<Exit, Error> {
    let there = SweepFolder::open(&args.folder)?;
    let mut it = Folder {
        packs: Pack::all_in(&args.folder)?.len(),
        summed_up: args.folder.join("aggregate.csv").exists(),
        ..Folder::default()
    };
    for run in experiment.runs() {
        it.runs += 1;
        if there.run(run.number, &run.folder())?.is_some() {
            it.done += 1;
        // Before the state of its task: a run that failed stays failed while the task carries out others.
        } else if let Some(failed) = failed_of(&args.folder, &run)? {
            it.failed.push(failed);
        } else if partial(&args.folder.join(run.folder())).exists() {
            it.begun += 1;
        } else {
            it.missing += 1;
        }
    }
    if args.json {
        let failed = it.failed.iter().map(|it| json!({ "run": it.run, "message": it.message }));
        let object = json!({
            "runs": it.runs,
            "done": it.done,
            "failed": failed.collect::<Vec<_>>(),
            "begun": it.begun,
            "missing": it.missing,
            "packs": it.packs,
            "summed_up": it.summed_up,
        });
        print(&format!("{object:#}\n"))?;
        return Ok(Exit::Success);
    }
    print(&it.as_text())?;
    if !it.failed.is_empty() {
        tell_failed(it.runs, &it.failed);
    }
    Ok(Exit::Success)
}

/// The folder of a run before it gets its final name.
fn partial(folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!(".{name}.partial"))
}

impl Folder {
    fn as_text(&self) -> String {
        let mut text = format!("{}, not submitted to Slurm\n", count(self.runs, "run"));
        let packs = match self.packs {
            0 => String::new(),
            packs => format!("in {}", count(packs, "pack")),
        };
        let begun = "another command carries them out, or was stopped while doing so";
        for (what, runs, more) in [
            ("done", self.done, packs.as_str()),
            ("failed", self.failed.len(), ""),
            ("begun", self.begun, if self.begun > 0 { begun } else { "" }),
            ("missing", self.missing, ""),
        ] {
            text.push_str(format!("  {what:<9}{runs:>8}  {more}").trim_end());
            text.push('\n');
        }
        text.push_str(match (self.begun + self.missing, self.summed_up) {
            (0, true) => "summed up in runs.csv and aggregate.csv\n",
            (0, false) => "not summed up yet: `haggle sweep SCENARIO -o DIR --merge` does that\n",
            _ => {
                "`haggle sweep SCENARIO -o DIR` carries out the others and sums up, with `--part K/N` a part \
                 of them\n"
            }
        });
        text
    }
}

fn status(
    args: &Args,
    experiment: &Experiment,
    last: &Round,
    jobs: &Jobs,
) -> Result<Status, Error> {
    let mut chunk_of = BTreeMap::new();
    for chunk in 0..last.chunks.len() {
        for unit in last.units(chunk).unwrap_or_default() {
            chunk_of.insert(unit, chunk);
        }
    }
    let states: Vec<State> =
        (0..last.chunks.len()).map(|chunk| jobs.of_chunk(last, chunk)).collect();
    let there = SweepFolder::open(&args.folder)?;
    let mut status = Status::default();
    let mut open = BTreeMap::new();
    let (mut done, mut todo) = (Vec::new(), Vec::new());
    for run in experiment.runs() {
        status.runs += 1;
        if there.run(run.number, &run.folder())?.is_some() {
            status.done += 1;
            done.push(run);
            continue;
        }
        if let Some(failed) = failed_of(&args.folder, &run)? {
            status.failed.push(failed);
            continue;
        }
        let state = chunk_of.get(&run.number).map(|&chunk| (chunk, &states[chunk]));
        match state {
            Some((_, State::Running)) => status.running += 1,
            Some((_, State::Pending)) => status.pending += 1,
            // The task has ended, or is unknown, without having done this run.
            Some((chunk, state)) => {
                status.left += 1;
                open.insert(chunk, state);
            }
            None => status.left += 1,
        }
        if matches!(state, Some((_, State::Running | State::Pending))) {
            todo.push(run.number);
        }
    }
    for state in open.into_values() {
        let word = if let State::Ended(word) = state { word.as_str() } else { "forgotten" };
        *status.ended.entry(word.to_owned()).or_default() += 1;
    }
    status.tasks_running = states.iter().filter(|state| **state == State::Running).count();
    let mut costs = Costs::default();
    // About 200 runs give an estimate; to read the summaries of all would take too long.
    for run in done.iter().step_by(done.len() / 200 + 1) {
        if let Some(seconds) = took(&there, run) {
            costs.add(run.number, seconds);
        }
    }
    // `None` without any known duration.
    let seconds: Option<f64> = todo.iter().map(|&run| costs.of(run)).sum();
    let tasks = status.tasks_running as f64;
    status.seconds_left = seconds.filter(|_| tasks > 0.0).map(|seconds| seconds / tasks);
    status.merge = last.merge.clone().map(|job| {
        let state = jobs.of_job(&job);
        (job, state)
    });
    Ok(status)
}

fn as_text(status: &Status) -> String {
    let mut text = format!("{}\n", count(status.runs, "run"));
    let mut line = |what: &str, runs: usize, more: &str| {
        text.push_str(format!("  {what:<9}{runs:>8}  {more}").trim_end());
        text.push('\n');
    };
    line("done", status.done, "");
    line("failed", status.failed.len(), "");
    line("running", status.running, &format!("in {}", count(status.tasks_running, "task")));
    line("pending", status.pending, "");
    if status.left > 0 {
        let ended: Vec<String> =
            status.ended.iter().map(|(word, tasks)| format!("{word} {tasks}")).collect();
        let more = format!("no task will do them (tasks that ended: {})", ended.join(", "));
        line("left", status.left, if ended.is_empty() { "" } else { &more });
    }
    if let Some((job, state)) = &status.merge {
        text.push_str(&format!("summed up by job {job}: {}\n", word(state)));
    }
    if let Some(seconds) = status.seconds_left {
        text.push_str(&format!(
            "about {} left, with as many tasks as run now\n",
            duration(seconds.ceil())
        ));
    }
    if status.left > 0 {
        text.push_str("--slurm --resume submits missing and failed runs\n");
    }
    text
}

fn word(state: &State) -> &str {
    match state {
        State::Pending => "it waits",
        State::Running => "it runs",
        State::Ended(word) => word,
        State::Unknown => "no longer known to Slurm",
    }
}

fn as_json(status: &Status) -> serde_json::Value {
    json!({
        "runs": status.runs,
        "done": status.done,
        "failed": status.failed.iter().map(|it| json!({ "run": it.run, "message": it.message })).collect::<Vec<_>>(),
        "running": status.running,
        "pending": status.pending,
        "left": status.left,
        "tasks_running": status.tasks_running,
        "tasks_ended": status.ended,
        "merge": status.merge.as_ref().map(|(job, state)| json!({ "job": job, "state": word(state) })),
        "seconds_left": status.seconds_left,
    })
}
