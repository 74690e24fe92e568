//! Sweeps on a cluster that Slurm schedules: job arrays over a shared folder.
//!
//! ```text
//! runs that are missing ──> chunks of about equal cost ──> sbatch: arrays, and a job that sums up after them
//!                              │                              │ each task: the same command, --task ROUND/FIRST
//!                              └──> .sweep/slurm/ROUND.json <─┘
//! squeue, sacct, the folder ──> where each run is
//! ```
//!
//! Slurm is used through its own commands. All data about a submission are in the sweep's folder.
//! No clock is read here, so the clocks of the nodes may differ.

mod ask;
mod chunks;
mod jobs;
mod round;
mod site;
mod submit;

use std::path::PathBuf;

use haggle_results::ResultsError;

pub(crate) use chunks::{Costs, cut, cut_evenly};
pub(crate) use jobs::{Jobs, State};
pub(crate) use round::{Array, Round, Rounds};
pub(crate) use site::Site;
pub(crate) use submit::{Command, Request, cancel, submit};

/// Reason why Slurm does not carry out a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SlurmError {
    /// A command does not exist.
    #[error("there is no `{program}` here: {error}")]
    NoCommand {
        /// Its name.
        program: String,
        /// Error of the system.
        error: std::io::Error,
    },
    /// A command failed.
    #[error("`{command}` failed: {said}")]
    Command {
        /// The command with its arguments.
        command: String,
        /// Its error output.
        said: String,
    },
    /// A command said something that is not understood.
    #[error("`{command}` gave an unknown answer: {said}")]
    NotUnderstood {
        /// The command with its arguments.
        command: String,
        /// Its output.
        said: String,
    },
    /// Other nodes do not see the folder of the sweep.
    #[error("`{}` is on `{mount}` ({kind}), which other nodes cannot access", folder.display())]
    NotShared {
        /// The folder.
        folder: PathBuf,
        /// Mount point of its file system.
        mount: String,
        /// Type of the file system.
        kind: String,
    },
    /// A run does not fit into a task.
    #[error("a run, or a pack of them, takes about {seconds:.0} s, and a task has {limit:.0} s")]
    TooLong {
        /// The longest run.
        seconds: f64,
        /// Limit of `--time`.
        limit: f64,
    },
    /// The site accepts fewer jobs than needed.
    #[error("the runs would be {tasks} tasks, and the site takes {most} jobs of yours at once")]
    TooMany {
        /// Number needed.
        tasks: usize,
        /// Number accepted.
        most: usize,
    },
    /// sbatch reads names of logs otherwise than they are.
    #[error("the name of `{}` has a backslash, with which sbatch cannot name the logs of \
             tasks", .0.display())]
    Backslash(PathBuf),
    /// Another command is submitting the same sweep.
    #[error("`{}` is being submitted by another command", .0.display())]
    Busy(PathBuf),
    /// A note of a submission cannot be read or written.
    #[error(transparent)]
    Results(#[from] ResultsError),
}

impl SlurmError {
    /// A hint for the user.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            SlurmError::NoCommand { .. } => {
                "run this on a node that submits jobs, such as the login node of the cluster; \
                 `haggle sweep \
                 --part K/N` needs no Slurm"
            }
            SlurmError::Command { .. } => {
                "the message of Slurm is above; --partition, --account, --time and all options \
                 behind `--` go to sbatch unchanged"
            }
            SlurmError::NotUnderstood { .. } => {
                "please report it with the output of `scontrol --version`"
            }
            SlurmError::NotShared { .. } => {
                "name a folder that all nodes can access with -o, such as one below your home; if \
                 this one is shared, add --shared"
            }
            SlurmError::TooLong { .. } => "give tasks more time, such as --time 4h",
            SlurmError::TooMany { .. } => {
                "give tasks more time with --time, or more runs with --chunk"
            }
            SlurmError::Backslash(_) => "name another folder with -o",
            SlurmError::Busy(_) => "wait until it is done",
            SlurmError::Results(_) => {
                "the folder of the sweep has the data of its jobs in .sweep/slurm"
            }
        }
    }
}
