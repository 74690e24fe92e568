//! `haggle sweep`: all runs of a scenario with axes and replications.

mod part;
mod status;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::command::own_rules;
use crate::experiment::sweep::{
    Cause, Failed, OnFailure, SweepConduct, Swept, Wanted, announce, carry_out, clear_stale, look,
    others, sum_up, sweep,
};
use crate::experiment::{Figures, Keep};
use crate::scenario::file::TableFormat;
use crate::scenario::{Experiment, Logs, Source};
use haggle_results::pack::Pack;
use serde_json::json;

use super::cluster::{self, OnCluster, Words, Work};
use clap::ArgGroup;

use super::example::Given;
use super::run::{How, say_left_out};
use super::table::{count, lines, number};
use super::{Error, print};
use crate::exit::Exit;
use crate::interrupt::STOP;
use crate::progress::{Show, many_runs};
use crate::report::{say, warn, warn_of};
use part::Part;

/// Run every combination of a scenario's axes, several at a time, and sum them up
///
/// A sweep that was stopped or killed continues where it stopped: finished runs are not repeated. The results do not
/// depend on the number of workers. If a run fails, the others continue; failed runs are listed at the end, and in
/// failed.csv.
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("origin").args(["scenario", "example"]).required(true)))]
#[command(after_help = "Examples:
  haggle sweep --example sweep
  haggle sweep scenarios/sweep.toml -o again
  haggle sweep scenarios/sweep.toml -o policies --jobs 4
  haggle sweep scenarios/sweep.toml --set 'provider.*.processors=200' -o larger
  haggle sweep scenarios/sweep.toml -o parts --part 1/2  # and 2/2 on another machine
  haggle sweep scenarios/sweep.toml -o parts --part 2/2
  haggle sweep scenarios/sweep.toml -o parts --merge
  haggle show --runs scenarios/sweep.toml  # what would be run")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    about: Option<About>,
    #[command(flatten)]
    sweep: Sweep,
}

/// Questions about a sweep.
#[derive(Debug, clap::Subcommand)]
enum About {
    Status(status::Args),
    Cancel(cluster::CancelArgs),
}

/// A sweep, and the way it is carried out.
#[derive(Debug, clap::Args)]
struct Sweep {
    #[command(flatten)]
    given: Given,
    /// Folder of the results; without it, runs/NAME, after the scenario's name
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Runs at the same time; without it, one for each processor core
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Count finished runs of other builds of this version of haggle as done
    #[arg(long)]
    any_build: bool,
    /// Repeat runs whose existing results belong to another scenario, seed, version, build or log, or are damaged;
    /// remove runs from the folder that the sweep does not have
    #[arg(long)]
    force: bool,
    /// Draw each run's own figures too, also missing ones of finished runs
    #[arg(long)]
    figures: bool,
    /// Keep only the summary of each run and the digests of its tables, not the tables
    #[arg(long, conflicts_with = "figures")]
    summaries_only: bool,
    /// Pack this many runs together, 1000 without a number: a file for each table, in place of a folder for each run
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = false, default_missing_value = "1000",
        conflicts_with = "figures")]
    pack: Option<NonZeroUsize>,
    /// Make only part K of N of the runs, such as 3/10, without summing up; the parts may run at the same time, on any
    /// machines that share the folder
    #[arg(long, value_name = "K/N", conflicts_with_all = ["merge", "slurm"])]
    part: Option<Part>,
    /// Make no runs, but sum up the runs of all parts
    #[arg(long, conflicts_with_all = ["slurm", "jobs"])]
    merge: bool,
    #[command(flatten)]
    cluster: OnCluster,
    /// Print the written results as JSON
    #[arg(long, conflicts_with_all = ["slurm", "part"])]
    json: bool,
    /// Print no progress, and only errors and figures that cannot be drawn on standard error; warnings are in each
    /// run's summary.json
    #[arg(short, long)]
    quiet: bool,
}

/// Carries out the sweep, or reports its state.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match &args.about {
        Some(About::Status(args)) => status::run(args),
        Some(About::Cancel(args)) => cluster::cancel(args),
        None => carry(&args.sweep),
    }
}

