//! Sweeps on a cluster that Slurm schedules: job arrays over a shared folder.
//!
//! ```text
//! runs that are missing ──> chunks of about equal cost ──> sbatch: arrays, and a job that sums up after them
//!                              │                              │ each task: the same command, --task ROUND/FIRST
//!                              └──> .sweep/slurm/ROUND.json <─┘
//! squeue, sacct, the folder ──> where each run is
//! ```
//!
//! Slurm is spoken to by its own commands. All that is known of a submission stands in the sweep's folder;
//! nothing here looks at a clock, so that those of the nodes may differ.

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

/// Why Slurm does not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SlurmError {
    /// A command is not there.
    #[error("there is no `{program}` here: {error}")]
    NoCommand {
        /// Its name.
        program: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// A command failed.
    #[error("`{command}` failed: {said}")]
    Command {
        /// As it was given.
        command: String,
        /// What it said.
        said: String,
    },
    /// A command said something that is not understood.
    #[error("`{command}` gave an unknown answer: {said}")]
    NotUnderstood {
        /// As it was given.
        command: String,
        /// What it said.
        said: String,
    },
    /// Other nodes do not see the folder of the sweep.
    #[error("`{}` is on `{mount}` ({kind}), which other nodes cannot access", folder.display())]
    NotShared {
        /// The folder.
        folder: PathBuf,
        /// Where its file system is mounted.
        mount: String,
        /// The type of that.
        kind: String,
    },
    /// A run does not fit into a task.
    #[error("a run, or a pack of them, takes about {seconds:.0} s, and a task has {limit:.0} s")]
    TooLong {
        /// The longest run.
        seconds: f64,
        /// What `--time` gives.
        limit: f64,
    },
    /// The site takes fewer jobs than would be needed.
    #[error("the runs would be {tasks} tasks, and the site takes {most} jobs of yours at once")]
    TooMany {
        /// How many.
        tasks: usize,
        /// How many are taken.
        most: usize,
    },
    /// sbatch reads names of logs otherwise than they are.
    #[error("the name of `{}` has a backslash, with which sbatch cannot name the logs of \
             tasks", .0.display())]
    Backslash(PathBuf),
    /// Somebody else is submitting the same sweep.
    #[error("`{}` is being submitted by another command", .0.display())]
    Busy(PathBuf),
    /// A note of a submission cannot be read or written.
    #[error(transparent)]
    Results(#[from] ResultsError),
}

impl SlurmError {
    /// The way out.
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
