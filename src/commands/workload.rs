//! `haggle workload`: inspects logs, converts, generates and scales them.

use std::path::{Path, PathBuf};

use crate::scenario::file::{LogFormat, LogReading, Malformed, Rules};
use haggle_workloads::logs::Options;
use haggle_workloads::{Source, Step, Workload, WorkloadError};

use super::{Error, say_waiting};
use crate::exit::Exit;
use crate::interrupt;

mod convert;
mod generate;
mod inspect;
mod log_file;
mod scale;

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
        let mapping = self.log.mapping.as_deref().map(Path::new);
        let is_other = self.log.format.is_some_and(|format| format != LogFormat::Csv);
        if mapping.is_some() && is_other {
            return Err(Error::Unfit {
                message: "--mapping is for tables of jobs".to_owned(),
                hint: "remove it, or write --format csv".to_owned(),
            });
        }
        Ok(self.log.to_model(mapping).map_err(WorkloadError::Log)?)
    }

    /// The log at `path` under these rules, with `steps` applied.
    fn workload(&self, path: &Path, steps: Vec<Step>) -> Result<Workload, Error> {
        if !self.log.columns.is_empty() && self.log.format != Some(LogFormat::Sacct) {
            return Err(Error::Unfit {
                message: "--columns names the fields of a log of sacct without a line of names"
                    .to_owned(),
                hint: "add --format sacct, or remove --columns".to_owned(),
            });
        }
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

/// Destination of a log.
#[derive(Debug, clap::Args)]
struct Target {
    /// Log to write, packed if it ends in .gz or .zst; `-` is standard output
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// Overwrite OUT if it exists
    #[arg(long)]
    force: bool,
}