impl Sweep {
    fn told(&self) -> Told {
        Told { json: self.json, quiet: self.quiet }
    }
}

fn carry(args: &Sweep) -> Result<Exit, Error> {
    let source = args.given.read()?;
    let folder = source.folder().to_owned();
    let experiment = Experiment::read_with(source, Logs::MustExist, own_rules())?;
    let name = experiment.scenario.scenario.name.as_ref().map_or("sweep", |name| name.as_str());
    let output = args.output.clone().unwrap_or_else(|| Path::new("runs").join(name));
    if !args.quiet {
        warn(&experiment.warnings);
    }
    let keep = if args.summaries_only { Keep::Summary } else { Keep::Tables };
    if keep == Keep::Summary && experiment.reference().is_some() {
        return Err(Error::Unfit {
            message: "`reference` compares runs job by job, and --summaries-only keeps no jobs"
                .to_owned(),
            hint: "remove one of the two".to_owned(),
        });
    }
    check_pack(args, keep, &experiment, &output)?;
    let wanted = Wanted { keep, any_build: args.any_build };
    let work = Work {
        of: None,
        experiment: &experiment,
        folder: &folder,
        output: &output,
        wanted,
        pack: args.pack.map(NonZeroUsize::get),
        figures: if args.figures { Figures::Draw } else { Figures::Skip },
    };
    // Before the folder is cleared, which is the work of the submitting command.
    if let Some(task) = &args.cluster.task {
        return cluster::task(&work, task);
    }
    // Parts would all give the same warnings.
    if args.part.is_none() || args.force {
        see_to_others(args, &experiment, &output)?;
    }
    if args.force {
        let cleared = clear_stale(&experiment, &folder, &output, wanted)?;
        if cleared > 0 && !args.quiet {
            let (runs, are) = (count(cleared, "run"), if cleared == 1 { "is" } else { "are" });
            let were = if cleared == 1 { "was" } else { "were" };
            say(&format!("{runs} that {were} there {are} done again\n"));
        }
    }
    if args.cluster.slurm {
        if args.given.origin() == Ok(Path::new("-")) {
            return Err(Error::Unfit {
                message: "the jobs of a sweep on a cluster read its scenario again".to_owned(),
                hint: "write it into a file".to_owned(),
            });
        }
        let words = Words {
            name,
            arguments: &arguments(args, &output),
            sum: "--merge",
            // Read again, because the experiment has consumed the source.
            variables: &cluster::variables([&args.given.read()?]),
            quiet: args.quiet,
        };
        return cluster::submit_all(&args.cluster, &[work], &words);
    }
    // Behind the removal of stale runs, which are missing from now on.
    let progress = look(&experiment, &folder, &output, wanted)?;
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let workers = args.jobs.map_or_else(cores, NonZeroUsize::get);
    if progress.done > 0 && !args.quiet && !args.merge {
        let drawn = if args.figures { "; figures that they lack are drawn" } else { "" };
        say(&format!("{} of {} runs are done already{drawn}\n", progress.done, progress.runs));
    }
    if args.merge {
        return tell(args.told(), progress.runs, &output, &sum_up(&experiment, &output)?);
    }
    // A part has whole packs.
    let size = args.pack.map_or(1, NonZeroUsize::get);
    let runs = match args.part {
        Some(part) => (0..progress.runs).filter(|&number| part.has(number / size)).count(),
        None => progress.runs,
    };
    // Of a part this is a guess: the runs that are done may belong to other parts.
    let bar = many_runs(Show::unless(args.quiet), runs as u64, progress.done.min(runs) as u64);
    let conduct = SweepConduct {
        output: &output,
        wanted,
        pack: work.pack,
        workers,
        figures: work.figures,
        on_failure: OnFailure::GoOn,
        stop: &STOP,
        on_run: &|| bar.inc(1),
    };
    announce(&experiment, &output)?;
    let Some(part) = args.part else {
        let swept = sweep(&experiment, &folder, &conduct);
        // Before any output, which the bar would overwrite.
        bar.finish_and_clear();
        return tell(args.told(), progress.runs, &output, &swept?);
    };
    let carried = carry_out(&experiment, &folder, &conduct, &|number| part.has(number / size));
    bar.finish_and_clear();
    print(&format!("part {part}: {} of {}\n", count(runs, "run"), progress.runs))?;
    let carried = carried?;
    say_left_out(&carried.figures_left_out);
    Ok(tell_failed(runs, &carried.failed))
}

