//! `haggle forecast coverage`: how often the intervals of forecasts contain what then happened.

use std::num::NonZeroUsize;
use std::path::Path;

use crate::experiment::forecast::{
    Coverage, CoverageConduct, Covered, ForecastConduct, Truth, coverage,
};

use super::super::table::{count, lines, row};
use super::super::{print, print_json, seeds};
use super::state::Machine;
use super::{Error, levels, short, workers};
use crate::exit::Exit;
use crate::interrupt::STOP;
use crate::progress::{Show, many_runs};
use crate::report::say;

/// Compare forecasts at random instants of a log with what then happened
///
/// Each forecast knows the jobs that run or wait at its instant, their requested times, and the run times of the jobs
/// that had ended. Later submissions are unknown to it. `--truth simulated` compares with a simulation of the log under
/// the same policy; `--truth recorded` compares with the starts in the log, under the scheduler of its machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle forecast coverage log.swf.gz --policy easy --truth drawn
  haggle forecast coverage log.swf.gz --policy fcfs --truth recorded --instants 200 --runs 400")]
pub(super) struct Args {
    #[command(flatten)]
    machine: Machine,
    /// Schedule that is compared
    #[arg(long, value_name = "TRUTH", default_value = "simulated")]
    truth: TruthName,
    /// Number of random instants at which a job waits
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    instants: u32,
    /// Number of runs of each forecast
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// Intervals, in percent of the runs
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', default_value = "50,90",
        value_parser = clap::value_parser!(u32).range(1..=99))]
    level: Vec<u32>,
    /// Seed of the instants and of the run times
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = seeds())]
    seed: u64,
    /// Runs at the same time; without it, one for each processor core
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print the coverage as JSON
    #[arg(long)]
    json: bool,
    /// Print no progress
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TruthName {
    /// A simulation of the log under the same policy
    Simulated,
    /// One more run of the forecast's own model: intervals must then have their nominal coverage
    Drawn,
    /// The starts in the log
    Recorded,
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let scenario = args.machine.scenario(args.seed)?;
    let bar = many_runs(Show::unless(args.quiet || args.json), u64::from(args.instants), 0);
    let levels = levels(&args.level);
    let conduct = CoverageConduct {
        instants: args.instants as usize,
        levels: &levels,
        classes: args.machine.classes as usize,
        truth: match args.truth {
            TruthName::Simulated => Truth::Simulated,
            TruthName::Drawn => Truth::Drawn,
            TruthName::Recorded => Truth::Recorded,
        },
        forecast: ForecastConduct {
            runs: args.runs as usize,
            workers: workers(args.jobs),
            stop: &STOP,
            watch: &|done| bar.set_position(done as u64),
        },
    };
    let found = coverage(&scenario, Path::new(""), &conduct);
    bar.finish_and_clear();
    let found = found?;
    if found.instants == 0 && !args.quiet {
        let why = match args.truth {
            TruthName::Recorded => "or the log has no waiting times (field 3)",
            TruthName::Simulated | TruthName::Drawn => "or too few jobs had ended before",
        };
        say(&format!("note: no instant was found: no job waits, {why}\n"));
    }
    match args.json {
        true => print_json(&as_json(&found))?,
        false => print(&text(&found))?,
    }
    Ok(Exit::Success)
}

fn share(part: usize, whole: usize) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{:.1} %", 100.0 * part as f64 / whole as f64),
    }
}

fn text(found: &Coverage) -> String {
    let missed = found.missed;
    let mut text = format!(
        "{} at {}, {} for each forecast\n",
        count(found.jobs, "waiting job"),
        count(found.instants, "random instant"),
        count(found.runs, "run"),
    );
    for (number, reason) in [
        (missed.idle, "no job waited"),
        (missed.too_full, "running jobs had more processors than the machine"),
        (missed.too_early, "too few jobs had ended for a law of run times"),
    ] {
        if number > 0 {
            text.push_str(&format!("  {} left out: {reason}\n", count(number, "further instant")));
        }
    }
    text.push_str(&format!("  median of start - median forecast: {}\n", signed(found.error)));
    let mut rows = vec![row([
        "interval",
        "starts inside",
        "before",
        "after",
        "mean of instants",
        "without points",
        "median length",
    ])];
    rows.extend(found.levels.iter().map(|it| {
        vec![
            format!("{} %", it.percent),
            share(it.inside, found.jobs),
            share(it.before, found.jobs),
            share(it.after, found.jobs),
            format!("{:.1} %", 100.0 * it.by_instant),
            share(it.inside_long, found.jobs - it.points),
            short(it.length),
        ]
    }));
    text.push_str(&lines(&rows, &[0]));
    text
}

fn signed(value: f64) -> String {
    match value < 0.0 {
        true => format!("-{}", short(-value)),
        false => short(value),
    }
}

fn as_json(found: &Coverage) -> serde_json::Value {
    let level = |it: &Covered| {
        serde_json::json!({
            "percent": it.percent,
            "inside": it.inside,
            "before": it.before,
            "after": it.after,
            "mean_of_instants": it.by_instant,
            "intervals_without_length": it.points,
            "inside_of_intervals_with_length": it.inside_long,
            "median_length_s": it.length,
        })
    };
    serde_json::json!({
        "instants": found.instants,
        "jobs": found.jobs,
        "runs": found.runs,
        "left_out": {
            "no_job_waited": found.missed.idle,
            "too_full": found.missed.too_full,
            "too_early": found.missed.too_early,
        },
        "median_error_s": found.error,
        "levels": found.levels.iter().map(level).collect::<Vec<_>>(),
    })
}
