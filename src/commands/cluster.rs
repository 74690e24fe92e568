//! Sweeps on a cluster: submitting them, the tasks of their arrays, cancelling.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use std::{env, fs};

use crate::experiment::Figures;
use crate::experiment::sweep::{
    HIDDEN, OnFailure, SweepConduct, SweepError, Wanted, announce, carry_out, identity, missing,
};
use crate::scenario::quantity::TimeSpan;
use crate::scenario::{Experiment, Source};
use crate::slurm::{
    Command, Costs, Jobs, Request, Rounds, Site, SlurmError, cancel as cancel_jobs, cut,
    cut_evenly, submit,
};
use haggle_results::{Input, ResultsError};

use super::run::say_left_out;
use super::table::count;
use super::{Error, print};
use crate::exit::Exit;
use crate::interrupt::STOP;
use crate::report::say;
use crate::shell;

/// Submission of a sweep to a cluster.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "On a cluster")]
pub(crate) struct OnCluster {
    /// Submit the runs to Slurm as job arrays, and a job that sums up after them
    #[arg(long, conflicts_with = "jobs")]
    pub(crate) slurm: bool,
    /// Submit missing and failed runs again
    #[arg(long, requires = "slurm")]
    resume: bool,
    /// Time limit of a task; its runs are planned to take half of it
    #[arg(long, value_name = "TIME", requires = "slurm", default_value = "10min")]
    time: TimeSpan,
    /// Partition of the jobs
    #[arg(long, value_name = "NAME", requires = "slurm")]
    partition: Option<String>,
    /// Account that pays for them
    #[arg(long, value_name = "NAME", requires = "slurm")]
    account: Option<String>,
    /// Runs of a task; without it, as many as fit by the times of the first runs
    #[arg(long, value_name = "N", requires = "slurm", value_parser = clap::value_parser!(u32).range(1..))]
    chunk: Option<u32>,
    /// Assume that all nodes see the folder, whatever its file system
    #[arg(long, requires = "slurm")]
    shared: bool,
    /// Further options of sbatch, behind `--`
    #[arg(last = true, value_name = "SBATCH OPTION", requires = "slurm")]
    options: Vec<String>,
    /// Carry out a chunk, as a task of an array
    #[arg(long, hide = true, value_name = "ROUND/FIRST/OF")]
    pub(crate) task: Option<Task>,
}

/// The chunk that a task of an array takes: the first one of the array plus the number of the task.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    round: usize,
    first: usize,
    /// Name of the sweep, if a command submits several.
    pub(crate) of: Option<String>,
}

impl FromStr for Task {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Task, Self::Err> {
        let mut words = text.splitn(3, '/');
        let mut number = || words.next()?.parse().ok();
        let (round, first) = number().zip(number()).ok_or("write ROUND/FIRST")?;
        Ok(Task { round, first, of: words.next().map(str::to_owned) })
    }
}

/// End the jobs of a sweep that was submitted
#[derive(Debug, clap::Args)]
pub(crate) struct CancelArgs {
    /// Folder of the sweep
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Cancels the jobs.
pub(crate) fn cancel(args: &CancelArgs) -> Result<Exit, Error> {
    let rounds = submitted(&args.folder)?;
    let jobs = cancel_jobs(&rounds)?;
    print(&format!("{} cancelled; finished runs are kept\n", count(jobs, "job")))?;
    Ok(Exit::Success)
}

/// The submissions of the sweep in a folder.
pub(crate) fn submitted(folder: &Path) -> Result<Rounds, Error> {
    let rounds = Rounds::read(folder)?;
    if rounds.all.is_empty() {
        return Err(Error::Unfit {
            message: format!("no job of `{}` was submitted", folder.display()),
            hint: "name the folder given to `haggle sweep --slurm` with -o".to_owned(),
        });
    }
    Ok(rounds)
}

/// A sweep in the form for a cluster.
pub(crate) struct Work<'a> {
    /// Name of the sweep, if a command submits several.
    pub(crate) of: Option<&'a str>,
    pub(crate) experiment: &'a Experiment,
    /// Folder from which relative paths of the scenario start.
    pub(crate) folder: &'a Path,
    pub(crate) output: &'a Path,
    pub(crate) wanted: Wanted,
    /// Runs in one pack.
    pub(crate) pack: Option<usize>,
    pub(crate) figures: Figures,
}

