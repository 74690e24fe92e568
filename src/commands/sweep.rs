//! `haggle sweep`: all runs of a scenario with axes and replications.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use haggle::experiment::Figures;
use haggle::experiment::sweep::{SweepConduct, Swept, clear_stale, look, sweep};
use haggle::scenario::{Experiment, Logs};
use serde_json::json;

use super::compare::SHOWN;
use super::example::Given;
use super::table::{lines, number};
use super::{Error, print};
use crate::exit::Exit;
use crate::interrupt::STOP;
use crate::progress::{Show, many_runs};
use crate::report::{say, warn, warn_of};

/// Run every combination of a scenario's axes, side by side, and sum them up
///
/// A sweep that was stopped or killed goes on where it was: runs that are done
/// are not repeated. The results do not depend on the number of workers.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle sweep --example sweep
  haggle sweep scenarios/sweep.toml -o again
  haggle sweep scenarios/sweep.toml -o policies --jobs 4
  haggle sweep scenarios/sweep.toml --set 'provider.*.processors=200' -o larger
  haggle show --runs scenarios/sweep.toml  # what would be run")]
pub(crate) struct Args {
    #[command(flatten)]
    given: Given,
    /// Folder of the results; without it, runs/NAME, after the scenario's name
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Runs side by side; without it, one for each processor core
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Count runs of other builds of this version of haggle as done
    #[arg(long)]
    any_build: bool,
    /// Do runs again whose results are there and are of another scenario, seed, version, build or
    /// log, or damaged
    #[arg(long)]
    force: bool,
    /// Draw each run's own figures too
    #[arg(long)]
    figures: bool,
    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
    /// Print no progress and nothing on standard error but errors; warnings are in each run's
    /// summary.json
    #[arg(short, long)]
    quiet: bool,
}

/// Carries out the sweep.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let source = args.given.read()?;
    let folder = source.folder().to_owned();
    let experiment = Experiment::read(source, Logs::MustExist)?;
    let name = experiment.scenario.scenario.name.as_ref().map_or("sweep", |name| name.as_str());
    let output = args.output.clone().unwrap_or_else(|| Path::new("runs").join(name));
    if !args.quiet {
        warn(&experiment.warnings);
    }
    if args.force {
        let cleared = clear_stale(&experiment, &folder, &output, args.any_build)?;
        if cleared > 0 && !args.quiet {
            say(&format!("{cleared} runs that were there are done again\n"));
        }
    }
    let progress = look(&experiment, &folder, &output, args.any_build)?;
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let workers = args.jobs.map_or_else(cores, NonZeroUsize::get);
    if progress.done > 0 && !args.quiet {
        say(&format!("{} of {} runs are done already\n", progress.done, progress.runs));
    }
    let bar = many_runs(Show::unless(args.quiet), progress.runs as u64, progress.done as u64);
    let conduct = SweepConduct {
        output: &output,
        any_build: args.any_build,
        workers,
        figures: if args.figures { Figures::Draw } else { Figures::Skip },
        stop: &STOP,
        on_run: &|| bar.inc(1),
    };
    let swept = sweep(&experiment, &folder, &conduct);
    bar.finish_and_clear();
    let swept = swept?;
    if !args.quiet {
        warn_of(&swept.warnings);
    }
    if !args.quiet {
        for reason in &swept.figures_left_out {
            say(&format!("figure left out: {reason}\n"));
        }
    }
    let figures: Vec<_> = swept.figures.iter().map(|path| path.display().to_string()).collect();
    if args.json {
        let object = json!({
            "runs": progress.runs,
            "folder": output,
            "runs_csv": swept.runs_csv,
            "aggregate_csv": swept.aggregate_csv,
            "figures": figures,
            "warnings": swept.warnings,
        });
        let text = serde_json::to_string_pretty(&object).expect("paths and numbers");
        print(&format!("{text}\n"))?;
    } else {
        let noun = if progress.runs == 1 { "run" } else { "runs" };
        let mut text = format!("{} {noun}\n{}", progress.runs, means(&swept));
        text.push_str(&format!("runs       {}\n", swept.runs_csv.display()));
        text.push_str(&format!("aggregate  {}\n", swept.aggregate_csv.display()));
        for figure in figures {
            text.push_str(&format!("figure     {figure}\n"));
        }
        print(&text)?;
    }
    Ok(Exit::Success)
}

/// Points of a sweep that are printed; there may be thousands.
const POINTS_SHOWN: usize = 24;

/// The means of what most sweeps are made for, a row a point.
fn means(swept: &Swept) -> String {
    let mut known = BTreeSet::new();
    let points = swept.rows.iter().map(|row| row.point.as_slice());
    let points: Vec<&[String]> = points.filter(|&point| known.insert(point)).collect();
    let has = |metric: &&str| swept.rows.iter().any(|row| row.metric == **metric);
    let metrics: Vec<&str> = SHOWN.into_iter().filter(has).collect();
    let heads = swept.axes.iter().map(String::as_str).chain(["runs"]).chain(metrics.clone());
    let mut table = vec![heads.map(str::to_owned).collect::<Vec<_>>()];
    for &point in points.iter().take(POINTS_SHOWN) {
        let of_point: Vec<_> = swept.rows.iter().filter(|row| row.point == point).collect();
        let runs = of_point.iter().map(|row| row.estimate.n).max().unwrap_or(0);
        let cells = metrics.iter().map(|metric| {
            let row = of_point.iter().find(|row| row.metric == *metric);
            row.map_or_else(
                || "-".to_owned(),
                |row| {
                    let half = row.estimate.half_width;
                    let half = half.map_or_else(String::new, |half| format!(" ± {}", number(half)));
                    format!("{}{half}", number(row.estimate.mean))
                },
            )
        });
        table.push(point.iter().cloned().chain([runs.to_string()]).chain(cells).collect());
    }
    let left: Vec<usize> = (0..swept.axes.len()).collect();
    let mut text = format!(
        "\nmean of the runs at each point, ± half its 95 % confidence interval\n{}",
        lines(&table, &left)
    );
    if points.len() > POINTS_SHOWN {
        text.push_str(&format!(
            "  and {} points more, in aggregate.csv\n",
            points.len() - POINTS_SHOWN
        ));
    }
    text + "\n"
}
