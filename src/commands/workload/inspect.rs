//! `haggle workload inspect`: the properties of a log, as a table, as JSON and drawn.

use std::path::PathBuf;

use haggle_workloads::swf::SwfHeader;
use haggle_workloads::{CleaningReport, WorkloadStatistics};
use serde_json::json;

use super::Reading;
use crate::commands::{Error, print};
use crate::exit::Exit;
use crate::report::say;

mod figures;
mod table;

/// Describe a log: jobs, users, loads, distributions, and the effects of the rules
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle workload inspect ctc.swf.gz
  haggle workload inspect --rules canonical --json ctc.swf.gz | jq .statistics.offered_load
  haggle workload inspect --figure ctc.png ctc.swf.gz  # ctc-run-time.png and others")]
pub(crate) struct Args {
    /// Log; `-` is standard input
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw histograms into files of this name, each with its own word before the ending, .png,
    /// .svg or .pdf
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    /// Overwrite figures that exist
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reading: Reading,
}

/// A log that was read to its end.
struct Inspected {
    /// The log as named on the command line.
    log: String,
    header: SwfHeader,
    statistics: WorkloadStatistics,
    cleaning: CleaningReport,
}

/// Prints the description.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    if let Some(figure) = &args.figure {
        figures::check(figure, args.force)?;
    }
    let open = args.reading.workload(&args.log, Vec::new())?.open()?;
    // Cloned before `inspect` consumes the workload; the report is shared and fills up while jobs are read.
    let (report, header) = (open.report.clone(), open.header.clone());
    let statistics = haggle_workloads::inspect(open, args.reading.rules.machine_size)?;
    let log = match args.log.to_str() {
        Some("-") => "standard input".to_owned(),
        _ => args.log.display().to_string(),
    };
    // The report is complete only behind the last job.
    let inspected = Inspected { log, header, statistics, cleaning: report.snapshot() };
    print(&if args.json { as_json(&inspected) } else { table::text(&inspected) })?;
    if let Some(figure) = &args.figure {
        for path in figures::draw(&inspected, figure, args.force)? {
            say(&format!("drew {}\n", path.display()));
        }
    }
    Ok(Exit::Success)
}

fn as_json(inspected: &Inspected) -> String {
    let json = json!({
        "log": inspected.log,
        "computer": inspected.header.computer(),
        "installation": inspected.header.installation(),
        "statistics": inspected.statistics,
        "cleaning": inspected.cleaning,
    });
    format!("{json:#}\n")
}
