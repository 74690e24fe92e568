//! `haggle workload convert`: a log under stated rules as a log again.

use std::path::PathBuf;

use haggle_model::Span;

use super::log_file::{self, Waits};
use super::{Reading, Target};
use crate::commands::{Error, PROGRAM, output};
use crate::exit::Exit;
use crate::report::say;

/// Clean a log by rules and pack or unpack it
///
/// Writes the jobs as they would be submitted to a simulation: one line a job, with the header of the original and a
/// note on the rules. Fields that no rule changes are those of the log, and -1 where it has none. The effects of the
/// rules are reported on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle workload convert ctc.swf.gz ctc.swf.zst
  haggle workload convert ctc.swf.gz sorted.swf --order sort
  haggle workload convert --rules canonical ctc.swf.gz - | head")]
pub(crate) struct Args {
    /// Log to read; `-` is standard input
    #[arg(value_name = "IN")]
    log: PathBuf,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    reading: Reading,
}

/// Writes the log.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    output::check_free(&args.target.out, args.target.force)?;
    let workload = args.reading.workload(&args.log, Vec::new()).open()?;
    let report = workload.report.clone();
    let rules = args.reading.described();
    let rules = if rules.is_empty() { "the rules \"careful\"".to_owned() } else { rules };
    let note = format!("converted by {PROGRAM} under {rules}");
    let written = log_file::write(workload, &note, Span::ZERO, Waits::AsRecorded, &args.target)?;
    say(&format!("{}\n{written:>9}  jobs written\n", report.snapshot()));
    Ok(Exit::Success)
}
