//! `haggle show`: what a scenario says once every default is written out.

use std::path::PathBuf;

use haggle::scenario::{Experiment, Logs, Source};
use serde_json::json;

use super::{Error, print};
use crate::exit::Exit;

/// Print a scenario with every default, or the runs it expands into
///
/// The logs that the scenario names need not be there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle show scenarios/quickstart.toml
  haggle show --runs sweep.toml
  haggle show --run 7 sweep.toml > one.toml")]
pub(crate) struct Args {
    /// Scenario file (TOML)
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// List the runs: number, seed, folder and the value on each axis, tab-separated
    #[arg(long, conflicts_with = "run")]
    runs: bool,
    /// Print the resolved scenario of the run with this number
    #[arg(long, value_name = "NUMBER")]
    run: Option<usize>,
    /// Print JSON instead of TOML or tabs
    #[arg(long)]
    json: bool,
}

/// Prints the scenario, one of its runs or the list of them.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let source = Source::read(&args.scenario)?;
    let experiment = Experiment::read(source, Logs::Ignore)?;
    if args.runs {
        print(&if args.json { runs_as_json(&experiment) } else { runs_as_text(&experiment) })?;
        return Ok(Exit::Success);
    }
    let scenario = match args.run {
        None => experiment.scenario.clone(),
        Some(number) => match experiment.runs().nth(number) {
            Some(run) => run.scenario(),
            None => {
                let runs = experiment.runs().count();
                return Err(Error::NoSuchRun { number, runs });
            }
        },
    };
    print(&if args.json { as_json(&json!(scenario)) } else { scenario.to_toml() })?;
    Ok(Exit::Success)
}

fn runs_as_text(experiment: &Experiment) -> String {
    let axes = experiment.variants.first().into_iter().flat_map(|variant| &variant.settings);
    let mut text = "run\tseed\tfolder".to_owned();
    for setting in axes {
        text.push_str(&format!("\t{}", setting.axis));
    }
    text.push('\n');
    for run in experiment.runs() {
        text.push_str(&format!("{}\t{}\t{}", run.number, run.seed, run.folder().display()));
        for setting in &run.variant.settings {
            text.push_str(&format!("\t{}", setting.text()));
        }
        text.push('\n');
    }
    text
}

fn runs_as_json(experiment: &Experiment) -> String {
    let runs = experiment.runs().map(|run| {
        let settings = run.variant.settings.iter();
        let settings: serde_json::Map<_, _> =
            settings.map(|setting| (setting.axis.clone(), json!(setting.value))).collect();
        json!({
            "run": run.number,
            "seed": run.seed,
            "folder": run.folder().display().to_string(),
            "settings": settings,
        })
    });
    as_json(&runs.collect())
}

fn as_json(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}
