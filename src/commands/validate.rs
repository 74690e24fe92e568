//! `haggle validate`: reads scenarios and reports every problem, without a run.

use std::path::PathBuf;

use crate::command::own_rules;
use crate::scenario::{Experiment, Lines, Logs, Problem, Source, Warnings};
use haggle_workloads::lines;
use serde_json::json;

use super::{Error, print, read_scenario};
use crate::exit::Exit;
use crate::report;

/// Check scenarios and report every problem with its line
///
/// Makes no run. The logs that a file names must exist.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle validate scenarios/quickstart.toml
  haggle validate --ignore-logs --json scenarios/*.toml | jq '.[].problems'")]
pub(crate) struct Args {
    /// Scenario files (TOML); `-` is standard input
    #[arg(required = true, value_name = "SCENARIO")]
    scenarios: Vec<PathBuf>,
    /// Do not require the logs that the scenarios name
    #[arg(long)]
    ignore_logs: bool,
    /// Print the findings as JSON to standard output
    #[arg(long)]
    json: bool,
    /// Print nothing about scenarios without problems
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

/// Checks all scenarios; a mistake in one does not stop the others.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let logs = if args.ignore_logs { Logs::Ignore } else { Logs::MustExist };
    let mut exit = Exit::Success;
    let mut findings = Vec::new();
    for path in &args.scenarios {
        let read = read_scenario(path).map_err(Error::from);
        let read = read.and_then(|source| Ok(Experiment::read_with(source, logs, own_rules())?));
        let (runs, problems, warnings) = match &read {
            Ok(experiment) => {
                let Warnings { source, found } = &experiment.warnings;
                (Some(experiment.runs().count()), Vec::new(), as_json(source, found))
            }
            Err(Error::InvalidScenario(invalid)) => {
                (None, as_json(&invalid.source, &invalid.problems), Vec::new())
            }
            Err(_) => (None, Vec::new(), Vec::new()),
        };
        match read {
            Ok(experiment) if !args.quiet && !args.json => {
                report::warn(&experiment.warnings);
                report::say(&format!("{}: valid, {}\n", path.display(), extent(&experiment)));
            }
            Ok(_) => {}
            // The problems are in the JSON text.
            Err(Error::InvalidScenario(_)) if args.json => exit = Exit::InvalidInput,
            // The command was asked to stop; further files must not be reported as unreadable.
            Err(error) if lines::gave_up() => return Err(error),
            Err(error) => exit = report::report(&error),
        }
        findings.push(json!({
            "file": path.display().to_string(),
            "valid": runs.is_some(),
            "runs": runs,
            "problems": problems,
            "warnings": warnings,
        }));
    }
    if args.json {
        print(&format!("{:#}\n", serde_json::Value::Array(findings)))?;
    }
    Ok(exit)
}

/// Size of a valid scenario.
fn extent(experiment: &Experiment) -> String {
    let count = |number: usize, thing: &str| match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    };
    let scenario = &experiment.scenario;
    let mut places = Vec::new();
    if !scenario.providers.is_empty() {
        places.push(count(scenario.providers.len(), "provider"));
    }
    if let Some(plans) = &scenario.plans {
        places.push(count(plans.clusters.len(), "cluster"));
    }
    if let Some(grid) = &scenario.grid {
        let resources = grid.sites.iter().map(|site| site.resources as usize).sum();
        let sites = count(grid.sites.len(), "site");
        places.push(format!("{} at {sites}", count(resources, "resource")));
    }
    let resources = places.join(", ");
    format!(
        "{resources}, {}, {}",
        count(scenario.workloads.len(), "workload"),
        count(experiment.runs().count(), "run"),
    )
}

fn as_json(source: &Source, problems: &[Problem]) -> Vec<serde_json::Value> {
    let lines = Lines::of(&source.text);
    let problem = |problem: &Problem| {
        let position = lines.position(problem.span.start);
        json!({
            "line": position.line,
            "column": position.column,
            "text": &source.text[problem.span.clone()],
            "message": problem.message,
            "help": problem.help,
        })
    };
    problems.iter().map(problem).collect()
}
