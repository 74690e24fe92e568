//! `haggle live run`: all nodes of a scenario on this machine, and their results.

use std::path::{Path, PathBuf};

use crate::command::own_rules;
use crate::experiment::{Conduct, Destination, Figures, Keep, run_prepared};
use crate::scenario::file::Network;
use crate::scenario::{Experiment, Logs};
use clap::ArgGroup;
use haggle_live::core::Core;
use haggle_live::decisions::Decisions;
use haggle_live::node::Progress;
use haggle_live::run::{Ended, Plan};
use haggle_live::verify::Replay;
use haggle_model::Time;
use haggle_results::Existing;
use indicatif::HumanCount;

use super::super::example::Given;
use super::super::run::{How, print_all, quoted, single};
use super::super::{Error, seeds};
use super::LiveError;
use super::started::Started;
use crate::exit::Exit;
use crate::interrupt::{STOP, interrupted};
use crate::progress::{OneRun, Show};
use crate::report::{say, warn};

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
    #[arg(long = "continue", value_name = "DIR.live", conflicts_with_all = ["settings", "output", "seed", "scale"])]
    continued: Option<PathBuf>,
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
        (Some(folder), _) => {
            let started = Started::open(folder)?;
            if started.facts.results.exists() {
                return Err(LiveError::Exists(started.facts.results).into());
            }
            go_on(&started, &[], &args.how)
        }
        (None, Some(output)) => start(args, output),
        // The parser asks for one of both.
        (None, None) => Ok(Exit::Usage),
    }
}

/// Runs a scenario from its start.
fn start(args: &Args, output: &Path) -> Result<Exit, Error> {
    let source = args.given.read()?;
    let folder = source.folder().to_owned();
    let experiment = Experiment::read_with(source, Logs::MustExist, own_rules())?;
    if !args.how.quiet {
        warn(&experiment.warnings);
    }
    let (mut scenario, without_effect) = single(experiment)?;
    if let Some(seed) = args.seed {
        scenario.reseed(seed);
    }
    if !scenario.changes.is_empty() {
        return Err(LiveError::Changes.into());
    }
    if scenario.network != Network::default() && !args.how.quiet {
        say("warning: [network] has no effect on a live run: its messages take real time\n");
    }
    if output.exists() {
        return Err(LiveError::Exists(output.to_owned()).into());
    }
    let started = Started::begin(scenario, &folder, output, args.scale)?;
    go_on(&started, &without_effect, &args.how)
}

/// Runs the nodes of a run that has begun, and writes its results.
fn go_on(started: &Started, without_effect: &[String], how: &How) -> Result<Exit, Error> {
    let (plan, _) = started.plan()?;
    let bar = OneRun::new(Show::unless(how.quiet || how.json));
    let watch = |now: Time, progress: Progress| {
        let Progress { jobs, over, .. } = progress;
        bar.live(over, format!("{} arrived, {now} s", HumanCount(jobs)));
    };
    let ended = haggle_live::run::run(&plan, &STOP, watch).map_err(LiveError::from)?;
    drop(bar);
    if ended == Ended::Stopped {
        say(&format!("to go on: haggle live run --continue {}\n", quoted(&started.folder)));
        return Ok(interrupted());
    }
    let replay = repeated(&plan)?.0;
    write_results(started, &plan, &replay, without_effect, how)
}

/// Repeats all journals: their messages, and the decisions of all actors.
pub(super) fn repeated(plan: &Plan) -> Result<(Replay, Vec<Decisions>), LiveError> {
    let mut replay = Replay::default();
    let mut decisions = Vec::new();
    for part in 0..plan.known.parts.count() as u32 {
        let world = (plan.make)().map_err(haggle_live::run::LiveError::World)?;
        let mut core = Core::new(plan.known.clone(), part, world)?;
        let of_part = Decisions::of(plan.known.parts.members(part).clone());
        core.host_mut().listen(of_part.clone());
        let node = || plan.node_name(part).to_owned();
        replay
            .repeat(plan, &mut core)
            .map_err(|error| LiveError::Verify { node: node(), error })?;
        decisions.push(of_part);
    }
    Ok((replay, decisions))
}

fn write_results(
    started: &Started,
    plan: &Plan,
    replay: &Replay,
    without_effect: &[String],
    how: &How,
) -> Result<Exit, Error> {
    let destination = Destination {
        folder: started.facts.results.clone(),
        end: None,
        keep: Keep::Tables,
        existing: Existing::Keep,
        figures: if how.no_figures { Figures::Skip } else { Figures::Draw },
    };
    // Otherwise the results look as if the scenario alone gave them.
    let scale = started.facts.scale;
    let is_live = format!("this run was live, at scale {scale}: its messages took real time");
    let warnings = [without_effect, &[is_live]].concat();
    let watch = OneRun::new(Show::unless(how.quiet || how.json));
    let conduct = Conduct {
        driver: how.driver.driver(),
        stop: &STOP,
        watch: &watch,
        check: how.check,
        warnings: &warnings,
    };
    let outcome = run_prepared(
        &started.scenario,
        started.scenario_folder(),
        Some(&destination),
        &conduct,
        |world| replay.put_into(world, &plan.known),
    )?;
    drop(watch);
    print_all(how, false, &started.scenario, &outcome)?;
    if !how.quiet {
        say(&format!(
            "live: {} messages between {} nodes, {}\nto repeat it: haggle live verify {}\n",
            HumanCount(replay.messages() as u64),
            plan.known.parts.count(),
            latencies(replay, started.facts.scale),
            quoted(&started.folder),
        ));
        if replay.refused() > 0 {
            say(&format!(
                "warning: {} messages were refused\n",
                HumanCount(replay.refused() as u64)
            ));
        }
    }
    Ok(Exit::Success)
}

/// Latencies of messages in words, in real time and in time of the run.
pub(super) fn latencies(replay: &Replay, scale: f64) -> String {
    let at = |share: f64| replay.latency(share).as_secs_f64();
    let (median, most) = (at(0.5), at(0.95));
    let real = |seconds: f64| 1000.0 * seconds / scale;
    format!(
        "latency {:.1} ms (median), {:.1} ms (95 %); {median:.3} s and {most:.3} s of the run",
        real(median),
        real(most),
    )
}