/// The command that tasks carry out, and its name.
pub(crate) struct Words<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a [String],
    /// Argument that the summing job adds.
    pub(crate) sum: &'a str,
    /// Environment variables that it needs.
    pub(crate) variables: &'a [(String, String)],
    pub(crate) quiet: bool,
}

/// Submits the missing runs of some sweeps, and one job that sums up after them.
pub(crate) fn submit_all(
    cluster: &OnCluster,
    works: &[Work<'_>],
    words: &Words<'_>,
) -> Result<Exit, Error> {
    let mut site = Site::read()?;
    // One more job sums up, so the runs get one less.
    site.jobs = site.jobs.saturating_sub(1).max(1);
    for work in works {
        if !cluster.shared {
            site.check_shared(work.output)?;
        }
        check_past(cluster, work.output)?;
    }
    for work in works {
        // Only after all sweeps were checked, so that a refusal leaves no files.
        announce(work.experiment, work.output)?;
    }
    let (mut requests, mut runs, mut tasks) = (Vec::new(), 0, 0);
    for work in works {
        let (todo, costs) = todo(cluster, work, words.quiet)?;
        if todo.is_empty() {
            continue;
        }
        let chunks = chunks(cluster, work, &site, &todo, &costs)?;
        // The limit holds for all sweeps of the command together.
        site.jobs -= chunks.len();
        (runs, tasks) = (runs + todo.len(), tasks + chunks.len());
        requests.push(Request {
            output: work.output,
            of: work.of,
            scenario_sha256: identity(work.experiment),
            chunks,
        });
    }
    if requests.is_empty() {
        print("all runs are finished: there is none to submit\n")?;
        return Ok(Exit::Success);
    }
    let program = env::current_exe().map_err(|error| unreadable(Path::new("haggle"), error))?;
    let command = Command {
        name: words.name,
        program: &program,
        program_sha256: Input::of_file(&program, "")?.sha256,
        arguments: words.arguments,
        sum: &[words.sum.to_owned()],
        variables: words.variables,
        options: &options(cluster),
    };
    let submitted = submit(&requests, &command, &site)?;
    let mut text = format!(
        "{} in {}: job {}; summed up by job {}\n",
        count(runs, "run"),
        count(tasks, "task"),
        submitted.arrays.join(", "),
        submitted.sum,
    );
    for request in &requests {
        text.push_str(&format!("{}  # its progress\n", status_of(request.output)));
    }
    print(&text)?;
    Ok(Exit::Success)
}

/// The command that reports the state of a sweep, ready to be typed.
fn status_of(output: &Path) -> String {
    shell::command("haggle", &[OsStr::new("sweep"), OsStr::new("status"), output.as_os_str()])
}

/// Refuses to submit a sweep again while its jobs are active.
fn check_past(cluster: &OnCluster, output: &Path) -> Result<(), Error> {
    let rounds = Rounds::read(output)?;
    let jobs = Jobs::read(&rounds)?;
    let all = rounds.all.values().flat_map(|round| round.jobs());
    let active: Vec<String> = all.filter(|job| jobs.is_active(job)).collect();
    let status = format!("`{}` reports its progress", status_of(output));
    // Before the other question, because --resume would not help then.
    if !active.is_empty() {
        let message = format!("jobs of this sweep wait or run: {}", active.join(", "));
        let hint = format!("{status}; `haggle sweep cancel` ends them");
        return Err(Error::Unfit { message, hint });
    }
    if !rounds.all.is_empty() && !cluster.resume {
        let message = "this sweep was submitted before".to_owned();
        let hint = format!("{status}; --resume submits missing and failed runs");
        return Err(Error::Unfit { message, hint });
    }
    Ok(())
}

/// Most runs that are carried out on the submitting host to measure them, and the time for all of
/// them, s. Such hosts must not be used for long computations.
const FIRST: usize = 4;
const FIRST_SECONDS: u64 = 30;

/// The missing runs, and the costs of runs. If no cost is known, a few runs are carried out here.
fn todo(cluster: &OnCluster, work: &Work<'_>, quiet: bool) -> Result<(Vec<usize>, Costs), Error> {
    let &Work { experiment, folder, output, wanted, pack, figures, .. } = work;
    let look = |place: &Path| -> Result<(Vec<usize>, Costs), Error> {
        let (todo, seconds) = missing(experiment, folder, place, wanted)?;
        let mut costs = Costs::default();
        seconds.into_iter().for_each(|(run, seconds)| costs.add(run, seconds));
        Ok((todo, costs))
    };
    let (todo, costs) = look(output)?;
    // Costs are needed only to cut chunks by time.
    if cluster.chunk.is_some() || !costs.is_empty() || todo.is_empty() {
        return Ok((todo, costs));
    }
    // Evenly over the sweep, because durations differ from point to point.
    let first: BTreeSet<usize> = todo.iter().copied().step_by(todo.len().div_ceil(FIRST)).collect();
    if !quiet {
        let runs = count(first.len(), "run");
        say(&format!("{runs} carried out here first, to measure their time\n"));
    }
    let (late, over) = (AtomicBool::new(false), AtomicBool::new(false));
    // Runs that will be packed are carried out in a scratch folder; only their durations are kept.
    let scratch = output.join(HIDDEN).join("first");
    let place = if pack.is_some() { scratch.as_path() } else { output };
    let conduct = SweepConduct {
        output: place,
        wanted,
        pack: None,
        workers: 1,
        figures,
        on_failure: OnFailure::GoOn,
        // Not `STOP`, because the time for these runs ends them as well.
        stop: &late,
        on_run: &|| {},
    };
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            // Short steps, so that the thread ends soon after the runs.
            let moment = Duration::from_millis(20);
            let mut left = Duration::from_secs(FIRST_SECONDS);
            while !over.load(Ordering::Relaxed) && !left.is_zero() && !STOP.load(Ordering::Relaxed)
            {
                thread::sleep(moment);
                left = left.saturating_sub(moment);
            }
            late.store(true, Ordering::Relaxed);
        });
        let ended = carry_out(experiment, folder, &conduct, &|run| first.contains(&run));
        over.store(true, Ordering::Relaxed);
        ended
    });
    match ended {
        // The time for the first runs is over; those that have ended are enough.
        Err(SweepError::Interrupted) if !STOP.load(Ordering::Relaxed) => {}
        ended => drop(ended?),
    }
    if pack.is_none() {
        return look(output);
    }
    let (_, costs) = look(place)?;
    // The time was over before a run began.
    if !place.exists() {
        return Ok((todo, costs));
    }
    fs::remove_dir_all(place).map_err(|error| ResultsError::write(place, error))?;
    Ok((todo, costs))
}

