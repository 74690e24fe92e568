//! Submitting and cancelling.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use haggle_results::ResultsError;

use super::ask::ask;
use super::round::ranges;
use super::{Array, Jobs, Round, Rounds, Site, SlurmError};
use crate::shell::{self, quoted};

/// The command that jobs carry out.
pub(crate) struct Command<'a> {
    /// Name of the jobs.
    pub(crate) name: &'a str,
    /// The program.
    pub(crate) program: &'a Path,
    /// SHA-256 of the program.
    pub program_sha256: String,
    /// Its arguments, without those of tasks and of the summing job.
    pub(crate) arguments: &'a [String],
    /// Arguments of the summing job.
    pub(crate) sum: &'a [String],
    /// Environment variables that it needs, and their values.
    pub(crate) variables: &'a [(String, String)],
    /// Options for sbatch.
    pub(crate) options: &'a [String],
}

/// A sweep to be submitted.
pub(crate) struct Request<'a> {
    /// Its folder.
    pub(crate) output: &'a Path,
    /// Name of the sweep, if a command submits several.
    pub(crate) of: Option<&'a str>,
    /// SHA-256 of the scenario with its sweep.
    pub scenario_sha256: String,
    /// The runs of each task.
    pub(crate) chunks: Vec<Vec<usize>>,
}

/// Result of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Submitted {
    /// The arrays.
    pub(crate) arrays: Vec<String>,
    /// The job that sums up.
    pub(crate) sum: String,
}

/// Submits arrays, and a job that sums up after all tasks have ended. Each step is noted in the
/// folder of its sweep.
///
/// # Errors
/// If a job cannot be submitted or noted. Arrays submitted before stay; `cancel` knows them.
pub(crate) fn submit(
    requests: &[Request<'_>],
    command: &Command<'_>,
    site: &Site,
) -> Result<Submitted, SlurmError> {
    let mut submitted = Vec::new();
    for request in requests {
        submitted.push(Noted::submit(request, command, site)?);
    }
    let rounds = submitted.iter().map(|noted| &noted.round);
    let arrays: Vec<String> =
        // One summing job waits for the arrays of all requests.
        rounds.flat_map(|round| &round.arrays).map(|array| array.job.clone()).collect();
    let Some(first) = submitted.first() else {
        return Ok(Submitted { arrays, sum: String::new() });
    };
    let script = first.folder.join(format!("{}-sum.sh", first.number));
    write(&script, &script_of(command, command.sum))?;
    let mine = [
        // After any end: the sum is made of the runs that are done, and tells which are missing.
        format!("--dependency=afterany:{}", arrays.join(":")),
        format!("--job-name=haggle-{}-sum", command.name),
        output_of(&first.folder, "%j"),
        "--requeue".to_owned(),
        // The log of a job that is queued again goes on.
        "--open-mode=append".to_owned(),
    ];
    let sum = sbatch(&mine, command.options, &script)?;
    for noted in &mut submitted {
        noted.round.merge = Some(sum.clone());
        noted.rounds.write(noted.number, &noted.round)?;
    }
    Ok(Submitted { arrays, sum })
}

/// Submitted arrays, and the place of their note.
struct Noted {
    rounds: Rounds,
    number: usize,
    round: Round,
    folder: PathBuf,
    _lock: File,
}

impl Noted {
    fn submit(
        request: &Request<'_>,
        command: &Command<'_>,
        site: &Site,
    ) -> Result<Noted, SlurmError> {
        // For its folder only, which has the lock.
        let rounds = Rounds::read(request.output)?;
        let log = rounds.folder().join("log");
        fs::create_dir_all(&log).map_err(|error| ResultsError::write(&log, error))?;
        let lock = lock(&rounds)?;
        // Another command may have submitted before the lock was held.
        let rounds = Rounds::read(request.output)?;
        let number = rounds.all.len() + 1;
        let mut round = Round {
            program: command.program_sha256.clone(),
            scenario: request.scenario_sha256.clone(),
            chunks: request.chunks.iter().map(|runs| ranges(runs)).collect(),
            arrays: Vec::new(),
            merge: None,
        };
        let folder = fs::canonicalize(rounds.folder());
        let folder = folder.map_err(|error| ResultsError::read(rounds.folder(), error))?;
        if folder.to_string_lossy().contains('\\') {
            return Err(SlurmError::Backslash(folder));
        }
        // The note precedes the arrays, because tasks may start at once and read it. If all arrays
        // are refused, it is removed.
        rounds.write(number, &round)?;
        let submitted = Noted::arrays(request, command, site, number, &folder, |array| {
            // Noted one by one, so that a later failure leaves no array unknown.
            round.arrays.push(array);
            rounds.write(number, &round)
        });
        match submitted {
            Err(error) if round.arrays.is_empty() => {
                let _ = fs::remove_file(folder.join(format!("{number}.json")));
                Err(error)
            }
            // Some arrays are queued already and need the note.
            Err(error) => Err(error),
            Ok(()) => Ok(Noted { rounds, number, round, folder, _lock: lock }),
        }
    }

    /// Submits the arrays and calls `tell` for each.
    fn arrays(
        request: &Request<'_>,
        command: &Command<'_>,
        site: &Site,
        number: usize,
        folder: &Path,
        mut tell: impl FnMut(Array) -> Result<(), ResultsError>,
    ) -> Result<(), SlurmError> {
        // Indices stay below MaxArraySize, so an array has at most so many tasks, and a larger sweep takes several.
        let most = site.array.max(1);
        for first in (0..request.chunks.len()).step_by(most) {
            let tasks = most.min(request.chunks.len() - first);
            let of = request.of.map_or_else(String::new, |of| format!("/{of}"));
            let task = ["--task".to_owned(), format!("{number}/{first}{of}")];
            let script = folder.join(format!("{number}-{first}.sh"));
            write(&script, &script_of(command, &task))?;
            // Tasks are numbered from 0 in each array; the script has the chunk of the first one.
            let mine = [
                format!("--array=0-{}", tasks - 1),
                format!("--job-name=haggle-{}", command.name),
                output_of(folder, "%A_%a"),
                // Slurm queues a task again if it is preempted or its node fails.
                "--requeue".to_owned(),
                "--open-mode=append".to_owned(),
            ];
            let job = sbatch(&mine, command.options, &script)?;
            tell(Array { job, first, tasks })?;
        }
        Ok(())
    }
}

/// Cancels all jobs that wait or run; returns their number, where an array counts as one.
///
/// # Errors
/// If Slurm refuses.
pub(crate) fn cancel(rounds: &Rounds) -> Result<usize, SlurmError> {
    let jobs = Jobs::read(rounds)?;
    let names: Vec<String> =
        rounds.all.values().flat_map(Round::jobs).filter(|job| jobs.is_active(job)).collect();
    if !names.is_empty() {
        ask("scancel", &names)?;
    }
    Ok(names.len())
}

/// Lock that the submitting command holds.
fn lock(rounds: &Rounds) -> Result<File, SlurmError> {
    let path = rounds.folder().join("lock");
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| ResultsError::write(&path, error))?;
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Err(SlurmError::Busy(rounds.folder().to_owned())),
        // Some file systems have no locks; the command goes on there.
        _ => Ok(file),
    }
}

