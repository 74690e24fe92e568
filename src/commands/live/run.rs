//! `haggle live run`: all nodes of a scenario on this machine, and their results.

use std::fs::File;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use clap::ArgGroup;
use haggle_live::ending::Progress;
use haggle_live::run::Ended;
use haggle_model::{Span, Time};
use indicatif::HumanCount;

use super::super::example::Given;
use super::super::run::{How, quoted, single};
use super::super::{Error, seeds};
use super::LiveError;
use super::folder::{LiveFolder, Wanted, beside};
use super::init::{equip, free_sites};
use super::processes;
use super::results::write_results;
use crate::command::own_rules;
use crate::exit::Exit;
use crate::interrupt::{STOP, interrupted};
use crate::progress::{OneRun, Show};
use crate::report::{say, warn};
use crate::scenario::file::{Metascheduler, Network};
use crate::scenario::{Experiment, Logs, Scenario};

/// Run all actors of a scenario as nodes, in scaled real time
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("run").args(["scenario", "example", "continued"]).required(true)))]
#[command(
    after_help = "Every actor is a node with a journal of its own; nodes exchange messages over TCP. The journals stay in DIR.live.

Examples:
  haggle live run --example quickstart --scale 500000 -o live
  haggle live verify live.live
  # after a kill: haggle live run --continue live.live"
)]
pub(crate) struct Args {
    #[command(flatten)]
    given: Given,
    /// Folder of the results; journals and settings are kept in DIR.live
    #[arg(short, long, value_name = "DIR", required_unless_present = "continued")]
    output: Option<PathBuf>,
    /// Continue the live run of this folder after a kill; its actors have been down in between
    #[arg(long = "continue", value_name = "DIR.live",
        conflicts_with_all = ["settings", "output", "seed", "scale", "processes"])]
    continued: Option<PathBuf>,
    /// Run each node as a process of its own, with keys on disk
    #[arg(long)]
    processes: bool,
    /// Seconds of the run in a second of real time
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    scale: f64,
    /// Master seed, instead of the scenario's
    #[arg(long, value_name = "NUMBER", value_parser = seeds())]
    seed: Option<u64>,
    #[command(flatten)]
    how: How,
}

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match (&args.continued, &args.output) {
        (Some(path), _) => {
            let folder = LiveFolder::open(path)?;
            if folder.results().exists() {
                return Err(LiveError::Exists(folder.results()).into());
            }
            if folder.pace().is_none() && folder.facts.nodes.is_empty() {
                return Err(LiveError::NotBegun(folder.path).into());
            }
            go_on(&folder, &[], &args.how)
        }
        (None, Some(output)) => start(args, output),
        // The parser asks for one of both.
        (None, None) => Ok(Exit::Usage),
    }
}

/// Reads a scenario that can run live, with the folder of its relative paths and the values without effect.
pub(super) fn checked(
    given: &Given,
    seed: Option<u64>,
    quiet: bool,
) -> Result<(Scenario, PathBuf, Vec<String>), Error> {
    let source = given.read()?;
    let folder = source.folder().to_owned();
    let experiment = Experiment::read_with(source, Logs::MustExist, own_rules())?;
    if !quiet {
        warn(&experiment.warnings);
    }
    let (mut scenario, without_effect) = single(experiment)?;
    if let Some(seed) = seed {
        scenario.reseed(seed);
    }
    if !scenario.changes.is_empty() {
        return Err(LiveError::Changes.into());
    }
    let recorded = scenario.providers.iter().find(|it| it.policy.starts_as_recorded());
    if let Some(provider) = recorded {
        return Err(LiveError::Recorded(provider.name.to_string()).into());
    }
    let on_nodes = scenario.providers.iter().find(|it| scenario.places_on_nodes(it));
    let on_nodes = on_nodes.filter(|_| scenario.has_demands());
    if let Some(provider) = on_nodes {
        return Err(LiveError::Nodes(provider.name.to_string()).into());
    }
    if let Some(provider) = scenario.providers.iter().find(|it| it.interval.is_some()) {
        return Err(LiveError::Interval(provider.name.to_string()).into());
    }
    if scenario.network != Network::default() && !quiet {
        say(
            "warning: messages of a live run take real time, whatever [network] says; its latency and jitter still set \
             for how long actors wait and hold\n",
        );
    }
    let negotiates = |it: &Metascheduler| it.transaction().is_some();
    if scenario.metaschedulers.iter().any(negotiates)
        && scenario.latency_max() == Span::ZERO
        && !quiet
    {
        say(
            "warning: a protocol leaves no time for messages before the starts that it asks for: set `latency` of \
             [network] to the time of the run that a message takes\n",
        );
    }
    if scenario.shortest_offers() == Some(Span::ZERO) && !quiet {
        say(
            "warning: some offers for bags hold at their very instant only, so no message can take them up: set \
             `offers.validity` in the policy of providers\n",
        );
    }
    Ok((scenario, folder, without_effect))
}

/// Runs a scenario from its start.
fn start(args: &Args, output: &Path) -> Result<Exit, Error> {
    let (scenario, scenario_folder, without_effect) =
        checked(&args.given, args.seed, args.how.quiet)?;
    if output.exists() {
        return Err(LiveError::Exists(output.to_owned()).into());
    }
    let wanted = Wanted {
        scenario,
        scenario_folder: &scenario_folder,
        results: Some(output),
        scale: args.scale,
        shared: Vec::new(),
    };
    let begins = (!args.processes).then(|| Duration::from_millis(500));
    let mut folder = LiveFolder::make(beside(output), wanted, begins)?;
    if args.processes {
        let (plan, cast) = folder.plan()?;
        let sites = free_sites(plan.run.nodes.len())?;
        // A run on one machine is shorter.
        let days = NonZeroU16::new(3_650).expect("it is not zero");
        equip(&mut folder, &plan, &cast, &sites, days)?;
    }
    go_on(&folder, &without_effect, &args.how)
}

/// Runs the nodes of a run that has begun, and writes its results.
fn go_on(folder: &LiveFolder, without_effect: &[String], how: &How) -> Result<Exit, Error> {
    let (plan, _) = folder.plan()?;
    let bar = OneRun::new(Show::unless(how.quiet || how.json));
    let ended = match folder.pace().filter(|_| folder.facts.nodes.is_empty()) {
        Some(pace) => {
            log(&folder.path.join("log.jsonl"))?;
            let watch = |now: Time, progress: Progress| show(&bar, now, progress);
            haggle_live::run::run(&plan, pace, &STOP, watch).map_err(LiveError::from)?
        }
        None => processes::run(folder, &plan, &bar)?,
    };
    drop(bar);
    if ended == Ended::Stopped {
        say(&format!("to go on: haggle live run --continue {}\n", quoted(&folder.path)));
        return Ok(interrupted());
    }
    write_results(folder, &folder.results(), without_effect, how)
}

/// Writes events of nodes to a file, as lines of JSON.
fn log(path: &Path) -> Result<(), LiveError> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.map_err(|error| LiveError::Write { path: path.to_owned(), error })?;
    tracing_subscriber::fmt().json().flatten_event(true).with_writer(Mutex::new(file)).init();
    Ok(())
}

/// Shows the progress of a live run.
pub(super) fn show(bar: &OneRun, now: Time, Progress { jobs, over, .. }: Progress) {
    bar.live(over, format!("{} arrived, {now} s", HumanCount(jobs)));
}
