//! Submitting and cancelling.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use haggle_results::ResultsError;

use super::ask::{ask, quoted, shown};
use super::round::ranges;
use super::{Array, Jobs, Round, Rounds, Site, SlurmError};

/// What is to be submitted.
pub struct Request<'a> {
    /// The folder of the sweep.
    pub output: &'a Path,
    /// What the jobs are called.
    pub name: &'a str,
    /// The program.
    pub program: &'a Path,
    /// SHA-256 of the program.
    pub program_sha256: String,
    /// SHA-256 of the scenario with its sweep.
    pub scenario_sha256: String,
    /// The command without what tasks and the sum add to it.
    pub arguments: &'a [String],
    /// What that command gets behind it where all is summed up.
    pub merge: &'a [String],
    /// Environment variables that it needs, and their values.
    pub variables: &'a [(String, String)],
    /// The units of each task.
    pub chunks: &'a [Vec<usize>],
    /// Options for sbatch.
    pub options: &'a [String],
}

/// What was submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// The arrays.
    pub arrays: Vec<Array>,
    /// The job that sums up.
    pub merge: String,
    /// Where tasks say what goes wrong.
    pub log: PathBuf,
}

/// Submits arrays, and a job that sums up once all tasks have ended. What has been submitted is noted step
/// by step.
///
/// # Errors
/// If it cannot be submitted or noted. Arrays that are submitted by then stay; `cancel` knows them.
pub fn submit(request: &Request<'_>, site: &Site) -> Result<Submitted, SlurmError> {
    let mut rounds = Rounds::read(request.output)?;
    let log = rounds.folder().join("log");
    fs::create_dir_all(&log).map_err(|error| ResultsError::write(&log, error))?;
    let _lock = lock(&rounds)?;
    // Somebody may have submitted meanwhile.
    rounds = Rounds::read(request.output)?;
    let number = rounds.all.len() + 1;
    let mut round = Round {
        program: request.program_sha256.clone(),
        scenario: request.scenario_sha256.clone(),
        chunks: request.chunks.iter().map(|units| ranges(units)).collect(),
        arrays: Vec::new(),
        merge: None,
    };
    rounds.write(number, &round)?;
    let folder = fs::canonicalize(rounds.folder());
    let folder = folder.map_err(|error| ResultsError::read(rounds.folder(), error))?;
    let array_most = site.array.max(1);
    for first in (0..request.chunks.len()).step_by(array_most) {
        let tasks = array_most.min(request.chunks.len() - first);
        let task = ["--task".to_owned(), format!("{number}/{first}")];
        let script = folder.join(format!("{number}-{first}.sh"));
        write(&script, &script_of(request, &task))?;
        let mine = [
            format!("--array=0-{}", tasks - 1),
            format!("--job-name=haggle-{}", request.name),
            format!("--output={}", folder.join("log").join("%A_%a").display()),
            // What Slurm takes from a task, or loses with a node, begins again by itself.
            "--requeue".to_owned(),
            "--open-mode=append".to_owned(),
        ];
        let job = sbatch(&mine, request.options, &script)?;
        round.arrays.push(Array { job, first, tasks });
        rounds.write(number, &round)?;
    }
    let jobs: Vec<&str> = round.arrays.iter().map(|array| array.job.as_str()).collect();
    let script = folder.join(format!("{number}-sum.sh"));
    write(&script, &script_of(request, request.merge))?;
    let mine = [
        format!("--dependency=afterany:{}", jobs.join(":")),
        format!("--job-name=haggle-{}-sum", request.name),
        format!("--output={}", folder.join("log").join("%j").display()),
        "--requeue".to_owned(),
        "--open-mode=append".to_owned(),
    ];
    let merge = sbatch(&mine, request.options, &script)?;
    round.merge = Some(merge.clone());
    rounds.write(number, &round)?;
    Ok(Submitted { arrays: round.arrays, merge, log })
}

/// Ends all jobs that wait or run; gives how many there were, arrays as one each.
///
/// # Errors
/// If Slurm refuses.
pub fn cancel(rounds: &Rounds) -> Result<usize, SlurmError> {
    let jobs = Jobs::read(rounds)?;
    let names: Vec<String> =
        rounds.all.values().flat_map(Round::jobs).filter(|job| jobs.is_active(job)).collect();
    if !names.is_empty() {
        ask("scancel", &names)?;
    }
    Ok(names.len())
}

/// Whoever submits holds it.
fn lock(rounds: &Rounds) -> Result<File, SlurmError> {
    let path = rounds.folder().join("lock");
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| ResultsError::write(&path, error))?;
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Err(SlurmError::Busy(rounds.folder().to_owned())),
        _ => Ok(file),
    }
}

fn sbatch(mine: &[String], options: &[String], script: &Path) -> Result<String, SlurmError> {
    let mut arguments = vec!["--parsable".to_owned()];
    arguments.extend_from_slice(mine);
    arguments.extend_from_slice(options);
    arguments.push(script.display().to_string());
    let said = ask("sbatch", &arguments)?;
    // `JOB`, or `JOB;CLUSTER`.
    let job = said.trim().split(';').next().unwrap_or_default();
    if job.is_empty() || !job.chars().all(|c| c.is_ascii_digit()) {
        let command = shown("sbatch", &arguments);
        return Err(SlurmError::NotUnderstood { command, said: said.trim().to_owned() });
    }
    Ok(job.to_owned())
}

/// A script that goes where the command was typed and carries it out. The shell makes room for it, so that
/// signals reach it.
fn script_of(request: &Request<'_>, more: &[String]) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let variables: String = request
        .variables
        .iter()
        .map(|(name, value)| format!("export {name}={}\n", quoted(value)))
        .collect();
    let arguments: Vec<&String> = request.arguments.iter().chain(more).collect();
    format!(
        "#!/bin/sh\ncd {} || exit\n{variables}exec {}\n",
        quoted(&here.display().to_string()),
        shown(&quoted(&request.program.display().to_string()), &arguments)
    )
}

fn write(path: &Path, text: &str) -> Result<(), ResultsError> {
    fs::write(path, text).map_err(|error| ResultsError::write(path, error))
}
