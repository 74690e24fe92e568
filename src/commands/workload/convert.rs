//! `haggle workload convert`: a log in any format under stated rules, as a log in a common format.

use std::path::{Path, PathBuf};

use haggle_workloads::cleaning::CleanJobs;
use haggle_workloads::logs::{self, LogReader};
use haggle_workloads::swf::SwfHeader;
use haggle_workloads::{CleaningReport, SharedReport};
use serde_json::json;

use super::Reading;
use super::log_file::{self, Line, Log, Waits};
use super::target::{Format, Target};
use crate::commands::{Error, PROGRAM, output, print, say_waiting};
use crate::exit::Exit;
use crate::report::say;

/// Convert a log to another format, clean it by rules, pack or unpack it
///
/// Writes the jobs as they would be submitted to a simulation. In Standard Workload Format, this is one line a job,
/// with the header of the original and a note on the rules. Fields that no rule changes are those of the log, and -1
/// where it has none. Values that were dropped, changed or guessed are listed on standard error, with their lines. The
/// effects of the rules follow.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle workload convert ctc.swf.gz ctc.swf.zst
  haggle workload convert --time-zone Europe/Berlin jobs.txt jobs.swf --order sort
  haggle workload convert --rules canonical ctc.swf.gz - | head
  haggle workload convert ctc.swf.gz ctc.json  # a workload of Batsim")]
pub(crate) struct Args {
    /// Log to read; `-` is standard input
    #[arg(value_name = "IN")]
    log: PathBuf,
    #[command(flatten)]
    target: Target,
    /// Columns to keep behind the 18th, by the names that IN gives them; `all` keeps all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    keep: Vec<String>,
    /// Print the list of changes as JSON on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// Writes the log.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    if args.json && args.target.out == Path::new("-") {
        return Err(Error::Unfit {
            message: "standard output cannot have both the log and the list of --json".to_owned(),
            hint: "write the log into a file".to_owned(),
        });
    }
    if !args.keep.is_empty() && args.target.format() != Format::Swf {
        return Err(Error::Unfit {
            message: "--keep is for logs in Standard Workload Format".to_owned(),
            hint: "remove it, or write --to swf".to_owned(),
        });
    }
    output::check_free(&args.target.out, args.target.force)?;
    say_waiting(&args.log);
    let report = SharedReport::default();
    let rules = args.reading.rules().to_model();
    let options = logs::Options { keep: args.keep.clone(), ..args.reading.options()? };
    let reader = logs::open(&args.log, &options, rules.malformed)?.into_reader();
    let jobs = CleanJobs::new(reader, rules, report.clone()).keeping_further();
    let rules = args.reading.described();
    let rules = if rules.is_empty() { "the rules \"careful\"".to_owned() } else { rules };
    let note = format!("converted by {PROGRAM} under {rules}");
    let log = Converted { jobs, report: report.clone() };
    let written = log_file::write(log, &note, Waits::AsRecorded, &args.target)?;
    let mut report = report.snapshot();
    report.notes.extend(written.notes.by_kind());
    let written = written.jobs;
    if args.json {
        print(&as_json(&report, written))?;
    } else {
        say(&format!("{report:#}\n{written:>9}  jobs written\n"));
    }
    Ok(Exit::Success)
}

/// The list of changes.
fn as_json(report: &CleaningReport, written: u64) -> String {
    let rules = report
        .counts
        .iter()
        .map(|count| json!({ "rule": count.rule, "jobs": count.jobs, "lines": count.lines }));
    let json = json!({
        "lines": report.lines,
        "written": written,
        "notes": report.notes,
        "rules": Vec::from_iter(rules),
        "malformed": report.malformed,
    });
    format!("{json:#}\n")
}

/// A log that is read.
struct Converted {
    jobs: CleanJobs<Box<dyn LogReader + Send>>,
    report: SharedReport,
}

impl Log for Converted {
    fn next_line(&mut self) -> Result<Option<Line>, Error> {
        let entry = self.jobs.next_entry().transpose()?;
        Ok(entry.map(|entry| Line { job: entry.job, further: entry.further }))
    }

    fn header(&self) -> SwfHeader {
        let reader = self.jobs.reader();
        let mut header = reader.header().clone();
        header.set_extra_columns(reader.columns());
        header.lines.extend(reader.names());
        header
    }

    fn shift_us(&self) -> i64 {
        self.report.snapshot().shift_us
    }

    fn has_late_header(&self) -> bool {
        self.jobs.reader().has_names()
    }
}
