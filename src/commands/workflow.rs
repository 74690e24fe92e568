//! `haggle workflow`: inspects graphs of tasks, generates and schedules them.

use std::path::Path;

use crate::scenario::file::NegativeValues;
use crate::scenario::vocabulary::parser;
use haggle_workflows::Workflow;
use haggle_workflows::files::{self, Described};

use super::{Error, say_waiting};
use crate::exit::Exit;
use crate::interrupt;
use crate::report::say;

mod generate;
mod inspect;
mod kinds;
mod schedule;

/// Inspect, generate and schedule workflows
///
/// Workflows are graphs of tasks in WfFormat 1.3 to 1.6 of WfCommons, or in DAX of Pegasus, plain or packed with gzip
/// or zstd.
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

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    // An incomplete file is useless, and reading may wait for a pipe.
    interrupt::end_at_once(true);
    match &args.command {
        Command::Inspect(args) => inspect::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Schedule(args) => schedule::run(args),
    }
}

/// Rules for reading a file.
#[derive(Debug, clap::Args)]
struct Reading {
    /// Treatment of negative sizes and run times in the file
    #[arg(long, value_name = "RULE", default_value = "refuse", value_parser = parser::<NegativeValues>())]
    negative_values: NegativeValues,
}

impl Reading {
    /// The workflow in a file, with notes about unexpected contents.
    fn read(&self, path: &Path) -> Result<Workflow, Error> {
        say_waiting(path);
        let rules = files::Rules { negative_values: self.negative_values };
        let Described { workflow, notes, .. } = rules.read(path)?;
        for note in notes {
            say(&format!("note: {note}\n"));
        }
        Ok(workflow)
    }
}

/// Name of the file in results.
fn named(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}
