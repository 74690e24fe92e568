//! `haggle live verify`: a live run, repeated from its journals.

use std::path::PathBuf;

use haggle_live::decisions::{Decisions, Event};
use haggle_model::Time;
use haggle_runtime::{Driver, Simulation};

use super::super::{Error, print};
use super::LiveError;
use super::folder::LiveFolder;
use super::results::{latencies, repeated};
use super::spread::compared as compared_by_draws;
use crate::exit::Exit;
use crate::report::say;

/// Repeat a live run, and compare it with a simulation
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each journal is repeated on its own and must send the same messages. Then a simulation of the whole scenario gets the
latencies of all messages and must make the same decisions. Further simulations take the latencies of
the run, later by a drawn time; their jobs are compared with those of the run, one by one. They decide nothing.

Examples:
  haggle live verify live.live
  haggle live verify live.live --draws 30  # more precise means"
)]
pub(crate) struct Args {
    /// Folder of the live run, such as results.live
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Number of simulations with drawn latencies; 0 = none
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(..=10_000))]
    draws: u64,
}

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let folder = LiveFolder::open(&args.folder)?;
    let (plan, cast) = folder.plan()?;
    let (replay, lived) = repeated(&plan)?;
    let crashes = replay.crashes();
    print(&format!(
        "journals    {} nodes, {} inputs, {} messages ({} refused), {crashes} restarts: each repeats\n\
         messages    {}\n",
        plan.known.parts.count(),
        replay.inputs,
        replay.messages(),
        replay.refused(),
        latencies(&replay, folder.facts.scale),
    ))?;
    if replay.forgotten() > 0 {
        say(&format!(
            "warning: {} questions left a node that lost its power before it had written their causes; the simulation \
             does not have them\n",
            replay.forgotten()
        ));
    }
    let mut world =
        (plan.make)().map_err(|error| LiveError::Run(haggle_live::run::LiveError::World(error)))?;
    let end = replay.put_whole_into(&mut world, &plan.known);
    let decisions = Decisions::default();
    let mut simulation = Simulation::new(world, Driver::Sequential).map_err(LiveError::from)?;
    simulation.listen(decisions.clone());
    simulation.step_until(end).map_err(LiveError::from)?;
    let mut compared = 0;
    let mut first = None::<(Time, String)>;
    for of_part in &lived {
        compared += of_part.count();
        if let Some((actor, live, simulated)) = of_part.difference(&decisions, end) {
            let at = live.iter().chain(&simulated).map(|it| it.at).min().unwrap_or(end);
            let words = |event: Option<Event>| match event {
                Some(Event { at, job, words }) => {
                    let job = job.map(|it| format!(", job {it}")).unwrap_or_default();
                    format!("{at} s{job}: {words}")
                }
                None => "nothing more".to_owned(),
            };
            let name = &cast.actors[actor.index()].name;
            let text = format!(
                "{name}\n  live       {}\n  simulated  {}\n",
                words(live),
                words(simulated)
            );
            if first.as_ref().is_none_or(|it| at < it.0) {
                first = Some((at, text));
            }
        }
    }
    match first {
        None => {
            print(&format!(
                "simulation  {compared} events of all actors up to {end} s: the same\n"
            ))?;
            if args.draws > 0 && !plan.known.real.is_empty() {
                print("draws       none: a simulation does not know how long programs run\n")?;
            } else if args.draws > 0 {
                print(&compared_by_draws(&plan, &cast, &replay, args.draws)?)?;
            }
            Ok(Exit::Success)
        }
        Some((_, text)) => Err(LiveError::Differs(text).into()),
    }
}
