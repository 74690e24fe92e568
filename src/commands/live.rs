//! `haggle live`: nodes that run actors over TCP.

use super::Error;
use crate::exit::Exit;

mod keys;

/// Run actors as nodes over TCP
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Keys(keys::Args),
}

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match &args.command {
        Command::Keys(args) => keys::run(args),
    }
}
