//! `haggle forecast`: starts of waiting jobs, over many draws of unknown run times.

mod coverage;
mod state;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::command::own_rules;
use crate::experiment::forecast::{ForecastConduct, Waiting, forecast};
use crate::scenario::{Experiment, Logs, Scenario};
use haggle_plots::{BoxChart, BoxSeries, BoxStyle, Figure, Size};
use serde::Serialize;

use super::example::Given;
use super::output::{self, Output, failed};
use super::table::{exact_seconds, lines, row};
use super::{Error, figure, print, print_json, seeds};
use crate::exit::Exit;
use crate::interrupt::STOP;
use crate::progress::{Show, many_runs};
use crate::report::warn;

/// Forecast when waiting jobs start, with intervals
///
/// The scenario has a start state: `[[provider.initial]]` or `initial-file` of a provider, or `[[grid.initial]]`. Run
/// times that are unknown are drawn anew in each run, from the law `initial-run` or `initial-use`. An interval of 90 % has the starts of the
/// middle 90 % of the runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle forecast scenarios/forecast.toml
  haggle forecast scenarios/forecast.toml --runs 1000 --level 50,80,95 -o starts.csv
  haggle forecast scenarios/forecast.toml --figure starts.png
  haggle forecast state log.swf.gz --at 30d --policy easy -o now.toml
  haggle forecast coverage log.swf.gz --policy easy --instants 20")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    about: Option<About>,
    #[command(flatten)]
    of: Of,
}

/// Forecasts of logs.
#[derive(Debug, clap::Subcommand)]
enum About {
    State(state::Args),
    Coverage(coverage::Args),
}

/// A forecast of a scenario.
#[derive(Debug, clap::Args)]
struct Of {
    #[command(flatten)]
    given: Given,
    /// Number of runs, with consecutive seeds
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// Seed of the first run; without it, that of the scenario
    #[arg(long, value_name = "NUMBER", value_parser = seeds())]
    seed: Option<u64>,
    /// Intervals, in percent of the runs
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', default_value = "50,90",
        value_parser = clap::value_parser!(u32).range(1..=99))]
    level: Vec<u32>,
    /// Write the forecast into this file as CSV; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the intervals of the lowest and the highest level into this file, .png, .svg or .pdf
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    /// Runs at the same time; without it, one for each processor core
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print the forecast as JSON
    #[arg(long)]
    json: bool,
    /// Print no progress, and only errors on standard error
    #[arg(short, long)]
    quiet: bool,
}

/// Carries out the forecast.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match &args.about {
        Some(About::State(args)) => state::run(args),
        Some(About::Coverage(args)) => coverage::run(args),
        None => of_scenario(&args.of),
    }
}

fn of_scenario(args: &Of) -> Result<Exit, Error> {
    let levels = levels(&args.level);
    // Before any run, so that nothing is lost at the end.
    args.output.iter().try_for_each(|path| output::check_free(path, args.force))?;
    args.figure.iter().try_for_each(|path| figure::check(path, args.force))?;
    if !args.given.is_given() {
        return Err(Error::Unfit {
            message: "a scenario is missing".to_owned(),
            hint: "name a file, as in `haggle forecast scenarios/forecast.toml`".to_owned(),
        });
    }
    let source = args.given.read()?;
    let folder = source.folder().to_owned();
    let experiment = Experiment::read_with(source, Logs::MustExist, own_rules())?;
    if !args.quiet {
        warn(&experiment.warnings);
    }
    let mut scenario = single(experiment)?;
    if let Some(seed) = args.seed {
        scenario.scenario.seed = seed;
    }
    let bar = many_runs(Show::unless(args.quiet || args.json), u64::from(args.runs), 0);
    let conduct = ForecastConduct {
        runs: args.runs as usize,
        workers: workers(args.jobs),
        stop: &STOP,
        watch: &|done| bar.set_position(done as u64),
    };
    let jobs = forecast(&scenario, &folder, &conduct);
    bar.finish_and_clear();
    let jobs = jobs?;
    if let Some(path) = &args.output {
        write(&csv(&jobs, &levels), path, args.force)?;
    }
    if let Some(path) = &args.figure {
        figure::draw(&drawn(&jobs, &levels), Size::default(), path, args.force)?;
    }
    if args.json {
        let jobs = Vec::from_iter(jobs.iter().map(|job| Told::of(job, &levels)));
        print_json(
            &serde_json::json!({ "runs": args.runs, "seed": scenario.scenario.seed, "jobs": jobs }),
        )?;
    } else if args.output.as_deref() != Some(Path::new("-")) {
        print(&text(&jobs, &levels))?;
    }
    Ok(Exit::Success)
}

/// The levels in ascending order, each once.
fn levels(given: &[u32]) -> Vec<u32> {
    let mut levels = given.to_vec();
    levels.sort_unstable();
    levels.dedup();
    levels
}

pub(super) fn workers(given: Option<NonZeroUsize>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    given.map_or_else(cores, NonZeroUsize::get)
}

/// The only variant of a scenario that has a start state.
fn single(experiment: Experiment) -> Result<Scenario, Error> {
    let runs = experiment.runs().count();
    if experiment.variants.len() > 1 {
        return Err(Error::SweepIsNoRun { runs });
    }
    let first = experiment.runs().next().map(|run| run.scenario());
    let Some(scenario) = first else { return Err(Error::NoSuchRun { number: 0, runs }) };
    if scenario.start_state_owners().next().is_none() {
        return Err(Error::Unfit {
            message: "the scenario has no start state".to_owned(),
            hint: "add `[[provider.initial]]` or `initial-file` to a provider, or `[[grid.initial]]` to the grid (docs/forecast.md)"
                .to_owned(),
        });
    }
    Ok(scenario)
}

