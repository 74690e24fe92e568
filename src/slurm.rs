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
    /// The output of a command is not understood.
    #[error("`{command}` said what is not understood: {said}")]
    NotUnderstood {
        /// The command with its arguments.
        command: String,
        /// Its output.
        said: String,
    },
    /// Other nodes do not see the folder of the sweep.
    #[error("`{}` is on `{mount}` ({kind}), which other nodes do not see", folder.display())]
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
    /// sbatch would change the names of logs.
    #[error("the name of `{}` has a backslash, and sbatch would take none of its logs for one of a task", .0.display())]
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
                "type this where you submit jobs, such as the login node of the cluster; `haggle sweep \
                 --part K/N` needs no Slurm"
            }
            SlurmError::Command { .. } => {
                "what Slurm says is above; --partition, --account, --time and whatever follows `--` go to \
                 sbatch as they are"
            }
            SlurmError::NotUnderstood { .. } => {
                "please report it with the output of `scontrol --version`"
            }
            SlurmError::NotShared { .. } => {
                "name a folder that all nodes see with -o, such as one below your home; where this one is \
                 shared all the same, add --shared"
            }
            SlurmError::TooLong { .. } => "give tasks more time, such as --time 4h",
            SlurmError::TooMany { .. } => {
                "give tasks more time with --time, or more runs with --chunk"
            }
            SlurmError::Backslash(_) => "name another folder with -o",
            SlurmError::Busy(_) => "wait until it is done",
            SlurmError::Results(_) => {
                "the folder of the sweep has what is known of its jobs in .sweep/slurm"
            }
        }
    }
}