/// The runs of each task.
fn chunks(
    cluster: &OnCluster,
    work: &Work<'_>,
    site: &Site,
    todo: &[usize],
    costs: &Costs,
) -> Result<Vec<Vec<usize>>, SlurmError> {
    let size = work.pack.unwrap_or(1);
    // Units of work: runs, or packs, by the number of the pack.
    let mut units: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    todo.iter().for_each(|&run| units.entry(run / size).or_default().push(run));
    let runs_of = |chunks: Vec<Vec<usize>>| -> Vec<Vec<usize>> {
        let runs = |chunk: &Vec<usize>| chunk.iter().flat_map(|unit| units[unit].clone()).collect();
        chunks.iter().map(runs).collect()
    };
    let most = site.jobs;
    if let Some(each) = cluster.chunk {
        let all: Vec<usize> = units.keys().copied().collect();
        // Rounded up: a pack is never divided, and a chunk has at least one.
        let chunks = cut_evenly(&all, (each as usize).div_ceil(size));
        return match chunks.len() > most {
            true => Err(SlurmError::TooMany { tasks: chunks.len(), most }),
            false => Ok(runs_of(chunks)),
        };
    }
    let limit = cluster.time.0.as_secs_f64();
    // The cost of runs that are too long to be tried here is unknown, so each gets a task of its
    // own.
    let unknown = limit / 2.0;
    let cost = |run: &usize| costs.of(*run).unwrap_or(unknown);
    let all: Vec<(usize, f64)> =
        units.iter().map(|(&unit, runs)| (unit, runs.iter().map(cost).sum())).collect();
    let longest = all.iter().map(|unit| unit.1).fold(0.0, f64::max);
    // The whole limit, because a single unit cannot be cut.
    if longest > limit {
        return Err(SlurmError::TooLong { seconds: longest, limit });
    }
    // Half of the limit, because durations vary from run to run.
    let chunks = cut(&all, limit / 2.0);
    match chunks.len() > most {
        true => Err(SlurmError::TooMany { tasks: chunks.len(), most }),
        false => Ok(runs_of(chunks)),
    }
}

