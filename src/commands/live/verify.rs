//! `haggle live verify`: a live run, repeated from its journals.

use std::path::PathBuf;

use crate::scenario::{Experiment, Logs, Source};
use haggle_live::decisions::{Decisions, Event};
use haggle_model::Time;
use haggle_runtime::{Driver, Simulation};

use super::super::run::single;
use super::super::{Error, print};
use super::LiveError;
use super::run::{latencies, repeated};
use super::started::{Facts, Started};
use crate::command::own_rules;
use crate::exit::Exit;

/// Repeat a live run, and compare it with a simulation
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each journal is repeated on its own and must send the same messages. Then a simulation of the whole scenario gets the
latencies of all messages and must make the same decisions.

Example:
  haggle live verify live.live"
)]
pub(crate) struct Args {
    /// Folder of the live run, such as results.live
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Carries out the command.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let started = Started::open(&args.folder)?;
    let (plan, cast) = started.plan()?;
    let (replay, lived) = repeated(&plan)?;
    let crashes = replay.crashes();
    print(&format!(
        "journals    {} nodes, {} inputs, {} messages ({} refused), {crashes} restarts: each repeats\n\
         messages    {}\n",
        plan.known.parts.count(),
        replay.inputs,
        replay.messages(),
        replay.refused(),
        latencies(&replay, started.facts.scale),
    ))?;
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
            Ok(Exit::Success)
        }
        Some((_, text)) => Err(LiveError::Differs(text).into()),
    }
}

impl Started {
    /// Opens the folder of a live run.
    pub(super) fn open(folder: &std::path::Path) -> Result<Started, Error> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|error| LiveError::Read { path, error })
        };
        let facts: Facts = toml::from_str(&read("live.toml")?)
            .map_err(|error| LiveError::Facts(error.to_string()))?;
        facts.check()?;
        let source = Source::new(folder.join("scenario.toml"), read("scenario.toml")?);
        let (scenario, _) = single(Experiment::read_with(source, Logs::Ignore, own_rules())?)?;
        Ok(Started { folder: folder.to_owned(), facts, scenario })
    }
}
