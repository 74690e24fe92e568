//! `haggle verify --histories`: searches the histories of small worlds, and prints one of the smallest that violates
//! an invariant.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::model::Span;
use crate::scenario::quantity::TimeSpan;
use crate::scenario::{Experiment, Logs, Scenario, Source};
use crate::trial::histories::{
    Bounds, Choice, Found, HistoriesError, Report, World, examples, replay, search,
};
use serde::Serialize;
use serde_json::json;

use crate::command::own_rules;
use crate::commands::table::count;
use crate::commands::{Error, print, read_scenario};
use crate::exit::Exit;
use crate::interrupt::{STOP, interrupted, while_waiting};
use crate::progress::{Show, cases as show_cases};
use crate::report::warn;

/// Histories of a small world.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Histories")]
pub(super) struct Args {
    /// Search the histories of the scenario, or of built-in worlds with two providers and two metaschedulers
    #[arg(long, conflicts_with_all = ["random", "variants"])]
    histories: bool,
    /// Search only the built-in world of this protocol
    #[arg(long, value_name = "NAME", requires = "histories", conflicts_with = "scenario")]
    protocol: Option<String>,
    /// Most deviations in a history: messages that are delayed within their instant, lost, or find a crash
    #[arg(long, value_name = "N", default_value_t = 2, requires = "histories")]
    deviations: u32,
    /// Most different states of a world
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "histories")]
    states: u64,
    /// Time from a crash to the restart
    #[arg(long, value_name = "TIME", default_value = "5s", requires = "histories")]
    down: TimeSpan,
    /// Repeat the history with this deviation, such as lose@7, and print its messages; once for each deviation. The
    /// number is that of the message in such a list. Without a deviation, the run itself is listed
    #[arg(long, value_name = "STEP", num_args = 0..=1, requires = "histories")]
    history: Option<Vec<Choice>>,
}

/// The report of a world.
#[derive(Debug, Serialize)]
struct Searched {
    world: String,
    #[serde(flatten)]
    report: Report,
    seconds: f64,
}

impl Args {
    /// True if histories are searched.
    pub(super) fn is_on(&self) -> bool {
        self.histories
    }
}

/// Searches the histories of all worlds.
pub(super) fn run(args: &Args, scenario: Option<&Path>, json: bool) -> Result<Exit, Error> {
    let down = args.down.0;
    let worlds = worlds(args, scenario)?;
    if let Some(history) = &args.history {
        return repeat(history, &worlds, (down, json));
    }
    let bounds = Bounds { deviations: args.deviations, states: args.states, ..Bounds::default() };
    let mut all = Vec::new();
    for (name, scenario, folder) in worlds {
        let world = World::of(&scenario, &folder, down).map_err(failed)?;
        let (begun, bar) = (now(), show_cases(Show::unless(json), None));
        let mut progress = |report: &Report| bar.set_position(report.states);
        let report = search(&world, bounds, &STOP, &mut progress).map_err(failed)?;
        bar.finish_and_clear();
        let searched = Searched { world: name, report, seconds: elapsed(begun).as_secs_f64() };
        if !json {
            let heading = if all.is_empty() { heading() } else { String::new() };
            print(&format!("{heading}{}", line(&searched)))?;
        }
        all.push(searched);
        if STOP.load(Ordering::Relaxed) {
            return Ok(interrupted());
        }
    }
    let violates = all.iter().any(|it| it.report.found.is_some());
    if json {
        print(&format!("{:#}\n", json!(all)))?;
    } else {
        for searched in &all {
            print(&found(searched))?;
        }
    }
    Ok(if violates { Exit::Differs } else { Exit::Success })
}

/// A scenario by its name, with the folder of its relative paths.
type Named = (String, Scenario, PathBuf);

