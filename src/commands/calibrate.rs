//! `haggle calibrate`: settings of a provider with which simulated waiting times come closest to those of its log.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::command::own_rules;
use crate::experiment::calibrate::{self, Beside, Calibration, CalibrationError, Conduct, Errors};
use crate::scenario::quantity::{Share, TimeSpan};
use crate::scenario::{Experiment, Logs, Scenario};
use haggle_model::Span;
use haggle_results::stats::Estimate;

use super::example::Given;
use super::forecast::{workers, write};
use super::output;
use super::table::{alike, duration, lines, number, row};
use super::{Error, print, print_json, seeds};
use crate::exit::Exit;
use crate::interrupt::STOP;
use crate::progress::{Show, many_runs};
use crate::report::{say, warn};

/// Fit a provider's scheduling interval and backfill depth to its log
///
/// The scenario has one provider with policy "easy", "conservative" or "fcfs", and jobs of a log with waiting times. The
/// keys `interval` of the provider and `depth` of policies "easy" and "conservative" (with `compression = "replan"`) are
/// fitted to the first part of the log. Errors of simulated waiting times are reported for both parts; only those of the
/// later part say how well other jobs are predicted. Intervals count blocks of time as independent, not jobs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle calibrate scenarios/calibrate.toml
  haggle calibrate scenarios/calibrate.toml -o fitted.toml  # the scenario with the fitted values
  haggle calibrate scenarios/calibrate.toml --train 70% --error log
  haggle calibrate scenarios/calibrate.toml --block 1d --json")]
pub(crate) struct Args {
    #[command(flatten)]
    given: Given,
    /// Part of the time of submissions to which the settings are fitted
    #[arg(long, value_name = "SHARE", default_value = "50%")]
    train: Share,
    /// Error that becomes as small as possible, a mean over jobs
    #[arg(long, value_name = "ERROR", default_value = "absolute")]
    error: Measure,
    /// Length of the blocks of time that count as independent
    #[arg(long, value_name = "TIME", default_value = "1w")]
    block: TimeSpan,
    /// Seed of the runs; without it, that of the scenario
    #[arg(long, value_name = "NUMBER", value_parser = seeds())]
    seed: Option<u64>,
    /// Write the scenario with the fitted values into this file; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Runs at the same time; without it, one for each processor core
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print no progress, and only errors on standard error
    #[arg(short, long)]
    quiet: bool,
}

/// Error of a calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Measure {
    /// Absolute difference of simulated and recorded waiting times
    Absolute,
    /// Absolute difference of the logarithms of these times, each with a minute added
    Log,
}

/// Carries out the calibration.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    // Before any run, so that nothing is lost at the end.
    args.output.iter().try_for_each(|path| output::check_free(path, args.force))?;
    check(args)?;
    let source = args.given.read()?;
    let folder = source.folder().to_owned();
    let experiment = Experiment::read_with(source, Logs::MustExist, own_rules())?;
    if !args.quiet {
        warn(&experiment.warnings);
    }
    let mut scenario = single(experiment)?;
    if let Some(seed) = args.seed {
        scenario.reseed(seed);
    }
    let bar = many_runs(Show::unless(args.quiet || args.json), 0, 0);
    let conduct = Conduct {
        error: match args.error {
            Measure::Absolute => calibrate::Error::Absolute,
            Measure::Log => calibrate::Error::Log,
        },
        train: args.train.fraction(),
        block: args.block.0.as_secs_f64(),
        workers: workers(args.jobs),
        stop: &STOP,
        watch: &|done, planned| {
            bar.set_length(planned as u64);
            bar.set_position(done as u64);
        },
    };
    let found = calibrate::calibrate(&mut scenario, &folder, &conduct);
    bar.finish_and_clear();
    let found = found.map_err(|error| match error {
        CalibrationError::Unfit(unfit) => {
            Error::Unfit { message: unfit.to_string(), hint: unfit.remedy().to_owned() }
        }
        CalibrationError::Run(error) => error.into(),
    })?;
    if let Some(path) = &args.output {
        write(&fitted(&mut scenario, &folder, path)?, path, args.force)?;
    }
    if args.json {
        print_json(&found)?;
    } else if args.output.as_deref() != Some(Path::new("-")) {
        print(&text(args, &found))?;
    }
    if !args.quiet && found.settings.iter().all(|it| it.given == it.fitted) {
        say("note: no other values that were tried have a smaller error\n");
    }
    Ok(Exit::Success)
}

