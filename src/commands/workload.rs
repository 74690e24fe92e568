//! `haggle workload`: inspects logs, converts, generates and scales them.

use std::path::{Path, PathBuf};

use crate::scenario::file::{Malformed, Rules};
use haggle_workloads::{Source, Step, Workload};

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
/// Workloads are logs in Standard Workload Format, plain or packed with gzip or zstd.
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

    /// The log at `path` under these rules, with `steps` applied.
    fn workload(&self, path: &Path, steps: Vec<Step>) -> Workload {
        say_waiting(path);
        let source = Source::Log { path: path.to_owned(), rules: self.rules().to_model() };
        Workload { steps, ..Workload::new("log", source) }
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
