//! `haggle workflow`: looks at graphs of tasks, generates and schedules them.

use std::path::Path;

use haggle_workflows::{Workflow, files};

use super::{Error, say_waiting};
use crate::exit::Exit;
use crate::interrupt;

mod generate;
mod inspect;
mod kinds;
mod schedule;

/// Look at workflows, generate and schedule them
///
/// Workflows are graphs of tasks in WfFormat 1.3 to 1.5 of WfCommons, or in DAX of Pegasus, plain or
/// packed with gzip or zstd.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Generate(generate::Args),
    Inspect(inspect::Args),
    Schedule(schedule::Args),
}

/// Carries out what was typed.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    interrupt::end_at_once(true);
    match &args.command {
        Command::Inspect(args) => inspect::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Schedule(args) => schedule::run(args),
    }
}

/// The workflow in a file.
fn read(path: &Path) -> Result<Workflow, Error> {
    say_waiting(path);
    Ok(files::read(path)?)
}

/// The file as results name it.
fn named(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}