/// The environment variables in the paths of logs, and their values.
pub(crate) fn variables<'s>(
    sources: impl IntoIterator<Item = &'s Source>,
) -> Vec<(String, String)> {
    let mut variables = BTreeMap::new();
    for log in sources.into_iter().flat_map(Experiment::logs) {
        for part in log.split('$').skip(1) {
            let part = part.trim_start_matches('{');
            let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = &part[..end.unwrap_or(part.len())];
            if let Ok(value) = env::var(name) {
                variables.insert(name.to_owned(), value);
            }
        }
    }
    variables.into_iter().collect()
}

/// Options for sbatch.
fn options(cluster: &OnCluster) -> Vec<String> {
    // Slurm counts in minutes and seconds; fractions of a second are rounded up.
    let seconds = cluster.time.0.as_secs_f64().ceil() as u64;
    let mut options = vec![format!("--time={}:{:02}", seconds / 60, seconds % 60)];
    options.extend(cluster.partition.iter().map(|name| format!("--partition={name}")));
    options.extend(cluster.account.iter().map(|name| format!("--account={name}")));
    options.extend(cluster.options.iter().cloned());
    options
}

/// Carries out a chunk. The task succeeds even if runs fail by themselves: a note records each, and
/// the summing job lists them.
pub(crate) fn task(work: &Work<'_>, task: &Task) -> Result<Exit, Error> {
    let &Work { experiment, folder, output, wanted, pack, figures, .. } = work;
    let number = env::var("SLURM_ARRAY_TASK_ID").ok().and_then(|it| it.parse::<usize>().ok());
    let number = number.ok_or_else(|| Error::Unfit {
        message: "this is no task of a job array: there is no SLURM_ARRAY_TASK_ID".to_owned(),
        hint: "`haggle sweep SCENARIO -o DIR --slurm` submits them".to_owned(),
    })?;
    let rounds = Rounds::read(output)?;
    let round = rounds.all.get(&task.round);
    let units =
        // Checked, because both numbers come from outside.
        round.and_then(|round| Some((round, round.units(task.first.checked_add(number)?)?)));
    let Some((round, units)) = units else {
        return Err(Error::Unfit {
            message: format!("`{}` has no such task on this node", output.display()),
            hint: "all nodes must see the folder that the sweep was submitted from".to_owned(),
        });
    };
    let program = env::current_exe().map_err(|error| unreadable(Path::new("haggle"), error))?;
    if Input::of_file(&program, "")?.sha256 != round.program {
        return Err(Error::Unfit {
            message: format!(
                "`{}` on this node is not the program that submitted",
                program.display()
            ),
            hint: "put the same haggle on all nodes, or on the shared folder".to_owned(),
        });
    }
    if identity(experiment) != round.scenario {
        return Err(Error::Unfit {
            message: "the scenario has changed since the sweep was submitted".to_owned(),
            hint: "cancel it, and submit the new one into another folder".to_owned(),
        });
    }
    let units: BTreeSet<usize> = units.into_iter().collect();
    let cores = env::var("SLURM_CPUS_PER_TASK").ok().and_then(|it| it.parse().ok());
    let conduct = SweepConduct {
        output,
        wanted,
        pack,
        // Slurm grants a task one processor unless more are requested.
        workers: cores.unwrap_or(1),
        figures,
        on_failure: OnFailure::GoOn,
        stop: &STOP,
        on_run: &|| {},
    };
    let carried = carry_out(experiment, folder, &conduct, &|run| units.contains(&run))?;
    say_left_out(&carried.figures_left_out);
    Ok(Exit::Success)
}

fn unreadable(path: &Path, error: std::io::Error) -> Error {
    haggle_results::ResultsError::read(path, error).into()
}
