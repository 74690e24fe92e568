//! `haggle show`: a scenario with every default written out, or the results of a run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::command::own_rules;
use crate::experiment::sweep::USUAL;
use crate::scenario::{Experiment, Logs};
use haggle_results::read_text;
use serde_json::json;

use super::table::{lines, number};
use super::{Error, is_results, open_run, print, read_scenario};
use crate::exit::Exit;

/// Print a scenario with every default, the runs it expands into, or a run's summary
///
/// The logs that the scenario names need not exist. For a sweep's folder, the means of some metrics over its runs are
/// printed; with --json, the means of all metrics.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle show scenarios/quickstart.toml
  haggle show --runs scenarios/sweep.toml
  haggle show --run 7 scenarios/sweep.toml > one.toml
  haggle show runs/quickstart")]
pub(crate) struct Args {
    /// Scenario file (TOML), or the folder of a run or a sweep
    #[arg(value_name = "SCENARIO|DIR")]
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
    if is_results(&args.scenario) {
        return show_results(args);
    }
    let source = read_scenario(&args.scenario)?;
    let experiment = Experiment::read_with(source, Logs::Ignore, own_rules())?;
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

/// The results of a run, as `haggle run` printed them, or the table of a sweep.
fn show_results(args: &Args) -> Result<Exit, Error> {
    let folder = &args.scenario;
    if args.runs || args.run.is_some() {
        return Err(Error::Unfit {
            message: format!(
                "`{}` is a folder of results, which has no runs to list",
                folder.display()
            ),
            hint: format!("name its scenario: {}", folder.join("scenario.toml").display()),
        });
    }
    let aggregate = folder.join("aggregate.csv");
    if aggregate.exists() {
        let text = read_text(&aggregate)?;
        print(&if args.json { table_as_json(&text) } else { table_as_text(&text, &aggregate) })?;
        return Ok(Exit::Success);
    }
    let summary = open_run(folder)?.summary()?;
    print(&if args.json { as_json(&json!(summary)) } else { summary.to_string() })?;
    Ok(Exit::Success)
}

/// The means of some metrics of whole runs, and the file with all of them.
fn table_as_text(text: &str, file: &Path) -> String {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().cloned().unwrap_or_default();
    // A file of another form is printed as it is.
    let Some(axes) = header.iter().position(|name| name == "metric") else {
        return text.to_owned();
    };
    let cell = |row: &csv::StringRecord, name: &str| {
        let at = header.iter().position(|it| it == name);
        at.and_then(|at| row.get(at)).unwrap_or_default().to_owned()
    };
    // An empty cell or a word stays as it is.
    let in_short = |cell: String| cell.parse().map_or(cell, number);
    let heads = ["metric", "runs", "mean", "std", "95 % of it"].map(str::to_owned);
    let mut table = vec![header.iter().take(axes).map(str::to_owned).chain(heads).collect()];
    let mut metrics = BTreeSet::new();
    for row in reader.records().map_while(Result::ok) {
        let metric = cell(&row, "metric");
        if USUAL.contains(&metric.as_str()) {
            let half = in_short(cell(&row, "ci95"));
            // One replication has no confidence interval.
            let half = if half.is_empty() { "-".to_owned() } else { format!("± {half}") };
            let values = [
                metric.clone(),
                cell(&row, "n"),
                in_short(cell(&row, "mean")),
                in_short(cell(&row, "std")),
                half,
            ];
            table.push(row.iter().take(axes).map(str::to_owned).chain(values).collect());
        }
        // A set, because each metric has a row for every variant.
        metrics.insert(metric);
    }
    metrics.retain(|it| !USUAL.contains(&it.as_str()));
    let left = Vec::from_iter(0..=axes);
    format!(
        "{}\n{} metrics more are in {}; --json prints all\n",
        lines(&table, &left),
        metrics.len(),
        file.display()
    )
}

/// A table as a list of objects, numbers as numbers.
fn table_as_json(text: &str) -> String {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().cloned().unwrap_or_default();
    let value = |cell: &str| match cell.parse::<f64>() {
        Ok(number) => json!(number),
        Err(_) if cell.is_empty() => serde_json::Value::Null,
        Err(_) => json!(cell),
    };
    let rows = reader.records().map_while(Result::ok).map(|row| {
        let cells = header.iter().zip(&row).map(|(name, cell)| (name.to_owned(), value(cell)));
        serde_json::Value::Object(cells.collect())
    });
    as_json(&rows.collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_metrics_that_are_not_shown_are_counted() {
        let text = "load,metric,n,mean,std,ci95\n\
                    1,mean_waiting_time,1,5.0,,\n1,makespan,1,7.0,,\n1,jobs,1,9.0,,\n";
        let told = table_as_text(text, Path::new("aggregate.csv"));
        assert!(told.contains("\n2 metrics more are in aggregate.csv"), "{told}");
    }
}
