//! `haggle run`: one scenario, one run.

mod own;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf, absolute};
use std::time::Duration;

use crate::command::own_rules;
use crate::experiment::snapshots::{
    Begun, Every, SnapshotError, Snapshots, are_complete, is_unfinished, remove_of,
};
use crate::experiment::{
    self, Conduct, Destination, ExperimentError, Figures, Keep, Outcome, Written,
    run_with_snapshots,
};
use crate::scenario::file::TableFormat;
use crate::scenario::quantity::TimeSpan;
use crate::scenario::vocabulary::parser;
use crate::scenario::{Experiment, Logs, Scenario, Source};
use clap::ArgGroup;
use haggle_model::Span;
use haggle_results::{Existing, Summary};
use haggle_runtime::{Driver, RunError};
use serde::Serialize;

use super::example::Given;
use super::{Error, print, print_json, seeds, table};
use crate::exit::Exit;
use crate::interrupt::STOP;
use crate::progress::{OneRun, Show};
use crate::report::{say, warn, warn_of};
use crate::shell;

use own::OwnFolder;

/// Run a scenario, print a summary, and write its tables and figures
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("run").args(["scenario", "example", "continued"]).required(true)))]
#[command(after_help = "Examples:
  haggle run --example quickstart
  haggle run scenarios/quickstart.toml -o again
  haggle run scenarios/quickstart.toml -o first --seed 7
  haggle run --example quickstart --set provider.north.policy=easy -o easy
  haggle run scenarios/quickstart.toml -o second --json --no-figures | jq .mean_waiting_time
  haggle run scenarios/quickstart.toml -o long --snapshot-every 30d
  # after a kill: haggle run --continue long")]
pub(crate) struct Args {
    #[command(flatten)]
    given: Given,
    /// Folder of the results; without it, runs/NAME, after the scenario's name; results of the last run of the same
    /// file are replaced there
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace existing results, whatever they belong to
    #[arg(long)]
    force: bool,
    /// Save the state of the run after each such simulated time, such as 7d, so that it can be continued
    #[arg(long, value_name = "TIME", conflicts_with = "snapshot_every_real")]
    snapshot_every: Option<TimeSpan>,
    /// Save the state of the run after each such real time, such as 10min, so that it can be continued
    #[arg(long, value_name = "TIME")]
    snapshot_every_real: Option<TimeSpan>,
    /// Continue the killed run whose results this folder was to hold, from its last snapshot
    #[arg(long = "continue", value_name = "DIR", conflicts_with_all = [
        "settings", "output", "seed", "format", "check", "no_figures", "snapshot_every",
        "snapshot_every_real",
    ])]
    continued: Option<PathBuf>,
    /// Master seed, instead of the scenario's
    #[arg(long, value_name = "NUMBER", value_parser = seeds())]
    seed: Option<u64>,
    /// Format of the tables, instead of the scenario's
    #[arg(long, value_name = "FORMAT", value_parser = parser::<TableFormat>())]
    format: Option<TableFormat>,
    #[command(flatten)]
    how: How,
}

/// How a run is carried out and printed; none of it changes the results.
#[derive(Debug, clap::Args)]
pub(crate) struct How {
    /// Delivery of messages to actors; the results are the same
    #[arg(long, value_name = "DRIVER", default_value = "sequential")]
    pub(crate) driver: DriverName,
    /// Check that no processor holds two jobs, no job is lost, and the tables agree with each other
    #[arg(long)]
    pub(crate) check: bool,
    /// Print the disclosures: which actor received how much of which information about which provider
    #[arg(long)]
    disclosures: bool,
    /// Do not draw the scenario's figures
    #[arg(long)]
    pub(crate) no_figures: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress, and only errors and figures that cannot be drawn on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Delivery of messages to actors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DriverName {
    /// A loop and a match: the fastest
    Sequential,
    /// Each actor in an actix actor of its own
    Actix,
}

impl DriverName {
    pub(crate) fn driver(self) -> Driver {
        match self {
            DriverName::Sequential => Driver::Sequential,
            DriverName::Actix => Driver::Actix,
        }
    }
}

/// Runs the scenario.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match &args.continued {
        Some(results) => go_on(args, results),
        None => start(args),
    }
}

