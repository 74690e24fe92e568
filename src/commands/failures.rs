//! `haggle failures`: examines records of failures.

use crate::commands::Error;
use crate::exit::Exit;
use crate::interrupt;

mod inspect;
mod weeks;

/// Examine records of failures
///
/// Records are event tables of the Failure Trace Archive, failure records of Los Alamos National Laboratory, and tables
/// with the columns node, start and end. They may be packed with gzip or zstd.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Inspect(inspect::Args),
}

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    interrupt::end_at_once(true);
    match &args.command {
        Command::Inspect(args) => inspect::run(args),
    }
}