/// Output file of a task for sbatch, which replaces the `%` of `name`. In the folder each `%` is
/// doubled.
fn output_of(folder: &Path, name: &str) -> String {
    let log = folder.join("log").display().to_string().replace('%', "%%");
    format!("--output={log}/{name}")
}

fn sbatch(mine: &[String], options: &[String], script: &Path) -> Result<String, SlurmError> {
    let mut arguments = vec!["--parsable".to_owned()];
    arguments.extend_from_slice(mine);
    arguments.extend_from_slice(options);
    arguments.push(script.display().to_string());
    let said = ask("sbatch", &arguments)?;
    // The output is `JOB` or `JOB;CLUSTER`.
    let job = said.trim().split(';').next().unwrap_or_default();
    if job.is_empty() || !job.chars().all(|c| c.is_ascii_digit()) {
        let command = shell::command("sbatch", &arguments);
        return Err(SlurmError::NotUnderstood { command, said: said.trim().to_owned() });
    }
    Ok(job.to_owned())
}

/// A script that changes to the current folder and carries out the command. The command replaces
/// the shell, so that signals reach it.
fn script_of(command: &Command<'_>, more: &[String]) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let variables: String = command
        .variables
        .iter()
        .map(|(name, value)| format!("export {name}={}\n", quoted(value)))
        .collect();
    let arguments: Vec<&String> = command.arguments.iter().chain(more).collect();
    format!(
        "#!/bin/sh\ncd {} || exit\n{variables}exec {}\n",
        quoted(&here.display().to_string()),
        shell::command(&quoted(&command.program.display().to_string()), &arguments)
    )
}

fn write(path: &Path, text: &str) -> Result<(), ResultsError> {
    fs::write(path, text).map_err(|error| ResultsError::write(path, error))
}
