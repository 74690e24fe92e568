//! Real machines: programs that run while their provider decides.
//!
//! ```text
//!   provider ── attempts that run ──▶ attendant ── start, stop, look ──▶ machine: local processes, Slurm
//!       ▲                                 │
//!       └── an attempt has ended ─────────┘
//! ```
//!
//! The journal is the truth about the attempts that must run. The attendant compares them with the programs that the
//! machine has, again and again: after a crash it does nothing else than before. An attempt has a name of its own, and a
//! machine starts a name at most once.
//!
//! No message runs a program: the owner of the node lists the programs in `node.toml`.

mod attendant;
mod local;
mod program;
pub mod slurm;
mod supervisor;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::core::WorkKey;

pub use attendant::{Attendant, Tally};
pub use program::{Programs, ProgramsError};
pub use supervisor::{launch, supervise};

/// The machine of a node, as its owner describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Settings {
    /// Programs are processes on the machine of the node.
    Command {
        /// Program of a job without one of its own.
        command: Vec<String>,
        /// Programs by the application number of a job.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        applications: BTreeMap<String, Vec<String>>,
        /// Limits of each process.
        #[serde(default)]
        limits: Limits,
    },
    /// Programs are jobs of Slurm.
    Slurm {
        /// Program of a job without one of its own.
        command: Vec<String>,
        /// Programs by the application number of a job.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        applications: BTreeMap<String, Vec<String>>,
        /// The right by which the node has its processors.
        hold: slurm::Hold,
        /// Further options for sbatch.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<String>,
    },
}

/// Limits of a process; `None` = those of the node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Limits {
    /// Address space, MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<u64>,
    /// Processor time, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<u64>,
    /// Size of a file that it writes, MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_mib: Option<u64>,
}

/// An attempt for a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The attempt.
    pub key: WorkKey,
    /// Its name, unlike that of any other attempt: letters, digits, `-`, `_`.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Number of its processors.
    pub processors: u32,
    /// Real time after which its provider stops it; `None` = it may go on.
    pub limit: Option<Duration>,
}

/// State of an attempt on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It was handed over, and its program may have begun.
    Running,
    /// Its program has ended.
    Ended {
        /// Microseconds since 1970.
        at: i64,
        /// Its exit code; `None` = a signal ended it.
        code: Option<i32>,
        /// Reason why it could not be started.
        error: Option<String>,
    },
    /// It does not run any more, and its end is unknown.
    Lost,
}

/// Reason why a machine does not carry out a request. It is made again later.
#[derive(Debug, Error)]
pub enum MachineError {
    /// A file of an attempt cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A program cannot be started.
    #[error("`{program}` cannot be started: {error}")]
    NoProgram {
        /// The program.
        program: String,
        /// The reason.
        error: io::Error,
    },
    /// The node stops before the machine is ready.
    #[error("stopped before the machine was ready")]
    Stopped,
    /// A command of Slurm failed.
    #[error("`{command}` failed: {said}")]
    Command {
        /// The command with its arguments.
        command: String,
        /// Its error output.
        said: String,
    },
    /// A reservation has fewer processors than the provider.
    #[error(
        "the reservation {name} has {held} processors and the provider has {processors}; name more nodes and delete the \
         reservation by `scontrol delete ReservationName={name}`, or give the provider fewer processors"
    )]
    TooFew {
        /// Its name.
        name: String,
        /// Its processors.
        held: u32,
        /// Processors of the provider.
        processors: u32,
    },
    /// A command said something that is not understood.
    #[error("`{command}` gave an unknown answer: {said}")]
    NotUnderstood {
        /// The command with its arguments.
        command: String,
        /// Its output.
        said: String,
    },
}

/// The node of a machine.
#[derive(Clone, Debug)]
pub struct Site<'s> {
    /// Folder of its attempts.
    pub folder: PathBuf,
    /// A name that no other node of any run has.
    pub mark: String,
    /// Command that calls [`supervise`] with the folder of an attempt, which follows.
    pub supervisor: Vec<String>,
    /// Processors of its providers.
    pub processors: u32,
    /// True if the run is over: nothing is held for it any more.
    pub is_over: bool,
    /// If it is raised, a machine that is not ready is not awaited any more.
    pub stop: &'s AtomicBool,
}

impl MachineError {
    fn file(path: &Path) -> impl Fn(io::Error) -> MachineError {
        move |error| MachineError::File { path: path.to_owned(), error }
    }
}

/// A real machine.
pub trait Machine: Send {
    /// Hands an attempt over. A machine runs each name at most once, also after a lost answer.
    ///
    /// # Errors
    /// If it cannot take the attempt now.
    fn start(&mut self, work: &Work) -> Result<(), MachineError>;

    /// Stops the program of an attempt.
    ///
    /// # Errors
    /// If it cannot be stopped now.
    fn stop(&mut self, key: WorkKey) -> Result<(), MachineError>;

    /// The attempts that it was given since the beginning of the run. An attempt that is missing was not handed over, or
    /// has ended: each end is returned once by a process.
    ///
    /// # Errors
    /// If the states are unknown now.
    fn look(&mut self) -> Result<BTreeMap<WorkKey, State>, MachineError>;

    /// Real time between two looks.
    fn interval(&self) -> Duration;

    /// Gives everything back that is held for the run. No attempt runs any more.
    ///
    /// # Errors
    /// If something cannot be given back.
    fn close(&mut self) -> Result<(), MachineError>;
}

impl Settings {
    /// The programs that its owner lists.
    ///
    /// # Errors
    /// If one is none, or has an unknown field.
    pub fn programs(&self) -> Result<Programs, ProgramsError> {
        let (Settings::Command { command, applications, .. }
        | Settings::Slurm { command, applications, .. }) = self;
        Programs::new(command, applications)
    }

    /// The word of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Settings::Command { .. } => "command",
            Settings::Slurm { .. } => "slurm",
        }
    }

    /// The machine of a node.
    ///
    /// # Errors
    /// If the folder cannot be read, or the machine does not give what must be held for the run.
    pub fn open(&self, site: &Site<'_>) -> Result<Box<dyn Machine>, MachineError> {
        match self {
            Settings::Command { limits, .. } => {
                Ok(Box::new(local::Local::open(site, *limits, Vec::new())?))
            }
            Settings::Slurm { hold, options, .. } => slurm::open(site, hold, options),
        }
    }
}

/// The present, for waits.
#[expect(clippy::disallowed_methods, reason = "programs run in real time")]
fn now() -> Instant {
    Instant::now()
}
