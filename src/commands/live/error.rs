//! Errors of live runs.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use haggle_live::clock::ScaleError;
use haggle_live::core::CoreError;
use haggle_live::keeper::KeeperError;
use haggle_live::run::LiveError as Run;
use haggle_live::verify::VerifyError;
use haggle_results::ResultsError;
use haggle_runtime::RunError;

use crate::exit::Exit;
use crate::experiment::world::StageError;

/// Reason why a live run fails, or does not begin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LiveError {
    #[error("{} exists already; choose another folder, or remove it", .0.display())]
    Exists(PathBuf),
    #[error("a scenario with [[change]] cannot run live: its changes are not messages")]
    Changes,
    #[error(
        "provider \"{0}\" has policy \"recorded\", and messages of a live run do not carry the waiting times of logs"
    )]
    Recorded(String),
    #[error(
        "provider \"{0}\" places jobs on nodes, and messages of a live run do not carry what jobs ask for beside processors"
    )]
    Nodes(String),
    #[error(
        "provider \"{0}\" has an `interval`, and events of a live run are not at exact times of the run"
    )]
    Interval(String),
    #[error("cannot write {}: {error}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("cannot read {}: {error}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("{}: {error}", path.display())]
    Facts { path: PathBuf, error: String },
    #[error("{}: \"{address}\" is no address; write HOST:PORT", path.display())]
    Address { path: PathBuf, address: String },
    #[error(
        "{} does not exist; copy the folder of that node here, with its journal", .0.display()
    )]
    NoJournal(PathBuf),
    #[error("no actor is named \"{name}\"; the actors are {}", all.join(", "))]
    NoActor { name: String, all: Vec<String> },
    #[error("the host of \"{0}\" is given twice")]
    HostTwice(String),
    #[error("no node is named \"{name}\"; the nodes are {}", all.join(", "))]
    NoNode { name: String, all: Vec<String> },
    #[error(
        "{}: its nodes are threads of one process; `haggle live init` makes nodes that are processes",
        .0.display()
    )]
    Threads(PathBuf),
    #[error("{}: its nodes have not begun; start them by `haggle live node`", .0.display())]
    NotBegun(PathBuf),
    #[error("{}: [machine]: the program `{program}` is no executable file of this machine", path.display())]
    NoProgram { path: PathBuf, program: String },
    #[error("{}: the node has no provider, so it needs no [machine]", path.display())]
    NoProvider { path: PathBuf },
    #[error("{provider} cannot have a real machine: {reason}")]
    NotReal { provider: String, reason: &'static str },
    #[error("there are more nodes than ports above --port or --status-port")]
    Ports,
    #[error(
        "--port and --status-port give two nodes one port; let them differ by {nodes}, the number of nodes, or more"
    )]
    SamePorts { nodes: usize },
    #[error("there is no free port: {0}")]
    Port(#[source] io::Error),
    #[error("node {name}: {error}")]
    Process {
        name: String,
        #[source]
        error: io::Error,
    },
    #[error("node {name} ended with {status}; its log is {}", log.display())]
    Ended { name: String, status: ExitStatus, log: PathBuf },
    #[error("another build of haggle made this live run; only that build reads its journals")]
    OtherBuild,
    #[error(transparent)]
    Scale(#[from] ScaleError),
    #[error(transparent)]
    Stage(#[from] StageError),
    #[error(transparent)]
    Log(#[from] ResultsError),
    #[error(transparent)]
    Run(#[from] Run),
    #[error(transparent)]
    Core(#[from] CoreError),
    #[error(transparent)]
    Machine(#[from] haggle_live::machine::MachineError),
    #[error(transparent)]
    Simulation(#[from] RunError),
    #[error("node {node}: {error}")]
    Verify {
        /// Name of its first actor.
        node: String,
        #[source]
        error: VerifyError,
    },
    #[error("the simulation decides otherwise; the first difference is at {0}")]
    Differs(String),
}

impl LiveError {
    /// The exit code of the command.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            LiveError::Exists(_) | LiveError::Write { .. } => Exit::CannotWrite,
            LiveError::Run(Run::Keeper { error: KeeperError::Journal(error), .. })
                if error.is_write() =>
            {
                Exit::CannotWrite
            }
            LiveError::Scale(_)
            | LiveError::NoActor { .. }
            | LiveError::NoNode { .. }
            | LiveError::HostTwice(_)
            | LiveError::Ports
            | LiveError::SamePorts { .. } => Exit::Usage,
            LiveError::Verify { .. } | LiveError::Differs(_) => Exit::Differs,
            _ => Exit::InvalidInput,
        }
    }
}
