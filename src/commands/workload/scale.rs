//! `haggle workload scale`: the same jobs under more or less load.

use std::path::PathBuf;

use crate::scenario::file::SCALE_MAX;
use crate::scenario::quantity::TimeSpan;
use clap::ArgGroup;
use haggle_model::{Span, Time};
use haggle_workloads::Step;
use haggle_workloads::steps::{FillWindow, ScaleGaps};

use super::log_file::{self, Stepped, Waits};
use super::{Reading, Target};
use crate::commands::{Error, PROGRAM, output, positive};
use crate::exit::Exit;
use crate::report::say;

/// Change the offered load of a log without changing its jobs
///
/// There are two ways. The first puts the same jobs into less time, by shrinking all gaps between submissions (--load
/// or --stretch). The second puts more jobs into the same time, by moving a longer part of the log into a window
/// (--load with --window).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle workload scale ctc.swf.gz ctc-120.swf.gz --load 1.2
  haggle workload scale ctc.swf.gz month-3.swf.gz --load 1.2 --window 30d --from 60d
  haggle workload scale ctc.swf.gz - --stretch 0.8 | haggle workload inspect -")]
#[command(group = ArgGroup::new("amount").required(true))]
pub(crate) struct Args {
    /// Log to read; `-` is standard input
    #[arg(value_name = "IN")]
    log: PathBuf,
    #[command(flatten)]
    target: Target,
    /// Load relative to that of the log: 1.2 is a fifth more
    #[arg(long, value_name = "FACTOR", value_parser = load, group = "amount")]
    load: Option<f64>,
    /// Factor for the gaps between submissions: 0.8 is a quarter more load
    #[arg(long, value_name = "FACTOR", value_parser = stretch, group = "amount")]
    stretch: Option<f64>,
    /// Fill a window of this length instead of shrinking gaps, such as 30d
    #[arg(long, value_name = "TIME", requires = "load", conflicts_with = "stretch")]
    window: Option<TimeSpan>,
    /// Beginning of the window in the log
    #[arg(long, value_name = "TIME", requires = "window")]
    from: Option<TimeSpan>,
    #[command(flatten)]
    reading: Reading,
}

impl Args {
    /// The step, its description, and its shift of time zero.
    fn step(&self) -> (Step, String, Span) {
        // Without a load there is a stretch, which then counts.
        let load = self.load.unwrap_or(1.0);
        if let Some(length) = self.window {
            let from = self.from.unwrap_or(TimeSpan::ZERO);
            let step = FillWindow { from: Time::ZERO + from.0, length: length.0, load };
            let words = format!("a window of {length} from {from} on filled {load} times");
            // Time zero of the new log is the beginning of the window.
            return (Step::FillWindow(step), words, from.0);
        }
        // Smaller gaps are a higher load.
        let factor = self.stretch.unwrap_or(1.0 / load);
        let words = format!("all gaps multiplied by {factor}");
        (Step::ScaleGaps(ScaleGaps { factor }), words, Span::ZERO)
    }
}

/// Reads the load relative to that of the log. Gaps are multiplied by its inverse, so it has a lower bound as well.
fn load(text: &str) -> Result<f64, String> {
    let load = positive(text)?;
    let bounds = 1.0 / SCALE_MAX..=SCALE_MAX;
    bounds
        .contains(&load)
        .then_some(load)
        .ok_or_else(|| format!("expected a number from {:e} to {SCALE_MAX:e}", 1.0 / SCALE_MAX))
}

/// Reads a factor of gaps.
fn stretch(text: &str) -> Result<f64, String> {
    let factor = positive(text)?;
    let fits = factor <= SCALE_MAX;
    fits.then_some(factor).ok_or_else(|| format!("expected a number up to {SCALE_MAX:e}"))
}

/// Writes the log.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    output::check_free(&args.target.out, args.target.force)?;
    let (step, words, moved) = args.step();
    let workload = args.reading.workload(&args.log, vec![step])?.open()?;
    let report = workload.report.clone();
    let mut note = format!("scaled by {PROGRAM}: {words}");
    let rules = args.reading.described();
    if !rules.is_empty() {
        note.push_str(&format!("; rules: {rules}"));
    }
    // Recorded waiting times are those of the load as it was.
    let written =
        log_file::write(Stepped { workload, moved }, &note, Waits::Unknown, &args.target)?;
    let mut report = report.snapshot();
    report.notes.extend(written.notes.by_kind());
    say(&format!("{report}\n{:>9}  jobs written\n", written.jobs));
    Ok(Exit::Success)
}