/// Runs a scenario from its start.
fn start(args: &Args) -> Result<Exit, Error> {
    let source = args.given.read()?;
    let file = source.path.clone();
    let folder = source.folder().to_owned();
    let experiment = Experiment::read_with(source, Logs::MustExist, own_rules())?;
    let warnings = experiment.warnings.clone();
    let (mut scenario, without_effect) = single(experiment)?;
    if !args.how.quiet {
        warn(&warnings);
    }
    if let Some(seed) = args.seed {
        scenario.reseed(seed);
    }
    if let Some(format) = args.format {
        scenario.results.format = format;
    }
    let name = scenario.scenario.name.as_ref().map_or("run", |name| name.as_str());
    let own = OwnFolder::new(name, args.given.origin());
    let existing = match (args.force, &args.output) {
        (true, _) => Existing::Replace,
        // A named folder may belong to anything.
        (false, Some(_)) => Existing::Keep,
        (false, None) => own.existing()?,
    };
    let destination = Destination {
        folder: args.output.clone().unwrap_or_else(|| own.path().to_owned()),
        end: None,
        keep: Keep::Tables,
        existing,
        figures: if args.how.no_figures { Figures::Skip } else { Figures::Draw },
    };
    let note = (destination.folder == own.path()).then_some(own);
    let results = whole(&destination.folder);
    if args.every()?.is_some() && !args.force && is_unfinished(&results) {
        return Err(ExperimentError::from(SnapshotError::Unfinished { results }).into());
    }
    let snapshots = args.every()?.map(|every| {
        Snapshots::begin(Begun {
            scenario: scenario.to_toml(),
            file: whole(&file),
            results: results.clone(),
            replaces: existing == Existing::Replace,
            draws: !args.how.no_figures,
            checks: args.how.check,
            warnings: without_effect.clone(),
            made_from: note.as_ref().map(|own| own.made_from().to_owned()),
            every,
        })
    });
    let run = Run { scenario, folder, destination, without_effect, check: args.how.check, note };
    run.carry_out(&args.how, snapshots, false)
}

/// Runs the scenario of `source` from its start into a folder, which is replaced if that is `forced`.
pub(crate) fn into_folder(
    source: Source,
    output: PathBuf,
    forced: bool,
    how: &How,
) -> Result<Exit, Error> {
    let folder = source.folder().to_owned();
    let experiment = Experiment::read_with(source, Logs::MustExist, own_rules())?;
    if !how.quiet {
        warn(&experiment.warnings);
    }
    let (scenario, without_effect) = single(experiment)?;
    let destination = Destination {
        folder: output,
        end: None,
        keep: Keep::Tables,
        existing: if forced { Existing::Replace } else { Existing::Keep },
        figures: if how.no_figures { Figures::Skip } else { Figures::Draw },
    };
    let run = Run { scenario, folder, destination, without_effect, check: how.check, note: None };
    run.carry_out(how, None, false)
}

/// Continues a run from its last snapshot.
fn go_on(args: &Args, results: &Path) -> Result<Exit, Error> {
    let snapshots = Snapshots::of(&whole(results)).map_err(ExperimentError::from)?;
    let begun = snapshots.begun().clone();
    if are_complete(&begun) {
        remove_of(&begun.results).map_err(ExperimentError::from)?;
        say(&format!("{} is complete: there was nothing left to do\n", quoted(results)));
        return Ok(Exit::Success);
    }
    let source = Source::new(begun.file, begun.scenario);
    let folder = source.folder().to_owned();
    let (scenario, _) = single(Experiment::read_with(source, Logs::MustExist, own_rules())?)?;
    let note = begun.made_from.map(|made_from| OwnFolder::made(results, made_from));
    let existing = match (&note, begun.replaces || args.force) {
        // Files that users have put there meanwhile must not be lost.
        (Some(own), _) if !args.force => own.existing()?,
        (_, true) => Existing::Replace,
        (_, false) => Existing::Keep,
    };
    let destination = Destination {
        folder: results.to_owned(),
        end: None,
        keep: Keep::Tables,
        existing,
        figures: if begun.draws { Figures::Draw } else { Figures::Skip },
    };
    let run = Run {
        scenario,
        folder,
        destination,
        without_effect: begun.warnings,
        check: begun.checks,
        note,
    };
    run.carry_out(&args.how, Some(snapshots), true)
}

