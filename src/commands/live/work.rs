//! `haggle live work`: the supervisor of a program on a real machine. A node starts it.

use std::path::PathBuf;

use haggle_live::machine::{launch, supervise};

use super::super::Error;
use super::LiveError;
use super::node::own_command;
use crate::exit::Exit;
use crate::interrupt::STOP;

/// Run the program in a folder of a node once, and write its end down
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder of an attempt of a job, below the folder of a node
    #[arg(value_name = "DIR/NODE/work/ATTEMPT")]
    folder: PathBuf,
    /// Become the program, for the supervisor with this process number
    #[arg(long, value_name = "NUMBER")]
    launch: Option<u32>,
}

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    if let Some(supervisor) = args.launch {
        return match launch(&args.folder, supervisor) {
            Ok(()) => Ok(Exit::Success),
            // As a shell says that there is no such program.
            Err(_) => std::process::exit(127),
        };
    }
    let launcher = own_command(&["live", "work", "--launch"])?;
    supervise(&args.folder, &launcher, &STOP).map_err(LiveError::from)?;
    Ok(Exit::Success)
}