/// The ends of an interval, s; an end without a value is later than every start in the runs.
#[derive(Serialize)]
struct Interval {
    percent: u32,
    from_s: Option<f64>,
    to_s: Option<f64>,
}

/// A job as JSON.
#[derive(Serialize)]
struct Told<'a> {
    provider: &'a str,
    job: i64,
    processors: u32,
    requested_s: Option<f64>,
    submitted_s: f64,
    median_s: Option<f64>,
    intervals: Vec<Interval>,
    never_started: f64,
}

impl Told<'_> {
    fn of<'a>(job: &'a Waiting, levels: &[u32]) -> Told<'a> {
        let interval = |&percent: &u32| {
            let (from_s, to_s) = job.interval(percent);
            Interval { percent, from_s, to_s }
        };
        Told {
            provider: &job.provider,
            job: job.number,
            processors: job.processors,
            requested_s: job.requested.map(|it| it.as_secs_f64()),
            submitted_s: job.submit.as_secs_f64(),
            median_s: job.quantile(0.5),
            intervals: levels.iter().map(interval).collect(),
            never_started: job.never(),
        }
    }
}

/// A length of time in its two largest units.
fn short(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0 | 1) => format!("{whole} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

fn text(jobs: &[Waiting], levels: &[u32]) -> String {
    if jobs.is_empty() {
        return "no job waits at time zero\n".to_owned();
    }
    let time = |value: Option<f64>| value.map_or("never".to_owned(), short);
    let mut head =
        row(["provider", "job", "processors", "requested", "waits since", "median start"]);
    head.extend(levels.iter().map(|level| format!("{level} % of runs")));
    head.push("never".to_owned());
    let mut rows = vec![head];
    for job in jobs {
        let mut cells = vec![
            job.provider.clone(),
            job.number.to_string(),
            job.processors.to_string(),
            job.requested.map_or("-".to_owned(), |it| short(it.as_secs_f64())),
            short(-job.submit.as_secs_f64()),
            time(job.quantile(0.5)),
        ];
        cells.extend(levels.iter().map(|&level| {
            let (from, to) = job.interval(level);
            format!("{} to {}", time(from), time(to))
        }));
        cells.push(match job.never() {
            0.0 => "-".to_owned(),
            share => format!("{:.0} %", 100.0 * share),
        });
        rows.push(cells);
    }
    let runs = jobs.first().map_or(0, |job| job.runs);
    format!(
        "starts of {} waiting jobs after time zero, over {runs} runs\n{}",
        jobs.len(),
        lines(&rows, &[0])
    )
}

fn csv(jobs: &[Waiting], levels: &[u32]) -> String {
    let mut text =
        "provider,job,processors,requested_time,submission_time,runs,never_started,median_start"
            .to_owned();
    for level in levels {
        text.push_str(&format!(",from_{level},to_{level}"));
    }
    text.push('\n');
    let time = |value: Option<f64>| value.map_or(String::new(), exact_seconds);
    for job in jobs {
        let mut cells = vec![
            job.provider.clone(),
            job.number.to_string(),
            job.processors.to_string(),
            time(job.requested.map(|it| it.as_secs_f64())),
            exact_seconds(job.submit.as_secs_f64()),
            job.runs.to_string(),
            format!("{}", job.never()),
            time(job.quantile(0.5)),
        ];
        for &level in levels {
            let (from, to) = job.interval(level);
            cells.extend([time(from), time(to)]);
        }
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

/// Most jobs of a figure: more boxes could not be read.
const DRAWN: usize = 40;

fn drawn(jobs: &[Waiting], levels: &[u32]) -> Figure {
    let (inner, outer) =
        (levels.first().copied().unwrap_or(50), levels.last().copied().unwrap_or(90));
    let shown = &jobs[..jobs.len().min(DRAWN)];
    let latest = shown.iter().filter_map(|job| job.starts.last()).max();
    let latest = latest.map_or(0.0, |it| it.as_secs_f64());
    let (unit, seconds) = match latest {
        it if it >= 3.0 * 86_400.0 => ("days", 86_400.0),
        it if it >= 3.0 * 3_600.0 => ("hours", 3_600.0),
        it if it >= 180.0 => ("minutes", 60.0),
        _ => ("s", 1.0),
    };
    let several = shown.iter().any(|job| job.provider != shown[0].provider);
    let name = |job: &Waiting| match several {
        true => format!("{} {}", job.provider, job.number),
        false => job.number.to_string(),
    };
    let values =
        |job: &Waiting| Vec::from_iter(job.starts.iter().map(|it| it.as_secs_f64() / seconds));
    let rest = jobs.len() - shown.len();
    let left_out = if rest > 0 { format!(", without the last {rest}") } else { String::new() };
    let runs = jobs.first().map_or(0, |job| job.runs);
    Figure::Boxes(BoxChart {
        title: format!(
            "Starts of waiting jobs: {inner} % (box) and {outer} % (whiskers) of {runs} runs, mean (point){left_out}"
        ),
        x_label: "job, in order of submission".to_owned(),
        y_label: format!("start after time zero, {unit}"),
        legend_label: String::new(),
        categories: shown.iter().map(name).collect(),
        style: BoxStyle::Intervals { inner, outer },
        reference: None,
        y_limits: Default::default(),
        series: vec![BoxSeries { name: String::new(), values: shown.iter().map(values).collect() }],
    })
}

/// Writes a text into a file, which is complete or does not exist.
pub(super) fn write(text: &str, path: &Path, force: bool) -> Result<(), Error> {
    let mut out = Output::create(path, force)?;
    out.write_all(text.as_bytes()).map_err(|error| failed(path, error))?;
    out.finish()
}