/// A run with all that the command line and the scenario say of it.
struct Run {
    scenario: Scenario,
    folder: PathBuf,
    destination: Destination,
    without_effect: Vec<String>,
    check: bool,
    /// Notes the origin of the scenario beside results in the scenario's own folder.
    note: Option<OwnFolder>,
}

impl Run {
    /// Runs it, and prints its results.
    fn carry_out(
        &self,
        how: &How,
        snapshots: Option<Snapshots>,
        continues: bool,
    ) -> Result<Exit, Error> {
        let watch = OneRun::new(Show::unless(how.quiet || how.json));
        let Run { scenario, folder, destination, .. } = self;
        let conduct = Conduct {
            driver: how.driver.driver(),
            stop: &STOP,
            watch: &watch,
            check: self.check,
            warnings: &self.without_effect,
        };
        let has_snapshots = snapshots.is_some();
        let outcome = match snapshots {
            Some(snapshots) => {
                run_with_snapshots(scenario, folder, destination, &conduct, snapshots)
            }
            None => experiment::run(scenario, folder, Some(destination), &conduct),
        };
        if has_snapshots && matches!(outcome, Err(ExperimentError::Run(RunError::Interrupted))) {
            drop(watch);
            say(&format!("to go on: haggle run --continue {}\n", quoted(&destination.folder)));
            outcome?;
            return Ok(Exit::Success);
        }
        let outcome = outcome?;
        // Only after the run: a failed one must not claim the folder for its scenario.
        self.note.as_ref().map_or(Ok(()), OwnFolder::note)?;
        // The bar must end before any output.
        drop(watch);
        print_all(how, continues, scenario, &outcome)?;
        Ok(Exit::Success)
    }
}

/// Prints notes, warnings and results.
pub(crate) fn print_all(
    how: &How,
    continues: bool,
    scenario: &Scenario,
    outcome: &Outcome,
) -> Result<(), Error> {
    if !how.quiet {
        say_reports(outcome);
        say_too_wide(outcome);
        warn_of(&outcome.warnings);
        // A continued run has removed its own remains.
        if !continues {
            say_cleared(outcome);
        }
    }
    say_left_out(outcome.written.iter().flat_map(|written| &written.figures_left_out));
    if how.json {
        return print_json(&told(scenario, outcome));
    }
    print(&as_text(scenario, outcome))?;
    if how.disclosures {
        print(&disclosures(&outcome.summary))?;
    }
    Ok(())
}

impl Args {
    /// Time between snapshots; `None` = there are none.
    fn every(&self) -> Result<Option<Every>, Error> {
        let asked = self.snapshot_every.or(self.snapshot_every_real);
        if asked.is_some_and(|time| time.0 == Span::ZERO) {
            return Err(Error::Unfit {
                message: "the time between two snapshots is zero".to_owned(),
                hint: "name a time above zero, such as 7d".to_owned(),
            });
        }
        let real = |time: TimeSpan| Duration::from_micros(time.0.as_micros().unsigned_abs());
        Ok(match (self.snapshot_every, self.snapshot_every_real) {
            (Some(simulated), _) => Some(Every::Simulated(simulated.0)),
            (None, time) => time.map(|time| Every::Real(real(time))),
        })
    }
}

/// A path as a word of a shell.
pub(crate) fn quoted(path: &Path) -> String {
    shell::quoted(&path.to_string_lossy())
}

