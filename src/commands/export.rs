//! `haggle export`: a run in the format of another program.

use std::path::PathBuf;

use clap::Subcommand;

use super::output::{self, Output, failed};
use super::{Error, open_run, print};
use crate::exit::Exit;
use crate::visible::visible;
use haggle_perfetto::{Counts, TraceError, write};

/// Write a run in the format of another program
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum Format {
    Perfetto(Perfetto),
}

/// Write a run as a trace for Perfetto, a viewer of events with SQL
///
/// The trace has a group of tracks for each actor: attempts of jobs, outages, promised completions, messages with
/// arrows, and counters of busy processors and waiting jobs. Times begin at the earliest time of the run. Open the file
/// at ui.perfetto.dev, or with Perfetto's trace_processor.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle export perfetto runs/quickstart -o quickstart.pftrace
  haggle export perfetto runs/quickstart -o quickstart.pftrace.gz --force")]
struct Perfetto {
    /// Folder of a run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// File to write, packed if its name ends in .gz or .zst; - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file if it exists
    #[arg(short, long)]
    force: bool,
}

/// Writes the file.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let Format::Perfetto(Perfetto { folder, output, force }) = &args.format;
    output::check_free(output, *force)?;
    let run = open_run(folder)?;
    let mut out = Output::create(output, *force)?;
    let counts = write(&run, &mut out).map_err(|error| match error {
        TraceError::Results(error) => Error::from(error),
        TraceError::Write(error) => failed(output, error),
        TraceError::Late { .. } => Error::Unfit {
            message: error.to_string(),
            hint: "run the scenario with an earlier `horizon`".to_owned(),
        },
    })?;
    out.finish()?;
    if output.as_os_str() != "-" {
        let Counts { attempts, outages, messages } = counts;
        let path = output.display().to_string();
        print(&format!(
            "{}: {attempts} attempts, {outages} outages and {messages} messages\n",
            visible(&path)
        ))?;
    }
    Ok(Exit::Success)
}