/// Carries out the sweep of `source` into a folder, with as many runs at a time as there are processor cores.
pub(crate) fn of_source(
    source: Source,
    output: &Path,
    forced: bool,
    how: &How,
) -> Result<Exit, Error> {
    let folder = source.folder().to_owned();
    let experiment = Experiment::read_with(source, Logs::MustExist, own_rules())?;
    if !how.quiet {
        warn(&experiment.warnings);
    }
    let wanted = Wanted { keep: Keep::Tables, any_build: false };
    if forced {
        clear_stale(&experiment, &folder, output, wanted)?;
    }
    let progress = look(&experiment, &folder, output, wanted)?;
    let bar = many_runs(Show::unless(how.quiet), progress.runs as u64, progress.done as u64);
    let conduct = SweepConduct {
        output,
        wanted,
        pack: None,
        workers: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        figures: Figures::Skip,
        on_failure: OnFailure::GoOn,
        stop: &STOP,
        on_run: &|| bar.inc(1),
    };
    announce(&experiment, output)?;
    let swept = sweep(&experiment, &folder, &conduct);
    bar.finish_and_clear();
    tell(Told { json: how.json, quiet: how.quiet }, progress.runs, output, &swept?)
}

/// How the results of a sweep are printed.
#[derive(Clone, Copy, Debug)]
struct Told {
    json: bool,
    quiet: bool,
}

/// Removes the runs in the folder that the sweep does not have, or warns of them.
fn see_to_others(args: &Sweep, experiment: &Experiment, output: &Path) -> Result<(), Error> {
    let others::Others { own, mixed } = &others::others(experiment, output)?;
    let mut warnings = Vec::new();
    if let Some(first) = own.first() {
        let (folders, first) = (count(own.len(), "folder"), first.display());
        if args.force {
            others::remove(own, output)?;
            if !args.quiet {
                say(&format!("{folders} of runs that this sweep does not have removed: {first}\n"));
            }
        } else {
            warnings.push(format!(
                "`{}` has {folders} of runs that this sweep does not have, such as `{first}`: readers of all tables \
                 read them, too; --force removes them",
                output.display()
            ));
        }
    }
    warnings.extend(mixed.iter().map(|(folder, file)| {
        let folder = output.join(folder);
        format!(
            "`{}` is not a run of this sweep, and is kept because haggle did not write `{file}` in it",
            folder.display()
        )
    }));
    if !args.quiet {
        warn_of(&warnings);
    }
    Ok(())
}

/// The arguments of the command without those for Slurm.
fn arguments(args: &Sweep, output: &Path) -> Vec<String> {
    let mut arguments = vec!["sweep".to_owned()];
    arguments.extend(args.given.arguments());
    arguments.extend(["-o".to_owned(), output.display().to_string(), "--quiet".to_owned()]);
    let flags = [
        (args.any_build, "--any-build"),
        (args.figures, "--figures"),
        (args.summaries_only, "--summaries-only"),
    ];
    if let Some(size) = args.pack {
        arguments.extend(["--pack".to_owned(), size.to_string()]);
    }
    arguments.extend(flags.into_iter().filter(|it| it.0).map(|it| it.1.to_owned()));
    arguments
}

/// Refuses packs that cannot be made, or that differ from the existing ones.
fn check_pack(args: &Sweep, keep: Keep, all: &Experiment, output: &Path) -> Result<(), Error> {
    let Some(size) = args.pack else { return Ok(()) };
    let mut formats = all.variants.iter().map(|it| it.scenario.results.format);
    if keep == Keep::Tables && formats.any(|format| format != TableFormat::Parquet) {
        return Err(Error::Unfit {
            message: "packed tables are Parquet, and the scenario asks for CSV".to_owned(),
            hint: "add --set results.format=parquet, or --summaries-only".to_owned(),
        });
    }
    if let Some(first) = Pack::all_in(output)?.into_keys().find(|&first| first % size != 0) {
        return Err(Error::Unfit {
            message: format!("`{}` has packs of another size (pack={first})", output.display()),
            hint: "name its first size, or another folder".to_owned(),
        });
    }
    Ok(())
}