/// Refuses options that leave a part without jobs, or blocks without time.
fn check(args: &Args) -> Result<(), Error> {
    let train = args.train.fraction();
    let (message, hint) = if !(train > 0.0 && train < 1.0) {
        (
            format!("--train {} leaves one part without jobs", args.train),
            "write a share between 0% and 100%, such as 50%",
        )
    } else if args.block.0 <= Span::ZERO {
        (
            "a block of no time has no jobs".to_owned(),
            "write --block with a time above 0, such as 1d or 1w",
        )
    } else if !args.given.is_given() {
        (
            "a scenario is missing".to_owned(),
            "name a file, as in `haggle calibrate scenarios/calibrate.toml`",
        )
    } else {
        return Ok(());
    };
    Err(Error::Unfit { message, hint: hint.to_owned() })
}

/// The only variant of a scenario.
fn single(experiment: Experiment) -> Result<Scenario, Error> {
    let runs = experiment.runs().count();
    if runs > 1 {
        return Err(Error::Unfit {
            message: format!("the scenario is a sweep of {runs} runs"),
            hint: "a calibration fits one run: remove [sweep]".to_owned(),
        });
    }
    let first = experiment.runs().next().map(|run| run.scenario());
    first.ok_or(Error::NoSuchRun { number: 0, runs })
}

/// The scenario as text, with paths from the folder of its new file.
fn fitted(scenario: &mut Scenario, folder: &Path, path: &Path) -> Result<String, Error> {
    let to = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    scenario.relocate(folder, to).map_err(|error| output::failed(path, error))?;
    Ok(scenario.to_toml())
}

fn text(args: &Args, found: &Calibration) -> String {
    let value = |it: Option<u32>| it.map_or_else(|| "-".to_owned(), |it| it.to_string());
    let mut settings = vec![row(["setting", "given", "fitted"])];
    settings.extend(found.settings.iter().map(|it| {
        let unit = if it.key == "interval" { ", s" } else { "" };
        vec![format!("{}{unit}", it.key), value(it.given), value(it.fitted)]
    }));
    let mut text = lines(&settings, &[0]);
    text.push_str(&format!(
        "fitted to the submissions before {}, {} runs\n",
        duration(found.split),
        found.runs
    ));
    for (title, beside) in [
        ("first part: the settings are fitted to it", &found.train),
        ("later part: the settings are tested on it", &found.test),
    ] {
        text.push_str(&format!("\n{title}\n{}", table(beside)));
    }
    text.push_str(&format!("\nintervals of 95 % over blocks of {}\n", args.block));
    text
}

fn table(beside: &Beside) -> String {
    let estimates = |errors: &Errors| [errors.absolute, errors.log, errors.bias];
    let [given, fitted, differences] =
        [&beside.given, &beside.fitted, &beside.difference].map(estimates);
    let names = [
        "mean absolute error of waiting times, s",
        "mean absolute error of log (waiting time + 1 min)",
        "mean of simulated - recorded waiting time, s",
    ];
    let mut table = vec![row(["", "given", "fitted", "fitted - given", "blocks"])];
    table.extend(names.iter().enumerate().map(|(place, name)| {
        let [given, fitted, difference] = [given[place], fitted[place], differences[place]];
        let errors = [given, fitted, difference].map(with_interval);
        let cells = std::iter::once((*name).to_owned()).chain(errors);
        cells.chain([given.n.to_string()]).collect()
    }));
    lines(&table, &[0])
}

fn with_interval(it: Estimate) -> String {
    match it.half_width {
        None => number(it.mean),
        Some(half) => {
            let [mean, half] = alike([Some(it.mean), Some(half)]);
            format!("{mean} ± {half}")
        }
    }
}
