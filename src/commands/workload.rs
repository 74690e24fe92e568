//! `haggle workload`: inspects logs, converts, generates and scales them.

use std::path::Path;

use crate::scenario::file::{LogReading, Malformed, Rules};
use haggle_workloads::logs::Options;
use haggle_workloads::{Source, Step, Workload};

use super::{Error, log_options, say_waiting};
use crate::exit::Exit;
use crate::interrupt;
use target::Target;

mod convert;
mod generate;
mod inspect;
mod log_file;
mod scale;
mod target;

/// Inspect, convert, generate and scale workloads
///
/// Workloads are logs of jobs, plain or packed with gzip or zstd: in Standard Workload Format, or in another format
/// that is recognised by its content.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Inspect(inspect::Args),
    Convert(convert::Args),
    Generate(generate::Args),
    Scale(scale::Args),
}

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    // A log has no valid part, so a command that was interrupted leaves none.
    interrupt::end_at_once(true);
    match &args.command {
        Command::Inspect(args) => inspect::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Scale(args) => scale::run(args),
    }
}

/// Rules for reading a log.
#[derive(Debug, clap::Args)]
struct Reading {
    /// Leave out lines that are not records and count them, as `--malformed skip`
    #[arg(long, conflicts_with = "malformed")]
    lenient: bool,
    #[command(flatten)]
    log: LogReading,
    #[command(flatten)]
    rules: Rules,
}

impl Reading {
    /// The rules, including `--lenient`.
    fn rules(&self) -> Rules {
        let mut rules = self.rules.clone();
        if self.lenient {
            rules.malformed = Some(Malformed::Skip);
        }
        rules
    }

    /// The way in which the log is read.
    fn options(&self) -> Result<Options, Error> {
        log_options::options(&self.log)
    }

    /// The log at `path` under these rules, with `steps` applied.
    fn workload(&self, path: &Path, steps: Vec<Step>) -> Result<Workload, Error> {
        log_options::check_columns(&self.log)?;
        say_waiting(path);
        let options = Box::new(self.options()?);
        let rules = self.rules().to_model();
        let source = Source::Log { path: path.to_owned(), options, rules };
        Ok(Workload { steps, ..Workload::new("log", source) })
    }

    /// The rules in a line, as in scenarios; empty without rules.
    fn described(&self) -> String {
        let text = toml::to_string(&self.rules()).unwrap_or_default();
        text.lines().collect::<Vec<_>>().join(", ")
    }
}