/// The scenario of the file, or the built-in ones.
fn worlds(args: &Args, scenario: Option<&Path>) -> Result<Vec<Named>, Error> {
    if let Some(path) = scenario {
        let source = while_waiting(|| read_scenario(path))?;
        let (name, folder) = (source.stem(), source.folder().to_owned());
        return Ok(vec![(name, only(source)?, folder)]);
    }
    let all = examples().into_iter();
    let chosen = all.filter(|it| args.protocol.as_deref().is_none_or(|name| name == it.name));
    let named = chosen.map(|it| {
        let source = Source::new(format!("{}.toml", it.name), it.scenario.as_str());
        Ok((it.name.to_owned(), only(source)?, PathBuf::from(".")))
    });
    let worlds = named.collect::<Result<Vec<Named>, Error>>()?;
    if worlds.is_empty() {
        let names = Vec::from_iter(examples().into_iter().map(|it| it.name)).join(", ");
        let name = args.protocol.as_deref().unwrap_or_default().escape_debug();
        return Err(Error::Unfit {
            message: format!("no built-in world has the protocol `{name}`"),
            hint: format!("choose one of {names}"),
        });
    }
    Ok(worlds)
}

/// The only variant of a scenario.
fn only(source: Source) -> Result<Scenario, Error> {
    let experiment = Experiment::read_with(source, Logs::MustExist, own_rules())?;
    warn(&experiment.warnings);
    match <[_; 1]>::try_from(experiment.variants) {
        Ok([variant]) => Ok(variant.scenario),
        Err(variants) => Err(Error::SweepIsNoRun { runs: variants.len() }),
    }
}

/// Repeats one history.
fn repeat(history: &[Choice], worlds: &[Named], (down, json): (Span, bool)) -> Result<Exit, Error> {
    let [(name, scenario, folder)] = worlds else {
        return Err(Error::Unfit {
            message: "a history belongs to one world".to_owned(),
            hint: "name a scenario, or a built-in world with --protocol".to_owned(),
        });
    };
    let world = World::of(scenario, folder, down).map_err(failed)?;
    let (messages, violation) = replay(&world, history).map_err(failed)?;
    if json {
        let told = json!({
            "world": name,
            "history": history,
            "violation": violation,
            "messages": messages,
        });
        print(&format!("{told:#}\n"))?;
    } else {
        print(&messages.iter().map(|line| format!("{line}\n")).collect::<String>())?;
        match &violation {
            Some(violation) => print(&format!("violation: {violation}\n"))?,
            None => print("no violation\n")?,
        }
    }
    Ok(if violation.is_some() { Exit::Differs } else { Exit::Success })
}

fn failed(error: HistoriesError) -> Error {
    match error {
        HistoriesError::Experiment(error) => error.into(),
        error => Error::Unfit {
            message: error.to_string(),
            hint: "see docs/histories.md for the worlds that can be searched".to_owned(),
        },
    }
}

fn heading() -> String {
    format!(
        "{:<20} {:>10} {:>12} {:>11} {:>8} {:>6} {:>8}  result\n",
        "world", "states", "transitions", "duplicates", "judged", "depth", "seconds"
    )
}

fn line(searched: &Searched) -> String {
    let Searched { world, report, seconds } = searched;
    let Report { states, transitions, duplicates, judged, depth, deviations, .. } = report;
    let result = match (&report.found, report.complete) {
        (Some(found), _) => format!("violation after {}", count(found.history.len(), "deviation")),
        (None, true) => {
            format!("none, complete up to {}", count(*deviations as usize, "deviation"))
        }
        (None, false) => "none, cut short by --states".to_owned(),
    };
    format!(
        "{world:<20} {states:>10} {transitions:>12} {duplicates:>11} {judged:>8} {depth:>6} {seconds:>8.1}  {result}\n"
    )
}

/// The history that was found in a world, if there is one.
fn found(searched: &Searched) -> String {
    let Some(Found { history, violation, messages }) = &searched.report.found else {
        return String::new();
    };
    let steps: String = history.iter().map(|step| format!(" --history {step}")).collect();
    let messages: String = messages.iter().map(|line| format!("  {line}\n")).collect();
    format!("\n{}: {violation}\n{messages}again:{steps}\n", searched.world)
}

#[allow(clippy::disallowed_methods)] // the time of the search is reported, and has no effect on it
fn now() -> Instant {
    Instant::now()
}

fn elapsed(since: Instant) -> Duration {
    since.elapsed()
}