/// Prints the results of a sweep and returns the exit code.
fn tell(args: Told, runs: usize, output: &Path, swept: &Swept) -> Result<Exit, Error> {
    if !args.quiet {
        warn_of(&swept.warnings);
        for name in &swept.figures_of_runs {
            let remedy = "add --figures, or draw it from a run's folder";
            say(&format!("figure left out: {name} shows one run: {remedy}\n"));
        }
    }
    say_left_out(&swept.figures_left_out);
    let figures: Vec<_> = swept.figures.iter().map(|path| path.display().to_string()).collect();
    if args.json {
        let failed = swept.failed.iter();
        let failed: Vec<_> = failed
            .map(|it| json!({ "run": it.run, "folder": it.folder, "message": it.message }))
            .collect();
        let object = json!({
            "runs": runs,
            "folder": output,
            "runs_csv": swept.runs_csv,
            "aggregate_csv": swept.aggregate_csv,
            "failed": failed,
            "figures": figures,
            "warnings": swept.warnings,
        });
        let text = serde_json::to_string_pretty(&object).expect("paths and numbers");
        print(&format!("{text}\n"))?;
    } else {
        let mut text = format!("{}\n{}", count(runs, "run"), means(swept));
        text.push_str(&format!("runs       {}\n", swept.runs_csv.display()));
        text.push_str(&format!("aggregate  {}\n", swept.aggregate_csv.display()));
        if let Some(failed) = &swept.failed_csv {
            text.push_str(&format!("failed     {}\n", failed.display()));
        }
        for figure in figures {
            text.push_str(&format!("figure     {figure}\n"));
        }
        print(&text)?;
    }
    Ok(tell_failed(runs, &swept.failed))
}

/// Most failed runs that are listed; more of them usually have one cause.
const FAILED_SHOWN: usize = 10;

/// Lists the runs that failed.
fn tell_failed(runs: usize, failed: &[Failed]) -> Exit {
    if failed.is_empty() {
        return Exit::Success;
    }
    let mut text = format!("\n{} of {} failed:\n", failed.len(), count(runs, "run"));
    for it in failed.iter().take(FAILED_SHOWN) {
        text.push_str(&format!("  run {} ({}): {}\n", it.run, it.folder, it.message));
    }
    if failed.len() > FAILED_SHOWN {
        text.push_str(&format!("  and {} more, in failed.csv\n", failed.len() - FAILED_SHOWN));
    }
    text.push_str(
        "\nhint: the tables contain the other runs; the same command tries these \
                   again\n",
    );
    say(&text);
    // A bug is a failed check; all other failures are mistakes of the scenario.
    match failed.iter().any(|it| it.cause == Cause::Bug) {
        true => Exit::Differs,
        false => Exit::InvalidInput,
    }
}

/// The means of the reported metrics, a row a point.
fn means(swept: &Swept) -> String {
    if swept.points == 0 {
        return String::new();
    }
    let mut known = BTreeSet::new();
    let points = swept.rows.iter().map(|row| row.point.as_slice());
    // Each point once, in the order of its first row.
    let points: Vec<&[String]> = points.filter(|&point| known.insert(point)).collect();
    let metrics: Vec<&str> = swept.metrics.iter().map(String::as_str).collect();
    let heads = swept.axes.iter().map(String::as_str).chain(["runs"]).chain(metrics.clone());
    let mut table = vec![heads.map(str::to_owned).collect::<Vec<_>>()];
    for &point in &points {
        let of_point: Vec<_> = swept.rows.iter().filter(|row| row.point == point).collect();
        // A metric counts only the runs in which it has a value.
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
    if swept.points > points.len() {
        let more = count(swept.points - points.len(), "point");
        text.push_str(&format!("  and {more} more, in aggregate.csv\n"));
    }
    text + "\n"
}
