//! Two sweeps, run by run.

use std::path::Path;

use crate::command::own_rules;
use crate::experiment::compare::sweep::{SweepComparison, VariantMetric, compare_sweeps};
use crate::scenario::{Experiment, Logs, Source};
use serde_json::json;

use super::{Args, changed};
use crate::commands::table::{count, lines, number, row};
use crate::commands::{Error, print};
use crate::exit::Exit;

/// The metrics that are shown unless others are asked for.
pub(crate) const SHOWN: [&str; 3] = ["mean_waiting_time", "mean_bounded_slowdown", "utilisation"];

/// Compares two sweeps.
pub(super) fn run(args: &Args, other: &Path) -> Result<Exit, Error> {
    let (a, b) = (experiment(&args.a)?, experiment(other)?);
    let comparison = compare_sweeps((&a, &args.a), (&b, other))?;
    check(&args.metrics, &comparison)?;
    print(&if args.json {
        format!("{:#}\n", json!(comparison))
    } else {
        as_text(args, other, &comparison)
    })?;
    Ok(if comparison.identical { Exit::Success } else { Exit::Differs })
}

/// The sweep whose results are in a folder.
pub(super) fn experiment(folder: &Path) -> Result<Experiment, Error> {
    let source = Source::read(&folder.join("scenario.toml"))?;
    Ok(Experiment::read_with(source, Logs::Ignore, own_rules())?)
}

/// Refuses metrics that no run has.
fn check(metrics: &[String], comparison: &SweepComparison) -> Result<(), Error> {
    let known: Vec<&str> = comparison.metrics.iter().map(|it| it.metric.as_str()).collect();
    match metrics.iter().find(|metric| !known.contains(&metric.as_str())) {
        Some(metric) if !comparison.runs.is_empty() => Err(Error::Unfit {
            message: format!("no metric \"{metric}\" in the runs that both sweeps have"),
            hint: "metrics are the columns of runs.csv behind the axes".to_owned(),
        }),
        _ => Ok(()),
    }
}

fn as_text(args: &Args, other: &Path, comparison: &SweepComparison) -> String {
    let runs = &comparison.runs;
    let same = runs.iter().filter(|it| it.identical).count();
    let mut text = format!(
        "A  {}\nB  {}\n\n{} in both: {same} identical, {} different\n",
        args.a.display(),
        other.display(),
        count(runs.len(), "run"),
        runs.len() - same
    );
    for (side, only) in [("A", &comparison.only_in_a), ("B", &comparison.only_in_b)] {
        if !only.is_empty() {
            text.push_str(&format!("{} only in {side}\n", count(only.len(), "run")));
            text.extend(only.iter().map(|folder| format!("  {folder}\n")));
        }
    }
    for it in runs {
        let changed = changed(&it.changed.0, &it.changed.1);
        text.extend(changed.lines().map(|line| format!("{}: {line}\n", it.folder)));
    }
    let asked = |it: &&VariantMetric| match args.metrics.is_empty() {
        true => SHOWN.contains(&it.metric.as_str()),
        false => args.metrics.contains(&it.metric),
    };
    let mut rows = vec![row(["variant", "metric", "seeds", "A", "B", "B - A", "95 % of it"])];
    rows.extend(comparison.metrics.iter().filter(asked).map(metric_row));
    if same < runs.len() && rows.len() > 1 {
        text.push_str(&format!("\nmeans, and differences seed by seed\n{}", lines(&rows, &[0, 1])));
    }
    text
}

fn metric_row(it: &VariantMetric) -> Vec<String> {
    vec![
        it.variant.clone(),
        it.metric.clone(),
        it.difference.n.to_string(),
        number(it.a),
        number(it.b),
        signed(it.difference.mean),
        width(it.difference.half_width),
    ]
}

/// A difference, with its sign.
pub(super) fn signed(value: f64) -> String {
    match value > 0.0 {
        true => format!("+{}", number(value)),
        false => number(value),
    }
}

/// Half the width of a confidence interval.
pub(super) fn width(half: Option<f64>) -> String {
    half.map_or_else(|| "-".to_owned(), |half| format!("± {}", number(half)))
}