/// The same path from the root, so that a command in another folder finds it.
fn whole(path: &Path) -> PathBuf {
    absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Items that each actor learned, by sender and receiver, and inferences from them.
fn disclosures(summary: &Summary) -> String {
    if summary.disclosures.is_empty() {
        return "\nno disclosures: no actor of this scenario requests or discloses \
                information\n"
            .to_owned();
    }
    let mut rows = vec![table::row(["about", "learned by", "what", "items"])];
    for told in &summary.disclosures {
        let count = told.count.to_string();
        rows.push(table::row([&told.sender, &told.receiver, &told.item, &count]));
    }
    let mut text = format!("\ndisclosures\n{}", table::lines(&rows, &[0, 1, 2]));
    if let Some(found) = &summary.eavesdropping {
        text.push_str(&format!(
            "\nAn eavesdropper on all {} answers to calls for offers estimates computing power with {:.1} % error\n\
             and load with {:.1} % error.\n",
            found.answers, found.power_error_percent, found.load_error_percent
        ));
    }
    text
}

/// The single run of a scenario without a sweep, and its settings without effect.
pub(crate) fn single(experiment: Experiment) -> Result<(Scenario, Vec<String>), Error> {
    let mut runs = experiment.runs();
    let first = runs.next().map(|run| (run.scenario(), run.variant.warnings.clone()));
    match (first, runs.count()) {
        // The remaining runs are counted for the message; a sweep of one run is a run as well.
        (Some(run), 0) => Ok(run),
        (_, others) => Err(Error::SweepIsNoRun { runs: others + 1 }),
    }
}

/// Prints the changes that the cleaning rules made to logs.
pub(crate) fn say_reports(outcome: &Outcome) {
    for (workload, report) in &outcome.reports {
        say(&format!("workload {workload}:\n{report}\n\n"));
    }
}

/// Prints the number of jobs that no provider could run: few among many are easily overlooked.
pub(crate) fn say_too_wide(outcome: &Outcome) {
    match outcome.too_wide {
        0 => {}
        1 => say("note: 1 job needs more processors than its receiver has, and was rejected\n"),
        count => say(&format!(
            "note: {count} jobs need more processors than their receivers have, and were rejected\n"
        )),
    }
    match outcome.too_narrow {
        0 => {}
        1 => say(
            "note: 1 job needs fewer processors than its parts take (`parts`, of `part-min` processors \
                  each), and was rejected\n",
        ),
        count => say(&format!(
            "note: {count} jobs need fewer processors than their parts take (`parts`, of `part-min` processors each), \
             and were rejected\n"
        )),
    }
}

/// Reports the figures that could not be drawn, with reasons. A quiet command reports them as well, because a requested
/// figure is missing.
pub(crate) fn say_left_out<'r>(reasons: impl IntoIterator<Item = &'r String>) {
    for reason in reasons {
        say(&format!("figure left out: {reason}\n"));
    }
}

/// Notes that the remains of a killed run were removed.
pub(crate) fn say_cleared(outcome: &Outcome) {
    if let Some(cleared) = outcome.written.iter().find_map(|written| written.cleared.as_ref()) {
        say(&format!("note: removed `{}`, left by a run that was killed\n", cleared.display()));
    }
}

fn as_text(scenario: &Scenario, outcome: &Outcome) -> String {
    let mut text = outcome.summary.to_string();
    for (at, (workload, rules)) in scenario.log_rules().enumerate() {
        let gap = if at == 0 { "\n" } else { "" };
        text.push_str(&format!("{gap}rules    {workload}: {rules}\n"));
    }
    if let Some(written) = &outcome.written {
        text.push_str(&format!("\nresults  {}\n", written.folder.display()));
        for figure in &written.figures {
            text.push_str(&format!("figure   {}\n", written.folder.join(figure).display()));
        }
        text.push_str(&format!("digest   {}\n", written.digest.overall));
    }
    text
}

/// The summary, with the rules for logs and the digest beside it.
#[derive(Serialize)]
pub(crate) struct Told<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    rules: BTreeMap<String, String>,
    jobs: u64,
    messages: u64,
    #[serde(flatten)]
    written: Option<Place<'a>>,
}

/// Place of results.
#[derive(Serialize)]
struct Place<'a> {
    digest: &'a str,
    folder: &'a Path,
}

impl<'a> Place<'a> {
    fn of(written: &'a Written) -> Place<'a> {
        Place { digest: &written.digest.overall, folder: &written.folder }
    }
}

/// Output about a run as JSON.
pub(crate) fn told<'a>(scenario: &Scenario, outcome: &'a Outcome) -> Told<'a> {
    Told {
        summary: &outcome.summary,
        rules: scenario.log_rules().collect(),
        jobs: outcome.stats.jobs,
        messages: outcome.stats.messages,
        written: outcome.written.as_ref().map(Place::of),
    }
}
