//! `haggle live results`: the results folder of a live run, from the journals of its nodes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use haggle_live::core::Core;
use haggle_live::decisions::Decisions;
use haggle_live::run::Plan;
use haggle_live::verify::Replay;
use haggle_results::Existing;
use indicatif::HumanCount;

use super::super::Error;
use super::super::run::{How, print_all, quoted};
use super::super::table::count;
use super::LiveError;
use super::folder::LiveFolder;
use crate::exit::Exit;
use crate::experiment::run::Outcome;
use crate::experiment::{Conduct, Destination, Figures, Keep, run_prepared};
use crate::interrupt::STOP;
use crate::progress::{OneRun, Show};
use crate::report::{say, warn_of};

/// Write the results of a live run from the journals of its nodes
///
/// The folders of all nodes must be in DIR, with their journals. Results are those of a normal run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  # after the end of all nodes in `nodes`: haggle live results nodes --check")]
pub(crate) struct Args {
    /// Folder of the live run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Folder of the results [default: DIR/results, or as `live run` said]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let folder = LiveFolder::open(&args.folder)?;
    let results = args.output.clone().unwrap_or_else(|| folder.results());
    if results.exists() {
        return Err(LiveError::Exists(results).into());
    }
    write_results(&folder, &results, &[], &args.how)
}

/// Repeats all journals: their messages, and the decisions of all actors.
pub(super) fn repeated(plan: &Plan) -> Result<(Replay, Vec<Decisions>), LiveError> {
    let mut replay = Replay::default();
    let mut decisions = Vec::new();
    for part in 0..plan.known.parts.count() as u32 {
        let journal = plan.journal(part);
        if !journal.exists() {
            return Err(LiveError::NoJournal(journal));
        }
        let world = (plan.make)().map_err(haggle_live::run::LiveError::World)?;
        let mut core = Core::new(plan.known.clone(), part, world)?;
        let of_part = Decisions::of(plan.known.parts.members(part).clone());
        core.host_mut().listen(of_part.clone());
        let node = || plan.run.nodes[part as usize].to_string();
        replay
            .repeat(plan, &mut core)
            .map_err(|error| LiveError::Verify { node: node(), error })?;
        decisions.push(of_part);
    }
    Ok((replay, decisions))
}

/// Writes the results of a live run that is over, and prints them.
pub(super) fn write_results(
    folder: &LiveFolder,
    results: &Path,
    without_effect: &[String],
    how: &How,
) -> Result<Exit, Error> {
    let destination = Destination {
        folder: results.to_owned(),
        end: None,
        keep: Keep::Tables,
        existing: Existing::Keep,
        figures: if how.no_figures { Figures::Skip } else { Figures::Draw },
    };
    let watch = OneRun::new(Show::unless(how.quiet || how.json));
    let conduct = Conduct {
        driver: how.driver.driver(),
        stop: &STOP,
        watch: &watch,
        check: how.check,
        warnings: without_effect,
    };
    let Written { plan, replay, outcome, warnings } = results_of(folder, &destination, &conduct)?;
    drop(watch);
    print_all(how, false, &folder.scenario, &outcome)?;
    if !how.quiet {
        say(&format!(
            "live: {} messages between {} nodes, {}\nto repeat it: haggle live verify {}\n",
            HumanCount(replay.messages() as u64),
            plan.known.parts.count(),
            latencies(&replay, folder.facts.scale),
            quoted(&folder.path),
        ));
        say(&too_fast(&replay, &plan));
        warn_of(&warnings);
        if replay.refused() > 0 {
            let refused = HumanCount(replay.refused() as u64);
            say(&format!("warning: {refused} messages were refused\n"));
        }
    }
    Ok(Exit::Success)
}

/// Results that were written.
pub(super) struct Written {
    plan: Plan,
    replay: Replay,
    outcome: Outcome,
    /// Warnings about the live run.
    warnings: Vec<String>,
}

/// Writes the results of a live run that is over. The summary has a warning that it was live.
pub(super) fn results_of(
    folder: &LiveFolder,
    destination: &Destination,
    conduct: &Conduct<'_>,
) -> Result<Written, Error> {
    let (plan, _) = folder.plan()?;
    let replay = repeated(&plan)?.0;
    // Otherwise the results look as if the scenario alone gave them.
    let scale = folder.facts.scale;
    let is_live = format!("this run was live, at scale {scale}: its messages took real time");
    let open = match replay.open() {
        0 => None,
        count => Some(format!(
            "{count} nodes have not ended: the results end at {}, up to which all journals reach",
            replay.end()
        )),
    };
    let warnings = Vec::from_iter(open.into_iter().chain(failed(&replay)));
    let all = [conduct.warnings, &[is_live], &warnings].concat();
    let outcome = run_prepared(
        &folder.scenario,
        folder.scenario_folder(),
        Some(destination),
        &Conduct { warnings: &all, ..*conduct },
        |world| match replay.open() {
            0 => replay.put_into(world, &plan.known),
            _ => drop(replay.put_whole_into(world, &plan.known)),
        },
    )?;
    Ok(Written { plan, replay, outcome, warnings })
}

/// Most jobs that a warning names.
const NAMED: usize = 5;

/// A warning about programs that failed.
fn failed(replay: &Replay) -> Option<String> {
    let jobs = replay.failed_programs();
    let named = jobs.iter().take(NAMED).map(|it| it.0.to_string());
    let named = Vec::from_iter(named).join(", ");
    let more = if jobs.len() > NAMED { ", ..." } else { "" };
    let programs = count(jobs.len(), "program");
    (!jobs.is_empty()).then(|| {
        format!(
            "{programs} failed, of the jobs {named}{more}: they count as done. The exit codes are in \
             NODE/work/*/ended"
        )
    })
}

/// The largest scale for the latencies of a run, if that was exceeded.
fn too_fast(replay: &Replay, plan: &Plan) -> String {
    let round_trip = 2.0 * replay.latency(0.95).as_secs_f64() / plan.run.scale;
    match plan.largest_scale(Duration::from_secs_f64(round_trip)) {
        Some(largest) if largest < plan.run.scale => format!(
            "warning: a round trip takes more than a tenth of the shortest hold; the largest scale here is {largest:.0}\n"
        ),
        _ => String::new(),
    }
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
