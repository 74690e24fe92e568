//! `haggle live`: nodes that run actors over TCP.

use super::Error;
use crate::exit::Exit;

mod error;
mod folder;
mod init;
mod keys;
mod node;
mod processes;
mod results;
mod run;
mod spread;
mod status;
mod study;
mod verify;
mod work;

pub(crate) use error::LiveError;
pub(crate) use study::run_for_study;

/// Run actors as nodes over TCP
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Run(run::Args),
    Init(init::Args),
    Node(node::Args),
    Status(status::Args),
    Results(results::Args),
    Verify(verify::Args),
    Keys(keys::Args),
    #[command(hide = true)]
    Work(work::Args),
}

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match &args.command {
        Command::Run(args) => run::run(args),
        Command::Init(args) => init::run(args),
        Command::Node(args) => node::run(args),
        Command::Status(args) => status::run(args),
        Command::Results(args) => results::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Keys(args) => keys::run(args),
        Command::Work(args) => work::run(args),
    }
}
